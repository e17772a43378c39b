//! A bound on the error of timestamps. It follows from causality, and from how much clocks wander.
//!
//! Let e(t) be the error of a clock: the time by which its timestamps are ahead of the truth. A
//! message with apparent latency y cannot arrive before it is sent, so e of the receiver exceeds e
//! of the sender by at most y. Shortest paths over the nodes (clock, moment of the run) turn this
//! into a bound on e at each moment.
//!
//! Three rules connect the moments of one clock:
//!
//! - Between two moments, e changes at most as fast as the rate error of the clock. The initial
//!   bound on rates assumes only that both clocks are quartz.
//! - Bounds on e at two moments bound the mean rate between them. Wander bounds the difference
//!   between the rate of a short piece and the mean rate around it.
//! - The bound at a moment is at most the chord between the bounds at an earlier and a later
//!   moment, plus the possible wander away from that chord. Therefore a few fast messages bound all
//!   moments between them.
//!
//! Each rule narrows the results of the others, so they are applied several times.

mod points;
mod wander_allowance;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::limits::RateBounds;
use super::min_delays::FastestMessages;
use points::lower_to_points;
use wander_allowance::WanderAllowance;

/// Maximum number of moments with a bound. With many clocks there are fewer.
const MOMENTS: usize = 256;
/// Maximum number of moments of all clocks together.
const ALL_MOMENTS: usize = 1 << 16;
/// Maximum rate error of a fitted clock: twice the maximum drift of real clocks.
const MAX_RATE: f64 = 1e-3;
/// Number of places between two moments at which the corrections of the fit are sampled.
const PLACES: usize = 16;
/// Number of final rounds that lower bounds. Each round carries them to the next clock.
const HOPS: usize = 4;
/// Number of rounds that narrow bounds and rates.
const ROUNDS: usize = 4;

/// Known properties of clocks and run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundInputs {
    /// Length of the run, nanoseconds.
    pub(crate) span: f64,
    /// Wander of the clocks, per square root of a second.
    pub(crate) wander: f64,
}

/// A message by final timestamps, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageTimes {
    pub(crate) sent: f64,
    pub(crate) received: f64,
    /// Apparent latency plus the resolution of the clocks.
    pub(crate) took: f64,
}

/// Bounds on a clock's error at all moments, nanoseconds: the maximum lead, and the maximum lag.
type ErrorBounds = [Vec<f64>; 2];

/// Maximum lead and maximum lag of a clock at a timestamp, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorBound {
    pub(crate) lead: f64,
    pub(crate) lag: f64,
}

/// Bounds on the timestamps of all domains.
#[derive(Clone, Debug)]
pub(crate) struct CertainBounds {
    clocks: ClockStates,
    bounds: Vec<ErrorBounds>,
}

/// The messages from one domain to another.
#[derive(Clone, Debug)]
struct DomainMessages {
    from: usize,
    to: usize,
    times: Vec<MessageTimes>,
}

impl CertainBounds {
    /// Computes bounds from messages. `times` gives the points of an edge by final timestamps.
    /// `correction` gives the correction that the fit added to a domain's line at a timestamp.
    /// O(points log moments + domains × moments²).
    pub(crate) fn of(
        domains: usize,
        edges: &[FastestMessages],
        inputs: BoundInputs,
        times: impl Fn(&FastestMessages) -> Vec<MessageTimes>,
        correction: impl Fn(usize, f64) -> f64,
    ) -> Self {
        let of = |edge: &FastestMessages| DomainMessages { from: edge.from, to: edge.to, times: times(edge) };
        let messages: Vec<DomainMessages> = edges.iter().map(of).collect();
        let moments = moments(domains, &messages, inputs.span);
        let mut clocks = ClockStates::new(moments, domains, WanderAllowance::new(inputs.wander), &correction);
        let unknown = [vec![f64::INFINITY; clocks.moments.len()], vec![f64::INFINITY; clocks.moments.len()]];
        let mut bounds = vec![unknown; domains];
        for _ in 0..ROUNDS {
            bounds = clocks.bounds(&messages, &bounds);
            clocks.tighten(&mut bounds);
            lower_to_points(&clocks, &messages, &correction, &mut bounds);
            clocks.narrow(&bounds);
        }
        for _ in 0..HOPS {
            lower_to_points(&clocks, &messages, &correction, &mut bounds);
        }
        Self { clocks, bounds }
    }

