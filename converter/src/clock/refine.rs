//! From coarse dates to those that messages confirm: a line per domain, then the graph fit in two rounds.

use std::io;
use std::sync::Arc;

use super::Clocks;
use super::bend::Bend;
use super::bursts::{self, Burst};
use super::certified::{self, Known, Seen};
use super::contradiction::{self, Contradiction};
use super::graph::{self, Fit, interpolate};
use super::lines::{Joined, Line, lines};
use super::link_log::LinkLog;
use super::steps;
use super::traffic::{Class, Edge, Exchange, Span, Traffic};

/// Pieces of the run in which the fastest messages are kept, for lines and for each round of the fit.
const BUCKETS: usize = 256;
/// A run that is shorter is dated as if it took so long, nanoseconds.
const SHORTEST: f64 = 1e6;
/// So many times clocks may have been set.
const MOST_SETS: usize = 32;
/// Clocks wander so many times more than was found, for all that is certain;
pub(super) const SURELY: f64 = 3.0;
/// and at least so much, per square root of a second, where each has
pub(super) const LEAST_WANDER: f64 = 1e-8;
/// fewer observations than these, so that it cannot be found.
const ENOUGH: usize = 512;
/// A message may seem to arrive so much before it left, nanoseconds: what a fit leaves.
pub(super) const IMPOSSIBLE: f64 = 500.0;
/// Steps of a clock that are nearer than this part of the run are one.
const NEAR: i64 = 64;

/// Where the streams are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The domain that dates the stream.
    pub(crate) domain: usize,
    /// Coarse dates of the first record and the last.
    pub(crate) first: i64,
    pub(crate) last: i64,
}

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
/// # Errors
/// When the log's temporary file cannot be read.
pub(crate) fn refine(
    clocks: &Clocks,
    bursts: &[Burst],
    log: &LinkLog,
    streams: &[Extent],
) -> io::Result<Option<Refined>> {
    let domains = clocks.domains.len();
    let mut exchanges = exchanges(clocks, bursts);
    let mut contradictions = Vec::new();
    let domain_of: Vec<usize> = streams.iter().map(|stream| stream.domain).collect();
    let coarse = span_of(streams, &exchanges, |_, date| date);
    let tick = clocks.granularity();
    let mut sets: Vec<Vec<(i64, i64)>> = vec![Vec::new(); domains];
    let mut found_sets = 0;
    let date = |bends: &[Option<Arc<Bend>>], domain: usize, coarse: i64| {
        bends[domain].as_ref().map_or(coarse, |bend| bend.date(coarse))
    };
    let (joined, span) = loop {
        let mut traffic = Traffic { log, exchanges: &exchanges, domain_of: &domain_of, span: coarse };
        let unset = bends_of(&vec![None; domains], &[], &sets, coarse, coarse);
        let edges = traffic.edges(BUCKETS, |domain, coarse| date(&unset, domain, coarse))?;
        if !edges.iter().any(|edge| edge.class == Class::Message) {
            return Ok(None);
        }
        // The fastest in a bucket are found the better, the less the clocks drift within it.
        let rough = lines(domains, &edges, coarse.nanos());
        let bends = bends_of(&rough, &[], &sets, coarse, coarse);
        let span = span_of(streams, &exchanges, |domain, coarse| date(&bends, domain, coarse));
        traffic.span = span;
        let edges = traffic.edges(BUCKETS, |domain, coarse| date(&bends, domain, coarse))?;
        let fine = Some(steps::FINE_NOISE).filter(|_| found_sets > 0);
        let noises = fine.into_iter().chain([steps::NOISE]);
        let step = noises
            .filter_map(|noise| steps::find(&edges, domains, noise + steps::OF_TICKS * tick))
            .find(|_| found_sets < MOST_SETS);
        if let Some(step) = step {
            #[expect(clippy::cast_possible_truncation, reason = "within the run")]
            let [from, to, size] = [step.from, step.to, step.size].map(|nanos| nanos.round() as i64);
            let between = (span.start.saturating_add(from), span.start.saturating_add(to));
            let at = traffic.moment(step.domain, between, size, |domain, coarse| date(&bends, domain, coarse))?;
            let at = at.unwrap_or_else(|| before(coarse, |coarse| date(&bends, step.domain, coarse) < between.1));
            found_sets += 1;
            let own = &mut sets[step.domain];
            // The lines of the first look were bent by the step itself: the rest of it is found at the next.
            let near = (coarse.end - coarse.start) / NEAR;
            match own.iter_mut().find(|set| (set.0 - at).abs() <= near) {
                Some(set) => set.1 -= size,
                None => own.push((at, -size)),
            }
            own.sort_unstable();
            continue;
        }
        if contradictions.is_empty() {
            contradictions = contradiction::find(domains, &edges, span.nanos(), tick);
            if !contradictions.is_empty() {
                for burst in &mut exchanges {
                    burst.retain(|exchange| {
                        let contradicts = contradictions.iter_mut().find(|found| found.is_of(exchange.a, exchange.b));
                        contradicts.map(|found| found.samples += 1).is_none()
                    });
                }
                continue;
            }
        }
        let fine = lines(domains, &edges, span.nanos());
        let both = rough.iter().zip(&fine);
        let joined: Vec<Option<Joined>> =
            both.map(|(rough, fine)| Some(after(rough.as_ref()?, fine.as_ref()?, coarse, span))).collect();
        break (joined, span);
    };
    let traffic = Traffic { log, exchanges: &exchanges, domain_of: &domain_of, span };
    let is_free: Vec<bool> = joined.iter().map(|joined| joined.is_some_and(|joined| joined.hops > 0)).collect();

    let mut rounds: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut fitted: Option<(Fit, Vec<Edge>)> = None;
    for _ in 0..2 {
        let bends = bends_of(&joined, &rounds, &sets, coarse, span);
        let edges = traffic.edges(BUCKETS, |domain, coarse| date(&bends, domain, coarse))?;
        let fit = graph::fit(&edges, &is_free, span.nanos(), tick, fitted.as_ref().map(|(fit, _)| fit.wander));
        rounds.push(fit.corrections.clone());
        fitted = Some((fit, edges));
    }
    let bends = bends_of(&joined, &rounds, &sets, coarse, span);
    let (fit, edges) = fitted.unwrap_or_else(|| unreachable!("two rounds"));
    let mut found = found(&joined, &rounds, &fit, &edges);
    let known = Certainty { fit: &fit, rounds: &rounds, span, tick };
    let widths = known.half_widths(domains, &edges);
    found.iter_mut().zip(widths).for_each(|(found, width)| found.certified = width + of_dates(tick));
    Ok(Some(Refined { bends, found, wander: fit.wander, dates: (span.start, span.end), sets, contradictions }))
}

