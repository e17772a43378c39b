//! Timestamps of the uncorrected clocks, from the timestamps that sync samples gave.
//!
//! The link log holds timestamps that samples have corrected. What the clocks themselves showed is a function of these.

use crate::clock::correction::Bend;
use crate::clock::domain::map::ClockMap;
use crate::clock::{Clocks, Domain};
use crate::run::Run;

/// The uncorrected clocks of a run.
#[derive(Debug)]
pub(crate) struct RawClocks {
    /// By process.
    domain_of: Vec<usize>,
    /// By domain, from timestamps that samples corrected to raw ones.
    bends: Vec<Bend>,
}

impl RawClocks {
    /// `clocks` are corrected by samples alone.
    pub(crate) fn new(run: &Run, clocks: &Clocks) -> Self {
        let mut maps: Vec<ClockMap> = clocks.domains.iter().map(|domain| ClockMap::linear(domain.hz)).collect();
        let firsts = run.processes.iter().zip(&clocks.domain_of).flat_map(|(process, domain)| {
            let blocks = process.streams.iter().filter_map(|stream| stream.blocks.first());
            blocks.map(|block| maps[*domain].wide_from_ticks(block.header.first_ticks))
        });
        // Clocks may count from thousands of years ago, which 64 bits of nanoseconds do not hold.
        let first = firsts.min().unwrap_or(0);
        maps.iter_mut().for_each(|map| map.shift(-first));
        let bend = |(domain, raw): (&Domain, &ClockMap)| {
            if domain.bursts > 0 || !domain.told_sets.regions().is_empty() {
                return domain.map.to(raw, domain.hz);
            }
            // A clock that nothing corrected is shifted only.
            let shift = raw.wide_from_ticks(0) - domain.map.wide_from_ticks(0);
            let mut bend = Bend::default();
            bend.shift(i64::try_from(shift).unwrap_or(if shift < 0 { i64::MIN } else { i64::MAX }));
            bend
        };
        let bends = clocks.domains.iter().zip(&maps).map(bend).collect();
        Self { domain_of: clocks.domain_of.clone(), bends }
    }

    /// Whether a link ends before it starts. Its endpoints are given by process and coarse timestamp.
    pub(crate) fn is_reversed(&self, start: (usize, i64), finish: (usize, i64)) -> bool {
        let (from, to) = (self.domain_of[start.0], self.domain_of[finish.0]);
        // Timestamps of one clock keep their order; to map them would round them.
        from == to && finish.1 < start.1 || from != to && self.bends[to].date(finish.1) < self.bends[from].date(start.1)
    }
}
