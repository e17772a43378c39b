//! How far dates can be off, whatever the statistics: a bound that follows from causality alone.
//!
//! A message that seems to take y cannot have left later than it came: so the receiver's dates are at most y more ahead than
//! the sender's. Shortest paths over (domain, piece of the run) turn this into a bound for each; between pieces the error
//! changes by no more than the clocks' rates can. A few latencies, typically.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::traffic::Edge;

/// Pieces of the run.
const PIECES: usize = 64;

/// The largest error of each domain's dates against the first's, nanoseconds; infinite when messages do not bound it from
/// both sides. `took` gives what a message (edge, place in the run from 0 to 1, time that it seemed to take) took by the
/// final dates, a tick included; `rate` is how much an error can change per nanosecond.
pub(crate) fn half_widths(
    domains: usize,
    edges: &[Edge],
    span: f64,
    rate: f64,
    took: impl Fn(&Edge, f64, f64) -> f64,
) -> Vec<f64> {
    // By node: the node before, and how much more ahead this one can be.
    let mut ahead: Vec<Vec<(usize, f64)>> = vec![Vec::new(); domains * PIECES];
    for edge in edges {
        let mut least = [f64::INFINITY; PIECES];
        for point in &edge.points {
            let place = (point.sent / span).clamp(0.0, 1.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
            let piece = ((place * PIECES as f64) as usize).min(PIECES - 1);
            least[piece] = least[piece].min(took(edge, place, point.took).max(0.0));
        }
        for (piece, &least) in least.iter().enumerate().filter(|(_, least)| least.is_finite()) {
            ahead[edge.from * PIECES + piece].push((edge.to * PIECES + piece, least));
        }
    }
    let mut behind: Vec<Vec<(usize, f64)>> = vec![Vec::new(); domains * PIECES];
    for (from, arcs) in ahead.iter().enumerate() {
        for &(to, weight) in arcs {
            behind[to].push((from, weight));
        }
    }
    let step = rate * span / PIECES as f64;
    let (most, least) = (distances(&ahead, step), distances(&behind, step));
    let both = most.iter().zip(&least).map(|(most, least)| most.max(*least)).collect::<Vec<f64>>();
    both.chunks(PIECES).map(|pieces| pieces.iter().copied().fold(0.0, f64::max)).collect()
}

/// Dijkstra's algorithm from all pieces of the first domain.
fn distances(arcs: &[Vec<(usize, f64)>], step: f64) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; arcs.len()];
    // Bits of non-negative floats are in their order.
    let mut heap: BinaryHeap<Reverse<(u64, usize)>> = (0..PIECES).map(|node| Reverse((0, node))).collect();
    best[..PIECES].fill(0.0);
    while let Some(Reverse((bits, node))) = heap.pop() {
        let here = f64::from_bits(bits);
        if here > best[node] {
            continue;
        }
        let piece = node % PIECES;
        let before = (piece > 0).then(|| (node - 1, step));
        let after = (piece + 1 < PIECES).then(|| (node + 1, step));
        for (next, weight) in arcs[node].iter().copied().chain(before).chain(after) {
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

    #[test]
    fn round_trips_bound_and_one_way_does_not() {
        let edge = |from, to, took| {
            let points = (0..64).map(|n| Point { sent: f64::from(n) * 1e9, took }).collect();
            Edge { from, to, class: Class::Message, points, count: 64 }
        };
        let edges = [edge(0, 1, 2000.0), edge(1, 0, 3000.0), edge(1, 2, 1000.0), edge(2, 1, 500.0), edge(0, 3, 10.0)];
        let widths = half_widths(4, &edges, 64e9, 1e-7, |_, _, took| took);
        assert_eq!(widths, [0.0, 3000.0, 3500.0, f64::INFINITY]);
    }
}
