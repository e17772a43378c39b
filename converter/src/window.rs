//! K-way merge of turns by date, a window at a time: of equal dates, those of the earlier stream come first, and each stream keeps its order.
//!
//! A window is what all streams have up to a date before which none has to read on. It is sorted by the digits of its dates, without a
//! comparison: some ten instructions for each of two or three digits, however many streams there are.

use std::cmp::Ordering;

use crate::ready::{Made, RECORD, Turn, WIDE, words_of};

/// About so many turns make a window.
const TURNS: usize = 4096;
/// Turns of a window at most, unless there are more streams than that: their positions have 16 bits.
const MOST: usize = 1 << POSITION_BITS;
const POSITION_BITS: u32 = 16;
/// Windows below are sorted by comparison.
const SMALL: usize = 64;

/// The streams that are merged.
#[derive(Debug)]
pub(crate) struct Windows {
    heads: Vec<Head>,
    /// Those that have not ended.
    live: Vec<usize>,
    /// Those that have to read on.
    empty: Vec<usize>,
    /// How many turns of a stream come into a window, at most.
    quota: usize,
    /// How many each stream has for the next window, where there are any.
    counts: Vec<(usize, usize)>,
    sorter: Sorter,
}

/// What a stream has read, and how far it has come.
#[derive(Debug, Default)]
struct Head {
    made: Made,
    at: usize,
}

impl Head {
    fn rest(&self) -> &[Turn] {
        &self.made.turns[self.at..]
    }
}

impl Windows {
    /// Of so many streams, which have read nothing yet.
    pub(crate) fn new(streams: usize) -> Self {
        Self {
            heads: (0..streams).map(|_| Head::default()).collect(),
            live: (0..streams).collect(),
            empty: (0..streams).collect(),
            quota: (TURNS / streams.max(1)).max(1),
            counts: Vec::new(),
            sorter: Sorter::default(),
        }
    }

    /// Lets `read` read on where all turns were taken; a stream of which there are none then has ended.
    pub(crate) fn fill<E>(&mut self, mut read: impl FnMut(usize, &mut Made) -> Result<(), E>) -> Result<(), E> {
        let mut has_ended = false;
        for stream in self.empty.drain(..) {
            let head = &mut self.heads[stream];
            head.at = 0;
            head.made.clear();
            read(stream, &mut head.made)?;
            if head.made.turns.is_empty() {
                head.made = Made::default();
                has_ended = true;
            }
        }
        if has_ended {
            let heads = &self.heads;
            self.live.retain(|stream| !heads[*stream].made.turns.is_empty());
        }
        Ok(())
    }

    /// Counts what each stream has up to where the first of them has no more, or its quota; how many that are.
    fn count(&mut self) -> usize {
        let Self { heads, live, quota, counts, .. } = self;
        counts.clear();
        let last = |stream: &usize| {
            let (rest, is_last) = (heads[*stream].rest(), heads[*stream].made.is_last);
            let near = rest.len().min(*quota);
            let turn = rest.get(near.wrapping_sub(1)).filter(|_| !is_last || near < rest.len());
            turn.map(|turn| (turn.date, *stream))
        };
        // Where nobody has to read on, there is no limit.
        let (limit, limiting) = live.iter().filter_map(last).min().unwrap_or((i64::MAX, usize::MAX));
        let mut sum = 0;
        for &stream in &*live {
            let rest = heads[stream].rest();
            if rest.first().is_none_or(|turn| turn.date > limit) {
                continue;
            }
            let near = &rest[..rest.len().min(*quota)];
            let count = match stream.cmp(&limiting) {
                Ordering::Less => near.partition_point(|turn| turn.date <= limit),
                Ordering::Equal => near.len(),
                Ordering::Greater => near.partition_point(|turn| turn.date < limit),
            };
            if count > 0 {
                counts.push((stream, count));
                sum += count;
            }
        }
        sum
    }

    /// Takes the next window, after [`Self::fill`]: its turns in order, and the words of wide ones. There are none at the end. O(turns +
    /// streams that have not ended).
    pub(crate) fn take(&mut self, turns: &mut Vec<Turn>, words: &mut Vec<u64>) {
        let count = loop {
            let count = self.count();
            if count <= MOST || self.quota == 1 {
                break count;
            }
            self.quota = (self.quota / 2).max(1);
        };
        if count < TURNS / 2 {
            self.quota = (self.quota * 2).min(TURNS);
        } else if count > TURNS * 2 {
            self.quota = (self.quota / 2).max(1);
        }
        let Self { heads, empty, sorter, counts, .. } = self;
        sorter.clear();
        for &(stream, count) in &*counts {
            let head = &mut heads[stream];
            sorter.add(&head.rest()[..count]);
            head.at += count;
            if head.at >= head.made.turns.len() {
                empty.push(stream);
            }
        }
        sorter.sort();
        turns.extend(sorter.sorted().map(|mut turn| {
            if turn.act & WIDE != 0 && turn.act != RECORD {
                let (its, bits) = words_of(turn.bits, &heads[turn.stream as usize].made.words, words.len());
                words.extend_from_slice(its);
                turn.bits = bits;
            }
            turn
        }));
    }
}

