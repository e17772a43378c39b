//! The map from ticks to nanoseconds: integers only, and never decreasing.

use std::sync::Arc;

use super::step_ticks::StepFreeTicks;
use crate::clock::correction::{CorrectionPoint, TimestampCorrection};
use tumit_paje::time::{GlobalNanos, LocalTicks};

/// Fraction bits of a segment's slope.
const SHIFT: u32 = 62;
/// Nanoseconds in a second.
const NANOS: i128 = 1_000_000_000;
/// Bound on the slope outside the knots: 500 parts per million from the nominal slope. A slope from
/// two knots that are close together is noise.
const MAX_DRIFT_DIVISOR: i128 = 2000;

/// The map from ticks of one clock to nanoseconds on the run's time line.
///
/// The map is piecewise linear. In the segment that begins at knot k the timestamp is `G[k] + ((l -
/// L[k]) * M[k] >> 62)`, where `M[k]` is rounded down. This is the floor of an increasing function
/// that does not pass `G[k+1]` before the segment ends. Hence the map never decreases, not even
/// across segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockMap {
    segments: Vec<MapSegment>,
    /// Correction that is added to the raw timestamps of the segments.
    correction: Option<Arc<TimestampCorrection>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MapSegment {
    ticks: u64,
    nanos: i128,
    slope: i128,
}

impl MapSegment {
    /// The timestamp of a tick in the segment or before it.
    fn nanos_at(&self, ticks: u64) -> i128 {
        let distance = i128::from(ticks) - i128::from(self.ticks);
        match distance.checked_mul(self.slope) {
            Some(product) => self.nanos.saturating_add(product >> SHIFT),
            None if distance < 0 => i128::MIN,
            None => i128::MAX,
        }
    }
}

/// A point that a map goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MapKnot {
    pub(crate) ticks: u64,
    pub(crate) nanos: i128,
}

impl ClockMap {
    /// The map of a clock with this rate. Tick 0 has timestamp 0.
    #[must_use]
    pub fn linear(hz: u64) -> Self {
        Self { segments: vec![MapSegment { ticks: 0, nanos: 0, slope: nominal_slope(hz) }], correction: None }
    }

    /// The map through these knots, in order of ticks. Outside the knots the slope is that of the
    /// first and the last segment. A knot that would make the map decrease is left out.
    pub(crate) fn from_knots(hz: u64, knots: &[MapKnot]) -> Self {
        let mut good: Vec<MapKnot> = Vec::new();
        for knot in knots {
            if good.last().is_none_or(|last| knot.ticks > last.ticks && knot.nanos > last.nanos) {
                good.push(*knot);
            }
        }
        let Some((&first, &last)) = good.first().zip(good.last()) else { return Self::linear(hz) };
        let nominal = nominal_slope(hz);
        let bounded =
            |slope: i128| slope.clamp(nominal - nominal / MAX_DRIFT_DIVISOR, nominal + nominal / MAX_DRIFT_DIVISOR);
        let between: Vec<MapSegment> = good
            .windows(2)
            .map(|pair| MapSegment { ticks: pair[0].ticks, nanos: pair[0].nanos, slope: slope(pair[0], pair[1]) })
            .collect();
        let first_slope = between.first().map_or(nominal, |segment| bounded(segment.slope));
        let last_slope = between.last().map_or(nominal, |segment| bounded(segment.slope));
        let mut segments = vec![MapSegment { ticks: first.ticks, nanos: first.nanos, slope: first_slope }];
        segments.extend(between);
        segments.push(MapSegment { ticks: last.ticks, nanos: last.nanos, slope: last_slope });
        Self { segments, correction: None }
    }

