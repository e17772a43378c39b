//! One fit of all clocks to messages and samples: a line per domain, then the graph fit in two
//! rounds.

pub(crate) mod causality_bounds;
pub(crate) mod rebase;
pub(crate) mod refinement;
pub(crate) mod sample_bounds;
pub(crate) mod uncorrected;
pub(crate) mod wander;

use std::io;
use std::sync::Arc;

use super::correction::TimestampCorrection;
use super::domain::extent::{StreamExtent, span_of};
use super::envelope::{DomainJoin, OffsetLine, lines};
use super::error_bounds::{BoundInputs, CertainBounds, MessageTimes};
use super::graph::{self, GraphFit, interpolate};
use super::limits::{IMPOSSIBLE, LEAST_WANDER, SURELY, of_dates};
use super::link_log::LinkLog;
use super::min_delays::{ClockTraffic, CoarseExchange, DelayClass, FastestMessages, MessagePoint, RunSpan};
use super::steps::from_messages;

/// Number of pieces of the run, each with its fastest messages, for the lines and for each round of
/// the fit.
const BUCKETS: usize = 256;
/// Minimum length of a run in the computation of knots, nanoseconds.
const SHORTEST: f64 = 1e6;
/// Maximum number of clock steps that are searched for.
const MOST_SETS: usize = 32;
/// Minimum number of observations per clock for a fit of the wander.
const ENOUGH: usize = 512;
/// Clock steps that are closer together than one part in `NEAR` of the run are merged.
const NEAR: i64 = 64;

/// Constant part of the latency difference up to which two consecutive messages are equally fast,
/// nanoseconds.
const EVEN: f64 = 3000.0;
/// The other part of this limit, as a fraction of the time between the messages.
const EVEN_RATE: f64 = 20e-6;

/// Input of a fit, in raw timestamps.
pub(crate) struct FitInputs<'o> {
    pub(crate) log: &'o LinkLog,
    pub(crate) streams: &'o [StreamExtent],
    /// Domain by stream.
    pub(crate) domain_of: &'o [usize],
    pub(crate) domains: usize,
    /// The resolution of the coarsest clock, nanoseconds.
    pub(crate) tick: f64,
    /// By domain: bounds on the rate error of raw timestamps, if readings give them.
    pub(crate) rates: Vec<Option<(f64, f64)>>,
}

impl FitInputs<'_> {
    /// Bounds on the rate of domain `b` relative to domain `a`, after the correction by these
    /// lines.
    fn rates(&self, a: usize, b: usize, joined: &[Option<DomainJoin>]) -> Option<(f64, f64)> {
        let slope =
            |domain: usize| joined.get(domain).copied().flatten().map_or(0.0, |joined: DomainJoin| joined.line.slope);
        let ((a_low, a_high), (b_low, b_high)) = (self.rates[a]?, self.rates[b]?);
        let corrected = slope(b) - slope(a);
        Some((b_low - a_high + corrected, b_high - a_low + corrected))
    }
}

/// Maps from raw timestamps to better ones, by domain.
pub(crate) type DomainCorrections = Vec<Option<Arc<TimestampCorrection>>>;

/// The result of a fit.
pub(crate) struct FitResult {
    /// The complete corrections.
    pub(crate) bends: DomainCorrections,
    pub(crate) joined: Vec<Option<DomainJoin>>,
    /// Corrections by round, domain and knot, nanoseconds.
    pub(crate) rounds: Vec<Vec<Vec<f64>>>,
    pub(crate) fit: GraphFit,
    /// The fastest messages, with timestamps corrected by all rounds but the last.
    pub(crate) edges: Vec<FastestMessages>,
    pub(crate) span: RunSpan,
    /// Removed clock steps by domain: the raw timestamp of the step, and the correction that is
    /// added from there on.
    pub(crate) sets: Vec<Vec<(i64, i64)>>,
    /// The resolution of the coarsest clock, nanoseconds.
    pub(crate) tick: f64,
}

