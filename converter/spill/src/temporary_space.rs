//! [`TemporarySpace`]: a memory budget, and the folder of the data that exceeds it.
//!
//! ```
//! use tumit_spill::temporary_space::TemporarySpace;
//!
//! # fn main() -> std::io::Result<()> {
//! let space = TemporarySpace::in_system_folder(64 << 20);
//! // Two users share the budget.
//! let half = space.part(2);
//! assert_eq!((half.memory(), half.folder()), (32 << 20, space.folder()));
//! // The file has no name, so nothing remains when the process ends.
//! assert_eq!(half.file()?.metadata()?.len(), 0);
//! # Ok(())
//! # }
//! ```

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A memory budget in bytes, and a folder for temporary files. The files have no names. The system
/// removes them when the process ends in any way.
#[derive(Clone, Debug)]
pub struct TemporarySpace {
    folder: PathBuf,
    memory: usize,
}

impl TemporarySpace {
    /// A budget of `memory` bytes, with temporary files in a folder.
    #[must_use]
    pub fn new(folder: &Path, memory: usize) -> Self {
        Self { folder: folder.to_owned(), memory }
    }

    /// A budget of `memory` bytes, with temporary files in the system's folder for them.
    #[must_use]
    pub fn in_system_folder(memory: usize) -> Self {
        Self::new(&std::env::temp_dir(), memory)
    }

    /// The same folder, with one of `count` equal parts of the budget.
    #[must_use]
    pub fn part(&self, count: usize) -> Self {
        Self::new(&self.folder, self.memory / count.max(1))
    }

    /// The folder of the temporary files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The budget in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Creates a temporary file.
    ///
    /// # Errors
    /// If it cannot be created. The text names the folder.
    pub fn file(&self) -> io::Result<File> {
        temporary_file(&self.folder)
    }
}

/// Creates a temporary file without a name.
///
/// # Errors
/// If it cannot be created. The text names the folder.
pub(crate) fn temporary_file(folder: &Path) -> io::Result<File> {
    tempfile::tempfile_in(folder).map_err(|error| {
        let hint = if folder == std::env::temp_dir() { " (set TMPDIR to another folder)" } else { "" };
        io::Error::new(error.kind(), format!("cannot create a temporary file in {}: {error}{hint}", folder.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_is_named() {
        let error = TemporarySpace::new(Path::new("/missing"), 0).file().expect_err("the folder does not exist");
        assert!(error.to_string().starts_with("cannot create a temporary file in /missing: "), "{error}");
    }
}
