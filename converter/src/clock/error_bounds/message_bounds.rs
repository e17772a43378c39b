//! Bounds by single messages. A fast message bounds the error of its receiver at its arrival, and
//! that of its sender at its departure. Between two of these points, the bound is the chord plus
//! the possible wander away from it.

use super::clock_states::{ClockStates, ErrorBounds};
use super::message_times::{DomainMessages, MessageTimes};

/// A bound at a timestamp.
#[derive(Clone, Copy, Debug)]
struct BoundPoint {
    timestamp: f64,
    bound: f64,
    /// The correction of the fit at this point.
    correction: f64,
}

/// One end of a message.
#[derive(Clone, Copy)]
struct MessageEndpoint {
    domain: usize,
    timestamp: f64,
}

/// Lowers the bounds at all moments to those from messages. O(points log moments + domains ×
/// moments²).
pub(crate) fn lower_to_points(
    clocks: &ClockStates,
    messages: &[DomainMessages],
    correction: impl Fn(usize, f64) -> f64,
    bounds: &mut [ErrorBounds],
) {
    let segments = clocks.moments.len() - 1;
    for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
        // By clock and segment between two moments: the point with the smallest bound.
        let mut points: Vec<Vec<Option<BoundPoint>>> = vec![vec![None; segments]; bounds.len()];
        for DomainMessages { from, to, times } in messages {
            for MessageTimes { send_time, receive_time, transfer_time: took } in times {
                let sender = MessageEndpoint { domain: *from, timestamp: *send_time };
                let receiver = MessageEndpoint { domain: *to, timestamp: *receive_time };
                // The lead of the receiver is bounded by that of the sender, and the lag of the
                // sender by that of the receiver.
                let (source, target) = if side == 0 { (sender, receiver) } else { (receiver, sender) };
                let bound =
                    clocks.bound_at(source.domain, &bounds[source.domain][side], source.timestamp) + took.max(0.0);
                let lowest = &mut points[target.domain][clocks.segment(target.timestamp)];
                if bound.is_finite() && lowest.is_none_or(|lowest| bound < lowest.bound) {
                    let MessageEndpoint { domain, timestamp } = target;
                    *lowest = Some(BoundPoint { timestamp, bound, correction: correction(domain, timestamp) });
                }
            }
        }
        for (domain, points) in points.iter().enumerate().skip(1) {
            for (index, bound) in bounds[domain][side].iter_mut().enumerate() {
                let lowest = lowest_chord(clocks, points, index, clocks.corrections[domain][index], sign);
                *bound = bound.min(lowest).max(0.0);
            }
        }
    }
}

/// The smallest bound at a moment by chords between points before and after it. `correction` is
/// that of the fit at the moment.
fn lowest_chord(clocks: &ClockStates, points: &[Option<BoundPoint>], index: usize, correction: f64, sign: f64) -> f64 {
    let timestamp = clocks.moments[index];
    let before = of_distances(points[..index].iter().rev());
    let after = of_distances(points[index..].iter());
    let mut lowest = f64::INFINITY;
    for point in before.iter().flatten().filter(|point| point.timestamp <= timestamp) {
        for other in after.iter().flatten().filter(|other| other.timestamp > point.timestamp) {
            let fraction = (timestamp - point.timestamp) / (other.timestamp - point.timestamp);
            let chord = |from: f64, to: f64| from + (to - from) * fraction;
            let deviation = sign * (correction - chord(point.correction, other.correction));
            let off_chord = clocks.wander.off_chord(timestamp - point.timestamp, other.timestamp - timestamp);
            lowest = lowest.min(chord(point.bound, other.bound) + deviation + off_chord);
        }
    }
    lowest
}

/// The points with the smallest bound of the nearest segment, of the next two, of the next four,
/// and so on.
fn of_distances<'p>(mut points: impl Iterator<Item = &'p Option<BoundPoint>>) -> Vec<Option<BoundPoint>> {
    let mut bounds = Vec::new();
    let mut count = 1;
    loop {
        let mut is_any = false;
        let mut lowest: Option<BoundPoint> = None;
        for point in points.by_ref().take(count) {
            is_any = true;
            lowest = match (lowest, *point) {
                (Some(lowest), Some(point)) if point.bound >= lowest.bound => Some(lowest),
                (lowest, point) => point.or(lowest),
            };
        }
        if !is_any {
            return bounds;
        }
        bounds.push(lowest);
        count *= 2;
    }
}
