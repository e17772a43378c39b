//! A log of the endpoints of a run's links, and of the parts of its collective operations. One pass
//! over the run writes it. The clock fit and the causal pass read it instead of the run.
//!
//! It takes about eight bytes per endpoint. Beyond a memory budget it goes to a temporary file.

use std::collections::hash_map::Entry;
use std::io;

use rustc_hash::FxHashMap;

use super::part_counts::{OperationSize, PartCounts, PartEndpoint};
use tumit_spill::spool::Spool;
use tumit_spill::varint;

/// Number of endpoints of a stream per lower bound of later timestamps.
const CHUNK: u64 = 256;
/// Maximum number of bytes of an encoded endpoint.
const LONGEST: usize = 4 * varint::MAX_BYTES;
/// Number of bytes that are read at once.
const PORTION: usize = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogEntry {
    Link(LinkEndpoint),
    Part(PartEndpoint),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkEndpoint {
    pub(crate) stream: u32,
    /// Raw.
    pub(crate) timestamp: i64,
    /// Position in the stream of the record that declares the endpoint.
    pub(crate) ordinal: u64,
    pub(crate) link: u64,
    /// The link ends here. If false, it starts here.
    pub(crate) is_finish: bool,
}

/// All endpoints of the links of a run, in the order in which the pass met them.
#[derive(Debug, Default)]
pub(crate) struct LinkLog {
    recent: Vec<u8>,
    /// Maximum number of bytes of `recent`.
    memory: usize,
    spool: Spool,
    streams: Vec<StreamLogState>,
    links: u64,
    ends: u64,
    /// Some link does not end later than it starts.
    has_other_than_forward: bool,
    /// Links with only one endpoint, sorted.
    unpaired_links: Vec<u64>,
    failure: Option<io::Error>,
    /// The sizes of collective operations.
    parts: PartCounts,
    /// The operation of the last part.
    last_operation: u64,
}

#[derive(Clone, Debug, Default)]
struct StreamLogState {
    timestamp: i64,
    ordinal: u64,
    ends: u64,
    /// Some endpoint has an earlier timestamp than the endpoint before it.
    is_unsorted: bool,
    /// The smallest timestamp in each chunk of endpoints. After `finish`, the smallest one in the
    /// chunk and all later ones.
    floors: Vec<i64>,
}

impl LinkLog {
    /// A log that keeps about `memory` bytes in memory.
    pub(crate) fn with_memory(memory: usize) -> Self {
        Self { memory, ..Self::default() }
    }

    /// Adds the first endpoint of a link. Returns the link's number.
    pub(crate) fn add_first_endpoint(&mut self, stream: u32, timestamp: i64, ordinal: u64, is_finish: bool) -> u64 {
        let link = self.links;
        self.links += 1;
        self.write(LinkEndpoint { stream, timestamp, ordinal, link, is_finish }, true);
        link
    }

    /// Adds the second endpoint of a link. The pair is the link's number and the timestamp of its
    /// first endpoint.
    pub(crate) fn add_second_endpoint(
        &mut self,
        (link, first): (u64, i64),
        stream: u32,
        timestamp: i64,
        ordinal: u64,
        is_finish: bool,
    ) {
        self.has_other_than_forward |= if is_finish { first >= timestamp } else { timestamp >= first };
        self.write(LinkEndpoint { stream, timestamp, ordinal, link, is_finish }, false);
    }

    /// Adds the begin or the end of a part of a collective operation.
    pub(crate) fn add_part(&mut self, part: PartEndpoint) {
        let PartEndpoint { stream, timestamp, ordinal, operation, is_source } = part;
        self.parts.note(part);
        self.write_place(u64::from(stream) << 3 | 4 | u64::from(is_source), stream, timestamp, ordinal);
        let distance = operation.wrapping_sub(self.last_operation).cast_signed();
        varint::push(&mut self.recent, varint::zigzag(distance));
        self.last_operation = operation;
        self.spill_if_full();
    }

    fn write(&mut self, end: LinkEndpoint, is_new: bool) {
        let LinkEndpoint { stream, timestamp, ordinal, link, is_finish } = end;
        let head = u64::from(stream) << 3 | u64::from(is_new) << 1 | u64::from(is_finish);
        self.write_place(head, stream, timestamp, ordinal);
        if !is_new {
            varint::push(&mut self.recent, self.links - link);
        }
        self.spill_if_full();
    }

    /// Writes the data that all entries have: the head, which contains stream and kind, and the
    /// timestamp and position by their distances from the entry before in the stream.
    fn write_place(&mut self, head: u64, stream: u32, timestamp: i64, ordinal: u64) {
        self.ends += 1;
        let stream = stream as usize;
        if self.streams.len() <= stream {
            self.streams.resize_with(stream + 1, StreamLogState::default);
        }
        let state = &mut self.streams[stream];
        state.is_unsorted |= state.ends > 0 && timestamp < state.timestamp;
        if state.ends.is_multiple_of(CHUNK) {
            state.floors.push(i64::MAX);
        }
        if let Some(floor) = state.floors.last_mut() {
            *floor = timestamp.min(*floor);
        }
        state.ends += 1;
        let out = &mut self.recent;
        varint::push(out, head);
        varint::push(out, varint::zigzag(timestamp.wrapping_sub(state.timestamp)));
        varint::push(out, ordinal.wrapping_sub(state.ordinal));
        (state.timestamp, state.ordinal) = (timestamp, ordinal);
    }

    fn spill_if_full(&mut self) {
        if self.recent.len() > self.memory {
            self.spill();
        }
    }

    fn spill(&mut self) {
        let written = self.spool.append(&self.recent);
        self.recent.clear();
        if let Err(error) = written {
            self.failure.get_or_insert(error);
        }
    }

    /// Ends the log. `incomplete` lists the links with only one endpoint.
    ///
    /// # Errors
    /// When the temporary file could not be written.
    pub(crate) fn finish(&mut self, mut incomplete: Vec<u64>) -> io::Result<()> {
        incomplete.sort_unstable();
        self.unpaired_links = incomplete;
        for state in &mut self.streams {
            let mut min_floor = i64::MAX;
            for floor in state.floors.iter_mut().rev() {
                min_floor = min_floor.min(*floor);
                *floor = min_floor;
            }
        }
        self.parts.finish()?;
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Whether each complete link ends later than it starts, and each part of a collective
    /// operation ends later than the parts begin that it waits for. By raw timestamps.
    pub(crate) fn is_forward(&self) -> bool {
        !self.has_other_than_forward && self.parts.is_forward()
    }

    /// Whether there are neither complete links nor parts of collective operations.
    pub(crate) fn is_empty(&self) -> bool {
        self.links() == 0 && self.parts.is_empty()
    }

    /// The sizes of collective operations.
    pub(crate) fn parts(&self) -> &PartCounts {
        &self.parts
    }

    /// Number of complete links.
    pub(crate) fn links(&self) -> u64 {
        self.links - self.unpaired_links.len() as u64
    }

    /// Number of streams that may have endpoints: one more than the largest number of a stream with
    /// endpoints.
    pub(crate) fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Whether the endpoints of a stream are not in order of timestamps.
    pub(crate) fn is_unsorted(&self, stream: usize) -> bool {
        self.streams[stream].is_unsorted
    }

    /// A lower bound of the timestamps of all endpoints of a stream after the first `ends` ones.
    pub(crate) fn floor(&self, stream: usize, ends: u64) -> i64 {
        let chunk = usize::try_from(ends / CHUNK).unwrap_or(usize::MAX);
        self.streams[stream].floors.get(chunk).copied().unwrap_or(i64::MAX)
    }

    /// Visits the endpoints of complete links in the order in which the pass met them. O(entries).
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub(crate) fn read(&self, mut visit: impl FnMut(LinkEndpoint)) -> io::Result<()> {
        self.read_entries(|entry| {
            if let LogEntry::Link(end) = entry {
                visit(end);
            }
            Ok(())
        })
    }

    /// Visits the endpoints of complete links and the parts of collective operations, in the order
    /// in which the pass met them. O(entries).
    ///
    /// # Errors
    /// When the temporary file cannot be read, and the errors of `visit`.
    pub(crate) fn read_entries(&self, mut visit: impl FnMut(LogEntry) -> io::Result<()>) -> io::Result<()> {
        let mut input =
            LinkLogReader { spool: &self.spool, offset: 0, tail: &self.recent, buffer: Vec::new(), position: 0 };
        let mut last = vec![(0i64, 0u64); self.streams.len()];
        let (mut links, mut operation) = (0u64, 0u64);
        for _ in 0..self.ends {
            input.fill()?;
            let head = input.number();
            let (is_new, is_finish) = (head & 2 != 0, head & 1 != 0);
            let stream = u32::try_from(head >> 3).unwrap_or(u32::MAX);
            let Some(last) = last.get_mut(stream as usize) else {
                return Err(io::Error::other("the temporary file of links changed while it was read"));
            };
            let (timestamp, ordinal) =
                (last.0.wrapping_add(varint::unzigzag(input.number())), last.1.wrapping_add(input.number()));
            *last = (timestamp, ordinal);
            if head & 4 != 0 {
                operation = operation.wrapping_add(varint::unzigzag(input.number()).cast_unsigned());
                let is_source = head & 1 != 0;
                visit(LogEntry::Part(PartEndpoint { stream, timestamp, ordinal, operation, is_source }))?;
                continue;
            }
            let link = if is_new { links } else { links.wrapping_sub(input.number()) };
            links += u64::from(is_new);
            if self.unpaired_links.is_empty() || self.unpaired_links.binary_search(&link).is_err() {
                visit(LogEntry::Link(LinkEndpoint { stream, timestamp, ordinal, link, is_finish }))?;
            }
        }
        Ok(())
    }
}

impl LinkLog {
    /// Visits complete links as pairs of start and end, when the later of the two is read. O(ends).
    /// Memory grows with the number of links in flight.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub(crate) fn pairs(&self, mut visit: impl FnMut(&LinkEndpoint, &LinkEndpoint)) -> io::Result<()> {
        let mut open: FxHashMap<u64, LinkEndpoint> = FxHashMap::default();
        self.read(|end| match open.remove(&end.link) {
            None => drop(open.insert(end.link, end)),
            Some(first) if first.is_finish => visit(&end, &first),
            Some(first) => visit(&first, &end),
        })
    }
}

/// The parts of an operation that were read so far.
#[derive(Debug, Default)]
struct ReadParts {
    size: OperationSize,
    sources: Vec<PartEndpoint>,
    targets: Vec<PartEndpoint>,
}

impl LinkLog {
    /// As [`Self::pairs`], and visits pairs of the collective operations: a source and a target
    /// that is not earlier. An operation with n parts has O(n) pairs, because each has one of two
    /// *hubs*: one of its sources and one of its targets. The hubs of successive operations differ,
    /// so that many operations relate all parts to each other.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub(crate) fn causal_pairs(&self, mut visit: impl FnMut(&LinkEndpoint, &LinkEndpoint)) -> io::Result<()> {
        self.pairs(&mut visit)?;
        if self.parts.is_empty() {
            return Ok(());
        }
        let mut open: FxHashMap<u64, ReadParts> = FxHashMap::default();
        let mut sizes = self.parts.sizes();
        self.read_entries(|entry| {
            let LogEntry::Part(part) = entry else { return Ok(()) };
            let operation = match open.entry(part.operation) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(new) => new.insert(ReadParts { size: sizes.of(part.operation)?, ..ReadParts::default() }),
            };
            if part.is_source {
                operation.sources.push(part);
            } else {
                operation.targets.push(part);
            }
            let value =
                OperationSize { sources: operation.sources.len() as u64, targets: operation.targets.len() as u64 };
            if value == operation.size
                && let Some(complete) = open.remove(&part.operation)
            {
                complete.visit_pairs(part.operation, &mut visit);
            }
            Ok(())
        })
    }
}

