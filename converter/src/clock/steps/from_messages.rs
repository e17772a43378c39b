//! Clock steps from messages: a clock's offset to all partners jumps between two moments that are
//! close together.

use crate::clock::min_delays::{DelayClass, FastestMessages, MessagePoint};

/// Noise of an offset in the first search, nanoseconds.
pub(crate) const NOISE: f64 = 50_000.0;
/// Noise of an offset if a step was found already, so that the rest of the step is found.
pub(crate) const REST_NOISE: f64 = 5_000.0;
/// Maximum difference between two offsets because of resolution, in ticks. Each offset depends on
/// four timestamps.
pub(crate) const OF_TICKS: f64 = 4.0;
/// Usual change of a pair's offset, as a fraction of time.
const DRIFT: f64 = 5e-6;

/// Maximum number of messages per direction that are combined into a piece.
const MAX_PIECE_MESSAGES: usize = 32;
/// Minimum number of pieces. It also limits the number of messages per piece.
const MIN_PIECES: usize = 6;
/// Pieces are long enough if half of the round trips take less than this many times the noise.
const QUICK: f64 = 4.0;
/// Number of pieces from which the rate of a clock before and after a jump is computed.
const FOR_RATE: usize = 3;
/// Maximum of this rate.
const MAX_RATE: f64 = 500e-6;

/// A clock step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OffsetStep {
    pub(crate) domain: usize,
    /// The time range of the step, nanoseconds from the start of the run.
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Size of the step in nanoseconds. Positive if the clock was set forward.
    pub(crate) size: f64,
}

/// The clock that jumps for most of its partners, if there is one. The edges' timestamps are
/// corrected by lines. Round trips that took longer than half of `noise` beyond the usual are left
/// out. O(points).
pub(crate) fn find(edges: &[FastestMessages], domains: usize, noise: f64) -> Option<OffsetStep> {
    let mut candidates: Vec<Vec<OffsetStep>> = vec![Vec::new(); domains];
    let mut partners = vec![0usize; domains];
    for pair in edges.windows(2) {
        let [forth, back] = pair else { continue };
        if forth.class != DelayClass::Message
            || (forth.from, forth.to) != (back.to, back.from)
            || back.class != forth.class
        {
            continue;
        }
        for domain in [forth.from, forth.to] {
            partners[domain] += 1;
        }
        if let Some(step) = largest_step(forth, back, noise) {
            candidates[step.domain].push(step);
            candidates[forth.from].push(OffsetStep { domain: forth.from, size: -step.size, ..step });
        }
    }
    let agreed = candidates.iter_mut().enumerate().filter_map(|(domain, steps)| {
        steps.sort_by(|a, b| a.size.total_cmp(&b.size));
        let size = steps.get(steps.len() / 2)?.size;
        steps.retain(|step| (step.size - size).abs() <= noise + 0.2 * size.abs());
        let share = steps.len() as f64 / partners[domain] as f64;
        let from = steps.iter().map(|step| step.from).fold(f64::NEG_INFINITY, f64::max);
        let to = steps.iter().map(|step| step.to).fold(f64::INFINITY, f64::min).max(from);
        (share > 0.5).then_some((steps.len(), OffsetStep { domain, from, to, size }))
    });
    // If two clocks have no other partners, the one with the larger number is used.
    agreed.max_by(|a, b| a.0.cmp(&b.0).then(a.1.domain.cmp(&b.1.domain))).map(|(_, step)| step)
}

/// The offset and the round trip at a moment with messages in both directions, nanoseconds.
#[derive(Clone, Copy, Debug)]
struct PairedObservation {
    timestamp: f64,
    offset: f64,
    trip: f64,
}

/// A jump of an offset that may be a clock step.
struct StepCandidate {
    step: OffsetStep,
    /// Minimum size of the jump, after the drift before and after it is subtracted.
    min_size: f64,
    /// The largest jump that waiting can explain.
    wait_limit: f64,
}

