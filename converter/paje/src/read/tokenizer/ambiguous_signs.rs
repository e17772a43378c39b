//! Finds characters that readers of Pajé text interpret differently.

use super::quotes::{closing_quote, closing_single, is_blank};
use crate::read::faults::{FaultKind, FaultList};

/// Characters outside of quoted text that readers interpret differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::read) struct AmbiguousSigns {
    /// A quote that ViTE reads as a quote. ViTE also reads comments as words. In a comment only
    /// quotes without a partner count.
    pub(in crate::read) quote: bool,
    /// A percent sign that ViTE interprets.
    pub(in crate::read) percent: bool,
    /// `#` inside a word.
    pub(in crate::read) hash: bool,
    /// A vertical tab or form feed between words.
    pub(in crate::read) blank: bool,
    /// Whether there is an apostrophe or a backslash, which producers use in different ways.
    pub(in crate::read) dialect: bool,
}

impl AmbiguousSigns {
    /// Counts each kind of character found, except `dialect`.
    #[inline]
    pub(in crate::read) fn count(self, text: &str, line: u64, faults: &mut FaultList) {
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
            (self.blank, FaultKind::UnusualBlank),
        ];
        for (_, kind) in kinds.into_iter().filter(|(is_there, _)| *is_there) {
            faults.count(kind, line, text.trim_ascii_end());
        }
    }

    /// Finds such characters in a line. `escapes` is whether a backslash before a quote escapes the
    /// quote.
    pub(in crate::read) fn find(line: &str, escapes: bool) -> Self {
        let bytes = line.as_bytes();
        let mut signs = Self { blank: memchr::memchr2(b'\x0b', b'\x0c', bytes).is_some(), ..Self::default() };
        if memchr::memchr3(b'\'', b'"', b'%', bytes).is_none() && memchr::memchr(b'#', bytes).is_none() {
            return signs;
        }
        signs.dialect = memchr::memchr2(b'\'', b'\\', bytes).is_some();
        let mut position = 0;
        while let Some(&first) = bytes.get(position) {
            let remainder = &bytes[position + 1..];
            match first {
                b'\'' if closing_single(remainder, escapes).is_some() => {
                    position += closing_single(remainder, escapes).unwrap_or(0) + 2;
                }
                b'#' => {
                    signs.quote |= has_single_quote(remainder);
                    return signs;
                }
                b'"' => match closing_quote(remainder, escapes) {
                    Some(length) => position += length + 2,
                    // Counted as an unclosed quote.
                    None => return signs,
                },
                _ if is_blank(first) => position += 1,
                _ => {
                    let length = bytes[position..].iter().position(|&byte| is_blank(byte) || byte == b'#');
                    let to = length.map_or(bytes.len(), |length| position + length);
                    let word = &bytes[position..to];
                    signs.quote |= memchr::memchr2(b'\'', b'"', word).is_some();
                    signs.percent |= word.contains(&b'%');
                    signs.hash |= bytes.get(to) == Some(&b'#');
                    position = to;
                }
            }
        }
        signs
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
