//! Storage for data that is collected while a trace is read, and that may exceed memory: streams
//! that grow alternately in one temporary file, and sections that are copied to the output later.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tumit_spill::endpoint_map::OverflowStore;

use super::bit_fields;
use super::page_writer::PageWriter;

/// Bytes read from a stream at once.
const READ_BYTES: usize = 1 << 16;
/// With more streams than this, a stream that was written frees its buffer.
const MANY_STREAMS: usize = 1 << 12;
/// Bytes before each chunk in the file: the position of the previous chunk, and the chunk's length.
const CHUNK_HEAD: usize = 16;

/// Limits for collected data: bytes of memory, and a folder for temporary files.
#[derive(Clone, Debug)]
pub(crate) struct TemporarySpace {
    folder: PathBuf,
    /// Bytes of all lanes' streams together that stay in memory. Other structures get fractions of
    /// this.
    memory: usize,
}

impl TemporarySpace {
    /// The default amount of memory.
    pub(crate) fn new(folder: &Path) -> Self {
        Self::of(folder, super::MEMORY)
    }

    pub(crate) fn of(folder: &Path, memory: usize) -> Self {
        Self { folder: folder.to_owned(), memory }
    }

    /// One of `of` equal parts.
    pub(crate) fn part(&self, of: usize) -> Self {
        Self::of(&self.folder, self.memory / of.max(1))
    }

    /// An unnamed file. It disappears when the process ends, even after a crash.
    pub(crate) fn file(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.folder)
    }

    /// Bytes of a list that is sorted. Several such lists exist at a time.
    pub(crate) fn sorted_bytes(&self) -> usize {
        self.memory / 2
    }

    /// Bytes of the overview's streams.
    pub(crate) fn overview_bytes(&self) -> usize {
        self.memory / 4
    }

    /// Limits the link endpoints that wait in memory: the default number, or fewer.
    pub(crate) fn overflow(&self) -> OverflowStore {
        let most = OverflowStore::default().most.min(self.memory / 256);
        OverflowStore { folder: self.folder.clone(), most }
    }

    /// With at most this many states, threads for parts of them do not pay off: 65,536 with the
    /// default memory.
    pub(crate) fn few_states(&self) -> u64 {
        (self.memory / 512) as u64
    }

    /// Maximum rows of equal links per bin and bin width in memory.
    pub(crate) fn gathered_rows(&self) -> usize {
        (self.memory / 256).max(64)
    }

    /// Bytes of a section in memory.
    fn section_bytes(&self) -> usize {
        self.memory / 8
    }
}

/// A stream of bytes of one lane: a chain of chunks. The latest chunk is in memory.
#[derive(Debug, Default)]
struct TemporaryStream {
    buffer: Vec<u8>,
    /// Position of its last chunk in the file, plus 1; 0 if there is none.
    last: u64,
}

/// Many streams in one file.
#[derive(Debug)]
pub(crate) struct TemporaryStreams {
    room: TemporarySpace,
    file: Option<Arc<File>>,
    end: u64,
    streams: Vec<TemporaryStream>,
    buffered: usize,
    /// Bytes of all streams together that stay in memory.
    most: usize,
}

impl TemporaryStreams {
    pub(crate) fn new(room: &TemporarySpace) -> Self {
        Self::with_memory(room, room.memory)
    }

    /// Streams that keep at most `most` bytes in memory.
    pub(crate) fn with_memory(room: &TemporarySpace, most: usize) -> Self {
        Self { room: room.clone(), file: None, end: 0, streams: Vec::new(), buffered: 0, most }
    }

    /// Number of streams.
    pub(crate) fn len(&self) -> usize {
        self.streams.len()
    }

    /// Opens a stream and returns its number.
    pub(crate) fn open(&mut self) -> usize {
        self.streams.push(TemporaryStream::default());
        self.streams.len() - 1
    }

