//! Lines and words: quotes, comments, line ends, encodings.

use std::io::{self, Read};
use std::ops::Range;

use super::faults::{FaultKind, FaultList};

/// Maximum length of a line in bytes. The rest is cut off.
const MAX_LINE: usize = 1 << 20;
/// Initial size of the buffer in bytes.
const CHUNK: usize = 1 << 18;

/// The lines of an input. A line is a range of the read buffer and is not copied.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    input: R,
    buffer: Vec<u8>,
    /// The range of the buffer that was read and not yet processed.
    unread: Range<usize>,
    current: Range<usize>,
    /// Number of the current line, from 1.
    number: u64,
    cut: bool,
    /// Whether the current line has a line end.
    ended: bool,
    /// Whether the first line starts with a byte order mark.
    mark: bool,
    /// Added to the numbers of lines. It encodes the part of a split trace.
    base: u64,
}

/// A line, without its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextLine<'a> {
    pub(super) bytes: &'a [u8],
    /// Its number, from 1, encoded as in [`TraceLine`](super::TraceLine).
    pub(super) number: u64,
    /// Whether it was cut off at the maximum length.
    pub(super) cut: bool,
    /// Whether it starts with a byte order mark.
    pub(super) mark: bool,
}

impl<R: Read> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self::with_buffer(input, vec![0; CHUNK])
    }

    fn with_buffer(input: R, buffer: Vec<u8>) -> Self {
        Self { input, buffer, unread: 0..0, current: 0..0, number: 0, cut: false, ended: true, mark: false, base: 0 }
    }

    /// Lines of a part of a split trace. `bytes` is the initial size of the buffer.
    pub(super) fn of_part(input: R, bytes: usize, base: u64) -> Self {
        Self { base, ..Self::with_buffer(input, vec![0; bytes]) }
    }

    /// Frees the buffer of an input that has ended.
    pub(super) fn close(&mut self) {
        (self.buffer, self.unread, self.current) = (Vec::new(), 0..0, 0..0);
    }

    /// Number of lines so far.
    pub(super) fn count(&self) -> u64 {
        self.number
    }

    /// The source of the lines.
    pub(super) fn input(&self) -> &R {
        &self.input
    }

    /// Advances to the next line. Returns `false` at the end of the input.
    pub(super) fn advance(&mut self) -> io::Result<bool> {
        if self.cut && !self.skip_rest()? {
            self.cut = false;
            return Ok(false);
        }
        self.cut = false;
        // Number of bytes without a line end.
        let mut seen = 0;
        loop {
            let rest = &self.buffer[self.unread.clone()];
            if let Some(length) = memchr::memchr(b'\n', rest.get(seen..).unwrap_or_default()) {
                if seen + length > MAX_LINE {
                    self.take_line(MAX_LINE, 0);
                    self.cut = true;
                } else {
                    self.take_line(seen + length, 1);
                }
                return Ok(true);
            }
            seen = rest.len();
            if seen > MAX_LINE {
                self.take_line(MAX_LINE, 0);
                self.cut = true;
                return Ok(true);
            }
            if !self.fill()? {
                if seen == 0 {
                    return Ok(false);
                }
                self.take_line(seen, 0);
                return Ok(true);
            }
        }
    }

    /// Makes the next `length` bytes the current line. The `end` bytes after them are the line end.
    fn take_line(&mut self, length: usize, end: usize) {
        self.current = self.unread.start..self.unread.start + length;
        self.unread.start += length + end;
        self.ended = end > 0;
        self.number += 1;
        if self.number == 1 && self.buffer[self.current.clone()].starts_with(b"\xef\xbb\xbf") {
            self.current.start += 3;
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
    pub(super) fn is_ended(&self) -> bool {
        self.ended || self.cut
    }

    /// The current line.
    pub(super) fn line(&self) -> TextLine<'_> {
        TextLine {
            bytes: &self.buffer[self.current.clone()],
            number: self.base + self.number,
            cut: self.cut,
            mark: self.mark && self.number == 1,
        }
    }
}

impl<'a> TextLine<'a> {
    /// The line as text, and whether it was not UTF-8. Such a line is converted from Latin-1 in
    /// `decoded`.
    pub(super) fn text<'t>(self, decoded: &'t mut String) -> (&'t str, bool)
    where
        'a: 't,
    {
        match std::str::from_utf8(self.bytes) {
            Ok(text) => (text, false),
            // The cut may split a character. This is not another encoding.
            Err(error) if self.cut && error.error_len().is_none() => {
                (std::str::from_utf8(&self.bytes[..error.valid_up_to()]).unwrap_or(""), false)
            }
            Err(_) => {
                decoded.clear();
                decoded.extend(self.bytes.iter().map(|&byte| char::from(byte)));
                (decoded, true)
            }
        }
    }
}

