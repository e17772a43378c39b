//! Times and durations as text: the only place that writes and reads them. `axis.js` has the
//! same rules.
//!
//! Below ten minutes a time has one unit and decimals: `12.345 ms`. From there on it is written in
//! days, hours, minutes and seconds: `2 d 3 h 20 min`. The reader accepts each text that the writer
//! makes.

use crate::query::GlobalNanos;

/// Nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;
/// Nanoseconds of a minute.
pub(crate) const MINUTE: i64 = 60 * SECOND;
/// Nanoseconds of an hour.
pub(crate) const HOUR: i64 = 60 * MINUTE;
/// Nanoseconds of a day.
pub(crate) const DAY: i64 = 24 * HOUR;
/// From this duration on, times are written in days, hours, minutes and seconds.
pub(crate) const LONG: i64 = 10 * MINUTE;

/// Units of long times, the largest first.
const LONG_UNITS: [(i64, &str); 4] = [(DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s")];
/// Units of short times, the largest first.
const SHORT_UNITS: [(i64, &str); 4] = [(SECOND, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")];

/// The unit in which a short length is written.
pub(crate) fn unit_of(nanos: i64) -> (i64, &'static str) {
    let size = nanos.unsigned_abs();
    SHORT_UNITS.into_iter().find(|&(unit, _)| size >= unit.unsigned_abs()).unwrap_or((1, "ns"))
}

/// A number of nanoseconds in a unit with a number of decimals, computed exactly with integers.
pub(crate) fn in_unit(nanos: i64, (unit, name): (i64, &str), digits: usize) -> String {
    let (scaled, scale) = scaled(nanos, unit, digits);
    let (whole, part) = (scaled / scale, scaled % scale);
    let sign = if nanos < 0 && scaled > 0 { "−" } else { "" };
    let whole = grouped(u64::try_from(whole).unwrap_or(u64::MAX));
    if digits == 0 { format!("{sign}{whole} {name}") } else { format!("{sign}{whole}.{part:0digits$} {name}") }
}

/// The size of a length in a unit, rounded to a number of decimals, as a number of last decimals;
/// and the number of these in a unit.
fn scaled(nanos: i64, unit: i64, digits: usize) -> (u128, u128) {
    let scale = 10_u128.pow(u32::try_from(digits).unwrap_or(0).min(9));
    let (unit, size) = (u128::from(unit.unsigned_abs()), u128::from(nanos.unsigned_abs()));
    ((size * scale + unit / 2) / unit, scale)
}

/// A number of nanoseconds in days, hours, minutes and seconds.
/// It is rounded to `unit` (one of these) with a number of decimals. Parts that are 0 are left out.
pub(crate) fn in_parts(nanos: i64, unit: i64, digits: usize) -> String {
    let (mut left, scale) = scaled(nanos, unit, digits);
    let sign = if nanos < 0 && left > 0 { "−" } else { "" };
    let mut parts = Vec::new();
    for (size, name) in LONG_UNITS {
        if size < unit {
            break;
        }
        let one = u128::from((size / unit).unsigned_abs()) * scale;
        let (whole, part) = (left / one, left % one);
        if size > unit || digits == 0 {
            left = part;
            if whole > 0 || size == unit && parts.is_empty() {
                parts.push(format!("{} {name}", grouped(u64::try_from(whole).unwrap_or(u64::MAX))));
            }
        } else if left > 0 || parts.is_empty() {
            parts.push(format!("{whole}.{part:0digits$} {name}"));
        }
    }
    format!("{sign}{}", parts.join(" "))
}

/// A count with narrow spaces between groups of thousands.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 * 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A timestamp, precise to about `resolution` nanoseconds.
#[must_use]
pub fn timestamp(time: GlobalNanos, resolution: i64) -> String {
    if time.0 == 0 {
        return "0 s".to_owned();
    }
    if time.0.unsigned_abs() >= LONG.unsigned_abs() {
        let unit = LONG_UNITS.into_iter().find(|&(unit, _)| unit <= resolution).map_or(SECOND, |(unit, _)| unit);
        return in_parts(time.0, unit, decimals_to(resolution, unit));
    }
    let unit = unit_of(time.0);
    in_unit(time.0, unit, decimals_to(resolution, unit.0))
}

/// Number of decimals so that the last one is at least as fine as the resolution.
fn decimals_to(resolution: i64, unit: i64) -> usize {
    let (mut digits, mut size) = (0, unit);
    while size > resolution.max(1) {
        size /= 10;
        digits += 1;
    }
    digits
}

/// A duration with about four significant digits.
#[must_use]
pub fn duration(nanos: i64) -> String {
    let size = nanos.unsigned_abs();
    if size >= LONG.unsigned_abs() {
        let fits = |unit: i64| size / unit.unsigned_abs() >= 1000;
        return match LONG_UNITS.into_iter().find(|&(unit, _)| fits(unit)) {
            Some((unit, _)) => in_parts(nanos, unit, 0),
            None => in_parts(nanos, SECOND, 1),
        };
    }
    let unit = unit_of(nanos);
    let whole = size / unit.0.unsigned_abs();
    let digits = if unit.0 == 1 { 0 } else { 4_usize.saturating_sub(whole.max(1).to_string().len()) };
    in_unit(nanos, unit, digits)
}

/// Units in user input.
const WRITTEN: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("min", MINUTE),
    ("h", HOUR),
    ("d", DAY),
];

/// Parses a time.
/// It is a number of seconds, or numbers with the units `ns`, `us`, `ms`, `s`, `min`, `h` and `d`,
/// the largest first, such as `250ms` or `1h 30min`. The result is exact. Digits below a nanosecond
/// are cut off.
///
/// # Errors
/// A description of a correct text, for a sentence that begins with "expected".
pub fn parse(text: &str) -> Result<i64, String> {
    let plain: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let (negative, mut rest) = match plain.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest),
        None => (false, plain.as_str()),
    };
    let wrong = || {
        format!(
            "a time in seconds such as 0.25, or with units such as 250ms or 1h 30min, which `{}` is not",
            text.trim()
        )
    };
    let (mut sum, mut above) = (0_i128, None);
    loop {
        let number = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let (number, after) = (&rest[..rest.len() - number.len()], number);
        let name = after.trim_start_matches(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let (name, after) = (&after[..after.len() - name.len()], name);
        let unit = match WRITTEN.iter().find(|unit| unit.0 == name) {
            Some(&(_, unit)) => unit,
            // Seconds need no unit, if there is none at all.
            None if name.is_empty() && after.is_empty() && above.is_none() => SECOND,
            None if number.is_empty() => return Err(wrong()),
            None => return Err(unknown_unit(name).unwrap_or_else(wrong)),
        };
        let nanos = nanos_of(number, unit).ok_or_else(wrong)?;
        if above.is_some_and(|above| above <= unit) {
            return Err(wrong());
        }
        above = Some(unit);
        sum = sum.checked_add(nanos).ok_or_else(wrong)?;
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let sum = if negative { -sum } else { sum };
    i64::try_from(sum).ok().ok_or_else(|| format!("a time of less than 292 years, which `{}` is not", text.trim()))
}

/// The error text for a number with an unknown unit.
fn unknown_unit(name: &str) -> Option<String> {
    let is_word = !name.is_empty() && name.chars().all(char::is_alphabetic);
    is_word.then(|| format!("one of the units ns, us, ms, s, min, h and d, such as in 250ms; `{name}` is no unit"))
}

/// A number of units as nanoseconds.
fn nanos_of(number: &str, unit: i64) -> Option<i128> {
    // More digits than any fraction of a nanosecond has, even in days.
    const DIGITS: usize = 18;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + part.len() == 0 || !digits(whole) || !digits(part) {
        return None;
    }
    let value = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i128>().ok() };
    let part = &part[..part.len().min(DIGITS)];
    let of_part = value(part)? * i128::from(unit) / 10_i128.pow(u32::try_from(part.len()).ok()?);
    value(whole)?.checked_mul(unit.into())?.checked_add(of_part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_times_have_one_unit() {
        assert_eq!(timestamp(GlobalNanos(1_234_567_890), 1), "1.234567890 s");
        assert_eq!(timestamp(GlobalNanos(1_234_567_890), 1_000_000), "1.235 s");
        assert_eq!(timestamp(GlobalNanos(599 * SECOND), SECOND), "599 s");
        assert_eq!(duration(47_123_456), "47.12 ms");
        assert_eq!(duration(999), "999 ns");
        assert_eq!(duration(1_500), "1.500 µs");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn long_times_have_days_and_hours() {
        let time = 2 * DAY + 3 * HOUR + 20 * MINUTE + 5 * SECOND + 250_000_000;
        assert_eq!(timestamp(GlobalNanos(time), 1_000_000), "2 d 3 h 20 min 5.250 s");
        assert_eq!(timestamp(GlobalNanos(time), SECOND), "2 d 3 h 20 min 5 s");
        assert_eq!(timestamp(GlobalNanos(time), 2 * MINUTE), "2 d 3 h 20 min");
        assert_eq!(timestamp(GlobalNanos(-time), 2 * HOUR), "−2 d 3 h");
        assert_eq!(timestamp(GlobalNanos(2 * DAY - 1), SECOND), "2 d");
        assert_eq!(duration(LONG), "10 min");
        assert_eq!(duration(LONG + SECOND / 2), "10 min 0.5 s");
        assert_eq!(duration(5000 * SECOND), "1 h 23 min 20 s");
        assert_eq!(duration(400 * DAY + 3 * HOUR + 5 * MINUTE), "400 d 3 h");
        assert_eq!(duration(i64::MAX), "106\u{202f}752 d");
    }

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
        ];
        for (text, nanos) in cases {
            assert_eq!(parse(text), Ok(nanos), "{text}");
        }
        for text in ["", "s", "1e3", "0.2.3", "1h 2", "1min 2h", "1s 2s", "h1", "--1", "1 y", "1d.", "9999999999999"] {
            assert!(parse(text).is_err_and(|why| why.contains("such as") || why.contains("292")), "{text}");
        }
        assert!(parse("1y").is_err_and(|why| why.contains("`y` is no unit")));
        assert!(parse(&"9".repeat(60)).is_err());
    }

    proptest! {
        #[test]
        fn written_times_are_read_again(nanos in prop_oneof![-2_000_i64..2_000, any::<i64>(), -LONG..LONG], power in 0_u32..18) {
            prop_assert_eq!(parse(&timestamp(GlobalNanos(nanos), 1)), Ok(nanos));
            let resolution = 10_i64.pow(power);
            if let Ok(read) = parse(&timestamp(GlobalNanos(nanos), resolution)) {
                prop_assert!(read.abs_diff(nanos) <= resolution.unsigned_abs(), "{read}");
            } else {
                prop_assert!(nanos.unsigned_abs() > i64::MAX.unsigned_abs() - resolution.unsigned_abs());
            }
            if let Ok(read) = parse(&duration(nanos)) {
                prop_assert!(read.abs_diff(nanos) <= nanos.unsigned_abs() / 1000, "{read}");
            } else {
                prop_assert!(nanos.unsigned_abs() > i64::MAX.unsigned_abs() / 1000 * 999);
            }
        }
    }
}
