//! A log of the endpoints of a run's links. One pass over the run writes it. The clock fit and the
//! causal pass read it instead of the run.
//!
//! It takes about eight bytes per endpoint. Beyond a memory budget it goes to a temporary file.

use std::io;

use rustc_hash::FxHashMap;
use tumit_spill::spool::Spool;
use tumit_spill::varint;

/// Number of endpoints of a stream per lower bound of later timestamps.
const CHUNK: u64 = 256;
/// Maximum number of bytes of an encoded endpoint.
const LONGEST: usize = 4 * varint::MAX_BYTES;
/// Number of bytes that are read at once.
const PORTION: usize = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkEndpoint {
    /// Number of the stream.
    pub(crate) stream: u32,
    /// The raw timestamp.
    pub(crate) timestamp: i64,
    /// Position in the stream of the record that declares the endpoint.
    pub(crate) ordinal: u64,
    /// Number of the link.
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
    incomplete: Vec<u64>,
    failed: Option<io::Error>,
}

#[derive(Clone, Debug, Default)]
struct StreamLogState {
    timestamp: i64,
    ordinal: u64,
    ends: u64,
    /// Some endpoint has an earlier timestamp than the endpoint before it.
    unsorted: bool,
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

    fn write(&mut self, end: LinkEndpoint, is_new: bool) {
        self.ends += 1;
        let stream = end.stream as usize;
        if self.streams.len() <= stream {
            self.streams.resize_with(stream + 1, StreamLogState::default);
        }
        let state = &mut self.streams[stream];
        state.unsorted |= state.ends > 0 && end.timestamp < state.timestamp;
        if state.ends.is_multiple_of(CHUNK) {
            state.floors.push(i64::MAX);
        }
        if let Some(floor) = state.floors.last_mut() {
            *floor = end.timestamp.min(*floor);
        }
        state.ends += 1;
        let out = &mut self.recent;
        varint::push(out, u64::from(end.stream) << 2 | u64::from(is_new) << 1 | u64::from(end.is_finish));
        varint::push(out, varint::zigzag(end.timestamp.wrapping_sub(state.timestamp)));
        varint::push(out, end.ordinal.wrapping_sub(state.ordinal));
        if !is_new {
            varint::push(out, self.links - end.link);
        }
        (state.timestamp, state.ordinal) = (end.timestamp, end.ordinal);
        if self.recent.len() > self.memory {
            self.spill();
        }
    }

    fn spill(&mut self) {
        let written = self.spool.append(&self.recent);
        self.recent.clear();
        if let Err(error) = written {
            self.failed.get_or_insert(error);
        }
    }

    /// Ends the log. `incomplete` lists the links with only one endpoint.
    ///
    /// # Errors
    /// When the temporary file could not be written.
    pub(crate) fn finish(&mut self, mut incomplete: Vec<u64>) -> io::Result<()> {
        incomplete.sort_unstable();
        self.incomplete = incomplete;
        for state in &mut self.streams {
            let mut min_floor = i64::MAX;
            for floor in state.floors.iter_mut().rev() {
                min_floor = min_floor.min(*floor);
                *floor = min_floor;
            }
        }
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Whether each complete link ends later than it starts, by raw timestamps.
    pub(crate) fn is_forward(&self) -> bool {
        !self.has_other_than_forward
    }

    /// Number of complete links.
    pub(crate) fn links(&self) -> u64 {
        self.links - self.incomplete.len() as u64
    }

    /// Number of streams that may have endpoints: one more than the largest number of a stream with
    /// endpoints.
    pub(crate) fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Whether the endpoints of a stream are not in order of timestamps.
    pub(crate) fn is_unsorted(&self, stream: usize) -> bool {
        self.streams[stream].unsorted
    }

    /// A lower bound of the timestamps of all endpoints of a stream after the first `ends` ones.
    pub(crate) fn floor(&self, stream: usize, ends: u64) -> i64 {
        let chunk = usize::try_from(ends / CHUNK).unwrap_or(usize::MAX);
        self.streams[stream].floors.get(chunk).copied().unwrap_or(i64::MAX)
    }

    /// Visits the endpoints of complete links in the order in which the pass met them. O(ends).
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub(crate) fn read(&self, mut visit: impl FnMut(LinkEndpoint)) -> io::Result<()> {
        let mut input = LinkLogReader { spool: &self.spool, offset: 0, tail: &self.recent, buffer: Vec::new(), at: 0 };
        let mut last = vec![(0i64, 0u64); self.streams.len()];
        let mut links = 0u64;
        for _ in 0..self.ends {
            input.fill()?;
            let head = input.number();
            let (is_new, is_finish) = (head & 2 != 0, head & 1 != 0);
            let stream = u32::try_from(head >> 2).unwrap_or(u32::MAX);
            let Some(last) = last.get_mut(stream as usize) else {
                return Err(io::Error::other("the temporary file of links changed while it was read"));
            };
            let (timestamp, ordinal) =
                (last.0.wrapping_add(varint::unzigzag(input.number())), last.1.wrapping_add(input.number()));
            *last = (timestamp, ordinal);
            let link = if is_new { links } else { links.wrapping_sub(input.number()) };
            links += u64::from(is_new);
            if self.incomplete.is_empty() || self.incomplete.binary_search(&link).is_err() {
                visit(LinkEndpoint { stream, timestamp, ordinal, link, is_finish });
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

/// The bytes of the log: those in the file, then those in memory.
struct LinkLogReader<'l> {
    spool: &'l Spool,
    /// The offset in the file of the next bytes.
    offset: u64,
    tail: &'l [u8],
    buffer: Vec<u8>,
    at: usize,
}

impl LinkLogReader<'_> {
    /// Makes sure that the buffer contains a whole endpoint, if there is one.
    fn fill(&mut self) -> io::Result<()> {
        while self.buffer.len() - self.at < LONGEST {
            self.buffer.drain(..self.at);
            self.at = 0;
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
        let mut rest = &self.buffer[self.at..];
        let number = varint::take(&mut rest).unwrap_or(0);
        self.at = self.buffer.len() - rest.len();
        number
    }
}

#[cfg(test)]
mod tests {
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
