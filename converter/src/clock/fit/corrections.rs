//! Corrections of raw timestamps, and their composition from clock steps, lines and graph fits.

use std::sync::Arc;

use crate::clock::correction::{CorrectionPoint, TimestampCorrection};
use crate::clock::envelope::DomainJoin;
use crate::clock::graph::interpolate;
use crate::clock::min_delays::RunSpan;

/// Minimum length of a run in the computation of knots, nanoseconds.
const SHORTEST: f64 = 1e6;
/// Maps from raw timestamps to corrected ones, by domain.
pub(crate) type DomainCorrections = Vec<Option<Arc<TimestampCorrection>>>;

/// The corrected timestamp of a raw one.
pub(crate) fn apply_correction(corrections: &DomainCorrections, domain: usize, raw: i64) -> i64 {
    corrections[domain].as_ref().map_or(raw, |correction| correction.correct(raw))
}

/// The corrections of all domains: `base`, clock steps, line and graph fit. The reference and other
/// roots have only the first two. Lines refer to `base_span`, graph fits to `span`.
pub(crate) fn corrections_of(
    joins: &[Option<DomainJoin>],
    rounds: &[Vec<Vec<f64>>],
    steps: &[Vec<CorrectionPoint>],
    base: &DomainCorrections,
    base_span: RunSpan,
    span: RunSpan,
) -> DomainCorrections {
    let length = span.nanos().max(SHORTEST);
    // The knots of all rounds, and two far outside that continue the line.
    let mut places = vec![-0.25 - 1e9 / length, 1.25 + 1e9 / length, 0.0, 1.0];
    for round in rounds {
        let knots = round.first().map_or(2, Vec::len);
        places.extend((0..knots).map(|knot| knot as f64 / (knots as f64 - 1.0)));
    }
    places.sort_by(f64::total_cmp);
    places.dedup();
    let between = starts_between(base_span, span);
    let correction = |(domain, joined): (usize, &Option<DomainJoin>)| {
        // Clock steps are given by raw timestamps in the log.
        let base = base[domain].clone();
        let after_base = |step: &CorrectionPoint| CorrectionPoint {
            raw: base.as_ref().map_or(step.raw, |base| base.correct(step.raw)),
            correction: step.correction,
        };
        let steps: Vec<CorrectionPoint> = steps[domain].iter().map(after_base).collect();
        let Some(line) = joined.as_ref().filter(|joined| joined.hops > 0).map(|joined| joined.line) else {
            if steps.is_empty() {
                return base;
            }
            return Some(Arc::new(TimestampCorrection::default().after_steps(&steps).with_base(base)));
        };
        let point = |&fraction: &f64| {
            let from = ((fraction * length + between - line.offset) / (1.0 + line.slope)).round();
            let offset: f64 = rounds.iter().map(|round| interpolate(&round[domain], fraction)).sum();
            let added = line.offset + line.slope * from + offset;
            #[expect(clippy::cast_possible_truncation, reason = "rounded; within a run")]
            CorrectionPoint { raw: base_span.start.saturating_add(from as i64), correction: added.round() as i64 }
        };
        let points: Vec<CorrectionPoint> = places.iter().map(point).collect();
        Some(Arc::new(TimestampCorrection::from_points(&points).after_steps(&steps).with_base(base)))
    };
    joins.iter().enumerate().map(correction).collect()
}

/// The time from the start of a span to that of a later one, nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "differences within a run are far below 2^53")]
pub(crate) fn starts_between(earlier: RunSpan, later: RunSpan) -> f64 {
    (i128::from(later.start) - i128::from(earlier.start)) as f64
}