    /// Appends the bytes that `put` writes to a stream. [`Self::flush`] bounds the memory.
    #[inline]
    pub(crate) fn append(&mut self, stream: usize, put: impl FnOnce(&mut Vec<u8>)) {
        let buffer = &mut self.streams[stream].buffer;
        let before = buffer.len();
        put(buffer);
        self.buffered += buffer.len() - before;
    }

    /// Writes all buffers to the file if they exceed the limit.
    #[inline]
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.buffered < self.most { Ok(()) } else { self.flush_all() }
    }

    fn flush_all(&mut self) -> io::Result<()> {
        let keep = self.streams.len() <= MANY_STREAMS;
        if self.file.is_none() {
            self.file = Some(Arc::new(self.room.file()?));
        }
        let Some(mut file) = self.file.as_deref() else { return Ok(()) };
        file.seek(io::SeekFrom::Start(self.end))?;
        let mut out = io::BufWriter::with_capacity(1 << 18, file);
        for stream in self.streams.iter_mut().filter(|stream| !stream.buffer.is_empty()) {
            out.write_all(&stream.last.to_le_bytes())?;
            out.write_all(&(stream.buffer.len() as u64).to_le_bytes())?;
            out.write_all(&stream.buffer)?;
            stream.last = self.end + 1;
            self.end += (CHUNK_HEAD + stream.buffer.len()) as u64;
            if keep {
                stream.buffer.clear();
            } else {
                stream.buffer = Vec::new();
            }
        }
        self.buffered = 0;
        out.flush()
    }

    /// Reads a stream from its beginning.
    pub(crate) fn read(&self, stream: usize) -> io::Result<TemporaryStreamReader<'_>> {
        self.streams
            .get(stream)
            .map_or_else(|| Ok(TemporaryStreamReader::default()), |stream| stream.read(self.file.as_deref()))
    }

    /// Removes a whole stream, which any thread can then read.
    pub(crate) fn finish_stream(&mut self, stream: usize) -> FinishedStream {
        let stream = self.streams.get_mut(stream).map(std::mem::take).unwrap_or_default();
        self.buffered -= stream.buffer.len();
        FinishedStream { stream, file: self.file.clone() }
    }
}

impl TemporaryStream {
    fn read<'a>(&'a self, file: Option<&'a File>) -> io::Result<TemporaryStreamReader<'a>> {
        let (mut chunks, mut last) = (Vec::new(), self.last);
        if let Some(file) = file {
            while last > 0 {
                let mut head = [0; CHUNK_HEAD];
                file.read_exact_at(&mut head, last - 1)?;
                let (before, length) = head.split_at(8);
                let word = |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().unwrap_or(&[0; 8]));
                chunks.push((last - 1 + CHUNK_HEAD as u64, word(length)));
                last = word(before);
            }
        }
        Ok(TemporaryStreamReader { file, chunks, tail: &self.buffer, window: Vec::new(), at: 0 })
    }
}

/// A stream that no longer grows.
#[derive(Debug)]
pub(crate) struct FinishedStream {
    stream: TemporaryStream,
    file: Option<Arc<File>>,
}

impl FinishedStream {
    /// Reads it from its beginning.
    pub(crate) fn read(&self) -> io::Result<TemporaryStreamReader<'_>> {
        self.stream.read(self.file.as_deref())
    }
}

/// Reads one stream.
#[derive(Debug, Default)]
pub(crate) struct TemporaryStreamReader<'a> {
    file: Option<&'a File>,
    /// Position and length of the chunks in the file that are not yet read, last one first.
    chunks: Vec<(u64, u64)>,
    tail: &'a [u8],
    window: Vec<u8>,
    at: usize,
}

