//! The fit of a run's clocks to messages and samples, without the samples that messages prove
//! wrong.

use std::io;
use std::sync::Arc;

use super::causality_bounds::{self, ContradictedBurst};
use super::rebase;
use super::wander::largest_wander;
use super::{FitInputs, FitResult, attempt};
use crate::clock::RunClocks;
use crate::clock::burst::{self, SyncBurst};
use crate::clock::correction::TimestampCorrection;
use crate::clock::domain::extent::StreamExtent;
use crate::clock::graph::interpolate;
use crate::clock::link_log::LinkLog;
use crate::clock::min_delays::{CoarseExchange, DelayClass};

/// The result of the fit.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageFit {
    /// Corrections by domain. `None` if nothing joins the domain to the reference.
    pub(crate) bends: Vec<Option<Arc<TimestampCorrection>>>,
    /// Results by domain.
    pub(crate) found: Vec<DomainFit>,
    /// The wander of the clocks, per square root of a second.
    pub(crate) wander: f64,
    /// The time range of the fit. Places 0 and 1 are its start and its end.
    pub(crate) dates: (i64, i64),
    /// Removed clock steps by domain: the raw timestamp of the step, and the correction that is
    /// added from there on.
    pub(crate) sets: Vec<Vec<(i64, i64)>>,
    /// Samples that were left out.
    pub(crate) contradictions: Vec<ContradictedBurst>,
    /// By domain: the number of remaining bursts. `None` if all bursts were used.
    pub(crate) bursts: Option<Vec<usize>>,
}

/// The result of the fit for one domain.
#[derive(Clone, Debug, Default)]
pub(crate) struct DomainFit {
    /// The domain to which messages join it: the reference, or the first of its component.
    pub(crate) root: Option<usize>,
    /// Number of pairs on the path to the root.
    pub(crate) hops: usize,
    pub(crate) one_way: bool,
    pub(crate) edges: usize,
    pub(crate) messages: u64,
    pub(crate) samples: u64,
    /// Median and 95th percentile of the absolute residuals of the fastest messages, nanoseconds.
    pub(crate) residuals: (f64, f64),
    /// Departures from a straight line: a place in the run from 0 to 1, and nanoseconds.
    pub(crate) curve: Vec<(f64, f64)>,
    /// The width of the corridor in which the line can lie, nanoseconds.
    pub(crate) width: f64,
    /// Upper bound on the error, nanoseconds. May be infinite.
    pub(crate) certified: f64,
}

/// Fits the clocks of a run to its messages and samples. `None` when no message goes from one
/// domain to another.
///
/// If messages and samples contradict each other, the messages are fitted alone. Samples that
/// contradict the messages for all possible timestamps are removed. Then all data is fitted again
/// without them.
///
/// # Errors
/// When the log's temporary file cannot be read.
pub(crate) fn refine(
    clocks: &RunClocks,
    bursts: &[SyncBurst],
    log: &LinkLog,
    streams: &[StreamExtent],
) -> io::Result<Option<MessageFit>> {
    let domain_of: Vec<usize> = streams.iter().map(|stream| stream.domain).collect();
    let seen = fit_inputs(clocks, log, streams, &domain_of);
    let exchanges = exchanges(clocks, bursts);
    let Some(first) = attempt(&seen, &exchanges, &rebase::straightening_corrections(clocks))? else { return Ok(None) };
    let again = if first.is_impossible() { without_wrong(clocks, bursts, &seen, &exchanges)? } else { None };
    // If the second fit is not better, the messages themselves are wrong and prove nothing.
    let again = again.filter(|again| again.attempt.largest_violation() < first.largest_violation());
    let (attempt, contradictions, bursts) = match again {
        Some(ReducedFit { attempt, contradictions, bursts }) => (attempt, contradictions, Some(bursts)),
        None => (first, Vec::new(), None),
    };
    let mut found = domain_fits(&attempt);
    found.iter_mut().zip(attempt.half_widths()).for_each(|(found, width)| found.certified = width);
    let FitResult { bends, fit, span, sets, .. } = attempt;
    let dates = (span.start, span.end);
    Ok(Some(MessageFit { bends, found, wander: fit.wander, dates, sets, contradictions, bursts }))
}

