//! The clocks at the moments of a run, and bounds on their changes between moments.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::message_times::{DomainMessages, MessageTimes};
use super::wander_allowance::WanderAllowance;
use crate::clock::limits::RateBounds;

/// Maximum rate error of a fitted clock: twice the maximum drift of real clocks.
const MAX_RATE: f64 = 1e-3;
/// Number of places between two moments at which the corrections of the fit are sampled.
const SAMPLES_BETWEEN: usize = 16;

/// Bounds on a clock's error at all moments, nanoseconds: the maximum lead, and the maximum lag.
pub(crate) type ErrorBounds = [Vec<f64>; 2];

/// An arc to another node (clock and moment).
#[derive(Clone, Copy, Debug)]
struct BoundArc {
    to: usize,
    /// The most by which the error of that node exceeds the error of this one.
    weight: f64,
}

/// Clocks at moments, and bounds on their changes between moments.
#[derive(Clone, Debug)]
pub(crate) struct ClockStates {
    pub(crate) moments: Vec<f64>,
    pub(crate) wander: WanderAllowance,
    /// By clock and moment: bounds on the mean rate of the error up to the next moment.
    rates: Vec<Vec<RateBounds>>,
    /// By clock and moment: the correction of the fit. A clock is smooth, but the corrections need
    /// not be.
    pub(crate) corrections: Vec<Vec<f64>>,
    /// By clock and moment: maximum deviation of the error from its chord up to the next moment.
    deviations: Vec<Vec<f64>>,
}

impl ClockStates {
    pub(crate) fn new(
        moments: Vec<f64>,
        domains: usize,
        wander: WanderAllowance,
        correction: impl Fn(usize, f64) -> f64,
    ) -> Self {
        let all = |domain: usize| moments.iter().map(|moment| correction(domain, *moment)).collect::<Vec<f64>>();
        let corrections: Vec<Vec<f64>> = (0..domains).map(all).collect();
        let deviation = |domain: usize, index: usize| {
            let (time, from, to) =
                (moments[index + 1] - moments[index], corrections[domain][index], corrections[domain][index + 1]);
            let away = (1..SAMPLES_BETWEEN).map(|step| {
                let fraction = step as f64 / SAMPLES_BETWEEN as f64;
                (correction(domain, moments[index] + time * fraction) - from - (to - from) * fraction).abs()
            });
            wander.off_chord(time / 2.0, time / 2.0) + away.fold(0.0, f64::max)
        };
        let of_domain = |domain| (0..moments.len() - 1).map(|index| deviation(domain, index)).collect::<Vec<f64>>();
        let mut deviations: Vec<Vec<f64>> = (0..domains).map(of_domain).collect();
        let mut rates = vec![vec![RateBounds { low: -MAX_RATE, high: MAX_RATE }; moments.len() - 1]; domains];
        // The first clock is the reference, so its error is 0.
        rates[0].fill(RateBounds { low: 0.0, high: 0.0 });
        deviations[0].fill(0.0);
        Self { moments, wander, rates, corrections, deviations }
    }

    /// Narrows the bounds on rates between moments, from bounds on errors.
    pub(crate) fn narrow_bounds(&mut self, bounds: &[ErrorBounds]) {
        let rates = bounds.iter().enumerate().skip(1).map(|(domain, bounds)| self.narrow_rates(domain, bounds));
        let rates: Vec<Vec<RateBounds>> = rates.collect();
        self.rates.splice(1.., rates);
    }

