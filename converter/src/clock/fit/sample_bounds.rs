//! How good dates are that sync samples alone have made.
//!
//! A sample is two messages: by the corrected dates none may arrive before it left, and what they took bounds how far the dates can be
//! off, as messages of the program do ([`crate::clock::error_bounds`]). How much clocks wander cannot be found from a few bursts: they are taken to
//! wander as quartz does, unless the bursts show more.

use std::collections::BTreeMap;

use super::refinement::exchanges;
use crate::clock::burst::Burst;
use crate::clock::domain::extent::{Extent, span_of};
use crate::clock::error_bounds::{Certain, Known, Seen};
use crate::clock::limits::{IMPOSSIBLE, LEAST_WANDER, SURELY, of_dates};
use crate::clock::min_delays::{Class, Edge, Exchange, Point, Span, difference};
use crate::clock::{Clocks, Domain};

/// What the samples say of a domain's dates.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quality {
    /// Ordered pairs of domains, this one among them, that exchanged samples.
    pub(crate) edges: usize,
    /// By how much exchanges say that dates are off, nanoseconds: half of the faster exchanges by less than the first, 95 % by less than the
    /// second.
    pub(crate) residuals: (f64, f64),
    /// What the error cannot be beyond, nanoseconds; may be infinite.
    pub(crate) certified: f64,
}

/// Judges the dates of all domains by the samples that they were made from. `streams` says from when to when there are records.
/// O(exchanges log exchanges + domains × moments²).
pub(crate) fn quality(clocks: &Clocks, bursts: &[Burst], streams: &[Extent]) -> Vec<Quality> {
    let domains = clocks.domains.len();
    let dated = exchanges(clocks, bursts);
    let span = span_of(streams, &dated, |_, date| date);
    let edges = edges(&dated, span);
    let mut found = vec![Quality { certified: f64::INFINITY, ..Quality::default() }; domains];
    for edge in &edges {
        found[edge.from].edges += 1;
        found[edge.to].edges += 1;
    }
    for (found, mut off) in found.iter_mut().zip(residuals(domains, &dated)) {
        off.sort_by(f64::total_cmp);
        let at = |share: usize| off.get(off.len() * share / 100).copied().unwrap_or(0.0);
        found.residuals = (at(50), at(95));
    }
    let tick = clocks.granularity();
    let seen = |edge: &Edge| {
        let seen =
            edge.points.iter().map(|&Point { sent, took }| Seen { sent, received: sent + took, took: took + tick });
        seen.collect::<Vec<Seen>>()
    };
    let early = edges.iter().flat_map(seen).map(|seen| seen.took).fold(0.0, f64::min);
    // A clock that was set is not smooth, and where exactly it was set is not known.
    if early < -(IMPOSSIBLE + of_dates(tick)) || clocks.domains.iter().any(|domain| !domain.sets.is_empty()) {
        return found;
    }
    let bends: Vec<Bends> = (0..domains).map(|domain| Bends::of(clocks, bursts, domain, span)).collect();
    let half_trips = half_trips(&edges, domains);
    let shown = bends.iter().zip(&half_trips).map(|(bends, half)| bends.wander(*half)).fold(0.0, f64::max);
    let known = Known { span: span.nanos(), wander: LEAST_WANDER.max(SURELY * shown) };
    let widths = Certain::of(domains, &edges, known, seen, |domain, date| bends[domain].at(date)).half_widths();
    found.iter_mut().zip(widths).for_each(|(found, width)| found.certified = width + of_dates(tick));
    found
}

/// Both ways of each pair, the fastest of each burst.
fn edges(bursts: &[Vec<Exchange>], span: Span) -> Vec<Edge> {
    let mut points: BTreeMap<(usize, usize), Vec<Point>> = BTreeMap::new();
    for burst in bursts {
        let mut fastest: BTreeMap<(usize, usize), Point> = BTreeMap::new();
        for &Exchange { a, b, t } in burst {
            for (way, sent, received) in [((a, b), t[0], t[1]), ((b, a), t[2], t[3])] {
                let point = Point { sent: difference(sent, span.start), took: difference(received, sent) };
                let least = fastest.entry(way).or_insert(point);
                if point.took < least.took {
                    *least = point;
                }
            }
        }
        fastest.into_iter().for_each(|(way, point)| points.entry(way).or_default().push(point));
    }
    let edge = |((from, to), points): (_, Vec<Point>)| Edge {
        from,
        to,
        class: Class::Sync,
        count: points.len() as u64,
        points,
    };
    points.into_iter().map(edge).collect()
}

