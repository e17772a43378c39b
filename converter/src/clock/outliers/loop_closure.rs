//! Pairs of clocks in a burst that contradict the other pairs.
//!
//! Around a loop of clocks, offsets add up to zero. If they do not, one of the pairs is wrong. In
//! surveying, the sum is called the misclosure. The wrong pair is known if it is the only one
//! without which the others agree. An example are two loops that share it. In a single loop, any
//! pair may be wrong.

use crate::clock::least_squares::{OffsetDifference, positions};

/// Maximum number of pairs that are tested: those with the worst fit.
const SUSPECTS: usize = 16;

/// A set of pairs that contains the wrong one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoopMisclosure {
    /// For each of these pairs, all others agree without it. In order. A single pair was removed.
    /// The list is empty if several pairs are wrong.
    pub(crate) pairs: Vec<(usize, usize)>,
    /// The size of the contradiction, nanoseconds.
    pub(crate) nanos: f64,
}

/// The clocks of a burst.
#[derive(Clone, Debug)]
pub(crate) struct ConsistentPositions {
    /// The position of each clock. `None` if no pair joins it to the first clock.
    pub(crate) positions: Vec<Option<f64>>,
    /// The pairs that contradict the others, if there are any.
    pub(crate) misclosure: Option<LoopMisclosure>,
}

/// Positions of the clocks of a burst, with the first at 0, and the pairs that contradict them.
///
/// `tolerance` gives the maximum error of a correct pair, nanoseconds. If a single pair contradicts
/// the others, it is removed from `edges`. O(edges × steps of the solver), or 16 times as much if
/// there is a contradiction.
pub(crate) fn consistent_positions(
    nodes: usize,
    edges: &mut Vec<OffsetDifference>,
    tolerance: impl Fn(&OffsetDifference) -> f64,
) -> ConsistentPositions {
    /// A pair without which all others agree.
    struct SuspectedPair {
        edge: usize,
        /// The error of the pair by the others.
        nanos: f64,
        /// The positions by the others.
        other_positions: Vec<Option<f64>>,
    }
    let all_positions = positions(nodes, edges);
    let away = |edge: &OffsetDifference, node_positions: &[Option<f64>]| {
        let (from, to) = (node_positions[edge.from].unwrap_or(0.0), node_positions[edge.to].unwrap_or(0.0));
        (node_positions[edge.from].is_some() && node_positions[edge.to].is_some())
            .then(|| (edge.difference - (to - from)).abs())
    };
    let exceeds_bound = |edge: &OffsetDifference, node_positions: &[Option<f64>]| {
        away(edge, node_positions).is_some_and(|away| away > tolerance(edge))
    };
    if !edges.iter().any(|edge| exceeds_bound(edge, &all_positions)) {
        return ConsistentPositions { positions: all_positions, misclosure: None };
    }
    let excess = |number: usize| away(&edges[number], &all_positions).unwrap_or(0.0) / tolerance(&edges[number]);
    let mut worst: Vec<usize> = (0..edges.len()).collect();
    worst.sort_by(|a, b| excess(*b).total_cmp(&excess(*a)));
    let mut suspects = Vec::new();
    for &edge in worst.iter().take(SUSPECTS) {
        let mut other_edges = edges.clone();
        let suspect = other_edges.remove(edge);
        let node_positions = positions(nodes, &other_edges);
        // A pair that alone joins two parts cannot be checked.
        let Some(nanos) = away(&suspect, &node_positions) else { continue };
        if !other_edges.iter().any(|edge| exceeds_bound(edge, &node_positions)) {
            suspects.push(SuspectedPair { edge, nanos, other_positions: node_positions });
        }
    }
    let pair = |number: usize| (edges[number].from, edges[number].to);
    if let [SuspectedPair { edge: number, nanos, other_positions }] = &suspects[..] {
        let misclosure = LoopMisclosure { pairs: vec![pair(*number)], nanos: *nanos };
        let other_edges = other_positions.clone();
        edges.remove(*number);
        return ConsistentPositions { positions: other_edges, misclosure: Some(misclosure) };
    }
    let nanos = match suspects.iter().map(|suspect| suspect.nanos).reduce(f64::max) {
        Some(nanos) => nanos,
        None => away(&edges[worst[0]], &all_positions).unwrap_or(0.0),
    };
    let mut pairs: Vec<(usize, usize)> = suspects.iter().map(|suspect| pair(suspect.edge)).collect();
    pairs.sort_unstable();
    ConsistentPositions { positions: all_positions, misclosure: Some(LoopMisclosure { pairs, nanos }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(differences: &[(usize, usize, f64)]) -> Vec<OffsetDifference> {
        differences
            .iter()
            .map(|&(from, to, difference)| OffsetDifference { from, to, difference, weight: 1.0 })
            .collect()
    }

    fn agreed_of(nodes: usize, differences: &[(usize, usize, f64)]) -> (Vec<f64>, Option<LoopMisclosure>) {
        let ConsistentPositions { positions, misclosure } =
            consistent_positions(nodes, &mut edges(differences), |_| 5.0);
        (positions.into_iter().map(|position| position.unwrap_or(f64::NAN).round()).collect(), misclosure)
    }

    #[test]
    fn in_a_single_cycle_the_wrong_pair_is_unknown() {
        let (node_positions, wrong) = agreed_of(4, &[(0, 1, 10.0), (2, 3, 20.0), (0, 2, 30.0), (1, 3, 140.0)]);
        let wrong = wrong.unwrap();
        assert_eq!(wrong.pairs, [(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert!((wrong.nanos - 100.0).abs() < 1.0, "all of it: {wrong:?}");
        assert_eq!(node_positions, [0.0, -15.0, 55.0, 100.0]);
        assert_eq!(agreed_of(3, &[(0, 1, 10.0), (1, 2, 20.0), (0, 2, 33.0)]).1, None);
        assert_eq!(agreed_of(3, &[(0, 1, 1000.0), (1, 2, 20.0)]).1, None);
    }

    #[test]
    fn a_wrong_pair_in_two_cycles_is_found_and_not_used() {
        let (node_positions, wrong) =
            agreed_of(4, &[(0, 1, 500.0), (1, 2, 20.0), (0, 2, 30.0), (1, 3, 40.0), (0, 3, 50.0)]);
        let wrong = wrong.unwrap();
        assert_eq!((wrong.pairs.as_slice(), wrong.nanos.round()), (&[(0, 1)][..], 490.0));
        assert_eq!(node_positions, [0.0, 10.0, 30.0, 50.0]);
    }

    #[test]
    fn several_wrong_pairs_are_reported_without_a_name() {
        let all = [(0, 1, 500.0), (1, 2, 20.0), (0, 2, -700.0), (1, 3, 40.0), (0, 3, 50.0), (2, 3, 900.0)];
        let wrong = agreed_of(4, &all).1.unwrap();
        assert!(wrong.pairs.is_empty() && wrong.nanos > 100.0, "{wrong:?}");
    }
}
