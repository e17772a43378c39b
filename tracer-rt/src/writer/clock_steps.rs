//! Whether a clock was set: it is looked at ten times a second, and what it showed before and after is written where it does not go on as it went.
//!
//! Readings of the clocks go to the file about once a second; these here lie nearer to the moment, and a run of less than a second has no others.

use tracer_format::entries::Anchor;

/// A clock that jumps more often is not set, it is none.
const MOST: u32 = 32;
/// Nanoseconds of two readings that are too near to tell a rate.
const NEAR: u64 = 10_000_000;
/// No clock's rate changes by this part: those that adjust clocks change it by less.
const DIFFERENT: f64 = 1e-3;

/// The last reading of the clocks.
#[derive(Debug)]
pub(super) struct Watch {
    last: Option<Last>,
    /// Ticks in a nanosecond of the system's clock, between the last two readings.
    rate: Option<f64>,
    jumps: u32,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    anchor: Anchor,
    written: bool,
}

impl Watch {
    pub(super) const fn new() -> Self {
        Self { last: None, rate: None, jumps: 0 }
    }

    /// What goes to the file now that the clocks show this. If they went on as they did: this one where it is `wanted`, else nothing. If one was set: what
    /// they showed before, and this.
    pub(super) fn look(&mut self, now: Anchor, wanted: bool) -> impl Iterator<Item = Anchor> + use<> {
        let apart = self.last.map(|last| (last, now.monotonic_nanos.saturating_sub(last.anchor.monotonic_nanos)));
        let Some((last, nanos)) = apart.filter(|(_, nanos)| *nanos >= NEAR) else {
            if wanted || self.last.is_none() {
                self.last = Some(Last { anchor: now, written: wanted });
            }
            return [None, wanted.then_some(now)].into_iter().flatten();
        };
        #[expect(clippy::cast_precision_loss, reason = "differences within a tenth of a second or so")]
        let rate = now.ticks.wrapping_sub(last.anchor.ticks).cast_signed() as f64 / nanos as f64;
        let is_jump = self.rate.is_some_and(|usual| (rate / usual - 1.0).abs() > DIFFERENT) && self.jumps < MOST;
        // What comes behind a jump differs from it, and is written, too: that tells how the clock went on.
        self.rate = Some(rate);
        self.jumps += u32::from(is_jump);
        let written = wanted || is_jump;
        self.last = Some(Last { anchor: now, written });
        [(is_jump && !last.written).then_some(last.anchor), written.then_some(now)].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The milliseconds of the readings that are written of a clock, looked at ten times a second; its first reading is written by others.
    fn written(shows: impl Fn(u64) -> u64) -> Vec<u64> {
        let at = |millis: u64| Anchor {
            ticks: shows(millis),
            monotonic_nanos: millis * 1_000_000,
            real_nanos: 0,
            bracket: 30,
        };
        let mut watch = Watch::new();
        assert_eq!(watch.look(at(0), true).count(), 1);
        // One is written all the same.
        let readings = (1..20).flat_map(|step| watch.look(at(step * 100), step == 11).collect::<Vec<_>>());
        readings.map(|anchor| anchor.monotonic_nanos / 1_000_000).collect()
    }

    #[test]
    fn readings_around_a_jump_are_written() {
        // Three ticks a nanosecond, and a drift.
        let plain = |millis: u64| 1_000_000_000 + millis * 3_000_120;
        assert_eq!(written(plain), [1100]);
        assert_eq!(written(|millis| plain(millis) + if millis >= 730 { 3_000_000 } else { 0 }), [700, 800, 900, 1100]);
        assert_eq!(written(|millis| plain(millis) - if millis >= 730 { 3_000_000 } else { 0 }), [700, 800, 900, 1100]);
        assert_eq!(written(|millis| plain(millis) + if millis >= 1070 { 3_000_000 } else { 0 }), [1000, 1100, 1200]);
        // What differs less than clocks are adjusted by is none.
        assert_eq!(written(|millis| plain(millis) + if millis >= 730 { 200_000 } else { 0 }), [1100]);
    }

    #[test]
    fn readings_that_are_near_tell_nothing_and_a_clock_that_jumps_all_the_time_is_left_alone() {
        let mut watch = Watch::new();
        let at = |nanos: u64, ticks: u64| Anchor { ticks, monotonic_nanos: nanos, real_nanos: 0, bracket: 0 };
        for step in 0..1000 {
            assert_eq!(watch.look(at(step * 1000, step * step * 77), false).count(), 0, "microseconds apart");
        }
        let many = (1..1000)
            .map(|step| watch.look(at(step * 100_000_000, step * step * 1_000_000), false).count())
            .sum::<usize>();
        assert!((32..=64).contains(&many), "{many}");
    }
}
