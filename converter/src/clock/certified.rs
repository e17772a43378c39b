//! How far dates can be off, whatever the statistics: a bound that follows from causality, and from how much clocks wander.
//!
//! Let e(t) be by how much a clock's dates are ahead of the truth. A message that seems to take y cannot have left later than it
//! came: so the receiver's e is at most y more than the sender's. Shortest paths over (clock, moment of the run) turn this into a bound
//! at each moment. Between moments e changes no faster than the clock's rate is wrong, of which at first nothing is assumed but that
//! both clocks are quartz. But bounds on e at two moments bound its mean rate between them, and wander bounds how much the rate at
//! another moment nearby differs from that; with narrower rates the paths get shorter, and so on. So where messages are dense, they
//! tell all; where there are none, the bound grows with the distance to those that there are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::traffic::Edge;

/// Moments at which dates are bounded: at most so many, fewer where there are many clocks.
const MOMENTS: usize = 256;
/// Moments of all clocks together.
const ALL_MOMENTS: usize = 1 << 16;
/// A clock that was fitted is wrong by no more than this rate: as much as real clocks drift, and as much again.
const MAX_RATE: f64 = 1e-3;
/// How often rates are narrowed.
const ROUNDS: usize = 4;
/// Standard deviations of wander that are allowed for.
const SIGMAS: f64 = 5.0;

/// What clocks and messages are known to have done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// How long the run took, nanoseconds.
    pub(crate) span: f64,
    /// How much the clocks wander, per square root of a second.
    pub(crate) wander: f64,
}

/// A message by the final dates: nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) sent: f64,
    pub(crate) received: f64,
    /// What it took at least by these dates, ticks included.
    pub(crate) took: f64,
}

/// The bounds of a clock's error at all moments: how far ahead it can be, and how far behind.
type Bounds = [Vec<f64>; 2];

/// What is certain of the dates of all domains.
#[derive(Clone, Debug)]
pub(crate) struct Certain {
    moments: Vec<f64>,
    /// By clock and moment: within which rates the error changes up to the next one.
    rates: Vec<Vec<(f64, f64)>>,
    bounds: Vec<Bounds>,
}

impl Certain {
    /// What follows from these messages. `seen` gives the points of an edge as final dates have them, `bent` what the fit added to a domain's line
    /// at a date. O(points log moments + domains × moments²).
    pub(crate) fn of(
        domains: usize,
        edges: &[Edge],
        known: Known,
        seen: impl Fn(&Edge) -> Vec<Seen>,
        bent: impl Fn(usize, f64) -> f64,
    ) -> Self {
        let messages: Vec<(usize, usize, Vec<Seen>)> =
            edges.iter().map(|edge| (edge.from, edge.to, seen(edge))).collect();
        let moments = moments(domains, &messages, known.span);
        let mut rates = vec![vec![(-MAX_RATE, MAX_RATE); moments.len() - 1]; domains];
        rates[0].fill((0.0, 0.0));
        let mut bounds = Vec::new();
        for _ in 0..ROUNDS {
            bounds = Net { moments: &moments, rates: &rates }.bounds(&messages);
            let narrowed = bounds.iter().enumerate().map(|(domain, bounds)| {
                let bent: Vec<f64> = moments.iter().map(|moment| bent(domain, *moment)).collect();
                narrowed(&moments, bounds, &bent, known.wander)
            });
            let mut next: Vec<Vec<(f64, f64)>> = narrowed.collect();
            next[0].fill((0.0, 0.0));
            rates = next;
        }
        Self { moments, rates, bounds }
    }

    fn net(&self) -> Net<'_> {
        Net { moments: &self.moments, rates: &self.rates }
    }

    /// The largest error of each domain's dates against the first's, nanoseconds; infinite where messages do not bound it from both sides.
    pub(crate) fn half_widths(&self) -> Vec<f64> {
        let net = self.net();
        self.bounds.iter().enumerate().map(|(domain, bounds)| net.most(domain, bounds)).collect()
    }

    /// How far the dates of a domain can be ahead of the truth near a date of it, and how far behind; may be infinite.
    pub(crate) fn at(&self, domain: usize, date: f64) -> (f64, f64) {
        let net = self.net();
        let near = net.nearest(date);
        let [ahead, behind] = &self.bounds[domain];
        let moment = self.moments[near];
        (
            ahead[near] + net.growth(domain, moment, date).max(0.0),
            behind[near] + net.growth(domain, date, moment).max(0.0),
        )
    }
}

