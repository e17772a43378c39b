//! One fit of all clocks to messages and samples: a line per domain, then the graph fit in two
//! rounds.

use std::io;

use super::corrections::{DomainCorrections, apply_correction, corrections_of};
use super::fit_result::FitResult;
use super::inputs::FitInputs;
use super::line_fit::{BUCKETS, LineFit, fit_lines};
use crate::clock::domain::stream_extent::span_of;
use crate::clock::envelope::DomainJoin;
use crate::clock::graph::{self, GraphFit};
use crate::clock::min_delays::{ClockTraffic, DelayClass, FastestMessages, MessagePoint, RawExchange};

/// Constant part of the latency difference up to which two consecutive messages are equally fast,
/// nanoseconds.
const EVEN: f64 = 3000.0;
/// The other part of this limit, as a fraction of the time between the messages.
const EVEN_RATE: f64 = 20e-6;

/// Fits clocks. `base` is applied to raw timestamps first. `None` when no message goes from one
/// domain to another.
///
/// # Errors
/// When the log's temporary file cannot be read.
pub(crate) fn fit_clocks(
    inputs: &FitInputs<'_>,
    exchanges: &[Vec<RawExchange>],
    base: &DomainCorrections,
) -> io::Result<Option<FitResult>> {
    let &FitInputs { log, streams, domain_of, tick, .. } = inputs;
    let base_span = span_of(streams, exchanges, |domain, raw| apply_correction(base, domain, raw));
    let Some(LineFit { joins, span, steps }) = fit_lines(inputs, exchanges, base, base_span)? else {
        return Ok(None);
    };
    let traffic = ClockTraffic { log, exchanges, domain_of, span };
    let mut is_free: Vec<bool> = joins.iter().map(|joined| joined.is_some_and(|joined| joined.hops > 0)).collect();
    let mut rounds: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut fitted: Option<(GraphFit, Vec<FastestMessages>)> = None;
    for _ in 0..2 {
        let corrections = corrections_of(&joins, &rounds, &steps, base, base_span, span);
        let edges = traffic.edges(BUCKETS, |domain, raw| apply_correction(&corrections, domain, raw))?;
        if rounds.is_empty() {
            hold_unconfirmed(&joins, &edges, &mut is_free);
        }
        let fit = graph::fit(&edges, &is_free, span.nanos(), tick, fitted.as_ref().map(|(fit, _)| fit.wander));
        rounds.push(fit.corrections.clone());
        fitted = Some((fit, edges));
    }
    let corrections = corrections_of(&joins, &rounds, &steps, base, base_span, span);
    let (fit, edges) = fitted.unwrap_or_else(|| unreachable!("two rounds"));
    Ok(Some(FitResult { corrections, joins, rounds, fit, edges, span, steps, tick }))
}

/// Excludes clocks from the graph fit that have messages in one direction only. They keep their
/// lines, because a bend may come from changing latencies. An edge with samples, or with mostly
/// even latencies, confirms a clock. The timestamps of the edges are corrected by lines.
fn hold_unconfirmed(joins: &[Option<DomainJoin>], edges: &[FastestMessages], is_free: &mut [bool]) {
    for (domain, is_free) in is_free.iter_mut().enumerate() {
        let is_one_way = joins[domain].is_some_and(|joins| joins.one_way);
        let mut edges = edges.iter().filter(|edge| edge.from == domain || edge.to == domain);
        if is_one_way && !edges.any(|edge| edge.class == DelayClass::Sync || is_even(&edge.points)) {
            *is_free = false;
        }
    }
}

/// Whether at least three in ten of the points took as long as the point before.
fn is_even(points: &[MessagePoint]) -> bool {
    let is_equal = |pair: &&[MessagePoint]| {
        let (took, time) = (pair[1].transfer_time - pair[0].transfer_time, pair[1].send_time - pair[0].send_time);
        took.abs() <= EVEN + EVEN_RATE * time
    };
    points.windows(2).filter(is_equal).count() * 10 >= points.len() * 3
}
