//! A stream in order of date, block by block: its dates, for the merge, and the operations and records of which they are, for the rules.
//!
//! What operations can be made of, is made into them ([`Maker`]); of other record types that are asked for, the records are put together into
//! a chunk. Blocks with losses, with records of varying size, and streams whose arrows have dates of their own go record by record ([`Feed`]).

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tracer_format::columns::{Columns, Rows};

use super::evaluate::{Acts, Maker};
use super::ops::Made;
use super::single_records::Chunk;
use crate::convert::merge::loser_tree::Dated;
use crate::convert::plan::{Needs, Plan};
use crate::convert::time_order::Feed;
use crate::run::{BlockPlace, ReadError};

/// How many records are put together record by record, at most.
const CHUNK_RECORDS: usize = 256;
/// Maximum size of a chunk, in records, if memory is short.
const SMALL_CHUNK_RECORDS: usize = 16;
/// How many bytes of them.
const CHUNK_BYTES: usize = 1 << 16;

/// What a stream lost or had to repair, and how far it goes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) backward: u64,
    pub(crate) early: u64,
    pub(crate) unknown: u64,
    pub(crate) records: u64,
    /// The last date of all.
    pub(crate) end: i64,
}

/// Values that occur in columns, each with the record that had it first: by (program, arrow, process, value).
pub(crate) type Values = FxHashMap<(u32, u16, u32, u64), First>;

/// A record that was the first: date, stream, position in it.
pub(crate) type First = (i64, u32, u64);

/// A stream being read.
#[derive(Debug)]
pub(crate) struct Lane<'r> {
    plan: &'r Plan<'r>,
    feed: Feed<'r>,
    needs: Arc<Needs>,
    /// By record id and arrow, whose column is looked through: values that were met. (Two arrows may show one column as values of two types.)
    seen: Vec<((u16, u16), Seen)>,
    acts: Acts,
    records: u64,
    end: i64,
}

impl<'r> Lane<'r> {
    pub(crate) fn new(plan: &'r Plan<'r>, feed: Feed<'r>, needs: Arc<Needs>) -> Self {
        Self { plan, feed, needs, seen: Vec::new(), acts: Acts::default(), records: 0, end: 0 }
    }

    /// How many records were read since this was last asked for.
    pub(crate) fn take_read(&mut self) -> u64 {
        let read = self.feed.take_read();
        self.records += read;
        read
    }

    pub(crate) fn tally(&mut self) -> Tally {
        self.take_read();
        let Self { feed, records, end, .. } = self;
        let unknown = feed.reader().damage().1;
        Tally { backward: feed.backward, early: feed.early, unknown, records: *records, end: *end }
    }

    /// Goes on to the next block or chunk of records of which something becomes: fills in when each is due, and what becomes of it; there are none
    /// at the end. Returns whether it is known that these are the last. Values of columns are noted on the way.
    pub(crate) fn fill(
        &mut self,
        maker: &mut Maker<'_>,
        values: &mut Values,
        dates: &mut Vec<i64>,
        made: &mut Made,
    ) -> Result<bool, ReadError> {
        loop {
            let needs = self.needs.of(self.plan.streams[self.feed.stream].process);
            if let Some((columns, block)) = self.feed.next_columns(needs)? {
                self.of_block(&columns, &block, (maker, values), dates, made);
                if !dates.is_empty() {
                    return Ok(self.feed.is_at_end());
                }
                continue;
            }
            dates.clear();
            let Some(chunk) = self.by_records()? else { return Ok(true) };
            if !chunk.dates.is_empty() {
                dates.extend_from_slice(&chunk.dates);
                *made = Made::of_records(chunk);
                return Ok(false);
            }
        }
    }