/// The largest wander that messages alone show, per square root of a second. `None` when no message
/// goes from one domain to another.
///
/// # Errors
/// When the log's temporary file cannot be read.
pub(crate) fn wander_by_messages(
    clocks: &RunClocks,
    log: &LinkLog,
    streams: &[StreamExtent],
) -> io::Result<Option<f64>> {
    let domain_of: Vec<usize> = streams.iter().map(|stream| stream.domain).collect();
    let seen = fit_inputs(clocks, log, streams, &domain_of);
    let alone = attempt(&seen, &[], &rebase::of(clocks, &[]).0)?;
    Ok(alone.map(|attempt| largest_wander(&attempt)))
}

fn fit_inputs<'o>(
    clocks: &RunClocks,
    log: &'o LinkLog,
    streams: &'o [StreamExtent],
    domain_of: &'o [usize],
) -> FitInputs<'o> {
    // Bursts have changed the rate of raw timestamps, so bounds on the nominal rate do not apply.
    let rates = clocks.domains.iter().map(|domain| domain.rates.filter(|_| domain.bursts == 0)).collect();
    FitInputs { log, streams, domain_of, domains: clocks.domains.len(), tick: clocks.granularity(), rates }
}

/// A fit without some samples.
struct ReducedFit {
    attempt: FitResult,
    /// The removed samples.
    contradictions: Vec<ContradictedBurst>,
    /// The number of remaining bursts of each domain.
    bursts: Vec<usize>,
}

/// The fit without the samples that messages prove wrong. `None` if there are none.
fn without_wrong(
    clocks: &RunClocks,
    bursts: &[SyncBurst],
    seen: &FitInputs<'_>,
    exchanges: &[Vec<CoarseExchange>],
) -> io::Result<Option<ReducedFit>> {
    // Wrong samples would distort all timestamps, so this fit uses messages only.
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
    let kept: Vec<Vec<CoarseExchange>> = kept.collect();
    Ok(attempt(seen, &kept, &base)?.map(|attempt| ReducedFit { attempt, contradictions: found, bursts: left }))
}

/// The samples in raw timestamps, by burst.
pub(crate) fn exchanges(clocks: &RunClocks, bursts: &[SyncBurst]) -> Vec<Vec<CoarseExchange>> {
    let date = |domain: usize, ticks: u64| clocks.domains[domain].map.global_from_ticks(ticks);
    let dated = |exchange: &burst::TickExchange| {
        let (a, b) = (exchange.a, exchange.b);
        let t = [date(a, exchange.t1), date(b, exchange.t2), date(b, exchange.t3), date(a, exchange.t4)];
        CoarseExchange { a, b, t }
    };
    bursts.iter().map(|burst| burst.exchanges.iter().map(dated).collect()).collect()
}

/// The results of a fit for each domain, without error bounds.
fn domain_fits(attempt: &FitResult) -> Vec<DomainFit> {
    let FitResult { joined, rounds, fit, edges, .. } = attempt;
    let mut found: Vec<DomainFit> = vec![DomainFit::default(); joined.len()];
    let mut residuals: Vec<Vec<f64>> = vec![Vec::new(); joined.len()];
    for (edge, left) in edges.iter().zip(&fit.residuals) {
        for domain in [edge.from, edge.to] {
            residuals[domain].extend(left);
            found[domain].edges += 1;
            match edge.class {
                DelayClass::Sync => found[domain].samples += edge.count,
                DelayClass::Message => found[domain].messages += edge.count,
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
        // A correction is the opposite of the clock's departure.
        found.curve = places.map(|place| (place, first + (last - first) * place - total(place))).collect();
        found.width = joined.width;
    }
    found
}
