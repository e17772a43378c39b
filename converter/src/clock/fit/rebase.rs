//! Corrections of raw timestamps for a smaller set of samples.
//!
//! Raw timestamps are those before the fit to messages. They already include the correction by all
//! samples, and the passes that read streams and log links use them. If some samples turn out to be
//! wrong, the timestamps that the other samples give are a function of the raw ones.

use std::sync::Arc;

use super::corrections::DomainCorrections;
use crate::clock::burst::SyncBurst;
use crate::clock::domain::tick_map::{ClockMap, MapKnot};
use crate::clock::samples::burst_offsets;
use crate::clock::{ClockDomain, RunClocks};

/// Clocks that a smaller set of samples corrects.
pub(crate) struct RebasedClocks {
    pub(crate) corrections: DomainCorrections,
    /// The number of bursts of each domain.
    pub(crate) bursts: Vec<usize>,
}

/// The corrections from raw timestamps to those that `bursts` give. A clock without bursts runs at
/// its nominal rate. It keeps its raw timestamp at the middle of its former samples.
pub(crate) fn rebase(clocks: &RunClocks, bursts: &[SyncBurst]) -> RebasedClocks {
    let fit = burst_offsets::fit(&clocks.domains, bursts);
    let base = |(number, domain): (usize, &ClockDomain)| {
        if number == 0 || domain.bursts == 0 {
            return None;
        }
        let knots: Vec<MapKnot> = fit.offsets[number].iter().map(|offset| fit.knot(number, offset)).collect();
        let map = if knots.is_empty() { straight_map(domain) } else { ClockMap::from_knots(domain.hz, &knots) };
        Some(Arc::new(domain.map.correction_to(&map.with_steps(&domain.observed_steps), domain.hz)))
    };
    let corrections = clocks.domains.iter().enumerate().map(base).collect();
    RebasedClocks { corrections, bursts: fit.offsets.iter().map(Vec::len).collect() }
}

/// The corrections from raw timestamps to a straight line through the first and the last burst, for
/// clocks with at least three bursts. Raw timestamps are linear between bursts. Their bends at
/// bursts are not bends of the clock, and the fit, which assumes smooth clocks, would have to undo
/// each bend.
pub(crate) fn straightening_corrections(clocks: &RunClocks) -> DomainCorrections {
    let base = |domain: &ClockDomain| {
        let (Some(&first), Some(&last)) = (domain.knots.first(), domain.knots.last()) else { return None };
        if domain.knots.len() < 3 {
            return None;
        }
        let mut map = ClockMap::from_knots(domain.hz, &[first, last]).with_steps(&domain.observed_steps);
        let knot = domain.map.middle_knot();
        let before = ClockMap::from_knots(domain.hz, &domain.knots).with_steps(&domain.observed_steps);
        map.shift(domain.map.wide_from_ticks(knot) - before.wide_from_ticks(knot));
        Some(Arc::new(domain.map.correction_to(&map, domain.hz)))
    };
    clocks.domains.iter().map(base).collect()
}

fn straight_map(domain: &ClockDomain) -> ClockMap {
    let mut map = ClockMap::linear(domain.hz);
    let middle = domain.map.middle_knot();
    let expected = domain.observed_steps.without_steps(middle);
    map.shift(domain.map.wide_from_ticks(middle) - map.wide_from_ticks(expected));
    map
}
