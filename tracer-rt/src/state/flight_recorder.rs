//! The flight recorder: streams of levels that overwrite the oldest. Their full slots are not written but kept, at most half
//! of all slots, until they are asked for ([`crate::dump`], a panic, the end of the process) or taken for what is newer.

use std::collections::VecDeque;
use std::sync::atomic::{Ordering, fence};

use tracer_format::cause;
use tracer_format::record::Lost;

use super::State;
use crate::fault_injection;
use crate::live_file;
use crate::slots::pool::{self, slot_bytes};
use crate::slots::write::payload;
use crate::slots::{LOST_BYTES, SLOT_BYTES, Slot, records, used};
use crate::stream::drops::{both, news_at_start};

/// Full slots of streams that overwrite, oldest first.
#[derive(Debug)]
pub(crate) struct Ring {
    slots: VecDeque<*const Slot>,
    /// What they take: a part counts as a part.
    bytes: usize,
}

impl Ring {
    pub(crate) const fn new() -> Self {
        Self { slots: VecDeque::new(), bytes: 0 }
    }

    pub(crate) fn reserve(&mut self, slots: usize) {
        self.slots.reserve(slots);
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.bytes = 0;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = *const Slot> + '_ {
        self.slots.iter().copied()
    }

    /// Keeps a full slot.
    pub(crate) fn push(&mut self, slot: *const Slot) {
        self.bytes += slot_bytes(slot);
        self.slots.push_back(slot);
    }

    fn pop_oldest(&mut self) -> Option<*const Slot> {
        self.remove(0)
    }

    fn remove(&mut self, at: usize) -> Option<*const Slot> {
        let slot = self.slots.remove(at)?;
        self.bytes -= slot_bytes(slot);
        Some(slot)
    }
}

/// A slot for a stream that overwrites, its first one perhaps: a free one, or the oldest of all such streams.
pub(crate) fn take(state: &mut State, bytes: usize, is_first: bool) -> Option<*const Slot> {
    let most = (state.pool.slots() / 2).max(1) * SLOT_BYTES;
    if state.ring.bytes < most
        && let Some(free) = state.take_slot(bytes, is_first)
    {
        return Some(free);
    }
    loop {
        let slot = overwrite(state)?;
        let is_part = slot_bytes(slot) != SLOT_BYTES;
        let too_large = !is_part && is_first && bytes <= pool::MAX_PART_RECORD_BYTES;
        let too_small = is_part && bytes > pool::MAX_PART_RECORD_BYTES;
        if !too_large && !too_small {
            return Some(slot);
        }
        pool::make_ready(slot);
        state.pool.give(slot);
        if too_large {
            return state.pool.take_part();
        }
    }
}

/// Takes the oldest slot and counts what it held as lost, at its place: among the slots of its stream that wait to be written.
fn overwrite(state: &mut State) -> Option<*const Slot> {
    let slot = *state.ring.slots.front()?;
    // SAFETY: slots are never unmapped.
    let head = unsafe { &*slot };
    let entry = state.entry(head.stream.load(Ordering::Relaxed))?;
    if entry.pending_of(slot).is_some() {
        // A part of it is on its way to the file.
        return None;
    }
    let (at, done) = (head.state.load(Ordering::Acquire), head.flushed());
    let count = u64::from(records(at) - done.records);
    let first =
        if done.blocks > 0 { head.flushed_last.load(Ordering::Relaxed) } else { head.first.load(Ordering::Relaxed) };
    let bytes = (used(at) - done.bytes) as u64;
    let last = head.last.load(Ordering::Relaxed);
    let mut lost = Lost { count, bytes, first_ticks: first, last_ticks: last, cause: cause::OVERWRITTEN };
    if let Some(told) = lost_at_start(slot).filter(|_| done.bytes == 0) {
        // It was told of in the slot, just before what the slot held.
        lost.bytes -= LOST_BYTES as u64;
        lost = both(&told, &lost);
    }
    if !fault_injection::injected("overwriting is silent") {
        live_file::count_overwritten(head, count);
        entry.stream.overwritten.fetch_add(count, Ordering::Relaxed);
        entry.gaps.add(head.sequence.load(Ordering::Relaxed) + u64::from(done.blocks), &lost);
    }
    entry.waiting = entry.waiting.saturating_sub(1);
    // What the slot becomes is written after all of this.
    fence(Ordering::SeqCst);
    state.ring.pop_oldest()
}

/// The news of a loss with which a slot begins.
fn lost_at_start(slot: *const Slot) -> Option<Lost> {
    // SAFETY: the first bytes of a slot's payload, which nobody writes any more.
    news_at_start(unsafe { std::slice::from_raw_parts(payload(slot, 0), LOST_BYTES) })
}

/// Queues all that is kept for the helper.
pub(crate) fn release(state: &mut State) {
    while let Some(slot) = state.ring.pop_oldest() {
        queue(state, slot);
    }
}

/// Queues the oldest that is kept of a stream.
pub(crate) fn release_oldest_of(state: &mut State, stream: u32) {
    // SAFETY: slots are never unmapped.
    let of_stream = |slot: &*const Slot| unsafe { &**slot }.stream.load(Ordering::Relaxed) == stream;
    if let Some(slot) = state.ring.slots.iter().position(of_stream).and_then(|at| state.ring.remove(at)) {
        queue(state, slot);
    }
}

fn queue(state: &mut State, slot: *const Slot) {
    // SAFETY: slots are never unmapped.
    let head = unsafe { &*slot };
    if let Some(entry) = state.entry(head.stream.load(Ordering::Relaxed)) {
        head.dropped.store(entry.stream.dropped(), Ordering::Relaxed);
    }
    state.full.push_back(slot);
}
