//! One fit of all clocks to messages and samples: a line per domain, then the graph fit in two
//! rounds.

pub(crate) mod causality_bounds;
pub(crate) mod rebase;
pub(crate) mod refinement;
pub(crate) mod sample_bounds;
pub(crate) mod uncorrected_clocks;
pub(crate) mod wander_estimate;

use std::io;
use std::sync::Arc;

use super::correction::{CorrectionPoint, TimestampCorrection};
use super::domain::extent::{StreamExtent, span_of};
use super::envelope::{DomainJoin, OffsetLine, lines};
use super::error_bounds::{BoundInputs, CertainBounds, MessageTimes};
use super::graph::{self, GraphFit, interpolate};
use super::limits::{IMPOSSIBLE, LEAST_WANDER, RateBounds, SURELY, of_dates};
use super::link_log::LinkLog;
use super::min_delays::{ClockTraffic, DelayClass, FastestMessages, MessagePoint, RawExchange, RunSpan};
use super::steps::from_messages::{self, OffsetStep};

/// Number of pieces of the run, each with its fastest messages, for the lines and for each round of
/// the fit.
const BUCKETS: usize = 256;
/// Minimum length of a run in the computation of knots, nanoseconds.
const SHORTEST: f64 = 1e6;
/// Maximum number of clock steps that are searched for.
const MAX_STEPS: usize = 32;
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
    pub(crate) rates: Vec<Option<RateBounds>>,
}

impl FitInputs<'_> {
    /// Bounds on the rate of domain `b` relative to domain `a`, after the correction by these
    /// lines.
    fn rates(&self, a: usize, b: usize, joined: &[Option<DomainJoin>]) -> Option<RateBounds> {
        let slope =
            |domain: usize| joined.get(domain).copied().flatten().map_or(0.0, |joined: DomainJoin| joined.line.slope);
        let (of_a, of_b) = (self.rates[a]?, self.rates[b]?);
        let corrected = slope(b) - slope(a);
        Some(RateBounds { low: of_b.low - of_a.high + corrected, high: of_b.high - of_a.low + corrected })
    }
}

/// Maps from raw timestamps to corrected ones, by domain.
pub(crate) type DomainCorrections = Vec<Option<Arc<TimestampCorrection>>>;

/// Absolute residuals of a fit, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FitResiduals {
    pub(crate) median: f64,
    /// The 95th percentile.
    pub(crate) p95: f64,
}

impl FitResiduals {
    fn of(residuals: &mut [f64]) -> Self {
        residuals.sort_by(f64::total_cmp);
        let at = |share: usize| residuals.get(residuals.len() * share / 100).copied().unwrap_or(0.0);
        Self { median: at(50), p95: at(95) }
    }
}

/// The result of a fit.
pub(crate) struct FitResult {
    /// The complete corrections.
    pub(crate) corrections: DomainCorrections,
    pub(crate) joined: Vec<Option<DomainJoin>>,
    /// Corrections by round, domain and knot, nanoseconds.
    pub(crate) rounds: Vec<Vec<Vec<f64>>>,
    pub(crate) fit: GraphFit,
    /// The fastest messages, with timestamps corrected by all rounds but the last.
    pub(crate) edges: Vec<FastestMessages>,
    pub(crate) span: RunSpan,
    /// Removed clock steps by domain.
    pub(crate) steps: Vec<Vec<CorrectionPoint>>,
    /// The resolution of the coarsest clock, nanoseconds.
    pub(crate) tick: f64,
}

/// A line for each domain, without clock steps.
struct LineFit {
    joined: Vec<Option<DomainJoin>>,
    /// The time range after the correction by the first lines. Graph fits refer to it.
    span: RunSpan,
    /// Removed clock steps by domain.
    steps: Vec<Vec<CorrectionPoint>>,
}