/// Fits clocks. `base` is applied to raw timestamps first. `None` when no message goes from one
/// domain to another.
///
/// # Errors
/// When the log's temporary file cannot be read.
pub(crate) fn attempt(
    seen: &FitInputs<'_>,
    exchanges: &[Vec<CoarseExchange>],
    base: &DomainCorrections,
) -> io::Result<Option<FitResult>> {
    let &FitInputs { log, streams, domain_of, domains, tick, .. } = seen;
    let date = |bends: &DomainCorrections, domain: usize, coarse: i64| apply_correction(bends, domain, coarse);
    // The time range of the raw timestamps in the log, and that after `base`.
    let raw = span_of(streams, exchanges, |_, coarse| coarse);
    let coarse = span_of(streams, exchanges, |domain, coarse| date(base, domain, coarse));
    let mut sets: Vec<Vec<(i64, i64)>> = vec![Vec::new(); domains];
    let mut found_sets = 0;
    let (joined, span) = loop {
        let mut traffic = ClockTraffic { log, exchanges, domain_of, span: coarse };
        let unset = bends_of(&vec![None; domains], &[], &sets, base, coarse, coarse);
        let edges = traffic.edges(BUCKETS, |domain, coarse| date(&unset, domain, coarse))?;
        if !edges.iter().any(|edge| edge.class == DelayClass::Message) {
            return Ok(None);
        }
        // The less the clocks drift within a bucket, the better its fastest messages are found.
        let rough = lines(domains, &edges, coarse.nanos(), |a, b| seen.rates(a, b, &[]));
        let bends = bends_of(&rough, &[], &sets, base, coarse, coarse);
        let span = span_of(streams, exchanges, |domain, coarse| date(&bends, domain, coarse));
        traffic.span = span;
        let edges = traffic.edges(BUCKETS, |domain, coarse| date(&bends, domain, coarse))?;
        let fine = Some(from_messages::FINE_NOISE).filter(|_| found_sets > 0);
        let noises = fine.into_iter().chain([from_messages::NOISE]);
        let step = noises
            .filter_map(|noise| from_messages::find(&edges, domains, noise + from_messages::OF_TICKS * tick))
            .find(|_| found_sets < MOST_SETS);
        if let Some(step) = step {
            #[expect(clippy::cast_possible_truncation, reason = "the value is within the run")]
            let [from, to, size] = [step.from, step.to, step.size].map(|nanos| nanos.round() as i64);
            let between = (span.start.saturating_add(from), span.start.saturating_add(to));
            let at = traffic.moment(step.domain, between, size, |domain, coarse| date(&bends, domain, coarse))?;
            let at = at.unwrap_or_else(|| first_failure(raw, |coarse| date(&bends, step.domain, coarse) < between.1));
            found_sets += 1;
            let own = &mut sets[step.domain];
            // The step itself bends these lines, so its size is underestimated. The next iteration
            // finds the rest.
            let near = (raw.end - raw.start) / NEAR;
            match own.iter_mut().find(|set| (set.0 - at).abs() <= near) {
                Some(set) => set.1 -= size,
                None => own.push((at, -size)),
            }
            own.sort_unstable();
            continue;
        }
        let fine = lines(domains, &edges, span.nanos(), |a, b| seen.rates(a, b, &rough));
        let both = rough.iter().zip(&fine);
        let joined: Vec<Option<DomainJoin>> =
            both.map(|(rough, fine)| Some(after(rough.as_ref()?, fine.as_ref()?, coarse, span))).collect();
        break (joined, span);
    };
    let traffic = ClockTraffic { log, exchanges, domain_of, span };
    let mut is_free: Vec<bool> = joined.iter().map(|joined| joined.is_some_and(|joined| joined.hops > 0)).collect();

    let mut rounds: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut fitted: Option<(GraphFit, Vec<FastestMessages>)> = None;
    for _ in 0..2 {
        let bends = bends_of(&joined, &rounds, &sets, base, coarse, span);
        let edges = traffic.edges(BUCKETS, |domain, coarse| date(&bends, domain, coarse))?;
        if rounds.is_empty() {
            hold_unconfirmed(&joined, &edges, &mut is_free);
        }
        let fit = graph::fit(&edges, &is_free, span.nanos(), tick, fitted.as_ref().map(|(fit, _)| fit.wander));
        rounds.push(fit.corrections.clone());
        fitted = Some((fit, edges));
    }
    let bends = bends_of(&joined, &rounds, &sets, base, coarse, span);
    let (fit, edges) = fitted.unwrap_or_else(|| unreachable!("two rounds"));
    Ok(Some(FitResult { bends, joined, rounds, fit, edges, span, sets, tick }))
}

