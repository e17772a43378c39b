//! Ties: the assumptions that the delays of both directions between two domains are alike.
//!
//! The sum S of the smallest delays of both directions does not depend on the offset of the clocks.
//! Therefore a fit knows S well even if its offsets are wrong. S determines the weight of the tie
//! between the two delays. Round trips of single messages do not show S: in a program with
//! processes that wait for each other, one of the two directions takes as long as their loads
//! differ.

use std::collections::BTreeMap;

use super::shape::{EdgeTerm, MIN_DELAY, ReverseEdge};
use crate::clock::min_delays::{DelayClass, FastestMessages, MessagePoint};

/// Maximum number of pieces of the traffic of two clocks, for a first guess.
const PIECES: usize = 32;
/// Minimum number of messages of a piece in each direction.
const AT_LEAST: usize = 4;

/// The data of the ties of all edges that does not change during the fit.
pub(crate) struct RoundTripTies<'t> {
    edges: &'t [FastestMessages],
    /// By edge: the edge in the opposite direction.
    reverse_edges: Vec<Option<usize>>,
    /// By edge: the round trip time of samples, microseconds. Both directions are from one moment,
    /// so it needs no fit.
    exchanged: Vec<Option<f64>>,
}

impl<'t> RoundTripTies<'t> {
    pub(crate) fn new(edges: &'t [FastestMessages]) -> Self {
        let key = |edge: &FastestMessages| (edge.from, edge.to, edge.class);
        let numbers: BTreeMap<(usize, usize, DelayClass), usize> =
            edges.iter().enumerate().map(|(number, edge)| (key(edge), number)).collect();
        let back: Vec<Option<usize>> =
            edges.iter().map(|edge| numbers.get(&(edge.to, edge.from, edge.class)).copied()).collect();
        let exchanged = |(edge, back): (&FastestMessages, &Option<usize>)| {
            let (forth, back) = (&edge.points, &edges[(*back)?].points);
            // Equal for both edges, because the matrix of the fit is symmetric.
            (edge.class == DelayClass::Sync).then(|| round_trip(forth, back).min(round_trip(back, forth)))
        };
        let exchanged = edges.iter().zip(&back).map(exchanged).collect();
        Self { edges, reverse_edges: back, exchanged }
    }

    /// First guesses of the delays, microseconds: half of the sum of the fastest messages in both
    /// directions.
    pub(crate) fn guesses(&self) -> Vec<f64> {
        let guess = |(number, back): (usize, &Option<usize>)| {
            let fastest = |back: usize| fastest_trip(&self.edges[number].points, &self.edges[back].points);
            let trip = self.exchanged[number].or(back.map(fastest)).unwrap_or(0.0);
            trip.max(2.0 * MIN_DELAY) / 2.0
        };
        self.reverse_edges.iter().enumerate().map(guess).collect()
    }