/// Fits clocks. `base` is applied to raw timestamps first. `None` when no message goes from one
/// domain to another.
///
/// # Errors
/// When the log's temporary file cannot be read.
pub(crate) fn attempt(
    inputs: &FitInputs<'_>,
    exchanges: &[Vec<RawExchange>],
    base: &DomainCorrections,
) -> io::Result<Option<FitResult>> {
    let &FitInputs { log, streams, domain_of, tick, .. } = inputs;
    let base_span = span_of(streams, exchanges, |domain, raw| apply_correction(base, domain, raw));
    let Some(LineFit { joined, span, steps }) = fit_lines(inputs, exchanges, base, base_span)? else {
        return Ok(None);
    };
    let traffic = ClockTraffic { log, exchanges, domain_of, span };
    let mut is_free: Vec<bool> = joined.iter().map(|joined| joined.is_some_and(|joined| joined.hops > 0)).collect();
    let mut rounds: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut fitted: Option<(GraphFit, Vec<FastestMessages>)> = None;
    for _ in 0..2 {
        let corrections = corrections_of(&joined, &rounds, &steps, base, base_span, span);
        let edges = traffic.edges(BUCKETS, |domain, raw| apply_correction(&corrections, domain, raw))?;
        if rounds.is_empty() {
            hold_unconfirmed(&joined, &edges, &mut is_free);
        }
        let fit = graph::fit(&edges, &is_free, span.nanos(), tick, fitted.as_ref().map(|(fit, _)| fit.wander));
        rounds.push(fit.corrections.clone());
        fitted = Some((fit, edges));
    }
    let corrections = corrections_of(&joined, &rounds, &steps, base, base_span, span);
    let (fit, edges) = fitted.unwrap_or_else(|| unreachable!("two rounds"));
    Ok(Some(FitResult { corrections, joined, rounds, fit, edges, span, steps, tick }))
}

/// Fits a line per domain. Each clock step that the messages show is removed, and the lines are
/// fitted again. `base_span` is the time range after `base`. `None` as for [`attempt`].
fn fit_lines(
    inputs: &FitInputs<'_>,
    exchanges: &[Vec<RawExchange>],
    base: &DomainCorrections,
    base_span: RunSpan,
) -> io::Result<Option<LineFit>> {
    let &FitInputs { log, streams, domain_of, domains, tick, .. } = inputs;
    let raw_span = span_of(streams, exchanges, |_, raw| raw);
    let mut steps: Vec<Vec<CorrectionPoint>> = vec![Vec::new(); domains];
    let mut found_steps = 0;
    loop {
        let mut traffic = ClockTraffic { log, exchanges, domain_of, span: base_span };
        let without_lines = corrections_of(&vec![None; domains], &[], &steps, base, base_span, base_span);
        let edges = traffic.edges(BUCKETS, |domain, raw| apply_correction(&without_lines, domain, raw))?;
        if !edges.iter().any(|edge| edge.class == DelayClass::Message) {
            return Ok(None);
        }
        // The less the clocks drift within a bucket, the better its fastest messages are found.
        let first_lines = lines(domains, &edges, base_span.nanos(), |a, b| inputs.rates(a, b, &[]));
        let corrections = corrections_of(&first_lines, &[], &steps, base, base_span, base_span);
        let span = span_of(streams, exchanges, |domain, raw| apply_correction(&corrections, domain, raw));
        traffic.span = span;
        let edges = traffic.edges(BUCKETS, |domain, raw| apply_correction(&corrections, domain, raw))?;
        if found_steps < MAX_STEPS
            && let Some(step) = next_step(&edges, domains, tick, found_steps > 0)
        {
            let point = locate_step(&step, &traffic, &corrections, raw_span)?;
            add_step(&mut steps[step.domain], point, raw_span);
            found_steps += 1;
            continue;
        }
        let second_lines = lines(domains, &edges, span.nanos(), |a, b| inputs.rates(a, b, &first_lines));
        let both = first_lines.iter().zip(&second_lines);
        let joined = both
            .map(|(first, second)| Some(compose_joins(first.as_ref()?, second.as_ref()?, base_span, span)))
            .collect();
        return Ok(Some(LineFit { joined, span, steps }));
    }
}

