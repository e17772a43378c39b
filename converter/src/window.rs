//! K-way merge of turns by date, a window at a time: of equal dates, those of the earlier stream come first, and each stream keeps its order.
//!
//! A window is what all streams have up to a date before which none has to read on. It is sorted by the digits of its dates, without a
//! comparison: some ten instructions for each of two or three digits, however many streams there are (Knuth, The Art of Computer
//! Programming 3, 5.2.5).

use std::cmp::Ordering;
use std::slice::Iter;

use crate::ready::{Made, RECORD, Turn, WIDE, words_of};

/// About so many turns make a window.
const TURNS: usize = 4096;
/// Turns of a window at most, unless there are more streams than that.
const MOST: usize = 1 << 16;
/// Bits of a piece's number.
const PIECE_BITS: u32 = 16;
const MOST_PIECES: usize = 1 << PIECE_BITS;
/// Bits of a date that are a digit.
const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;
/// Windows below are sorted by comparison.
const SMALL: usize = 256;

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
        let mut pieces: Vec<_> = counts.iter().map(|(stream, count)| heads[*stream].rest()[..*count].iter()).collect();
        turns.reserve(count);
        sorter.sort(&mut pieces, |turn| {
            let mut turn = *turn;
            if turn.act & WIDE != 0 && turn.act != RECORD {
                let (its, bits) = words_of(turn.bits, &heads[turn.stream as usize].made.words, words.len());
                words.extend_from_slice(its);
                turn.bits = bits;
            }
            turns.push(turn);
        });
        for (stream, count) in &*counts {
            let head = &mut heads[*stream];
            head.at += count;
            if head.at >= head.made.turns.len() {
                empty.push(*stream);
            }
        }
    }
}

/// Sorts pieces of turns, each of which is in order, by date; of equal dates, in the order of the pieces.
#[derive(Debug, Default)]
struct Sorter {
    /// For each turn its date from the least on, and below, its piece. As pieces are in order, nothing else has to be known of a turn.
    keys: Vec<u64>,
    spare: Vec<u64>,
    /// The same where dates are too far from each other, or pieces too many.
    wide: Vec<(i64, u32)>,
}

impl Sorter {
    /// Visits all turns in order.
    #[inline]
    fn sort(&mut self, pieces: &mut [Iter<'_, Turn>], mut visit: impl FnMut(&Turn)) {
        let ends = |piece: &Iter<'_, Turn>| Some((piece.as_slice().first()?.date, piece.as_slice().last()?.date));
        let ends = pieces.iter().filter_map(ends);
        let all = (i64::MAX, i64::MIN);
        let (least, largest) = ends.fold(all, |all, (first, last)| (all.0.min(first), all.1.max(last)));
        let bits = u64::BITS - largest.wrapping_sub(least).cast_unsigned().leading_zeros();
        if pieces.len() > MOST_PIECES || bits > u64::BITS - PIECE_BITS {
            self.wide.clear();
            for (number, piece) in (0..).zip(&*pieces) {
                self.wide.extend(piece.as_slice().iter().map(|turn| (turn.date, number)));
            }
            self.wide.sort_unstable();
            return self.wide.iter().filter_map(|(_, piece)| pieces[*piece as usize].next()).for_each(visit);
        }
        self.keys.clear();
        for (number, piece) in (0u64..).zip(&*pieces) {
            let key = |turn: &Turn| turn.date.wrapping_sub(least).cast_unsigned() << PIECE_BITS | number;
            self.keys.extend(piece.as_slice().iter().map(key));
        }
        if pieces.len() > 1 {
            self.sort_keys(bits);
        }
        for key in &self.keys {
            if let Some(turn) = pieces.get_mut(*key as usize % MOST_PIECES).and_then(Iterator::next) {
                visit(turn);
            }
        }
    }

    /// Sorts keys of which the dates have so many bits.
    fn sort_keys(&mut self, bits: u32) {
        if self.keys.len() < SMALL {
            return self.keys.sort_unstable();
        }
        // As few digits as there may be, and these as short as may be.
        let passes = bits.div_ceil(DIGIT_BITS).max(1);
        let width = bits.div_ceil(passes);
        for at in 0..passes {
            self.sort_by_digit(PIECE_BITS + at * width, width);
        }
    }

    /// Sorts keys by the digit of so many bits that begins at this one; those with the same one keep their order.
    fn sort_by_digit(&mut self, at: u32, width: u32) {
        let mask = (1 << width) - 1;
        let digit = |key: u64| (key >> at) as usize & mask;
        let mut places = [0u32; DIGITS];
        let places = &mut places[..=mask];
        self.keys.iter().for_each(|key| places[digit(*key)] += 1);
        let mut sum = 0;
        for place in &mut *places {
            sum += std::mem::replace(place, sum);
        }
        self.spare.resize(self.keys.len(), 0);
        let spare = &mut self.spare[..self.keys.len()];
        for key in &self.keys {
            let place = &mut places[digit(*key)];
            spare[*place as usize] = *key;
            *place += 1;
        }
        std::mem::swap(&mut self.keys, &mut self.spare);
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
