//! K-way merge of records by timestamp, one window at a time. Equal timestamps keep the order of
//! the streams, and each stream keeps its own order.
//!
//! A window contains the records of all streams up to a timestamp before which no stream has to
//! read further. A radix sort orders it without comparisons, in two or three passes of about ten
//! instructions per record, independent of the number of streams (Knuth, The Art of Computer
//! Programming 3, 5.2.5). Each stream is already in order, so only timestamps and stream numbers
//! are sorted and sent to the consumer.

use std::cmp::Ordering;

/// Approximate number of records in a window.
const RECORDS: usize = 4096;
/// Maximum number of records in a window, unless there are more streams than this.
const MAX_RECORDS: usize = 1 << 16;
/// Number of bits of a digit of the radix sort.
const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;
/// Minimum number of streams to hold at one time.
const MIN_LIVE_STREAMS: usize = 256;
/// Windows with fewer records are sorted by comparison.
const MAX_COMPARED_KEYS: usize = 256;

/// A sequence of turns, each a stream and a timestamp, in order of time.
#[derive(Debug, Default)]
pub(crate) struct MergeWindow {
    /// For each turn: its timestamp minus `min_timestamp` in the upper bits, and the position of
    /// its stream in `streams` in the lower bits.
    keys: Vec<u64>,
    min_timestamp: i64,
    /// The streams that have turns.
    streams: Vec<u32>,
    /// Number of bits of a position in `streams`.
    bits: u32,
}

impl MergeWindow {
    /// Whether there are no turns. Then all streams have ended.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The streams that have turns.
    pub(crate) fn streams(&self) -> &[u32] {
        &self.streams
    }

    /// The stream and the timestamp of each turn.
    pub(crate) fn turns(&self) -> impl Iterator<Item = (u32, i64)> {
        let mask = (1 << self.bits) - 1;
        self.keys.iter().map(move |key| {
            let stream = self.streams.get((key & mask) as usize).copied().unwrap_or_default();
            (stream, self.min_timestamp.wrapping_add((key >> self.bits).cast_signed()))
        })
    }
}

#[derive(Debug)]
pub(crate) struct MergedStreams {
    heads: Vec<StreamHead>,
    /// Streams that have begun and have not ended.
    live: Vec<usize>,
    /// Streams that have not begun; the earliest is last.
    unread_streams: Vec<UnreadStream>,
    /// Streams that must read their next timestamps.
    empty_streams: Vec<usize>,
    /// Maximum number of records of one stream in a window.
    quota: usize,
    /// The streams with records in the next window.
    counts: Vec<WindowShare>,
    spare_buffer: Vec<u64>,
}

/// A stream that has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnreadStream {
    /// A lower bound of its timestamps.
    begin: i64,
    stream: usize,
}

/// The records of one stream in a window.
#[derive(Clone, Copy, Debug)]
struct WindowShare {
    stream: usize,
    records: usize,
}

/// The timestamps that a stream has read, and its position in them.
#[derive(Debug, Default)]
struct StreamHead {
    timestamps: Vec<i64>,
    index: u32,
    /// Whether no more timestamps follow.
    is_last: bool,
}

impl StreamHead {
    fn remaining_timestamps(&self) -> &[i64] {
        self.timestamps.get(self.index as usize..).unwrap_or_default()
    }
}