/// The next clock step that messages show. After the first step, smaller ones count, too, so that
/// the rest of a step is found.
fn next_step(edges: &[FastestMessages], domains: usize, tick: f64, has_steps: bool) -> Option<OffsetStep> {
    let small = Some(from_messages::REST_NOISE).filter(|_| has_steps);
    let mut noises = small.into_iter().chain([from_messages::NOISE]);
    noises.find_map(|noise| from_messages::find(edges, domains, noise + from_messages::OF_TICKS * tick))
}

/// The raw timestamp of a clock step and the correction that removes it. `corrections` are those by
/// which the traffic found the step.
fn locate_step(
    step: &OffsetStep,
    traffic: &ClockTraffic<'_>,
    corrections: &DomainCorrections,
    raw_span: RunSpan,
) -> io::Result<CorrectionPoint> {
    #[expect(clippy::cast_possible_truncation, reason = "the value is within the run")]
    let [from, to, size] = [step.from, step.to, step.size].map(|nanos| nanos.round() as i64);
    let start = traffic.span.start;
    let between = RunSpan { start: start.saturating_add(from), end: start.saturating_add(to) };
    let corrected = |domain: usize, raw: i64| apply_correction(corrections, domain, raw);
    let raw = traffic.moment(step.domain, between, size, corrected)?;
    let raw = raw.unwrap_or_else(|| first_failure(raw_span, |raw| corrected(step.domain, raw) < between.end));
    Ok(CorrectionPoint { raw, added: -size })
}

/// Adds a clock step to those of its domain, or to the size of a step nearby. A step itself bends
/// the lines, so its size is underestimated. The next iteration finds the rest.
fn add_step(steps: &mut Vec<CorrectionPoint>, step: CorrectionPoint, raw_span: RunSpan) {
    let near = (raw_span.end - raw_span.start) / NEAR;
    match steps.iter_mut().find(|other| (other.raw - step.raw).abs() <= near) {
        Some(other) => other.added += step.added,
        None => steps.push(step),
    }
    steps.sort_unstable();
}

/// Excludes clocks from the graph fit that have messages in one direction only. They keep their
/// lines, because a bend may come from changing latencies. An edge with samples, or with mostly
/// even latencies, confirms a clock. The timestamps of the edges are corrected by lines.
fn hold_unconfirmed(joined: &[Option<DomainJoin>], edges: &[FastestMessages], is_free: &mut [bool]) {
    for (domain, is_free) in is_free.iter_mut().enumerate() {
        let is_one_way = joined[domain].is_some_and(|joined| joined.one_way);
        let mut edges = edges.iter().filter(|edge| edge.from == domain || edge.to == domain);
        if is_one_way && !edges.any(|edge| edge.class == DelayClass::Sync || is_even(&edge.points)) {
            *is_free = false;
        }
    }
}

/// Whether at least three in ten of the points took as long as the point before.
fn is_even(points: &[MessagePoint]) -> bool {
    let is_equal = |pair: &&[MessagePoint]| {
        let (took, time) = (pair[1].took - pair[0].took, pair[1].sent - pair[0].sent);
        took.abs() <= EVEN + EVEN_RATE * time
    };
    points.windows(2).filter(is_equal).count() * 10 >= points.len() * 3
}

/// The corrected timestamp of a raw one.
pub(crate) fn apply_correction(corrections: &DomainCorrections, domain: usize, raw: i64) -> i64 {
    corrections[domain].as_ref().map_or(raw, |correction| correction.corrected(raw))
}

