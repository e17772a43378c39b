//! Waiting items in sorted runs in a temporary file.
//!
//! A rule may give an action a timestamp far before its record. All items in between wait for it,
//! possibly all of the stream. Items that exceed the memory budget go to a file and are merged from
//! there (external merge sort, Knuth, The Art of Computer Programming 3, section 5.4.1).

use std::cell::RefCell;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io;
use std::rc::{Rc, Weak};

use tumit_spill::spool::Spool;

use super::ordered_item::OrderedItem;
use crate::run::RecordPosition;
use tumit_paje::time::LocalTicks;

/// Bytes of a run that are read at once.
const PORTION_BYTES: usize = 1 << 14;
/// Bytes that are written at once.
const WRITE_BYTES: usize = 1 << 18;
/// Runs of one level that are merged into a run of the next level.
const MERGED_RUNS: usize = 16;
/// Bytes of an item before the fields of its record.
const ITEM_HEAD_BYTES: usize = 8 + 8 + 8 + 8 + 4 + 2 + 2 + 3 + 4;

thread_local! {
    /// The file of all streams that this thread reads.
    static SPOOL: RefCell<Weak<Spool>> = const { RefCell::new(Weak::new()) };
}

/// The file of this thread.
fn spool_of_thread() -> Rc<Spool> {
    SPOOL.with_borrow_mut(|current| {
        current.upgrade().unwrap_or_else(|| {
            let spool = Rc::default();
            *current = Rc::downgrade(&spool);
            spool
        })
    })
}

/// The items of a stream that are in the file.
#[derive(Debug, Default)]
pub(crate) struct SpilledItems {
    spool: Option<Rc<Spool>>,
    /// The run with the least item is first.
    runs: BinaryHeap<Reverse<SortedItems>>,
}

/// A sorted sequence of items.
#[derive(Debug)]
struct SortedItems {
    /// The least remaining item.
    head: OrderedItem,
    /// The number of merges that its items went through.
    level: u32,
    /// The range of the file that is not read yet.
    unread_range: std::ops::Range<u64>,
    portion: Vec<u8>,
    /// Position in `portion`.
    position: usize,
}