/// The largest jump of `forth.to`'s clock relative to `forth.from`'s, if it exceeds the effect of
/// drift and noise.
fn largest_step(forward: &FastestMessages, backward: &FastestMessages, noise: f64) -> Option<OffsetStep> {
    let PairOffsets { mut observations, usual_trip } = quick_offsets(&forward.points, &backward.points, noise)?;
    observations.retain(|observation| (observation.trip - usual_trip).abs() < noise / 2.0);
    // If a step bends the lines, they are steep everywhere.
    let mut jumps: Vec<f64> =
        (1..observations.len()).map(|next| off_rate(&observations, next).offset_before.abs()).collect();
    jumps.sort_by(f64::total_cmp);
    let typical = *jumps.get(jumps.len() / 2)?;
    let steps = (1..observations.len()).map(|next| {
        let (one, next_observation) = (observations[next - 1], observations[next]);
        let OffsetJump { size, min_size } = jump(&observations, next);
        let step = OffsetStep { domain: forward.to, from: one.timestamp, to: next_observation.timestamp, size };
        // A difference between the latencies of both directions moves an offset by half of it, and
        // by at most half of the round trip. A jump of this size proves nothing, because it can
        // come from waiting.
        StepCandidate { step, min_size, wait_limit: (one.trip.max(0.0) + next_observation.trip.max(0.0)) / 2.0 }
    });
    let StepCandidate { step, min_size, wait_limit } =
        steps.max_by(|a, b| (a.min_size - a.wait_limit).total_cmp(&(b.min_size - b.wait_limit)))?;
    (min_size > noise.max(wait_limit) + 20.0 * typical + DRIFT * (step.to - step.from)).then_some(step)
}

/// Offsets of two clocks by pieces.
struct PairOffsets {
    observations: Vec<PairedObservation>,
    /// The usual round trip, nanoseconds.
    usual_trip: f64,
}

/// Offsets of two clocks by pieces. The pieces are long enough for both
/// directions to be fast once. In a program with processes that wait for each other, one direction
/// is slow whenever the other is fast.
fn quick_offsets(forward: &[MessagePoint], backward: &[MessagePoint], noise: f64) -> Option<PairOffsets> {
    let mut best_offsets: Option<PairOffsets> = None;
    let mut best_half = f64::INFINITY;
    let mut piece_messages = 1;
    while best_offsets.is_none()
        || (piece_messages <= MAX_PIECE_MESSAGES && piece_messages * MIN_PIECES <= forward.len().min(backward.len()))
    {
        let observations = if piece_messages == 1 {
            pair_messages(forward, backward)
        } else {
            pair_fastest(forward, backward, piece_messages)
        };
        let mut trips: Vec<f64> = observations.iter().map(|observation| observation.trip).collect();
        trips.sort_by(f64::total_cmp);
        let usual_trip = *trips.get(trips.len() / 4)?;
        // Longer pieces are used if they improve the fast round trips and at least half of all.
        let half = trips[trips.len() / 2];
        let is_better = best_offsets.as_ref().is_none_or(|best| usual_trip < best.usual_trip - noise);
        if is_better && half < best_half - noise {
            (best_offsets, best_half) = (Some(PairOffsets { observations, usual_trip }), half);
        }
        // Longer pieces would gain nothing, and drift within them would appear as a fast round
        // trip.
        if usual_trip < noise && half < QUICK * noise {
            break;
        }
        piece_messages *= 2;
    }
    best_offsets
}

/// Each message with the next message back.
fn pair_messages(forward: &[MessagePoint], backward: &[MessagePoint]) -> Vec<PairedObservation> {
    let mut position = 0;
    let observations = forward.iter().map(|point| {
        while position + 1 < backward.len() && backward[position].send_time < point.send_time {
            position += 1;
        }
        paired_observation(point, &backward[position])
    });
    observations.collect()
}

/// The fastest message of each direction, for pieces of `piece_messages` messages.
fn pair_fastest(forward: &[MessagePoint], backward: &[MessagePoint], piece_messages: usize) -> Vec<PairedObservation> {
    let fastest =
        |points: &[MessagePoint]| points.iter().copied().min_by(|a, b| a.transfer_time.total_cmp(&b.transfer_time));
    let observations = forward.chunks(piece_messages).filter_map(|piece| {
        let from = backward.partition_point(|point| point.send_time < piece[0].send_time);
        let to = backward.partition_point(|point| point.send_time <= piece[piece.len() - 1].send_time);
        Some(paired_observation(&fastest(piece)?, &fastest(&backward[from..to])?))
    });
    observations.collect()
}