/// Sorts turns by date; of equal dates, in the order in which they were added.
#[derive(Debug, Default)]
struct Sorter {
    turns: Vec<Turn>,
    /// How many pieces in order they came in.
    pieces: usize,
    /// Dates from the least on, and below, the positions of their turns.
    keys: Vec<u64>,
    spare: Vec<u64>,
    /// The positions, where dates are too far from each other, or turns too many, for keys.
    positions: Vec<u32>,
}

impl Sorter {
    fn clear(&mut self) {
        self.turns.clear();
        self.keys.clear();
        self.positions.clear();
        self.pieces = 0;
    }

    /// Adds turns that are in order.
    fn add(&mut self, turns: &[Turn]) {
        self.turns.extend_from_slice(turns);
        self.pieces += usize::from(!turns.is_empty());
    }

    fn sort(&mut self) {
        if self.pieces < 2 {
            return;
        }
        let dates = self.turns.iter().map(|turn| turn.date);
        let (least, largest) =
            dates.fold((i64::MAX, i64::MIN), |(least, largest), date| (least.min(date), largest.max(date)));
        let bits = u64::BITS - largest.wrapping_sub(least).cast_unsigned().leading_zeros();
        if self.turns.len() > MOST || bits > u64::BITS - POSITION_BITS {
            self.positions.extend(0..u32::try_from(self.turns.len()).unwrap_or(u32::MAX));
            let turns = &self.turns;
            self.positions.sort_by_key(|position| turns[*position as usize].date);
            return;
        }
        let key =
            |(position, turn): (u64, &Turn)| turn.date.wrapping_sub(least).cast_unsigned() << POSITION_BITS | position;
        self.keys.extend((0..).zip(&self.turns).map(key));
        if self.keys.len() < SMALL {
            self.keys.sort_unstable();
            return;
        }
        for at in (POSITION_BITS..POSITION_BITS + bits).step_by(8) {
            self.sort_by_digit(at);
        }
    }

    /// Sorts keys by the eight bits from this one on; those with the same ones keep their order.
    fn sort_by_digit(&mut self, at: u32) {
        let digit = |key: u64| (key >> at) as u8 as usize;
        let mut places = [0u32; 256];
        self.keys.iter().for_each(|key| places[digit(*key)] += 1);
        let mut sum = 0;
        for place in &mut places {
            sum += std::mem::replace(place, sum);
        }
        self.spare.resize(self.keys.len(), 0);
        for key in &self.keys {
            let place = &mut places[digit(*key)];
            self.spare[*place as usize] = *key;
            *place += 1;
        }
        std::mem::swap(&mut self.keys, &mut self.spare);
    }

    /// The turns in order.
    fn sorted(&self) -> impl Iterator<Item = Turn> {
        let by_key = self.keys.iter().map(|key| (*key & (MOST as u64 - 1)) as usize);
        let by_position = self.positions.iter().map(|position| *position as usize);
        let is_plain = self.keys.is_empty() && self.positions.is_empty();
        let plain = if is_plain { 0..self.turns.len() } else { 0..0 };
        by_key.chain(by_position).chain(plain).map(|position| self.turns[position])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    /// Takes all turns of streams that read so many at a time.
    fn merged(streams: &[Vec<i64>], block: usize, tells_end: bool) -> Vec<(i64, u32, u64)> {
        let mut at = vec![0; streams.len()];
        let mut windows = Windows::new(streams.len());
        let (mut all, mut words) = (Vec::new(), Vec::new());
        loop {
            windows
                .fill(|stream, made| {
                    let dates = &streams[stream][at[stream]..];
                    for date in &dates[..dates.len().min(block)] {
                        let (bits, act) = (at[stream] as u64, 7);
                        made.turns.push(Turn { date: *date, bits, act, stream: u32::try_from(stream).unwrap() });
                        at[stream] += 1;
                    }
                    made.is_last = tells_end && at[stream] == streams[stream].len();
                    Ok::<_, Infallible>(())
                })
                .unwrap();
            let before = all.len();
            windows.take(&mut all, &mut words);
            if all.len() == before {
                return all.iter().map(|turn| (turn.date, turn.stream, turn.bits)).collect();
            }
        }
    }

    proptest! {
        #[test]
        fn sorts_and_loses_nothing(
            mut dates in prop::collection::vec(
                prop::collection::vec(prop_oneof![-5i64..50, -5i64..50, 0i64..1 << 40, any::<i64>()], 0..300), 0..12),
            block in 1usize..200,
            tells_end: bool,
        ) {
            dates.iter_mut().for_each(|stream| stream.sort_unstable());
            let mut expected: Vec<_> = (0u32..).zip(&dates)
                .flat_map(|(stream, dates)| (0u64..).zip(dates).map(move |(at, date)| (*date, stream, at)))
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(merged(&dates, block, tells_end), expected);
        }
    }

    #[test]
    fn many_streams_and_one_that_is_busy() {
        let mut streams: Vec<Vec<i64>> = (0..MOST as i64 + 10).map(|stream| vec![stream % 7 * 100]).collect();
        streams.push((0..2000).collect());
        let mut expected: Vec<(i64, u32, u64)> = (0u32..)
            .zip(&streams)
            .flat_map(|(stream, dates)| (0u64..).zip(dates).map(move |(at, date)| (*date, stream, at)))
            .collect();
        expected.sort_unstable();
        assert!(merged(&streams, 500, true) == expected);
    }
}
