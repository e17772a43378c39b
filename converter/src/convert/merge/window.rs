//! K-way merge of records by date, a window at a time: of equal dates, those of the earlier stream come first, and each stream keeps its order.
//!
//! A window is what all streams have up to a date before which none has to read on. It is sorted by the digits of its dates, without a
//! comparison: some ten instructions for each of two or three digits, however many streams there are (Knuth, The Art of Computer
//! Programming 3, 5.2.5). As each stream is in order, a date and whose it is are all that is sorted, and all that goes over.

use std::cmp::Ordering;

/// About so many records make a window.
const RECORDS: usize = 4096;
/// Records of a window at most, unless there are more streams than that.
const MOST: usize = 1 << 16;
/// Bits of a date that are a digit.
const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;
/// Minimum number of streams to hold at one time.
const LIVE: usize = 256;
/// Windows below are sorted by comparison.
const SMALL: usize = 256;

/// Whose turn it is, in order of date.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// For each turn its date from the least on, and below, whose it is: a position among `streams`.
    keys: Vec<u64>,
    least: i64,
    /// Those that have turns.
    streams: Vec<u32>,
    /// Bits of a position among them.
    bits: u32,
}

impl Window {
    /// There are no turns: nothing comes any more.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The streams that have turns.
    pub(crate) fn streams(&self) -> &[u32] {
        &self.streams
    }

    /// Stream and date of each.
    pub(crate) fn turns(&self) -> impl Iterator<Item = (u32, i64)> {
        let mask = (1 << self.bits) - 1;
        self.keys.iter().map(move |key| {
            let stream = self.streams.get((key & mask) as usize).copied().unwrap_or_default();
            (stream, self.least.wrapping_add((key >> self.bits).cast_signed()))
        })
    }
}

/// The streams that are merged.
#[derive(Debug)]
pub(crate) struct Windows {
    heads: Vec<Head>,
    /// Streams that have begun and have not ended.
    live: Vec<usize>,
    /// Streams that have not begun, with a lower bound of their timestamps; the earliest is last.
    waiting: Vec<(i64, usize)>,
    /// Those that have to read on.
    empty: Vec<usize>,
    /// How many records of a stream come into a window, at most.
    quota: usize,
    /// How many each stream has for the next window, where there are any.
    counts: Vec<(usize, usize)>,
    spare: Vec<u64>,
}

/// The dates that a stream has read, and how far it has come.
#[derive(Debug, Default)]
struct Head {
    dates: Vec<i64>,
    at: u32,
    /// It is known that there are no more.
    is_last: bool,
}

impl Head {
    fn rest(&self) -> &[i64] {
        self.dates.get(self.at as usize..).unwrap_or_default()
    }
}

