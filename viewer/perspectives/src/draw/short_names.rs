//! [`ShortNames`]: names of units without the text that all of them have in common.

use super::chart_canvas::{ChartCanvas, LabelStyle};

/// The names of units or tasks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShortNames<'a> {
    /// The word before the numbers, such as `rank`, if only numbers remain.
    pub(super) word: &'a str,
    /// The names without their common start.
    pub(super) names: Vec<&'a str>,
}

impl<'a> ShortNames<'a> {
    /// Shortens names: `rank 0`, `rank 1` to numbers, and paths by their common folders.
    pub(super) fn new(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.collect();
        let [first, _, ..] = names[..] else { return Self { word: "", names } };
        let numbers = numbered_start(&names);
        let start = if numbers.is_empty() { path_start(&names) } else { numbers };
        let word = numbers.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        Self { word: &first[..word.len()], names: names.iter().map(|name| &name[start.len()..]).collect() }
    }

    /// The width of the widest name.
    pub(super) fn widest(&self, style: LabelStyle) -> f32 {
        self.names.iter().map(|name| ChartCanvas::width(name, style)).fold(0.0, f32::max)
    }

    /// Whether all names are numbers.
    pub(super) fn are_numbers(&self) -> bool {
        self.names.iter().all(|name| is_number(name))
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The common start of names that differ only in the numbers at their ends, such as `node 0.0` and
/// `node 3.90`. It is empty for other names.
fn numbered_start<'a>(names: &[&'a str]) -> &'a str {
    let Some(first) = names.first() else { return "" };
    let digits = first.find(|letter: char| letter.is_ascii_digit()).unwrap_or(first.len());
    let last = first.bytes().rev().take_while(u8::is_ascii_digit).count();
    let has_start =
        |start: &str, is_rest: fn(&str) -> bool| names.iter().all(|name| name.strip_prefix(start).is_some_and(is_rest));
    let (short, long) = (&first[..digits], &first[..first.len() - last]);
    if has_start(short, are_numbers) {
        short
    } else if has_start(long, is_number) {
        long
    } else {
        ""
    }
}

/// Whether a text consists of numbers, points and signs of ranges.
fn are_numbers(text: &str) -> bool {
    let is_sign = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ' ' | '…' | '-' | ':');
    text.starts_with(|letter: char| letter.is_ascii_digit()) && text.chars().all(is_sign)
}

/// The common folders of paths, with the last `/`.
fn path_start<'a>(names: &[&'a str]) -> &'a str {
    let Some(first) = names.first() else { return "" };
    let mut start = *first;
    while let Some(end) = start.rfind('/') {
        let folder = &first[..=end];
        if names.iter().all(|name| name.len() > folder.len() && name.starts_with(folder)) {
            return folder;
        }
        start = &first[..end];
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::ShortNames;

    fn short(names: &[&'static str]) -> (&'static str, Vec<&'static str>) {
        let short = ShortNames::new(names.iter().copied());
        (short.word, short.names)
    }

    #[test]
    fn common_starts_are_left_out() {
        assert_eq!(short(&["rank 8", "rank 10"]), ("rank", vec!["8", "10"]));
        assert_eq!(short(&["rank 8", "rank x"]), ("", vec!["rank 8", "rank x"]));
        assert_eq!(short(&["thread 0.0", "thread 0.1"]), ("thread", vec!["0.0", "0.1"]));
        assert_eq!(short(&["rank 0 … 3", "rank 4 … 7"]), ("rank", vec!["0 … 3", "4 … 7"]));
        assert_eq!(short(&["p/n 1/a", "p/n 1/b"]), ("", vec!["a", "b"]));
        assert_eq!(short(&["p/n 1/a", "p/n 2/b", "p/c"]), ("", vec!["n 1/a", "n 2/b", "c"]));
        assert_eq!(short(&["compute", "communicate"]), ("", vec!["compute", "communicate"]));
        assert_eq!(short(&["0", "1"]), ("", vec!["0", "1"]));
        assert_eq!(short(&["p/rank 1"]), ("", vec!["p/rank 1"]));
        assert_eq!(short(&["p/", "p/"]), ("", vec!["p/", "p/"]));
    }
}
