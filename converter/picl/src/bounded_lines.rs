//! [`BoundedLines`]: the lines of a text, with a maximum length.

use std::io::{self, BufRead, BufReader, Read};

/// Maximum length of a line in bytes. The rest of a longer line is skipped.
const MAX_LINE_BYTES: usize = 1 << 20;
/// Size of the read buffer in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// Reads lines.
#[derive(Debug)]
pub(crate) struct BoundedLines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    number: u64,
}

impl<R: Read> BoundedLines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(BUFFER_BYTES, input), line: Vec::new(), number: 0 }
    }

    /// Reads the next line. Returns `false` at the end of the input.
    pub(crate) fn advance(&mut self) -> io::Result<bool> {
        self.line.clear();
        let mut has_bytes = false;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            has_bytes = true;
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            let room = MAX_LINE_BYTES - self.line.len();
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        self.number += u64::from(has_bytes);
        Ok(has_bytes)
    }

    /// The current line without its end.
    pub(crate) fn line(&self) -> &[u8] {
        let line = self.line.as_slice();
        if self.number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line }
    }

    /// The number of the current line, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::BoundedLines;

    #[test]
    fn long_lines_are_cut() {
        let mut text = vec![b'1'; 3 << 20];
        text.extend_from_slice(b"\nsecond");
        let mut lines = BoundedLines::new(&text[..]);
        assert!(lines.advance().expect("memory can be read"));
        assert_eq!(lines.line().len(), 1 << 20);
        assert!(lines.advance().expect("memory can be read"));
        assert_eq!((lines.line(), lines.number()), (&b"second"[..], 2));
        assert!(!lines.advance().expect("memory can be read"));
    }
}