/// The dialect of quotes by which a line is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct QuoteDialect {
    /// Whether `'` quotes as `"` does.
    single: bool,
    /// Whether `\"` inside a quoted word is a quote of its text.
    escapes: bool,
}

/// Marks the range of a word with its text in [`LineWords::unescaped`].
const UNESCAPED: u32 = 1 << 31;

/// The words of a line as ranges of its bytes, without quotes and comments.
#[derive(Debug, Default)]
pub(super) struct LineWords {
    ranges: Vec<(u32, u32)>,
    /// The texts of words with escapes.
    unescaped: String,
    quoting: QuoteDialect,
    /// Whether the last word has no closing quote.
    pub(super) unclosed: bool,
    /// Whether a word is empty.
    pub(super) empty: bool,
    /// Whether a word in apostrophes contains `\'`.
    escaped_single: bool,
}

impl LineWords {
    /// Splits a line as `pj_dump` does. Blanks separate words. `"` at the start of a word begins a
    /// quoted word, and the next `"` ends it. `#` outside quotes begins a comment, even inside a
    /// word. There are no escapes.
    pub(super) fn split(&mut self, line: &str) {
        self.split_by(line, QuoteDialect::default());
    }

    /// Splits a line again that has an apostrophe or a backslash, which producers use in different
    /// ways. Uses the first dialect that closes all quotes and yields the expected number of words.
    /// If none does, apostrophes and `\"` count as quotes.
    pub(super) fn split_expecting(&mut self, line: &str, expected: usize) {
        let all = [(true, false), (true, true), (false, false), (false, true)];
        let all = all.map(|(single, escapes)| QuoteDialect { single, escapes });
        for quoting in all {
            self.split_by(line, quoting);
            let is_escape_missed = self.escaped_single && !quoting.escapes;
            if self.len() == expected && !self.unclosed && !is_escape_missed && !self.has_stray_quote(line) {
                return;
            }
        }
        for quoting in all {
            self.split_by(line, quoting);
            if self.len() == expected && !self.unclosed {
                return;
            }
        }
        self.split_by(line, QuoteDialect { single: true, escapes: true });
    }

    /// Whether the last split used apostrophes as quotes, and escapes. Not every reader reads
    /// these.
    pub(super) fn dialect(&self, line: &str) -> (bool, bool) {
        let apostrophe = |&(from, _): &(u32, u32)| from & UNESCAPED == 0 && line[..from as usize].ends_with('\'');
        let single = self.quoting.single && self.ranges.iter().any(apostrophe);
        (single, self.quoting.escapes && !self.unescaped.is_empty())
    }

    /// Whether the last split read a backslash before a quote as an escape.
    pub(super) const fn has_escapes(&self) -> bool {
        self.quoting.escapes
    }

    /// Whether an unquoted word contains a double quote. A quoted text was probably split there.
    fn has_stray_quote(&self, line: &str) -> bool {
        let is_bare = |from: usize| from == 0 || is_blank(line.as_bytes()[from - 1]);
        self.ranges.iter().any(|&(from, to)| {
            from & UNESCAPED == 0 && is_bare(from as usize) && line[from as usize..to as usize].contains('"')
        })
    }

    fn split_by(&mut self, line: &str, quoting: QuoteDialect) {
        self.ranges.clear();
        self.unescaped.clear();
        self.quoting = quoting;
        self.unclosed = false;
        self.empty = false;
        self.escaped_single = false;
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
                    let closing = closing_quote(rest, quoting.escapes);
                    self.unclosed |= closing.is_none();
                    self.empty |= closing == Some(0);
                    let to = from + closing.unwrap_or_else(|| rest.trim_ascii_end().len());
                    self.add_quoted(line, from, to);
                    at = if closing.is_some() { to + 1 } else { bytes.len() };
                }
                Some(b'\'') if quoting.single && closing_single(&bytes[at + 1..], quoting.escapes).is_some() => {
                    let from = at + 1;
                    let length = closing_single(&bytes[from..], quoting.escapes).unwrap_or(0);
                    self.escaped_single |= bytes[from..from + length].windows(2).any(|two| two == b"\\'");
                    self.empty |= length == 0;
                    self.add_quoted(line, from, from + length);
                    at = from + length + 1;
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

    /// Replaces an empty last word by a quote, as `pj_dump` does.
    pub(super) fn empty_is_quote(&mut self, line: &str) {
        if let Some((from, to)) = self.ranges.last_mut()
            && from == to
            && line.as_bytes().get(*to as usize) == Some(&b'"')
        {
            *to += 1;
        }
    }

    fn add(&mut self, from: usize, to: usize) {
        // A line is at most 2 MiB long after decoding.
        self.ranges.push((from as u32, to as u32));
    }

    /// Adds the text between two quotes.
    fn add_quoted(&mut self, line: &str, from: usize, to: usize) {
        let text = if self.quoting.escapes { line.get(from..to).unwrap_or("") } else { "" };
        if !text.contains("\\\"") && !text.contains("\\'") {
            return self.add(from, to);
        }
        let start = self.unescaped.len();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter != '\\' || !matches!(letters.peek(), Some('"' | '\'')) {
                self.unescaped.push(letter);
            }
        }
        self.ranges.push((start as u32 | UNESCAPED, self.unescaped.len() as u32));
    }

    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The word at index `at` of the line that was split.
    #[inline]
    pub(super) fn get<'a>(&'a self, line: &'a str, at: usize) -> Option<&'a str> {
        let &(from, to) = self.ranges.get(at)?;
        if from & UNESCAPED != 0 {
            return self.unescaped.get((from & !UNESCAPED) as usize..to as usize);
        }
        line.get(from as usize..to as usize)
    }
}