    /// The edges with the weights of their ties, computed from these delays.
    pub(crate) fn terms(&self, delays: &[f64]) -> Vec<EdgeTerm> {
        let trip = |(number, back): (usize, &Option<usize>)| {
            let fitted = delays[number] + delays[(*back)?];
            Some(self.exchanged[number].unwrap_or(fitted))
        };
        let trips: Vec<Option<f64>> = self.reverse_edges.iter().enumerate().map(trip).collect();
        let median = |class: Option<DelayClass>| {
            let of_class =
                self.edges.iter().zip(&trips).filter(|(edge, _)| class.is_none_or(|class| edge.class == class));
            let mut sorted: Vec<f64> = of_class.filter_map(|(_, trip)| *trip).collect();
            sorted.sort_by(f64::total_cmp);
            sorted.get(sorted.len() / 2).copied()
        };
        // The usual round trip on this network. Samples are the best source.
        let usual = median(Some(DelayClass::Sync)).map(|trip| 2.0 * trip).or(median(None).map(|trip| 3.0 * trip));
        // The fastest round trip of a pair, over all classes.
        let pair = |edge: &FastestMessages| (edge.from.min(edge.to), edge.from.max(edge.to));
        let mut fastest: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (edge, trip) in self.edges.iter().zip(&trips) {
            let fastest = fastest.entry(pair(edge)).or_insert(usual.unwrap_or(0.0));
            *fastest = trip.unwrap_or(f64::INFINITY).min(*fastest);
        }
        let term = |(number, edge): (usize, &FastestMessages)| {
            let trip = trips[number].unwrap_or(0.0).max(2.0 * MIN_DELAY);
            // If a pair is never fast in one direction, it gives little information about the
            // difference of its delays. The same is true for messages that are never as fast as the
            // samples of their pair.
            let excess = (trip - fastest[&pair(edge)].max(2.0 * MIN_DELAY)).max(0.0);
            let class = if edge.class == DelayClass::Message { 0.1 } else { 0.0 };
            let unlike = 0.05 + 0.03 * (trip - excess) + 0.5 * excess + class;
            let back = self.reverse_edges[number].map(|edge| ReverseEdge { edge, symmetry: 1.0 / (unlike * unlike) });
            let delay_weight = if back.is_some() { 0.0 } else { 1.0 / (50.0 * 50.0) };
            EdgeTerm { from: edge.from, to: edge.to, reverse_edge: back, delay_weight }
        };
        self.edges.iter().enumerate().map(term).collect()
    }
}

/// The sum of the fastest messages in both directions, microseconds. It is the 10th percentile over
/// pieces of the run. In each piece, the fastest message of each direction counts, at any moment.
/// The offset between the clocks does not affect the sum.
fn fastest_trip(forward: &[MessagePoint], backward: &[MessagePoint]) -> f64 {
    let fewest = forward.len().min(backward.len());
    let pieces = (fewest / AT_LEAST).clamp(1, PIECES);
    let (more, less) = if forward.len() >= backward.len() { (forward, backward) } else { (backward, forward) };
    let fastest =
        |points: &[MessagePoint]| points.iter().map(|point| point.transfer_time).fold(f64::INFINITY, f64::min);
    let mut trips: Vec<f64> = Vec::new();
    for piece in 0..pieces {
        let messages = &less[piece * less.len() / pieces..(piece + 1) * less.len() / pieces];
        let (Some(first), Some(last)) = (messages.first(), messages.last()) else { continue };
        // The messages of the other direction at the same time.
        let from = more.partition_point(|point| point.send_time < first.send_time);
        let to = more.partition_point(|point| point.send_time <= last.send_time);
        let opposite = &more[from.saturating_sub(1)..(to + 1).min(more.len())];
        trips.push((fastest(messages) + fastest(opposite)) * 1e-3);
    }
    trips.sort_by(f64::total_cmp);
    trips.get(trips.len() / 10).copied().filter(|trip| trip.is_finite()).unwrap_or(0.0)
}

/// The 10th percentile of round-trip times, in microseconds. A round trip is a message and the
/// message in the other direction that was sent nearest to it in time.
fn round_trip(forward: &[MessagePoint], backward: &[MessagePoint]) -> f64 {
    let mut trips = Vec::new();
    let mut position = 0;
    for point in forward {
        while position + 1 < backward.len()
            && (backward[position + 1].send_time - point.send_time).abs()
                <= (backward[position].send_time - point.send_time).abs()
        {
            position += 1;
        }
        if let Some(backward) = backward.get(position) {
            trips.push((point.transfer_time + backward.transfer_time) * 1e-3);
        }
    }
    trips.sort_by(f64::total_cmp);
    trips.get(trips.len() / 10).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_on_one_side_does_not_hide_the_network() {
        // In each iteration one of the two directions waits for half a millisecond or more.
        let points = |even: usize| {
            let point = |n: usize| MessagePoint {
                send_time: n as f64 * 1e6,
                transfer_time: 2000.0 + if n % 2 == even { 5e5 + n as f64 * 1e3 } else { (n % 7) as f64 * 50.0 },
            };
            (0..200).map(point).collect::<Vec<MessagePoint>>()
        };
        let trip = fastest_trip(&points(0), &points(1));
        assert!((4.0..4.2).contains(&trip), "{trip}");
    }
}
