//! K-way merge by date: of equal dates, the one from the earlier stream comes first, and each stream keeps its order.

/// Something that is read in order of date.
pub(crate) trait Dated {
    /// Why it could not be read.
    type Error;

    /// Date of the current item; `None` at the end.
    fn date(&self) -> Option<i64>;

    /// Goes on to the next item, whose date is not before the current one's.
    fn advance(&mut self) -> Result<(), Self::Error>;
}

/// Visits the items of all sources in order of date. O(log sources) per item, without moving any.
pub(crate) fn merge<S: Dated, E: From<S::Error>>(
    sources: &mut [S],
    mut visit: impl FnMut(usize, &mut S) -> Result<(), E>,
) -> Result<(), E> {
    let mut tournament = Tournament::new(sources.iter().map(Dated::date));
    while let Some(number) = tournament.winner() {
        let source = &mut sources[number];
        visit(number, source)?;
        source.advance()?;
        tournament.replay(source.date());
    }
    Ok(())
}

/// A tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1): each inner node remembers who lost there, so that a new
/// date of the winner has only to be compared on its way up.
pub(crate) struct Tournament {
    /// 0 is the winner; node n plays the winners below 2n and 2n + 1, and the leaf of player p is node `players + p`.
    nodes: Vec<Player>,
}

/// A date and, below it, who has it: one number, so that players are compared and exchanged without a branch. Who is done comes last.
type Player = u128;

/// Has nothing more.
const DONE: u32 = 1 << 31;

impl Tournament {
    pub(crate) fn new(dates: impl Iterator<Item = Option<i64>>) -> Self {
        let players: Vec<Player> = dates.enumerate().map(|(number, date)| player(number, date)).collect();
        let count = players.len();
        let mut winners = vec![Player::MAX; count];
        winners.extend(players);
        let mut nodes = winners.clone();
        nodes.resize(count.max(1), Player::MAX);
        for node in (1..count).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            winners[node] = a.min(b);
            nodes[node] = a.max(b);
        }
        nodes[0] = winners.get(1).copied().unwrap_or(Player::MAX);
        Self { nodes }
    }

    /// Whose turn it is.
    #[inline]
    pub(crate) fn winner(&self) -> Option<usize> {
        let number = number_of(self.nodes[0]);
        (number & DONE == 0).then_some(number as usize)
    }

    /// The winner has a new date, or is done.
    #[inline]
    pub(crate) fn replay(&mut self, date: Option<i64>) {
        let number = (number_of(self.nodes[0]) & !DONE) as usize;
        let mut best = player(number, date);
        let mut node = (self.nodes.len() + number) / 2;
        while node > 0 {
            // Who wins is up to chance: no branch.
            let other = self.nodes[node];
            self.nodes[node] = other.max(best);
            best = other.min(best);
            node /= 2;
        }
        self.nodes[0] = best;
    }
}

fn player(number: usize, date: Option<i64>) -> Player {
    let number = u32::try_from(number).unwrap_or(u32::MAX) & !DONE;
    let (date, number) = date.map_or((i64::MAX, number | DONE), |date| (date, number));
    // In the order of signed numbers.
    Player::from(date.cast_unsigned() ^ 1 << 63) << 32 | Player::from(number)
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is the number")]
const fn number_of(player: Player) -> u32 {
    player as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    struct Slice {
        dates: Vec<i64>,
        at: usize,
    }

    impl Dated for Slice {
        type Error = Infallible;

        fn date(&self) -> Option<i64> {
            self.dates.get(self.at).copied()
        }

        fn advance(&mut self) -> Result<(), Infallible> {
            self.at += 1;
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn sorts_and_loses_nothing(mut dates in prop::collection::vec(prop::collection::vec(-5i64..50, 0..40), 0..12)) {
            dates.iter_mut().for_each(|stream| stream.sort_unstable());
            let mut sources: Vec<Slice> = dates.iter().map(|dates| Slice { dates: dates.clone(), at: 0 }).collect();
            let mut merged = Vec::new();
            merge::<_, Infallible>(&mut sources, |number, source| {
                merged.push((source.dates[source.at], number, source.at));
                Ok(())
            }).unwrap();
            let mut expected: Vec<_> = dates.iter().enumerate()
                .flat_map(|(number, stream)| stream.iter().enumerate().map(move |(at, date)| (*date, number, at)))
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(merged, expected);
        }
    }
}
