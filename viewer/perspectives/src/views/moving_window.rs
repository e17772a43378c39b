//! [`SmoothingWindow`]: the time range before each time over which a quantity is smoothed.
//!
//! The smoothed quantity at `t` is its mean over `[max(t − width, start), t)`. At the start, and
//! with a width of 0, it is the quantity itself.

use tumit_viewer::query::{GlobalNanos, TimeRange};

/// The time range divided by the default width. Smoothing over one fiftieth removes single changes
/// and keeps phases.
const DEFAULT_FRACTION: i64 = 50;
/// The number of timestamps in a part of the time range that is read or skipped as a whole. Smaller
/// parts cost more comparisons, and larger ones are skipped less often.
const CHANGES_PER_PART: usize = 128;

/// The time range before each time over which a quantity is smoothed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SmoothingWindow {
    /// The start of the smoothed time range, in nanoseconds.
    pub(crate) start: i64,
    /// The width in nanoseconds.
    pub(crate) width: i64,
}

/// A quantity that is constant between timestamps and never negative.
pub(crate) trait WindowQuantity {
    /// The number of timestamps.
    fn changes(&self) -> usize;

    /// A value that the quantity never exceeds.
    fn limit(&self) -> i64;

    /// The integral over a time range.
    fn integral(&self, range: TimeRange) -> i128;

    /// The values in a time range. The first one begins at the start of the range. None if the
    /// range is empty.
    fn steps(&self, range: TimeRange) -> Vec<WindowStep>;
}

/// A value that holds from a timestamp to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowStep {
    pub(crate) from: i64,
    pub(crate) value: i64,
}

impl SmoothingWindow {
    /// A window of a width within a time range. Without a width, it is one fiftieth of the range.
    pub(crate) fn new(range: TimeRange, width: Option<i64>) -> Self {
        let nanos = range.to.0.saturating_sub(range.from.0).max(0);
        Self { start: range.from.0, width: width.unwrap_or(nanos / DEFAULT_FRACTION).max(0) }
    }

    /// The window at a time. Empty at the start, before it, and with a width of 0.
    pub(crate) fn at(self, time: i64) -> TimeRange {
        let from = time.saturating_sub(self.width).max(self.start).min(time);
        TimeRange { from: GlobalNanos(from), to: GlobalNanos(time) }
    }

    /// The largest mean in the windows at all times from the start to each time until `end`.
    ///
    /// The integral is piecewise linear. Between two times at which an end of the window is at a
    /// step, the mean is monotonic. Its maximum is therefore at one of these times. Most of them
    /// are skipped: the mean at `t` in a part of the time range is at most the integral over the
    /// window at the start of the part and over the part, divided by the length of this window.
    pub(crate) fn running_maximum(self, quantity: &impl WindowQuantity, end: i64) -> RunningMaximum {
        let range = |from: i64, to: i64| TimeRange { from: GlobalNanos(from), to: GlobalNanos(to.max(from)) };
        let mut maxima = RunningMaximum::default();
        if let Some(first) = quantity.steps(range(self.start, self.start.saturating_add(1))).first() {
            maxima.add(first.from, number(first.value.into()));
        }
        let nanos = usize::try_from(end.saturating_sub(self.start)).unwrap_or(0);
        let parts = u32::try_from((quantity.changes() / CHANGES_PER_PART + 1).min(nanos)).unwrap_or(u32::MAX);
        for part in range(self.start, end).columns(parts) {
            if maxima.last() >= number(quantity.limit().into()) {
                break;
            }
            if self.width == 0 {
                quantity.steps(part).iter().for_each(|step| maxima.add(step.from, number(step.value.into())));
                continue;
            }
            let window = self.at(part.from.0);
            let integral = quantity.integral(window);
            let nanos = window.to.0.saturating_sub(window.from.0);
            let bound = number(integral + quantity.integral(part)) / number(nanos.into());
            if nanos == 0 || bound > maxima.last() {
                self.add_maxima(quantity, part, integral, &mut maxima);
            }
        }
        maxima
    }

    /// Adds the means at all times of a part at which an end of the window is at a step.
    /// `integral_sum` is the integral over the window at the start of the part.
    fn add_maxima(
        self,
        quantity: &impl WindowQuantity,
        part: TimeRange,
        mut integral_sum: i128,
        maxima: &mut RunningMaximum,
    ) {
        let starts = TimeRange { from: self.at(part.from.0).from, to: self.at(part.to.0).from };
        let (steps_at_end, steps_at_start) = (quantity.steps(part), quantity.steps(starts));
        let (mut window_end, mut window_start) = (StepCursor::new(&steps_at_end), StepCursor::new(&steps_at_start));
        let full_width_at = self.start.saturating_add(self.width);
        let mut window = self.at(part.from.0);
        while window.to < part.to {
            let next = window_end.next_change().min(window_start.next_change().saturating_add(self.width));
            let next = if window.to.0 < full_width_at { next.min(full_width_at) } else { next };
            let next = self.at(next.min(part.to.0));
            integral_sum += window_end.area(window.to, next.to) - window_start.area(window.from, next.from);
            window_end.advance(next.to);
            window_start.advance(next.from);
            let nanos = next.to.0.saturating_sub(next.from.0);
            if nanos > 0 {
                maxima.add(next.to.0, number(integral_sum) / number(nanos.into()));
            }
            window = next;
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "means are rounded")]
fn number(integer: i128) -> f64 {
    // The conversion of 64 bits is several times faster.
    i64::try_from(integer).map_or(integer as f64, |integer| integer as f64)
}

/// The largest value so far, at any time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunningMaximum {
    /// The times at which the maximum grows, ascending.
    times: Vec<i64>,
    maxima: Vec<f64>,
}

