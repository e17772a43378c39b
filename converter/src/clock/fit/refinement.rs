//! From coarse dates to those that messages confirm, without samples that they prove wrong.

use std::io;
use std::sync::Arc;

use super::causality_bounds::{self, Contradiction};
use super::rebase;
use super::wander::largest_wander;
use super::{Attempt, Observed, attempt};
use crate::clock::Clocks;
use crate::clock::burst::{self, Burst};
use crate::clock::correction::Bend;
use crate::clock::domain::extent::Extent;
use crate::clock::graph::interpolate;
use crate::clock::link_log::LinkLog;
use crate::clock::min_delays::{Class, Exchange};

/// What the messages of a run say of its clocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refined {
    /// By domain; `None` where nothing joins it to the reference.
    pub(crate) bends: Vec<Option<Arc<Bend>>>,
    /// By domain.
    pub(crate) found: Vec<Found>,
    /// How clocks wandered, per square root of a second.
    pub(crate) wander: f64,
    /// The dates that the fit is about: a place of 0 and of 1.
    pub(crate) dates: (i64, i64),
    /// By domain: from which coarse date on how much was added, as the clock had been set.
    pub(crate) sets: Vec<Vec<(i64, i64)>>,
    /// Samples that were left out.
    pub(crate) contradictions: Vec<Contradiction>,
    /// By domain: bursts that are left, where some were left out.
    pub(crate) bursts: Option<Vec<usize>>,
}

/// What the messages of a domain say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// The domain to which messages join it: the reference, or the first of its component.
    pub(crate) root: Option<usize>,
    /// Pairs on the way there.
    pub(crate) hops: usize,
    pub(crate) one_way: bool,
    pub(crate) edges: usize,
    pub(crate) messages: u64,
    pub(crate) samples: u64,
    /// Sizes of residuals of the fastest messages, nanoseconds: half of them, and 95 %, are smaller.
    pub(crate) residuals: (f64, f64),
    /// Departures from a straight line: place in the run from 0 to 1, nanoseconds.
    pub(crate) curve: Vec<(f64, f64)>,
    /// How wide the corridor is in which the line could lie, nanoseconds.
    pub(crate) width: f64,
    /// What the error cannot be beyond, nanoseconds; may be infinite.
    pub(crate) certified: f64,
}

/// Fits the clocks of a run to its messages and samples. `None` when no message goes from one domain to another.
///
/// Where they contradict each other, the messages are fitted alone; samples that cannot be true by any dates that the messages allow are left out, and
/// all is fitted anew as if they had not been there.
///
/// # Errors
/// When the log's temporary file cannot be read.
pub(crate) fn refine(
    clocks: &Clocks,
    bursts: &[Burst],
    log: &LinkLog,
    streams: &[Extent],
) -> io::Result<Option<Refined>> {
    let domain_of: Vec<usize> = streams.iter().map(|stream| stream.domain).collect();
    let seen = observed(clocks, log, streams, &domain_of);
    let exchanges = exchanges(clocks, bursts);
    let Some(first) = attempt(&seen, &exchanges, &rebase::straightened(clocks))? else { return Ok(None) };
    let again = if first.is_impossible() { without_wrong(clocks, bursts, &seen, &exchanges)? } else { None };
    // Messages that are wrong themselves prove nothing.
    let again = again.filter(|again| again.attempt.earliest() < first.earliest());
    let (attempt, contradictions, bursts) = match again {
        Some(Without { attempt, contradictions, bursts }) => (attempt, contradictions, Some(bursts)),
        None => (first, Vec::new(), None),
    };
    let mut found = found(&attempt);
    found.iter_mut().zip(attempt.half_widths()).for_each(|(found, width)| found.certified = width);
    let Attempt { bends, fit, span, sets, .. } = attempt;
    let dates = (span.start, span.end);
    Ok(Some(Refined { bends, found, wander: fit.wander, dates, sets, contradictions, bursts }))
}

/// The largest wander that messages alone show, per square root of a second. `None` when no message goes from one domain to
/// another.
///
/// # Errors
/// When the log's temporary file cannot be read.
pub(crate) fn wander_by_messages(clocks: &Clocks, log: &LinkLog, streams: &[Extent]) -> io::Result<Option<f64>> {
    let domain_of: Vec<usize> = streams.iter().map(|stream| stream.domain).collect();
    let seen = observed(clocks, log, streams, &domain_of);
    let alone = attempt(&seen, &[], &rebase::of(clocks, &[]).0)?;
    Ok(alone.map(|attempt| largest_wander(&attempt)))
}