impl FitResult {
    /// The points of an edge with final timestamps.
    fn message_times(&self, edge: &FastestMessages) -> Vec<MessageTimes> {
        let last = |domain: usize, at: f64| interpolate(&self.fit.corrections[domain], at / self.span.nanos());
        let times = edge.points.iter().map(|point| {
            let (sent, received) = (point.sent, point.sent + point.took);
            let (sent, received) = (sent + last(edge.from, sent), received + last(edge.to, received));
            MessageTimes { sent, received, took: received - sent + self.tick }
        });
        times.collect()
    }

    /// The most by which a message or a sample arrives before it is sent, nanoseconds.
    pub(crate) fn largest_violation(&self) -> f64 {
        -self.edges.iter().flat_map(|edge| self.message_times(edge)).map(|message| message.took).fold(0.0, f64::min)
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
        let correction = |domain: usize, at: f64| {
            self.rounds.iter().map(|round| interpolate(&round[domain], at / self.span.nanos())).sum::<f64>()
        };
        let observations = self.edges.iter().map(|edge| edge.points.len()).sum::<usize>() / domains;
        let least = if observations < ENOUGH { LEAST_WANDER } else { 0.0 };
        let inputs = BoundInputs { span: self.span.nanos(), wander: wander.max(least) };
        CertainBounds::of(domains, &self.edges, inputs, |edge| self.message_times(edge), correction)
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

/// The composition of two lines. The first was fitted to timestamps in `first_span`. The second was
/// fitted to those that the first corrected, in `second_span`.
fn compose_joins(first: &DomainJoin, second: &DomainJoin, first_span: RunSpan, second_span: RunSpan) -> DomainJoin {
    let between = starts_between(second_span, first_span);
    let (one, two) = (first.line, second.line);
    let offset = one.offset + two.offset + two.slope * (between + one.offset);
    let slope = one.slope + two.slope * (1.0 + one.slope);
    DomainJoin { line: OffsetLine { offset, slope }, ..*second }
}

/// The time from the start of a span to that of a later one, nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "differences within a run are far below 2^53")]
fn starts_between(earlier: RunSpan, later: RunSpan) -> f64 {
    (i128::from(later.start) - i128::from(earlier.start)) as f64
}

/// The corrections of all domains: `base`, clock steps, line and graph fit. The reference and other
/// roots have only the first two. Lines refer to `base_span`, graph fits to `span`.
fn corrections_of(
    joined: &[Option<DomainJoin>],
    rounds: &[Vec<Vec<f64>>],
    steps: &[Vec<CorrectionPoint>],
    base: &DomainCorrections,
    base_span: RunSpan,
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
    let between = starts_between(base_span, span);
    let correction = |(domain, joined): (usize, &Option<DomainJoin>)| {
        // Clock steps are given by raw timestamps in the log.
        let base = base[domain].clone();
        let after_base = |step: &CorrectionPoint| CorrectionPoint {
            raw: base.as_ref().map_or(step.raw, |base| base.corrected(step.raw)),
            added: step.added,
        };
        let steps: Vec<CorrectionPoint> = steps[domain].iter().map(after_base).collect();
        let Some(line) = joined.as_ref().filter(|joined| joined.hops > 0).map(|joined| joined.line) else {
            if steps.is_empty() {
                return base;
            }
            return Some(Arc::new(TimestampCorrection::default().after_steps(&steps).after(base)));
        };
        let point = |&place: &f64| {
            let from = ((place * length + between - line.offset) / (1.0 + line.slope)).round();
            let more: f64 = rounds.iter().map(|round| interpolate(&round[domain], place)).sum();
            let added = line.offset + line.slope * from + more;
            #[expect(clippy::cast_possible_truncation, reason = "rounded; within a run")]
            CorrectionPoint { raw: base_span.start.saturating_add(from as i64), added: added.round() as i64 }
        };
        let points: Vec<CorrectionPoint> = places.iter().map(point).collect();
        Some(Arc::new(TimestampCorrection::from_points(&points).after_steps(&steps).after(base)))
    };
    joined.iter().enumerate().map(correction).collect()
}
