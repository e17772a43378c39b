//! Small files that Tumit writes: filters, notes, styles. A file is replaced or removed only if its
//! content shows that Tumit wrote it. Symbolic links are not followed. A new file never replaces a
//! file that another program creates at the same time.
//!
//! ```
//! use tumit_viewer::filter::FilterChain;
//! use tumit_viewer::generated_file::FILTERS;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("mine.tumit-view");
//! FILTERS.write(&path, &FilterChain::default().to_text())?;
//! assert_eq!(FilterChain::read(&path)?, FilterChain::default());
//! // A file that Tumit did not write is not replaced.
//! std::fs::write(&path, "notes")?;
//! assert!(FILTERS.write(&path, &FilterChain::default().to_text()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Maximum size of a file that is read.
pub const MAX_BYTES: u64 = 8 << 20;

/// The name of a kind of file, and a test of its content.
#[derive(Clone, Copy)]
pub struct FileKind {
    /// The name in a message: `file of filters`.
    pub name: &'static str,
    /// Whether a text is the content of such a file.
    pub fits: fn(&str) -> bool,
}

impl std::fmt::Debug for FileKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FileKind").field(&self.name).finish()
    }
}

/// Files of filters (`*.tumit-view`).
pub const FILTERS: FileKind = FileKind { name: "file of filters", fits: crate::filter::FilterChain::is_own_text };

impl FileKind {
    /// Writes a new file, or replaces one of this kind.
    ///
    /// # Errors
    /// If the path holds another file, or the folder cannot be written.
    pub fn write(self, path: &Path, text: &str) -> io::Result<()> {
        let existing = self.existing_file(path)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // The mode of a new file follows the umask. A private file stays private.
        let mode = existing.as_ref().map_or(0o666, |existing| existing.permissions().mode() & 0o777);
        let mode = tumit_converter::run::output_permissions::restrict_mode(mode);
        let mut file =
            tempfile::Builder::new().prefix(".tumit-").permissions(Permissions::from_mode(mode)).tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        match existing {
            None => file.persist_noclobber(path).map_err(|failure| failure.error)?,
            Some(existing) if is_same(&existing, path) => file.persist(path).map_err(|failure| failure.error)?,
            Some(_) => return Err(foreign_file_error(path, "changed during the operation; try again")),
        };
        Ok(())
    }

    /// Removes a file of this kind, if there is one.
    ///
    /// # Errors
    /// If the path holds another file, or the folder cannot be written.
    pub fn remove(self, path: &Path) -> io::Result<()> {
        match self.existing_file(path)? {
            Some(existing) if is_same(&existing, path) => std::fs::remove_file(path),
            _ => Ok(()),
        }
    }

    /// The file of this kind at a path, if there is one. An empty file is none: nothing shows that
    /// Tumit wrote it.
    fn existing_file(self, path: &Path) -> io::Result<Option<Metadata>> {
        let link_metadata = match std::fs::symlink_metadata(path) {
            Ok(link_metadata) => link_metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if link_metadata.is_symlink() {
            return Err(foreign_file_error(
                path,
                "is a symbolic link, which Tumit does not follow; remove it or choose another name",
            ));
        }
        let problem = format!("exists and is not a {}; move it or choose another name", self.name);
        if !link_metadata.is_file() || link_metadata.len() > MAX_BYTES {
            return Err(foreign_file_error(path, &problem));
        }
        let mut options = File::options();
        options.read(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
        let (mut text, file) = (String::new(), options.open(path)?);
        let metadata = file.metadata()?;
        let is_text = file.take(MAX_BYTES).read_to_string(&mut text).is_ok();
        if is_text && (self.fits)(&text) {
            return Ok(Some(metadata));
        }
        Err(foreign_file_error(path, &problem))
    }
}

/// Whether this file is still at the path.
fn is_same(metadata: &Metadata, path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|now| (now.dev(), now.ino()) == (metadata.dev(), metadata.ino()))
}

fn foreign_file_error(path: &Path, reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{} {reason}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: FileKind = FileKind { name: "file of tests", fits: |text| text.starts_with("ours") };

    #[test]
    fn only_files_of_the_kind_are_replaced_and_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("file");
        OURS.write(&path, "ours 1").expect("the path is free");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("the file exists");
        OURS.write(&path, "ours 2").expect("the file has this kind");
        assert_eq!(std::fs::read_to_string(&path).expect("the file exists"), "ours 2");
        assert_eq!(std::fs::metadata(&path).expect("the file exists").permissions().mode() & 0o777, 0o600);
        OURS.remove(&path).expect("the file has this kind");
        OURS.remove(&path).expect("no file exists");
        assert!(!path.exists());
        for content in ["mine", "\u{fffd}", " ours", ""] {
            std::fs::write(&path, content).expect("the file can be written");
            for error in [OURS.write(&path, "ours").expect_err("foreign"), OURS.remove(&path).expect_err("foreign")] {
                assert!(error.to_string().contains("exists and is not a file of tests; move it"), "{error}");
            }
            assert_eq!(std::fs::read_to_string(&path).expect("the file exists"), content);
        }
        std::fs::remove_file(&path).expect("the file exists");
        OURS.write(&path, "ours").expect("the path is free");
        // A symbolic link and its target are left unchanged, even if the target is a file of the
        // kind.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("the file can be written");
        for error in [OURS.write(&link, "ours 3").expect_err("a link"), OURS.remove(&link).expect_err("a link")] {
            assert!(error.to_string().contains("is a symbolic link"), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&link).expect("the file exists"), "ours");
        assert!(OURS.write(folder.path(), "ours").is_err() && OURS.remove(folder.path()).is_err());
        // The folder holds no further file.
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder exists").count(), 2);
    }
}
