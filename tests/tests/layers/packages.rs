//! Finds the packages below a folder.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of all packages in a folder and its subfolders, in order. Build outputs (`target`)
/// and hidden folders are left out.
pub(crate) fn packages(folder: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    add_packages(folder, &mut folders);
    folders.sort();
    folders
}

fn add_packages(folder: &Path, folders: &mut Vec<PathBuf>) {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    if manifest.lines().any(|line| line.trim() == "[package]") {
        folders.push(folder.to_path_buf());
    }
    let entries = fs::read_dir(folder).expect("the folders of the workspace can be read");
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_skipped = name == "target" || name.to_string_lossy().starts_with('.');
        if !is_skipped && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_packages(&entry.path(), folders);
        }
    }
}
