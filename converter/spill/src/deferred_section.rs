//! [`DeferredSection`]: a part of an output that is written before its place is known.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};

use crate::temporary_space::TemporarySpace;

/// Bytes read at once.
const READ_BYTES: usize = 1 << 16;

/// A later section of an output. Its bytes are collected while an earlier section is written, and
/// are appended after that.
///
/// ```
/// use tumit_spill::deferred_section::DeferredSection;
/// use tumit_spill::temporary_space::TemporarySpace;
///
/// # fn main() -> std::io::Result<()> {
/// let mut section = DeferredSection::new(&TemporarySpace::in_system_folder(4));
/// section.write(b"more than four bytes")?;
/// let mut out = Vec::new();
/// section.for_each_portion(1, |bytes| Ok(out.extend_from_slice(bytes)))?;
/// assert_eq!(out, b"more than four bytes");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeferredSection {
    space: TemporarySpace,
    memory: Vec<u8>,
    file: Option<File>,
    /// Bytes in the file.
    written_bytes: u64,
}

impl DeferredSection {
    /// An empty section. The budget of `space` is for this section.
    #[must_use]
    pub fn new(space: &TemporarySpace) -> Self {
        Self { space: space.clone(), memory: Vec::new(), file: None, written_bytes: 0 }
    }

    /// An empty section with the same budget.
    #[must_use]
    pub fn empty(&self) -> Self {
        Self::new(&self.space)
    }

    /// Number of bytes so far.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.written_bytes + self.memory.len() as u64
    }

    /// Whether it contains no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If the temporary file cannot be created or written.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() >= self.space.memory() {
            if self.file.is_none() {
                self.file = Some(self.space.file()?);
            }
            if let Some(file) = &mut self.file {
                file.write_all(&self.memory)?;
                self.written_bytes += self.memory.len() as u64;
                self.memory.clear();
            }
        }
        Ok(())
    }

    /// Passes all bytes to `visit`, in order and in portions. Each portion is a multiple of `unit`
    /// bytes; each [`Self::write`] must be, too.
    ///
    /// # Errors
    /// If the temporary file cannot be read, and those of `visit`.
    pub fn for_each_portion(self, unit: usize, mut visit: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if let Some(mut file) = self.file {
            file.rewind()?;
            let mut buffer = vec![0; (READ_BYTES / unit).max(1) * unit];
            let mut left = self.written_bytes;
            while left > 0 {
                let count = left.min(buffer.len() as u64) as usize;
                file.read_exact(&mut buffer[..count])?;
                visit(&buffer[..count])?;
                left -= count as u64;
            }
        }
        visit(&self.memory)
    }
}
