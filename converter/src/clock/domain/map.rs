//! The map from ticks to nanoseconds: integers only, and never decreasing.

use std::sync::Arc;

use super::step_ticks::Sets;
use crate::clock::correction::Bend;
use tumit_paje::time::{GlobalNanos, LocalTicks};

/// Fraction bits of a segment's slope.
const SHIFT: u32 = 62;
/// Nanoseconds in a second.
const NANOS: i128 = 1_000_000_000;
/// How far the slope outside the knots may be from the nominal one: 500 parts per million. A slope from two knots that
/// are close together is noise.
const MAX_DRIFT_DIVISOR: i128 = 2000;

/// From the ticks of one clock to nanoseconds on the run's time line.
///
/// Piecewise linear. In the segment that begins at knot k the date is `G[k] + ((l - L[k]) * M[k] >> 62)`, where `M[k]` is
/// rounded down: the floor of an increasing function that does not pass `G[k+1]` before its end. Hence it never decreases,
/// across segments too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockMap {
    segments: Vec<Segment>,
    /// What is added to the coarse dates that the segments give.
    bend: Option<Arc<Bend>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    ticks: u64,
    nanos: i128,
    slope: i128,
}

impl Segment {
    /// The date of a tick, before the segment or in it.
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
pub(crate) struct Knot {
    pub(crate) ticks: u64,
    pub(crate) nanos: i128,
}

impl ClockMap {
    /// The map of a clock with this rate that started at 0.
    #[must_use]
    pub fn linear(hz: u64) -> Self {
        Self { segments: vec![Segment { ticks: 0, nanos: 0, slope: nominal(hz) }], bend: None }
    }

    /// The map through these knots, in order of ticks. Outside them it goes on with the slope of its first and last
    /// segment. A knot that would turn time back is left out.
    pub(crate) fn through(hz: u64, knots: &[Knot]) -> Self {
        let mut good: Vec<Knot> = Vec::new();
        for knot in knots {
            if good.last().is_none_or(|last| knot.ticks > last.ticks && knot.nanos > last.nanos) {
                good.push(*knot);
            }
        }
        let Some((&first, &last)) = good.first().zip(good.last()) else { return Self::linear(hz) };
        let nominal = nominal(hz);
        let bounded =
            |slope: i128| slope.clamp(nominal - nominal / MAX_DRIFT_DIVISOR, nominal + nominal / MAX_DRIFT_DIVISOR);
        let between: Vec<Segment> = good
            .windows(2)
            .map(|pair| Segment { ticks: pair[0].ticks, nanos: pair[0].nanos, slope: slope(pair[0], pair[1]) })
            .collect();
        let before = between.first().map_or(nominal, |segment| bounded(segment.slope));
        let after = between.last().map_or(nominal, |segment| bounded(segment.slope));
        let mut segments = vec![Segment { ticks: first.ticks, nanos: first.nanos, slope: before }];
        segments.extend(between);
        segments.push(Segment { ticks: last.ticks, nanos: last.nanos, slope: after });
        Self { segments, bend: None }
    }

    /// The map of a clock that was set, from that of what it would have shown.
    pub(crate) fn after(&self, sets: &Sets) -> Self {
        let Some(first) = sets.regions().first() else { return self.clone() };
        let mut segments: Vec<Segment> =
            self.segments.iter().copied().filter(|next| next.ticks < first.ticks).collect();
        if segments.is_empty() {
            // What serves all that lies before it is needed from the beginning.
            let before = self.segments[0];
            segments.push(Segment { ticks: 0, nanos: before.nanos_at(0), slope: before.slope });
        }
        let ends = sets.regions()[1..].iter().map(|next| next.ticks).chain([u64::MAX]);
        for (region, end) in sets.regions().iter().zip(ends) {
            let mut push = |ticks: u64, nanos: i128, slope: i128| {
                // Of several that begin at one tick the last one serves.
                segments.retain(|segment| segment.ticks < ticks);
                segments.push(Segment { ticks, nanos, slope });
            };
            let shown = |unset: u64| unset.saturating_add_signed(region.more.saturating_neg());
            // As long as it stands still.
            let moves = shown(region.least).max(region.ticks);
            let begin = sets.unset(region.ticks);
            let serves = &self.segments[self.segments[1..].partition_point(|next| next.ticks <= begin)];
            let nanos = serves.nanos_at(begin);
            if moves > region.ticks {
                push(region.ticks, nanos, 0);
            }
            if moves < end {
                push(moves, nanos, serves.slope);
            }
            for next in self.segments.iter().filter(|next| next.ticks > begin) {
                let ticks = shown(next.ticks);
                if ticks > moves && ticks < end {
                    push(ticks, next.nanos, next.slope);
                }
            }
        }
        Self { segments, bend: self.bend.clone() }
    }

    /// The same map, bent.
    pub(crate) fn bent(&self, bend: Option<Arc<Bend>>) -> Self {
        Self { segments: self.segments.clone(), bend }
    }

