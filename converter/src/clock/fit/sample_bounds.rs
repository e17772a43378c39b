//! Accuracy of timestamps that sync samples alone determine.
//!
//! A sample consists of two messages. By the corrected timestamps, neither may arrive before it is
//! sent. Their latencies bound the error of timestamps, like those of the program's messages
//! ([`crate::clock::error_bounds`]). A few bursts do not show how much clocks wander. The wander of
//! quartz is assumed, unless the bursts show more.

use std::collections::BTreeMap;

use super::refinement::raw_exchanges;
use super::residuals::FitResiduals;
use crate::clock::burst::SyncBurst;
use crate::clock::domain::stream_extent::{StreamExtent, span_of};
use crate::clock::error_bounds::{BoundInputs, CertainBounds, MessageTimes};
use crate::clock::limits::{CAUSALITY_TOLERANCE, MIN_WANDER, WANDER_SAFETY_FACTOR, resolution_error};
use crate::clock::min_delays::{DelayClass, FastestMessages, MessagePoint, RawExchange, RunSpan, difference};
use crate::clock::{ClockDomain, RunClocks};

/// Accuracy of a domain's timestamps, from samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SampleQuality {
    /// Ordered pairs of domains that include this one and exchanged samples.
    pub(crate) edges: usize,
    /// Clock differences over the faster half of the exchanges.
    pub(crate) residuals: FitResiduals,
    /// Upper bound on the error, nanoseconds. May be infinite.
    pub(crate) error_bound: f64,
}

/// Judges the timestamps of all domains by the samples that determine them. `streams` gives the
/// time ranges of the records. O(exchanges log exchanges + domains × moments²).
pub(crate) fn quality(clocks: &RunClocks, bursts: &[SyncBurst], streams: &[StreamExtent]) -> Vec<SampleQuality> {
    let domains = clocks.domains.len();
    let exchange_times = raw_exchanges(clocks, bursts);
    let span = span_of(streams, &exchange_times, |_, timestamp| timestamp);
    let edges = edges(&exchange_times, span);
    let mut qualities = vec![SampleQuality { error_bound: f64::INFINITY, ..SampleQuality::default() }; domains];
    for edge in &edges {
        qualities[edge.from].edges += 1;
        qualities[edge.to].edges += 1;
    }
    for (quality, mut off) in qualities.iter_mut().zip(residuals(domains, &exchange_times)) {
        quality.residuals = FitResiduals::of(&mut off);
    }
    let tick = clocks.granularity();
    let message_times = |edge: &FastestMessages| {
        let times = edge.points.iter().map(|&MessagePoint { send_time, transfer_time: took }| MessageTimes {
            send_time,
            receive_time: send_time + took,
            transfer_time: took + tick,
        });
        times.collect::<Vec<MessageTimes>>()
    };
    let early = edges.iter().flat_map(message_times).map(|message| message.transfer_time).fold(0.0, f64::min);
    // A clock with a step is not smooth, and the exact place of the step is unknown.
    if early < -(CAUSALITY_TOLERANCE + resolution_error(tick))
        || clocks.domains.iter().any(|domain| !domain.clock_steps.is_empty())
    {
        return qualities;
    }
    let deviations: Vec<BurstDeviations> =
        (0..domains).map(|domain| BurstDeviations::of(clocks, bursts, domain, span)).collect();
    let half_trips = half_trips(&edges, domains);
    let wanders = deviations.iter().zip(&half_trips).map(|(deviations, half)| deviations.smallest_wander(*half));
    let wander = MIN_WANDER.max(WANDER_SAFETY_FACTOR * wanders.fold(0.0, f64::max));
    let inputs = BoundInputs { span: span.nanos(), wander };
    let bounds = CertainBounds::of(domains, &edges, inputs, message_times, |domain, timestamp| {
        deviations[domain].bound_at(timestamp)
    });
    let widths = bounds.half_widths();
    qualities.iter_mut().zip(widths).for_each(|(quality, width)| quality.error_bound = width + resolution_error(tick));
    qualities
}

