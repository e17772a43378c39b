//! Offsets between clocks from bursts of exchanged messages.
//!
//! For each pair of domains in a burst, each direction keeps its smallest one-way difference. The
//! offset is half of the difference of the two. It is exact for any latency, if the smallest
//! latencies of both directions are equal. Least squares reconciles the pairs. Clocks drift during
//! a burst, so the fit is repeated on timestamps that the previous round corrected.

use std::collections::BTreeMap;

use crate::clock::ClockDomain;
use crate::clock::burst::{ClockOffset, OffsetPoint, SyncBurst, TickExchange};
use crate::clock::domain::tick_map::{ClockMap, MapKnot};
use crate::clock::least_squares::OffsetDifference;
use crate::clock::outliers::drift_consistency::{DriftEstimate, USUAL_WANDER, allowed_departure, drift_can_be};
use crate::clock::outliers::loop_closure::{ConsistentPositions, LoopMisclosure};
use crate::clock::outliers::{edge_bursts, loop_closure};
use crate::clock::time_constants::NANOS_PER_SECOND;

/// Largest difference between offsets that is not a contradiction, nanoseconds.
pub(crate) const CONTRADICTION: f64 = 20_000.0;
/// Smallest weight of a pair relative to the others.
const LIGHTEST: f64 = 1e-9;
/// Largest difference between the drift of a clock and its usual drift.
const STEEP: f64 = 5e-6;
/// Maximum number of rounds of the fit.
const ROUNDS: usize = 3;

/// Offsets of all domains at all bursts. Timestamps are counted from an origin in each domain, so
/// that `f64` is precise enough.
#[derive(Clone, Debug)]
pub(crate) struct OffsetFit {
    origins: Vec<u64>,
    hz: Vec<f64>,
    /// The resolution of the coarsest clock, nanoseconds.
    tick: f64,
    nominal: Vec<i128>,
    /// The usual drift of each domain that has several bursts.
    drifts: Vec<Option<f64>>,
    pub(crate) offsets: Vec<Vec<ClockOffset>>,
    /// Root mean square of the residuals of each domain's pairs, nanoseconds.
    pub(crate) residuals: Vec<f64>,
    /// Offsets that were left out, and possible clock steps between two bursts.
    pub(crate) outliers: Vec<DriftOutlier>,
    /// Pairs that contradict the others by more than their latency explains. One entry for each
    /// burst with such pairs.
    pub(crate) misclosures: Vec<LoopMisclosure>,
}

/// Finds the offsets.
pub(crate) fn fit(domains: &[ClockDomain], bursts: &[SyncBurst]) -> OffsetFit {
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
    let mut fit = OffsetFit {
        origins,
        hz,
        tick: domains.iter().map(|domain| domain.resolution_nanos).fold(0.0, f64::max),
        nominal,
        drifts: vec![None; count],
        offsets: vec![Vec::new(); count],
        residuals: vec![0.0; count],
        outliers: Vec::new(),
        misclosures: Vec::new(),
    };
    for round in 0..ROUNDS {
        let mut next: Vec<Vec<ClockOffset>> = vec![Vec::new(); count];
        let mut squares = vec![SquareSum::default(); count];
        fit.misclosures = bursts.iter().filter_map(|burst| fit.burst(burst, &mut next, &mut squares)).collect();
        fit.outliers.clear();
        for (domain, offsets) in next.iter_mut().enumerate().skip(1) {
            offsets.sort_by(|a, b| a.local.total_cmp(&b.local));
            fit.drifts[domain] =
                (offsets.len() > 2).then(|| drift(offsets, fit.tick).estimate).filter(|drift| drift_can_be(*drift));
            fit.outliers.extend(remove_outliers(domain, offsets, fit.tick));
            edge_bursts::correct_edges(offsets, fit.tick);
        }
        for offsets in &mut next {
            offsets.sort_by(|a, b| a.local.total_cmp(&b.local));
        }
        // A single burst does not give a drift, so a second round would give the same result.
        let is_last_round = round + 1 == ROUNDS || next.iter().all(|offsets| offsets.len() < 2);
        fit.offsets = next;
        if is_last_round {
            fit.residuals = squares.iter().map(SquareSum::root_mean).collect();
            break;
        }
    }
    fit
}