    /// The largest timestamp error of each domain relative to domain 0, nanoseconds. Infinite if
    /// messages do not bound it from both sides.
    pub(crate) fn half_widths(&self) -> Vec<f64> {
        self.bounds.iter().enumerate().map(|(domain, bounds)| self.clocks.largest_error(domain, bounds)).collect()
    }

    /// Maximum lead and maximum lag of a domain near a timestamp, nanoseconds. May be infinite.
    pub(crate) fn at(&self, domain: usize, date: f64) -> ErrorBound {
        let near = self.clocks.nearest_moment(date);
        let [leads, lags] = &self.bounds[domain];
        let moment = self.clocks.moments[near];
        ErrorBound {
            lead: leads[near] + self.clocks.growth(domain, moment, date).max(0.0),
            lag: lags[near] + self.clocks.growth(domain, date, moment).max(0.0),
        }
    }
}

/// Moments from the start of the run to its end. Half of them are equidistant. The density of the
/// other half follows that of the messages.
fn moments(domains: usize, messages: &[DomainMessages], span: f64) -> Vec<f64> {
    let half = (ALL_MOMENTS / domains.max(1)).clamp(32, MOMENTS) / 2;
    let mut sent: Vec<f64> =
        messages.iter().flat_map(|pair| &pair.times).map(|message| message.sent.clamp(0.0, span)).collect();
    sent.sort_by(f64::total_cmp);
    let dense = (0..half).filter_map(|at| sent.get(at * sent.len() / half));
    let mut moments: Vec<f64> = (0..=half).map(|at| span * at as f64 / half as f64).chain(dense.copied()).collect();
    moments.sort_by(f64::total_cmp);
    moments.dedup_by(|next, previous| *next - *previous < 1.0);
    if moments.len() < 2 {
        moments = vec![0.0, span.max(1.0)];
    }
    moments
}

/// An arc to another node (clock and moment).
#[derive(Clone, Copy, Debug)]
struct BoundArc {
    to: usize,
    /// The most by which the error of that node exceeds the error of this one.
    weight: f64,
}

/// Clocks at moments, and bounds on their changes between moments.
#[derive(Clone, Debug)]
struct ClockStates {
    moments: Vec<f64>,
    wander: WanderAllowance,
    /// By clock and moment: bounds on the mean rate of the error up to the next moment.
    rates: Vec<Vec<RateBounds>>,
    /// By clock and moment: the correction of the fit. A clock is smooth, but the corrections need
    /// not be.
    corrections: Vec<Vec<f64>>,
    /// By clock and moment: maximum departure of the error from its chord up to the next moment.
    departures: Vec<Vec<f64>>,
}

impl ClockStates {
    fn new(moments: Vec<f64>, domains: usize, wander: WanderAllowance, correction: impl Fn(usize, f64) -> f64) -> Self {
        let all = |domain: usize| moments.iter().map(|moment| correction(domain, *moment)).collect::<Vec<f64>>();
        let corrections: Vec<Vec<f64>> = (0..domains).map(all).collect();
        let departure = |domain: usize, at: usize| {
            let (time, from, to) =
                (moments[at + 1] - moments[at], corrections[domain][at], corrections[domain][at + 1]);
            let away = (1..PLACES).map(|place| {
                let place = place as f64 / PLACES as f64;
                (correction(domain, moments[at] + time * place) - from - (to - from) * place).abs()
            });
            wander.off_chord(time / 2.0, time / 2.0) + away.fold(0.0, f64::max)
        };
        let of_domain = |domain| (0..moments.len() - 1).map(|at| departure(domain, at)).collect::<Vec<f64>>();
        let mut departures: Vec<Vec<f64>> = (0..domains).map(of_domain).collect();
        let mut rates = vec![vec![RateBounds { low: -MAX_RATE, high: MAX_RATE }; moments.len() - 1]; domains];
        // The first clock is the reference, so its error is 0.
        rates[0].fill(RateBounds { low: 0.0, high: 0.0 });
        departures[0].fill(0.0);
        Self { moments, wander, rates, corrections, departures }
    }