impl SpilledItems {
    /// Writes items, which must be in order. Each item is written O(log n) times, with n the number
    /// of all items.
    pub(crate) fn add(&mut self, items: impl IntoIterator<Item = OrderedItem>) -> io::Result<()> {
        self.write(items, 0)?;
        let mut level = 0;
        while self.runs.iter().filter(|run| run.0.level == level).count() >= MERGED_RUNS {
            let (mut merged, other): (Vec<_>, Vec<_>) = self.runs.drain().partition(|run| run.0.level == level);
            self.runs.extend(other);
            let mut source = Self { spool: self.spool.clone(), runs: merged.drain(..).collect() };
            let mut failure = None;
            let items = std::iter::from_fn(|| {
                source.pop().unwrap_or_else(|error| {
                    failure = Some(error);
                    None
                })
            });
            level += 1;
            self.write(items, level)?;
            failure.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    fn write(&mut self, items: impl IntoIterator<Item = OrderedItem>, level: u32) -> io::Result<()> {
        let spool = Rc::clone(self.spool.get_or_insert_with(spool_of_thread));
        let mut items = items.into_iter();
        let Some(head) = items.next() else { return Ok(()) };
        // A merge only reads from the file while the run is written. The new run is therefore
        // contiguous.
        let from = spool.len();
        let mut bytes = Vec::new();
        for item in items {
            encode(&item, &mut bytes);
            if bytes.len() >= WRITE_BYTES {
                spool.append(&bytes)?;
                bytes.clear();
            }
        }
        spool.append(&bytes)?;
        let unread_range = from..spool.len();
        self.runs.push(Reverse(SortedItems {
            head: detach_item(&head),
            level,
            unread_range,
            portion: Vec::new(),
            position: 0,
        }));
        Ok(())
    }

    /// The least item.
    pub(crate) fn peek(&self) -> Option<&OrderedItem> {
        self.runs.peek().map(|run| &run.0.head)
    }

    /// Takes the least item. O(log of the number of runs), and one read for each portion.
    pub(crate) fn pop(&mut self) -> io::Result<Option<OrderedItem>> {
        let (Some(spool), Some(mut top)) = (&self.spool, self.runs.peek_mut()) else { return Ok(None) };
        match top.0.read(spool)? {
            Some(next) => Ok(Some(std::mem::replace(&mut top.0.head, next))),
            None => Ok(Some(std::collections::binary_heap::PeekMut::pop(top).0.head)),
        }
    }
}

impl SortedItems {
    /// Reads the item after the head.
    fn read(&mut self, spool: &Spool) -> io::Result<Option<OrderedItem>> {
        loop {
            let bytes = &self.portion[self.position..];
            if let Some((item, size)) = decode(bytes) {
                self.position += size;
                return Ok(Some(item));
            }
            if self.unread_range.is_empty() {
                return Ok(None);
            }
            // The rest of the portion is the start of an item.
            self.portion.drain(..self.position);
            self.position = 0;
            let (unread, has_more) =
                (self.portion.len(), (self.unread_range.end - self.unread_range.start).min(PORTION_BYTES as u64));
            self.portion.resize(unread + has_more as usize, 0);
            spool.read_exact_at(&mut self.portion[unread..], self.unread_range.start)?;
            self.unread_range.start += has_more;
        }
    }
}

/// A copy of an item that does not refer to its block.
fn detach_item(item: &OrderedItem) -> OrderedItem {
    let mut bytes = Vec::new();
    encode(item, &mut bytes);
    decode(&bytes).map_or_else(|| unreachable!("the encoded item is complete"), |(item, _)| item)
}

fn encode(item: &OrderedItem, out: &mut Vec<u8>) {
    let OrderedItem { raw, record_time, single_action, rank, position, block, .. } = item;
    let body = block.as_ref().map_or(&[][..], |block| position.body(block));
    for number in [raw.cast_unsigned(), record_time.cast_unsigned(), position.ordinal, position.ticks.0] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&position.site.to_le_bytes());
    out.extend_from_slice(&position.id.to_le_bytes());
    out.extend_from_slice(&rank.to_le_bytes());
    out.push(u8::from(single_action.is_some()) | u8::from(position.is_truncated) << 1);
    out.extend_from_slice(&single_action.unwrap_or(0).to_le_bytes());
    #[expect(clippy::cast_possible_truncation, reason = "records are shorter than 2^24 bytes")]
    out.extend_from_slice(&(body.len() as u32).to_le_bytes());
    out.extend_from_slice(body);
}

/// The item at the start of `bytes`, and its size. `None` if the bytes contain no complete item.
fn decode(bytes: &[u8]) -> Option<(OrderedItem, usize)> {
    let (head, rest) = bytes.split_first_chunk::<ITEM_HEAD_BYTES>()?;
    let u64_at = |offset: usize| head[offset..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let u32_at = |offset: usize| head[offset..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let u16_at = |offset: usize| head[offset..].first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes));
    let (raw, record_time) = (u64_at(0).cast_signed(), u64_at(8).cast_signed());
    let length = u32_at(43) as usize;
    let body = rest.get(..length)?;
    let mut position =
        RecordPosition::outside_block((u16_at(36), LocalTicks(u64_at(24))), u32_at(32), u64_at(16), u32_at(43));
    position.is_truncated = head[40] & 2 != 0;
    let single_action = (head[40] & 1 != 0).then(|| u16_at(41));
    let block = Some(Rc::new(body.to_vec()));
    Some((
        OrderedItem { corrected_time: raw, raw, record_time, single_action, rank: u16_at(38), position, block },
        ITEM_HEAD_BYTES + length,
    ))
}

impl PartialEq for SortedItems {
    fn eq(&self, other: &Self) -> bool {
        self.head == other.head
    }
}

impl Eq for SortedItems {}

impl PartialOrd for SortedItems {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SortedItems {
    fn cmp(&self, other: &Self) -> Ordering {
        self.head.cmp(&other.head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn item(raw: i64, ordinal: u64, body: &[u8]) -> OrderedItem {
        let mut position =
            RecordPosition::outside_block((7, LocalTicks(3)), 5, ordinal, u32::try_from(body.len()).unwrap_or(0));
        position.is_truncated = ordinal.is_multiple_of(3);
        let block = Some(Rc::new(body.to_vec()));
        OrderedItem {
            corrected_time: raw,
            raw,
            record_time: raw + 1,
            single_action: ordinal.is_multiple_of(2).then_some(4),
            rank: 9,
            position,
            block,
        }
    }

    proptest! {
        #[test]
        fn items_come_back_in_order(runs in prop::collection::vec(prop::collection::vec((0i64..50, 0usize..40_000), 0..6), 0..40)) {
            let mut spilled = SpilledItems::default();
            let (mut ordinal, mut expected) = (0, Vec::new());
            for run in &runs {
                let mut items = Vec::new();
                for (raw, length) in run {
                    ordinal += 1;
                    let body: Vec<u8> = (0..*length).map(|index| (index as u64 + ordinal) as u8).collect();
                    expected.push((*raw, ordinal, body.clone()));
                    items.push(item(*raw, ordinal, &body));
                }
                items.sort();
                prop_assert!(spilled.add(items).is_ok());
            }
            expected.sort();
            let mut found = Vec::new();
            while let Ok(Some(item)) = spilled.pop() {
                prop_assert_eq!((item.record_time, item.rank, item.position.site, item.position.id), (item.raw + 1, 9, 5, 7));
                prop_assert_eq!(item.position.is_truncated, item.position.ordinal.is_multiple_of(3));
                prop_assert_eq!(item.single_action, item.position.ordinal.is_multiple_of(2).then_some(4));
                let block = item.block.clone().unwrap_or_default();
                found.push((item.raw, item.position.ordinal, item.position.body(&block).to_vec()));
            }
            prop_assert_eq!(found, expected);
        }
    }
}
