//! Times as text. This is the only parser of times: of the options of the command, and of filters.
//! The page has the same rules and messages in `viewer/server/ui/util/time_range.js`. The table
//! `converter/paje/tests/time_ranges.json` tests both.

use std::fmt;

/// Nanoseconds of a second.
pub const SECOND: i64 = 1_000_000_000;
/// Nanoseconds of a minute.
pub const MINUTE: i64 = 60 * SECOND;
/// Nanoseconds of an hour.
pub const HOUR: i64 = 60 * MINUTE;
/// Nanoseconds of a day.
pub const DAY: i64 = 24 * HOUR;

/// The units and their names. Both characters that look like µ are accepted.
const UNITS: [(&str, i64); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("min", MINUTE),
    ("h", HOUR),
    ("d", DAY),
];

/// The narrow space that groups the digits of large numbers.
const GROUPING: char = '\u{202f}';

/// An error in the text of a time or of a time range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: expected {expected}; example: `{example}`")]
#[non_exhaustive]
pub struct TimeTextError {
    /// The wrong text: the time range or one of its times.
    pub text: Box<str>,
    /// The expected text.
    pub expected: Box<str>,
    /// A correct text.
    pub example: Box<str>,
}

impl TimeTextError {
    /// The error in a text, with a description of the expected text and an example of it.
    pub fn new(text: &str, expected: impl Into<Box<str>>, example: impl Into<Box<str>>) -> Self {
        Self { text: text.into(), expected: expected.into(), example: example.into() }
    }

    pub(crate) fn too_large(text: &str) -> Self {
        Self::new(text, "times within 292 years before and after 0", "250ms")
    }
}

/// Nanoseconds in the largest unit that needs no decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeText(pub i64);

impl fmt::Display for TimeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = [(SECOND, "s"), (1_000_000, "ms"), (1_000, "us")]
            .into_iter()
            .find(|(unit, _)| self.0 % unit == 0)
            .unwrap_or((1, "ns"));
        write!(f, "{}{name}", self.0 / unit)
    }
}

/// Parses a time or a duration, in nanoseconds.
///
/// It is a number of seconds, or numbers with the units `ns`, `us`, `ms`, `s`, `min`, `h` and `d`,
/// the largest first, such as `250ms` or `1h 30min`. The result is exact. Digits below a nanosecond
/// are cut off.
///
/// # Errors
/// If the text is no time, or 292 years or more from 0.
///
/// ```
/// use tumit_paje::time_text::{TimeText, parse};
///
/// assert_eq!(parse("1h 30min"), Ok(5_400_000_000_000));
/// assert_eq!(TimeText(1_500_000).to_string(), "1500us");
/// let error = parse("5 parsecs").unwrap_err();
/// assert!(error.to_string().starts_with("`5 parsecs`: expected one of the units"));
/// ```
pub fn parse(text: &str) -> Result<i64, TimeTextError> {
    parse_in(text, SECOND)
}

/// Parses a time. A number without a unit has the unit `default`.
pub(crate) fn parse_in(text: &str, default: i64) -> Result<i64, TimeTextError> {
    let text = text.trim();
    let with_point = text.replace(',', ".");
    if with_point != text && parse_in(&with_point, default).is_ok() {
        return Err(TimeTextError::new(text, "a decimal point, not a comma", with_point));
    }
    let error = || TimeTextError::new(text, "a time in seconds, or with units", "250ms");
    let (is_negative, mut remainder) = match text.strip_prefix(['-', '−']) {
        Some(digits) => (true, digits.trim_start()),
        None => (false, text),
    };
    let (mut sum, mut larger_unit): (i128, Option<i64>) = (0, None);
    loop {
        let TimePart { number, unit: name, remainder: next_part } = first_part(remainder);
        if number.is_empty() {
            return Err(error());
        }
        let unit = match unit(name) {
            Some(unit) => unit,
            // Only the whole time can have no unit.
            None if name.is_empty() && next_part.is_empty() && larger_unit.is_none() => default,
            None if name.is_empty() => return Err(error()),
            None => {
                let expected = format!("one of the units ns, us, ms, s, min, h and d instead of `{name}`");
                return Err(TimeTextError::new(text, expected, "250ms"));
            }
        };
        sum = sum.saturating_add(nanos(number, unit).ok_or_else(error)?);
        if larger_unit.is_some_and(|above| above <= unit) {
            return Err(TimeTextError::new(text, "each unit once, the largest first", "1h 30min"));
        }
        (larger_unit, remainder) = (Some(unit), next_part);
        if remainder.is_empty() {
            break;
        }
    }
    let sum = if is_negative { -sum } else { sum };
    i64::try_from(sum).ok().ok_or_else(|| TimeTextError::too_large(text))
}

