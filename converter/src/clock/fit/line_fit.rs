//! The fit of a line per clock, without the clock steps that messages show.

use std::io;

use super::corrections::{DomainCorrections, apply_correction, corrections_of, starts_between};
use super::inputs::FitInputs;
use crate::clock::correction::CorrectionPoint;
use crate::clock::domain::stream_extent::span_of;
use crate::clock::envelope::{DomainJoin, OffsetLine, lines};
use crate::clock::min_delays::{ClockTraffic, DelayClass, FastestMessages, RawExchange, RunSpan};
use crate::clock::steps::from_messages::{self, OffsetStep};

/// Number of pieces of the run, each with its fastest messages, for the lines and for each round of
/// the fit.
pub(crate) const BUCKETS: usize = 256;
/// Maximum number of clock steps that are searched for.
const MAX_STEPS: usize = 32;
/// Clock steps that are closer together than this fraction of the run (one part in 64) are merged.
const MERGE_DISTANCE_DIVISOR: i64 = 64;

/// A line for each domain, without clock steps.
pub(crate) struct LineFit {
    pub(crate) joins: Vec<Option<DomainJoin>>,
    /// The time range after the correction by the first lines. Graph fits refer to it.
    pub(crate) span: RunSpan,
    /// Removed clock steps by domain.
    pub(crate) steps: Vec<Vec<CorrectionPoint>>,
}

/// Fits a line per domain. Each clock step that the messages show is removed, and the lines are
/// fitted again. `base_span` is the time range after `base`. `None` when no message goes
/// from one domain to another.
pub(crate) fn fit_lines(
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
        let line_pairs = first_lines.iter().zip(&second_lines);
        let joins = line_pairs
            .map(|(first, second)| Some(compose_joins(first.as_ref()?, second.as_ref()?, base_span, span)))
            .collect();
        return Ok(Some(LineFit { joins, span, steps }));
    }
}

/// The next clock step that messages show. After the first step, smaller ones count, too, so that
/// the rest of a step is found.
fn next_step(edges: &[FastestMessages], domains: usize, tick: f64, has_steps: bool) -> Option<OffsetStep> {
    let small = Some(from_messages::REST_NOISE).filter(|_| has_steps);
    let mut noises = small.into_iter().chain([from_messages::NOISE]);
    noises.find_map(|noise| from_messages::find(edges, domains, noise + from_messages::OF_TICKS * tick))
}

/// The raw timestamp of a clock step and the correction that removes it. The step was found in
/// timestamps with these corrections.
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
    Ok(CorrectionPoint { raw, correction: -size })
}

/// Adds a clock step to those of its domain, or to the size of a step nearby. A step itself bends
/// the lines, so its size is underestimated. The next iteration finds the rest.
fn add_step(steps: &mut Vec<CorrectionPoint>, step: CorrectionPoint, raw_span: RunSpan) {
    let max_distance = (raw_span.end - raw_span.start) / MERGE_DISTANCE_DIVISOR;
    match steps.iter_mut().find(|other| (other.raw - step.raw).abs() <= max_distance) {
        Some(other) => other.correction += step.correction,
        None => steps.push(step),
    }
    steps.sort_unstable();
}

/// The first timestamp in a span for which `condition` is false. It is true for all earlier
/// timestamps.
fn first_failure(span: RunSpan, condition: impl Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (span.start, span.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if condition(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The composition of two lines. The first was fitted to timestamps in `first_span`. The second was
/// fitted to those that the first corrected, in `second_span`.
fn compose_joins(first: &DomainJoin, second: &DomainJoin, first_span: RunSpan, second_span: RunSpan) -> DomainJoin {
    let between = starts_between(second_span, first_span);
    let (first_line, second_line) = (first.line, second.line);
    let offset = first_line.offset + second_line.offset + second_line.slope * (between + first_line.offset);
    let slope = first_line.slope + second_line.slope * (1.0 + first_line.slope);
    DomainJoin { line: OffsetLine { offset, slope }, ..*second }
}
