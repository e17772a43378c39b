//! Text of a spec as HTML. All escaping is done here.

use std::fmt;

/// Text with escaped markup, also for an attribute in double quotes.
pub(super) struct HtmlText<'a>(pub(super) &'a str);

impl fmt::Display for HtmlText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut remainder = self.0;
        while let Some(offset) = remainder.find(['&', '<', '>', '"', '\'', '\0']) {
            f.write_str(&remainder[..offset])?;
            f.write_str(match remainder.as_bytes()[offset] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                b'\'' => "&#39;",
                _ => "\u{fffd}",
            })?;
            remainder = &remainder[offset + 1..];
        }
        f.write_str(remainder)
    }
}

/// A name or value, in the typeface of code.
pub(super) fn code(text: &str) -> String {
    format!("<code>{}</code>", HtmlText(text))
}

/// The id of an element. Names of a spec consist of letters, digits and `_`. Names of outputs can
/// contain any character.
pub(super) fn anchor(kind: &str, name: &str) -> String {
    let escape = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'-' => char::from(byte).to_string(),
        _ => format!(".{byte:02x}"),
    };
    format!("{kind}-{}", name.bytes().map(escape).collect::<String>())
}

/// A doc comment as HTML: paragraphs between empty lines, lists of lines that start with `-` or
/// `*`, code between backquotes.
pub(super) fn prose(doc: &str) -> String {
    let mut out = String::new();
    for block in doc.trim().split("\n\n").filter(|block| !block.trim().is_empty()) {
        let is_item = |line: &str| line.starts_with("- ") || line.starts_with("* ");
        if block.lines().all(|line| is_item(line.trim_start()) || line.starts_with("  ")) && is_item(block.trim_start())
        {
            let mut items: Vec<String> = Vec::new();
            for line in block.lines().map(str::trim) {
                match (is_item(line), items.last_mut()) {
                    (false, Some(last)) => *last += &format!(" {line}"),
                    _ => items.push(line.get(2..).unwrap_or_default().to_owned()),
                }
            }
            let items: String = items.iter().map(|item| format!("<li>{}</li>", inline(item))).collect();
            out += &format!("<ul>{items}</ul>\n");
        } else {
            let text = block.lines().map(str::trim).collect::<Vec<_>>().join(" ");
            out += &format!("<p>{}</p>\n", inline(&text));
        }
    }
    out
}

/// One line as HTML, with code between backquotes.
pub(super) fn inline(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let closed = parts.len() % 2 == 1;
    let part = |(index, part): (usize, &&str)| match index % 2 {
        1 if closed || index + 1 < parts.len() => code(part),
        1 => format!("`{}", HtmlText(part)),
        _ => HtmlText(part).to_string(),
    };
    parts.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_spec_becomes_markup() {
        let text = HtmlText("<script>alert(\"x\" & 'y')</script>").to_string();
        assert_eq!(text, "&lt;script&gt;alert(&quot;x&quot; &amp; &#39;y&#39;)&lt;/script&gt;");
        assert_eq!(anchor("output", "by hand\""), "output-by.20hand.22");
        assert_eq!(inline("a `b<` c `d"), "a <code>b&lt;</code> c `d");
    }

    #[test]
    fn comments_have_paragraphs_and_lists() {
        let html = prose("One\nline.\n\n- a\n- b `c`\n  d\n");
        assert_eq!(html, "<p>One line.</p>\n<ul><li>a</li><li>b <code>c</code> d</li></ul>\n");
    }
}
