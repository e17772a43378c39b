//! Quotes and blanks.

/// The position of the quote that closes a text in double quotes.
#[inline]
pub(super) fn closing_quote(text: &[u8], escapes: bool) -> Option<usize> {
    if !escapes {
        return memchr::memchr(b'"', text);
    }
    memchr::memchr_iter(b'"', text).find(|&position| position == 0 || text[position - 1] != b'\\')
}

/// The position of the apostrophe that closes a text in apostrophes. The word must end after it.
#[inline]
pub(super) fn closing_single(text: &[u8], escapes: bool) -> Option<usize> {
    let ends = |position: usize| text.get(position + 1).is_none_or(|&byte| is_blank(byte) || byte == b'#');
    let is_escaped = |position: usize| escapes && position > 0 && text[position - 1] == b'\\';
    memchr::memchr_iter(b'\'', text).find(|&position| ends(position) && !is_escaped(position))
}

/// The result of C's `isspace`.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
