//! A bound on the error of timestamps. It follows from causality and from the wander of clocks.
//! Wander is the random walk of a clock's rate.
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

mod clock_states;
mod message_bounds;
mod message_times;
mod wander_allowance;

pub(crate) use message_times::MessageTimes;

use super::min_delays::FastestMessages;
use clock_states::{ClockStates, ErrorBounds};
use message_bounds::lower_to_points;
use message_times::DomainMessages;
use wander_allowance::WanderAllowance;

/// Maximum number of moments with a bound. With many clocks there are fewer.
const MOMENTS: usize = 256;
/// Maximum number of moments of all clocks together.
const ALL_MOMENTS: usize = 1 << 16;
/// Number of final rounds that lower bounds. Each round carries them to the next clock.
const HOPS: usize = 4;
/// Number of rounds that narrow bounds and rates.
const ROUNDS: usize = 4;

/// The properties of the run and its clocks from which the bounds are computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundInputs {
    /// Length of the run, nanoseconds.
    pub(crate) span: f64,
    /// Wander of the clocks, per square root of a second.
    pub(crate) wander: f64,
}

/// Maximum lead and maximum lag of a clock at a timestamp, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorBound {
    pub(crate) max_lead: f64,
    pub(crate) lag: f64,
}

/// Bounds on the timestamps of all domains.
#[derive(Clone, Debug)]
pub(crate) struct CertainBounds {
    clocks: ClockStates,
    bounds: Vec<ErrorBounds>,
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
            clocks.narrow_bounds(&bounds);
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
    pub(crate) fn bound_at(&self, domain: usize, timestamp: f64) -> ErrorBound {
        let nearest = self.clocks.nearest_moment(timestamp);
        let [leads, lags] = &self.bounds[domain];
        let moment = self.clocks.moments[nearest];
        ErrorBound {
            max_lead: leads[nearest] + self.clocks.growth(domain, moment, timestamp).max(0.0),
            lag: lags[nearest] + self.clocks.growth(domain, timestamp, moment).max(0.0),
        }
    }
}

/// Moments from the start of the run to its end. Half of them are equidistant. The density of the
/// other half follows that of the messages.
fn moments(domains: usize, messages: &[DomainMessages], span: f64) -> Vec<f64> {
    let half = (ALL_MOMENTS / domains.max(1)).clamp(32, MOMENTS) / 2;
    let mut sent: Vec<f64> =
        messages.iter().flat_map(|pair| &pair.times).map(|message| message.send_time.clamp(0.0, span)).collect();
    sent.sort_by(f64::total_cmp);
    let dense = (0..half).filter_map(|number| sent.get(number * sent.len() / half));
    let mut moments: Vec<f64> =
        (0..=half).map(|number| span * number as f64 / half as f64).chain(dense.copied()).collect();
    moments.sort_by(f64::total_cmp);
    moments.dedup_by(|next, previous| *next - *previous < 1.0);
    if moments.len() < 2 {
        moments = vec![0.0, span.max(1.0)];
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::min_delays::{DelayClass, MessagePoint};

    const SECONDS: f64 = 64.0;

    /// A message per second from one clock to another, within a range of seconds.
    fn edge(from: usize, to: usize, transfer_time: f64, pieces: (u32, u32)) -> FastestMessages {
        let points =
            (pieces.0..pieces.1).map(|n| MessagePoint { send_time: f64::from(n) * 1e9, transfer_time }).collect();
        FastestMessages { from, to, class: DelayClass::Message, points, count: 64 }
    }

    fn widths(domains: usize, edges: &[FastestMessages], wander: f64) -> Vec<f64> {
        let times = |edge: &FastestMessages| {
            let times = |point: &MessagePoint| MessageTimes {
                send_time: point.send_time,
                receive_time: point.send_time + point.transfer_time,
                transfer_time: point.transfer_time,
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
        let bound_widths = widths(2, &ends, 0.0)[1];
        // In the middle, a line through both ends is within 2 us. The bounds on rates are those of
        // two such lines.
        assert!((2000.0..4000.0).contains(&bound_widths), "{bound_widths}");
        // In the middle, there are no messages for 56 s, so clocks wander.
        let bad = widths(2, &ends, 1e-7)[1];
        // 5 standard deviations of the wander in the middle of these 56 s: 5 * 1e-7 * sqrt(56^3 /
        // 48) s.
        assert!((bound_widths + 29e3..bound_widths + 31e3).contains(&bad), "{bad} {bound_widths}");
    }
}
