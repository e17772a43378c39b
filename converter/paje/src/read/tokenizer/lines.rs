//! Reads an input line by line, and decodes lines that are not UTF-8.

use std::io::{self, Read};
use std::ops::Range;

/// Maximum length of a line in bytes. The rest is cut off.
pub(super) const MAX_LINE: usize = 1 << 20;
/// Initial size of the buffer in bytes.
const CHUNK: usize = 1 << 18;

/// The lines of an input. A line is a range of the read buffer and is not copied.
#[derive(Debug)]
pub(in crate::read) struct LineReader<R> {
    input: R,
    buffer: Vec<u8>,
    /// The range of the buffer that was read and not yet processed.
    unread: Range<usize>,
    line_range: Range<usize>,
    /// Number of the current line, from 1.
    number: u64,
    cut: bool,
    /// Whether the current line has a line end.
    has_end: bool,
    /// Whether the first line starts with a byte order mark.
    mark: bool,
    /// Added to the numbers of lines. It encodes the part of a split trace.
    base: u64,
}

/// A line, without its end.
#[derive(Clone, Copy, Debug)]
pub(in crate::read) struct TextLine<'a> {
    pub(in crate::read) bytes: &'a [u8],
    /// Its number, from 1, encoded as in [`TraceLine`](crate::read::TraceLine).
    pub(in crate::read) number: u64,
    /// Whether it was cut off at the maximum length.
    pub(in crate::read) cut: bool,
    /// Whether it starts with a byte order mark.
    pub(in crate::read) mark: bool,
}

impl<R: Read> LineReader<R> {
    pub(in crate::read) fn new(input: R) -> Self {
        Self::with_buffer(input, vec![0; CHUNK])
    }

    fn with_buffer(input: R, buffer: Vec<u8>) -> Self {
        Self {
            input,
            buffer,
            unread: 0..0,
            line_range: 0..0,
            number: 0,
            cut: false,
            has_end: true,
            mark: false,
            base: 0,
        }
    }

    /// Lines of a part of a split trace. `bytes` is the initial size of the buffer.
    pub(in crate::read) fn of_part(input: R, bytes: usize, base: u64) -> Self {
        Self { base, ..Self::with_buffer(input, vec![0; bytes]) }
    }

    /// Frees the buffer of an input that has ended.
    pub(in crate::read) fn close(&mut self) {
        (self.buffer, self.unread, self.line_range) = (Vec::new(), 0..0, 0..0);
    }

    /// Number of lines so far.
    pub(in crate::read) fn count(&self) -> u64 {
        self.number
    }

    /// The source of the lines.
    pub(in crate::read) fn input(&self) -> &R {
        &self.input
    }

    /// Advances to the next line. Returns `false` at the end of the input.
    pub(in crate::read) fn advance(&mut self) -> io::Result<bool> {
        if self.cut && !self.skip_rest()? {
            self.cut = false;
            return Ok(false);
        }
        self.cut = false;
        // Number of bytes without a line end.
        let mut searched = 0;
        loop {
            let unread_bytes = &self.buffer[self.unread.clone()];
            if let Some(length) = memchr::memchr(b'\n', unread_bytes.get(searched..).unwrap_or_default()) {
                if searched + length > MAX_LINE {
                    self.take_line(MAX_LINE, 0);
                    self.cut = true;
                } else {
                    self.take_line(searched + length, 1);
                }
                return Ok(true);
            }
            searched = unread_bytes.len();
            if searched > MAX_LINE {
                self.take_line(MAX_LINE, 0);
                self.cut = true;
                return Ok(true);
            }
            if !self.fill()? {
                if searched == 0 {
                    return Ok(false);
                }
                self.take_line(searched, 0);
                return Ok(true);
            }
        }
    }

    /// Makes the next `length` bytes the current line. The `end` bytes after them are the line end.
    fn take_line(&mut self, length: usize, end: usize) {
        self.line_range = self.unread.start..self.unread.start + length;
        self.unread.start += length + end;
        self.has_end = end > 0;
        self.number += 1;
        if self.number == 1 && self.buffer[self.line_range.clone()].starts_with(b"\xef\xbb\xbf") {
            self.line_range.start += 3;
            self.mark = true;
        }
    }

    /// Reads more bytes. Returns `false` at the end of the input.
    fn fill(&mut self) -> io::Result<bool> {
        if self.unread.start > 0 {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        if self.unread.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.unread.end..]) {
                Ok(read) => {
                    self.unread.end += read;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Skips the rest of a line that was cut off. Returns `false` if the input ends with it.
    fn skip_rest(&mut self) -> io::Result<bool> {
        loop {
            if let Some(length) = memchr::memchr(b'\n', &self.buffer[self.unread.clone()]) {
                self.unread.start += length + 1;
                return Ok(true);
            }
            self.unread.start = self.unread.end;
            if !self.fill()? {
                return Ok(false);
            }
        }
    }

    /// Whether the current line has a line end. Only the last line can lack one.
    pub(in crate::read) fn is_ended(&self) -> bool {
        self.has_end || self.cut
    }

    /// The current line.
    pub(in crate::read) fn line(&self) -> TextLine<'_> {
        TextLine {
            bytes: &self.buffer[self.line_range.clone()],
            number: self.base + self.number,
            cut: self.cut,
            mark: self.mark && self.number == 1,
        }
    }
}

/// A line as text.
pub(in crate::read) struct DecodedLine<'t> {
    pub(in crate::read) text: &'t str,
    /// Whether the line was not UTF-8 and is converted from Latin-1.
    pub(in crate::read) is_latin1: bool,
}

impl<'a> TextLine<'a> {
    /// The line as text. A line that is not UTF-8 is converted from Latin-1 in `buffer`.
    pub(in crate::read) fn text<'t>(self, buffer: &'t mut String) -> DecodedLine<'t>
    where
        'a: 't,
    {
        match std::str::from_utf8(self.bytes) {
            Ok(text) => DecodedLine { text, is_latin1: false },
            // The cut may split a character. This is not another encoding.
            Err(error) if self.cut && error.error_len().is_none() => {
                let text = std::str::from_utf8(&self.bytes[..error.valid_up_to()]).unwrap_or("");
                DecodedLine { text, is_latin1: false }
            }
            Err(_) => {
                buffer.clear();
                buffer.extend(self.bytes.iter().map(|&byte| char::from(byte)));
                DecodedLine { text: buffer, is_latin1: true }
            }
        }
    }
}