/// A change of an offset that no drift explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DriftOutlier {
    pub(crate) domain: usize,
    pub(crate) kind: OutlierKind,
    pub(crate) nanos: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutlierKind {
    /// The offset of one burst is far from the offsets before and after it.
    Burst,
    /// The offset changes at a burst and stays changed.
    Step,
}

/// Largest deviation of a clock from a line between two bursts, nanoseconds. For the time between
/// them, [`crate::clock::outliers::drift_consistency`] allows more.
const MIN_OUTLIER: f64 = 50_000.0;

/// Removes offsets of a domain that no drift explains, and finds possible clock steps. O(bursts log
/// bursts).
fn remove_outliers(domain: usize, offsets: &mut Vec<ClockOffset>, tick: f64) -> Vec<DriftOutlier> {
    let mut offsets_of_bursts = Vec::new();
    if offsets.len() > 2 {
        let DriftEstimate { agreement, estimate: drift } = drift(offsets, tick);
        let best = offsets.iter().map(|offset| offset.half_trip).fold(f64::INFINITY, f64::min);
        let away = |offset: ClockOffset, other_offset: ClockOffset| {
            let away = other_offset.offset - offset.offset - drift * (other_offset.local - offset.local);
            // Additional error of exchanges that are slower than the best ones.
            let slow = offset.half_trip + other_offset.half_trip - 2.0 * best;
            away.signum() * (away.abs() - slow).max(0.0)
        };
        let mut usual: Vec<f64> = offsets.windows(2).map(|pair| away(pair[0], pair[1]).abs()).collect();
        usual.sort_by(f64::total_cmp);
        let usual = usual.get(usual.len() / 2).copied().unwrap_or(0.0);
        let mut index = 1;
        while index < offsets.len() {
            let (previous_offset, offset_here) = (offsets[index - 1], offsets[index]);
            let distance = away(previous_offset, offset_here);
            // With many bursts, the drift is known, and so is the usual change from one burst to
            // the next.
            let elapsed = offset_here.local - previous_offset.local;
            let allowed = allowed_departure(elapsed, agreement.is_some(), offsets.len(), usual, USUAL_WANDER);
            if distance.abs() <= MIN_OUTLIER + 2.0 * tick + allowed {
                index += 1;
                continue;
            }
            // The bursts before and after agree, so this one is wrong.
            if offsets.get(index + 1).is_some_and(|next| away(previous_offset, *next).abs() < distance.abs() / 2.0) {
                offsets_of_bursts.push(DriftOutlier { domain, kind: OutlierKind::Burst, nanos: distance });
                offsets.remove(index);
            } else {
                offsets_of_bursts.push(DriftOutlier { domain, kind: OutlierKind::Step, nanos: distance });
                index += 1;
            }
        }
    }
    offsets_of_bursts
}

/// The drift between bursts.
fn drift(offsets: &[ClockOffset], tick: f64) -> DriftEstimate {
    let points: Vec<OffsetPoint> =
        offsets.iter().map(|offset| OffsetPoint { timestamp: offset.local, offset: offset.offset }).collect();
    let widths: Vec<f64> = offsets.iter().map(|offset| offset.half_trip).collect();
    DriftEstimate::of(&points, &widths, tick)
}

/// The offset of a domain around the middle of a burst. One straight line applies to the whole
/// burst, because a bend within a burst would appear as message latency.
#[derive(Clone, Copy, Debug)]
struct BurstLine {
    centre: f64,
    offset: f64,
    slope: f64,
}

impl BurstLine {
    fn corrected_time(&self, local: f64) -> f64 {
        local - self.offset - self.slope * (local - self.centre)
    }
}

/// The smallest one-way differences of a pair in a burst, nanoseconds.
#[derive(Clone, Copy, Debug)]
struct PairDelays {
    forward_delay: f64,
    backward_delay: f64,
}

