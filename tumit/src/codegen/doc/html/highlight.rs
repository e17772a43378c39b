//! Syntax highlighting of rules: words of the language, texts, numbers.

use std::fmt::Write as _;

use super::html_text::HtmlText;

/// Keywords of rules. They are contextual, so a parameter with the name `key` is coloured as well,
/// which is harmless.
const WORDS: [&str; 29] = [
    "add", "also", "and", "at", "begin", "create", "default", "destroy", "end", "existing", "false", "from", "ignore",
    "key", "level", "mark", "not", "on", "once", "or", "pop", "push", "reset", "rule", "set", "start", "subtract",
    "to", "true",
];
const CLAUSES: [&str; 2] = ["when", "with"];

/// A rule as HTML with its tokens marked.
pub(super) fn rule(text: &str) -> String {
    let mut out = String::new();
    let mut remainder = text;
    while let Some(first) = remainder.chars().next() {
        let length = token(remainder, first);
        let (token, next_text) = remainder.split_at(length);
        let class = match first {
            '"' => "s",
            '/' if token.len() > 1 => "c",
            '0'..='9' => "n",
            '-' if token == "->" => "a",
            _ if WORDS.contains(&token) || CLAUSES.contains(&token) => "k",
            _ => "",
        };
        let _ = match class {
            "" => write!(out, "{}", HtmlText(token)),
            _ => write!(out, "<span class=\"{class}\">{}</span>", HtmlText(token)),
        };
        remainder = next_text;
    }
    out
}

/// Number of bytes of the token that starts with `first`: at least one character.
fn token(source: &str, first: char) -> usize {
    let while_ = |good: fn(char) -> bool| source.find(|c| !good(c)).unwrap_or(source.len());
    match first {
        '"' => text(source),
        '`' => source[1..].find('`').map_or(source.len(), |end| end + 2),
        '/' if source.starts_with("//") => source.find('\n').unwrap_or(source.len()),
        '-' if source.starts_with("->") => 2,
        'a'..='z' | 'A'..='Z' | '_' => while_(|c| c.is_ascii_alphanumeric() || c == '_'),
        '0'..='9' => while_(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.'),
        _ => first.len_utf8(),
    }
}

/// Number of bytes of a text with its quotes.
fn text(text: &str) -> usize {
    if let Some(long) = text.strip_prefix("\"\"\"") {
        return long.find("\"\"\"").map_or(text.len(), |end| end + 6);
    }
    let mut escaped = false;
    for (offset, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return offset + 1,
            _ => escaped = letter == '\\' && !escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::rule;

    #[test]
    fn parts_are_marked_and_escaped() {
        let html = rule("rule a -> mark log = \"<\\\"x\" on b[1] // <");
        assert_eq!(
            html,
            "<span class=\"k\">rule</span> a <span class=\"a\">-&gt;</span> <span class=\"k\">mark</span> log = \
             <span class=\"s\">&quot;&lt;\\&quot;x&quot;</span> <span class=\"k\">on</span> b[<span class=\"n\">1</span>] \
             <span class=\"c\">// &lt;</span>"
        );
        assert_eq!(rule("`rule` é \""), "`rule` é <span class=\"s\">&quot;</span>");
    }
}