impl ReadParts {
    fn visit_pairs(&self, operation: u64, visit: &mut impl FnMut(&LinkEndpoint, &LinkEndpoint)) {
        let hub = |parts: &[PartEndpoint]| {
            let count = parts.len() as u64;
            let index = operation.checked_rem(count).and_then(|index| usize::try_from(index).ok())?;
            parts.get(index).copied()
        };
        let (Some(source), Some(target)) = (hub(&self.sources), hub(&self.targets)) else { return };
        let endpoint = |part: &PartEndpoint, is_finish: bool| {
            let PartEndpoint { stream, timestamp, ordinal, operation: link, .. } = *part;
            LinkEndpoint { stream, timestamp, ordinal, link, is_finish }
        };
        let mut pair = |from: &PartEndpoint, to: &PartEndpoint| {
            if from.stream != to.stream {
                visit(&endpoint(from, false), &endpoint(to, true));
            }
        };
        self.targets.iter().for_each(|other| pair(&source, other));
        self.sources.iter().filter(|other| **other != source).for_each(|other| pair(other, &target));
    }
}

/// The bytes of the log: those in the file, then those in memory.
struct LinkLogReader<'l> {
    spool: &'l Spool,
    /// The offset in the file of the next bytes.
    offset: u64,
    tail: &'l [u8],
    buffer: Vec<u8>,
    position: usize,
}

