//! A scan of the brackets and quotes of a text before it is parsed.
//!
//! It limits the nesting, so that recursive functions cannot overflow the stack. It reports a
//! missing quote as such.

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source_text::{FileId, SourceSpan};

/// Maximum nesting of brackets.
const MAX_DEPTH: usize = 64;

/// The text to parse. A missing `"` replaces a character of its line, so that offsets stay.
/// `None` for an unclosed `"""` or too deep nesting.
pub(super) fn repair_quotes(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Option<String> {
    let bytes = text.as_bytes();
    let mut repaired = text.to_owned();
    let (mut position, mut depth) = (0, 0usize);
    while position < bytes.len() {
        match bytes[position] {
            b'/' if bytes[position..].starts_with(b"//") => position = line_end(bytes, position),
            b'"' => {
                let TextEnd { offset: end, is_closed } = text_end(bytes, position);
                if !is_closed {
                    let is_long = bytes[position..].starts_with(b"\"\"\"");
                    diagnostics.push(unterminated_text(file, position, end, is_long));
                    if is_long {
                        return None;
                    }
                    close(&mut repaired, position, end);
                }
                position = end;
                continue;
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    let label = format!("{depth} brackets are open here");
                    diagnostics.push(
                        Diagnostic::error(Code::TooDeep, "brackets are nested too deeply")
                            .with_location(SourceSpan::new(file, position..position + 1), label)
                            .note(format!("at most {MAX_DEPTH} are possible; the rest of the file is not checked")),
                    );
                    return None;
                }
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        position += 1;
    }
    Some(repaired)
}

/// Inserts the missing quote of the text that starts at `position`, where it probably should end.
///
/// `end` is the end of the line. The quote replaces a letter of the text, so offsets do not change.
fn close(text: &mut String, position: usize, end: usize) {
    let line = &text[position..end];
    let signs = [" {", " [", ",", ";", "}", " #", " from ", " on ", " with ", " at "];
    let cut = signs.iter().filter_map(|sign| line.find(sign)).min().unwrap_or(line.len());
    let cut = if line[cut..].starts_with(' ') { cut + 1 } else { cut };
    let Some((last, letter)) = line[..cut].char_indices().next_back().filter(|(last, _)| *last > 0) else { return };
    let quote = format!("{:>1$}", '"', letter.len_utf8());
    text.replace_range(position + last..position + last + letter.len_utf8(), &quote);
}

/// Whether brackets of an expression are nested too deeply.
pub(super) fn is_too_deep(expression: &str) -> bool {
    expression.bytes().filter(|byte| matches!(byte, b'(' | b'[')).count() > MAX_DEPTH
}

fn line_end(bytes: &[u8], position: usize) -> usize {
    bytes[position..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| position + length)
}

/// The end of a text, and whether a quote closes it there.
struct TextEnd {
    offset: usize,
    is_closed: bool,
}

/// The end of the text that starts at `position`.
fn text_end(bytes: &[u8], position: usize) -> TextEnd {
    if bytes[position..].starts_with(b"\"\"\"") {
        let remainder = &bytes[position + 3..];
        return match remainder.windows(3).position(|window| window == b"\"\"\"") {
            Some(length) => TextEnd { offset: position + 3 + length + 3, is_closed: true },
            None => TextEnd { offset: bytes.len(), is_closed: false },
        };
    }
    let mut end = position + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'"' => return TextEnd { offset: end + 1, is_closed: true },
            b'\n' => break,
            b'\\' if bytes.get(end + 1).is_some_and(|next| *next != b'\n') => end += 2,
            _ => end += 1,
        }
    }
    TextEnd { offset: end.min(bytes.len()), is_closed: false }
}

fn unterminated_text(file: FileId, position: usize, end: usize, is_long: bool) -> Diagnostic {
    let reason = if is_long { "no `\"\"\"` follows" } else { "no `\"` follows on its line" };
    let marked = if is_long { position..position + 3 } else { position..end };
    Diagnostic::error(Code::UnterminatedText, "a text has no end")
        .with_location(SourceSpan::new(file, marked), format!("it starts here, and {reason}"))
        .help("close it with `\"`; write a text of several lines between `\"\"\"` and `\"\"\"`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close_line(line: &str) -> String {
        let mut text = line.to_owned();
        let quote = line.find('"').expect("a quote");
        close(&mut text, quote, line.len());
        text
    }

    #[test]
    fn missing_quotes_are_put_in_without_moving_anything() {
        assert_eq!(close_line(r#"container program "Program {"#), r#"container program "Program"{"#);
        assert_eq!(close_line(r#"-> "12 @ A é, node;"#), r#"-> "12 @ A  ", node;"#);
        assert_eq!(close_line(r#"use ""#), r#"use ""#);
    }

    #[test]
    fn quotes_in_comments_and_escapes_are_no_texts() {
        for text in ["// it's \"so\n", r#""a \" b""#, "\"\"\"a \" b\n\"\"\"", "/// \"\n"] {
            let mut diagnostics = Diagnostics::default();
            assert_eq!(repair_quotes(FileId(0), text, &mut diagnostics).as_deref(), Some(text));
            assert!(diagnostics.is_empty(), "{text}");
        }
    }
}
