//! Detects clock steps.
//! The clocks are read ten times per second. If a clock was set, the readings before and after the
//! step are written.
//!
//! Other readings go to the file about once per second. These readings are nearer to the step, and
//! a run of less than one second has no others.

use tracer_format::entries::ClockAnchor;

/// Maximum number of clock steps that are written. A clock with more steps is not reliable.
const MAX_CLOCK_STEPS: u32 = 32;
/// Nanoseconds between two readings that are too close to give a rate.
const MIN_INTERVAL_NANOS: u64 = 10_000_000;
/// Relative change of the rate that indicates a clock step.
/// Programs that adjust clocks change the rate by less.
const MIN_RATE_CHANGE: f64 = 1e-3;

/// The last reading of the clocks.
#[derive(Debug)]
pub(super) struct ClockStepWatch {
    last: Option<ClockReading>,
    /// Ticks per nanosecond of the system's clock, between the last two readings.
    rate: Option<f64>,
    jumps: u32,
}

#[derive(Clone, Copy, Debug)]
struct ClockReading {
    anchor: ClockAnchor,
    is_written: bool,
}

impl ClockStepWatch {
    pub(super) const fn new() -> Self {
        Self { last: None, rate: None, jumps: 0 }
    }

    /// Adds a reading and returns the readings to write.
    /// Without a clock step: this reading if `is_wanted`, otherwise none. After a step: the reading
    /// before the step, if it is not written yet, and this one.
    pub(super) fn add_reading(
        &mut self,
        now: ClockAnchor,
        is_wanted: bool,
    ) -> impl Iterator<Item = ClockAnchor> + use<> {
        let since_last = self.last.map(|last| (last, now.monotonic_nanos.saturating_sub(last.anchor.monotonic_nanos)));
        let Some((last, nanos)) = since_last.filter(|(_, nanos)| *nanos >= MIN_INTERVAL_NANOS) else {
            if is_wanted || self.last.is_none() {
                self.last = Some(ClockReading { anchor: now, is_written: is_wanted });
            }
            return [None, is_wanted.then_some(now)].into_iter().flatten();
        };
        #[expect(clippy::cast_precision_loss, reason = "differences within about 0.1 s")]
        let rate = now.ticks.wrapping_sub(last.anchor.ticks).cast_signed() as f64 / nanos as f64;
        let is_jump =
            self.rate.is_some_and(|usual| (rate / usual - 1.0).abs() > MIN_RATE_CHANGE) && self.jumps < MAX_CLOCK_STEPS;
        // The reading after a step has another rate and is written, too. It shows the rate after
        // the step.
        self.rate = Some(rate);
        self.jumps += u32::from(is_jump);
        let is_written = is_wanted || is_jump;
        self.last = Some(ClockReading { anchor: now, is_written });
        [(is_jump && !last.is_written).then_some(last.anchor), is_written.then_some(now)].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the milliseconds of the written readings of a clock.
    /// The clock is read ten times per second, and its first reading is written elsewhere.
    fn written(shows: impl Fn(u64) -> u64) -> Vec<u64> {
        let anchor_at = |millis: u64| ClockAnchor {
            ticks: shows(millis),
            monotonic_nanos: millis * 1_000_000,
            real_nanos: 0,
            bracket: 30,
        };
        let mut watch = ClockStepWatch::new();
        assert_eq!(watch.add_reading(anchor_at(0), true).count(), 1);
        // The reading at 1100 ms is written without a step.
        let readings =
            (1..20).flat_map(|step| watch.add_reading(anchor_at(step * 100), step == 11).collect::<Vec<_>>());
        readings.map(|anchor| anchor.monotonic_nanos / 1_000_000).collect()
    }

    #[test]
    fn readings_around_a_clock_step_are_written() {
        // Three ticks per nanosecond, and a drift.
        let ticks_at = |millis: u64| 1_000_000_000 + millis * 3_000_120;
        assert_eq!(written(ticks_at), [1100]);
        assert_eq!(
            written(|millis| ticks_at(millis) + if millis >= 730 { 3_000_000 } else { 0 }),
            [700, 800, 900, 1100]
        );
        assert_eq!(
            written(|millis| ticks_at(millis) - if millis >= 730 { 3_000_000 } else { 0 }),
            [700, 800, 900, 1100]
        );
        assert_eq!(written(|millis| ticks_at(millis) + if millis >= 1070 { 3_000_000 } else { 0 }), [1000, 1100, 1200]);
        // A change within the usual adjustments of clocks is no step.
        assert_eq!(written(|millis| ticks_at(millis) + if millis >= 730 { 200_000 } else { 0 }), [1100]);
    }

    #[test]
    fn close_readings_and_clocks_with_constant_steps_are_ignored() {
        let mut watch = ClockStepWatch::new();
        let anchor_at =
            |nanos: u64, ticks: u64| ClockAnchor { ticks, monotonic_nanos: nanos, real_nanos: 0, bracket: 0 };
        for step in 0..1000 {
            assert_eq!(
                watch.add_reading(anchor_at(step * 1000, step * step * 77), false).count(),
                0,
                "microseconds apart"
            );
        }
        let many = (1..1000)
            .map(|step| watch.add_reading(anchor_at(step * 100_000_000, step * step * 1_000_000), false).count())
            .sum::<usize>();
        assert!((32..=64).contains(&many), "{many}");
    }
}