impl MergedStreams {
    /// For unread streams with these lower bounds of their timestamps.
    pub(crate) fn new(begins: &[i64]) -> Self {
        let mut unread_streams: Vec<UnreadStream> =
            begins.iter().zip(0..).map(|(begin, stream)| UnreadStream { begin: *begin, stream }).collect();
        unread_streams.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            heads: begins.iter().map(|_| StreamHead::default()).collect(),
            live: Vec::new(),
            unread_streams,
            empty_streams: Vec::new(),
            quota: (RECORDS / begins.len().max(1)).max(1),
            counts: Vec::new(),
            spare_buffer: Vec::new(),
        }
    }

    /// Calls `read` for the streams whose timestamps are all taken. `read` replaces the timestamps,
    /// and returns whether they are known to be the last. A stream without new timestamps has
    /// ended. A stream begins when its lower bound is due: of many short streams, few are held at
    /// one time.
    pub(crate) fn fill<E>(&mut self, mut read: impl FnMut(usize, &mut Vec<i64>) -> Result<bool, E>) -> Result<(), E> {
        self.read_on(&mut read)?;
        while !self.unread_streams.is_empty() {
            let firsts = self.live.iter().filter_map(|stream| self.heads[*stream].remaining_timestamps().first());
            let min_timestamp = firsts.min().copied().unwrap_or(i64::MIN);
            // Begins more streams than needed, because each beginning stream ends a window early.
            let room = MIN_LIVE_STREAMS.max(self.live.len() + self.live.len() / 4);
            if self.live.len() >= MIN_LIVE_STREAMS
                && self.unread_streams.last().is_none_or(|next| next.begin > min_timestamp)
            {
                break;
            }
            while let Some(UnreadStream { stream, .. }) =
                self.unread_streams.pop_if(|next| next.begin <= min_timestamp || self.live.len() < room)
            {
                self.live.push(stream);
                self.empty_streams.push(stream);
            }
            self.live.sort_unstable();
            self.empty_streams.sort_unstable();
            self.read_on(&mut read)?;
        }
        Ok(())
    }

    fn read_on<E>(&mut self, mut read: impl FnMut(usize, &mut Vec<i64>) -> Result<bool, E>) -> Result<(), E> {
        let mut has_ended = false;
        for stream in self.empty_streams.drain(..) {
            let head = &mut self.heads[stream];
            head.index = 0;
            head.is_last = read(stream, &mut head.timestamps)?;
            if head.timestamps.is_empty() {
                head.timestamps = Vec::new();
                has_ended = true;
            }
        }
        if has_ended {
            let heads = &self.heads;
            self.live.retain(|stream| !heads[*stream].timestamps.is_empty());
        }
        Ok(())
    }

    /// Counts the records of each stream for the next window. Returns the sum.
    ///
    /// The window ends at the earliest timestamp at which a stream runs out of timestamps or
    /// reaches its quota, and at most `span` after the least timestamp.
    fn count(&mut self, min_timestamp: i64, span: i64) -> usize {
        let Self { heads, live, quota, counts, unread_streams, .. } = self;
        counts.clear();
        let last = |stream: &usize| {
            let (remaining_timestamps, is_last) = (heads[*stream].remaining_timestamps(), heads[*stream].is_last);
            let available = remaining_timestamps.len().min(*quota);
            let timestamp = remaining_timestamps
                .get(available.wrapping_sub(1))
                .filter(|_| !is_last || available < remaining_timestamps.len());
            timestamp.map(|timestamp| (*timestamp, *stream))
        };
        // If no stream has to be read further, the next beginning stream is the limit.
        let next = unread_streams.last().map_or(i64::MAX, |next| next.begin.saturating_sub(1));
        let latest = (min_timestamp.saturating_add(span).min(next), usize::MAX);
        let (limit, limiting) = live.iter().filter_map(last).fold(latest, Ord::min);
        let mut sum = 0;
        for &stream in &*live {
            let timestamps = heads[stream].remaining_timestamps();
            if timestamps.first().is_none_or(|timestamp| *timestamp > limit) {
                continue;
            }
            let available = &timestamps[..timestamps.len().min(*quota)];
            let count = match stream.cmp(&limiting) {
                Ordering::Less => available.partition_point(|timestamp| *timestamp <= limit),
                Ordering::Equal => available.len(),
                Ordering::Greater => available.partition_point(|timestamp| *timestamp < limit),
            };
            if count > 0 {
                counts.push(WindowShare { stream, records: count });
                sum += count;
            }
        }
        sum
    }

    /// Takes the next window, after [`Self::fill`]. It has no turns at the end. O(turns + live
    /// streams).
    pub(crate) fn take_window(&mut self, window: &mut MergeWindow) {
        window.keys.clear();
        window.streams.clear();
        let firsts = self.live.iter().filter_map(|stream| self.heads[*stream].remaining_timestamps().first());
        let Some(&min_timestamp) = firsts.min() else { return };
        let bits = usize::BITS - self.live.len().saturating_sub(1).leading_zeros();
        (window.min_timestamp, window.bits) = (min_timestamp, bits);
        let count = loop {
            let count = self.count(min_timestamp, i64::MAX >> bits);
            if count <= MAX_RECORDS.max(4 * self.live.len()) || self.quota == 1 {
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
        let Self { heads, empty_streams: empty, counts, spare_buffer, .. } = self;
        window.keys.reserve(count);
        let mut largest = min_timestamp;
        for (number, WindowShare { stream, records: count }) in (0u64..).zip(&*counts) {
            let head = &mut heads[*stream];
            let timestamps = &head.remaining_timestamps()[..*count];
            largest = largest.max(timestamps.last().copied().unwrap_or(min_timestamp));
            window.keys.extend(
                timestamps
                    .iter()
                    .map(|timestamp| timestamp.wrapping_sub(min_timestamp).cast_unsigned() << bits | number),
            );
            window.streams.push(u32::try_from(*stream).unwrap_or(u32::MAX));
            head.index += u32::try_from(*count).unwrap_or(u32::MAX);
            if head.remaining_timestamps().is_empty() {
                empty.push(*stream);
            }
        }
        if counts.len() > 1 {
            let used_bits = u64::BITS - largest.wrapping_sub(min_timestamp).leading_zeros();
            sort_keys(&mut window.keys, spare_buffer, bits, used_bits);
        }
    }
}

/// Sorts keys by the `bits` bits of the timestamp that start at bit `from`. Keys with equal
/// timestamps keep their order.
fn sort_keys(keys: &mut Vec<u64>, buffer: &mut Vec<u64>, from: u32, bits: u32) {
    if keys.len() < MAX_COMPARED_KEYS {
        return keys.sort_unstable();
    }
    // The minimum number of digits, and these as short as possible.
    let passes = bits.div_ceil(DIGIT_BITS).max(1);
    let width = bits.div_ceil(passes);
    buffer.resize(keys.len(), 0);
    for pass in 0..passes {
        sort_by_digit(keys, buffer, from + pass * width, width);
        std::mem::swap(keys, buffer);
    }
}

/// Sorts keys by the digit of `width` bits that starts at bit `shift`. Keys with equal digits keep
/// their order.
fn sort_by_digit(keys: &[u64], output: &mut [u64], shift: u32, width: u32) {
    let mask = (1 << width) - 1;
    let digit = |key: u64| (key >> shift) as usize & mask;
    let mut places = [0u32; DIGITS];
    let places = &mut places[..=mask];
    keys.iter().for_each(|key| places[digit(*key)] += 1);
    let mut sum = 0;
    for bucket in &mut *places {
        sum += std::mem::replace(bucket, sum);
    }
    for key in keys {
        let bucket = &mut places[digit(*key)];
        output[*bucket as usize] = *key;
        *bucket += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    /// Takes all turns of streams that read `block` timestamps at a time.
    fn merged(streams: &[Vec<i64>], block: usize, tells_end: bool) -> Vec<(i64, u32, u64)> {
        let mut positions = vec![0; streams.len()];
        let begins: Vec<i64> = streams.iter().map(|stream| stream.first().copied().unwrap_or(i64::MIN)).collect();
        let mut windows = MergedStreams::new(&begins);
        let (mut merged_items, mut window, mut counts) = (Vec::new(), MergeWindow::default(), vec![0; streams.len()]);
        loop {
            windows
                .fill(|stream, timestamps| {
                    let rest = &streams[stream][positions[stream]..];
                    timestamps.clear();
                    timestamps.extend_from_slice(&rest[..rest.len().min(block)]);
                    positions[stream] += timestamps.len();
                    Ok::<_, Infallible>(tells_end && positions[stream] == streams[stream].len())
                })
                .unwrap();
            windows.take_window(&mut window);
            if window.is_empty() {
                return merged_items;
            }
            for (stream, timestamp) in window.turns() {
                merged_items.push((timestamp, stream, counts[stream as usize]));
                counts[stream as usize] += 1;
            }
        }
    }

    proptest! {
        #[test]
        fn sorts_and_loses_nothing(
            mut timestamps in prop::collection::vec(
                prop::collection::vec(prop_oneof![-5i64..50, -5i64..50, 0i64..1 << 40, any::<i64>()], 0..300), 0..12),
            block in 1usize..200,
            tells_end: bool,
        ) {
            timestamps.iter_mut().for_each(|stream| stream.sort_unstable());
            let mut expected: Vec<_> = (0u32..).zip(&timestamps)
                .flat_map(|(stream, timestamps)| (0u64..).zip(timestamps).map(move |(index, timestamp)| (*timestamp, stream, index)))
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(merged(&timestamps, block, tells_end), expected);
        }
    }

    #[test]
    fn many_streams_and_one_that_is_busy() {
        let mut streams: Vec<Vec<i64>> = (0..MAX_RECORDS as i64 + 10).map(|stream| vec![stream % 7 * 100]).collect();
        streams.push((0..2000).collect());
        let mut expected: Vec<(i64, u32, u64)> = (0u32..)
            .zip(&streams)
            .flat_map(|(stream, timestamps)| {
                (0u64..).zip(timestamps).map(move |(index, timestamp)| (*timestamp, stream, index))
            })
            .collect();
        expected.sort_unstable();
        assert!(merged(&streams, 500, true) == expected);
    }
}