    /// The map of a clock with steps. `self` maps the ticks that the clock would have without
    /// steps.
    pub(crate) fn with_steps(&self, steps: &StepFreeTicks) -> Self {
        let Some(first) = steps.regions().first() else { return self.clone() };
        let mut segments: Vec<MapSegment> =
            self.segments.iter().copied().filter(|next| next.ticks < first.ticks).collect();
        if segments.is_empty() {
            // The first segment also applies to all earlier ticks, so it has to begin at tick 0.
            let before = self.segments[0];
            segments.push(MapSegment { ticks: 0, nanos: before.nanos_at(0), slope: before.slope });
        }
        let ends = steps.regions()[1..].iter().map(|next| next.ticks).chain([u64::MAX]);
        for (region, end) in steps.regions().iter().zip(ends) {
            let mut push = |ticks: u64, nanos: i128, slope: i128| {
                // If several segments begin at one tick, the last one applies.
                segments.retain(|segment| segment.ticks < ticks);
                segments.push(MapSegment { ticks, nanos, slope });
            };
            let with_steps = |ticks: u64| ticks.saturating_add_signed(region.correction.saturating_neg());
            // The first tick at which the timestamps move again. They stand still before it.
            let moves = with_steps(region.min_result).max(region.ticks);
            let begin = steps.without_steps(region.ticks);
            let segment = &self.segments[self.segments[1..].partition_point(|next| next.ticks <= begin)];
            let nanos = segment.nanos_at(begin);
            if moves > region.ticks {
                push(region.ticks, nanos, 0);
            }
            if moves < end {
                push(moves, nanos, segment.slope);
            }
            for next in self.segments.iter().filter(|next| next.ticks > begin) {
                let ticks = with_steps(next.ticks);
                if ticks > moves && ticks < end {
                    push(ticks, next.nanos, next.slope);
                }
            }
        }
        Self { segments, correction: self.correction.clone() }
    }

    /// The same map with this correction.
    pub(crate) fn with_correction(&self, correction: Option<Arc<TimestampCorrection>>) -> Self {
        Self { segments: self.segments.clone(), correction }
    }

    /// The correction that turns raw timestamps of this map into those of `other`, a map of the
    /// same clock. `hz` is the clock's rate.
    pub(crate) fn correction_to(&self, other: &Self, hz: u64) -> TimestampCorrection {
        /// Seconds beyond the first and the last knot at which the correction becomes constant.
        const FAR: u64 = 100_000;
        let knots = self.segments.iter().chain(&other.segments).map(|segment| segment.ticks);
        // Tick 0 is not a knot, because a slope over such a long distance would be imprecise.
        let mut ticks: Vec<u64> = knots.filter(|ticks| *ticks > 0).collect();
        ticks.sort_unstable();
        let far = hz.saturating_mul(FAR);
        let ends =
            [ticks.first().map(|first| first.saturating_sub(far)), ticks.last().map(|last| last.saturating_add(far))];
        ticks.extend(ends.into_iter().flatten());
        ticks.sort_unstable();
        let point = |ticks: u64| {
            let raw = self.raw_timestamp(ticks);
            CorrectionPoint { raw, correction: other.raw_timestamp(ticks).saturating_sub(raw) }
        };
        TimestampCorrection::through_far(&ticks.into_iter().map(point).collect::<Vec<CorrectionPoint>>())
    }

    pub(crate) fn middle_knot(&self) -> u64 {
        self.segments[self.segments.len() / 2].ticks
    }

    /// Adds to all timestamps.
    pub(crate) fn shift(&mut self, nanos: i128) {
        for segment in &mut self.segments {
            segment.nanos += nanos;
        }
    }

    /// The timestamp of a tick.
    #[must_use]
    pub fn global_from_local(&self, ticks: LocalTicks) -> GlobalNanos {
        GlobalNanos(self.global_from_ticks(ticks.0))
    }

    pub(crate) fn global_from_ticks(&self, ticks: u64) -> i64 {
        let nanos = self.raw_timestamp(ticks);
        self.correction.as_ref().map_or(nanos, |correction| correction.correct(nanos))
    }

    /// The timestamp of a tick, in 128 bits. Before timestamps are counted from the start of the
    /// run, they can exceed 64 bits.
    pub(crate) fn wide_from_ticks(&self, ticks: u64) -> i128 {
        if self.correction.is_some() {
            return self.global_from_ticks(ticks).into();
        }
        let after = self.segments[1..].partition_point(|next| next.ticks <= ticks);
        self.segments[after].nanos_at(ticks)
    }

    /// The raw timestamp of a tick, without the correction.
    fn raw_timestamp(&self, ticks: u64) -> i64 {
        // The first segment also applies to all earlier ticks.
        let after = self.segments[1..].partition_point(|next| next.ticks <= ticks);
        let segment = &self.segments[after];
        // The usual case. Factors of 64 bits multiply faster.
        if let (Some(distance), Ok(slope)) = (ticks.checked_sub(segment.ticks), u64::try_from(segment.slope)) {
            let product = (u128::from(distance) * u128::from(slope)) >> SHIFT;
            let nanos = segment.nanos.saturating_add(i128::try_from(product).unwrap_or(i128::MAX));
            return saturating_nanos(nanos);
        }
        saturating_nanos(segment.nanos_at(ticks))
    }

