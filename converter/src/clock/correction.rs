//! The departure of a clock from its raw line: piecewise linear, in integers, and never decreasing.

use std::sync::Arc;

/// Fraction bits of a segment's slope.
const SHIFT: u32 = 40;
/// The slope of a segment differs from 1 by at most one part in `MAX_SLOPE_DIVISOR`.
const MAX_SLOPE_DIVISOR: i64 = 100;

/// A map from raw timestamps to better ones. It adds corrections, which are linear between knots
/// and constant outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimestampCorrection {
    /// The clock steps: from `coarse` on, `more` is added, and the result is at least `least`.
    sets: Vec<CorrectionKnots>,
    knots: Vec<CorrectionKnot>,
    /// The map that is applied before this one.
    base: Option<Arc<TimestampCorrection>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CorrectionKnots {
    coarse: i64,
    more: i64,
    least: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CorrectionKnot {
    coarse: i64,
    /// The correction at the knot, nanoseconds.
    more: i64,
    /// The change of the correction per nanosecond after the knot, times 2^40.
    slope: i64,
}

impl TimestampCorrection {
    /// The map with these pairs of raw timestamp and correction. Corrections are bounded so that
    /// timestamps still increase.
    pub(crate) fn from_points(points: &[(i64, i64)]) -> Self {
        Self::within(points, |distance| (-distance / MAX_SLOPE_DIVISOR, distance / MAX_SLOPE_DIVISOR))
    }

    /// The same for corrections of any size, such as those of a line with a large error.
    pub(crate) fn through_far(points: &[(i64, i64)]) -> Self {
        Self::within(points, |distance| (-distance, i64::MAX))
    }

    /// `allowed` gives the bounds on the change of a correction over a distance.
    fn within(points: &[(i64, i64)], allowed: impl Fn(i64) -> (i64, i64)) -> Self {
        let mut knots: Vec<CorrectionKnot> = Vec::new();
        for &(coarse, more) in points {
            let Some(last) = knots.last_mut() else {
                knots.push(CorrectionKnot { coarse, more, slope: 0 });
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
            knots.push(CorrectionKnot { coarse, more, slope: 0 });
        }
        Self { sets: Vec::new(), knots, base: None }
    }

    /// The same map, applied after `base`.
    pub(crate) fn after(mut self, base: Option<Arc<Self>>) -> Self {
        self.base = base;
        self
    }

    /// The same map after the removal of clock steps. A step is a raw timestamp and a correction
    /// that is added from there on. In order of time.
    pub(crate) fn after_sets(mut self, sets: &[(i64, i64)]) -> Self {
        for &(coarse, more) in sets {
            let least = self.without_steps(coarse);
            let before = self.sets.last().map_or(0, |set| set.more);
            self.sets.push(CorrectionKnots { coarse, more: before + more, least });
        }
        self
    }

    /// The raw timestamp that the clock would have without steps.
    fn without_steps(&self, coarse: i64) -> i64 {
        let set = self.sets.iter().rev().find(|set| set.coarse <= coarse);
        set.map_or(coarse, |set| coarse.saturating_add(set.more).max(set.least))
    }

    /// Adds to all timestamps.
    pub(crate) fn shift(&mut self, nanos: i64) {
        if self.knots.is_empty() {
            self.knots.push(CorrectionKnot { coarse: 0, more: 0, slope: 0 });
        }
        for knot in &mut self.knots {
            knot.more += nanos;
        }
    }

    /// The better timestamp. O(log knots).
    pub(crate) fn date(&self, coarse: i64) -> i64 {
        let coarse = self.base.as_ref().map_or(coarse, |base| base.date(coarse));
        let coarse = if self.sets.is_empty() { coarse } else { self.without_steps(coarse) };
        let after = self.knots.partition_point(|knot| knot.coarse <= coarse);
        let Some(knot) = after.checked_sub(1).map(|at| &self.knots[at]) else {
            return coarse.saturating_add(self.knots.first().map_or(0, |first| first.more));
        };
        let distance = i128::from(coarse) - i128::from(knot.coarse);
        // The product is rounded down. With |slope| < 1 the sum never decreases. The result never
        // passes the next knot.
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
            let mut bend = TimestampCorrection::from_points(&points).after_sets(&sets);
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
            let bend = TimestampCorrection::from_points(&points);
            for (coarse, more) in points {
                prop_assert_eq!(bend.date(coarse), coarse + more);
            }
        }
    }
}
