//! The fit of a run's clocks to messages and samples, without the samples that messages prove
//! wrong.

use std::io;

use super::causality_bounds::{self, ContradictedBurst};
use super::clock_fit::fit_clocks;
use super::corrections::DomainCorrections;
use super::fit_result::FitResult;
use super::inputs::FitInputs;
use super::rebase::{RebasedClocks, rebase, straightening_corrections};
use super::residuals::FitResiduals;
use super::wander_estimate::largest_wander;
use crate::clock::RunClocks;
use crate::clock::burst::{SyncBurst, TickExchange};
use crate::clock::correction::CorrectionPoint;
use crate::clock::domain::stream_extent::StreamExtent;
use crate::clock::graph::interpolate;
use crate::clock::link_log::LinkLog;
use crate::clock::min_delays::{DelayClass, RawExchange, RunSpan};

/// The result of the fit.
#[derive(Clone, Debug)]
pub(crate) struct MessageFit {
    /// Corrections by domain. `None` if nothing joins the domain to the reference.
    pub(crate) corrections: DomainCorrections,
    /// Results by domain.
    pub(crate) fits: Vec<DomainFit>,
    /// The wander of the clocks, per square root of a second.
    pub(crate) wander: f64,
    /// The time range of the fit. Places 0 and 1 are its start and its end.
    pub(crate) span: RunSpan,
    /// Removed clock steps by domain.
    pub(crate) steps: Vec<Vec<CorrectionPoint>>,
    /// Samples that were left out.
    pub(crate) contradictions: Vec<ContradictedBurst>,
    /// By domain: the number of remaining bursts. `None` if all bursts were used.
    pub(crate) bursts: Option<Vec<usize>>,
}

/// The deviation of a clock from a straight line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviationPoint {
    /// The place in the run, from 0 to 1.
    pub(crate) fraction: f64,
    pub(crate) nanos: f64,
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
    /// Residuals of the fastest messages.
    pub(crate) residuals: FitResiduals,
    /// Deviations from a straight line.
    pub(crate) deviations: Vec<DeviationPoint>,
    /// The width of the corridor in which the line can lie, nanoseconds.
    pub(crate) width: f64,
    /// Upper bound on the error, nanoseconds. May be infinite.
    pub(crate) error_bound: f64,
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
    let inputs = fit_inputs(clocks, log, streams, &domain_of);
    let exchanges = raw_exchanges(clocks, bursts);
    let Some(first) = fit_clocks(&inputs, &exchanges, &straightening_corrections(clocks))? else {
        return Ok(None);
    };
    let second_fit = if first.is_impossible() { without_wrong(clocks, bursts, &inputs, &exchanges)? } else { None };
    // If the second fit is not better, the messages themselves are wrong and prove nothing.
    let second_fit = second_fit.filter(|second_fit| second_fit.result.largest_violation() < first.largest_violation());
    let (result, contradictions, bursts) = match second_fit {
        Some(ReducedFit { result, contradictions, bursts }) => (result, contradictions, Some(bursts)),
        None => (first, Vec::new(), None),
    };
    let mut fits = domain_fits(&result);
    fits.iter_mut().zip(result.half_widths()).for_each(|(fit, width)| fit.error_bound = width);
    let FitResult { corrections, fit, span, steps, .. } = result;
    Ok(Some(MessageFit { corrections, fits, wander: fit.wander, span, steps, contradictions, bursts }))
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
    let inputs = fit_inputs(clocks, log, streams, &domain_of);
    let messages_only = fit_clocks(&inputs, &[], &rebase(clocks, &[]).corrections)?;
    Ok(messages_only.map(|result| largest_wander(&result)))
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
    result: FitResult,
    /// The removed samples.
    contradictions: Vec<ContradictedBurst>,
    /// The number of remaining bursts of each domain.
    bursts: Vec<usize>,
}

