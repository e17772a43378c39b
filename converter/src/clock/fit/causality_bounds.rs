//! Sync samples that messages prove wrong.
//!
//! A message between two clocks cannot arrive before it is sent. Messages alone bound the timestamp
//! error of each clock. A sample that arrives before it is sent, for all timestamps within these
//! bounds, does not come from these clocks. The answering process read another clock, or invented
//! the values. Samples are judged by burst, because a wrong burst proves nothing about other
//! bursts.

use std::collections::BTreeMap;

use super::corrections::apply_correction;
use super::fit_result::FitResult;
use super::wander_estimate::largest_wander;
use crate::clock::ClockDomain;
use crate::clock::min_delays::{RawExchange, difference};
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
pub(crate) fn diagnostics(contradictions: &[ContradictedBurst], domains: &[ClockDomain]) -> Vec<TraceDiagnostic> {
    let mut pairs: BTreeMap<(usize, usize), ContradictedBurst> = BTreeMap::new();
    for burst in contradictions {
        let sum = pairs.entry((burst.a, burst.b)).or_insert(ContradictedBurst { nanos: 0.0, samples: 0, ..*burst });
        sum.samples += burst.samples;
        sum.nanos = sum.nanos.max(burst.nanos);
    }
    let diagnostic = |ContradictedBurst { a, b, samples, nanos, .. }: ContradictedBurst| {
        let (a, b, micros) = (&domains[a].name, &domains[b].name, nanos * 1e-3);
        let text = format!(
            "{samples} sync samples between clocks `{a}` and `{b}` contradict the messages by at least {micros:.1} us: not used"
        );
        TraceDiagnostic::error(DiagnosticKind::Clock, text)
    };
    pairs.into_values().map(diagnostic).collect()
}

/// Samples that contradict a fit to messages alone, by burst. `exchanges` are in raw timestamps.
/// O(samples log moments).
pub(crate) fn find(messages_only: &FitResult, exchanges: &[Vec<RawExchange>]) -> Vec<ContradictedBurst> {
    // The largest wander is assumed, because rates may change more often than messages show.
    // Correct samples have to be kept.
    let certain = messages_only.certain_for_wander(largest_wander(messages_only));
    // The fit itself may leave reversed messages. A sample may be reversed by as much as these.
    let allowed = CONTRADICTION + OF_TICKS * messages_only.tick + messages_only.largest_violation();
    let mut contradictions: BTreeMap<(usize, usize, usize), ContradictedBurst> = BTreeMap::new();
    for (burst, exchanges) in exchanges.iter().enumerate() {
        for &RawExchange { a, b, t1, t2, t3, t4 } in exchanges {
            let corrected = |domain: usize, raw: i64| {
                difference(apply_correction(&messages_only.corrections, domain, raw), messages_only.span.start)
            };
            let early = |from: usize, sent: i64, to: usize, received: i64| {
                let (sent, received) = (corrected(from, sent), corrected(to, received));
                sent - received - certain.bound_at(from, sent).max_lead - certain.bound_at(to, received).lag
            };
            let early = early(a, t1, b, t2).max(early(b, t3, a, t4));
            let (a, b) = (a.min(b), a.max(b));
            let of_burst = ContradictedBurst { burst, a, b, nanos: 0.0, samples: 0 };
            let contradiction = contradictions.entry((burst, a, b)).or_insert(of_burst);
            contradiction.nanos = contradiction.nanos.max(early);
            contradiction.samples += 1;
        }
    }
    contradictions.into_values().filter(|contradiction| contradiction.nanos > allowed).collect()
}
