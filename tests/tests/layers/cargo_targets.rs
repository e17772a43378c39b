//! Finds the root files of all targets of a package: library, programs, tests, benchmarks and
//! examples.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders in which each file, and each `main.rs` of a subfolder, is a target of its own.
const FOLDERS: [&str; 4] = ["src/bin", "tests", "benches", "examples"];

/// The root files of a package, in order.
pub(crate) fn root_files(package: &Path) -> Vec<PathBuf> {
    let mut targets: BTreeSet<PathBuf> =
        ["src/lib.rs", "src/main.rs", "build.rs"].map(|root| package.join(root)).into();
    targets.extend(listed_files(package));
    for folder in FOLDERS {
        for entry in fs::read_dir(package.join(folder)).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_script = path.extension().is_some_and(|extension| extension == "rs");
            targets.insert(if is_script { path } else { path.join("main.rs") });
        }
    }
    targets.into_iter().filter(|root| root.is_file()).collect()
}

/// The root files that the manifest names.
fn listed_files(package: &Path) -> Vec<PathBuf> {
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap_or_default();
    let paths = manifest.lines().filter_map(|line| line.strip_prefix("path = \"")?.strip_suffix('"'));
    paths.filter(|path| path.ends_with(".rs")).map(|path| package.join(path)).collect()
}
