//! One fit of all clocks to messages and samples: a line per domain, then the graph fit in two rounds.

pub(crate) mod causality_bounds;
pub(crate) mod rebase;
pub(crate) mod refinement;
pub(crate) mod sample_bounds;
pub(crate) mod uncorrected;
pub(crate) mod wander;

use std::io;
use std::sync::Arc;

use super::correction::Bend;
use super::domain::extent::{Extent, span_of};
use super::envelope::{Joined, Line, lines};
use super::error_bounds::{Certain, Known, Seen};
use super::graph::{self, Fit, interpolate};
use super::limits::{IMPOSSIBLE, LEAST_WANDER, SURELY, of_dates};
use super::link_log::LinkLog;
use super::min_delays::{Class, Edge, Exchange, Point, Span, Traffic};
use super::steps::from_messages;

/// Pieces of the run in which the fastest messages are kept, for lines and for each round of the fit.
const BUCKETS: usize = 256;
/// A run that is shorter is dated as if it took so long, nanoseconds.
const SHORTEST: f64 = 1e6;
/// So many times clocks may have been set.
const MOST_SETS: usize = 32;
/// With fewer observations of each clock than these its wander cannot be found.
const ENOUGH: usize = 512;
/// Steps of a clock that are nearer than this part of the run are one.
const NEAR: i64 = 64;

/// Messages are as fast as the one before if they differ by this, nanoseconds,
const EVEN: f64 = 3000.0;
/// and this part of the time between them.
const EVEN_RATE: f64 = 20e-6;

/// What is known of the clocks' traffic, by coarse dates.
pub(crate) struct Observed<'o> {
    pub(crate) log: &'o LinkLog,
    pub(crate) streams: &'o [Extent],
    /// By stream.
    pub(crate) domain_of: &'o [usize],
    pub(crate) domains: usize,
    /// What the coarsest clock can tell apart, nanoseconds.
    pub(crate) tick: f64,
    /// By domain: within which bounds coarse dates run fast, where readings tell.
    pub(crate) rates: Vec<Option<(f64, f64)>>,
}

impl Observed<'_> {
    /// By how much the dates of domain `b` run faster than those of `a`, after what these lines have corrected.
    fn rates(&self, a: usize, b: usize, joined: &[Option<Joined>]) -> Option<(f64, f64)> {
        let slope =
            |domain: usize| joined.get(domain).copied().flatten().map_or(0.0, |joined: Joined| joined.line.slope);
        let ((a_low, a_high), (b_low, b_high)) = (self.rates[a]?, self.rates[b]?);
        let corrected = slope(b) - slope(a);
        Some((b_low - a_high + corrected, b_high - a_low + corrected))
    }
}

/// Maps from coarse dates to better ones, by domain.
pub(crate) type Bends = Vec<Option<Arc<Bend>>>;

/// What a fit found.
pub(crate) struct Attempt {
    /// All of it together.
    pub(crate) bends: Bends,
    pub(crate) joined: Vec<Option<Joined>>,
    /// By round, domain and knot, what was added.
    pub(crate) rounds: Vec<Vec<Vec<f64>>>,
    pub(crate) fit: Fit,
    /// By the dates of all rounds but the last.
    pub(crate) edges: Vec<Edge>,
    pub(crate) span: Span,
    /// By domain: from which coarse date on how much was added, as the clock had been set.
    pub(crate) sets: Vec<Vec<(i64, i64)>>,
    /// What the coarsest clock can tell apart, nanoseconds.
    pub(crate) tick: f64,
}

/// Fits clocks, whose coarse dates go through `base` first. `None` when no message goes from one domain to another.
///
/// # Errors
/// When the log's temporary file cannot be read.
pub(crate) fn attempt(seen: &Observed<'_>, exchanges: &[Vec<Exchange>], base: &Bends) -> io::Result<Option<Attempt>> {
    let &Observed { log, streams, domain_of, domains, tick, .. } = seen;
    let date = |bends: &Bends, domain: usize, coarse: i64| dated(bends, domain, coarse);
    // As the log has them, and through the base.
    let raw = span_of(streams, exchanges, |_, coarse| coarse);
    let coarse = span_of(streams, exchanges, |domain, coarse| date(base, domain, coarse));
    let mut sets: Vec<Vec<(i64, i64)>> = vec![Vec::new(); domains];
    let mut found_sets = 0;
    let (joined, span) = loop {
        let mut traffic = Traffic { log, exchanges, domain_of, span: coarse };
        let unset = bends_of(&vec![None; domains], &[], &sets, base, coarse, coarse);
        let edges = traffic.edges(BUCKETS, |domain, coarse| date(&unset, domain, coarse))?;
        if !edges.iter().any(|edge| edge.class == Class::Message) {
            return Ok(None);
        }
        // The fastest in a bucket are found the better, the less the clocks drift within it.
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
            #[expect(clippy::cast_possible_truncation, reason = "within the run")]
            let [from, to, size] = [step.from, step.to, step.size].map(|nanos| nanos.round() as i64);
            let between = (span.start.saturating_add(from), span.start.saturating_add(to));
            let at = traffic.moment(step.domain, between, size, |domain, coarse| date(&bends, domain, coarse))?;
            let at = at.unwrap_or_else(|| before(raw, |coarse| date(&bends, step.domain, coarse) < between.1));
            found_sets += 1;
            let own = &mut sets[step.domain];
            // The lines of the first look were bent by the step itself: the rest of it is found at the next.
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
        let joined: Vec<Option<Joined>> =
            both.map(|(rough, fine)| Some(after(rough.as_ref()?, fine.as_ref()?, coarse, span))).collect();
        break (joined, span);
    };
    let traffic = Traffic { log, exchanges, domain_of, span };
    let mut is_free: Vec<bool> = joined.iter().map(|joined| joined.is_some_and(|joined| joined.hops > 0)).collect();

    let mut rounds: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut fitted: Option<(Fit, Vec<Edge>)> = None;
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
    Ok(Some(Attempt { bends, joined, rounds, fit, edges, span, sets, tick }))
}