fn observed<'o>(clocks: &Clocks, log: &'o LinkLog, streams: &'o [Extent], domain_of: &'o [usize]) -> Observed<'o> {
    // Bursts have brought coarse dates to another rate.
    let rates = clocks.domains.iter().map(|domain| domain.rates.filter(|_| domain.bursts == 0)).collect();
    Observed { log, streams, domain_of, domains: clocks.domains.len(), tick: clocks.granularity(), rates }
}

/// A fit without some samples.
struct Without {
    attempt: Attempt,
    /// What was left out,
    contradictions: Vec<Contradiction>,
    /// and how many bursts each domain has left.
    bursts: Vec<usize>,
}

/// The fit without the samples that messages prove wrong; `None` if there are none.
fn without_wrong(
    clocks: &Clocks,
    bursts: &[Burst],
    seen: &Observed<'_>,
    exchanges: &[Vec<Exchange>],
) -> io::Result<Option<Without>> {
    // What was found by wrong samples bends all dates.
    let Some(alone) = attempt(seen, &[], &rebase::of(clocks, &[]).0)? else { return Ok(None) };
    let found = causality_bounds::find(&alone, exchanges);
    if found.is_empty() {
        return Ok(None);
    }
    let is_left = |number: usize, a: usize, b: usize| !found.iter().any(|found| found.is_of(number, a, b));
    let mut rest = bursts.to_vec();
    for (number, burst) in rest.iter_mut().enumerate() {
        burst.exchanges.retain(|exchange| is_left(number, exchange.a, exchange.b));
    }
    let (base, left) = rebase::of(clocks, &rest);
    let kept = exchanges.iter().enumerate().map(|(number, burst)| {
        burst.iter().copied().filter(|exchange| is_left(number, exchange.a, exchange.b)).collect()
    });
    let kept: Vec<Vec<Exchange>> = kept.collect();
    Ok(attempt(seen, &kept, &base)?.map(|attempt| Without { attempt, contradictions: found, bursts: left }))
}

/// The samples in coarse dates, by burst.
pub(crate) fn exchanges(clocks: &Clocks, bursts: &[Burst]) -> Vec<Vec<Exchange>> {
    let date = |domain: usize, ticks: u64| clocks.domains[domain].map.global_from_ticks(ticks);
    let dated = |exchange: &burst::Exchange| {
        let (a, b) = (exchange.a, exchange.b);
        let t = [date(a, exchange.t1), date(b, exchange.t2), date(b, exchange.t3), date(a, exchange.t4)];
        Exchange { a, b, t }
    };
    bursts.iter().map(|burst| burst.exchanges.iter().map(dated).collect()).collect()
}

/// What a fit says of each domain, but for what is certain.
fn found(attempt: &Attempt) -> Vec<Found> {
    let Attempt { joined, rounds, fit, edges, .. } = attempt;
    let mut found: Vec<Found> = vec![Found::default(); joined.len()];
    let mut residuals: Vec<Vec<f64>> = vec![Vec::new(); joined.len()];
    for (edge, left) in edges.iter().zip(&fit.residuals) {
        for domain in [edge.from, edge.to] {
            residuals[domain].extend(left);
            found[domain].edges += 1;
            match edge.class {
                Class::Sync => found[domain].samples += edge.count,
                Class::Message => found[domain].messages += edge.count,
            }
        }
    }
    for (domain, found) in found.iter_mut().enumerate() {
        let own = &mut residuals[domain];
        own.sort_by(f64::total_cmp);
        let at = |share: usize| own.get(own.len() * share / 100).copied().unwrap_or(0.0);
        found.residuals = (at(50), at(95));
        let Some(joined) = joined[domain] else { continue };
        found.root = Some(joined.root);
        found.hops = joined.hops;
        found.one_way = joined.one_way;
        let total = |place: f64| rounds.iter().map(|round| interpolate(&round[domain], place)).sum::<f64>();
        let (first, last) = (total(0.0), total(1.0));
        let places = (0..=200).map(|step| f64::from(step) / 200.0);
        // What has to be added is what the clock lacked.
        found.curve = places.map(|place| (place, first + (last - first) * place - total(place))).collect();
        found.width = joined.width;
    }
    found
}
