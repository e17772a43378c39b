//! Splits a line into words, by the dialects of quotes that producers use.

use super::quotes::{closing_quote, closing_single, is_blank};

/// The dialect of quotes by which a line is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::read) struct QuoteDialect {
    /// Whether `'` quotes as `"` does.
    pub(in crate::read) has_single_quotes: bool,
    /// Whether `\"` inside a quoted word is a quote of its text.
    pub(in crate::read) escapes: bool,
}

/// Marks the range of a word with its text in [`LineWords::unescaped_text`].
const UNESCAPED: u32 = 1 << 31;

/// The words of a line as ranges of its bytes, without quotes and comments.
#[derive(Debug, Default)]
pub(in crate::read) struct LineWords {
    ranges: Vec<(u32, u32)>,
    /// The texts of words with escapes.
    unescaped_text: String,
    quoting: QuoteDialect,
    /// Whether the last word has no closing quote.
    pub(in crate::read) unclosed: bool,
    /// Whether a word is empty.
    pub(in crate::read) is_empty: bool,
    /// Whether a word in apostrophes contains `\'`.
    escaped_single: bool,
}

impl LineWords {
    /// Splits a line as `pj_dump` does. Blanks separate words. `"` at the start of a word begins a
    /// quoted word, and the next `"` ends it. `#` outside quotes begins a comment, even inside a
    /// word. There are no escapes.
    pub(in crate::read) fn split(&mut self, line: &str) {
        self.split_by(line, QuoteDialect::default());
    }

    /// Splits a line again that has an apostrophe or a backslash, which producers use in different
    /// ways. Uses the first dialect that closes all quotes and yields the expected number of words.
    /// If none does, apostrophes and `\"` count as quotes.
    pub(in crate::read) fn split_expecting(&mut self, line: &str, expected: usize) {
        let dialects = [(true, false), (true, true), (false, false), (false, true)];
        let dialects = dialects.map(|(has_single_quotes, escapes)| QuoteDialect { has_single_quotes, escapes });
        for quoting in dialects {
            self.split_by(line, quoting);
            let is_escape_missed = self.escaped_single && !quoting.escapes;
            if self.len() == expected && !self.unclosed && !is_escape_missed && !self.has_stray_quote(line) {
                return;
            }
        }
        for quoting in dialects {
            self.split_by(line, quoting);
            if self.len() == expected && !self.unclosed {
                return;
            }
        }
        self.split_by(line, QuoteDialect { has_single_quotes: true, escapes: true });
    }

    /// Whether the last split used apostrophes as quotes, and escapes. Not every reader reads
    /// these.
    pub(in crate::read) fn dialect(&self, line: &str) -> QuoteDialect {
        let apostrophe = |&(from, _): &(u32, u32)| from & UNESCAPED == 0 && line[..from as usize].ends_with('\'');
        let has_single_quotes = self.quoting.has_single_quotes && self.ranges.iter().any(apostrophe);
        QuoteDialect { has_single_quotes, escapes: self.quoting.escapes && !self.unescaped_text.is_empty() }
    }

    /// Whether the last split read a backslash before a quote as an escape.
    pub(in crate::read) const fn has_escapes(&self) -> bool {
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
        self.unescaped_text.clear();
        self.quoting = quoting;
        self.unclosed = false;
        self.is_empty = false;
        self.escaped_single = false;
        let bytes = line.as_bytes();
        let mut position = 0;
        loop {
            while bytes.get(position).is_some_and(|&byte| is_blank(byte)) {
                position += 1;
            }
            match bytes.get(position) {
                None | Some(b'#') => return,
                Some(b'"') => {
                    let from = position + 1;
                    let remainder = &bytes[from..];
                    let closing = closing_quote(remainder, quoting.escapes);
                    self.unclosed |= closing.is_none();
                    self.is_empty |= closing == Some(0);
                    let to = from + closing.unwrap_or_else(|| remainder.trim_ascii_end().len());
                    self.add_quoted(line, from, to);
                    position = if closing.is_some() { to + 1 } else { bytes.len() };
                }
                Some(b'\'')
                    if quoting.has_single_quotes
                        && closing_single(&bytes[position + 1..], quoting.escapes).is_some() =>
                {
                    let from = position + 1;
                    let length = closing_single(&bytes[from..], quoting.escapes).unwrap_or(0);
                    self.escaped_single |= bytes[from..from + length].windows(2).any(|two| two == b"\\'");
                    self.is_empty |= length == 0;
                    self.add_quoted(line, from, from + length);
                    position = from + length + 1;
                }
                Some(_) => {
                    let length = bytes[position..].iter().position(|&byte| is_blank(byte) || byte == b'#');
                    let to = length.map_or(bytes.len(), |length| position + length);
                    self.add(position, to);
                    position = to;
                }
            }
        }
    }

    /// Replaces an empty last word by a quote, as `pj_dump` does.
    pub(in crate::read) fn empty_is_quote(&mut self, line: &str) {
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
        let start = self.unescaped_text.len();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter != '\\' || !matches!(letters.peek(), Some('"' | '\'')) {
                self.unescaped_text.push(letter);
            }
        }
        self.ranges.push((start as u32 | UNESCAPED, self.unescaped_text.len() as u32));
    }

    pub(in crate::read) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The word at `index` of the line that was split.
    #[inline]
    pub(in crate::read) fn get<'a>(&'a self, line: &'a str, index: usize) -> Option<&'a str> {
        let &(from, to) = self.ranges.get(index)?;
        if from & UNESCAPED != 0 {
            return self.unescaped_text.get((from & !UNESCAPED) as usize..to as usize);
        }
        line.get(from as usize..to as usize)
    }
}