/// Clocks that are heard one way only keep their lines unless some edge confirms that messages are mostly as fast as the one before: else what bends
/// is the way of the messages. The edges' dates are corrected by lines.
fn hold_unconfirmed(joined: &[Option<Joined>], edges: &[Edge], is_free: &mut [bool]) {
    for (domain, is_free) in is_free.iter_mut().enumerate() {
        let is_one_way = joined[domain].is_some_and(|joined| joined.one_way);
        let own = || edges.iter().filter(|edge| edge.from == domain || edge.to == domain);
        if is_one_way && !own().any(|edge| edge.class == Class::Sync || is_even(&edge.points)) {
            *is_free = false;
        }
    }
}

/// Whether three in ten of the fastest messages of each piece took as long as the one before.
fn is_even(points: &[Point]) -> bool {
    let alike = |pair: &&[Point]| {
        let (took, time) = (pair[1].took - pair[0].took, pair[1].sent - pair[0].sent);
        took.abs() <= EVEN + EVEN_RATE * time
    };
    points.windows(2).filter(alike).count() * 10 >= points.len() * 3
}

/// A better date of a coarse one.
pub(crate) fn dated(bends: &Bends, domain: usize, coarse: i64) -> i64 {
    bends[domain].as_ref().map_or(coarse, |bend| bend.date(coarse))
}

impl Attempt {
    /// The points of an edge by the final dates.
    fn seen(&self, edge: &Edge) -> Vec<Seen> {
        let last = |domain: usize, date: f64| interpolate(&self.fit.corrections[domain], date / self.span.nanos());
        let seen = edge.points.iter().map(|point| {
            let (sent, received) = (point.sent, point.sent + point.took);
            let (sent, received) = (sent + last(edge.from, sent), received + last(edge.to, received));
            Seen { sent, received, took: received - sent + self.tick }
        });
        seen.collect()
    }

    /// By how much a message or a sample arrives before it leaves at most, nanoseconds.
    pub(crate) fn earliest(&self) -> f64 {
        -self.edges.iter().flat_map(|edge| self.seen(edge)).map(|seen| seen.took).fold(0.0, f64::min)
    }

    /// What still arrives before it leaves shows that the clocks did what the model does not know of, or that something is not true.
    pub(crate) fn is_impossible(&self) -> bool {
        self.earliest() > IMPOSSIBLE + of_dates(self.tick)
    }

    /// What is certain of the timestamps if the clocks wander as the fit found.
    pub(crate) fn certain(&self) -> Certain {
        self.certain_for_wander(self.fit.wander * SURELY)
    }

    /// What is certain of the timestamps if the clocks wander by so much, per square root of a second.
    pub(crate) fn certain_for_wander(&self, wander: f64) -> Certain {
        let domains = self.joined.len();
        let bent = |domain: usize, date: f64| {
            self.rounds.iter().map(|round| interpolate(&round[domain], date / self.span.nanos())).sum::<f64>()
        };
        let heard = self.edges.iter().map(|edge| edge.points.len()).sum::<usize>() / domains;
        let least = if heard < ENOUGH { LEAST_WANDER } else { 0.0 };
        let known = Known { span: self.span.nanos(), wander: wander.max(least) };
        Certain::of(domains, &self.edges, known, |edge| self.seen(edge), bent)
    }

    /// By domain, how far dates can be off. When something is impossible, nothing is certain.
    pub(crate) fn half_widths(&self) -> Vec<f64> {
        if self.is_impossible() {
            return vec![f64::INFINITY; self.joined.len()];
        }
        self.certain().half_widths().into_iter().map(|width| width + of_dates(self.tick)).collect()
    }
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

/// One line after another: the second was found on the dates that the first made, in a span of its own.
fn after(first: &Joined, second: &Joined, coarse: Span, span: Span) -> Joined {
    #[expect(clippy::cast_precision_loss, reason = "differences within a run")]
    let between = (i128::from(coarse.start) - i128::from(span.start)) as f64;
    let (one, two) = (first.line, second.line);
    let offset = one.offset + two.offset + two.slope * (between + one.offset);
    let slope = one.slope + two.slope * (1.0 + one.slope);
    Joined { line: Line { offset, slope }, ..*second }
}

/// The bends of all domains but the reference: what their coarse dates go through first, line and corrections.
fn bends_of(
    joined: &[Option<Joined>],
    rounds: &[Vec<Vec<f64>>],
    sets: &[Vec<(i64, i64)>],
    base: &Bends,
    coarse: Span,
    span: Span,
) -> Bends {
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
        // Sets are where the log has them.
        let base = base[domain].clone();
        let through = |&(at, more): &(i64, i64)| (base.as_ref().map_or(at, |base| base.date(at)), more);
        let sets: Vec<(i64, i64)> = sets[domain].iter().map(through).collect();
        let Some(line) = joined.as_ref().filter(|joined| joined.hops > 0).map(|joined| joined.line) else {
            if sets.is_empty() {
                return base;
            }
            return Some(Arc::new(Bend::default().after_sets(&sets).over(base)));
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
        Some(Arc::new(Bend::through(&points).after_sets(&sets).over(base)))
    };
    joined.iter().enumerate().map(bend).collect()
}