/// Excludes clocks from the graph fit that have messages in one direction only. They keep their
/// lines, because a bend may come from changing latencies. An edge with samples, or with mostly
/// even latencies, confirms a clock. The timestamps of the edges are corrected by lines.
fn hold_unconfirmed(joined: &[Option<DomainJoin>], edges: &[FastestMessages], is_free: &mut [bool]) {
    for (domain, is_free) in is_free.iter_mut().enumerate() {
        let is_one_way = joined[domain].is_some_and(|joined| joined.one_way);
        let own = || edges.iter().filter(|edge| edge.from == domain || edge.to == domain);
        if is_one_way && !own().any(|edge| edge.class == DelayClass::Sync || is_even(&edge.points)) {
            *is_free = false;
        }
    }
}

/// Whether at least three in ten of the points took as long as the point before.
fn is_even(points: &[MessagePoint]) -> bool {
    let alike = |pair: &&[MessagePoint]| {
        let (took, time) = (pair[1].took - pair[0].took, pair[1].sent - pair[0].sent);
        took.abs() <= EVEN + EVEN_RATE * time
    };
    points.windows(2).filter(alike).count() * 10 >= points.len() * 3
}

/// The better timestamp of a raw one.
pub(crate) fn apply_correction(bends: &DomainCorrections, domain: usize, coarse: i64) -> i64 {
    bends[domain].as_ref().map_or(coarse, |bend| bend.date(coarse))
}

impl FitResult {
    /// The points of an edge with final timestamps.
    fn seen(&self, edge: &FastestMessages) -> Vec<MessageTimes> {
        let last = |domain: usize, date: f64| interpolate(&self.fit.corrections[domain], date / self.span.nanos());
        let seen = edge.points.iter().map(|point| {
            let (sent, received) = (point.sent, point.sent + point.took);
            let (sent, received) = (sent + last(edge.from, sent), received + last(edge.to, received));
            MessageTimes { sent, received, took: received - sent + self.tick }
        });
        seen.collect()
    }

    /// The most by which a message or a sample arrives before it is sent, nanoseconds.
    pub(crate) fn largest_violation(&self) -> f64 {
        -self.edges.iter().flat_map(|edge| self.seen(edge)).map(|seen| seen.took).fold(0.0, f64::min)
    }

    /// Whether some message still arrives too long before it is sent. Then the clocks do not follow
    /// the model, or some data is wrong.
    pub(crate) fn is_impossible(&self) -> bool {
        self.largest_violation() > IMPOSSIBLE + of_dates(self.tick)
    }

    /// Bounds on the timestamps if the clocks wander as the fit found.
    pub(crate) fn certain_bounds(&self) -> CertainBounds {
        self.certain_for_wander(self.fit.wander * SURELY)
    }

    /// Bounds on the timestamps if the clocks wander by `wander` per square root of a second.
    pub(crate) fn certain_for_wander(&self, wander: f64) -> CertainBounds {
        let domains = self.joined.len();
        let bent = |domain: usize, date: f64| {
            self.rounds.iter().map(|round| interpolate(&round[domain], date / self.span.nanos())).sum::<f64>()
        };
        let heard = self.edges.iter().map(|edge| edge.points.len()).sum::<usize>() / domains;
        let least = if heard < ENOUGH { LEAST_WANDER } else { 0.0 };
        let known = BoundInputs { span: self.span.nanos(), wander: wander.max(least) };
        CertainBounds::of(domains, &self.edges, known, |edge| self.seen(edge), bent)
    }

