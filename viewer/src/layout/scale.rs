//! Time as pixels: the scale of an image and the ticks and labels of its ruler. `axis.js` has
//! the same rules.
//!
//! ```
//! use tumit_viewer::layout::scale::TimeScale;
//! use tumit_viewer::query::{GlobalNanos, TimeRange};
//!
//! let time_range = TimeRange { from: GlobalNanos(0), to: GlobalNanos(4_000_000) };
//! let scale = TimeScale { time_range, width: 400.0 };
//! assert_eq!(scale.x(GlobalNanos(1_000_000)), 100.0);
//! // Each character is 6 units wide.
//! let ruler = scale.ruler(|label| 6.0 * label.chars().count() as f32);
//! let labels = ruler.ticks.iter().flat_map(|tick| &tick.label).map(|label| label.text.as_str());
//! assert_eq!(labels.collect::<Vec<_>>(), ["0 ms", "1 ms", "2 ms", "3 ms", "4 ms"]);
//! ```

use crate::query::{GlobalNanos, TimeRange};
use crate::text::time_display::{DAY, HOUR, LONG, MINUTE, SECOND, in_clock_units, in_unit, timestamp, unit_of};

/// Maps a time range to `width` units from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeScale {
    /// The shown time range.
    pub time_range: TimeRange,
    /// Its width in the image.
    pub width: f32,
}

/// A line of the ruler.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RulerTick {
    /// Its place in units of the scale.
    pub x: f32,
    /// Its label, if there is room for it.
    pub label: Option<TickLabel>,
}

/// The text at a tick.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TickLabel {
    /// A number with its unit, or a time of day.
    pub text: String,
    /// The place of its middle. At an edge of the scale it differs from the tick's, so that the
    /// label is not cut.
    pub center: f32,
}

/// The ruler of a time range.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TimeRuler {
    /// The timestamp that the labels count from, if they would be too long otherwise.
    pub base: Option<String>,
    /// The ticks, by time.
    pub ticks: Vec<RulerTick>,
}

/// Minimum distance of ticks.
const SPACING: f32 = 92.0;
/// Minimum space between labels.
const GAP: f32 = 8.0;
/// If a label would count more steps than this, the labels count from a base.
const MAX_STEPS: f64 = 1e6;
/// Steps of a ruler of long times, in seconds; days follow.
const LONG_STEPS: [i64; 17] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200];

/// Ticks with labels that have no position yet.
#[derive(Default)]
struct RulerTicks {
    base: Option<String>,
    /// Place and text.
    labels: Vec<(f32, String)>,
}

impl TimeScale {
    /// Length of the time range in nanoseconds, at least 1.
    #[must_use]
    pub fn nanos(&self) -> i64 {
        self.time_range.to.0.saturating_sub(self.time_range.from.0).max(1)
    }

    /// The position of a timestamp. It may lie outside the image.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the result is a position in pixels"
    )]
    pub fn x(&self, time: GlobalNanos) -> f32 {
        let offset = time.0.saturating_sub(self.time_range.from.0) as f64;
        // Positions far outside are limited, to protect line drawing from huge numbers.
        let x = offset / self.nanos() as f64 * f64::from(self.width);
        x.clamp(-1e5, f64::from(self.width) + 1e5) as f32
    }

    /// The ruler. `measure` is the width of a label in units of the scale. No label extends beyond
    /// the scale or into another label. Ticks are as far apart as their labels need, and a label at
    /// an edge is moved or left out.
    #[must_use]
    pub fn ruler(&self, measure: impl Fn(&str) -> f32) -> TimeRuler {
        const ROUNDS: usize = 8;
        let mut spacing = SPACING;
        let mut ticks = self.ticks(spacing);
        // A wide time range may exclude both neighbours of its only round number. The next smaller
        // step is at most 2.5 times smaller.
        while ticks.labels.len() < 2 && self.width >= 4.0 * SPACING && spacing > SPACING / 2.5 {
            spacing *= 0.8;
            ticks = self.ticks(spacing);
        }
        for _ in 0..ROUNDS {
            let widest = ticks.labels.iter().map(|tick| measure(&tick.1)).fold(0.0, f32::max);
            let distance = ticks.labels.windows(2).map(|two| two[1].0 - two[0].0).fold(f32::INFINITY, f32::min);
            if widest + GAP <= distance {
                break;
            }
            spacing = (widest + GAP).max(spacing * 1.2);
            ticks = self.ticks(spacing);
        }
        let mut free_from = 0.0;
        let place = |(x, text): (f32, String)| {
            let half = measure(&text) / 2.0;
            // There is no place beyond the right edge, even if the label is wider than the scale.
            let center = x.min(self.width - half).max(half);
            let fits = center - half >= free_from && 2.0 * half <= self.width;
            if fits {
                free_from = center + half + GAP;
            }
            RulerTick { x, label: fits.then_some(TickLabel { text, center }) }
        };
        TimeRuler { base: ticks.base, ticks: ticks.labels.into_iter().map(place).collect() }
    }

    /// Computes ticks at least `spacing` apart.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a number of ticks")]
    fn ticks(&self, spacing: f32) -> RulerTicks {
        let (from, to) = (self.time_range.from.0, self.time_range.to.0);
        if to <= from || self.width <= 0.0 {
            return RulerTicks::default();
        }
        let min_step = (self.nanos() as f64 * f64::from(spacing) / f64::from(self.width)).ceil() as i64;
        let farthest = from.saturating_abs().max(to.saturating_abs());
        let is_long = farthest >= LONG;
        let step =
            if is_long && min_step > SECOND { long_step_of_at_least(min_step) } else { step_of_at_least(min_step) };
        let base = if is_long {
            // A label has two parts at most: days and hours, hours and minutes, or minutes and
            // seconds.
            let is_fine = step < SECOND || step < MINUTE && farthest >= HOUR || step < HOUR && farthest >= DAY;
            is_fine.then(|| long_base_of(from, step))
        } else {
            (farthest as f64 / step as f64 > MAX_STEPS).then(|| base_of(from, step))
        };
        let zero = base.map_or(0, |base| base.time);
        let largest = match base {
            Some(_) if !is_long => step.saturating_mul(100),
            Some(_) => to.saturating_sub(zero),
            None => farthest.max(1),
        };
        let sign = if base.is_some() { "+" } else { "" };
        let first = from.div_euclid(step) + i64::from(from.rem_euclid(step) != 0);
        let labels = (first..)
            .map_while(|n| n.checked_mul(step).filter(|&tick| tick <= to))
            .map(|tick| {
                (self.x(GlobalNanos(tick)), format!("{sign}{}", label(tick.saturating_sub(zero), step, largest)))
            })
            .collect();
        RulerTicks { base: base.map(|base| timestamp(GlobalNanos(base.time), base.resolution)), labels }
    }
}

