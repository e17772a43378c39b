//! Writes the records in slots that are not full. Their threads continue to write to these slots.

use std::io;
use std::sync::atomic::Ordering;

use super::block_writer::{BlockWriter, stream_of};
use super::codec::CompressionEffort;
use super::pending_block::SealedBlock;
use crate::cursor::RING;
use crate::fault_injection;
use crate::slots::SlotHeader;
use crate::state::stream_entry::StreamEntry;
use crate::state::{STATE, flight_recorder};

/// Selects the slots that are written before they are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActiveSlots {
    /// Slots of threads that filled no slot since the writer thread last ran.
    /// The other slots will be written soon.
    Quiet,
    /// Slots with records made before the call, except records that may be overwritten.
    SinceTheCall,
    /// Slots with records that may be overwritten.
    Dump,
    /// All slots, also those of threads that are writing a record.
    AtEnd,
}

impl BlockWriter {
    /// Writes the records in the threads' current slots that are not in the file.
    pub(super) fn write_live(&mut self, selection: ActiveSlots) {
        // A stream without new records in its slot may have filled another slot since the call. The
        // tick need not check that.
        let is_selected = |entry: &&StreamEntry| {
            let overwrites = entry.stream.class == RING;
            match selection {
                ActiveSlots::Quiet => !overwrites && SealedBlock::is_due(entry),
                ActiveSlots::SinceTheCall => !overwrites,
                ActiveSlots::Dump => overwrites,
                ActiveSlots::AtEnd => true,
            }
        };
        let streams: Vec<u32> =
            STATE.lock().entries.iter().filter(is_selected).map(|entry| entry.stream.index).collect();
        for stream in streams {
            let mut state = STATE.lock();
            if selection == ActiveSlots::Dump {
                // The thread has filled its slot since the kept slots were queued.
                flight_recorder::release_oldest_of(&mut state, stream);
            }
            // A slot that was filled since the call waits in the queue. The blocks of one stream
            // stay in order.
            if let Some(position) = state.full_slots.iter().position(|slot| stream_of(*slot) == stream) {
                drop(state);
                let next = if selection == ActiveSlots::Quiet { 0 } else { position + 1 };
                for _ in 0..next {
                    self.write_next();
                }
                continue;
            }
            let piece =
                state.entry(stream).and_then(|entry| SealedBlock::of_live(entry, selection == ActiveSlots::AtEnd));
            drop(state);
            if let Some((slot, piece)) = piece {
                if fault_injection::is_injected("flush is noted before the write") {
                    piece.commit(slot);
                    // A test kills the process during this sleep.
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                if fault_injection::is_injected("slot is handed over during the write") {
                    wait_for_hand_over(stream, slot);
                }
                let result = self.write_after_drop_reports(&piece, CompressionEffort::Records);
                self.store_flush_result(slot, &piece, &result, selection);
            }
        }
    }

    /// Stores whether a part of a slot is in the file.
    fn store_flush_result(
        &mut self,
        slot: *const SlotHeader,
        piece: &SealedBlock,
        result: &io::Result<()>,
        selection: ActiveSlots,
    ) {
        let mut state = STATE.lock();
        let mapped = state.live.is_some() && self.is_open();
        let is_last_chance = selection == ActiveSlots::AtEnd && !mapped;
        if let Some(entry) = state.entry(piece.stream) {
            // If the slot waits in the queue meanwhile, the next attempt writes the same block,
            // because the numbers of the next slot assume it.
            let is_current = std::ptr::eq(entry.stream.slot.load(Ordering::Relaxed), slot);
            if result.is_ok()
                || is_last_chance
                || is_current
                || entry.stream.class == RING
                || fault_injection::is_injected("pending block is discarded")
            {
                entry.pending_block = None;
            }
        }
        self.live_file_remains |= selection == ActiveSlots::AtEnd && result.is_err();
        if result.is_ok() || is_last_chance {
            piece.commit(slot);
        }
        drop(state);
        if result.is_err() && is_last_chance {
            self.give_up(piece);
        }
    }
}

/// For tests: waits until the stream continues with another slot, at most about one second.
fn wait_for_hand_over(stream: u32, slot: *const SlotHeader) {
    fault_injection::ABOUT_TO_WRITE.store(true, Ordering::Release);
    for _ in 0..1000 {
        let current = STATE.lock().entry(stream).map(|entry| entry.stream.slot.load(Ordering::Relaxed).cast_const());
        if current != Some(slot) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