    /// The timestamps of the ticks `first + ticks[i]`. The elements of `ticks` never decrease.
    /// Searches for a segment only where the segment changes.
    pub(crate) fn global_from_many(&self, first: u64, ticks: &[u64], timestamps: &mut Vec<i64>) {
        timestamps.clear();
        timestamps.reserve(ticks.len());
        let mut remaining_ticks = ticks;
        while let Some(next) = remaining_ticks.first() {
            let after = self.segments[1..].partition_point(|segment| segment.ticks <= first.wrapping_add(*next));
            let segment = &self.segments[after];
            let end = self.segments.get(after + 1).map_or(u64::MAX, |segment| segment.ticks);
            let plain = (first.checked_sub(segment.ticks), u64::try_from(segment.slope), i64::try_from(segment.nanos));
            let (Some(begin), Ok(slope), Ok(nanos)) = plain else {
                timestamps.push(self.raw_timestamp(first.wrapping_add(*next)));
                remaining_ticks = &remaining_ticks[1..];
                continue;
            };
            let count = remaining_ticks.partition_point(|ticks| first.wrapping_add(*ticks) < end);
            let (segment_ticks, later_ticks) =
                remaining_ticks.split_at(if end == u64::MAX { remaining_ticks.len() } else { count });
            let product = |ticks: u64| (u128::from(ticks) * u128::from(slope)) >> SHIFT;
            let last = segment_ticks.last().and_then(|last| begin.checked_add(*last));
            let last_nanos =
                last.and_then(|last| i64::try_from(product(last)).ok()).and_then(|more| nanos.checked_add(more));
            if last_nanos.is_some() {
                // The last timestamp is the largest. It fits, so all fit.
                #[expect(clippy::cast_possible_truncation, reason = "the value is not above the last one, which fits")]
                timestamps.extend(
                    segment_ticks.iter().map(|ticks| nanos.wrapping_add_unsigned(product(begin + *ticks) as u64)),
                );
            } else {
                timestamps.extend(segment_ticks.iter().map(|ticks| {
                    let product = product(begin.wrapping_add(*ticks));
                    match i64::try_from(product) {
                        Ok(product) => nanos.saturating_add(product),
                        Err(_) => {
                            saturating_nanos(i128::from(nanos) + i128::try_from(product).unwrap_or(i128::MAX >> 1))
                        }
                    }
                }));
            }
            remaining_ticks = later_ticks;
        }
        if let Some(correction) = &self.correction {
            timestamps.iter_mut().for_each(|timestamp| *timestamp = correction.correct(*timestamp));
        }
    }
}