impl PairDelays {
    /// Maximum error of the offset, nanoseconds.
    fn half_trip(&self) -> f64 {
        ((self.forward_delay + self.backward_delay) / 2.0).max(0.0)
    }
}

/// Maximum error of each domain's offset from domain 0, in nanoseconds, along the path with the
/// smallest error. O(pairs × steps of that path).
fn half_trips(domains: usize, pairs: &BTreeMap<(usize, usize), PairDelays>) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; domains];
    distances[0] = 0.0;
    let mut is_less = true;
    while std::mem::take(&mut is_less) {
        for (&(a, b), pair) in pairs {
            let half = pair.half_trip();
            for (from, to) in [(a, b), (b, a)] {
                if distances[from] + half < distances[to] {
                    distances[to] = distances[from] + half;
                    is_less = true;
                }
            }
        }
    }
    distances
}

/// A sum of squared residuals.
#[derive(Clone, Copy, Debug, Default)]
struct SquareSum {
    sum: f64,
    count: usize,
}

impl SquareSum {
    #[expect(clippy::cast_precision_loss, reason = "a number of pairs is far below 2^53")]
    fn root_mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { (self.sum / self.count as f64).sqrt() }
    }
}

/// The sum of the local times of a domain in a burst.
#[derive(Clone, Copy, Debug, Default)]
struct TimeSum {
    sum: f64,
    count: f64,
}

impl OffsetFit {
    /// Computes the offsets of one burst. Returns the pairs that contradict the others, if there
    /// are any.
    fn burst(
        &self,
        burst: &SyncBurst,
        next: &mut [Vec<ClockOffset>],
        squares: &mut [SquareSum],
    ) -> Option<LoopMisclosure> {
        let count = self.origins.len();
        let mut pairs: BTreeMap<(usize, usize), PairDelays> = BTreeMap::new();
        let mut times = vec![TimeSum::default(); count];
        for &TickExchange { a, b, t1, t2, t3, t4 } in &burst.exchanges {
            for (domain, from, to) in [(a, t1, t4), (b, t2, t3)] {
                times[domain].sum += f64::midpoint(self.local_nanos(domain, from), self.local_nanos(domain, to));
                times[domain].count += 1.0;
            }
        }
        let line = |(domain, time): (usize, &TimeSum)| self.line(domain, time.sum / f64::max(time.count, 1.0));
        let lines: Vec<BurstLine> = times.iter().enumerate().map(line).collect();
        let corrected = |domain: usize, ticks: u64| lines[domain].corrected_time(self.local_nanos(domain, ticks));
        for exchange in &burst.exchanges {
            let &TickExchange { a, b, t1, t2, t3, t4 } = exchange;
            let forth = corrected(b, t2) - corrected(a, t1);
            let back = corrected(a, t4) - corrected(b, t3);
            let (key, forth, back) = if a < b { ((a, b), forth, back) } else { ((b, a), back, forth) };
            let pair = pairs.entry(key).or_insert(PairDelays { forward_delay: forth, backward_delay: back });
            pair.forward_delay = pair.forward_delay.min(forth);
            pair.backward_delay = pair.backward_delay.min(back);
        }
        // The longer the round trip, the smaller the weight. The resolution of the clocks limits
        // the differences.
        let uncertainty = |pair: &PairDelays| pair.half_trip() + self.tick + 1.0;
        let best = pairs.values().map(uncertainty).fold(f64::INFINITY, f64::min);
        let edge = |(&(from, to), pair): (&(usize, usize), &PairDelays)| {
            let weight = (best / uncertainty(pair)).powi(2).max(LIGHTEST);
            OffsetDifference { from, to, difference: (pair.forward_delay - pair.backward_delay) / 2.0, weight }
        };
        let mut edges: Vec<OffsetDifference> = pairs.iter().map(edge).collect();
        // A correct offset has an error of at most half a round trip.
        let allowed = |edge: &OffsetDifference| {
            let half_trip = pairs.get(&(edge.from, edge.to)).map_or(0.0, PairDelays::half_trip);
            CONTRADICTION + 2.0 * self.tick + 6.0 * half_trip
        };
        let ConsistentPositions { positions, misclosure } =
            loop_closure::consistent_positions(count, &mut edges, allowed);
        for edge in &edges {
            let (Some(from), Some(to)) = (positions[edge.from], positions[edge.to]) else { continue };
            let residual = edge.difference - (to - from);
            for domain in [edge.from, edge.to] {
                squares[domain].sum += residual * residual;
                squares[domain].count += 1;
            }
        }
        if let Some([left_out]) = misclosure.as_ref().map(|closure| &closure.pairs[..]) {
            pairs.remove(left_out);
        }
        let half_trips = half_trips(count, &pairs);
        for domain in 1..count {
            let Some(position) = positions[domain] else { continue };
            if times[domain].count > 0.0 {
                let BurstLine { centre: local, offset, .. } = lines[domain];
                next[domain].push(ClockOffset { local, offset: offset + position, half_trip: half_trips[domain] });
            }
        }
        misclosure
    }

