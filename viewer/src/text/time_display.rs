//! Times and durations as text for display. `axis.js` has the same rules.
//!
//! Below ten minutes a time has one unit and decimals: `12.345 ms`. From there on it is written in
//! days, hours, minutes and seconds: `2 d 3 h 20 min`. The parser, [`tumit_paje::time_text`],
//! accepts each text that is written here.
//!
//! ```
//! use tumit_viewer::query::GlobalNanos;
//! use tumit_viewer::text::time_display::{duration, group_digits, timestamp};
//!
//! assert_eq!(duration(12_345_678), "12.35 ms");
//! assert_eq!(timestamp(GlobalNanos(12_345_678), 1_000), "12.346 ms");
//! assert_eq!(group_digits(1_234_567), "1\u{202f}234\u{202f}567");
//! ```

pub(crate) use tumit_paje::time_text::{DAY, HOUR, MINUTE, SECOND};

use crate::query::GlobalNanos;

/// From this duration on, times are written in days, hours, minutes and seconds.
pub(crate) const LONG: i64 = 10 * MINUTE;

/// A unit of times in texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DisplayUnit {
    pub(crate) nanos: i64,
    pub(crate) name: &'static str,
}

impl DisplayUnit {
    const fn new(nanos: i64, name: &'static str) -> Self {
        Self { nanos, name }
    }
}

/// Units of long times, the largest first.
const LONG_UNITS: [DisplayUnit; 4] =
    [DisplayUnit::new(DAY, "d"), DisplayUnit::new(HOUR, "h"), DisplayUnit::new(MINUTE, "min"), SECONDS];
/// Units of short times, the largest first.
const SHORT_UNITS: [DisplayUnit; 4] =
    [SECONDS, DisplayUnit::new(1_000_000, "ms"), DisplayUnit::new(1_000, "µs"), NANOSECONDS];
const SECONDS: DisplayUnit = DisplayUnit::new(SECOND, "s");
const NANOSECONDS: DisplayUnit = DisplayUnit::new(1, "ns");

/// The unit in which a short length is written.
pub(crate) fn unit_of(nanos: i64) -> DisplayUnit {
    let size = nanos.unsigned_abs();
    SHORT_UNITS.into_iter().find(|unit| size >= unit.nanos.unsigned_abs()).unwrap_or(NANOSECONDS)
}

/// A number of nanoseconds in a unit with a number of decimals, computed exactly with integers.
pub(crate) fn in_unit(nanos: i64, unit: DisplayUnit, digits: usize) -> String {
    let name = unit.name;
    let RoundedTime { count, per_unit } = round_to_unit(nanos, unit.nanos, digits);
    let (integer, fraction) = (count / per_unit, count % per_unit);
    let sign = if nanos < 0 && count > 0 { "−" } else { "" };
    let integer = group_digits(u64::try_from(integer).unwrap_or(u64::MAX));
    if digits == 0 { format!("{sign}{integer} {name}") } else { format!("{sign}{integer}.{fraction:0digits$} {name}") }
}

/// The size of a length in a unit, rounded to a number of decimals.
struct RoundedTime {
    /// Number of steps of the last decimal.
    count: u128,
    /// Number of these steps in a unit.
    per_unit: u128,
}

fn round_to_unit(nanos: i64, unit: i64, digits: usize) -> RoundedTime {
    let per_unit = 10_u128.pow(u32::try_from(digits).unwrap_or(0).min(9));
    let (unit, size) = (u128::from(unit.unsigned_abs()), u128::from(nanos.unsigned_abs()));
    RoundedTime { count: (size * per_unit + unit / 2) / unit, per_unit }
}

/// A number of nanoseconds in days, hours, minutes and seconds.
/// It is rounded to `unit` (one of these) with a number of decimals. Parts that are 0 are left out.
pub(crate) fn in_clock_units(nanos: i64, unit: i64, digits: usize) -> String {
    let RoundedTime { count: mut remainder, per_unit } = round_to_unit(nanos, unit, digits);
    let sign = if nanos < 0 && remainder > 0 { "−" } else { "" };
    let mut parts = Vec::new();
    for DisplayUnit { nanos: size, name } in LONG_UNITS {
        if size < unit {
            break;
        }
        let unit_count = u128::from((size / unit).unsigned_abs()) * per_unit;
        let (integer, fraction) = (remainder / unit_count, remainder % unit_count);
        if size > unit || digits == 0 {
            remainder = fraction;
            if integer > 0 || size == unit && parts.is_empty() {
                parts.push(format!("{} {name}", group_digits(u64::try_from(integer).unwrap_or(u64::MAX))));
            }
        } else if remainder > 0 || parts.is_empty() {
            parts.push(format!("{integer}.{fraction:0digits$} {name}"));
        }
    }
    format!("{sign}{}", parts.join(" "))
}

/// A count with narrow spaces between groups of thousands.
#[must_use]
pub fn group_digits(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 * 3);
    for (digit_index, digit) in digits.chars().enumerate() {
        if digit_index > 0 && (digits.len() - digit_index).is_multiple_of(3) {
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
        let unit = LONG_UNITS.into_iter().map(|unit| unit.nanos).find(|&unit| unit <= resolution).unwrap_or(SECOND);
        return in_clock_units(time.0, unit, decimals_to(resolution, unit));
    }
    let unit = unit_of(time.0);
    in_unit(time.0, unit, decimals_to(resolution, unit.nanos))
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
        return match LONG_UNITS.into_iter().map(|unit| unit.nanos).find(|&unit| fits(unit)) {
            Some(unit) => in_clock_units(nanos, unit, 0),
            None => in_clock_units(nanos, SECOND, 1),
        };
    }
    let unit = unit_of(nanos);
    let units = size / unit.nanos.unsigned_abs();
    let digits = if unit.nanos == 1 { 0 } else { 4_usize.saturating_sub(units.max(1).to_string().len()) };
    in_unit(nanos, unit, digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tumit_paje::time_text::parse;

    use super::*;

    #[test]
    fn short_times_have_one_unit() {
        assert_eq!(timestamp(GlobalNanos(1_234_567_890), 1), "1.234567890 s");
        assert_eq!(timestamp(GlobalNanos(1_234_567_890), 1_000_000), "1.235 s");
        assert_eq!(timestamp(GlobalNanos(599 * SECOND), SECOND), "599 s");
        assert_eq!(duration(47_123_456), "47.12 ms");
        assert_eq!(duration(999), "999 ns");
        assert_eq!(duration(1_500), "1.500 µs");
        assert_eq!(group_digits(1_234_567), "1\u{202f}234\u{202f}567");
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
