//! What coarse dates would have been by fewer samples.
//!
//! Coarse dates are made by all samples, and streams were read and links were logged by them. When some of the samples turn out to be wrong, the
//! dates that the others make are a function of the coarse ones.

use std::sync::Arc;

use super::attempt::Bends;
use super::bursts::{self, Burst};
use super::map::{ClockMap, Knot};
use super::{Clocks, Domain};

/// What makes the coarse dates those by these samples, and how many bursts each domain has. Without any, a clock runs as it says it does, and is
/// right in the middle of the samples that it had.
pub(super) fn of(clocks: &Clocks, bursts: &[Burst]) -> (Bends, Vec<usize>) {
    let fit = bursts::fit(&clocks.domains, bursts);
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

fn straight(domain: &Domain) -> ClockMap {
    let mut map = ClockMap::linear(domain.hz);
    let middle = domain.map.middle_knot();
    let unset = domain.told_sets.unset(middle);
    map.shift(domain.map.wide_from_ticks(middle) - map.wide_from_ticks(unset));
    map
}