/// The label of a tick, for a ruler with this step and a label farthest from 0 of `max_time`.
fn label(nanos: i64, step: i64, max_time: i64) -> String {
    if max_time < LONG {
        let unit = unit_of(max_time);
        return in_unit(nanos, unit, decimals(step, unit.nanos));
    }
    in_clock_units(nanos, [DAY, HOUR, MINUTE].into_iter().find(|unit| step % unit == 0).unwrap_or(SECOND), 0)
}

/// The smallest number of the form 1, 2 or 5 × 10ⁿ that is at least `min_step`.
fn step_of_at_least(min_step: i64) -> i64 {
    let mut decade = 1_i64;
    loop {
        for factor in [1, 2, 5] {
            let step = decade.saturating_mul(factor);
            if step >= min_step {
                return step;
            }
        }
        decade = decade.saturating_mul(10);
    }
}

/// The smallest round fraction or multiple of a minute, an hour or a day that is at least
/// `min_step`.
fn long_step_of_at_least(min_step: i64) -> i64 {
    let steps = LONG_STEPS.into_iter().map(|seconds| seconds * SECOND);
    let days = || step_of_at_least(min_step / DAY + i64::from(min_step % DAY > 0)).saturating_mul(DAY);
    steps.into_iter().find(|&step| step >= min_step).unwrap_or_else(days)
}

/// A round timestamp from which labels count.
#[derive(Clone, Copy)]
struct RulerBase {
    time: i64,
    resolution: i64,
}

impl RulerBase {
    /// The last multiple of `resolution` at or before `from`.
    fn tick_before(from: i64, resolution: i64) -> Self {
        Self { time: from.div_euclid(resolution).saturating_mul(resolution), resolution }
    }
}

/// A base at or before `from`, much coarser than the step.
fn base_of(from: i64, step: i64) -> RulerBase {
    let min_step = step.saturating_mul(1000);
    let mut round = 1_i64;
    while round < min_step {
        round = round.saturating_mul(10);
    }
    RulerBase::tick_before(from, round)
}