/// The edges of both directions of each pair, with the fastest exchange of each burst.
fn edges(bursts: &[Vec<RawExchange>], span: RunSpan) -> Vec<FastestMessages> {
    let mut points: BTreeMap<(usize, usize), Vec<MessagePoint>> = BTreeMap::new();
    for burst in bursts {
        let mut fastest: BTreeMap<(usize, usize), MessagePoint> = BTreeMap::new();
        for &RawExchange { a, b, t1, t2, t3, t4 } in burst {
            for (way, send_ticks, receive_ticks) in [((a, b), t1, t2), ((b, a), t3, t4)] {
                let point = MessagePoint {
                    send_time: difference(send_ticks, span.start),
                    transfer_time: difference(receive_ticks, send_ticks),
                };
                let fastest_point = fastest.entry(way).or_insert(point);
                if point.transfer_time < fastest_point.transfer_time {
                    *fastest_point = point;
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
fn residuals(domains: usize, bursts: &[Vec<RawExchange>]) -> Vec<Vec<f64>> {
    struct RoundTrip {
        /// The sum of both latencies, nanoseconds.
        transfer_time: f64,
        /// The clock difference, nanoseconds.
        difference: f64,
    }
    let mut bounds_by_domain = vec![Vec::new(); domains];
    for burst in bursts {
        let mut pairs: BTreeMap<(usize, usize), Vec<RoundTrip>> = BTreeMap::new();
        for &RawExchange { a, b, t1, t2, t3, t4 } in burst {
            let (forth, back) = (difference(t2, t1), difference(t4, t3));
            let trip = RoundTrip { transfer_time: forth + back, difference: (forth - back).abs() / 2.0 };
            pairs.entry((a.min(b), a.max(b))).or_default().push(trip);
        }
        for ((a, b), mut trips) in pairs {
            trips.sort_by(|trip, other_trip| trip.transfer_time.total_cmp(&other_trip.transfer_time));
            let faster = trips.len().div_ceil(2);
            for domain in [a, b] {
                bounds_by_domain[domain].extend(trips[..faster].iter().map(|trip| trip.difference));
            }
        }
    }
    bounds_by_domain
}

/// By domain: the largest one-way time of its edges, as a bound on the accuracy of a burst.
/// Nanoseconds.
fn half_trips(edges: &[FastestMessages], domains: usize) -> Vec<f64> {
    let mut half_widths = vec![0.0f64; domains];
    for edge in edges {
        let slowest = edge.points.iter().map(|point| point.transfer_time).fold(0.0, f64::max);
        half_widths[edge.from] = half_widths[edge.from].max(slowest);
        half_widths[edge.to] = half_widths[edge.to].max(slowest);
    }
    half_widths
}

/// The deviation of a domain's timestamps from a straight line of its clock, at a burst.
#[derive(Clone, Copy, Debug)]
struct BurstDeviation {
    /// Nanoseconds from the start of the span.
    timestamp: f64,
    nanos: f64,
}

/// The deviations at the bursts of a domain, in order of time.
struct BurstDeviations(Vec<BurstDeviation>);

impl BurstDeviations {
    fn of(clocks: &RunClocks, bursts: &[SyncBurst], domain: usize, span: RunSpan) -> Self {
        let ClockDomain { map, hz, .. } = &clocks.domains[domain];
        let first_ticks = |burst: &SyncBurst| {
            let mut ticks = burst.exchanges.iter().filter_map(|exchange| match domain {
                one if one == exchange.a => Some(exchange.t1),
                one if one == exchange.b => Some(exchange.t2),
                _ => None,
            });
            ticks.next()
        };
        let mut ticks: Vec<u64> = bursts.iter().filter_map(first_ticks).collect();
        ticks.sort_unstable();
        let (Some(&first), Some(&last)) = (ticks.first(), ticks.last()) else { return Self(Vec::new()) };
        let timestamp = |ticks: u64| difference(map.global_from_ticks(ticks), span.start);
        let by_clock = |ticks: u64| (ticks - first) as f64 / (*hz).max(1) as f64 * 1e9;
        let rate = if last > first { (timestamp(last) - timestamp(first)) / by_clock(last) } else { 1.0 };
        let deviation = |&ticks: &u64| BurstDeviation {
            timestamp: timestamp(ticks),
            nanos: timestamp(ticks) - timestamp(first) - rate * by_clock(ticks),
        };
        Self(ticks.iter().map(deviation).collect())
    }

    fn bound_at(&self, timestamp: f64) -> f64 {
        let Self(points) = self;
        let next = points.partition_point(|point| point.timestamp <= timestamp);
        let (Some(before), Some(after)) = (next.checked_sub(1).map(|last| points[last]), points.get(next)) else {
            // Continues with the same slope.
            return self.extrapolate(timestamp);
        };
        before.nanos
            + (after.nanos - before.nanos) * (timestamp - before.timestamp)
                / (after.timestamp - before.timestamp).max(1.0)
    }

    /// Extrapolates with the slope of the two nearest bursts.
    fn extrapolate(&self, timestamp: f64) -> f64 {
        let Self(points) = self;
        let [first, second, ..] = points[..] else { return 0.0 };
        let [.., before, last] = points[..] else { return 0.0 };
        let (from, to) = if timestamp < first.timestamp { (first, second) } else { (before, last) };
        let nearest = if timestamp < first.timestamp { first } else { last };
        nearest.nanos
            + (to.nanos - from.nanos) * (timestamp - nearest.timestamp) / (to.timestamp - from.timestamp).max(1.0)
    }

    /// The smallest wander of a clock that explains its bursts, per square root of a second. The
    /// bursts have an error of `half_width` nanoseconds. Between three bursts, the rates of a
    /// random walk differ by the wander times the square root of a third of the time.
    fn smallest_wander(&self, half_width: f64) -> f64 {
        let wander = |three: &[BurstDeviation]| {
            let (first_gap, second_gap) =
                (three[1].timestamp - three[0].timestamp, three[2].timestamp - three[1].timestamp);
            let slopes = (three[2].nanos - three[1].nanos) / second_gap - (three[1].nanos - three[0].nanos) / first_gap;
            let open = 2.0 * half_width / second_gap + 2.0 * half_width / first_gap;
            (slopes.abs() - open).max(0.0) / ((first_gap + second_gap) * 1e-9 / 3.0).sqrt()
        };
        let in_order = self
            .0
            .windows(3)
            .filter(|three| three[1].timestamp > three[0].timestamp && three[2].timestamp > three[1].timestamp);
        in_order.map(wander).fold(0.0, f64::max)
    }
}
