//! Offsets between clocks from bursts of exchanged messages.
//!
//! Of the exchanges of a pair of domains in a burst, each direction keeps its smallest one-way difference; half of their
//! difference is the offset, whatever the two latencies were, as long as the smallest ones are alike. Several pairs are
//! reconciled by least squares. As clocks drift during a burst, the fit is repeated on dates that the first one corrected.

use std::collections::BTreeMap;

use crate::clock::Domain;
use crate::clock::burst::{Burst, Exchange, Offset};
use crate::clock::domain::map::{ClockMap, Knot};
use crate::clock::least_squares::Edge;
use crate::clock::outliers::drift_consistency::{USUAL_WANDER, agreed_drift, by_itself, drift_can_be, usual_drift};
use crate::clock::outliers::loop_closure::Misclosure;
use crate::clock::outliers::{edge_bursts, loop_closure};
use crate::clock::units::NANOS_PER_SECOND;

/// Offsets that differ by less contradict nothing, nanoseconds.
pub(crate) const CONTRADICTION: f64 = 20_000.0;
/// No pair weighs less beside the others.
const LIGHTEST: f64 = 1e-9;
/// By so much more or less than usual no clock drifts.
const STEEP: f64 = 5e-6;
/// How often the fit is repeated.
const ROUNDS: usize = 3;

/// Offsets of all domains at all bursts. Dates are counted from an origin in each domain, so that `f64` holds them exactly
/// enough.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    origins: Vec<u64>,
    hz: Vec<f64>,
    /// What the coarsest clock can tell apart, nanoseconds.
    tick: f64,
    nominal: Vec<i128>,
    /// What each domain usually drifts, where it has several bursts.
    drifts: Vec<Option<f64>>,
    pub(crate) offsets: Vec<Vec<Offset>>,
    /// Root mean square of what is left of each domain's pairs, nanoseconds.
    pub(crate) residuals: Vec<f64>,
    /// Offsets that were left out, and where the clock may have been set between two bursts.
    pub(crate) oddities: Vec<Oddity>,
    /// Pairs that contradict the others by more than their messages can have taken: one entry for each burst where some do.
    pub(crate) misclosures: Vec<Misclosure>,
}