    fn narrow_rates(&self, domain: usize, [leads, lags]: &ErrorBounds) -> Vec<RateBounds> {
        let (moments, corrections) = (&self.moments, &self.corrections[domain]);
        let last = moments.len() - 1;
        let mean_at = |index: usize| {
            let (mut low, mut high) = (-MAX_RATE, MAX_RATE);
            let mut reach = 0;
            loop {
                let (from, to) = (index.saturating_sub(reach), (index + 1 + reach).min(last));
                let time = moments[to] - moments[from];
                // The bound is the mean rate over the whole reach, plus the possible difference
                // from it.
                let (nanos_before, nanos_after) = (moments[index] - moments[from], moments[to] - moments[index + 1]);
                let more = self.wander.off_mean(nanos_before, moments[index + 1] - moments[index], nanos_after);
                let added = (corrections[to] - corrections[from]) / time;
                high = high.min((leads[to] + lags[from]) / time - added + more);
                low = low.max(-(lags[to] + leads[from]) / time - added - more);
                if from == 0 && to == last {
                    break;
                }
                reach = 2 * reach + 1;
            }
            RateBounds { low, high }
        };
        let means: Vec<RateBounds> = (0..last).map(mean_at).collect();
        // A rate is close to the rates at other times.
        let bounds_at = |index: usize| {
            let others = means.iter().enumerate().map(|(other, mean)| {
                let (low_index, high_index) = (index.min(other), index.max(other));
                let gap = (moments[high_index] - moments[low_index + 1].min(moments[high_index])).max(0.0);
                let more = if low_index == high_index {
                    0.0
                } else {
                    self.wander.rate_difference(
                        moments[low_index + 1] - moments[low_index],
                        gap,
                        moments[high_index + 1] - moments[high_index],
                    )
                };
                RateBounds { low: mean.low - more, high: mean.high + more }
            });
            let common = others.fold(RateBounds { low: -MAX_RATE, high: MAX_RATE }, |all, one| RateBounds {
                low: all.low.max(one.low),
                high: all.high.min(one.high),
            });
            let added = (corrections[index + 1] - corrections[index]) / (moments[index + 1] - moments[index]);
            // The fitted rate itself is always within the bounds.
            RateBounds { low: (common.low + added).min(0.0), high: (common.high + added).max(0.0) }
        };
        (0..last).map(bounds_at).collect()
    }

    /// Lowers bounds to the chords between bounds at other moments.
    pub(crate) fn tighten(&self, bounds: &mut [ErrorBounds]) {
        for (corrections, [leads, lags]) in self.corrections.iter().zip(bounds).skip(1) {
            for (bounds, sign) in [(leads, 1.0), (lags, -1.0)] {
                for index in 1..self.moments.len() - 1 {
                    bounds[index] = bounds[index].min(self.least_chord(bounds, corrections, sign, index)).max(0.0);
                }
            }
        }
    }

    /// The smallest bound at a moment by chords between earlier and later moments, at distances
    /// that are powers of two.
    fn least_chord(&self, bounds: &[f64], corrections: &[f64], sign: f64, index: usize) -> f64 {
        let moments = &self.moments;
        let reaches = || std::iter::successors(Some(1usize), |reach| reach.checked_mul(2));
        let mut min_bound = f64::INFINITY;
        for from in reaches().map_while(|reach| index.checked_sub(reach)) {
            for to in reaches().map(|reach| index + reach).take_while(|to| *to < moments.len()) {
                let (before, after) = (moments[index] - moments[from], moments[to] - moments[index]);
                let fraction = before / (before + after);
                let chord = |of: &[f64]| of[from] + (of[to] - of[from]) * fraction;
                let deviation = sign * (corrections[index] - chord(corrections)) + self.wander.off_chord(before, after);
                min_bound = min_bound.min(chord(bounds) + deviation);
            }
        }
        min_bound
    }

    /// The bound at a timestamp, by the chord between the moments around it.
    pub(crate) fn bound_at(&self, domain: usize, bounds: &[f64], timestamp: f64) -> f64 {
        let segment = self.segment(timestamp);
        let (from, to) = (self.moments[segment], self.moments[segment + 1]);
        let fraction = ((timestamp - from) / (to - from)).clamp(0.0, 1.0);
        let deviation = self.deviations[domain][segment];
        // Outside of all moments, only the maximum rate bounds the error.
        let rate_error = MAX_RATE * (from - timestamp).max(timestamp - to).max(0.0);
        bounds[segment] * (1.0 - fraction) + bounds[segment + 1] * fraction + deviation + rate_error
    }

    /// The index of the last moment up to a timestamp that is not the last of all.
    pub(crate) fn segment(&self, timestamp: f64) -> usize {
        self.moments.partition_point(|moment| *moment <= timestamp).clamp(1, self.moments.len() - 1) - 1
    }

