//! Isolation of names within a line. Names that run from right to left, or contain direction
//! characters, would otherwise reverse the surrounding text.

use std::borrow::Cow;

/// Isolates the direction of a name. Same as `isolate` in `ui/util/dom.js`.
pub(crate) fn isolate_name(name: &str) -> Cow<'_, str> {
    if !name.chars().any(is_right_to_left) {
        return Cow::Borrowed(name);
    }
    // A character that ends an isolate would end this one, so it is removed.
    let plain_text: String = name.chars().filter(|sign| !('\u{2066}'..='\u{2069}').contains(sign)).collect();
    Cow::Owned(format!("\u{2068}{plain_text}\u{2069}"))
}

/// Whether a character belongs to a script that runs from right to left, or controls direction.
fn is_right_to_left(sign: char) -> bool {
    matches!(
        sign,
        '\u{590}'..='\u{8ff}'
            | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefe}'
            | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}'
    )
}

#[cfg(test)]
mod tests {
    use super::isolate_name;

    #[test]
    fn right_to_left_names_are_isolated() {
        for (name, wanted) in [
            ("thread 0.0 µ … 🚀", "thread 0.0 µ … 🚀"),
            ("يعمل", "\u{2068}يعمل\u{2069}"),
            ("\u{202e}turned", "\u{2068}\u{202e}turned\u{2069}"),
            ("\u{202e}a\u{2069}b", "\u{2068}\u{202e}ab\u{2069}"),
            ("\u{1e900}", "\u{2068}\u{1e900}\u{2069}"),
        ] {
            assert_eq!(isolate_name(name), wanted, "{name:?}");
        }
    }
}