/// Finds the offsets.
pub(crate) fn fit(domains: &[Domain], bursts: &[Burst]) -> Fit {
    let count = domains.len();
    let mut origins = vec![u64::MAX; count];
    for exchange in bursts.iter().flat_map(|burst| &burst.exchanges) {
        origins[exchange.a] = origins[exchange.a].min(exchange.t1);
        origins[exchange.b] = origins[exchange.b].min(exchange.t2);
    }
    for origin in &mut origins {
        if *origin == u64::MAX {
            *origin = 0;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
    let hz = domains.iter().map(|domain| domain.hz as f64).collect();
    let nominal = domains.iter().zip(&origins).map(|(d, &o)| ClockMap::linear(d.hz).wide_from_ticks(o)).collect();
    let mut fit = Fit {
        origins,
        hz,
        tick: domains.iter().map(|domain| domain.granularity_nanos).fold(0.0, f64::max),
        nominal,
        drifts: vec![None; count],
        offsets: vec![Vec::new(); count],
        residuals: vec![0.0; count],
        oddities: Vec::new(),
        misclosures: Vec::new(),
    };
    for round in 0..ROUNDS {
        let mut next: Vec<Vec<Offset>> = vec![Vec::new(); count];
        let mut squares = vec![(0.0, 0usize); count];
        fit.misclosures = bursts.iter().filter_map(|burst| fit.burst(burst, &mut next, &mut squares)).collect();
        fit.oddities.clear();
        for (domain, offsets) in next.iter_mut().enumerate().skip(1) {
            offsets.sort_by(|a, b| a.local.total_cmp(&b.local));
            fit.drifts[domain] =
                (offsets.len() > 2).then(|| drift(offsets, fit.tick).1).filter(|drift| drift_can_be(*drift));
            fit.oddities.extend(odd(offsets, fit.tick).map(|(kind, nanos)| Oddity { domain, kind, nanos }));
            edge_bursts::steady(offsets, fit.tick);
        }
        for offsets in &mut next {
            offsets.sort_by(|a, b| a.local.total_cmp(&b.local));
        }
        // A single burst says nothing about drift: a second round would find what the first did.
        let done = round + 1 == ROUNDS || next.iter().all(|offsets| offsets.len() < 2);
        fit.offsets = next;
        if done {
            #[expect(clippy::cast_precision_loss, reason = "a number of pairs")]
            let mean = |&(sum, count): &(f64, usize)| if count == 0 { 0.0 } else { (sum / count as f64).sqrt() };
            fit.residuals = squares.iter().map(mean).collect();
            break;
        }
    }
    fit
}

/// What no drift does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Oddity {
    pub(crate) domain: usize,
    pub(crate) kind: Odd,
    pub(crate) nanos: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Odd {
    /// The offset of a burst is far from those before and behind it.
    Burst,
    /// The offset is another one from a burst on.
    Set,
}

/// Offsets of a clock may depart so much from a line between two bursts, nanoseconds, and what [`crate::clock::outliers::drift_consistency`] allows for the time between them.
const ODD: f64 = 50_000.0;

/// Leaves out the offsets of bursts that no drift explains, and finds where the clock may have been set. O(bursts log bursts).
fn odd(offsets: &mut Vec<Offset>, tick: f64) -> impl Iterator<Item = (Odd, f64)> + use<> {
    let mut found = Vec::new();
    if offsets.len() > 2 {
        let (agreed, drift) = drift(offsets, tick);
        let best = offsets.iter().map(|offset| offset.half_trip).fold(f64::INFINITY, f64::min);
        let away = |one: Offset, other: Offset| {
            let away = other.offset - one.offset - drift * (other.local - one.local);
            // What took long may be off by so much.
            let slow = one.half_trip + other.half_trip - 2.0 * best;
            away.signum() * (away.abs() - slow).max(0.0)
        };
        let mut usual: Vec<f64> = offsets.windows(2).map(|pair| away(pair[0], pair[1]).abs()).collect();
        usual.sort_by(f64::total_cmp);
        let usual = usual.get(usual.len() / 2).copied().unwrap_or(0.0);
        let mut at = 1;
        while at < offsets.len() {
            let (before, here) = (offsets[at - 1], offsets[at]);
            let off = away(before, here);
            // Of many, the drift is known, and what their clock does from one to the next.
            let by_itself = by_itself(here.local - before.local, agreed.is_some(), offsets.len(), usual, USUAL_WANDER);
            if off.abs() <= ODD + 2.0 * tick + by_itself {
                at += 1;
                continue;
            }
            // Those around it agree: it is the one that lies.
            if offsets.get(at + 1).is_some_and(|next| away(before, *next).abs() < off.abs() / 2.0) {
                found.push((Odd::Burst, off));
                offsets.remove(at);
            } else {
                found.push((Odd::Set, off));
                at += 1;
            }
        }
    }
    found.into_iter()
}

/// The drift that a few bursts agree on, if they do, and the likeliest one.
fn drift(offsets: &[Offset], tick: f64) -> (Option<f64>, f64) {
    let points: Vec<(f64, f64)> = offsets.iter().map(|offset| (offset.local, offset.offset)).collect();
    let widths: Vec<f64> = offsets.iter().map(|offset| offset.half_trip).collect();
    let agreed = agreed_drift(&points, &widths, tick);
    (agreed, agreed.unwrap_or_else(|| usual_drift(&points)))
}

/// A domain's offset around the middle of a burst. One line for all of it: what bends within a burst would seem to be the way of messages.
#[derive(Clone, Copy, Debug)]
struct Line {
    centre: f64,
    offset: f64,
    slope: f64,
}

impl Line {
    fn corrected(&self, local: f64) -> f64 {
        local - self.offset - self.slope * (local - self.centre)
    }
}

/// The smallest one-way differences of a pair, and where its exchanges were.
#[derive(Clone, Copy, Debug)]
struct Pair {
    forth: f64,
    back: f64,
}

impl Pair {
    /// How far off the offset can be.
    fn half_trip(&self) -> f64 {
        ((self.forth + self.back) / 2.0).max(0.0)
    }
}

/// How far each domain's offset from the first one can be off: along the way by which it is least. O(pairs × steps of that way).
fn half_trips(domains: usize, pairs: &BTreeMap<(usize, usize), Pair>) -> Vec<f64> {
    let mut off = vec![f64::INFINITY; domains];
    off[0] = 0.0;
    let mut is_less = true;
    while std::mem::take(&mut is_less) {
        for (&(a, b), pair) in pairs {
            let half = pair.half_trip();
            for (from, to) in [(a, b), (b, a)] {
                if off[from] + half < off[to] {
                    off[to] = off[from] + half;
                    is_less = true;
                }
            }
        }
    }
    off
}

impl Fit {
    /// Returns which pairs contradict the others of the burst, if some do.
    fn burst(&self, burst: &Burst, next: &mut [Vec<Offset>], squares: &mut [(f64, usize)]) -> Option<Misclosure> {
        let count = self.origins.len();
        let mut pairs: BTreeMap<(usize, usize), Pair> = BTreeMap::new();
        let mut centres = vec![(0.0, 0.0); count];
        for &Exchange { a, b, t1, t2, t3, t4 } in &burst.exchanges {
            for (domain, from, to) in [(a, t1, t4), (b, t2, t3)] {
                centres[domain].0 += f64::midpoint(self.local(domain, from), self.local(domain, to));
                centres[domain].1 += 1.0;
            }
        }
        let line = |(domain, centre): (usize, &(f64, f64))| self.line(domain, centre.0 / f64::max(centre.1, 1.0));
        let lines: Vec<Line> = centres.iter().enumerate().map(line).collect();
        let corrected = |domain: usize, ticks: u64| lines[domain].corrected(self.local(domain, ticks));
        for exchange in &burst.exchanges {
            let &Exchange { a, b, t1, t2, t3, t4 } = exchange;
            let forth = corrected(b, t2) - corrected(a, t1);
            let back = corrected(a, t4) - corrected(b, t3);
            let (key, forth, back) = if a < b { ((a, b), forth, back) } else { ((b, a), back, forth) };
            let pair = pairs.entry(key).or_insert(Pair { forth, back });
            pair.forth = pair.forth.min(forth);
            pair.back = pair.back.min(back);
        }
        // What took longer may be off by more, but for what ticks hide.
        let off = |pair: &Pair| pair.half_trip() + self.tick + 1.0;
        let best = pairs.values().map(off).fold(f64::INFINITY, f64::min);
        let edge = |(&(from, to), pair): (&(usize, usize), &Pair)| {
            let weight = (best / off(pair)).powi(2).max(LIGHTEST);
            Edge { from, to, difference: (pair.forth - pair.back) / 2.0, weight }
        };
        let mut edges: Vec<Edge> = pairs.iter().map(edge).collect();
        // Each honest offset is right to half of what a message went to and fro in.
        let allowed = |edge: &Edge| {
            let half_trip = pairs.get(&(edge.from, edge.to)).map_or(0.0, Pair::half_trip);
            CONTRADICTION + 2.0 * self.tick + 6.0 * half_trip
        };
        let (found, wrong) = loop_closure::agreed(count, &mut edges, allowed);
        for edge in &edges {
            let (Some(from), Some(to)) = (found[edge.from], found[edge.to]) else { continue };
            let left = edge.difference - (to - from);
            for domain in [edge.from, edge.to] {
                squares[domain].0 += left * left;
                squares[domain].1 += 1;
            }
        }
        if let Some([left_out]) = wrong.as_ref().map(|wrong| &wrong.pairs[..]) {
            pairs.remove(left_out);
        }
        let half_trips = half_trips(count, &pairs);
        for domain in 1..count {
            let Some(more) = found[domain] else { continue };
            if centres[domain].1 > 0.0 {
                let Line { centre: local, offset, .. } = lines[domain];
                next[domain].push(Offset { local, offset: offset + more, half_trip: half_trips[domain] });
            }
        }
        wrong
    }

    /// Nanoseconds of the domain's own clock from its origin.
    fn local(&self, domain: usize, ticks: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "ticks within a run are far below 2^53")]
        let ticks = (i128::from(ticks) - i128::from(self.origins[domain])) as f64;
        ticks / self.hz[domain] * NANOS_PER_SECOND
    }

    /// What is known so far of a domain's offset around a date: linear between bursts and beyond them; where that is steeper than the clock
    /// usually drifts, one of the two is off, or the clock was set between them, and it drifts from the nearer one as usual.
    fn line(&self, domain: usize, centre: f64) -> Line {
        let offsets = &self.offsets[domain];
        let &[ref all @ .., last] = &offsets[..] else { return Line { centre, offset: 0.0, slope: 0.0 } };
        let at = offsets.partition_point(|offset| offset.local <= centre).clamp(1, offsets.len().max(2) - 1);
        let (Some(&a), b) = (all.get(at - 1), offsets.get(at).copied().unwrap_or(last)) else {
            return Line { centre, offset: last.offset, slope: 0.0 };
        };
        if b.local <= a.local {
            return Line { centre, offset: last.offset, slope: 0.0 };
        }
        let slope = (b.offset - a.offset) / (b.local - a.local);
        let (near, slope) = match self.drifts[domain].filter(|drift| (slope - drift).abs() > STEEP) {
            None => (a, slope),
            Some(drift) if centre - a.local < b.local - centre => (a, drift),
            Some(drift) => (b, drift),
        };
        Line { centre, offset: near.offset + slope * (centre - near.local), slope }
    }

    /// A point of the domain's map: its own ticks, and the reference's nanoseconds.
    pub(crate) fn knot(&self, domain: usize, offset: &Offset) -> Knot {
        #[expect(clippy::cast_possible_truncation, reason = "rounded; within the run")]
        let ticks = (offset.local * self.hz[domain] / NANOS_PER_SECOND).round() as i128;
        let ticks = u64::try_from(i128::from(self.origins[domain]) + ticks).unwrap_or(0);
        let local = self.local(domain, ticks);
        #[expect(clippy::cast_possible_truncation, reason = "rounded; within the run")]
        let nanos = (local - offset.offset).round() as i128;
        Knot { ticks, nanos: self.nominal[0] + nanos }
    }

    /// What the domain's clock shows more than the reference's, both counted from their own zeros.
    pub(crate) fn absolute_offset(&self, domain: usize, offset: &Offset) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        let origins = (self.nominal[domain] - self.nominal[0]) as f64;
        origins + offset.offset
    }
}
