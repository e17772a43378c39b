//! [`PageWriter`]: writes an index page by page, with one checksum per page.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};

use tumit_spill::deferred_section::DeferredSection;
use tumit_spill::temporary_space::TemporarySpace;

use super::file_layout::{ALIGNMENT, PAGE, page_checksum};

/// Number of pages written at once.
const BUFFER_PAGES: usize = 64;

/// Appends to the file, after the page reserved for the header; or to a piece of the file.
#[derive(Debug)]
pub(crate) struct PageWriter {
    sink: PageSink,
    buffer: Vec<u8>,
    /// Position of the buffer's first byte.
    start: u64,
}

#[derive(Debug)]
enum PageSink {
    File {
        file: File,
        checksums: Vec<u32>,
    },
    /// A piece, which is copied to the file later.
    Piece(DeferredSection),
}

/// A file with all pages and their checksums, but without its header.
#[derive(Debug)]
pub(crate) struct FinishedPages {
    pub(crate) file: File,
    /// Position of the checksums.
    pub(crate) checksums_at: u64,
    /// The bytes of the checksums.
    pub(crate) checksums: Vec<u8>,
}

impl PageWriter {
    pub(crate) fn new(mut file: File) -> io::Result<Self> {
        file.seek(io::SeekFrom::Start(PAGE as u64))?;
        Ok(Self { sink: PageSink::File { file, checksums: Vec::new() }, buffer: Vec::new(), start: PAGE as u64 })
    }

    /// A piece. Its first position is [`ALIGNMENT`], because position 0 means none.
    pub(crate) fn piece(room: &TemporarySpace) -> Self {
        Self { sink: PageSink::Piece(DeferredSection::new(&room.part(8))), buffer: Vec::new(), start: ALIGNMENT }
    }

    /// Appends a piece. Returns the distance by which its bytes move from their positions in the
    /// piece.
    pub(crate) fn append(&mut self, mut piece: Self) -> io::Result<u64> {
        let offset = self.align()? - ALIGNMENT;
        if let PageSink::Piece(pages) = piece.sink {
            pages.for_each_portion(1, |bytes| self.write(bytes))?;
            self.write(&std::mem::take(&mut piece.buffer))?;
        }
        Ok(offset)
    }

    /// The position of the next byte.
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
        let full_bytes = self.buffer.len() / PAGE * PAGE;
        match &mut self.sink {
            PageSink::File { file, checksums } => {
                checksums.extend(self.buffer[..full_bytes].chunks(PAGE).map(page_checksum));
                file.write_all(&self.buffer[..full_bytes])?;
            }
            PageSink::Piece(piece) => piece.write(&self.buffer[..full_bytes])?,
        }
        self.start += full_bytes as u64;
        self.buffer.drain(..full_bytes);
        Ok(())
    }

    /// Pads with zeros, so that the next section begins at a multiple of [`ALIGNMENT`]. Returns its
    /// position.
    pub(crate) fn align(&mut self) -> io::Result<u64> {
        let to = self.place().next_multiple_of(ALIGNMENT);
        let zeros = [0; ALIGNMENT as usize];
        self.write(&zeros[..(to - self.place()) as usize])?;
        Ok(to)
    }

    /// Pads the last page with zeros and appends the checksums of all pages. It fails for a piece.
    pub(crate) fn finish(mut self) -> io::Result<FinishedPages> {
        let padded_len = self.buffer.len().next_multiple_of(PAGE);
        self.buffer.resize(padded_len, 0);
        self.write_pages()?;
        let PageSink::File { mut file, checksums } = self.sink else { return Err(io::ErrorKind::InvalidInput.into()) };
        let checksums: Vec<u8> = checksums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
        file.write_all(&checksums)?;
        Ok(FinishedPages { file, checksums_at: self.start, checksums })
    }
}
