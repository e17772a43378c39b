//! A look at the brackets and quotes of a text before it is parsed: nesting is bounded here, so that nothing downstream
//! needs to fear for its stack, and a missing quote is named for what it is.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::source::{FileId, Span};

/// Deepest nesting of brackets.
const MAX_DEPTH: usize = 64;

/// Whether the text can be parsed.
pub(super) fn check(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> bool {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => at = line_end(bytes, at),
            b'"' => {
                let (end, closed) = text_end(bytes, at);
                if !closed {
                    diagnostics.push(unterminated(file, at, end));
                }
                at = end;
                continue;
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    let what = format!("this is the {depth}th bracket that is open");
                    diagnostics.push(
                        Diagnostic::error(Code::TooDeep, "brackets are nested too deeply")
                            .at(Span::new(file, at..at + 1), what)
                            .note(format!("at most {MAX_DEPTH} are accepted; the rest of the file was not read")),
                    );
                    return false;
                }
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    true
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length)
}

/// Where the text that starts at `at` ends, and whether it is closed there.
fn text_end(bytes: &[u8], at: usize) -> (usize, bool) {
    if bytes[at..].starts_with(b"\"\"\"") {
        let rest = &bytes[at + 3..];
        return match rest.windows(3).position(|window| window == b"\"\"\"") {
            Some(length) => (at + 3 + length + 3, true),
            None => (bytes.len(), false),
        };
    }
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'"' => return (end + 1, true),
            b'\n' => break,
            b'\\' if bytes.get(end + 1).is_some_and(|next| *next != b'\n') => end += 2,
            _ => end += 1,
        }
    }
    (end.min(bytes.len()), false)
}

fn unterminated(file: FileId, at: usize, end: usize) -> Diagnostic {
    Diagnostic::error(Code::UnterminatedText, "a text has no end")
        .at(Span::new(file, at..end), "it starts here, and no `\"` follows on its line")
        .help("close it with `\"`; a text of several lines stands between `\"\"\"` and `\"\"\"`")
}
