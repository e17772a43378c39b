//! Time as pixels: the scale of a picture, its ticks, and how dates and durations are written.

use crate::query::{GlobalNanos, Interval};

/// Maps an interval of time to `width` units from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeScale {
    /// What is shown.
    pub interval: Interval,
    /// Its width in the picture.
    pub width: f32,
}

/// A line of the ruler.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where it is, in the units of the scale.
    pub x: f32,
    /// What is written at it.
    pub label: String,
}

/// The ruler of an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ruler {
    /// The date that the labels count from, when they would be too long otherwise.
    pub base: Option<String>,
    /// The ticks, by time.
    pub ticks: Vec<Tick>,
}

const UNITS: [(i64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")];

impl TimeScale {
    /// Length of the interval in nanoseconds, at least 1.
    #[must_use]
    pub fn nanos(&self) -> i64 {
        self.interval.to.0.saturating_sub(self.interval.from.0).max(1)
    }

    /// Where a date is; may lie outside of the picture.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the last step before pixels")]
    pub fn x(&self, time: GlobalNanos) -> f32 {
        let offset = time.0.saturating_sub(self.interval.from.0) as f64;
        // Far outside is as good as just outside, and keeps what draws lines away from huge numbers.
        let x = offset / self.nanos() as f64 * f64::from(self.width);
        x.clamp(-1e5, f64::from(self.width) + 1e5) as f32
    }

    /// The ruler, with ticks at least `spacing` apart.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a number of ticks")]
    pub fn ruler(&self, spacing: f32) -> Ruler {
        let (from, to) = (self.interval.from.0, self.interval.to.0);
        if to <= from || self.width <= 0.0 {
            return Ruler::default();
        }
        let least = (self.nanos() as f64 * f64::from(spacing) / f64::from(self.width)).ceil();
        let step = step_of_at_least(least as i64);
        let largest = from.unsigned_abs().max(to.unsigned_abs()) as f64;
        // Labels of more than six digits count from a base instead.
        let base = if largest / step as f64 > 1e6 { Some(base_of(from, step)) } else { None };
        let zero = base.map_or(0, |base| base.0);
        let unit = unit_of(if base.is_some() { step.saturating_mul(100) } else { (largest as i64).max(1) });
        let digits = decimals(step, unit.0);
        let first = from.div_euclid(step) + i64::from(from.rem_euclid(step) != 0);
        let ticks = (first..)
            .map_while(|n| n.checked_mul(step).filter(|&at| at <= to))
            .map(|at| {
                let sign = if base.is_some() { "+" } else { "" };
                Tick { x: self.x(GlobalNanos(at)), label: format!("{sign}{}", in_unit(at - zero, unit, digits)) }
            })
            .collect();
        Ruler { base: base.map(|(at, round)| date(GlobalNanos(at), round)), ticks }
    }
}

/// The smallest of 1, 2, 5 × 10ⁿ nanoseconds that is not less.
fn step_of_at_least(nanos: i64) -> i64 {
    let mut decade = 1_i64;
    loop {
        for factor in [1, 2, 5] {
            let step = decade.saturating_mul(factor);
            if step >= nanos {
                return step;
            }
        }
        decade = decade.saturating_mul(10);
    }
}

/// A round date at or before `from`, and how round it is: much coarser than the step.
fn base_of(from: i64, step: i64) -> (i64, i64) {
    let coarse = step.saturating_mul(1000);
    let mut round = 1_i64;
    while round < coarse {
        round = round.saturating_mul(10);
    }
    (from.div_euclid(round).saturating_mul(round), round)
}

/// The unit in which a length is written.
fn unit_of(nanos: i64) -> (i64, &'static str) {
    let size = nanos.unsigned_abs();
    UNITS.into_iter().find(|&(unit, _)| size >= unit.unsigned_abs()).unwrap_or((1, "ns"))
}

/// Digits after the point that a step needs in a unit.
fn decimals(step: i64, unit: i64) -> usize {
    let mut digits = 0;
    let mut size = unit;
    while size > step && size > 1 && !step.unsigned_abs().is_multiple_of(size.unsigned_abs()) {
        size /= 10;
        digits += 1;
    }
    digits
}

/// A number of nanoseconds in a unit, with so many decimals, exactly, by integers.
fn in_unit(nanos: i64, (unit, name): (i64, &str), digits: usize) -> String {
    let (unit, size) = (unit.unsigned_abs(), nanos.unsigned_abs());
    let scale = 10_u64.pow(u32::try_from(digits).unwrap_or(0).min(9));
    let scaled = (u128::from(size) * u128::from(scale) + u128::from(unit) / 2) / u128::from(unit);
    let (whole, part) = (scaled / u128::from(scale), scaled % u128::from(scale));
    let sign = if nanos < 0 && scaled > 0 { "−" } else { "" };
    let whole = grouped(u64::try_from(whole).unwrap_or(u64::MAX));
    if digits == 0 { format!("{sign}{whole} {name}") } else { format!("{sign}{whole}.{part:0digits$} {name}") }
}

/// A count with its thousands set apart by narrow spaces.
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

/// A date, precise to about `resolution` nanoseconds.
#[must_use]
pub fn date(time: GlobalNanos, resolution: i64) -> String {
    if time.0 == 0 {
        return "0 s".to_owned();
    }
    let unit = unit_of(time.0);
    in_unit(time.0, unit, decimals_to(resolution, unit.0))
}

/// Digits after the point so that the last one is no coarser than the resolution.
fn decimals_to(resolution: i64, unit: i64) -> usize {
    let (mut digits, mut size) = (0, unit);
    while size > resolution.max(1) {
        size /= 10;
        digits += 1;
    }
    digits
}

/// A duration with four significant digits.
#[must_use]
pub fn duration(nanos: i64) -> String {
    let unit = unit_of(nanos);
    let whole = nanos.unsigned_abs() / unit.0.unsigned_abs();
    let digits = if unit.0 == 1 { 0 } else { 4_usize.saturating_sub(whole.max(1).to_string().len()) };
    in_unit(nanos, unit, digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(from: i64, to: i64, width: f32) -> TimeScale {
        TimeScale { interval: Interval { from: GlobalNanos(from), to: GlobalNanos(to) }, width }
    }

    fn labels(from: i64, to: i64) -> Vec<String> {
        scale(from, to, 600.0).ruler(100.0).ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_have_sane_units() {
        assert_eq!(labels(0, 1_000_000_000), ["0.0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s", "1.0 s"]);
        assert_eq!(labels(120_000, 610_000), ["200 µs", "300 µs", "400 µs", "500 µs", "600 µs"]);
        assert_eq!(labels(0, 12), ["0 ns", "2 ns", "4 ns", "6 ns", "8 ns", "10 ns", "12 ns"]);
        assert_eq!(labels(-2_000_000, 2_000_000), ["−2 ms", "−1 ms", "0 ms", "1 ms", "2 ms"]);
    }

    #[test]
    fn deep_zooms_count_from_a_base() {
        let ruler = scale(12_345_678_000, 12_345_679_000, 600.0).ruler(100.0);
        assert_eq!(ruler.base.as_deref(), Some("12.345 s"));
        assert_eq!(ruler.ticks[0].label, "+678.0 µs");
    }

    #[test]
    fn dates_and_durations_are_exact() {
        assert_eq!(date(GlobalNanos(1_234_567_890), 1), "1.234567890 s");
        assert_eq!(date(GlobalNanos(1_234_567_890), 1_000_000), "1.235 s");
        assert_eq!(duration(47_123_456), "47.12 ms");
        assert_eq!(duration(999), "999 ns");
        assert_eq!(duration(1_500), "1.500 µs");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn extreme_intervals_do_not_overflow() {
        let wide = scale(i64::MIN, i64::MAX, 100.0);
        assert!(wide.x(GlobalNanos(i64::MAX)).is_finite());
        assert!(wide.ruler(90.0).ticks.len() < 10);
        assert!(scale(5, 5, 100.0).ruler(90.0).ticks.is_empty());
    }
}