/// By domain, by how much each exchange of the faster half of a pair's in a burst says that the two are apart.
fn residuals(domains: usize, bursts: &[Vec<Exchange>]) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::new(); domains];
    for burst in bursts {
        let mut pairs: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
        for &Exchange { a, b, t } in burst {
            let (there, back) = (difference(t[1], t[0]), difference(t[3], t[2]));
            pairs.entry((a.min(b), a.max(b))).or_default().push((there + back, (there - back).abs() / 2.0));
        }
        for ((a, b), mut trips) in pairs {
            trips.sort_by(|one, other| one.0.total_cmp(&other.0));
            let faster = trips.len().div_ceil(2);
            for domain in [a, b] {
                all[domain].extend(trips[..faster].iter().map(|(_, apart)| apart));
            }
        }
    }
    all
}

/// By domain, half of what its slowest fastest round trip took: how well a burst knows it, on the way to any other.
fn half_trips(edges: &[Edge], domains: usize) -> Vec<f64> {
    let mut half = vec![0.0f64; domains];
    for edge in edges {
        let slowest = edge.points.iter().map(|point| point.took).fold(0.0, f64::max);
        half[edge.from] = half[edge.from].max(slowest);
        half[edge.to] = half[edge.to].max(slowest);
    }
    half
}

/// By how much the dates of a domain depart from a straight line of its clock, at its bursts: dates from the start of the span, and nanoseconds.
struct Bends(Vec<(f64, f64)>);

impl Bends {
    fn of(clocks: &Clocks, bursts: &[Burst], domain: usize, span: Span) -> Self {
        let Domain { map, hz, .. } = &clocks.domains[domain];
        let own = |burst: &Burst| {
            let mut ticks = burst.exchanges.iter().filter_map(|exchange| match domain {
                one if one == exchange.a => Some(exchange.t1),
                one if one == exchange.b => Some(exchange.t2),
                _ => None,
            });
            ticks.next()
        };
        let mut ticks: Vec<u64> = bursts.iter().filter_map(own).collect();
        ticks.sort_unstable();
        let (Some(&first), Some(&last)) = (ticks.first(), ticks.last()) else { return Self(Vec::new()) };
        let dated = |ticks: u64| difference(map.global_from_ticks(ticks), span.start);
        let shown = |ticks: u64| (ticks - first) as f64 / (*hz).max(1) as f64 * 1e9;
        let rate = if last > first { (dated(last) - dated(first)) / shown(last) } else { 1.0 };
        let bend = |&ticks: &u64| (dated(ticks), dated(ticks) - dated(first) - rate * shown(ticks));
        Self(ticks.iter().map(bend).collect())
    }

    fn at(&self, date: f64) -> f64 {
        let Self(points) = self;
        let after = points.partition_point(|point| point.0 <= date);
        let (Some(before), Some(behind)) = (after.checked_sub(1).map(|at| points[at]), points.get(after)) else {
            // It goes on as it was.
            return self.beyond(date);
        };
        before.1 + (behind.1 - before.1) * (date - before.0) / (behind.0 - before.0).max(1.0)
    }

    /// Before the first burst and behind the last the slope is that of the bursts next to them.
    fn beyond(&self, date: f64) -> f64 {
        let Self(points) = self;
        let [first, second, ..] = points[..] else { return 0.0 };
        let [.., before, last] = points[..] else { return 0.0 };
        let (from, to) = if date < first.0 { (first, second) } else { (before, last) };
        let near = if date < first.0 { first } else { last };
        near.1 + (to.1 - from.1) * (date - near.0) / (to.0 - from.0).max(1.0)
    }

    /// How much a clock wanders at least whose bursts are right to `half` nanoseconds, per square root of a second: between three bursts, rates
    /// of a walk differ by the wander times the root of a third of the time.
    fn wander(&self, half: f64) -> f64 {
        let apart = |three: &[(f64, f64)]| {
            let (one, other) = (three[1].0 - three[0].0, three[2].0 - three[1].0);
            let slopes = (three[2].1 - three[1].1) / other - (three[1].1 - three[0].1) / one;
            let open = 2.0 * half / other + 2.0 * half / one;
            (slopes.abs() - open).max(0.0) / ((one + other) * 1e-9 / 3.0).sqrt()
        };
        let well = self.0.windows(3).filter(|three| three[1].0 > three[0].0 && three[2].0 > three[1].0);
        well.map(apart).fold(0.0, f64::max)
    }
}
