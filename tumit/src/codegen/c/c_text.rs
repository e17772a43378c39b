//! Pieces of C text: comments and lists over several lines.

use std::fmt::Write as _;

pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Converts the size of a part of a spec, which is far below 4 Gi.
pub(super) fn size_u32(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// Text for a C comment.
///
/// Compilers warn about the start of another comment in it, about trigraphs, and about characters
/// that change the direction of text.
pub(super) fn comment(text: &str) -> String {
    let escape = |c: char| match c {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => ' ',
        c => c,
    };
    let text: String = text.chars().map(escape).collect();
    text.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")
}

/// Joins items between `prefix` and `suffix`, on lines of at most 120 columns. `separator` follows
/// each item but the last, and `newline` separates lines.
pub(super) fn wrap(prefix: &str, items: &[String], separator: &str, newline: &str, suffix: &str) -> String {
    let mut out = String::from(prefix);
    let mut column = prefix.len();
    for (index, item) in items.iter().enumerate() {
        let last = index + 1 == items.len();
        let text = format!("{item}{}", if last { suffix } else { separator });
        if index > 0 && column + 1 + text.len() > 118 {
            out.push_str(newline);
            column = newline.len();
        } else if index > 0 {
            out.push(' ');
            column += 1;
        }
        column += text.len();
        out.push_str(&text);
    }
    if items.is_empty() {
        out.push_str(suffix);
    }
    out
}

pub(super) fn doc(out: &mut String, text: &str) {
    if !text.trim().is_empty() {
        let lines: Vec<_> = text.trim().lines().map(|line| comment(line.trim())).collect();
        let _ = writeln!(out, "/* {} */", lines.join("\n * ").replace(" * \n", " *\n"));
    }
}
