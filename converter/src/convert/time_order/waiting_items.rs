//! [`WaitingItems`]: the items of a stream that wait, because an earlier item may follow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::ordered_item::OrderedItem;
use super::spilled_items::SpilledItems;
use crate::run::waiting_budget;

/// Bytes of waiting items in memory, of all streams.
static WAITING_BYTES: AtomicUsize = AtomicUsize::new(0);
/// A stream updates [`WAITING_BYTES`] in steps of at least this number of bytes.
const COUNTING_STEP: usize = 1 << 16;
/// Bytes of an item without its block.
const ITEM_BYTES: usize = size_of::<OrderedItem>();

#[derive(Debug)]
pub(crate) struct WaitingItems {
    heap: BinaryHeap<Reverse<OrderedItem>>,
    /// Bytes of the items in `heap` and of their blocks.
    bytes: usize,
    /// The part of `bytes` that is counted in [`WAITING_BYTES`].
    counted_bytes: usize,
    /// Address of the block of the last item.
    last_block: usize,
    spilled_items: SpilledItems,
    /// For each block: the minimum timestamp in it and all later blocks.
    floors: Vec<i64>,
    pub(crate) at_end: bool,
}

impl WaitingItems {
    pub(crate) fn new(floors: Vec<i64>) -> Self {
        let (heap, spilled_items) = (BinaryHeap::new(), SpilledItems::default());
        Self { heap, bytes: 0, counted_bytes: 0, last_block: 0, spilled_items, floors, at_end: false }
    }

    pub(crate) fn push(&mut self, item: OrderedItem) {
        let block = item.block.as_ref().map_or(0, |block| Rc::as_ptr(block).addr());
        if block != self.last_block {
            self.last_block = block;
            self.bytes += item.block.as_ref().map_or(0, |block| block.len());
        }
        self.bytes += ITEM_BYTES;
        self.heap.push(Reverse(item));
    }

    /// The next item, if no earlier one can follow.
    pub(crate) fn take_next(&mut self, blocks_read: usize) -> io::Result<Option<OrderedItem>> {
        let in_memory = self.heap.peek().map(|Reverse(item)| item);
        let (next, is_spilled) = match (in_memory, self.spilled_items.peek()) {
            (Some(here), Some(there)) if there < here => (there, true),
            (None, Some(there)) => (there, true),
            (Some(here), _) => (here, false),
            (None, None) => return Ok(None),
        };
        let floor = self.floors.get(blocks_read.wrapping_sub(1)).copied().unwrap_or(i64::MIN);
        if !self.at_end && next.raw > floor {
            return Ok(None);
        }
        if is_spilled {
            return self.spilled_items.pop();
        }
        let item = self.heap.pop().map(|Reverse(item)| item);
        // The last item of a block that the reader has left frees the block.
        let block = item.as_ref().and_then(|item| item.block.as_ref()).filter(|block| Rc::strong_count(block) == 1);
        self.bytes = self.bytes.saturating_sub(ITEM_BYTES + block.map_or(0, |block| block.len()));
        if self.heap.is_empty() {
            self.bytes = 0;
        }
        Ok(item)
    }

    /// Moves the items to a file if the waiting items of all streams exceed the memory budget.
    pub(crate) fn make_room(&mut self) -> io::Result<()> {
        if self.bytes.abs_diff(self.counted_bytes) < COUNTING_STEP {
            return Ok(());
        }
        self.count(self.bytes);
        if self.bytes < COUNTING_STEP || WAITING_BYTES.load(Relaxed) <= waiting_budget() {
            return Ok(());
        }
        let mut items = std::mem::take(&mut self.heap).into_sorted_vec();
        items.reverse();
        self.spilled_items.add(items.into_iter().map(|Reverse(item)| item))?;
        (self.bytes, self.last_block) = (0, 0);
        self.count(0);
        Ok(())
    }

    fn count(&mut self, bytes: usize) {
        WAITING_BYTES.fetch_add(bytes, Relaxed);
        WAITING_BYTES.fetch_sub(self.counted_bytes, Relaxed);
        self.counted_bytes = bytes;
    }
}

impl Drop for WaitingItems {
    fn drop(&mut self) {
        self.count(0);
    }
}
