//! Lines and words: quotes, comments, line ends, encodings.

use std::io::{self, BufRead, Read as _};

/// Bytes of a line that are kept.
const MAX_LINE: u64 = 1 << 20;

/// The current line, in buffers that are used again and again.
#[derive(Debug, Default)]
pub(super) struct Line {
    bytes: Vec<u8>,
    text: String,
    /// Its number, from 1.
    pub(super) number: u64,
    /// It was longer than what is kept.
    pub(super) cut: bool,
    /// It was not UTF-8.
    pub(super) foreign: bool,
}

impl Line {
    /// Reads the next one; `false` at the end of the input.
    pub(super) fn read(&mut self, input: &mut impl BufRead) -> io::Result<bool> {
        self.bytes.clear();
        self.text.clear();
        let taken = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.bytes)?;
        if taken == 0 {
            return Ok(false);
        }
        self.cut = taken as u64 == MAX_LINE && !self.bytes.ends_with(b"\n") && input.skip_until(b'\n')? > 0;
        self.number += 1;
        if self.number == 1 && self.bytes.starts_with(b"\xef\xbb\xbf") {
            self.bytes.drain(..3);
        }
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => {
                self.text.push_str(text);
                self.foreign = false;
            }
            // A cut may go through a character: that is no foreign encoding.
            Err(error) if self.cut && error.error_len().is_none() => {
                self.text.push_str(&String::from_utf8_lossy(&self.bytes[..error.valid_up_to()]));
                self.foreign = false;
            }
            Err(_) => {
                self.text.extend(self.bytes.iter().map(|&byte| char::from(byte)));
                self.foreign = true;
            }
        }
        Ok(true)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The words of a line, as ranges of its bytes: quotes taken off, comment left out.
#[derive(Debug, Default)]
pub(super) struct Words {
    ranges: Vec<(u32, u32)>,
    /// The last one had no closing quote.
    pub(super) unclosed: bool,
}

impl Words {
    /// Splits a line as `pj_dump` does: blanks separate; `"` begins a quoted word where a word begins, and ends it anywhere;
    /// `#` outside quotes begins a comment, even inside a word. There are no escapes.
    pub(super) fn split(&mut self, line: &str) {
        self.ranges.clear();
        self.unclosed = false;
        let bytes = line.as_bytes();
        let mut at = 0;
        loop {
            while bytes.get(at).is_some_and(|&byte| is_blank(byte)) {
                at += 1;
            }
            match bytes.get(at) {
                None | Some(b'#') => return,
                Some(b'"') => {
                    let from = at + 1;
                    let rest = &bytes[from..];
                    let closing = rest.iter().position(|&byte| byte == b'"');
                    self.unclosed |= closing.is_none();
                    let to = from + closing.unwrap_or_else(|| rest.trim_ascii_end().len());
                    self.add(from, to);
                    at = if closing.is_some() { to + 1 } else { bytes.len() };
                }
                Some(_) => {
                    let length = bytes[at..].iter().position(|&byte| is_blank(byte) || byte == b'#');
                    let to = length.map_or(bytes.len(), |length| at + length);
                    self.add(at, to);
                    at = to;
                }
            }
        }
    }

    fn add(&mut self, from: usize, to: usize) {
        // A line is at most 2 MiB long after decoding.
        self.ranges.push((from as u32, to as u32));
    }

    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Word number `at` of the line that was split.
    pub(super) fn get<'a>(&self, line: &'a str, at: usize) -> Option<&'a str> {
        let &(from, to) = self.ranges.get(at)?;
        line.get(from as usize..to as usize)
    }
}

/// What C's `isspace` says.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn words_quotes_and_comments() {
        let cases: [(&str, &[&str]); 9] = [
            ("1 0.5  \"a b\"\tc\r\n", &["1", "0.5", "a b", "c"]),
            ("  6 \"\" x", &["6", "", "x"]),
            ("ab#cd ef", &["ab"]),
            ("\"ab#cd\" ef", &["ab#cd", "ef"]),
            ("# all of it", &[]),
            ("a\"b it's", &["a\"b", "it's"]),
            ("\"a b\"c", &["a b", "c"]),
            ("x \"open to the end \r\n", &["x", "open to the end"]),
            ("\"é 漢\" ü", &["é 漢", "ü"]),
        ];
        let mut words = Words::default();
        for (line, expected) in cases {
            words.split(line);
            let found: Vec<&str> = (0..words.len()).filter_map(|at| words.get(line, at)).collect();
            assert_eq!(found, expected, "{line}");
            assert_eq!(words.unclosed, line.contains("open"));
        }
    }
}
