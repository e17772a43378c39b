//! The deviation of a clock from its raw line: piecewise linear, in integers, and never decreasing.

use std::ops::RangeInclusive;
use std::sync::Arc;

/// Fraction bits of a segment's slope.
const SHIFT: u32 = 40;
/// The slope of a segment differs from 1 by at most one part in `MAX_SLOPE_DIVISOR`.
const MAX_SLOPE_DIVISOR: i64 = 100;

/// A raw timestamp and the correction that is added to it. The correction of a removed clock step
/// is added from this timestamp on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CorrectionPoint {
    pub(crate) raw: i64,
    /// Nanoseconds.
    pub(crate) correction: i64,
}

/// A map from raw timestamps to corrected ones. It adds corrections, which are linear between knots
/// and constant outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimestampCorrection {
    /// The clock steps: from `raw` on, `correction` is added, and the result is at least
    /// `min_result`.
    steps: Vec<RemovedStep>,
    knots: Vec<CorrectionKnot>,
    /// The map that is applied before this one.
    base: Option<Arc<TimestampCorrection>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RemovedStep {
    raw: i64,
    correction: i64,
    min_result: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CorrectionKnot {
    raw: i64,
    /// The correction at the knot, nanoseconds.
    correction: i64,
    /// The change of the correction per nanosecond after the knot, times 2^40.
    slope: i64,
}

impl TimestampCorrection {
    /// The map through these points. Corrections are bounded so that timestamps still increase.
    pub(crate) fn from_points(points: &[CorrectionPoint]) -> Self {
        Self::with_slopes(points, |distance| -distance / MAX_SLOPE_DIVISOR..=distance / MAX_SLOPE_DIVISOR)
    }

    /// The same for corrections of any size, such as those of a line with a large error.
    pub(crate) fn through_far(points: &[CorrectionPoint]) -> Self {
        Self::with_slopes(points, |distance| -distance..=i64::MAX)
    }

    /// `slope_range` gives the bounds on the change of a correction over a distance.
    fn with_slopes(points: &[CorrectionPoint], slope_range: impl Fn(i64) -> RangeInclusive<i64>) -> Self {
        let mut knots: Vec<CorrectionKnot> = Vec::new();
        for &CorrectionPoint { raw, correction } in points {
            let Some(last) = knots.last_mut() else {
                knots.push(CorrectionKnot { raw, correction, slope: 0 });
                continue;
            };
            let distance = raw.saturating_sub(last.raw);
            if distance <= 0 {
                continue;
            }
            let slope_range = slope_range(distance);
            let step = correction.saturating_sub(last.correction).clamp(*slope_range.start(), *slope_range.end());
            let slope = (i128::from(step) << SHIFT) / i128::from(distance);
            last.slope = i64::try_from(slope).unwrap_or(0);
            let added = last.correction.saturating_add(step);
            knots.push(CorrectionKnot { raw, correction: added, slope: 0 });
        }
        Self { steps: Vec::new(), knots, base: None }
    }

    /// The same map, applied after `base`.
    pub(crate) fn with_base(mut self, base: Option<Arc<Self>>) -> Self {
        self.base = base;
        self
    }

    /// The same map after the removal of clock steps. In order of time.
    pub(crate) fn after_steps(mut self, steps: &[CorrectionPoint]) -> Self {
        for &CorrectionPoint { raw, correction } in steps {
            let min_result = self.without_steps(raw);
            let before = self.steps.last().map_or(0, |step| step.correction);
            self.steps.push(RemovedStep { raw, correction: before + correction, min_result });
        }
        self
    }

    /// The raw timestamp that the clock would have without steps.
    fn without_steps(&self, raw: i64) -> i64 {
        let step = self.steps.iter().rev().find(|step| step.raw <= raw);
        step.map_or(raw, |step| raw.saturating_add(step.correction).max(step.min_result))
    }

    /// Adds to all timestamps.
    pub(crate) fn shift(&mut self, nanos: i64) {
        if self.knots.is_empty() {
            self.knots.push(CorrectionKnot { raw: 0, correction: 0, slope: 0 });
        }
        for knot in &mut self.knots {
            knot.correction += nanos;
        }
    }

    /// The corrected timestamp. O(log knots).
    pub(crate) fn correct(&self, raw: i64) -> i64 {
        let raw = self.base.as_ref().map_or(raw, |base| base.correct(raw));
        let raw = if self.steps.is_empty() { raw } else { self.without_steps(raw) };
        let after = self.knots.partition_point(|knot| knot.raw <= raw);
        let Some(knot) = after.checked_sub(1).map(|position| &self.knots[position]) else {
            return raw.saturating_add(self.knots.first().map_or(0, |first| first.correction));
        };
        let distance = i128::from(raw) - i128::from(knot.raw);
        // The product is rounded down. With |slope| < 1 the sum never decreases. The result never
        // passes the next knot.
        let added = (distance * i128::from(knot.slope)) >> SHIFT;
        let next = self.knots.get(after).map_or(i64::MAX, |next| next.raw.saturating_add(next.correction));
        raw.saturating_add(knot.correction).saturating_add(i64::try_from(added).unwrap_or(0)).min(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point((raw, correction): (i64, i64)) -> CorrectionPoint {
        CorrectionPoint { raw, correction }
    }

    proptest! {
        #[test]
        fn a_correction_never_decreases_for_any_knots(
            points in prop::collection::vec((0i64..1 << 40, -1i64 << 30..1 << 30).prop_map(point), 0..20),
            mut timestamps in prop::collection::vec(-1000i64..1 << 41, 0..100),
            shift in -1000i64..1000,
            mut steps in prop::collection::vec((0i64..1 << 40, -1i64 << 38..1 << 38).prop_map(point), 0..4),
        ) {
            steps.sort_unstable();
            let mut points = points;
            points.sort_unstable();
            let mut correction = TimestampCorrection::from_points(&points).after_steps(&steps);
            correction.shift(shift);
            for CorrectionPoint { raw, .. } in points.iter().chain(&steps) {
                timestamps.extend([raw - 1, *raw, raw + 1]);
            }
            timestamps.sort_unstable();
            let corrected: Vec<i64> = timestamps.iter().map(|&raw| correction.correct(raw)).collect();
            prop_assert!(corrected.is_sorted(), "{corrected:?}");
        }

        #[test]
        fn goes_through_gentle_knots(steps in prop::collection::vec((1i64 << 20..1 << 40, -1000i64..1000), 1..20)) {
            let mut last = CorrectionPoint::default();
            let mut points = vec![last];
            for (distance, step) in steps {
                last = CorrectionPoint { raw: last.raw + distance, correction: last.correction + step };
                points.push(last);
            }
            let map = TimestampCorrection::from_points(&points);
            for CorrectionPoint { raw, correction } in points {
                prop_assert_eq!(map.correct(raw), raw + correction);
            }
        }
    }
}