    /// What makes this map's dates, before they are bent, those of another map of the same clock. `hz` is the clock's rate.
    pub(crate) fn to(&self, other: &Self, hz: u64) -> Bend {
        /// Dates so far from all knots are dated like those at the knots, seconds.
        const FAR: u64 = 100_000;
        let knots = self.segments.iter().chain(&other.segments).map(|segment| segment.ticks);
        // What begins with the clock itself is no knot: over so long a way, slopes would be rough.
        let mut ticks: Vec<u64> = knots.filter(|ticks| *ticks > 0).collect();
        ticks.sort_unstable();
        let far = hz.saturating_mul(FAR);
        let ends =
            [ticks.first().map(|first| first.saturating_sub(far)), ticks.last().map(|last| last.saturating_add(far))];
        ticks.extend(ends.into_iter().flatten());
        ticks.sort_unstable();
        let point = |ticks: u64| {
            let (from, to) = (self.straight(ticks), other.straight(ticks));
            (from, to.saturating_sub(from))
        };
        Bend::through_far(&ticks.into_iter().map(point).collect::<Vec<(i64, i64)>>())
    }

    /// Where it has a knot, ticks: its middle one.
    pub(crate) fn middle_knot(&self) -> u64 {
        self.segments[self.segments.len() / 2].ticks
    }

    /// Moves all dates.
    pub(crate) fn shift(&mut self, nanos: i128) {
        for segment in &mut self.segments {
            segment.nanos += nanos;
        }
    }

    /// The date of a tick.
    #[must_use]
    pub fn global_from_local(&self, ticks: LocalTicks) -> GlobalNanos {
        GlobalNanos(self.global_from_ticks(ticks.0))
    }

    pub(crate) fn global_from_ticks(&self, ticks: u64) -> i64 {
        let nanos = self.straight(ticks);
        self.bend.as_ref().map_or(nanos, |bend| bend.date(nanos))
    }

    /// The date of a tick, also where it is beyond the dates there are: before they are counted from the beginning of the run.
    pub(crate) fn wide_from_ticks(&self, ticks: u64) -> i128 {
        if self.bend.is_some() {
            return self.global_from_ticks(ticks).into();
        }
        let after = self.segments[1..].partition_point(|next| next.ticks <= ticks);
        self.segments[after].nanos_at(ticks)
    }

    /// The date of a tick before it is bent.
    fn straight(&self, ticks: u64) -> i64 {
        // The first segment also serves all that lies before it.
        let after = self.segments[1..].partition_point(|next| next.ticks <= ticks);
        let segment = &self.segments[after];
        // Nearly always: what 64 bits hold multiplies faster.
        if let (Some(distance), Ok(slope)) = (ticks.checked_sub(segment.ticks), u64::try_from(segment.slope)) {
            let product = (u128::from(distance) * u128::from(slope)) >> SHIFT;
            let nanos = segment.nanos.saturating_add(i128::try_from(product).unwrap_or(i128::MAX));
            return narrow(nanos);
        }
        narrow(segment.nanos_at(ticks))
    }