    /// The most by which an error can grow between two timestamps that are close together.
    pub(crate) fn growth(&self, domain: usize, from: f64, to: f64) -> f64 {
        let segment = self.segment(f64::midpoint(from, to));
        let RateBounds { low, high } = self.rates[domain][segment];
        let is_whole = (to - from).abs() >= self.moments[segment + 1] - self.moments[segment];
        // Rates are means between moments, so a shorter interval also needs the deviation from the
        // chord.
        let deviation = if is_whole { 0.0 } else { self.deviations[domain][segment] };
        ((to - from) * high).max((to - from) * low) + deviation
    }

    /// The index of the moment nearest to a timestamp.
    pub(crate) fn nearest_moment(&self, timestamp: f64) -> usize {
        let after = self.moments.partition_point(|moment| *moment <= timestamp).clamp(1, self.moments.len() - 1);
        if timestamp - self.moments[after - 1] <= self.moments[after] - timestamp { after - 1 } else { after }
    }

    pub(crate) fn bounds(&self, messages: &[DomainMessages], earlier_bounds: &[ErrorBounds]) -> Vec<ErrorBounds> {
        let count = self.moments.len();
        let domains = self.rates.len();
        let mut leads: Vec<Vec<BoundArc>> = vec![Vec::new(); domains * count];
        for DomainMessages { from, to, times } in messages {
            for MessageTimes { send_time, receive_time, transfer_time: took } in times {
                let (p, q) = (self.nearest_moment(*send_time), self.nearest_moment(*receive_time));
                let weight = took.max(0.0)
                    + self.growth(*from, self.moments[p], *send_time)
                    + self.growth(*to, *receive_time, self.moments[q]);
                leads[from * count + p].push(BoundArc { to: to * count + q, weight });
            }
        }
        let mut lags: Vec<Vec<BoundArc>> = vec![Vec::new(); domains * count];
        for (from, arcs) in leads.iter().enumerate() {
            for &BoundArc { to, weight } in arcs {
                lags[to].push(BoundArc { to: from, weight });
            }
        }
        for domain in 0..domains {
            for (index, pair) in self.moments.windows(2).enumerate() {
                let (begin, end) = (domain * count + index, domain * count + index + 1);
                let (up, down) = (self.growth(domain, pair[0], pair[1]), self.growth(domain, pair[1], pair[0]));
                leads[begin].push(BoundArc { to: end, weight: up });
                leads[end].push(BoundArc { to: begin, weight: down });
                lags[end].push(BoundArc { to: begin, weight: up });
                lags[begin].push(BoundArc { to: end, weight: down });
            }
        }
        let start = |side: usize| {
            let mut bounds: Vec<f64> = earlier_bounds.iter().flat_map(|bounds| &bounds[side]).copied().collect();
            bounds[..count].fill(0.0);
            bounds
        };
        let (leads, lags) = (distances(&leads, start(0)), distances(&lags, start(1)));
        let chunks = leads.chunks(count).zip(lags.chunks(count));
        chunks.map(|(leads, lags)| [leads.to_vec(), lags.to_vec()]).collect()
    }

    /// The largest error at any time.
    pub(crate) fn largest_error(&self, domain: usize, bounds: &ErrorBounds) -> f64 {
        let bound_in =
            |bounds: &[f64], index: usize| bounds[index].max(bounds[index + 1]) + self.deviations[domain][index];
        let intervals = 0..self.moments.len() - 1;
        intervals.map(|index| bound_in(&bounds[0], index).max(bound_in(&bounds[1], index))).fold(0.0, f64::max)
    }
}

/// Dijkstra's algorithm from all nodes with finite distances. No distance increases.
fn distances(arcs: &[Vec<BoundArc>], mut distances: Vec<f64>) -> Vec<f64> {
    // The bits of non-negative floats sort like the floats.
    let finite = distances.iter().enumerate().filter(|(_, distance)| distance.is_finite());
    let mut heap: BinaryHeap<Reverse<(u64, usize)>> =
        finite.map(|(node, distance)| Reverse((distance.to_bits(), node))).collect();
    while let Some(Reverse((bits, node))) = heap.pop() {
        let distance = f64::from_bits(bits);
        if distance > distances[node] {
            continue;
        }
        for &BoundArc { to, weight } in &arcs[node] {
            if distance + weight < distances[to] {
                distances[to] = distance + weight;
                heap.push(Reverse((distances[to].to_bits(), to)));
            }
        }
    }
    distances
}
