//! [`Output`]: the index while it is written, page by page with a checksum each.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};

use super::format::{ALIGNMENT, PAGE, page_checksum};

/// Bytes written at once; whole pages.
const BUFFER_PAGES: usize = 64;

/// Appends to the file, behind the page that is left for the header.
#[derive(Debug)]
pub(super) struct Output {
    file: File,
    buffer: Vec<u8>,
    /// Place of the buffer's first byte.
    start: u64,
    checksums: Vec<u32>,
}

impl Output {
    pub(super) fn new(mut file: File) -> io::Result<Self> {
        file.seek(io::SeekFrom::Start(PAGE as u64))?;
        Ok(Self { file, buffer: Vec::new(), start: PAGE as u64, checksums: Vec::new() })
    }

    /// Where the next byte goes.
    pub(super) fn place(&self) -> u64 {
        self.start + self.buffer.len() as u64
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_PAGES * PAGE {
            self.write_pages()?;
        }
        Ok(())
    }

    fn write_pages(&mut self) -> io::Result<()> {
        let whole = self.buffer.len() / PAGE * PAGE;
        self.checksums.extend(self.buffer[..whole].chunks(PAGE).map(page_checksum));
        self.file.write_all(&self.buffer[..whole])?;
        self.start += whole as u64;
        self.buffer.drain(..whole);
        Ok(())
    }

    /// Fills up with zeros, so that the next section begins at a multiple of [`ALIGNMENT`]. Tells where.
    pub(super) fn align(&mut self) -> io::Result<u64> {
        let to = self.place().next_multiple_of(ALIGNMENT);
        let zeros = [0; ALIGNMENT as usize];
        self.write(&zeros[..(to - self.place()) as usize])?;
        Ok(to)
    }

    /// Ends the last page with zeros, appends the checksums of all pages, and gives back the file with their place.
    pub(super) fn finish(mut self) -> io::Result<(File, u64, Vec<u8>)> {
        let whole = self.buffer.len().next_multiple_of(PAGE);
        self.buffer.resize(whole, 0);
        self.write_pages()?;
        let table: Vec<u8> = self.checksums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
        self.file.write_all(&table)?;
        Ok((self.file, self.start, table))
    }
}
