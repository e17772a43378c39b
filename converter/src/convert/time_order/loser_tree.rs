//! K-way merge by timestamp. Equal timestamps keep the order of the streams, and each stream keeps
//! its own order.

/// A source of items in order of time.
pub(crate) trait TimeOrdered {
    /// The error of reading.
    type Error;

    /// The timestamp of the current item. `None` at the end.
    fn timestamp(&self) -> Option<i64>;

    /// Reads the next item. Its timestamp is not less than the current one.
    fn advance(&mut self) -> Result<(), Self::Error>;
}

/// Visits the items of all sources in order of time. O(log sources) per item. Does not move any
/// item.
pub(crate) fn merge<S: TimeOrdered, E: From<S::Error>>(
    sources: &mut [S],
    mut visit: impl FnMut(usize, &mut S) -> Result<(), E>,
) -> Result<(), E> {
    let mut tournament = LoserTree::new(sources.iter().map(TimeOrdered::timestamp));
    while let Some(number) = tournament.winner() {
        let source = &mut sources[number];
        visit(number, source)?;
        source.advance()?;
        tournament.replay(source.timestamp());
    }
    Ok(())
}

/// A tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1). Each inner node stores the
/// loser of its comparison. A new timestamp of the winner is compared only along its path to the
/// root.
pub(crate) struct LoserTree {
    /// Node 0 is the winner. Node n compares the winners below nodes 2n and 2n + 1. The leaf of
    /// player p is node `players + p`.
    nodes: Vec<MergeKey>,
}

/// A timestamp in the upper bits and the number of the source in the lower 32 bits. One number, so
/// that players are compared and exchanged without a branch. Sources at their end come last.
type MergeKey = u128;

/// This bit marks a source at its end.
const DONE: u32 = 1 << 31;

impl LoserTree {
    pub(crate) fn new(timestamps: impl Iterator<Item = Option<i64>>) -> Self {
        let players: Vec<MergeKey> =
            timestamps.enumerate().map(|(number, timestamp)| player(number, timestamp)).collect();
        let count = players.len();
        let mut winners = vec![MergeKey::MAX; count];
        winners.extend(players);
        let mut nodes = winners.clone();
        nodes.resize(count.max(1), MergeKey::MAX);
        for node in (1..count).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            winners[node] = a.min(b);
            nodes[node] = a.max(b);
        }
        nodes[0] = winners.get(1).copied().unwrap_or(MergeKey::MAX);
        Self { nodes }
    }

    /// The source of the next item. `None` if all are at their end.
    #[inline]
    pub(crate) fn winner(&self) -> Option<usize> {
        let number = number_of(self.nodes[0]);
        (number & DONE == 0).then_some(number as usize)
    }

    /// Replaces the timestamp of the winner. `None` if its source is at its end.
    #[inline]
    pub(crate) fn replay(&mut self, timestamp: Option<i64>) {
        let number = (number_of(self.nodes[0]) & !DONE) as usize;
        let mut winner = player(number, timestamp);
        let mut node = (self.nodes.len() + number) / 2;
        while node > 0 {
            // The outcome is unpredictable, so there is no branch.
            let other = self.nodes[node];
            self.nodes[node] = other.max(winner);
            winner = other.min(winner);
            node /= 2;
        }
        self.nodes[0] = winner;
    }
}

fn player(number: usize, timestamp: Option<i64>) -> MergeKey {
    let number = u32::try_from(number).unwrap_or(u32::MAX) & !DONE;
    let (timestamp, number) = timestamp.map_or((i64::MAX, number | DONE), |timestamp| (timestamp, number));
    // Flips the sign bit, so that unsigned comparison has the order of signed numbers.
    MergeKey::from(timestamp.cast_unsigned() ^ 1 << 63) << 32 | MergeKey::from(number)
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is the number")]
const fn number_of(player: MergeKey) -> u32 {
    player as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    struct SliceInput {
        timestamps: Vec<i64>,
        position: usize,
    }

    impl TimeOrdered for SliceInput {
        type Error = Infallible;

        fn timestamp(&self) -> Option<i64> {
            self.timestamps.get(self.position).copied()
        }

        fn advance(&mut self) -> Result<(), Infallible> {
            self.position += 1;
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn sorts_and_loses_nothing(mut timestamps in prop::collection::vec(prop::collection::vec(-5i64..50, 0..40), 0..12)) {
            timestamps.iter_mut().for_each(|stream| stream.sort_unstable());
            let mut sources: Vec<SliceInput> = timestamps.iter().map(|timestamps| SliceInput { timestamps: timestamps.clone(), position: 0 }).collect();
            let mut merged = Vec::new();
            merge::<_, Infallible>(&mut sources, |number, source| {
                merged.push((source.timestamps[source.position], number, source.position));
                Ok(())
            }).unwrap();
            let mut expected: Vec<_> = timestamps.iter().enumerate()
                .flat_map(|(number, stream)| stream.iter().enumerate().map(move |(index, timestamp)| (*timestamp, number, index)))
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(merged, expected);
        }
    }
}
