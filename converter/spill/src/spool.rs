//! A temporary file without a name, for data that must not change while it is read.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;

/// Bytes that are appended and then read at their offsets. The file is created at the first use,
/// and is removed with its last user.
#[derive(Debug, Default)]
pub struct Spool {
    file: Option<Arc<File>>,
    length: u64,
}

impl Spool {
    /// Appends bytes. Returns their offset.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(Arc::new(tempfile::tempfile()?)),
        };
        (&**file).write_all(bytes)?;
        let offset = self.length;
        self.length += bytes.len() as u64;
        Ok(offset)
    }

    /// The file, if anything was appended.
    pub fn file(&self) -> Option<Arc<File>> {
        self.file.clone()
    }
}