impl RunningMaximum {
    /// Adds the value at a time. Times ascend.
    fn add(&mut self, time: i64, value: f64) {
        if self.maxima.last().is_none_or(|maximum| *maximum < value) {
            self.times.push(time);
            self.maxima.push(value);
        }
    }

    /// The largest value of all times. 0 without a time.
    fn last(&self) -> f64 {
        self.maxima.last().copied().unwrap_or(0.0)
    }

    /// The largest value until a time, inclusive. 0 before the first time.
    pub(crate) fn at(&self, time: i64) -> f64 {
        let count = self.times.partition_point(|step_time| *step_time <= time);
        count.checked_sub(1).map_or(0.0, |last| self.maxima[last])
    }
}

/// The step of a quantity at ascending times.
struct StepCursor<'a> {
    steps: &'a [WindowStep],
    index: usize,
}

impl<'a> StepCursor<'a> {
    fn new(steps: &'a [WindowStep]) -> Self {
        Self { steps, index: 0 }
    }

    fn next_change(&self) -> i64 {
        self.steps.get(self.index + 1).map_or(i64::MAX, |step| step.from)
    }

    /// The integral over a time range in the current step.
    fn area(&self, from: GlobalNanos, to: GlobalNanos) -> i128 {
        let value = self.steps.get(self.index).map_or(0, |step| step.value);
        i128::from(value) * (i128::from(to.0) - i128::from(from.0))
    }

    /// Continues at a time, at most that of the next step.
    fn advance(&mut self, time: GlobalNanos) {
        self.index += usize::from(self.next_change() <= time.0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use tumit_viewer::query::TimeRange;

    use super::{CHANGES_PER_PART, SmoothingWindow, WindowQuantity, WindowStep};

    /// A quantity with many parts.
    struct Steps(Vec<WindowStep>);

    impl Steps {
        fn value(&self, time: i64) -> i64 {
            self.0.iter().rev().find(|step| step.from <= time).map_or(0, |step| step.value)
        }
    }

    impl WindowQuantity for Steps {
        fn changes(&self) -> usize {
            self.0.len() * CHANGES_PER_PART / 2
        }

        fn limit(&self) -> i64 {
            self.0.iter().map(|step| step.value).max().unwrap_or(0)
        }

        fn integral(&self, range: TimeRange) -> i128 {
            (range.from.0..range.to.0).map(|time| i128::from(self.value(time))).sum()
        }

        fn steps(&self, range: TimeRange) -> Vec<WindowStep> {
            let first = WindowStep { from: range.from.0, value: self.value(range.from.0) };
            let inner = |step: &&WindowStep| range.from.0 < step.from && step.from < range.to.0;
            let is_empty = range.from >= range.to;
            (!is_empty).then_some(first).into_iter().chain(self.0.iter().filter(inner).copied()).collect()
        }
    }

    /// The mean in the window at a time, in units of a twelfth of a nanosecond.
    fn mean(values: &[i64], time: usize, width: usize) -> f64 {
        let window = &values[time.saturating_sub(width)..time];
        window.iter().sum::<i64>() as f64 / window.len() as f64
    }

    proptest! {
        #[test]
        fn the_largest_mean_equals_that_of_many_times(
            lengths in prop::collection::vec((1..9_i64, 0..3_i64), 1..20),
            (width, start, share) in (0..40_usize, -50..50_i64, 0.0..1.0_f64),
        ) {
            // All timestamps are multiples of `FINE`, so the times between them are samples of
            // each monotonic piece.
            const FINE: usize = 12;
            let (mut steps, mut values, mut from) = (Vec::new(), Vec::new(), start * FINE as i64);
            for (length, value) in lengths {
                steps.push(WindowStep { from, value });
                from += length * FINE as i64;
                values.extend(std::iter::repeat_n(value, length as usize * FINE));
            }
            let end = (values.len() as f64 * share) as usize;
            let end_time = start * FINE as i64 + end as i64;
            let window = SmoothingWindow { start: start * FINE as i64, width: (width * FINE) as i64 };
            let expected = if width == 0 {
                values[..=end].iter().copied().max().unwrap() as f64
            } else {
                (1..=end).map(|time| mean(&values, time, width * FINE)).fold(values[0] as f64, f64::max)
            };
            let last = start * FINE as i64 + values.len() as i64;
            let now = match window.at(end_time) {
                range if range.from < range.to => mean(&values, end, width * FINE),
                _ => values.get(end).copied().unwrap_or(0) as f64,
            };
            let largest = window.running_maximum(&Steps(steps), last).at(end_time).max(now);
            prop_assert!((largest - expected).abs() < 1e-12, "{} {}", largest, expected);
        }
    }

    #[test]
    fn windows_end_at_the_time_and_begin_in_the_range() {
        let window = SmoothingWindow { start: 100, width: 30 };
        let at = |time| (window.at(time).from.0, window.at(time).to.0);
        assert_eq!([at(90), at(100), at(110), at(200)], [(90, 90), (100, 100), (100, 110), (170, 200)]);
    }
}
