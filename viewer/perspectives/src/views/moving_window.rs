//! [`MovingWindow`]: the time range before each time over which a quantity is smoothed.
//!
//! The smoothed quantity at `t` is its mean over `[max(t − width, start), t)`. At the start, and
//! with a width of 0, it is the quantity itself.

use tumit_viewer::query::{GlobalNanos, TimeRange};

/// The default width, as a fraction of the time range: one fiftieth.
const DEFAULT_FRACTION: i64 = 50;

/// The time range before each time over which a quantity is smoothed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MovingWindow {
    /// The start of the smoothed time range, in nanoseconds.
    pub(crate) start: i64,
    /// The width in nanoseconds.
    pub(crate) width: i64,
}

/// A value that holds from a timestamp to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowStep {
    pub(crate) from: i64,
    pub(crate) value: i64,
}

impl MovingWindow {
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
    /// `steps` are the values from the start to `end`. Takes O(n) of them.
    ///
    /// The integral of the steps is piecewise linear. Between two times at which an end of the
    /// window is at a step, the mean is monotonic. Its maximum is therefore at one of these times.
    #[expect(clippy::cast_precision_loss, reason = "the mean is rounded")]
    pub(crate) fn running_maximum(self, steps: &[WindowStep], end: i64) -> RunningMaximum {
        let mut maxima = RunningMaximum::default();
        let Some(first) = steps.first() else { return maxima };
        if self.width == 0 {
            steps.iter().for_each(|step| maxima.add(step.from, step.value as f64));
            return maxima;
        }
        maxima.add(first.from, first.value as f64);
        let limit = steps.iter().map(|step| step.value).max().unwrap_or(0) as f64;
        let (mut high, mut low) = (StepIntegral::new(steps), StepIntegral::new(steps));
        let mut steps_at_end = steps.iter().skip(1).map(|step| step.from).peekable();
        let mut steps_at_start = steps.iter().map(|step| step.from.saturating_add(self.width)).peekable();
        loop {
            let next = steps_at_end.peek().copied().into_iter().chain(steps_at_start.peek().copied()).min();
            let time = next.unwrap_or(end).min(end);
            while steps_at_end.next_if(|step| *step <= time).is_some() {}
            while steps_at_start.next_if(|step| *step <= time).is_some() {}
            let window = self.at(time);
            let nanos = window.to.0.saturating_sub(window.from.0);
            if nanos > 0 {
                let integral = high.until(time) - low.until(window.from.0);
                maxima.add(time, integral as f64 / nanos as f64);
            }
            // No mean is larger than the largest value.
            if time >= end || maxima.maxima.last().is_some_and(|maximum| *maximum >= limit) {
                return maxima;
            }
        }
    }
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

    /// The largest value until a time, inclusive. 0 before the first time.
    pub(crate) fn at(&self, time: i64) -> f64 {
        let count = self.times.partition_point(|other| *other <= time);
        count.checked_sub(1).map_or(0.0, |last| self.maxima[last])
    }
}

/// The integral of steps up to ascending times.
struct StepIntegral<'a> {
    steps: &'a [WindowStep],
    at: usize,
    /// The integral up to the step at `at`.
    sum: i128,
}

impl<'a> StepIntegral<'a> {
    fn new(steps: &'a [WindowStep]) -> Self {
        Self { steps, at: 0, sum: 0 }
    }

    fn until(&mut self, time: i64) -> i128 {
        let area = |step: &WindowStep, to: i64| i128::from(step.value) * (i128::from(to) - i128::from(step.from));
        while let Some(next) = self.steps.get(self.at + 1).filter(|next| next.from <= time) {
            self.sum += area(&self.steps[self.at], next.from);
            self.at += 1;
        }
        self.sum + self.steps.get(self.at).map_or(0, |step| area(step, time))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MovingWindow, WindowStep};

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
            let window = MovingWindow { start: start * FINE as i64, width: (width * FINE) as i64 };
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
            let largest = window.running_maximum(&steps, last).at(end_time).max(now);
            prop_assert!((largest - expected).abs() < 1e-12, "{} {}", largest, expected);
        }
    }

    #[test]
    fn windows_end_at_the_time_and_begin_in_the_range() {
        let window = MovingWindow { start: 100, width: 30 };
        let at = |time| (window.at(time).from.0, window.at(time).to.0);
        assert_eq!([at(90), at(100), at(110), at(200)], [(90, 90), (100, 100), (100, 110), (170, 200)]);
    }
}