fn saturating_nanos(nanos: i128) -> i64 {
    i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

fn nominal_slope(hz: u64) -> i128 {
    (NANOS << SHIFT) / i128::from(hz.max(1))
}

fn slope(from: MapKnot, to: MapKnot) -> i128 {
    let ticks = i128::from(to.ticks - from.ticks);
    let nanos = to.nanos - from.nanos;
    // 2^127 ns << 62 would not fit, but no run lasts 2^60 ns.
    nanos.checked_shl(SHIFT).filter(|_| nanos < 1 << 62).map_or(i128::MAX >> 32, |wide| wide / ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::domain::step_ticks::ClockStep;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_decreases(
            hz in 1_000u64..5_000_000_000,
            steps in prop::collection::vec((1u64..1 << 40, 1i64..1 << 40), 1..6),
            mut ticks in prop::collection::vec(0u64..1 << 50, 2..50),
        ) {
            let mut knot = MapKnot { ticks: 1 << 20, nanos: -5 };
            let mut knots = vec![knot];
            for (ticks, nanos) in steps {
                knot = MapKnot { ticks: knot.ticks + ticks, nanos: knot.nanos + i128::from(nanos) };
                knots.push(knot);
            }
            let map = ClockMap::from_knots(hz, &knots);
            for knot in &knots {
                prop_assert_eq!(i128::from(map.global_from_ticks(knot.ticks)), knot.nanos);
                ticks.extend([knot.ticks - 1, knot.ticks, knot.ticks + 1]);
            }
            ticks.sort_unstable();
            let timestamps: Vec<i64> = ticks.iter().map(|&t| map.global_from_ticks(t)).collect();
            prop_assert!(timestamps.is_sorted(), "{timestamps:?}");
        }

        #[test]
        fn timestamps_ignore_clock_steps(
            knots in prop::collection::vec((0u64..1 << 40, 0i64..1 << 40), 0..6),
            mut steps in prop::collection::vec((0u64..1 << 40, -1i64 << 38..1 << 38), 1..5),
            mut ticks in prop::collection::vec(0u64..1 << 41, 2..50),
        ) {
            let mut knots: Vec<MapKnot> =
                knots.into_iter().map(|(ticks, nanos)| MapKnot { ticks, nanos: nanos.into() }).collect();
            knots.sort_unstable_by_key(|knot| knot.ticks);
            steps.sort_unstable();
            let steps: Vec<ClockStep> = steps.into_iter().map(|(ticks, size)| ClockStep { ticks, size }).collect();
            ticks.extend(steps.iter().flat_map(|step| [step.ticks, step.ticks.saturating_sub(1), step.ticks + 1]));
            ticks.sort_unstable();
            let map = ClockMap::from_knots(1_000_000_000, &knots);
            let steps = StepFreeTicks::new(&steps);
            let with_steps = map.with_steps(&steps);
            let timestamps: Vec<i64> = ticks.iter().map(|&t| with_steps.global_from_ticks(t)).collect();
            prop_assert!(timestamps.is_sorted(), "{timestamps:?}");
            for (timestamp, ticks) in timestamps.iter().zip(&ticks) {
                let expected = map.global_from_ticks(steps.without_steps(*ticks));
                prop_assert!((timestamp - expected).abs() <= 1 || expected == i64::MAX, "{timestamp} {expected} {ticks}");
            }
        }

        #[test]
        fn many_timestamps_equal_single_ones(
            hz in 1_000u64..5_000_000_000,
            knots in prop::collection::vec((0u64..1 << 40, -1i64 << 40..1 << 40), 0..6),
            first in prop_oneof![0u64..1 << 41, any::<u64>()],
            steps in prop::collection::vec(0u64..1 << 36, 0..50),
            points in prop::option::of(prop::collection::vec((0i64..1 << 40, -1i64 << 20..1 << 20), 0..4)),
        ) {
            let mut knots: Vec<MapKnot> =
                knots.into_iter().map(|(ticks, nanos)| MapKnot { ticks, nanos: nanos.into() }).collect();
            knots.sort_unstable_by_key(|knot| knot.ticks);
            let point = |(raw, correction)| CorrectionPoint { raw, correction };
            let points: Option<Vec<CorrectionPoint>> = points.map(|points| points.into_iter().map(point).collect());
            let correction = points.map(|points| Arc::new(TimestampCorrection::from_points(&points)));
            let map = ClockMap::from_knots(hz, &knots).with_correction(correction);
            let mut sum = 0;
            let ticks: Vec<u64> = steps.iter().map(|step| { sum += step; sum }).collect();
            prop_assume!(first.checked_add(sum).is_some());
            let expected: Vec<i64> = ticks.iter().map(|ticks| map.global_from_ticks(first + ticks)).collect();
            let mut timestamps = vec![7];
            map.global_from_many(first, &ticks, &mut timestamps);
            prop_assert_eq!(timestamps, expected);
        }

        #[test]
        fn any_tick_is_safe(hz in any::<u64>(), ticks in any::<u64>()) {
            let _ = ClockMap::linear(hz).global_from_ticks(ticks);
        }
    }

    #[test]
    fn a_nanosecond_clock_is_exact() {
        let map = ClockMap::linear(1_000_000_000);
        for ticks in [0, 1, 999_999_999, 1_700_000_000_000_000_000] {
            assert_eq!(map.global_from_ticks(ticks), i64::try_from(ticks).unwrap());
        }
    }

    #[test]
    fn decreasing_knots_are_ignored() {
        let knots =
            [MapKnot { ticks: 0, nanos: 0 }, MapKnot { ticks: 10, nanos: -5 }, MapKnot { ticks: 20, nanos: 20 }];
        let map = ClockMap::from_knots(1_000_000_000, &knots);
        assert_eq!(map.global_from_ticks(10), 10);
    }
}