impl LinkLogReader<'_> {
    /// Makes sure that the buffer contains a whole endpoint, if there is one.
    fn fill(&mut self) -> io::Result<()> {
        while self.buffer.len() - self.position < LONGEST {
            self.buffer.drain(..self.position);
            self.position = 0;
            let in_file = (self.spool.len() - self.offset).min(PORTION as u64) as usize;
            if in_file > 0 {
                let filled = self.buffer.len();
                self.buffer.resize(filled + in_file, 0);
                self.spool.read_exact_at(&mut self.buffer[filled..], self.offset)?;
                self.offset += in_file as u64;
                continue;
            }
            let (next, remaining) = self.tail.split_at(self.tail.len().min(PORTION));
            if next.is_empty() {
                break;
            }
            self.buffer.extend_from_slice(next);
            self.tail = remaining;
        }
        Ok(())
    }

    /// The next number; 0 after the end.
    fn number(&mut self) -> u64 {
        let mut rest = &self.buffer[self.position..];
        let number = varint::take(&mut rest).unwrap_or(0);
        self.position = self.buffer.len() - rest.len();
        number
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_links_are_read_back(
            ends in prop::collection::vec((0u32..5, any::<i64>(), any::<u64>(), any::<bool>(), any::<bool>()), 0..300),
            spill_every in 1usize..50,
        ) {
            let mut log = LinkLog::with_memory(1 << 20);
            let mut written = Vec::new();
            let mut open = Vec::new();
            for (number, (stream, timestamp, ordinal, is_finish, again)) in ends.into_iter().enumerate() {
                let link = match open.pop().filter(|_| again) {
                    Some((link, first)) => {
                        log.add_second_endpoint((link, first), stream, timestamp, ordinal, is_finish);
                        link
                    }
                    None => {
                        let link = log.add_first_endpoint(stream, timestamp, ordinal, is_finish);
                        open.push((link, timestamp));
                        link
                    }
                };
                written.push(LinkEndpoint { stream, timestamp, ordinal, link, is_finish });
                if number % spill_every == 0 {
                    log.spill();
                }
            }
            let incomplete: Vec<u64> = written.iter().map(|end| end.link)
                .filter(|link| written.iter().filter(|end| end.link == *link).count() == 1).collect();
            log.finish(incomplete.clone()).unwrap();
            written.retain(|end| !incomplete.contains(&end.link));
            for _ in 0..2 {
                let mut read = Vec::new();
                log.read(|end| read.push(end)).unwrap();
                prop_assert_eq!(&read, &written);
            }
            prop_assert_eq!(log.links() as usize * 2, written.len());
        }
    }

    proptest! {
        #[test]
        fn operations_have_pairs_of_their_parts(
            parts in prop::collection::vec((0u32..6, 0i64..1000, 0u64..8, any::<bool>()), 0..200),
            spill_every in 1usize..50,
        ) {
            let mut log = LinkLog::with_memory(1 << 20);
            let mut written = Vec::new();
            for (number, (stream, timestamp, operation, is_source)) in parts.into_iter().enumerate() {
                let part = PartEndpoint { stream, timestamp, ordinal: number as u64, operation, is_source };
                log.add_part(part);
                written.push(part);
                if number % spill_every == 0 {
                    log.spill();
                }
            }
            log.finish(Vec::new()).unwrap();
            let mut read = Vec::new();
            log.read_entries(|entry| { read.push(entry); Ok(()) }).unwrap();
            prop_assert_eq!(read, written.iter().copied().map(LogEntry::Part).collect::<Vec<_>>());
            let mut pairs: BTreeMap<u64, usize> = BTreeMap::new();
            let find = |end: &LinkEndpoint| written.iter().find(|part| part.ordinal == end.ordinal).copied();
            let mut mistakes = Vec::new();
            log.causal_pairs(|start, finish| {
                *pairs.entry(start.link).or_default() += 1;
                let of = |end: &LinkEndpoint| find(end).map(|part| (part.operation, part.is_source));
                if of(start) != Some((start.link, true)) || of(finish) != Some((start.link, false)) {
                    mistakes.push((*start, *finish));
                }
            }).unwrap();
            prop_assert!(mistakes.is_empty(), "{:?}", mistakes);
            for (operation, count) in pairs {
                let parts = written.iter().filter(|part| part.operation == operation).count();
                prop_assert!(count < parts, "{} pairs of {} parts", count, parts);
            }
        }
    }

    #[test]
    fn floors_bound_later_links() {
        let mut log = LinkLog::with_memory(1 << 20);
        for timestamp in 0..1000 {
            log.add_first_endpoint(0, if timestamp == 700 { 5 } else { timestamp }, 0, false);
        }
        log.finish(Vec::new()).unwrap();
        assert!(log.is_unsorted(0));
        assert_eq!([0, 256, 512, 768, 2000].map(|ends| log.floor(0, ends)), [0, 5, 5, 768, i64::MAX]);
    }
}
