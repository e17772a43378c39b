//! The folders of card files: one in the user's configuration, and `cards` next to a trace.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::card_fault::CardFault;
use super::card_file::{CARD_ENDING, CardFile, MAX_CARD_BYTES, card_name};

/// Maximum number of files that are read in a folder, so that a large folder does not delay the
/// page.
const MAX_FILES: usize = 200;

/// The reason why a card file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CardFileError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file or the folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file has a mistake.
    #[error(transparent)]
    Fault(#[from] CardFault),
}

/// A card file of a folder.
#[derive(Debug)]
#[non_exhaustive]
pub struct FoundCard {
    /// The name of its view, such as `card-sort`.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
}

impl FoundCard {
    /// The name of the file, without its folder.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The user's folder of card files: `$XDG_CONFIG_HOME/tumit/cards`, or `~/.config/tumit/cards`.
#[must_use]
pub fn user_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
    Some(config?.join("tumit").join("cards"))
}

/// The folder of card files next to a trace.
#[must_use]
pub fn folder_beside(trace: &Path) -> PathBuf {
    trace.parent().unwrap_or(Path::new("")).join("cards")
}

/// Whether a name is that of a card file.
#[must_use]
pub fn is_card_file(name: &OsStr) -> bool {
    name.to_string_lossy().ends_with(CARD_ENDING)
}

/// The card files of some folders, by name. Of files with equal names, the first folder's is used.
#[must_use]
pub fn find(folders: &[PathBuf]) -> Vec<FoundCard> {
    let mut found: Vec<FoundCard> = Vec::new();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        let paths = entries.flatten().map(|entry| entry.path());
        let is_card = |path: &PathBuf| path.file_name().is_some_and(is_card_file);
        let mut paths: Vec<PathBuf> = paths.filter(is_card).take(MAX_FILES).collect();
        paths.sort();
        for path in paths {
            let name = card_name(&path.file_name().unwrap_or_default().to_string_lossy());
            if !found.iter().any(|known| known.name == name) {
                found.push(FoundCard { name, path });
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// Reads a card file.
///
/// # Errors
/// If the file cannot be read, is too large, or has a mistake.
pub fn read(path: &Path) -> Result<CardFile, CardFileError> {
    let text = read_text(path).map_err(|source| CardFileError::Read { path: path.to_owned(), source })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(CardFile::parse(&name, &text)?)
}

fn read_text(path: &Path) -> io::Result<String> {
    // A pipe would block.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("this is not a regular file"));
    }
    let mut text = String::new();
    let most = u64::try_from(MAX_CARD_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(most).read_to_string(&mut text)?;
    Ok(text)
}