/// A date itself says no more than the clock can tell apart.
pub(super) fn of_dates(tick: f64) -> f64 {
    (tick - 1.0).max(0.0)
}

/// What is needed to say how far dates can be off.
struct Certainty<'f> {
    fit: &'f Fit,
    rounds: &'f [Vec<Vec<f64>>],
    span: Span,
    /// The coarsest, nanoseconds.
    tick: f64,
}

impl Certainty<'_> {
    /// By domain. The edges are dated by all rounds but the last.
    fn half_widths(&self, domains: usize, edges: &[Edge]) -> Vec<f64> {
        let Self { fit, rounds, span, tick } = *self;
        let seen = |edge: &Edge| {
            let last = |domain: usize, date: f64| interpolate(&fit.corrections[domain], date / span.nanos());
            let seen = edge.points.iter().map(|point| {
                let (sent, received) = (point.sent, point.sent + point.took);
                let (sent, received) = (sent + last(edge.from, sent), received + last(edge.to, received));
                Seen { sent, received, took: received - sent + tick }
            });
            seen.collect()
        };
        let bent = |domain: usize, date: f64| {
            rounds.iter().map(|round| interpolate(&round[domain], date / span.nanos())).sum::<f64>()
        };
        // What still arrives before it leaves shows that the clocks did what the model does not know of: then nothing is certain.
        let early = edges.iter().flat_map(&seen).map(|seen: Seen| seen.took).fold(0.0, f64::min);
        if early < -(IMPOSSIBLE + of_dates(tick)) {
            return vec![f64::INFINITY; domains];
        }
        let heard = edges.iter().map(|edge| edge.points.len()).sum::<usize>() / domains;
        let least = if heard < ENOUGH { LEAST_WANDER } else { 0.0 };
        let known = Known { span: span.nanos(), wander: (fit.wander * SURELY).max(least) };
        certified::half_widths(domains, edges, known, seen, bent)
    }
}