/// The unit of the first number of a time, if it has one.
pub(crate) fn first_unit(text: &str) -> Option<i64> {
    unit(first_part(text.trim().trim_start_matches(['-', '−']).trim_start()).unit)
}

fn unit(name: &str) -> Option<i64> {
    UNITS.iter().find(|unit| unit.0 == name).map(|unit| unit.1)
}

/// The first number of a text.
struct TimePart<'t> {
    /// Its digits.
    number: &'t str,
    /// The name of its unit; empty if it has none.
    unit: &'t str,
    /// The text after it.
    remainder: &'t str,
}

fn first_part(text: &str) -> TimePart<'_> {
    let is_digit = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == GROUPING;
    let after = text.trim_start_matches(is_digit);
    let number = &text[..text.len() - after.len()];
    let after = after.trim_start();
    let rest = after.trim_start_matches(char::is_alphabetic);
    TimePart { number, unit: &after[..after.len() - rest.len()], remainder: rest.trim_start() }
}

/// A number of units as nanoseconds. Numbers too large for the result become the largest one.
fn nanos(number: &str, unit: i64) -> Option<i128> {
    // The product with the largest unit is below 2¹²⁷.
    const DECIMALS: usize = 24;
    let number = number.replace(GROUPING, "");
    let (integer, part) = number.split_once('.').unwrap_or((&number, ""));
    if integer.len() + part.len() == 0 || part.contains('.') {
        return None;
    }
    let value = |digits: &str| if digits.is_empty() { 0 } else { digits.parse().unwrap_or(i128::MAX) };
    let part = &part[..part.len().min(DECIMALS)];
    let scale = 10_i128.pow(u32::try_from(part.len()).ok()?);
    Some(value(integer).saturating_mul(unit.into()).saturating_add(value(part) * i128::from(unit) / scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_exactly() {
        let cases = [
            ("0.2", 200_000_000),
            ("1", SECOND),
            ("250ms", 250_000_000),
            ("1.5 us", 1_500),
            ("12.345678901s", 12_345_678_901),
            ("-3ns", -3),
            (".5", 500_000_000),
            ("2min", 2 * MINUTE),
            ("1h30min", HOUR + 30 * MINUTE),
            ("-1 d 2 h", -(DAY + 2 * HOUR)),
            ("1.5 d", 36 * HOUR),
            ("0.1234567890123 h", 444_444_440_444),
            ("−1\u{202f}000 ms", -SECOND),
            ("1\u{b5}s", 1_000),
            ("1\u{3bc}s", 1_000),
        ];
        for (text, nanos) in cases {
            assert_eq!(parse(text), Ok(nanos), "{text}");
        }
        assert_eq!(parse("-9223372036.854775808"), Ok(i64::MIN));
    }

    #[test]
    fn wrong_times_are_errors_with_correct_examples() {
        for text in [
            "",
            "s",
            "-",
            "1e3",
            "0.2.3",
            "1h 2",
            "1min 2h",
            "1s 2s",
            "h1",
            "--1",
            "1 y",
            "1d.",
            "1 2",
            "0,5",
            "0,5,",
            "1;",
            "٣s",
            "9999999999999",
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(&*error.text, text);
            assert!(parse(&error.example).is_ok(), "{error}");
        }
        for many in ["9".repeat(60), format!("{}d", "9".repeat(60)), format!("-{}", "9".repeat(38))] {
            assert!(parse(&many).is_err_and(|error| error.expected.contains("292 years")), "{many}");
        }
        assert_eq!(
            parse("1 y").map_err(|error| error.to_string()),
            Err("`1 y`: expected one of the units ns, us, ms, s, min, h and d instead of `y`; example: `250ms`"
                .to_owned())
        );
        assert_eq!(parse("0,5").map_err(|error| error.example), Err("0.5".into()));
    }

    #[test]
    fn the_unit_of_the_first_number_is_found() {
        for (text, unit) in
            [("- 1h 30min", Some(HOUR)), ("5", None), ("1 us", Some(1_000)), ("x", None), ("", None), ("1y", None)]
        {
            assert_eq!(first_unit(text), unit, "{text}");
        }
    }

    #[test]
    fn times_are_written_in_the_largest_exact_unit() {
        for (nanos, text) in
            [(2 * SECOND, "2s"), (2_500_000_000, "2500ms"), (1_001, "1001ns"), (-1_000, "-1us"), (0, "0s")]
        {
            assert_eq!(TimeText(nanos).to_string(), text);
            assert_eq!(parse(text), Ok(nanos));
        }
    }
}