/// The fit without the samples that messages prove wrong. `None` if there are none.
fn without_wrong(
    clocks: &RunClocks,
    bursts: &[SyncBurst],
    inputs: &FitInputs<'_>,
    exchanges: &[Vec<RawExchange>],
) -> io::Result<Option<ReducedFit>> {
    // Wrong samples would distort all timestamps, so this fit uses messages only.
    let Some(messages_only) = fit_clocks(inputs, &[], &rebase(clocks, &[]).corrections)? else { return Ok(None) };
    let contradictions = causality_bounds::find(&messages_only, exchanges);
    if contradictions.is_empty() {
        return Ok(None);
    }
    let is_kept = |number: usize, a: usize, b: usize| {
        !contradictions.iter().any(|contradiction| contradiction.is_of(number, a, b))
    };
    let mut remaining_bursts = bursts.to_vec();
    for (number, burst) in remaining_bursts.iter_mut().enumerate() {
        burst.exchanges.retain(|exchange| is_kept(number, exchange.a, exchange.b));
    }
    let RebasedClocks { corrections: base, bursts: remaining } = rebase(clocks, &remaining_bursts);
    let exchanges = exchanges.iter().enumerate().map(|(number, burst)| {
        burst.iter().copied().filter(|exchange| is_kept(number, exchange.a, exchange.b)).collect()
    });
    let exchanges: Vec<Vec<RawExchange>> = exchanges.collect();
    let fit = fit_clocks(inputs, &exchanges, &base)?;
    Ok(fit.map(|result| ReducedFit { result, contradictions, bursts: remaining }))
}

/// The samples of each burst, with raw timestamps in place of ticks.
pub(crate) fn raw_exchanges(clocks: &RunClocks, bursts: &[SyncBurst]) -> Vec<Vec<RawExchange>> {
    let raw = |domain: usize, ticks: u64| clocks.domains[domain].map.global_from_ticks(ticks);
    let exchange = |&TickExchange { a, b, t1, t2, t3, t4 }: &TickExchange| RawExchange {
        a,
        b,
        t1: raw(a, t1),
        t2: raw(b, t2),
        t3: raw(b, t3),
        t4: raw(a, t4),
    };
    bursts.iter().map(|burst| burst.exchanges.iter().map(exchange).collect()).collect()
}

/// The results of a fit for each domain, without error bounds.
fn domain_fits(result: &FitResult) -> Vec<DomainFit> {
    let FitResult { joins, rounds, fit, edges, .. } = result;
    let mut domain_fits: Vec<DomainFit> = vec![DomainFit::default(); joins.len()];
    let mut residuals: Vec<Vec<f64>> = vec![Vec::new(); joins.len()];
    for (edge, edge_residuals) in edges.iter().zip(&fit.residuals) {
        for domain in [edge.from, edge.to] {
            residuals[domain].extend(edge_residuals);
            domain_fits[domain].edges += 1;
            match edge.class {
                DelayClass::Sync => domain_fits[domain].samples += edge.count,
                DelayClass::Message => domain_fits[domain].messages += edge.count,
            }
        }
    }
    for (domain, domain_fit) in domain_fits.iter_mut().enumerate() {
        domain_fit.residuals = FitResiduals::of(&mut residuals[domain]);
        let Some(joined) = joins[domain] else { continue };
        domain_fit.root = Some(joined.root);
        domain_fit.hops = joined.hops;
        domain_fit.one_way = joined.one_way;
        let total = |fraction: f64| rounds.iter().map(|round| interpolate(&round[domain], fraction)).sum::<f64>();
        let (first, last) = (total(0.0), total(1.0));
        let places = (0..=200).map(|step| f64::from(step) / 200.0);
        // A correction is the opposite of the clock's deviation.
        let deviation = |fraction: f64| first + (last - first) * fraction - total(fraction);
        domain_fit.deviations =
            places.map(|fraction| DeviationPoint { fraction, nanos: deviation(fraction) }).collect();
        domain_fit.width = joined.width;
    }
    domain_fits
}
