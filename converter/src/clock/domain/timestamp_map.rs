//! The map from raw to final timestamps of a stream. It adds the corrections of the graph fit and
//! of the causal pass to the line of a clock.
//!
//! Raw timestamps are those on this line. They may include the correction by sync samples. Both
//! additions are functions of the raw timestamp, in integers, that never decrease. Therefore the
//! order of a stream's records stays valid. So do all facts that were found with raw timestamps,
//! such as how far the records of a block reach back.

use std::sync::Arc;

use crate::clock::correction::TimestampCorrection;

/// After a jump, a stream runs slower than its clock by one part in `RETURN`, until it is back on
/// its line.
const RETURN: i64 = 10_000;

/// A shift of a timestamp, and of all later ones, to a later time. It prevents a link from ending
/// before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimestampJump {
    pub(crate) raw: i64,
    /// The position of its record in the stream. Earlier records with the same raw timestamp are
    /// not shifted.
    pub(crate) ordinal: u64,
    /// The timestamp before the shift.
    pub(crate) timestamp: i64,
    /// The size of the shift in nanoseconds, at least 0.
    pub(crate) shift: i64,
    /// The next forward leap of the clock's own line, if there is one.
    pub(crate) leap: Option<LineLeap>,
}

/// A forward leap of a clock's line. It follows a backward step: the records up to the leap have
/// one timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineLeap {
    /// The first timestamp after the leap.
    pub(crate) timestamp: i64,
    /// The distance from the last timestamp before the leap, nanoseconds.
    pub(crate) distance: i64,
}

impl TimestampJump {
    /// The shift of a later timestamp by this jump alone.
    ///
    /// It falls by at most 1 where the timestamp grows by 1. At a leap of the line it falls by at
    /// most the size of the leap, because the leap compensates for too early timestamps before it.
    /// The first `tick` nanoseconds are returned at once. `tick` is the resolution of the clocks,
    /// so the timestamps that follow are no more accurate than this. Otherwise many small jumps
    /// would add up.
    pub(crate) fn shift_at(&self, timestamp: i64, tick: i64) -> i64 {
        let leapt = self.leap.filter(|leap| timestamp >= leap.timestamp).map_or(0, |leap| leap.distance);
        // No time passes in a leap.
        let elapsed = timestamp.saturating_sub(self.timestamp).saturating_sub(leapt).max(0);
        let at_once = elapsed.min(tick);
        (self.shift - leapt - at_once - (elapsed - at_once) / RETURN).max(0)
    }
}

/// The jumps of a stream, in order of (raw timestamp, ordinal). The shift of each exceeds the
/// remaining shift of the jump before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimestampJumps(pub(crate) Box<[TimestampJump]>);

impl TimestampJumps {
    /// The timestamp after the shift by the last jump before the record.
    fn apply(&self, raw: i64, timestamp: i64, ordinal: u64, tick: i64) -> i64 {
        let before = self.0.partition_point(|jump| (jump.raw, jump.ordinal) <= (raw, ordinal));
        match before.checked_sub(1) {
            Some(last) => timestamp.saturating_add(self.0[last].shift_at(timestamp, tick)),
            None => timestamp,
        }
    }
}

/// The map from raw to final timestamps of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimestampMap {
    /// The correction of its clock by the graph fit.
    pub(crate) correction: Option<Arc<TimestampCorrection>>,
    pub(crate) jumps: TimestampJumps,
    /// The leaps of its clock in order of time, with timestamps before jumps.
    pub(crate) leaps: Option<Arc<Vec<LineLeap>>>,
    /// The resolution of the clocks, nanoseconds.
    pub(crate) tick: i64,
}

impl TimestampMap {
    /// Whether final timestamps equal the raw ones.
    pub(crate) fn is_identity(&self) -> bool {
        self.correction.is_none() && self.jumps.0.is_empty()
    }

    /// Whether final timestamps are independent of the positions of records in their stream.
    pub(crate) fn has_lines_only(&self) -> bool {
        self.jumps.0.is_empty()
    }

    /// The timestamp on the line of the clock, without the shifts of the causal pass.
    pub(crate) fn line(&self, raw: i64) -> i64 {
        self.correction.as_ref().map_or(raw, |correction| correction.correct(raw))
    }

    /// The final timestamp of a record with this raw timestamp and this position in the stream. It
    /// never decreases with (raw timestamp, ordinal). O(log of the number of knots).
    pub(crate) fn correct(&self, raw: i64, ordinal: u64) -> i64 {
        let timestamp = self.line(raw);
        if self.jumps.0.is_empty() { timestamp } else { self.jumps.apply(raw, timestamp, ordinal, self.tick) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::correction::CorrectionPoint;
    use proptest::prelude::*;

    fn point((raw, correction): (i64, i64)) -> CorrectionPoint {
        CorrectionPoint { raw, correction }
    }

    proptest! {
        #[test]
        fn timestamps_never_decrease_within_a_stream(
            steps in prop::collection::vec((0i64..100_000, 0u64..3, 1i64..50_000), 0..20),
            step in prop::option::of((0i64..2_000_000, 1i64..3_000_000).prop_map(point)),
            tick in prop_oneof![Just(1i64), Just(1_000), Just(100_000)],
            mut positions in prop::collection::vec((-10i64..2_000_000, 0u64..50), 0..200),
            points in prop::collection::vec((0i64..2_000_000, -20_000i64..20_000).prop_map(point), 0..5),
        ) {
            let mut points = points;
            points.sort_unstable();
            let correction = TimestampCorrection::from_points(&points).after_steps(step.as_slice());
            let leap_at = step.map(|step| step.raw);
            positions.extend(leap_at.iter().flat_map(|ticks| [(ticks - 1, 0), (ticks - 1, 50), (*ticks, 0), (ticks + 1, 0)]));
            let leap = leap_at.map(|ticks| LineLeap { timestamp: correction.correct(ticks), distance: correction.correct(ticks) - correction.correct(ticks - 1) });
            let mut jumps = Vec::<TimestampJump>::new();
            let (mut raw, mut ordinal) = (0, 0);
            for (later, records, more) in steps {
                raw += later;
                ordinal = if later > 0 { records } else { ordinal + records + 1 };
                let timestamp = correction.correct(raw);
                let left = jumps.last().map_or(0, |jump: &TimestampJump| jump.shift_at(timestamp, tick));
                jumps.push(TimestampJump { raw, ordinal, timestamp, shift: left + more, leap: leap.filter(|leap| leap.timestamp > timestamp) });
                positions.extend([(raw - 1, ordinal + 9), (raw, ordinal), (raw, ordinal + 1), (raw + 1, 0)]);
            }
            let map = TimestampMap { correction: Some(Arc::new(correction.clone())), jumps: TimestampJumps(jumps.into()), tick, ..TimestampMap::default() };
            positions.sort_unstable();
            let timestamps: Vec<i64> = positions.iter().map(|&(raw, ordinal)| map.correct(raw, ordinal)).collect();
            prop_assert!(timestamps.is_sorted(), "{timestamps:?}");
            prop_assert!(timestamps.iter().zip(&positions).all(|(timestamp, (raw, _))| *timestamp >= correction.correct(*raw)));
        }
    }
}