    /// Narrows the bounds on rates between moments, from bounds on errors.
    fn narrow(&mut self, bounds: &[ErrorBounds]) {
        let rates = bounds.iter().enumerate().skip(1).map(|(domain, bounds)| self.narrow_rates(domain, bounds));
        let rates: Vec<Vec<RateBounds>> = rates.collect();
        self.rates.splice(1.., rates);
    }

    fn narrow_rates(&self, domain: usize, [leads, lags]: &ErrorBounds) -> Vec<RateBounds> {
        let (moments, corrections) = (&self.moments, &self.corrections[domain]);
        let last = moments.len() - 1;
        let within = |at: usize| {
            let (mut low, mut high) = (-MAX_RATE, MAX_RATE);
            let mut reach = 0;
            loop {
                let (from, to) = (at.saturating_sub(reach), (at + 1 + reach).min(last));
                let time = moments[to] - moments[from];
                // The bound is the mean rate over the whole reach, plus the possible difference
                // from it.
                let (before, after) = (moments[at] - moments[from], moments[to] - moments[at + 1]);
                let more = self.wander.off_mean(before, moments[at + 1] - moments[at], after);
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
        let means: Vec<RateBounds> = (0..last).map(within).collect();
        // A rate is close to the rates at other times.
        let near = |at: usize| {
            let others = means.iter().enumerate().map(|(other, mean)| {
                let (one, two) = (at.min(other), at.max(other));
                let gap = (moments[two] - moments[one + 1].min(moments[two])).max(0.0);
                let more = if one == two {
                    0.0
                } else {
                    self.wander.rate_difference(moments[one + 1] - moments[one], gap, moments[two + 1] - moments[two])
                };
                RateBounds { low: mean.low - more, high: mean.high + more }
            });
            let near = others.fold(RateBounds { low: -MAX_RATE, high: MAX_RATE }, |all, one| RateBounds {
                low: all.low.max(one.low),
                high: all.high.min(one.high),
            });
            let added = (corrections[at + 1] - corrections[at]) / (moments[at + 1] - moments[at]);
            // The fitted rate itself is always within the bounds.
            RateBounds { low: (near.low + added).min(0.0), high: (near.high + added).max(0.0) }
        };
        (0..last).map(near).collect()
    }

    /// Lowers bounds to the chords between bounds at other moments.
    fn tighten(&self, bounds: &mut [ErrorBounds]) {
        for (corrections, [leads, lags]) in self.corrections.iter().zip(bounds).skip(1) {
            for (bounds, sign) in [(leads, 1.0), (lags, -1.0)] {
                for at in 1..self.moments.len() - 1 {
                    bounds[at] = bounds[at].min(self.least_chord(bounds, corrections, sign, at)).max(0.0);
                }
            }
        }
    }

    /// The smallest bound at a moment by chords between earlier and later moments, at distances
    /// that are powers of two.
    fn least_chord(&self, bounds: &[f64], corrections: &[f64], sign: f64, at: usize) -> f64 {
        let moments = &self.moments;
        let reaches = || std::iter::successors(Some(1usize), |reach| reach.checked_mul(2));
        let mut least = f64::INFINITY;
        for from in reaches().map_while(|reach| at.checked_sub(reach)) {
            for to in reaches().map(|reach| at + reach).take_while(|to| *to < moments.len()) {
                let (before, after) = (moments[at] - moments[from], moments[to] - moments[at]);
                let place = before / (before + after);
                let chord = |of: &[f64]| of[from] + (of[to] - of[from]) * place;
                let departure = sign * (corrections[at] - chord(corrections)) + self.wander.off_chord(before, after);
                least = least.min(chord(bounds) + departure);
            }
        }
        least
    }

    /// The bound at a timestamp, by the chord between the moments around it.
    fn bound_at(&self, domain: usize, bounds: &[f64], date: f64) -> f64 {
        let at = self.segment(date);
        let (from, to) = (self.moments[at], self.moments[at + 1]);
        let place = ((date - from) / (to - from)).clamp(0.0, 1.0);
        let departure = self.departures[domain][at];
        // Outside of all moments, only the maximum rate bounds the error.
        let outside = MAX_RATE * (from - date).max(date - to).max(0.0);
        bounds[at] * (1.0 - place) + bounds[at + 1] * place + departure + outside
    }

    /// The index of the last moment up to a timestamp that is not the last of all.
    fn segment(&self, date: f64) -> usize {
        self.moments.partition_point(|moment| *moment <= date).clamp(1, self.moments.len() - 1) - 1
    }

    /// The most by which an error can grow between two timestamps that are close together.
    fn growth(&self, domain: usize, from: f64, to: f64) -> f64 {
        let at = self.segment(f64::midpoint(from, to));
        let RateBounds { low, high } = self.rates[domain][at];
        let is_whole = (to - from).abs() >= self.moments[at + 1] - self.moments[at];
        // Rates are means between moments, so a shorter interval also needs the departure from the
        // chord.
        let departure = if is_whole { 0.0 } else { self.departures[domain][at] };
        ((to - from) * high).max((to - from) * low) + departure
    }

    /// The index of the moment nearest to a timestamp.
    fn nearest_moment(&self, date: f64) -> usize {
        let after = self.moments.partition_point(|moment| *moment <= date).clamp(1, self.moments.len() - 1);
        if date - self.moments[after - 1] <= self.moments[after] - date { after - 1 } else { after }
    }

    /// Bounds from messages and from known bounds.
    fn bounds(&self, messages: &[DomainMessages], known: &[ErrorBounds]) -> Vec<ErrorBounds> {
        let count = self.moments.len();
        let domains = self.rates.len();
        let mut leads: Vec<Vec<BoundArc>> = vec![Vec::new(); domains * count];
        for DomainMessages { from, to, times } in messages {
            for MessageTimes { sent, received, took } in times {
                let (p, q) = (self.nearest_moment(*sent), self.nearest_moment(*received));
                let weight = took.max(0.0)
                    + self.growth(*from, self.moments[p], *sent)
                    + self.growth(*to, *received, self.moments[q]);
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
            for (at, pair) in self.moments.windows(2).enumerate() {
                let (one, other) = (domain * count + at, domain * count + at + 1);
                let (up, down) = (self.growth(domain, pair[0], pair[1]), self.growth(domain, pair[1], pair[0]));
                leads[one].push(BoundArc { to: other, weight: up });
                leads[other].push(BoundArc { to: one, weight: down });
                lags[other].push(BoundArc { to: one, weight: up });
                lags[one].push(BoundArc { to: other, weight: down });
            }
        }
        let known = |side: usize| {
            let mut best: Vec<f64> = known.iter().flat_map(|bounds| &bounds[side]).copied().collect();
            best[..count].fill(0.0);
            best
        };
        let (leads, lags) = (distances(&leads, known(0)), distances(&lags, known(1)));
        let both = leads.chunks(count).zip(lags.chunks(count));
        both.map(|(leads, lags)| [leads.to_vec(), lags.to_vec()]).collect()
    }

    /// The largest error at any time.
    fn largest_error(&self, domain: usize, bounds: &ErrorBounds) -> f64 {
        let between = |bounds: &[f64], at: usize| bounds[at].max(bounds[at + 1]) + self.departures[domain][at];
        let intervals = 0..self.moments.len() - 1;
        intervals.map(|at| between(&bounds[0], at).max(between(&bounds[1], at))).fold(0.0, f64::max)
    }
}

/// Dijkstra's algorithm from all nodes with known distances. No distance increases.
fn distances(arcs: &[Vec<BoundArc>], mut best: Vec<f64>) -> Vec<f64> {
    // The bits of non-negative floats sort like the floats.
    let known = best.iter().enumerate().filter(|(_, distance)| distance.is_finite());
    let mut heap: BinaryHeap<Reverse<(u64, usize)>> =
        known.map(|(node, distance)| Reverse((distance.to_bits(), node))).collect();
    while let Some(Reverse((bits, node))) = heap.pop() {
        let here = f64::from_bits(bits);
        if here > best[node] {
            continue;
        }
        for &BoundArc { to, weight } in &arcs[node] {
            if here + weight < best[to] {
                best[to] = here + weight;
                heap.push(Reverse((best[to].to_bits(), to)));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::min_delays::{DelayClass, MessagePoint};

    const SECONDS: f64 = 64.0;

    /// A message per second from one clock to another, within a range of seconds.
    fn edge(from: usize, to: usize, took: f64, between: (u32, u32)) -> FastestMessages {
        let points = (between.0..between.1).map(|n| MessagePoint { sent: f64::from(n) * 1e9, took }).collect();
        FastestMessages { from, to, class: DelayClass::Message, points, count: 64 }
    }

    fn widths(domains: usize, edges: &[FastestMessages], wander: f64) -> Vec<f64> {
        let times = |edge: &FastestMessages| {
            let times = |point: &MessagePoint| MessageTimes {
                sent: point.sent,
                received: point.sent + point.took,
                took: point.took,
            };
            edge.points.iter().map(times).collect()
        };
        CertainBounds::of(domains, edges, BoundInputs { span: SECONDS * 1e9, wander }, times, |_, _| 0.0).half_widths()
    }

    #[test]
    fn round_trips_give_bounds_and_one_way_messages_do_not() {
        let all = (0, 65);
        let edges = [
            edge(0, 1, 2000.0, all),
            edge(1, 0, 3000.0, all),
            edge(1, 2, 1000.0, all),
            edge(2, 1, 500.0, all),
            edge(0, 3, 10.0, all),
        ];
        let widths = widths(4, &edges, 0.0);
        assert_eq!((widths[0], widths[3]), (0.0, f64::INFINITY));
        // The latency of the slower direction, plus the possible rate error for half a second. The
        // line may rise by 5 us in 64 s.
        assert!((3000.0..3100.0).contains(&widths[1]) && (3500.0..3700.0).contains(&widths[2]), "{widths:?}");
    }

    #[test]
    fn bounds_grow_far_from_all_messages() {
        let round = |between| [edge(0, 1, 2000.0, between), edge(1, 0, 2000.0, between)];
        let (first, last) = (round((0, 5)), round((60, 65)));
        let only = widths(2, &first, 0.0)[1];
        // A line through a corridor of 4 us over 4 s has an uncertainty of 1 us per second after
        // it.
        assert!((55e3..70e3).contains(&only), "{only}");
        let ends = [first, last].concat();
        let both = widths(2, &ends, 0.0)[1];
        // In the middle, a line through both ends is within 2 us. The bounds on rates are those of
        // two such lines.
        assert!((2000.0..4000.0).contains(&both), "{both}");
        // In the middle, there are no messages for 56 s, so clocks wander.
        let bad = widths(2, &ends, 1e-7)[1];
        // 5 standard deviations of the wander in the middle of these 56 s: 5 * 1e-7 * sqrt(56^3 /
        // 48) s.
        assert!((both + 29e3..both + 31e3).contains(&bad), "{bad} {both}");
    }
}
