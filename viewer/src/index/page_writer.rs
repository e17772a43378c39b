//! [`Output`]: the index while it is written, page by page with a checksum each.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};

use super::format::{ALIGNMENT, PAGE, page_checksum};
use super::temporary_streams::{Room, Section};

/// Bytes written at once; whole pages.
const BUFFER_PAGES: usize = 64;

/// Appends to the file, behind the page that is left for the header; or to a piece of it.
#[derive(Debug)]
pub(crate) struct Output {
    sink: Sink,
    buffer: Vec<u8>,
    /// Place of the buffer's first byte.
    start: u64,
}

#[derive(Debug)]
enum Sink {
    File {
        file: File,
        checksums: Vec<u32>,
    },
    /// What goes to the file later.
    Piece(Section),
}

impl Output {
    pub(crate) fn new(mut file: File) -> io::Result<Self> {
        file.seek(io::SeekFrom::Start(PAGE as u64))?;
        Ok(Self { sink: Sink::File { file, checksums: Vec::new() }, buffer: Vec::new(), start: PAGE as u64 })
    }

    /// A piece, whose first place is [`ALIGNMENT`]: none is 0.
    pub(crate) fn piece(room: &Room) -> Self {
        Self { sink: Sink::Piece(Section::new(room)), buffer: Vec::new(), start: ALIGNMENT }
    }

    /// Appends a piece. Tells how much further back its bytes are than it knows.
    pub(crate) fn append(&mut self, mut piece: Self) -> io::Result<u64> {
        let by = self.align()? - ALIGNMENT;
        if let Sink::Piece(written) = piece.sink {
            written.copy_to(self)?;
            self.write(&std::mem::take(&mut piece.buffer))?;
        }
        Ok(by)
    }

    /// Where the next byte goes.
    pub(crate) fn place(&self) -> u64 {
        self.start + self.buffer.len() as u64
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_PAGES * PAGE {
            self.write_pages()?;
        }
        Ok(())
    }

    fn write_pages(&mut self) -> io::Result<()> {
        let whole = self.buffer.len() / PAGE * PAGE;
        match &mut self.sink {
            Sink::File { file, checksums } => {
                checksums.extend(self.buffer[..whole].chunks(PAGE).map(page_checksum));
                file.write_all(&self.buffer[..whole])?;
            }
            Sink::Piece(written) => written.write(&self.buffer[..whole])?,
        }
        self.start += whole as u64;
        self.buffer.drain(..whole);
        Ok(())
    }

    /// Fills up with zeros, so that the next section begins at a multiple of [`ALIGNMENT`]. Tells where.
    pub(crate) fn align(&mut self) -> io::Result<u64> {
        let to = self.place().next_multiple_of(ALIGNMENT);
        let zeros = [0; ALIGNMENT as usize];
        self.write(&zeros[..(to - self.place()) as usize])?;
        Ok(to)
    }

    /// Ends the last page with zeros, appends the checksums of all pages, and gives back the file with their place. A piece has none.
    pub(crate) fn finish(mut self) -> io::Result<(File, u64, Vec<u8>)> {
        let whole = self.buffer.len().next_multiple_of(PAGE);
        self.buffer.resize(whole, 0);
        self.write_pages()?;
        let Sink::File { mut file, checksums } = self.sink else { return Err(io::ErrorKind::InvalidInput.into()) };
        let table: Vec<u8> = checksums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
        file.write_all(&table)?;
        Ok((file, self.start, table))
    }
}
