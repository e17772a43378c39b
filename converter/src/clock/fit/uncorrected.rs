//! Timestamps of the uncorrected clocks, from the timestamps that sync samples gave.
//!
//! The link log contains timestamps that samples have corrected. The timestamps of the uncorrected
//! clocks are a function of them.

use crate::clock::correction::TimestampCorrection;
use crate::clock::domain::map::ClockMap;
use crate::clock::{ClockDomain, RunClocks};
use crate::run::OpenRun;

/// The uncorrected clocks of a run.
#[derive(Debug)]
pub(crate) struct UncorrectedClocks {
    /// By process.
    domain_of: Vec<usize>,
    /// By domain: the map from timestamps of the link log to those of the uncorrected clock.
    bends: Vec<TimestampCorrection>,
}

impl UncorrectedClocks {
    /// `clocks` are corrected by samples alone.
    pub(crate) fn new(run: &OpenRun, clocks: &RunClocks) -> Self {
        let mut maps: Vec<ClockMap> = clocks.domains.iter().map(|domain| ClockMap::linear(domain.hz)).collect();
        let firsts = run.processes.iter().zip(&clocks.domain_of).flat_map(|(process, domain)| {
            let blocks = process.streams.iter().filter_map(|stream| stream.blocks.first());
            blocks.map(|block| maps[*domain].wide_from_ticks(block.header.first_ticks))
        });
        // A clock may count from thousands of years ago. 64 bits of nanoseconds cannot represent
        // this.
        let first = firsts.min().unwrap_or(0);
        maps.iter_mut().for_each(|map| map.shift(-first));
        let bend = |(domain, raw): (&ClockDomain, &ClockMap)| {
            if domain.bursts > 0 || !domain.told_sets.regions().is_empty() {
                return domain.map.to(raw, domain.hz);
            }
            // A clock that nothing corrected is shifted only.
            let shift = raw.wide_from_ticks(0) - domain.map.wide_from_ticks(0);
            let mut bend = TimestampCorrection::default();
            bend.shift(i64::try_from(shift).unwrap_or(if shift < 0 { i64::MIN } else { i64::MAX }));
            bend
        };
        let bends = clocks.domains.iter().zip(&maps).map(bend).collect();
        Self { domain_of: clocks.domain_of.clone(), bends }
    }

    /// Whether a link ends before it starts, by the uncorrected clocks. An endpoint is a process and
    /// a timestamp of the link log.
    pub(crate) fn is_reversed(&self, start: (usize, i64), finish: (usize, i64)) -> bool {
        let (from, to) = (self.domain_of[start.0], self.domain_of[finish.0]);
        // Timestamps of one clock keep their order; to map them would round them.
        from == to && finish.1 < start.1 || from != to && self.bends[to].date(finish.1) < self.bends[from].date(start.1)
    }
}
