//! Timestamps of the uncorrected clocks, from the timestamps that sync samples gave.
//!
//! The link log contains timestamps that samples have corrected. The timestamps of the uncorrected
//! clocks are a function of them.

use crate::clock::correction::TimestampCorrection;
use crate::clock::domain::tick_map::ClockMap;
use crate::clock::{ClockDomain, RunClocks};
use crate::run::OpenRun;

/// The uncorrected clocks of a run.
#[derive(Debug)]
pub(crate) struct UncorrectedClocks {
    /// By process.
    domain_of: Vec<usize>,
    /// By domain: the map from timestamps of the link log to those of the uncorrected clock.
    corrections: Vec<TimestampCorrection>,
}

/// An endpoint of a link by the timestamps of the link log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedEndpoint {
    pub(crate) process: usize,
    pub(crate) timestamp: i64,
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
        let correction = |(domain, raw): (&ClockDomain, &ClockMap)| {
            if domain.bursts > 0 || !domain.observed_steps.regions().is_empty() {
                return domain.map.correction_to(raw, domain.hz);
            }
            // A clock that nothing corrected is shifted only.
            let shift = raw.wide_from_ticks(0) - domain.map.wide_from_ticks(0);
            let mut correction = TimestampCorrection::default();
            correction.shift(i64::try_from(shift).unwrap_or(if shift < 0 { i64::MIN } else { i64::MAX }));
            correction
        };
        let corrections = clocks.domains.iter().zip(&maps).map(correction).collect();
        Self { domain_of: clocks.domain_of.clone(), corrections }
    }

    /// Whether a link ends before it starts, by the uncorrected clocks.
    pub(crate) fn is_reversed(&self, start: LoggedEndpoint, finish: LoggedEndpoint) -> bool {
        let (from, to) = (self.domain_of[start.process], self.domain_of[finish.process]);
        if from == to {
            // Timestamps of one clock keep their order; to map them would round them.
            return finish.timestamp < start.timestamp;
        }
        self.corrections[to].correct(finish.timestamp) < self.corrections[from].correct(start.timestamp)
    }
}