/// Moments of the run, half of them equally far apart, half as dense as messages are; from its start to its end.
fn moments(domains: usize, messages: &[(usize, usize, Vec<Seen>)], span: f64) -> Vec<f64> {
    let half = (ALL_MOMENTS / domains.max(1)).clamp(32, MOMENTS) / 2;
    let mut sent: Vec<f64> =
        messages.iter().flat_map(|(_, _, seen)| seen).map(|seen| seen.sent.clamp(0.0, span)).collect();
    sent.sort_by(f64::total_cmp);
    let dense = (0..half).filter_map(|at| sent.get(at * sent.len() / half));
    let mut moments: Vec<f64> = (0..=half).map(|at| span * at as f64 / half as f64).chain(dense.copied()).collect();
    moments.sort_by(f64::total_cmp);
    moments.dedup_by(|next, kept| *next - *kept < 1.0);
    if moments.len() < 2 {
        moments = vec![0.0, span.max(1.0)];
    }
    moments
}

/// Within which rates a clock's error changes between one moment and the next, as its bounds leave it. Clocks are smooth, what the fit added
/// to their lines need not be.
fn narrowed(moments: &[f64], [ahead, behind]: &Bounds, bent: &[f64], wander: f64) -> Vec<(f64, f64)> {
    let last = moments.len() - 1;
    let within = |at: usize| {
        let (mut low, mut high) = (-MAX_RATE, MAX_RATE);
        let mut reach = 0;
        loop {
            let (from, to) = (at.saturating_sub(reach), (at + 1 + reach).min(last));
            let time = moments[to] - moments[from];
            // A mean over the whole reach, and what the rate can differ from it.
            let more = SIGMAS * wander * (time * 1e-9).sqrt();
            let added = (bent[to] - bent[from]) / time;
            high = high.min((ahead[to] + behind[from]) / time - added + more);
            low = low.max(-(behind[to] + ahead[from]) / time - added - more);
            if from == 0 && to == last {
                break;
            }
            reach = 2 * reach + 1;
        }
        (low, high)
    };
    let means: Vec<(f64, f64)> = (0..last).map(within).collect();
    // A rate is near to what it is at other times.
    let near = |at: usize| {
        let others = means.iter().enumerate().map(|(other, (low, high))| {
            let more = SIGMAS * wander * ((moments[other] - moments[at]).abs() * 1e-9).sqrt();
            (low - more, high + more)
        });
        let (low, high) = others.fold((-MAX_RATE, MAX_RATE), |(low, high), (l, h)| (low.max(l), high.min(h)));
        let added = (bent[at + 1] - bent[at]) / (moments[at + 1] - moments[at]);
        // What was fitted is itself within.
        ((low + added).min(0.0), (high + added).max(0.0))
    };
    (0..last).map(near).collect()
}

/// Clocks at moments, and how far they can move between them.
struct Net<'n> {
    moments: &'n [f64],
    /// By clock and moment: within which rates the error changes up to the next one.
    rates: &'n [Vec<(f64, f64)>],
}

/// An arc to another clock at another moment, and how much more its error can be.
type Arc = (usize, f64);