    /// The wanted operations and records of a block.
    fn of_block(
        &mut self,
        columns: &Columns,
        block: &BlockPlace,
        (maker, values): (&mut Maker<'_>, &mut Values),
        dates: &mut Vec<i64>,
        made: &mut Made,
    ) {
        let needs = self.needs.of(self.plan.streams[self.feed.stream].process);
        let is_wanted = |id: u16| needs.get(usize::from(id)).is_some_and(|need| need.rows);
        let (place, first) = ((self.feed.stream, block.first_ordinal), block.first_ordinal);
        maker.make(columns, place, is_wanted, &mut self.acts, made);
        self.look_through(columns, block, values);
        made.memory = self.feed.take_memory();
        let last = self.feed.dates_of(block, &maker.ticks, dates);
        let last_ordinal = first + (columns.records() as u64).saturating_sub(1);
        let fine = &self.plan.fines[self.feed.stream];
        self.end = self.end.max(fine.date(last, last_ordinal));
        let times = made.of_kept(dates);
        if !fine.is_identity() {
            dates.iter_mut().enumerate().for_each(|(at, date)| *date = fine.date(*date, made.ordinal(at)));
        }
        let Some(times) = times else { return };
        let mut rows = Rows::default();
        let is_whole = columns.rows(&mut rows, |id| maker.keeps(id)).is_some();
        debug_assert!(is_whole, "what is wanted was read");
        let (dates, times) = match fine.is_identity() {
            true => (times, Vec::new()),
            false => (made.of_kept(dates).unwrap_or_default(), times),
        };
        let places = if rows.places.len() == columns.records() { Vec::new() } else { rows.places };
        let Rows { bytes, starts, .. } = rows;
        made.chunk = Chunk { bytes, starts, dates, times, first, places, block: block.number, details: Vec::new() };
    }

    /// Notes which values occur in columns.
    fn look_through(&mut self, columns: &Columns, block: &BlockPlace, values: &mut Values) {
        let process = self.plan.streams[self.feed.stream].process;
        let needs = Arc::clone(&self.needs);
        for (kind, (id, _)) in (0u16..).zip(columns.kinds()) {
            let Some(need) = needs.of(process).get(usize::from(id)) else { continue };
            for &(arrow, part) in &need.columns {
                let Some((width, bytes)) = columns.column(id, part) else { continue };
                let known = self.seen.iter().position(|(place, _)| *place == (id, arrow));
                let seen = known.unwrap_or_else(|| {
                    self.seen.push(((id, arrow), Seen::default()));
                    self.seen.len() - 1
                });
                let new = self.seen[seen].1.new_of(bytes, width);
                if new.is_empty() {
                    continue;
                }
                let ticks = columns.each_ticks();
                let mut places = (0u64..).zip(columns.order()).zip(ticks).filter(|((_, its), _)| *its == kind);
                let mut met = 0;
                for (number, value) in new {
                    let Some(((place, _), ticks)) = places.nth(number - met) else { break };
                    met = number + 1;
                    let stream = u32::try_from(self.feed.stream).unwrap_or(u32::MAX);
                    let found = (self.feed.coarse(block, ticks), stream, block.first_ordinal + place);
                    let key = (need.program, arrow, u32::try_from(process).unwrap_or(u32::MAX), value);
                    let first = values.entry(key).or_insert(found);
                    *first = found.min(*first);
                }
            }
        }
    }

    /// The next records, one by one; `None` at the end.
    fn by_records(&mut self) -> Result<Option<Chunk>, ReadError> {
        let mut chunk = Chunk::default();
        loop {
            self.feed.advance()?;
            let Some((item, body)) = self.feed.item() else {
                return Ok(Some(chunk).filter(|chunk| !chunk.dates.is_empty()));
            };
            self.end = self.end.max(item.date);
            let program = self.plan.program(self.feed.stream, item.place.id);
            if program.is_some() || item.place.is_gap() {
                let is_located = program.is_some_and(|program| program.located);
                chunk.add(item, body, is_located, self.feed.reader().blocks_read());
            }
            let most = if self.feed.reader().is_in_pieces() { SMALL_CHUNK_RECORDS } else { CHUNK_RECORDS };
            if chunk.dates.len() >= most || chunk.bytes.len() >= CHUNK_BYTES || self.feed.is_between_blocks() {
                return Ok(Some(chunk));
            }
        }
    }
}

/// Values that a stream had in a column.
#[derive(Debug, Default)]
struct Seen {
    /// Small ones, a bit each.
    bits: Vec<u64>,
    others: FxHashSet<u64>,
}

/// Values below are noted as bits.
const MOST_BITS: u64 = 1 << 16;

impl Seen {
    /// The values of a column that were not met before, and where they are; all are met then. Linear.
    fn new_of(&mut self, bytes: &[u8], width: usize) -> Vec<(usize, u64)> {
        let mut new = Vec::new();
        if self.has_all(bytes, width) {
            return new;
        }
        match width {
            1 => self.look(bytes.as_chunks().0, |[byte]: [u8; 1]| byte.into(), &mut new),
            2 => self.look(bytes.as_chunks().0, |value| u16::from_le_bytes(value).into(), &mut new),
            4 => self.look(bytes.as_chunks().0, |value| u32::from_le_bytes(value).into(), &mut new),
            _ => self.look(bytes.as_chunks().0, u64::from_le_bytes, &mut new),
        }
        new
    }

    /// Whether all values of a column are small ones that were met: nearly always, and so asked without a branch. Linear.
    fn has_all(&self, bytes: &[u8], width: usize) -> bool {
        let met = |value: u64| match self.bits.get((value / 64) as usize) {
            Some(bits) => bits >> (value % 64),
            None => 0,
        };
        let all = match width {
            1 => bytes.iter().fold(1, |all, byte| all & met((*byte).into())),
            2 => bytes.as_chunks().0.iter().fold(1, |all, value| all & met(u16::from_le_bytes(*value).into())),
            4 => bytes.as_chunks().0.iter().fold(1, |all, value| all & met(u32::from_le_bytes(*value).into())),
            _ => bytes.as_chunks().0.iter().fold(1, |all, value| all & met(u64::from_le_bytes(*value))),
        };
        all == 1
    }

    fn look<const N: usize>(
        &mut self,
        values: &[[u8; N]],
        number: impl Fn([u8; N]) -> u64,
        new: &mut Vec<(usize, u64)>,
    ) {
        for (at, value) in values.iter().enumerate() {
            let value = number(*value);
            let is_met = match self.bits.get((value / 64) as usize) {
                Some(bits) => bits >> (value % 64) & 1 == 1,
                None => value >= MOST_BITS && self.others.contains(&value),
            };
            if !is_met {
                new.push((at, value));
                self.meet(value);
            }
        }
    }

    #[cold]
    fn meet(&mut self, value: u64) {
        if value >= MOST_BITS {
            self.others.insert(value);
            return;
        }
        let at = (value / 64) as usize;
        self.bits.resize(self.bits.len().max(at + 1), 0);
        self.bits[at] |= 1 << (value % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_value_is_new_once(columns in prop::collection::vec(prop::collection::vec(
            prop_oneof![0u64..200, MOST_BITS - 3..MOST_BITS + 3, any::<u64>()], 0..50), 0..4)) {
            let (mut seen, mut known) = (Seen::default(), FxHashSet::default());
            for column in columns {
                let bytes: Vec<u8> = column.iter().flat_map(|value| value.to_le_bytes()).collect();
                let expected: Vec<(usize, u64)> =
                    column.iter().copied().enumerate().filter(|(_, value)| known.insert(*value)).collect();
                prop_assert_eq!(seen.new_of(&bytes, 8), expected);
            }
        }
    }
}