/// The position of the quote that closes a text in double quotes.
fn closing_quote(rest: &[u8], escapes: bool) -> Option<usize> {
    if !escapes {
        return memchr::memchr(b'"', rest);
    }
    memchr::memchr_iter(b'"', rest).find(|&at| at == 0 || rest[at - 1] != b'\\')
}

/// The position of the apostrophe that closes a text in apostrophes. The word must end after it.
fn closing_single(rest: &[u8], escapes: bool) -> Option<usize> {
    let ends = |at: usize| rest.get(at + 1).is_none_or(|&byte| is_blank(byte) || byte == b'#');
    let is_escaped = |at: usize| escapes && at > 0 && rest[at - 1] == b'\\';
    memchr::memchr_iter(b'\'', rest).find(|&at| ends(at) && !is_escaped(at))
}

/// Characters outside of quoted text that readers interpret differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AmbiguousSigns {
    /// A quote that ViTE reads as a quote. ViTE also reads comments as words. In a comment only
    /// quotes without a partner count.
    pub(super) quote: bool,
    /// A percent sign that ViTE interprets.
    pub(super) percent: bool,
    /// `#` inside a word.
    pub(super) hash: bool,
    /// A vertical tab or form feed between words.
    pub(super) blank: bool,
    /// Whether there is an apostrophe or a backslash, which producers use in different ways.
    pub(super) dialect: bool,
}

impl AmbiguousSigns {
    /// Counts each kind of character found, except `dialect`.
    #[inline]
    pub(super) fn count(self, text: &str, line: u64, faults: &mut FaultList) {
        if self.quote || self.percent || self.hash || self.blank {
            self.count_each(text, line, faults);
        }
    }

    #[cold]
    fn count_each(self, text: &str, line: u64, faults: &mut FaultList) {
        let kinds = [
            (self.quote, FaultKind::LooseQuote),
            (self.percent, FaultKind::Percent),
            (self.hash, FaultKind::LooseHash),
            (self.blank, FaultKind::OddBlank),
        ];
        for (_, kind) in kinds.into_iter().filter(|(is_there, _)| *is_there) {
            faults.count(kind, line, text.trim_ascii_end());
        }
    }

    /// Finds such characters in a line. `escapes` is whether a backslash before a quote escapes the
    /// quote.
    pub(super) fn find(line: &str, escapes: bool) -> Self {
        let bytes = line.as_bytes();
        let mut found = Self { blank: memchr::memchr2(b'\x0b', b'\x0c', bytes).is_some(), ..Self::default() };
        if memchr::memchr3(b'\'', b'"', b'%', bytes).is_none() && memchr::memchr(b'#', bytes).is_none() {
            return found;
        }
        found.dialect = memchr::memchr2(b'\'', b'\\', bytes).is_some();
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            let rest = &bytes[at + 1..];
            match first {
                b'\'' if closing_single(rest, escapes).is_some() => {
                    at += closing_single(rest, escapes).unwrap_or(0) + 2;
                }
                b'#' => {
                    found.quote |= has_single_quote(rest);
                    return found;
                }
                b'"' => match closing_quote(rest, escapes) {
                    Some(length) => at += length + 2,
                    // Counted as an unclosed quote.
                    None => return found,
                },
                _ if is_blank(first) => at += 1,
                _ => {
                    let length = bytes[at..].iter().position(|&byte| is_blank(byte) || byte == b'#');
                    let to = length.map_or(bytes.len(), |length| at + length);
                    let word = &bytes[at..to];
                    found.quote |= memchr::memchr2(b'\'', b'"', word).is_some();
                    found.percent |= word.contains(&b'%');
                    found.hash |= bytes.get(to) == Some(&b'#');
                    at = to;
                }
            }
        }
        found
    }
}