impl Net<'_> {
    /// How much an error can grow from one date to another one that is near.
    fn growth(&self, domain: usize, from: f64, to: f64) -> f64 {
        let at = self.moments.partition_point(|moment| *moment <= f64::midpoint(from, to));
        let (low, high) = self.rates[domain][at.clamp(1, self.moments.len() - 1) - 1];
        ((to - from) * high).max((to - from) * low)
    }

    /// The moment nearest to a date.
    fn nearest(&self, date: f64) -> usize {
        let after = self.moments.partition_point(|moment| *moment <= date).clamp(1, self.moments.len() - 1);
        if date - self.moments[after - 1] <= self.moments[after] - date { after - 1 } else { after }
    }

    fn bounds(&self, messages: &[(usize, usize, Vec<Seen>)]) -> Vec<Bounds> {
        let count = self.moments.len();
        let domains = self.rates.len();
        let mut ahead: Vec<Vec<Arc>> = vec![Vec::new(); domains * count];
        for (from, to, seen) in messages {
            for Seen { sent, received, took } in seen {
                let (p, q) = (self.nearest(*sent), self.nearest(*received));
                let weight = took.max(0.0)
                    + self.growth(*from, self.moments[p], *sent)
                    + self.growth(*to, *received, self.moments[q]);
                ahead[from * count + p].push((to * count + q, weight));
            }
        }
        let mut behind: Vec<Vec<Arc>> = vec![Vec::new(); domains * count];
        for (from, arcs) in ahead.iter().enumerate() {
            for &(to, weight) in arcs {
                behind[to].push((from, weight));
            }
        }
        for domain in 0..domains {
            for (at, pair) in self.moments.windows(2).enumerate() {
                let (one, other) = (domain * count + at, domain * count + at + 1);
                let (up, down) = (self.growth(domain, pair[0], pair[1]), self.growth(domain, pair[1], pair[0]));
                ahead[one].push((other, up));
                ahead[other].push((one, down));
                behind[other].push((one, up));
                behind[one].push((other, down));
            }
        }
        let (ahead, behind) = (distances(&ahead, count), distances(&behind, count));
        let both = ahead.chunks(count).zip(behind.chunks(count));
        both.map(|(ahead, behind)| [ahead.to_vec(), behind.to_vec()]).collect()
    }

    /// The largest error at any date.
    fn most(&self, domain: usize, [ahead, behind]: &Bounds) -> f64 {
        let between = |bounds: &[f64], at: usize, up: f64, down: f64| {
            // Lines that rise from both moments meet.
            let (one, other) = (bounds[at], bounds[at + 1]);
            let met = (one * down + other * up + up * down) / (up + down);
            if up + down > 0.0 && met.is_finite() { met.max(one).max(other) } else { one.max(other) }
        };
        let intervals = (0..self.moments.len() - 1).map(|at| {
            let (from, to) = (self.moments[at], self.moments[at + 1]);
            let (up, down) = (self.growth(domain, from, to), self.growth(domain, to, from));
            between(ahead, at, up, down).max(between(behind, at, down, up))
        });
        intervals.fold(0.0, f64::max)
    }
}

/// Dijkstra's algorithm from all moments of the first domain.
fn distances(arcs: &[Vec<Arc>], moments: usize) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; arcs.len()];
    // Bits of non-negative floats are in their order.
    let mut heap: BinaryHeap<Reverse<(u64, usize)>> = (0..moments).map(|node| Reverse((0, node))).collect();
    best[..moments].fill(0.0);
    while let Some(Reverse((bits, node))) = heap.pop() {
        let here = f64::from_bits(bits);
        if here > best[node] {
            continue;
        }
        for &(next, weight) in &arcs[node] {
            if here + weight < best[next] {
                best[next] = here + weight;
                heap.push(Reverse((best[next].to_bits(), next)));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::traffic::{Class, Point};
    use super::*;

    const SECONDS: f64 = 64.0;

    /// A message a second from one clock to another, between two seconds.
    fn edge(from: usize, to: usize, took: f64, between: (u32, u32)) -> Edge {
        let points = (between.0..between.1).map(|n| Point { sent: f64::from(n) * 1e9, took }).collect();
        Edge { from, to, class: Class::Message, points, count: 64 }
    }

    fn widths(domains: usize, edges: &[Edge], wander: f64) -> Vec<f64> {
        let seen = |edge: &Edge| {
            let seen = |point: &Point| Seen { sent: point.sent, received: point.sent + point.took, took: point.took };
            edge.points.iter().map(seen).collect()
        };
        Certain::of(domains, edges, Known { span: SECONDS * 1e9, wander }, seen, |_, _| 0.0).half_widths()
    }

    #[test]
    fn round_trips_bound_and_one_way_does_not() {
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
        // The slowest direction, and what the rate can do in half a second: the line may rise by 5 us in 64 s.
        assert!((3000.0..3100.0).contains(&widths[1]) && (3500.0..3700.0).contains(&widths[2]), "{widths:?}");
    }

    #[test]
    fn far_from_all_messages_little_is_certain() {
        let round = |between| [edge(0, 1, 2000.0, between), edge(1, 0, 2000.0, between)];
        let (first, last) = (round((0, 5)), round((60, 65)));
        let only = widths(2, &first, 0.0)[1];
        // A line through a corridor of 4 us over 4 s is open by 1 us per second after it.
        assert!((55e3..70e3).contains(&only), "{only}");
        let ends = [first, last].concat();
        let both = widths(2, &ends, 0.0)[1];
        // In the middle, a line through both ends is within 2 us; the rates that paths know of are those of two such lines.
        assert!((2000.0..4000.0).contains(&both), "{both}");
        // In the middle of what is not heard, clocks wander.
        let bad = widths(2, &ends, 1e-7)[1];
        assert!(bad > 20.0 * both, "{bad}");
    }
}
