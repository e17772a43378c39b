//! Accuracy of timestamps that sync samples alone determine.
//!
//! A sample consists of two messages. By the corrected timestamps, neither may arrive before it is
//! sent. Their latencies bound the error of timestamps, like those of the program's messages
//! ([`crate::clock::error_bounds`]). A few bursts do not show how much clocks wander. The wander of
//! quartz is assumed, unless the bursts show more.

use std::collections::BTreeMap;

use super::refinement::exchanges;
use crate::clock::burst::SyncBurst;
use crate::clock::domain::extent::{StreamExtent, span_of};
use crate::clock::error_bounds::{BoundInputs, CertainBounds, MessageTimes};
use crate::clock::limits::{IMPOSSIBLE, LEAST_WANDER, SURELY, of_dates};
use crate::clock::min_delays::{CoarseExchange, DelayClass, FastestMessages, MessagePoint, RunSpan, difference};
use crate::clock::{ClockDomain, RunClocks};

/// Accuracy of a domain's timestamps, from samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SampleQuality {
    /// Ordered pairs of domains that include this one and exchanged samples.
    pub(crate) edges: usize,
    /// Median and 95th percentile of the clock difference over the faster half of the exchanges,
    /// nanoseconds.
    pub(crate) residuals: (f64, f64),
    /// Upper bound on the error, nanoseconds. May be infinite.
    pub(crate) certified: f64,
}

/// Judges the timestamps of all domains by the samples that determine them. `streams` gives the
/// time ranges of the records. O(exchanges log exchanges + domains × moments²).
pub(crate) fn quality(clocks: &RunClocks, bursts: &[SyncBurst], streams: &[StreamExtent]) -> Vec<SampleQuality> {
    let domains = clocks.domains.len();
    let dated = exchanges(clocks, bursts);
    let span = span_of(streams, &dated, |_, date| date);
    let edges = edges(&dated, span);
    let mut found = vec![SampleQuality { certified: f64::INFINITY, ..SampleQuality::default() }; domains];
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
    let seen = |edge: &FastestMessages| {
        let seen = edge.points.iter().map(|&MessagePoint { sent, took }| MessageTimes {
            sent,
            received: sent + took,
            took: took + tick,
        });
        seen.collect::<Vec<MessageTimes>>()
    };
    let early = edges.iter().flat_map(seen).map(|seen| seen.took).fold(0.0, f64::min);
    // A clock with a step is not smooth, and the exact place of the step is unknown.
    if early < -(IMPOSSIBLE + of_dates(tick)) || clocks.domains.iter().any(|domain| !domain.sets.is_empty()) {
        return found;
    }
    let bends: Vec<BurstDepartures> =
        (0..domains).map(|domain| BurstDepartures::of(clocks, bursts, domain, span)).collect();
    let half_trips = half_trips(&edges, domains);
    let shown = bends.iter().zip(&half_trips).map(|(bends, half)| bends.smallest_wander(*half)).fold(0.0, f64::max);
    let known = BoundInputs { span: span.nanos(), wander: LEAST_WANDER.max(SURELY * shown) };
    let widths = CertainBounds::of(domains, &edges, known, seen, |domain, date| bends[domain].at(date)).half_widths();
    found.iter_mut().zip(widths).for_each(|(found, width)| found.certified = width + of_dates(tick));
    found
}

/// The edges of both directions of each pair, with the fastest exchange of each burst.
fn edges(bursts: &[Vec<CoarseExchange>], span: RunSpan) -> Vec<FastestMessages> {
    let mut points: BTreeMap<(usize, usize), Vec<MessagePoint>> = BTreeMap::new();
    for burst in bursts {
        let mut fastest: BTreeMap<(usize, usize), MessagePoint> = BTreeMap::new();
        for &CoarseExchange { a, b, t } in burst {
            for (way, sent, received) in [((a, b), t[0], t[1]), ((b, a), t[2], t[3])] {
                let point = MessagePoint { sent: difference(sent, span.start), took: difference(received, sent) };
                let least = fastest.entry(way).or_insert(point);
                if point.took < least.took {
                    *least = point;
                }
            }
        }
        fastest.into_iter().for_each(|(way, point)| points.entry(way).or_default().push(point));
    }
    let edge = |((from, to), points): (_, Vec<MessagePoint>)| FastestMessages {
        from,
        to,
        class: DelayClass::Sync,
        count: points.len() as u64,
        points,
    };
    points.into_iter().map(edge).collect()
}

/// By domain: the clock differences that exchanges show, nanoseconds. Uses the faster half of the
/// exchanges of each pair in each burst.
fn residuals(domains: usize, bursts: &[Vec<CoarseExchange>]) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::new(); domains];
    for burst in bursts {
        let mut pairs: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
        for &CoarseExchange { a, b, t } in burst {
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

/// By domain: the largest one-way time of its edges, as a bound on the accuracy of a burst.
/// Nanoseconds.
fn half_trips(edges: &[FastestMessages], domains: usize) -> Vec<f64> {
    let mut half = vec![0.0f64; domains];
    for edge in edges {
        let slowest = edge.points.iter().map(|point| point.took).fold(0.0, f64::max);
        half[edge.from] = half[edge.from].max(slowest);
        half[edge.to] = half[edge.to].max(slowest);
    }
    half
}

/// Departures of a domain's timestamps from a straight line of its clock, at its bursts. Pairs of
/// nanoseconds from the start of the span, and nanoseconds.
struct BurstDepartures(Vec<(f64, f64)>);

impl BurstDepartures {
    fn of(clocks: &RunClocks, bursts: &[SyncBurst], domain: usize, span: RunSpan) -> Self {
        let ClockDomain { map, hz, .. } = &clocks.domains[domain];
        let own = |burst: &SyncBurst| {
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
            // Continues with the same slope.
            return self.extrapolate(date);
        };
        before.1 + (behind.1 - before.1) * (date - before.0) / (behind.0 - before.0).max(1.0)
    }

    /// Extrapolates with the slope of the two nearest bursts.
    fn extrapolate(&self, date: f64) -> f64 {
        let Self(points) = self;
        let [first, second, ..] = points[..] else { return 0.0 };
        let [.., before, last] = points[..] else { return 0.0 };
        let (from, to) = if date < first.0 { (first, second) } else { (before, last) };
        let near = if date < first.0 { first } else { last };
        near.1 + (to.1 - from.1) * (date - near.0) / (to.0 - from.0).max(1.0)
    }

    /// The smallest wander of a clock that explains its bursts, per square root of a second. The
    /// bursts have an error of `half` nanoseconds. Between three bursts, the rates of a random walk
    /// differ by the wander times the square root of a third of the time.
    fn smallest_wander(&self, half: f64) -> f64 {
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
