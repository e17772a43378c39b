//! A clock's departure from its coarse line: piecewise linear, in integers, and never decreasing.

use std::sync::Arc;

/// Fraction bits of a segment's slope.
const SHIFT: u32 = 40;
/// How far the slope of a segment may be from 1: one part in so many.
const MAX_SLOPE_DIVISOR: i64 = 100;

/// A map from coarse dates to better ones: the identity plus corrections at knots, linear between them and constant outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bend {
    /// Where the clock was set: what is added from there on, and the date before which nothing falls then.
    sets: Vec<Set>,
    knots: Vec<Knot>,
    /// What dates go through before.
    base: Option<Arc<Bend>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Set {
    coarse: i64,
    more: i64,
    least: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Knot {
    coarse: i64,
    /// What is added there.
    more: i64,
    /// What is added per nanosecond after it, times 2^40.
    slope: i64,
}

impl Bend {
    /// The bend with these corrections, by coarse date. A correction is bounded so that dates still grow.
    pub(crate) fn through(points: &[(i64, i64)]) -> Self {
        Self::within(points, |distance| (-distance / MAX_SLOPE_DIVISOR, distance / MAX_SLOPE_DIVISOR))
    }

    /// The same for corrections of any size, as those of a line that was quite wrong.
    pub(crate) fn through_far(points: &[(i64, i64)]) -> Self {
        Self::within(points, |distance| (-distance, i64::MAX))
    }

    /// `allowed` tells for a distance by how much a correction may change over it.
    fn within(points: &[(i64, i64)], allowed: impl Fn(i64) -> (i64, i64)) -> Self {
        let mut knots: Vec<Knot> = Vec::new();
        for &(coarse, more) in points {
            let Some(last) = knots.last_mut() else {
                knots.push(Knot { coarse, more, slope: 0 });
                continue;
            };
            let distance = coarse.saturating_sub(last.coarse);
            if distance <= 0 {
                continue;
            }
            let (least, most) = allowed(distance);
            let step = more.saturating_sub(last.more).clamp(least, most);
            let slope = (i128::from(step) << SHIFT) / i128::from(distance);
            last.slope = i64::try_from(slope).unwrap_or(0);
            let more = last.more.saturating_add(step);
            knots.push(Knot { coarse, more, slope: 0 });
        }
        Self { sets: Vec::new(), knots, base: None }
    }

    /// The same of dates that go through another one before.
    pub(crate) fn over(mut self, base: Option<Arc<Self>>) -> Self {
        self.base = base;
        self
    }

    /// The same after these corrections of a clock that was set: from a coarse date on, so much is added. By coarse date.
    pub(crate) fn after_sets(mut self, sets: &[(i64, i64)]) -> Self {
        for &(coarse, more) in sets {
            let least = self.unset(coarse);
            let before = self.sets.last().map_or(0, |set| set.more);
            self.sets.push(Set { coarse, more: before + more, least });
        }
        self
    }

    /// The coarse date of a clock that was never set.
    fn unset(&self, coarse: i64) -> i64 {
        let set = self.sets.iter().rev().find(|set| set.coarse <= coarse);
        set.map_or(coarse, |set| coarse.saturating_add(set.more).max(set.least))
    }

    /// Adds to all dates.
    pub(crate) fn shift(&mut self, nanos: i64) {
        if self.knots.is_empty() {
            self.knots.push(Knot { coarse: 0, more: 0, slope: 0 });
        }
        for knot in &mut self.knots {
            knot.more += nanos;
        }
    }

    /// The better date. O(log knots).
    pub(crate) fn date(&self, coarse: i64) -> i64 {
        let coarse = self.base.as_ref().map_or(coarse, |base| base.date(coarse));
        let coarse = if self.sets.is_empty() { coarse } else { self.unset(coarse) };
        let after = self.knots.partition_point(|knot| knot.coarse <= coarse);
        let Some(knot) = after.checked_sub(1).map(|at| &self.knots[at]) else {
            return coarse.saturating_add(self.knots.first().map_or(0, |first| first.more));
        };
        let distance = i128::from(coarse) - i128::from(knot.coarse);
        // Rounded down; with |slope| < 1 the sum never decreases, and rounding never passes the next knot.
        let more = (distance * i128::from(knot.slope)) >> SHIFT;
        let next = self.knots.get(after).map_or(i64::MAX, |next| next.coarse.saturating_add(next.more));
        coarse.saturating_add(knot.more).saturating_add(i64::try_from(more).unwrap_or(0)).min(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_decreases_whatever_the_knots(
            points in prop::collection::vec((0i64..1 << 40, -1i64 << 30..1 << 30), 0..20),
            mut asked in prop::collection::vec(-1000i64..1 << 41, 0..100),
            shift in -1000i64..1000,
            mut sets in prop::collection::vec((0i64..1 << 40, -1i64 << 38..1 << 38), 0..4),
        ) {
            sets.sort_unstable();
            let mut points = points;
            points.sort_unstable();
            let mut bend = Bend::through(&points).after_sets(&sets);
            bend.shift(shift);
            for (coarse, _) in points.iter().chain(&sets) {
                asked.extend([coarse - 1, *coarse, coarse + 1]);
            }
            asked.sort_unstable();
            let dates: Vec<i64> = asked.iter().map(|&coarse| bend.date(coarse)).collect();
            prop_assert!(dates.is_sorted(), "{dates:?}");
        }

        #[test]
        fn goes_through_gentle_knots(steps in prop::collection::vec((1i64 << 20..1 << 40, -1000i64..1000), 1..20)) {
            let (mut coarse, mut more) = (0, 0);
            let mut points = vec![(0, 0)];
            for (distance, step) in steps {
                coarse += distance;
                more += step;
                points.push((coarse, more));
            }
            let bend = Bend::through(&points);
            for (coarse, more) in points {
                prop_assert_eq!(bend.date(coarse), coarse + more);
            }
        }
    }
}
