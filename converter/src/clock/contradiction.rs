//! Sync samples that messages prove wrong.
//!
//! What goes between two clocks cannot arrive before it leaves. Messages alone leave a corridor for each clock; a sample that by any line
//! in it would have arrived before it left is not one of these clocks: whoever answered read another one, or made it up.

use super::Domain;
use super::bursts::CONTRADICTION;
use super::lines::{Joined, lines};
use super::steps::OF_TICKS;
use super::traffic::{Class, Edge};

/// Samples between two clocks that messages contradict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contradiction {
    a: usize,
    b: usize,
    /// By how much at least, nanoseconds.
    nanos: f64,
    /// How many there are.
    pub(crate) samples: u64,
}

impl Contradiction {
    /// Whether samples of these clocks, in either order, are meant.
    pub(crate) fn is_of(&self, a: usize, b: usize) -> bool {
        (self.a, self.b) == (a.min(b), a.max(b))
    }

    /// What a user should know.
    pub(crate) fn sentence(&self, domains: &[Domain]) -> String {
        format!(
            "{} sync samples between clocks `{}` and `{}` contradict the messages by {:.1} us at least: left out",
            self.samples,
            domains[self.a].name,
            domains[self.b].name,
            self.nanos * 1e-3
        )
    }
}

/// The pairs of clocks whose samples contradict the messages of all. `tick` is what the coarsest clock can tell apart, nanoseconds. O(points).
pub(crate) fn find(domains: usize, edges: &[Edge], span: f64, tick: f64) -> Vec<Contradiction> {
    let messages: Vec<Edge> = edges.iter().filter(|edge| edge.class == Class::Message).cloned().collect();
    let joined = lines(domains, &messages, span);
    let mut found: Vec<Contradiction> = Vec::new();
    for edge in edges.iter().filter(|edge| edge.class == Class::Sync) {
        let (Some(from), Some(to)) = (joined[edge.from], joined[edge.to]) else { continue };
        if from.root != to.root || from.one_way || to.one_way {
            continue;
        }
        let added = |joined: Joined, date: f64| joined.line.offset + joined.line.slope * date;
        let took = edge.points.iter().map(|point| {
            let received = point.sent + point.took;
            point.took + added(to, received) - added(from, point.sent)
        });
        let least = took.fold(f64::INFINITY, f64::min);
        let early = -least - from.width - to.width;
        if early < CONTRADICTION + OF_TICKS * tick {
            continue;
        }
        let (a, b) = (edge.from.min(edge.to), edge.from.max(edge.to));
        match found.iter_mut().find(|found| found.is_of(a, b)) {
            Some(found) => found.nanos = found.nanos.max(early),
            None => found.push(Contradiction { a, b, nanos: early, samples: 0 }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::traffic::Point;
    use super::*;

    #[test]
    fn samples_that_are_off_by_more_than_messages_leave_open_are_found() {
        let edge = |from, to, class, took: f64| {
            let points =
                (0..50).map(|n| Point { sent: f64::from(n) * 1e8, took: took + f64::from(n * 7 % 13) * 100.0 });
            Edge { from, to, class, points: points.collect(), count: 50 }
        };
        let with = |lie: f64, tick: f64| {
            let mut edges = vec![edge(0, 1, Class::Sync, 2000.0 + lie), edge(1, 0, Class::Sync, 2000.0 - lie)];
            edges.extend([edge(0, 1, Class::Message, 5000.0), edge(1, 0, Class::Message, 5000.0)]);
            find(2, &edges, 5e9, tick)
        };
        assert_eq!(with(0.0, 1.0), []);
        assert_eq!(with(10_000.0, 1.0), []);
        assert_eq!(with(100_000.0, 100_000.0), []);
        let found = with(100_000.0, 1.0);
        assert!(found.len() == 1 && found[0].is_of(1, 0) && found[0].nanos > 60_000.0, "{found:?}");
    }
}