/// A base at or before `from`, at a distance similar to the length of the ruler.
fn long_base_of(from: i64, step: i64) -> RulerBase {
    const STEPS: i64 = 20;
    let mut rounds = (0..=10).map(|power| 10_i64.pow(power)).chain([MINUTE, LONG, HOUR, DAY]);
    let round = rounds.find(|&round| round >= step.saturating_mul(STEPS)).unwrap_or(DAY);
    RulerBase::tick_before(from, round)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::style::theme::font::{FontWeight, width};

    fn scale(from: i64, to: i64, width: f32) -> TimeScale {
        TimeScale { time_range: TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) }, width }
    }

    fn measure(text: &str) -> f32 {
        width(text, 11.0, FontWeight::Regular)
    }

    fn labels(from: i64, to: i64) -> Vec<String> {
        let ruler = scale(from, to, 600.0).ruler(measure);
        ruler.ticks.into_iter().filter_map(|tick| tick.label).map(|label| label.text).collect()
    }

    #[test]
    fn ticks_are_round_and_have_suitable_units() {
        assert_eq!(labels(0, SECOND), ["0.0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s", "1.0 s"]);
        assert_eq!(labels(120_000, 610_000), ["200 µs", "300 µs", "400 µs", "500 µs", "600 µs"]);
        assert_eq!(labels(0, 12), ["0 ns", "2 ns", "4 ns", "6 ns", "8 ns", "10 ns", "12 ns"]);
        assert_eq!(labels(-2_000_000, 2_000_000), ["−2 ms", "−1 ms", "0 ms", "1 ms", "2 ms"]);
        assert_eq!(labels(0, 9 * MINUTE), ["0 s", "100 s", "200 s", "300 s", "400 s", "500 s"]);
    }

    #[test]
    fn long_spans_have_minutes_hours_and_days() {
        assert_eq!(labels(0, 15 * MINUTE), ["0 min", "5 min", "10 min", "15 min"]);
        assert_eq!(labels(0, 2 * HOUR), ["0 min", "30 min", "1 h", "1 h 30 min", "2 h"]);
        assert_eq!(labels(0, 3 * DAY), ["0 h", "12 h", "1 d", "1 d 12 h", "2 d", "2 d 12 h", "3 d"]);
        assert_eq!(labels(0, 400 * DAY), ["0 d", "100 d", "200 d", "300 d", "400 d"]);
        assert_eq!(labels(-2 * DAY, 0), ["−2 d", "−1 d 12 h", "−1 d", "−12 h", "0 h"]);
    }

    #[test]
    fn deep_zooms_count_from_a_base() {
        let ruler = scale(12_345_678_000, 12_345_679_000, 600.0).ruler(measure);
        assert_eq!(ruler.base.as_deref(), Some("12.345 s"));
        assert_eq!(ruler.ticks[0].label.as_ref().unwrap().text, "+678.0 µs");
        let from = 399 * DAY + 23 * HOUR + 58 * MINUTE + 7 * SECOND;
        for (span, base, first) in [
            (HOUR, "399 d", "+1 d"),
            (MINUTE, "399 d 23 h 50 min", "+490 s"),
            (SECOND, "399 d 23 h 58 min", "+7.0 s"),
            (10, "399 d 23 h 58 min 7.0000000 s", "+0 ns"),
        ] {
            let ruler = scale(from, from + span, 600.0).ruler(measure);
            assert_eq!(
                (ruler.base.as_deref(), ruler.ticks[0].label.as_ref().unwrap().text.as_str()),
                (Some(base), first)
            );
        }
    }

    #[test]
    fn a_time_range_without_its_round_ends_has_two_labels() {
        // Steps of 50 s would leave one label, because 0 and 100 s are outside.
        let ruler = scale(1, 91_524_915_516, 403.4).ruler(measure);
        let texts: Vec<&str> =
            ruler.ticks.iter().filter_map(|tick| tick.label.as_ref()).map(|label| label.text.as_str()).collect();
        assert_eq!(texts, ["20 s", "40 s", "60 s", "80 s"]);
    }

    #[test]
    fn extreme_time_ranges_do_not_overflow() {
        let wide = scale(i64::MIN, i64::MAX, 100.0);
        assert!(wide.x(GlobalNanos(i64::MAX)).is_finite());
        assert!(wide.ruler(measure).ticks.len() < 10);
        assert!(scale(5, 5, 100.0).ruler(measure).ticks.is_empty());
    }

    /// Time ranges from 10 ns to 400 days, at any distance from 0 up to 400 days.
    fn time_ranges() -> impl Strategy<Value = (i64, i64)> {
        let length = |min_step: f64| {
            (min_step.ln()..(400.0 * 86_400e9_f64).ln()).prop_map(|power: f64| {
                #[expect(clippy::cast_possible_truncation, reason = "below 2⁶³")]
                let nanos = power.exp() as i64;
                nanos
            })
        };
        let from = prop_oneof![Just(0), length(1.0), length(1.0).prop_map(|nanos| -nanos)];
        (from, length(10.0)).prop_map(|(from, span)| (from, from + span))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn labels_neither_overlap_nor_are_cut((from, to) in time_ranges(), wide in 40.0_f32..4000.0) {
            let ruler = scale(from, to, wide).ruler(measure);
            let mut free_from = 0.0;
            let mut texts = Vec::new();
            for tick in &ruler.ticks {
                prop_assert!((-0.01..=wide + 0.01).contains(&tick.x));
                let Some(label) = &tick.label else { continue };
                let half = measure(&label.text) / 2.0;
                prop_assert!(label.center - half >= free_from, "{ruler:?}");
                prop_assert!(label.center + half <= wide + 0.01, "{ruler:?}");
                // A label is at its tick, except at the edges.
                prop_assert!((label.center - tick.x).abs() < half + 0.01, "{ruler:?}");
                prop_assert!(!texts.contains(&&label.text), "{ruler:?}");
                free_from = label.center + half;
                texts.push(&label.text);
            }
            // Wide scales have at least some labels.
            prop_assert!(wide < 400.0 || texts.len() >= 2, "{ruler:?}");
            prop_assert!(wide < 1000.0 || texts.len() >= 3, "{ruler:?}");
        }
    }
}