    /// By domain: maximum error of timestamps in nanoseconds. Infinite when the fit is impossible.
    pub(crate) fn half_widths(&self) -> Vec<f64> {
        if self.is_impossible() {
            return vec![f64::INFINITY; self.joined.len()];
        }
        self.certain_bounds().half_widths().into_iter().map(|width| width + of_dates(self.tick)).collect()
    }
}

/// The first timestamp in a span for which `holds` is false. It is true for all earlier timestamps.
fn first_failure(span: RunSpan, holds: impl Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (span.start, span.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The composition of two lines. The second was fitted to timestamps that the first corrected, in a
/// span of its own.
fn after(first: &DomainJoin, second: &DomainJoin, coarse: RunSpan, span: RunSpan) -> DomainJoin {
    #[expect(clippy::cast_precision_loss, reason = "differences within a run are far below 2^53")]
    let between = (i128::from(coarse.start) - i128::from(span.start)) as f64;
    let (one, two) = (first.line, second.line);
    let offset = one.offset + two.offset + two.slope * (between + one.offset);
    let slope = one.slope + two.slope * (1.0 + one.slope);
    DomainJoin { line: OffsetLine { offset, slope }, ..*second }
}

/// The corrections of all domains: `base`, clock steps, line and graph fit. The reference and other
/// roots have only the first two.
fn bends_of(
    joined: &[Option<DomainJoin>],
    rounds: &[Vec<Vec<f64>>],
    sets: &[Vec<(i64, i64)>],
    base: &DomainCorrections,
    coarse: RunSpan,
    span: RunSpan,
) -> DomainCorrections {
    let length = span.nanos().max(SHORTEST);
    // The knots of all rounds, and two far outside that continue the line.
    let mut places = vec![-0.25 - 1e9 / length, 1.25 + 1e9 / length, 0.0, 1.0];
    for round in rounds {
        let knots = round.first().map_or(2, Vec::len);
        places.extend((0..knots).map(|knot| knot as f64 / (knots as f64 - 1.0)));
    }
    places.sort_by(f64::total_cmp);
    places.dedup();
    #[expect(clippy::cast_precision_loss, reason = "differences within a run are far below 2^53")]
    let between = (i128::from(span.start) - i128::from(coarse.start)) as f64;
    let bend = |(domain, joined): (usize, &Option<DomainJoin>)| {
        // Clock steps are given by raw timestamps in the log.
        let base = base[domain].clone();
        let through = |&(at, more): &(i64, i64)| (base.as_ref().map_or(at, |base| base.date(at)), more);
        let sets: Vec<(i64, i64)> = sets[domain].iter().map(through).collect();
        let Some(line) = joined.as_ref().filter(|joined| joined.hops > 0).map(|joined| joined.line) else {
            if sets.is_empty() {
                return base;
            }
            return Some(Arc::new(TimestampCorrection::default().after_sets(&sets).after(base)));
        };
        let points: Vec<(i64, i64)> = places
            .iter()
            .map(|&place| {
                let date = place * length + between;
                let from = ((date - line.offset) / (1.0 + line.slope)).round();
                let more: f64 = rounds.iter().map(|round| interpolate(&round[domain], place)).sum();
                let added = line.offset + line.slope * from + more;
                #[expect(clippy::cast_possible_truncation, reason = "rounded; within a run")]
                (coarse.start.saturating_add(from as i64), added.round() as i64)
            })
            .collect();
        Some(Arc::new(TimestampCorrection::from_points(&points).after_sets(&sets).after(base)))
    };
    joined.iter().enumerate().map(bend).collect()
}