fn paired_observation(forward: &MessagePoint, backward: &MessagePoint) -> PairedObservation {
    PairedObservation {
        timestamp: f64::midpoint(forward.send_time, backward.send_time),
        offset: (forward.transfer_time - backward.transfer_time) / 2.0,
        trip: forward.transfer_time + backward.transfer_time,
    }
}

/// A jump of an offset between two observations, nanoseconds.
struct OffsetJump {
    size: f64,
    /// Lower bound of the size beyond the effect of the rates before and after it.
    min_size: f64,
}

/// The jump of the offset before `next`. A change of the rate in between is not a jump.
fn jump(observations: &[PairedObservation], next: usize) -> OffsetJump {
    let RateDepartures { offset_before: before, offset_after: after } = off_rate(observations, next);
    let min_size = if before * after > 0.0 { before.abs().min(after.abs()) } else { 0.0 };
    OffsetJump { size: observations[next].offset - observations[next - 1].offset, min_size }
}

/// The deviation of an offset from the rate before it, and from the rate after it.
struct RateDepartures {
    offset_before: f64,
    offset_after: f64,
}

/// The deviations of the offset at `next`.
fn off_rate(observations: &[PairedObservation], next: usize) -> RateDepartures {
    let rate = |from: usize, to: usize| {
        let (observation, other) = (observations[from], observations[to]);
        let rate = (other.offset - observation.offset) / (other.timestamp - observation.timestamp);
        if other.timestamp > observation.timestamp { rate.clamp(-MAX_RATE, MAX_RATE) } else { 0.0 }
    };
    let (observation, other) = (observations[next - 1], observations[next]);
    let (time, by) = (other.timestamp - observation.timestamp, other.offset - observation.offset);
    let before = rate((next - 1).saturating_sub(FOR_RATE), next - 1);
    let after = rate(next, (next + FOR_RATE).min(observations.len() - 1));
    RateDepartures { offset_before: by - before * time, offset_after: by - after * time }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: usize, to: usize, offset: impl Fn(f64) -> f64) -> FastestMessages {
        let points = (0..100).map(|n| {
            let send_time = f64::from(n) * 1e8;
            MessagePoint { send_time, transfer_time: 3000.0 + f64::from(n * 31 % 17) * 40.0 + offset(send_time) }
        });
        FastestMessages { from, to, class: DelayClass::Message, points: points.collect(), count: 100 }
    }

    /// A waiting process receives late, alternately on both sides. The round trip is the same.
    #[test]
    fn only_changes_that_waiting_cannot_explain_are_clock_steps() {
        let late = |n: i32| if (20..30).contains(&(n % 50)) { 500_000.0 } else { 0.0 };
        let edge = |from, to, size: f64| {
            let point = |n: i32| {
                let late = if from == 0 { late(n) } else { 500_000.0 - late(n) };
                let jump = if n > 60 { size } else { 0.0 };
                MessagePoint {
                    send_time: f64::from(n) * 1e7,
                    transfer_time: 3000.0 + late + if from == 0 { jump } else { -jump },
                }
            };
            FastestMessages { from, to, class: DelayClass::Message, points: (0..100).map(point).collect(), count: 100 }
        };
        assert_eq!(find(&[edge(0, 1, 0.0), edge(1, 0, 0.0)], 2, NOISE), None);
        let step = find(&[edge(0, 1, 2e6), edge(1, 0, 2e6)], 2, NOISE).unwrap();
        assert!((step.size.abs() - 2e6).abs() < 6e5, "{step:?}");
    }

    #[test]
    fn the_clock_with_the_step_is_found() {
        // Clock 1 is set forward by 3 ms at 4.05 s.
        let jump = |t: f64| if t > 4.05e9 { 3e6 } else { 0.0 };
        let mut edges = Vec::new();
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let lead = move |t: f64| {
                if a == 1 {
                    -jump(t)
                } else if b == 1 {
                    jump(t)
                } else {
                    0.0
                }
            };
            edges.extend([edge(a, b, lead), edge(b, a, move |t| -lead(t))]);
        }
        let step = find(&edges, 3, NOISE).unwrap();
        assert_eq!(step.domain, 1);
        assert!((step.size - 3e6).abs() < 1e4 && step.from <= 4.05e9 && step.to >= 4.05e9, "{step:?}");
        for edge in &mut edges {
            edge.points.truncate(40);
        }
        assert_eq!(find(&edges, 3, NOISE), None);
    }
}
