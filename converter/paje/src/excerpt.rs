//! [`excerpt`]: the start of a text, for reports.

/// Maximum number of characters of an excerpt.
pub const MAX_EXCERPT_CHARS: usize = 80;

/// The first characters of a text, with blanks instead of control characters. A longer text ends
/// with `…`.
///
/// ```
/// use tumit_paje::{MAX_EXCERPT_CHARS, excerpt};
///
/// assert_eq!(excerpt("6 0 t\t1"), "6 0 t 1");
/// assert_eq!(excerpt(&"x".repeat(1000)).chars().count(), MAX_EXCERPT_CHARS + 1);
/// ```
#[must_use]
pub fn excerpt(text: &str) -> String {
    let mut letters = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut short: String = letters.by_ref().take(MAX_EXCERPT_CHARS).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}
