//! Cells of comma-separated values (RFC 4180).
//!
//! Spreadsheets evaluate a text that begins with `=`, `+`, `-` or `@` as a formula, even if it is
//! quoted. A trace may come from an untrusted source, so such a text gets an apostrophe before it.
//! Numbers stay numbers. JSON has all texts unchanged.
//!
//! ```
//! use tumit_viewer::text::csv_cell;
//!
//! let mut row = Vec::new();
//! csv_cell::append("=1+1", &mut row);
//! assert_eq!(row, b"'=1+1");
//! ```

/// Appends a text as a cell.
pub fn append(text: &str, out: &mut Vec<u8>) {
    let is_quoted = text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r'));
    if is_quoted {
        out.push(b'"');
    }
    if is_formula(text) {
        out.push(b'\'');
    }
    if !is_quoted {
        return out.extend_from_slice(text.as_bytes());
    }
    for (index, part) in text.split('"').enumerate() {
        if index > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part.as_bytes());
    }
    out.push(b'"');
}

/// Whether a spreadsheet could evaluate a text as a formula. Some ignore leading blanks.
fn is_formula(text: &str) -> bool {
    let start = text.trim_start_matches([' ', '\t', '\r', '\n', '\u{a0}', '\u{feff}']);
    let is_sign = |letter| matches!(letter, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠');
    start.starts_with(is_sign) && !is_number(start)
}

fn is_number(text: &str) -> bool {
    let is_part = |byte| matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E');
    text.bytes().all(is_part) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn formulas_are_texts_and_numbers_stay() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("+cmd|'/C calc'!A0", "'+cmd|'/C calc'!A0"),
            ("-O2", "'-O2"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            (" =HYPERLINK(\"x\",\"y\")", "\"' =HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
            ("\r=1", "\"'\r=1\""),
            ("＝1", "'＝1"),
            ("-inf", "'-inf"),
            ("--1", "'--1"),
            ("-", "'-"),
            ("-1.5e-3", "-1.5e-3"),
            ("+7", "+7"),
            ("a=b", "a=b"),
            ("a,b", "\"a,b\""),
            ("", ""),
        ] {
            let mut out = Vec::new();
            super::append(text, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text:?}");
        }
    }
}