    /// Fills in the dates of ticks that many after `first`, which never decrease. The segment is looked for where it changes only.
    pub(crate) fn global_from_many(&self, first: u64, ticks: &[u64], dates: &mut Vec<i64>) {
        dates.clear();
        dates.reserve(ticks.len());
        let mut rest = ticks;
        while let Some(next) = rest.first() {
            let after = self.segments[1..].partition_point(|segment| segment.ticks <= first.wrapping_add(*next));
            let segment = &self.segments[after];
            let end = self.segments.get(after + 1).map_or(u64::MAX, |segment| segment.ticks);
            let plain = (first.checked_sub(segment.ticks), u64::try_from(segment.slope), i64::try_from(segment.nanos));
            let (Some(begin), Ok(slope), Ok(nanos)) = plain else {
                dates.push(self.straight(first.wrapping_add(*next)));
                rest = &rest[1..];
                continue;
            };
            let within = rest.partition_point(|ticks| first.wrapping_add(*ticks) < end);
            let (these, others) = rest.split_at(if end == u64::MAX { rest.len() } else { within });
            let product = |ticks: u64| (u128::from(ticks) * u128::from(slope)) >> SHIFT;
            let last = these.last().and_then(|last| begin.checked_add(*last));
            let most = last.and_then(|last| i64::try_from(product(last)).ok()).and_then(|most| nanos.checked_add(most));
            if most.is_some() {
                // What is not later fits, too.
                #[expect(clippy::cast_possible_truncation, reason = "it is not above the last one, which fits")]
                dates.extend(these.iter().map(|ticks| nanos.wrapping_add_unsigned(product(begin + *ticks) as u64)));
            } else {
                dates.extend(these.iter().map(|ticks| {
                    let product = product(begin.wrapping_add(*ticks));
                    match i64::try_from(product) {
                        Ok(product) => nanos.saturating_add(product),
                        Err(_) => narrow(i128::from(nanos) + i128::try_from(product).unwrap_or(i128::MAX >> 1)),
                    }
                }));
            }
            rest = others;
        }
        if let Some(bend) = &self.bend {
            dates.iter_mut().for_each(|date| *date = bend.date(*date));
        }
    }
}

fn narrow(nanos: i128) -> i64 {
    i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

fn nominal(hz: u64) -> i128 {
    (NANOS << SHIFT) / i128::from(hz.max(1))
}

fn slope(from: Knot, to: Knot) -> i128 {
    let ticks = i128::from(to.ticks - from.ticks);
    let nanos = to.nanos - from.nanos;
    // 2^127 ns << 62 would not fit, but no run lasts 2^60 ns.
    nanos.checked_shl(SHIFT).filter(|_| nanos < 1 << 62).map_or(i128::MAX >> 32, |wide| wide / ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::domain::step_ticks::Set;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_decreases(
            hz in 1_000u64..5_000_000_000,
            steps in prop::collection::vec((1u64..1 << 40, 1i64..1 << 40), 1..6),
            mut ticks in prop::collection::vec(0u64..1 << 50, 2..50),
        ) {
            let mut knot = Knot { ticks: 1 << 20, nanos: -5 };
            let mut knots = vec![knot];
            for (l, g) in steps {
                knot = Knot { ticks: knot.ticks + l, nanos: knot.nanos + i128::from(g) };
                knots.push(knot);
            }
            let map = ClockMap::through(hz, &knots);
            for knot in &knots {
                prop_assert_eq!(i128::from(map.global_from_ticks(knot.ticks)), knot.nanos);
                ticks.extend([knot.ticks - 1, knot.ticks, knot.ticks + 1]);
            }
            ticks.sort_unstable();
            let dates: Vec<i64> = ticks.iter().map(|&t| map.global_from_ticks(t)).collect();
            prop_assert!(dates.is_sorted(), "{dates:?}");
        }

        #[test]
        fn a_clock_that_was_set_is_dated_as_if_it_had_not_been(
            knots in prop::collection::vec((0u64..1 << 40, 0i64..1 << 40), 0..6),
            mut sets in prop::collection::vec((0u64..1 << 40, -1i64 << 38..1 << 38), 1..5),
            mut ticks in prop::collection::vec(0u64..1 << 41, 2..50),
        ) {
            let mut knots: Vec<Knot> =
                knots.into_iter().map(|(ticks, nanos)| Knot { ticks, nanos: nanos.into() }).collect();
            knots.sort_unstable_by_key(|knot| knot.ticks);
            sets.sort_unstable();
            let sets: Vec<Set> = sets.into_iter().map(|(ticks, by)| Set { ticks, by }).collect();
            ticks.extend(sets.iter().flat_map(|set| [set.ticks, set.ticks.saturating_sub(1), set.ticks + 1]));
            ticks.sort_unstable();
            let map = ClockMap::through(1_000_000_000, &knots);
            let sets = Sets::new(&sets);
            let set = map.after(&sets);
            let dates: Vec<i64> = ticks.iter().map(|&t| set.global_from_ticks(t)).collect();
            prop_assert!(dates.is_sorted(), "{dates:?}");
            for (date, ticks) in dates.iter().zip(&ticks) {
                let unset = map.global_from_ticks(sets.unset(*ticks));
                prop_assert!((date - unset).abs() <= 1 || unset == i64::MAX, "{date} {unset} {ticks}");
            }
        }

        #[test]
        fn many_dates_are_those_of_each(
            hz in 1_000u64..5_000_000_000,
            knots in prop::collection::vec((0u64..1 << 40, -1i64 << 40..1 << 40), 0..6),
            first in prop_oneof![0u64..1 << 41, any::<u64>()],
            steps in prop::collection::vec(0u64..1 << 36, 0..50),
            bend in prop::option::of(prop::collection::vec((0i64..1 << 40, -1i64 << 20..1 << 20), 0..4)),
        ) {
            let mut knots: Vec<Knot> =
                knots.into_iter().map(|(ticks, nanos)| Knot { ticks, nanos: nanos.into() }).collect();
            knots.sort_unstable_by_key(|knot| knot.ticks);
            let map = ClockMap::through(hz, &knots).bent(bend.map(|points| Arc::new(Bend::through(&points))));
            let mut sum = 0;
            let ticks: Vec<u64> = steps.iter().map(|step| { sum += step; sum }).collect();
            prop_assume!(first.checked_add(sum).is_some());
            let expected: Vec<i64> = ticks.iter().map(|ticks| map.global_from_ticks(first + ticks)).collect();
            let mut dates = vec![7];
            map.global_from_many(first, &ticks, &mut dates);
            prop_assert_eq!(dates, expected);
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
    fn knots_that_turn_back_are_left_out() {
        let knots = [Knot { ticks: 0, nanos: 0 }, Knot { ticks: 10, nanos: -5 }, Knot { ticks: 20, nanos: 20 }];
        let map = ClockMap::through(1_000_000_000, &knots);
        assert_eq!(map.global_from_ticks(10), 10);
    }
}