    /// Nanoseconds of the domain's own clock from its origin.
    fn local_nanos(&self, domain: usize, ticks: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "ticks within a run are far below 2^53")]
        let ticks = (i128::from(ticks) - i128::from(self.origins[domain])) as f64;
        ticks / self.hz[domain] * NANOS_PER_SECOND
    }

    /// The current estimate of a domain's offset around a local time.
    ///
    /// The estimate is linear between bursts and beyond them. If its slope differs too much from
    /// the usual drift, one of the two bursts is wrong or there is a clock step between them. Then
    /// the line starts at the nearer burst and has the slope of the usual drift.
    fn line(&self, domain: usize, centre: f64) -> BurstLine {
        let offsets = &self.offsets[domain];
        let &[ref earlier_offsets @ .., last] = &offsets[..] else {
            return BurstLine { centre, offset: 0.0, slope: 0.0 };
        };
        let position = offsets.partition_point(|offset| offset.local <= centre).clamp(1, offsets.len().max(2) - 1);
        let (Some(&a), b) = (earlier_offsets.get(position - 1), offsets.get(position).copied().unwrap_or(last)) else {
            return BurstLine { centre, offset: last.offset, slope: 0.0 };
        };
        if b.local <= a.local {
            return BurstLine { centre, offset: last.offset, slope: 0.0 };
        }
        let slope = (b.offset - a.offset) / (b.local - a.local);
        let (nearest, slope) = match self.drifts[domain].filter(|drift| (slope - drift).abs() > STEEP) {
            None => (a, slope),
            Some(drift) if centre - a.local < b.local - centre => (a, drift),
            Some(drift) => (b, drift),
        };
        BurstLine { centre, offset: nearest.offset + slope * (centre - nearest.local), slope }
    }

    /// A knot of the domain's map: ticks of the domain, and nanoseconds of the reference.
    pub(crate) fn knot(&self, domain: usize, offset: &ClockOffset) -> MapKnot {
        #[expect(clippy::cast_possible_truncation, reason = "rounded; within the run")]
        let ticks = (offset.local * self.hz[domain] / NANOS_PER_SECOND).round() as i128;
        let ticks = u64::try_from(i128::from(self.origins[domain]) + ticks).unwrap_or(0);
        let local = self.local_nanos(domain, ticks);
        #[expect(clippy::cast_possible_truncation, reason = "rounded; within the run")]
        let nanos = (local - offset.offset).round() as i128;
        MapKnot { ticks, nanos: self.nominal[0] + nanos }
    }

    /// The offset from the reference clock, with both clocks counted from their own zeros.
    /// Nanoseconds.
    pub(crate) fn absolute_offset(&self, domain: usize, offset: &ClockOffset) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "the number is only displayed")]
        let origins = (self.nominal[domain] - self.nominal[0]) as f64;
        origins + offset.offset
    }
}
