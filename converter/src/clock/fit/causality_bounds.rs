//! Sync samples that messages prove wrong.
//!
//! A message between two clocks cannot arrive before it is sent. Messages alone bound the timestamp
//! error of each clock. A sample that arrives before it is sent, for all timestamps within these
//! bounds, does not come from these clocks. The answering process read another clock, or invented
//! the values. Samples are judged by burst, because a wrong burst proves nothing about other
//! bursts.

use std::collections::BTreeMap;

use super::wander::largest_wander;
use super::{FitResult, apply_correction};
use crate::clock::ClockDomain;
use crate::clock::min_delays::{CoarseExchange, difference};
use crate::clock::samples::burst_offsets::CONTRADICTION;
use crate::clock::steps::from_messages::OF_TICKS;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

/// Samples of a burst between two clocks that messages contradict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ContradictedBurst {
    burst: usize,
    a: usize,
    b: usize,
    /// Lower bound of the contradiction, nanoseconds.
    nanos: f64,
    /// Number of samples.
    samples: u64,
}

impl ContradictedBurst {
    /// Whether this contradiction is about a burst and two clocks. The order of the clocks is
    /// irrelevant.
    pub(crate) fn is_of(&self, burst: usize, a: usize, b: usize) -> bool {
        (self.burst, self.a, self.b) == (burst, a.min(b), a.max(b))
    }
}

/// An error for each pair of clocks.
pub(crate) fn diagnostics(found: &[ContradictedBurst], domains: &[ClockDomain]) -> Vec<TraceDiagnostic> {
    let mut pairs: BTreeMap<(usize, usize), (u64, f64)> = BTreeMap::new();
    for found in found {
        let (samples, nanos) = pairs.entry((found.a, found.b)).or_default();
        (*samples, *nanos) = (*samples + found.samples, nanos.max(found.nanos));
    }
    let diagnostic = |((a, b), (samples, nanos)): ((usize, usize), (u64, f64))| {
        let (a, b, micros) = (&domains[a].name, &domains[b].name, nanos * 1e-3);
        let text = format!(
            "{samples} sync samples between clocks `{a}` and `{b}` contradict the messages by at least {micros:.1} us: not used"
        );
        TraceDiagnostic::error(DiagnosticKind::Clock, text)
    };
    pairs.into_iter().map(diagnostic).collect()
}

/// Samples that contradict a fit to messages alone, by burst. `exchanges` are in raw timestamps.
/// O(samples log moments).
pub(crate) fn find(alone: &FitResult, exchanges: &[Vec<CoarseExchange>]) -> Vec<ContradictedBurst> {
    // The largest wander is assumed, because rates may change more often than messages show.
    // Correct samples have to be kept.
    let certain = alone.certain_for_wander(largest_wander(alone));
    // The fit itself may leave reversed messages. Samples may be wrong by as much.
    let allowed = CONTRADICTION + OF_TICKS * alone.tick + alone.largest_violation();
    let mut found: BTreeMap<(usize, usize, usize), ContradictedBurst> = BTreeMap::new();
    for (burst, exchanges) in exchanges.iter().enumerate() {
        for &CoarseExchange { a, b, t } in exchanges {
            let date = |domain: usize, coarse: i64| {
                difference(apply_correction(&alone.bends, domain, coarse), alone.span.start)
            };
            let (asked, heard, answered, told) = (date(a, t[0]), date(b, t[1]), date(b, t[2]), date(a, t[3]));
            let early = |from: usize, sent: f64, to: usize, received: f64| {
                let (ahead, behind) = (certain.at(from, sent).0, certain.at(to, received).1);
                sent - received - ahead - behind
            };
            let early = early(a, asked, b, heard).max(early(b, answered, a, told));
            let (a, b) = (a.min(b), a.max(b));
            let of_burst = ContradictedBurst { burst, a, b, nanos: 0.0, samples: 0 };
            let found = found.entry((burst, a, b)).or_insert(of_burst);
            found.nanos = found.nanos.max(early);
            found.samples += 1;
        }
    }
    found.into_values().filter(|found| found.nanos > allowed).collect()
}
