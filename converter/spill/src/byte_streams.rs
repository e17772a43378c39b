//! [`ByteStreams`]: streams of bytes that grow alternately in one temporary file.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use crate::temporary_space::TemporarySpace;
use crate::varint;

/// Bytes read from a stream at once.
const READ_BYTES: usize = 1 << 16;
/// With more streams than this, a stream that was written frees its buffer.
const MANY_STREAMS: usize = 1 << 12;
/// Bytes before each chunk in the file: the position of the previous chunk, and the chunk's length.
const CHUNK_HEAD: usize = 16;

/// A stream of bytes: a chain of chunks. The latest chunk is in memory.
#[derive(Debug, Default)]
struct ByteStream {
    buffer: Vec<u8>,
    /// Position of its last chunk in the file, plus 1; 0 if there is none.
    last: u64,
}

/// Many streams in one file, with one memory budget.
///
/// ```
/// use tumit_spill::byte_streams::ByteStreams;
/// use tumit_spill::temporary_space::TemporarySpace;
/// use tumit_spill::varint;
///
/// # fn main() -> std::io::Result<()> {
/// let mut streams = ByteStreams::new(&TemporarySpace::in_system_folder(1 << 20));
/// let (even, odd) = (streams.open(), streams.open());
/// for number in 0..100 {
///     streams.append(if number % 2 == 0 { even } else { odd }, |out| varint::push(out, number));
///     streams.flush()?;
/// }
/// assert_eq!(streams.read(odd)?.number()?, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ByteStreams {
    space: TemporarySpace,
    file: Option<Arc<File>>,
    end: u64,
    streams: Vec<ByteStream>,
    /// Number of bytes in memory.
    buffered: usize,
}

impl ByteStreams {
    /// No streams. The budget of `space` is for all streams together.
    #[must_use]
    pub fn new(space: &TemporarySpace) -> Self {
        Self { space: space.clone(), file: None, end: 0, streams: Vec::new(), buffered: 0 }
    }

    /// Number of streams.
    #[must_use]
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// Whether no stream was opened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Opens a stream and returns its number.
    pub fn open(&mut self) -> usize {
        self.streams.push(ByteStream::default());
        self.streams.len() - 1
    }

    /// Appends the bytes that `write` writes to a stream. [`Self::flush`] bounds the memory.
    #[inline]
    pub fn append(&mut self, stream: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let buffer = &mut self.streams[stream].buffer;
        let before = buffer.len();
        write(buffer);
        self.buffered += buffer.len() - before;
    }

    /// Writes all buffers to the file if they exceed the budget.
    ///
    /// # Errors
    /// If the temporary file cannot be created or written.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffered < self.space.memory() { Ok(()) } else { self.flush_all() }
    }

    fn flush_all(&mut self) -> io::Result<()> {
        let keep = self.streams.len() <= MANY_STREAMS;
        if self.file.is_none() {
            self.file = Some(Arc::new(self.space.file()?));
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

    /// Reads a stream from its beginning. An unknown stream is empty.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub fn read(&self, stream: usize) -> io::Result<ByteStreamReader<'_>> {
        self.streams
            .get(stream)
            .map_or_else(|| Ok(ByteStreamReader::default()), |stream| stream.read(self.file.as_deref()))
    }

    /// Removes a whole stream, which any thread can then read.
    pub fn finish_stream(&mut self, stream: usize) -> FinishedByteStream {
        let stream = self.streams.get_mut(stream).map(std::mem::take).unwrap_or_default();
        self.buffered -= stream.buffer.len();
        FinishedByteStream { stream, file: self.file.clone() }
    }
}

impl ByteStream {
    fn read<'a>(&'a self, file: Option<&'a File>) -> io::Result<ByteStreamReader<'a>> {
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
        Ok(ByteStreamReader { file, chunks, tail: &self.buffer, window: Vec::new(), position: 0 })
    }
}

/// A stream that no longer grows.
#[derive(Debug)]
pub struct FinishedByteStream {
    stream: ByteStream,
    file: Option<Arc<File>>,
}

impl FinishedByteStream {
    /// Reads it from its beginning.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub fn read(&self) -> io::Result<ByteStreamReader<'_>> {
        self.stream.read(self.file.as_deref())
    }
}

/// Reads one stream from its begin to its end, first the chunks in the file.
#[derive(Debug, Default)]
pub struct ByteStreamReader<'a> {
    file: Option<&'a File>,
    /// Position and length of the chunks in the file that are not yet read, last one first.
    chunks: Vec<(u64, u64)>,
    tail: &'a [u8],
    window: Vec<u8>,
    position: usize,
}

impl ByteStreamReader<'_> {
    /// Makes at least `count` bytes available in `window[at..]`, if the stream has that many.
    fn fill(&mut self, count: usize) -> io::Result<()> {
        while self.window.len() - self.position < count {
            self.window.drain(..self.position);
            self.position = 0;
            let old_length = self.window.len();
            if let (Some((offset, length)), Some(file)) = (self.chunks.last_mut(), self.file) {
                let some = (*length).min(READ_BYTES as u64);
                self.window.resize(old_length + some as usize, 0);
                file.read_exact_at(&mut self.window[old_length..], *offset)?;
                (*offset, *length) = (*offset + some, *length - some);
                if *length == 0 {
                    self.chunks.pop();
                }
            } else {
                let (now, remainder) = self.tail.split_at(self.tail.len().min(READ_BYTES));
                if now.is_empty() {
                    break;
                }
                self.window.extend_from_slice(now);
                self.tail = remainder;
            }
        }
        Ok(())
    }

    /// The next number, written as a varint; 0 after the end.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    #[inline]
    pub fn number(&mut self) -> io::Result<u64> {
        if self.window.len() - self.position < varint::MAX_BYTES {
            self.fill(varint::MAX_BYTES)?;
        }
        let mut rest = &self.window[self.position..];
        let number = varint::take(&mut rest).unwrap_or(0);
        self.position = self.window.len() - rest.len();
        Ok(number)
    }

    /// Passes the rest to `visit`, in portions.
    ///
    /// # Errors
    /// If the temporary file cannot be read, and those of `visit`.
    pub fn for_each_portion(&mut self, mut visit: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        loop {
            self.fill(1)?;
            if self.position == self.window.len() {
                return Ok(());
            }
            visit(&self.window[self.position..])?;
            self.position = self.window.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_streams_are_read_one_by_one() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let mut streams = ByteStreams::new(&TemporarySpace::new(folder.path(), 1 << 26));
        let ids: Vec<usize> = (0..5).map(|_| streams.open()).collect();
        for round in 0..3_000_u64 {
            for (number, &id) in ids.iter().enumerate() {
                streams.append(id, |out| {
                    (0..round % 7).for_each(|step| varint::push(out, round * 1000 + step + number as u64));
                });
            }
            if round % 500 == 499 {
                streams.flush_all().expect("the file can be written");
            }
        }
        for (number, &id) in ids.iter().enumerate() {
            let mut reader = streams.read(id).expect("the data can be read");
            for round in 0..3_000_u64 {
                for step in 0..round % 7 {
                    assert_eq!(reader.number().expect("the number can be read"), round * 1000 + step + number as u64);
                }
            }
            assert_eq!(reader.number().expect("reading at the end gives 0"), 0);
        }
    }
}