impl Windows {
    /// For unread streams with these lower bounds of their timestamps.
    pub(crate) fn new(begins: &[i64]) -> Self {
        let mut waiting: Vec<(i64, usize)> = begins.iter().copied().zip(0..).collect();
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            heads: begins.iter().map(|_| Head::default()).collect(),
            live: Vec::new(),
            waiting,
            empty: Vec::new(),
            quota: (RECORDS / begins.len().max(1)).max(1),
            counts: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Calls `read` for the streams whose timestamps are all taken. `read` replaces the timestamps,
    /// and returns whether they are known to be the last. A stream without new timestamps has
    /// ended. A stream begins when its lower bound is due: of many short streams, few are held at
    /// one time.
    pub(crate) fn fill<E>(&mut self, mut read: impl FnMut(usize, &mut Vec<i64>) -> Result<bool, E>) -> Result<(), E> {
        self.read_on(&mut read)?;
        while !self.waiting.is_empty() {
            let firsts = self.live.iter().filter_map(|stream| self.heads[*stream].rest().first());
            let least = firsts.min().copied().unwrap_or(i64::MIN);
            // Begins more streams than needed, because each beginning stream ends a window early.
            let room = LIVE.max(self.live.len() + self.live.len() / 4);
            if self.live.len() >= LIVE && self.waiting.last().is_none_or(|(begin, _)| *begin > least) {
                break;
            }
            while let Some((_, stream)) = self.waiting.pop_if(|(begin, _)| *begin <= least || self.live.len() < room) {
                self.live.push(stream);
                self.empty.push(stream);
            }
            self.live.sort_unstable();
            self.empty.sort_unstable();
            self.read_on(&mut read)?;
        }
        Ok(())
    }

    fn read_on<E>(&mut self, mut read: impl FnMut(usize, &mut Vec<i64>) -> Result<bool, E>) -> Result<(), E> {
        let mut has_ended = false;
        for stream in self.empty.drain(..) {
            let head = &mut self.heads[stream];
            head.at = 0;
            head.is_last = read(stream, &mut head.dates)?;
            if head.dates.is_empty() {
                head.dates = Vec::new();
                has_ended = true;
            }
        }
        if has_ended {
            let heads = &self.heads;
            self.live.retain(|stream| !heads[*stream].dates.is_empty());
        }
        Ok(())
    }

    /// Counts what each stream has up to where the first of them has no more, or its quota, and no farther than `span` behind the least date;
    /// how many that are.
    fn count(&mut self, least: i64, span: i64) -> usize {
        let Self { heads, live, quota, counts, waiting, .. } = self;
        counts.clear();
        let last = |stream: &usize| {
            let (rest, is_last) = (heads[*stream].rest(), heads[*stream].is_last);
            let near = rest.len().min(*quota);
            let date = rest.get(near.wrapping_sub(1)).filter(|_| !is_last || near < rest.len());
            date.map(|date| (*date, *stream))
        };
        // If no stream has to be read further, the next beginning stream is the limit.
        let next = waiting.last().map_or(i64::MAX, |(begin, _)| begin.saturating_sub(1));
        let far = (least.saturating_add(span).min(next), usize::MAX);
        let (limit, limiting) = live.iter().filter_map(last).fold(far, Ord::min);
        let mut sum = 0;
        for &stream in &*live {
            let rest = heads[stream].rest();
            if rest.first().is_none_or(|date| *date > limit) {
                continue;
            }
            let near = &rest[..rest.len().min(*quota)];
            let count = match stream.cmp(&limiting) {
                Ordering::Less => near.partition_point(|date| *date <= limit),
                Ordering::Equal => near.len(),
                Ordering::Greater => near.partition_point(|date| *date < limit),
            };
            if count > 0 {
                counts.push((stream, count));
                sum += count;
            }
        }
        sum
    }

    /// Takes the next window, after [`Self::fill`]; it has no turns at the end. O(turns + streams that have not ended).
    pub(crate) fn take(&mut self, window: &mut Window) {
        window.keys.clear();
        window.streams.clear();
        let firsts = self.live.iter().filter_map(|stream| self.heads[*stream].rest().first());
        let Some(&least) = firsts.min() else { return };
        let bits = usize::BITS - self.live.len().saturating_sub(1).leading_zeros();
        (window.least, window.bits) = (least, bits);
        let count = loop {
            let count = self.count(least, i64::MAX >> bits);
            if count <= MOST.max(4 * self.live.len()) || self.quota == 1 {
                break count;
            }
            self.quota = (self.quota / 2).max(1);
        };
        // Each window visits all live streams. It should therefore hold about as many records.
        if count < (RECORDS / 2).max(self.live.len()) {
            self.quota = (self.quota * 2).min(RECORDS);
        } else if count > (RECORDS * 2).max(4 * self.live.len()) {
            self.quota = (self.quota / 2).max(1);
        }
        let Self { heads, empty, counts, spare, .. } = self;
        window.keys.reserve(count);
        let mut largest = least;
        for (number, (stream, count)) in (0u64..).zip(&*counts) {
            let head = &mut heads[*stream];
            let dates = &head.rest()[..*count];
            largest = largest.max(dates.last().copied().unwrap_or(least));
            window.keys.extend(dates.iter().map(|date| date.wrapping_sub(least).cast_unsigned() << bits | number));
            window.streams.push(u32::try_from(*stream).unwrap_or(u32::MAX));
            head.at += u32::try_from(*count).unwrap_or(u32::MAX);
            if head.rest().is_empty() {
                empty.push(*stream);
            }
        }
        if counts.len() > 1 {
            let longest = u64::BITS - largest.wrapping_sub(least).leading_zeros();
            sort_keys(&mut window.keys, spare, bits, longest);
        }
    }
}

/// Sorts keys of which the dates begin at this bit and have so many bits; those with the same date keep their order.
fn sort_keys(keys: &mut Vec<u64>, spare: &mut Vec<u64>, from: u32, bits: u32) {
    if keys.len() < SMALL {
        return keys.sort_unstable();
    }
    // As few digits as there may be, and these as short as may be.
    let passes = bits.div_ceil(DIGIT_BITS).max(1);
    let width = bits.div_ceil(passes);
    spare.resize(keys.len(), 0);
    for at in 0..passes {
        sort_by_digit(keys, spare, from + at * width, width);
        std::mem::swap(keys, spare);
    }
}

/// Puts keys in the order of their digit of so many bits that begins at this one; those with the same one keep their order.
fn sort_by_digit(keys: &[u64], sorted: &mut [u64], at: u32, width: u32) {
    let mask = (1 << width) - 1;
    let digit = |key: u64| (key >> at) as usize & mask;
    let mut places = [0u32; DIGITS];
    let places = &mut places[..=mask];
    keys.iter().for_each(|key| places[digit(*key)] += 1);
    let mut sum = 0;
    for place in &mut *places {
        sum += std::mem::replace(place, sum);
    }
    for key in keys {
        let place = &mut places[digit(*key)];
        sorted[*place as usize] = *key;
        *place += 1;
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
        let begins: Vec<i64> = streams.iter().map(|stream| stream.first().copied().unwrap_or(i64::MIN)).collect();
        let mut windows = Windows::new(&begins);
        let (mut all, mut window, mut taken) = (Vec::new(), Window::default(), vec![0; streams.len()]);
        loop {
            windows
                .fill(|stream, dates| {
                    let rest = &streams[stream][at[stream]..];
                    dates.clear();
                    dates.extend_from_slice(&rest[..rest.len().min(block)]);
                    at[stream] += dates.len();
                    Ok::<_, Infallible>(tells_end && at[stream] == streams[stream].len())
                })
                .unwrap();
            windows.take(&mut window);
            if window.is_empty() {
                return all;
            }
            for (stream, date) in window.turns() {
                all.push((date, stream, taken[stream as usize]));
                taken[stream as usize] += 1;
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