/// The samples in coarse dates, by burst.
pub(super) fn exchanges(clocks: &Clocks, bursts: &[Burst]) -> Vec<Vec<Exchange>> {
    let date = |domain: usize, ticks: u64| clocks.domains[domain].map.global_from_ticks(ticks);
    let dated = |exchange: &bursts::Exchange| {
        let (a, b) = (exchange.a, exchange.b);
        let t = [date(a, exchange.t1), date(b, exchange.t2), date(b, exchange.t3), date(a, exchange.t4)];
        Exchange { a, b, t }
    };
    bursts.iter().map(|burst| burst.exchanges.iter().map(dated).collect()).collect()
}

/// The last date in a span for which something holds that holds for all before it.
fn before(span: Span, holds: impl Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (span.start, span.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// All that is dated: records, and samples, which may have been taken long before the first record.
pub(super) fn span_of(streams: &[Extent], exchanges: &[Vec<Exchange>], date: impl Fn(usize, i64) -> i64) -> Span {
    let dates = streams.iter().map(|stream| (date(stream.domain, stream.first), date(stream.domain, stream.last)));
    let asked =
        exchanges.iter().flatten().map(|exchange| (date(exchange.a, exchange.t[0]), date(exchange.a, exchange.t[3])));
    let dates = dates.chain(asked);
    let (start, end) = dates.fold((i64::MAX, i64::MIN), |span, (first, last)| (span.0.min(first), span.1.max(last)));
    if start <= end { Span { start, end } } else { Span { start: 0, end: 1 } }
}

/// One line after another: the second was found on the dates that the first made, in a span of its own.
fn after(first: &Joined, second: &Joined, coarse: Span, span: Span) -> Joined {
    #[expect(clippy::cast_precision_loss, reason = "differences within a run")]
    let between = (i128::from(coarse.start) - i128::from(span.start)) as f64;
    let (one, two) = (first.line, second.line);
    let offset = one.offset + two.offset + two.slope * (between + one.offset);
    let slope = one.slope + two.slope * (1.0 + one.slope);
    Joined { line: Line { offset, slope }, ..*second }
}

/// The bends of all domains but the reference: line and corrections.
fn bends_of(
    joined: &[Option<Joined>],
    rounds: &[Vec<Vec<f64>>],
    sets: &[Vec<(i64, i64)>],
    coarse: Span,
    span: Span,
) -> Vec<Option<Arc<Bend>>> {
    let length = span.nanos().max(SHORTEST);
    // Knots of all rounds, and two far outside, so that the line goes on.
    let mut places = vec![-0.25 - 1e9 / length, 1.25 + 1e9 / length, 0.0, 1.0];
    for round in rounds {
        let knots = round.first().map_or(2, Vec::len);
        places.extend((0..knots).map(|knot| knot as f64 / (knots as f64 - 1.0)));
    }
    places.sort_by(f64::total_cmp);
    places.dedup();
    #[expect(clippy::cast_precision_loss, reason = "differences within a run")]
    let between = (i128::from(span.start) - i128::from(coarse.start)) as f64;
    let bend = |(domain, joined): (usize, &Option<Joined>)| {
        let Some(line) = joined.as_ref().filter(|joined| joined.hops > 0).map(|joined| joined.line) else {
            let sets = Some(&sets[domain]).filter(|sets| !sets.is_empty())?;
            return Some(Arc::new(Bend::default().after_sets(sets)));
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
        Some(Arc::new(Bend::through(&points).after_sets(&sets[domain])))
    };
    joined.iter().enumerate().map(bend).collect()
}

fn found(joined: &[Option<Joined>], rounds: &[Vec<Vec<f64>>], fit: &Fit, edges: &[Edge]) -> Vec<Found> {
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