/// Whether a quote or apostrophe has no partner.
fn has_single_quote(mut text: &[u8]) -> bool {
    while let Some(from) = memchr::memchr2(b'\'', b'"', text) {
        let Some(length) = memchr::memchr(text[from], &text[from + 1..]) else { return true };
        text = &text[from + length + 2..];
    }
    false
}

/// The result of C's `isspace`.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::{LineReader, LineWords, MAX_LINE};

    /// Returns a few bytes at a time.
    struct SlowReader<'a>(&'a [u8], usize);

    impl Read for SlowReader<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.1.min(buffer.len());
            self.0.read(&mut buffer[..length])
        }
    }

    fn lines(input: impl Read) -> Vec<(Vec<u8>, bool)> {
        let (mut lines, mut list) = (LineReader::new(input), Vec::new());
        while lines.advance().expect("reading from memory cannot fail") {
            list.push((lines.line().bytes.to_vec(), lines.line().cut));
            assert_eq!(lines.line().number, list.len() as u64);
        }
        list
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_they_are_read(text in "[a\n]{0,200}", step in 1usize..20) {
            let expected: Vec<_> = text.split_inclusive('\n').map(|line| (line.trim_end_matches('\n').into(), false)).collect();
            prop_assert_eq!(lines(SlowReader(text.as_bytes(), step)), expected);
        }
    }

    #[test]
    fn long_lines_are_cut() {
        let line = |length: usize| vec![b'x'; length];
        let text = [line(MAX_LINE), line(5), b"\nshort\n".to_vec(), line(MAX_LINE), b"\n".to_vec(), line(3 * MAX_LINE)]
            .concat();
        let found = lines(SlowReader(&text, 100_000));
        let short: Vec<_> = found.iter().map(|(bytes, cut)| (bytes.len(), *cut)).collect();
        assert_eq!(short, [(MAX_LINE, true), (5, false), (MAX_LINE, false), (MAX_LINE, true)]);
    }

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
        let mut words = LineWords::default();
        for (line, expected) in cases {
            words.split(line);
            let found: Vec<&str> = (0..words.len()).filter_map(|at| words.get(line, at)).collect();
            assert_eq!(found, expected, "{line}");
            assert_eq!(words.unclosed, line.contains("open"));
        }
    }

    #[test]
    fn apostrophes_and_escapes_are_quotes_where_the_number_of_words_fits() {
        let cases: [(&str, &[&str]); 16] = [
            ("3 S T 'Thread State'", &["3", "S", "T", "Thread State"]),
            ("6 r 'Running it' '0.0 0.8 0.0'\r", &["6", "r", "Running it", "0.0 0.8 0.0"]),
            ("6 it's don't", &["6", "it's", "don't"]),
            ("6 'it's here' x", &["6", "it's here", "x"]),
            ("6 \"it's 'here'\" x", &["6", "it's 'here'", "x"]),
            ("6 '' x", &["6", "", "x"]),
            ("6 'tis x", &["6", "'tis", "x"]),
            ("6 'a \"b\" c'", &["6", "a \"b\" c"]),
            (r#"6 "say \"hi\" now" x"#, &["6", "say \"hi\" now", "x"]),
            (r#"6 "\"" x"#, &["6", "\"", "x"]),
            (r#"6 "C:\dir\" x"#, &["6", r"C:\dir\", "x"]),
            (r#"6 "C:\dir" "x""#, &["6", r"C:\dir", "x"]),
            (r"6 'it\'s' x", &["6", "it's", "x"]),
            (r"6 'the men\' s' x", &["6", "the men' s", "x"]),
            (r"6 'C:\dir\' 'x'", &["6", r"C:\dir\", "x"]),
            (r#"6 "C:\dir\" "x y\""#, &["6", r"C:\dir\", r"x y\"]),
        ];
        let mut words = LineWords::default();
        for (line, expected) in cases {
            words.split_expecting(line, expected.len());
            let found: Vec<&str> = (0..words.len()).filter_map(|at| words.get(line, at)).collect();
            assert_eq!(found, expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_split(line in "[ '\"\\\\#aé]{0,40}", expected in 0usize..6) {
            let mut words = LineWords::default();
            words.split_expecting(&line, expected);
            for at in 0..words.len() {
                prop_assert!(words.get(&line, at).is_some());
            }
            let _ = (words.dialect(&line), super::AmbiguousSigns::find(&line, words.has_escapes()));
        }
    }
}
