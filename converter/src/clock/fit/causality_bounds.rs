//! Sync samples that messages prove wrong.
//!
//! What goes between two clocks cannot arrive before it leaves. Messages alone bound how far the dates of each clock can be off; a sample that by
//! all dates within these bounds arrives before it left is not one of these clocks: whoever answered read another one, or made it up. Samples are
//! judged burst by burst: one that lies says nothing of the others.

use std::collections::BTreeMap;

use super::wander::largest_wander;
use super::{Attempt, dated};
use crate::clock::Domain;
use crate::clock::min_delays::{Exchange, difference};
use crate::clock::samples::burst_offsets::CONTRADICTION;
use crate::clock::steps::from_messages::OF_TICKS;

/// Samples of a burst between two clocks that messages contradict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contradiction {
    burst: usize,
    a: usize,
    b: usize,
    /// By how much at least, nanoseconds.
    nanos: f64,
    /// How many there are.
    samples: u64,
}

impl Contradiction {
    /// Whether samples of this burst and of these clocks, in either order, are meant.
    pub(crate) fn is_of(&self, burst: usize, a: usize, b: usize) -> bool {
        (self.burst, self.a, self.b) == (burst, a.min(b), a.max(b))
    }
}

/// What a user should know: one sentence for each pair of clocks.
pub(crate) fn sentences(found: &[Contradiction], domains: &[Domain]) -> Vec<String> {
    let mut pairs: BTreeMap<(usize, usize), (u64, f64)> = BTreeMap::new();
    for found in found {
        let (samples, nanos) = pairs.entry((found.a, found.b)).or_default();
        (*samples, *nanos) = (*samples + found.samples, nanos.max(found.nanos));
    }
    let sentence = |((a, b), (samples, nanos)): ((usize, usize), (u64, f64))| {
        let (a, b, micros) = (&domains[a].name, &domains[b].name, nanos * 1e-3);
        format!(
            "{samples} sync samples between clocks `{a}` and `{b}` contradict the messages by {micros:.1} us at least: left out"
        )
    };
    pairs.into_iter().map(sentence).collect()
}

/// The samples, by burst in coarse dates, that a fit to messages alone excludes. O(samples log moments).
pub(crate) fn find(alone: &Attempt, exchanges: &[Vec<Exchange>]) -> Vec<Contradiction> {
    // An honest sample must not be left out because rates change more often than messages show.
    let certain = alone.certain_for_wander(largest_wander(alone));
    // What the fit itself did not get in order is no better than so.
    let allowed = CONTRADICTION + OF_TICKS * alone.tick + alone.earliest();
    let mut found: BTreeMap<(usize, usize, usize), Contradiction> = BTreeMap::new();
    for (burst, exchanges) in exchanges.iter().enumerate() {
        for &Exchange { a, b, t } in exchanges {
            let date = |domain: usize, coarse: i64| difference(dated(&alone.bends, domain, coarse), alone.span.start);
            let (asked, heard, answered, told) = (date(a, t[0]), date(b, t[1]), date(b, t[2]), date(a, t[3]));
            let early = |from: usize, sent: f64, to: usize, received: f64| {
                let (ahead, behind) = (certain.at(from, sent).0, certain.at(to, received).1);
                sent - received - ahead - behind
            };
            let early = early(a, asked, b, heard).max(early(b, answered, a, told));
            let (a, b) = (a.min(b), a.max(b));
            let of_burst = Contradiction { burst, a, b, nanos: 0.0, samples: 0 };
            let found = found.entry((burst, a, b)).or_insert(of_burst);
            found.nanos = found.nanos.max(early);
            found.samples += 1;
        }
    }
    found.into_values().filter(|found| found.nanos > allowed).collect()
}
