//! The flight recorder: streams of levels that overwrite their oldest records.
//! Their full slots are kept and not written. They take at most half of all slots. They are written
//! on request ([`crate::dump`], a panic, the end of the process) or reused for newer records.

use std::sync::atomic::{Ordering, fence};

use tracer_format::cause;
use tracer_format::record::DroppedRecords;

use super::recorder_state::RecorderState;
use crate::fault_injection;
use crate::live_file;
use crate::slots::pool::{self, slot_bytes};
use crate::slots::record_bytes::payload;
use crate::slots::{DROP_REPORT_BYTES, SLOT_BYTES, SlotHeader, records, used_bytes};
use crate::stream::drops::{join_reports, report_at_start};

/// Takes a slot for a stream that overwrites: a free one, or the oldest of all such streams.
/// `is_first` is true for the stream's first slot.
pub(crate) fn take(state: &mut RecorderState, bytes: usize, is_first: bool) -> Option<*const SlotHeader> {
    let max_bytes = (state.pool.slots() / 2).max(1) * SLOT_BYTES;
    if state.flight_recorder.bytes() < max_bytes
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
        state.pool.give_back(slot);
        if too_large {
            return state.pool.take_part();
        }
    }
}

/// Takes the oldest slot and counts its records as dropped at their place in the order of the
/// stream's blocks.
fn overwrite(state: &mut RecorderState) -> Option<*const SlotHeader> {
    let slot = state.flight_recorder.oldest_slot()?;
    // SAFETY: slots are never unmapped.
    let head = unsafe { &*slot };
    let entry = state.entry(head.stream.load(Ordering::Relaxed))?;
    if entry.pending_of(slot).is_some() {
        // A part of it is on its way to the file.
        return None;
    }
    let (at, flush_mark) = (head.state.load(Ordering::Acquire), head.flush_mark());
    let count = u64::from(records(at) - flush_mark.records);
    let first = if flush_mark.blocks > 0 {
        head.flushed_last.load(Ordering::Relaxed)
    } else {
        head.first.load(Ordering::Relaxed)
    };
    let bytes = (used_bytes(at) - flush_mark.bytes) as u64;
    let last = head.last.load(Ordering::Relaxed);
    let mut dropped = DroppedRecords { count, bytes, first_ticks: first, last_ticks: last, cause: cause::OVERWRITTEN };
    if let Some(earlier) = report_at_slot_start(slot).filter(|_| flush_mark.bytes == 0) {
        // The slot began with a report of drops, directly before its records. Both reports become
        // one.
        dropped.bytes -= DROP_REPORT_BYTES as u64;
        dropped = join_reports(&earlier, &dropped);
    }
    if !fault_injection::is_injected("overwritten records are not counted") {
        live_file::count_overwritten(head, count);
        entry.stream.overwrites.fetch_add(count, Ordering::Relaxed);
        entry.gaps.add(head.sequence.load(Ordering::Relaxed) + u64::from(flush_mark.blocks), &dropped);
    }
    entry.waiting_slots = entry.waiting_slots.saturating_sub(1);
    // The new contents of the slot are written after all of this.
    fence(Ordering::SeqCst);
    state.flight_recorder.pop_oldest()
}

fn report_at_slot_start(slot: *const SlotHeader) -> Option<DroppedRecords> {
    // SAFETY: these are the first bytes of a slot's payload, which no thread writes any more.
    report_at_start(unsafe { std::slice::from_raw_parts(payload(slot, 0), DROP_REPORT_BYTES) })
}

/// Queues all kept slots for the writer thread.
pub(crate) fn release(state: &mut RecorderState) {
    while let Some(slot) = state.flight_recorder.pop_oldest() {
        queue(state, slot);
    }
}

/// Queues the oldest kept slot of a stream.
pub(crate) fn release_oldest_of(state: &mut RecorderState, stream: u32) {
    // SAFETY: slots are never unmapped.
    let of_stream = |slot: *const SlotHeader| unsafe { &*slot }.stream.load(Ordering::Relaxed) == stream;
    let oldest = state.flight_recorder.iter().position(of_stream);
    if let Some(slot) = oldest.and_then(|index| state.flight_recorder.remove(index)) {
        queue(state, slot);
    }
}

fn queue(state: &mut RecorderState, slot: *const SlotHeader) {
    // SAFETY: slots are never unmapped.
    let head = unsafe { &*slot };
    if let Some(entry) = state.entry(head.stream.load(Ordering::Relaxed)) {
        head.dropped.store(entry.stream.dropped_records(), Ordering::Relaxed);
    }
    state.full_slots.push_back(slot);
}