impl TemporaryStreamReader<'_> {
    /// Makes at least `wanted` bytes available in `window[at..]`, if the stream has that many.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        while self.window.len() - self.at < wanted {
            self.window.drain(..self.at);
            self.at = 0;
            let old = self.window.len();
            if let (Some((place, length)), Some(file)) = (self.chunks.last_mut(), self.file) {
                let some = (*length).min(READ_BYTES as u64);
                self.window.resize(old + some as usize, 0);
                file.read_exact_at(&mut self.window[old..], *place)?;
                (*place, *length) = (*place + some, *length - some);
                if *length == 0 {
                    self.chunks.pop();
                }
            } else {
                let (now, later) = self.tail.split_at(self.tail.len().min(READ_BYTES));
                if now.is_empty() {
                    break;
                }
                self.window.extend_from_slice(now);
                self.tail = later;
            }
        }
        Ok(())
    }

    /// The next number; 0 after the end.
    #[inline]
    pub(crate) fn number(&mut self) -> io::Result<u64> {
        if self.window.len() - self.at < bit_fields::VARINT_BYTES {
            self.fill(bit_fields::VARINT_BYTES)?;
        }
        let mut rest = &self.window[self.at..];
        let number = bit_fields::take_varint(&mut rest).unwrap_or(0);
        self.at = self.window.len() - rest.len();
        Ok(number)
    }

    /// Copies the rest to `out`.
    pub(crate) fn copy_to(&mut self, out: &mut PageWriter) -> io::Result<()> {
        loop {
            self.fill(1)?;
            if self.at == self.window.len() {
                return Ok(());
            }
            out.write(&self.window[self.at..])?;
            self.at = self.window.len();
        }
    }
}

/// A section of the output that is written while another one grows, and follows it.
#[derive(Debug)]
pub(crate) struct DeferredSection {
    room: TemporarySpace,
    memory: Vec<u8>,
    file: Option<File>,
    /// Bytes in the file.
    written: u64,
}

impl DeferredSection {
    pub(crate) fn new(room: &TemporarySpace) -> Self {
        Self { room: room.clone(), memory: Vec::new(), file: None, written: 0 }
    }

    /// An empty section with the same limits.
    pub(crate) fn empty(&self) -> Self {
        Self::new(&self.room)
    }

    /// Number of bytes so far.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.memory.len() as u64
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() >= self.room.section_bytes() {
            if self.file.is_none() {
                self.file = Some(self.room.file()?);
            }
            if let Some(file) = &mut self.file {
                file.write_all(&self.memory)?;
                self.written += self.memory.len() as u64;
                self.memory.clear();
            }
        }
        Ok(())
    }

    /// Copies everything to `out`.
    pub(crate) fn copy_to(self, out: &mut PageWriter) -> io::Result<()> {
        self.each(1, |bytes| out.write(bytes))
    }

    /// Passes all bytes to `give`, in order and in portions. Each portion is a multiple of `unit`
    /// bytes; each [`Self::write`] must be, too.
    pub(crate) fn each(self, unit: usize, mut give: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if let Some(mut file) = self.file {
            file.rewind()?;
            let mut buffer = vec![0; (READ_BYTES / unit).max(1) * unit];
            let mut left = self.written;
            while left > 0 {
                let some = left.min(buffer.len() as u64) as usize;
                file.read_exact(&mut buffer[..some])?;
                give(&buffer[..some])?;
                left -= some as u64;
            }
        }
        give(&self.memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_streams_are_read_one_by_one() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let mut streams = TemporaryStreams::new(&TemporarySpace::new(folder.path()));
        let ids: Vec<usize> = (0..5).map(|_| streams.open()).collect();
        for round in 0..3_000_u64 {
            for (at, &id) in ids.iter().enumerate() {
                streams.append(id, |out| {
                    (0..round % 7).for_each(|step| bit_fields::put(out, round * 1000 + step + at as u64));
                });
            }
            if round % 500 == 499 {
                streams.flush_all().expect("the file can be written");
            }
        }
        for (at, &id) in ids.iter().enumerate() {
            let mut reader = streams.read(id).expect("the data can be read");
            for round in 0..3_000_u64 {
                for step in 0..round % 7 {
                    assert_eq!(reader.number().expect("the number can be read"), round * 1000 + step + at as u64);
                }
            }
            assert_eq!(reader.number().expect("reading at the end gives 0"), 0);
        }
    }
}
