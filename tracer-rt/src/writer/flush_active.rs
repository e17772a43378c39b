//! What threads have in slots that are not full: it becomes blocks while they go on writing there.

use std::io;
use std::sync::atomic::Ordering;

use super::codec::Effort;
use super::pending_block::Piece;
use super::{Writer, stream_of};
use crate::cursor::RING;
use crate::fault_injection;
use crate::slots::Slot;
use crate::state::stream_entry::Entry;
use crate::state::{STATE, flight_recorder};

/// Which threads' slots are written out before they are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Live {
    /// Those of threads that filled none since the helper last looked: the others will be written soon anyway.
    Quiet,
    /// All that was recorded before the call, but for what may be overwritten.
    SinceTheCall,
    /// All that may be overwritten.
    Dump,
    /// All, also of threads that stand in the midst of a record.
    AtEnd,
}

impl Writer {
    /// Writes what the slots of the threads hold and the file does not.
    pub(super) fn write_live(&mut self, which: Live) {
        // A stream whose slot has nothing new may have filled another one since the call; the tick need not ask.
        let due = |entry: &&Entry| {
            let overwrites = entry.stream.class == RING;
            match which {
                Live::Quiet => !overwrites && Piece::is_due(entry),
                Live::SinceTheCall => !overwrites,
                Live::Dump => overwrites,
                Live::AtEnd => true,
            }
        };
        let streams: Vec<u32> = STATE.lock().entries.iter().filter(due).map(|entry| entry.stream.index).collect();
        for stream in streams {
            let mut state = STATE.lock();
            if which == Live::Dump {
                // The thread has filled its slot since what is kept was queued.
                flight_recorder::release_oldest_of(&mut state, stream);
            }
            // A slot that was filled since the call waits behind others; blocks of one stream stay in their order.
            if let Some(before) = state.full.iter().position(|slot| stream_of(*slot) == stream) {
                drop(state);
                let next = if which == Live::Quiet { 0 } else { before + 1 };
                for _ in 0..next {
                    self.write_next();
                }
                continue;
            }
            let piece = state.entry(stream).and_then(|entry| Piece::of_live(entry, which == Live::AtEnd));
            drop(state);
            if let Some((slot, piece)) = piece {
                if fault_injection::injected("noted before written") {
                    piece.commit(slot);
                    // Long enough to be killed in between.
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                if fault_injection::injected("handed over meanwhile") {
                    wait_for_hand_over(stream, slot);
                }
                let written = self.write_in_place(&piece, Effort::Records);
                self.settle(slot, &piece, &written, which);
            }
        }
    }

    /// Notes that a part of a slot is in the file, or is not.
    fn settle(&mut self, slot: *const Slot, piece: &Piece, written: &io::Result<()>, which: Live) {
        let mut state = STATE.lock();
        let mapped = state.live.is_some() && self.is_open();
        let lost = which == Live::AtEnd && !mapped;
        if let Some(entry) = state.entry(piece.stream) {
            // What could not be written of a slot that waits in the queue meanwhile is the same block again: the next slot's numbers count on it.
            let own = std::ptr::eq(entry.stream.slot.load(Ordering::Relaxed), slot);
            if written.is_ok()
                || lost
                || own
                || entry.stream.class == RING
                || fault_injection::injected("blocks change")
            {
                entry.pending = None;
            }
        }
        self.left_behind |= which == Live::AtEnd && written.is_err();
        if written.is_ok() || lost {
            piece.commit(slot);
        }
        drop(state);
        if written.is_err() && lost {
            self.give_up(piece);
        }
    }
}

/// For tests: until the stream has gone on to another slot, or its thread rests for long.
fn wait_for_hand_over(stream: u32, slot: *const Slot) {
    fault_injection::ABOUT_TO_WRITE.store(true, Ordering::Release);
    for _ in 0..1000 {
        let current = STATE.lock().entry(stream).map(|entry| entry.stream.slot.load(Ordering::Relaxed).cast_const());
        if current != Some(slot) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
