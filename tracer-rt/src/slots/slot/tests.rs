//! Checks the hand-over of slots between a thread and the writer thread, for every memory order in
//! which they may see each other's stores.
//!
//! The head of a slot is the recorder's, with the atomic words of the model checker. The rest is a
//! model of the recorder.

#![expect(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::collections::VecDeque;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::sync::{Arc, Mutex};

use super::{FlushMark, ONE_RECORD, SharedWord, records, used_bytes};

/// The head of a slot. The model checker observes its words.
type SlotHeader = super::SlotHeader<AtomicU64>;

impl SharedWord for AtomicU64 {
    fn load(&self, order: Ordering) -> u64 {
        Self::load(self, order)
    }

    fn store(&self, value: u64, order: Ordering) {
        Self::store(self, value, order);
    }
}

/// Number of records that fit into a slot.
/// Each record has one byte, and its content is its timestamp.
const ROOM: usize = 2;
const SLOTS: usize = 2;

/// A slot and its payload. The checker detects data races on the payload.
struct ModelSlot {
    head: SlotHeader,
    payload: [UnsafeCell<u64>; ROOM],
}

/// A block in the file: the last timestamp in its header, and its records.
type Block = (u64, Vec<u64>);

#[derive(Default)]
struct State {
    current: Option<usize>,
    full: VecDeque<usize>,
    free: Vec<usize>,
    dropped: u64,
}

struct ModelProcess {
    slots: [ModelSlot; SLOTS],
    busy: AtomicBool,
    state: Mutex<State>,
}

fn head() -> SlotHeader {
    SlotHeader {
        state: AtomicU64::new(0),
        last: AtomicU64::new(0),
        first: AtomicU64::new(0),
        flush_mark: AtomicU64::new(0),
        flushed_last: AtomicU64::new(0),
        sequence: AtomicU64::new(0),
        dropped: AtomicU64::new(0),
        stream: std::sync::atomic::AtomicU32::new(0),
        is_taken: std::sync::atomic::AtomicU32::new(0),
    }
}

impl ModelProcess {
    fn new() -> Self {
        let slot = |_| ModelSlot { head: head(), payload: [UnsafeCell::new(0), UnsafeCell::new(0)] };
        let state = State { free: (0..SLOTS).collect(), ..State::default() };
        Self { slots: std::array::from_fn(slot), busy: AtomicBool::new(false), state: Mutex::new(state) }
    }

    /// A model of `record::record`, and of `attach::exchange` if the slot is full.
    fn record(&self, current: &mut Option<usize>, timestamp: u64, publish: fn(&SlotHeader, u64, u64)) {
        self.busy.store(true, Ordering::Relaxed);
        let full = |slot: &usize| used_bytes(self.slots[*slot].head.state.load(Ordering::Relaxed)) == ROOM;
        if current.as_ref().is_none_or(full) {
            let mut state = self.state.lock().unwrap();
            let before = state.current.take();
            state.full.extend(before);
            let next = state.free.pop();
            if let Some(next) = next {
                let head = &self.slots[next].head;
                head.flush_mark.store(0, Ordering::Relaxed);
                head.last.store(timestamp, Ordering::Relaxed);
                head.state.store(0, Ordering::Release);
            }
            state.current = next;
            state.dropped += u64::from(next.is_none());
            *current = next;
        }
        if let Some(slot_index) = *current {
            let slot = &self.slots[slot_index];
            let state = slot.head.state.load(Ordering::Relaxed);
            // SAFETY: the checker fails if another thread reads this slot at the same time.
            slot.payload[used_bytes(state)].with_mut(|byte| unsafe { *byte = timestamp });
            publish(&slot.head, state + (ONE_RECORD | 1), timestamp);
        }
        self.busy.store(false, Ordering::Release);
    }

    /// A model of `SealedBlock`: the part of a slot that is not in the file.
    fn block(&self, slot: usize, from: FlushMark, state: u64, last: u64) -> Block {
        // SAFETY: the checker fails if another thread writes this at the same time.
        let read = |byte: &UnsafeCell<u64>| byte.with(|byte| unsafe { *byte });
        (last, self.slots[slot].payload[from.bytes..used_bytes(state)].iter().map(read).collect())
    }

    /// A model of `BlockWriter::write_next`.
    fn write_full(&self, file: &mut Vec<Block>) {
        let next = self.state.lock().unwrap().full.pop_front();
        let Some(slot) = next else { return };
        let head = &self.slots[slot].head;
        let (state, last) = (head.state.load(Ordering::Acquire), head.last.load(Ordering::Relaxed));
        if head.flush_mark().bytes < used_bytes(state) {
            file.push(self.block(slot, head.flush_mark(), state, last));
        }
        self.state.lock().unwrap().free.push(slot);
    }

    /// A model of `BlockWriter::write_live`. Full slots come first.
    fn write_live(&self, file: &mut Vec<Block>, at_end: bool) {
        let state = self.state.lock().unwrap();
        let Some(slot) = state.current.filter(|_| state.full.is_empty()) else { return };
        let head = &self.slots[slot].head;
        let is_busy = || !at_end && self.busy.load(Ordering::Acquire);
        let Some(now) =
            head.read_between_records(is_busy).filter(|now| used_bytes(now.state) > head.flush_mark().bytes)
        else {
            return;
        };
        let from = head.flush_mark();
        drop(state);
        file.push(self.block(slot, from, now.state, now.last));
        let _state = self.state.lock().unwrap();
        head.commit(
            FlushMark { bytes: used_bytes(now.state), records: records(now.state), blocks: from.blocks + 1 },
            now.last,
        );
    }
}

/// A thread makes five records. The writer thread writes meanwhile, and writes the rest at the end.
fn hand_over(publish: fn(&SlotHeader, u64, u64)) {
    const RECORDS: u64 = 5;
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let process = Arc::new(ModelProcess::new());
        let of_thread = Arc::clone(&process);
        let thread = loom::thread::spawn(move || {
            let mut current = None;
            (1..=RECORDS).for_each(|timestamp| of_thread.record(&mut current, timestamp, publish));
        });
        let mut file = Vec::new();
        process.write_live(&mut file, false);
        process.write_full(&mut file);
        process.write_live(&mut file, false);
        thread.join().unwrap();
        (0..SLOTS).for_each(|_| process.write_full(&mut file));
        process.write_live(&mut file, true);
        for (last, block) in &file {
            assert_eq!(block.last(), Some(last), "a block says when it ends");
        }
        let written: Vec<u64> = file.into_iter().flat_map(|(_, block)| block).collect();
        assert!(written.is_sorted_by(|before, after| before < after), "in order, each once");
        assert_eq!(written.len() as u64 + process.state.lock().unwrap().dropped, RECORDS, "and all of them");
    });
}

#[test]
fn slots_are_handed_over_whole() {
    hand_over(SlotHeader::publish);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_state_that_is_stored_too_early_is_detected() {
    hand_over(|slot, state, timestamp| {
        slot.last.store(timestamp, Ordering::Release);
        slot.state.store(state, Ordering::Relaxed);
    });
}

#[test]
#[should_panic(expected = "a block says when it ends")]
fn a_timestamp_stored_without_release_is_detected() {
    hand_over(|slot, state, timestamp| {
        slot.last.store(timestamp, Ordering::Relaxed);
        slot.state.store(state, Ordering::Release);
    });
}
