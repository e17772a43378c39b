//! What coarse dates would have been by fewer samples.
//!
//! Coarse dates are made by all samples, and streams were read and links were logged by them. When some of the samples turn out to be wrong, the
//! dates that the others make are a function of the coarse ones.

use std::sync::Arc;

use super::Bends;
use crate::clock::burst::Burst;
use crate::clock::domain::map::{ClockMap, Knot};
use crate::clock::samples::burst_offsets;
use crate::clock::{Clocks, Domain};

/// What makes the coarse dates those by these samples, and how many bursts each domain has. Without any, a clock runs as it says it does, and is
/// right in the middle of the samples that it had.
pub(crate) fn of(clocks: &Clocks, bursts: &[Burst]) -> (Bends, Vec<usize>) {
    let fit = burst_offsets::fit(&clocks.domains, bursts);
    let base = |(number, domain): (usize, &Domain)| {
        if number == 0 || domain.bursts == 0 {
            return None;
        }
        let knots: Vec<Knot> = fit.offsets[number].iter().map(|offset| fit.knot(number, offset)).collect();
        let map = if knots.is_empty() { straight(domain) } else { ClockMap::through(domain.hz, &knots) };
        Some(Arc::new(domain.map.to(&map.after(&domain.told_sets), domain.hz)))
    };
    let bends = clocks.domains.iter().enumerate().map(base).collect();
    (bends, fit.offsets.iter().map(Vec::len).collect())
}

/// What makes the coarse dates of clocks with several bursts those of a straight line through the first burst and the last. Coarse dates are linear
/// from burst to burst: their bends there are none of the clock, and the fit, which takes clocks to be smooth, would have to undo each.
pub(crate) fn straightened(clocks: &Clocks) -> Bends {
    let base = |domain: &Domain| {
        let (Some(&first), Some(&last)) = (domain.knots.first(), domain.knots.last()) else { return None };
        if domain.knots.len() < 3 {
            return None;
        }
        let mut map = ClockMap::through(domain.hz, &[first, last]).after(&domain.told_sets);
        let knot = domain.map.middle_knot();
        let before = ClockMap::through(domain.hz, &domain.knots).after(&domain.told_sets);
        map.shift(domain.map.wide_from_ticks(knot) - before.wide_from_ticks(knot));
        Some(Arc::new(domain.map.to(&map, domain.hz)))
    };
    clocks.domains.iter().map(base).collect()
}

fn straight(domain: &Domain) -> ClockMap {
    let mut map = ClockMap::linear(domain.hz);
    let middle = domain.map.middle_knot();
    let unset = domain.told_sets.unset(middle);
    map.shift(domain.map.wide_from_ticks(middle) - map.wide_from_ticks(unset));
    map
}
