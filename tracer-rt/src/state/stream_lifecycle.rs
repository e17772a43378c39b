//! The life of a stream: its begin, its changes from one slot to the next, and its end.

use std::sync::atomic::Ordering;

use tracer_format::live_file::slot_use;
use tracer_format::record::DroppedRecords;
use tracer_format::{ID_DROPPED, RECORD_HEAD_BYTES};

use super::flight_recorder;
use super::recorder_state::RecorderState;
use super::stream_entry::{StreamEntry, StreamNames};
use crate::cursor::{NESTED, RING, ThreadCursor, raise_test_signal};
use crate::slots::record_bytes::{payload, write_head};
use crate::slots::{DROP_REPORT_BYTES, SlotHeader};
use crate::stream::ThreadStream;
use crate::threads;

/// Spare streams for signal handlers. The writer thread adds more.
const SPARES: usize = 8;

/// A new stream.
pub(crate) struct AddedStream {
    pub(crate) address: *const ThreadStream,
    /// Whether the live file had space for its entry.
    pub(crate) is_logged: bool,
}

impl RecorderState {
    pub(crate) fn add_stream(
        &mut self,
        cursor: &ThreadCursor,
        class: usize,
        tid: u64,
        names: StreamNames,
    ) -> AddedStream {
        let stream = Box::new(ThreadStream::new(self.next_stream, class));
        self.next_stream += 1;
        let address = &raw const *stream;
        let entry = StreamEntry::new(stream, cursor, tid, names);
        let is_logged = entry.log();
        self.entries.push(entry);
        self.live_threads += 1;
        self.fill_spares();
        AddedStream { address, is_logged }
    }

    /// Allocates the spare streams of signal handlers, which must not allocate.
    pub(crate) fn fill_spares(&mut self) {
        while self.spares.len() < SPARES {
            self.spares.push(Box::new(ThreadStream::new(0, NESTED)));
        }
        self.entries.reserve(SPARES);
    }

    /// Gives the streams of signal handlers the names of their threads.
    pub(crate) fn name_signal_streams(&mut self) {
        for index in 0..self.entries.len() {
            let entry = &self.entries[index];
            if entry.names_written || entry.stream.class != NESTED || entry.names.thread.is_some() {
                continue;
            }
            let tid = entry.tid;
            let has_names = |entry: &&StreamEntry| entry.names.thread.is_some() || entry.names.label.is_some();
            let of_thread = self.entries.iter().filter(|entry| entry.tid == tid).find(has_names);
            self.entries[index].names = of_thread.map(|entry| entry.names.clone()).unwrap_or_default();
        }
    }

    /// Seals the stream's slot and gives the stream another one, if one is free.
    pub(crate) fn next_slot(&mut self, stream: &ThreadStream, now: u64, bytes: usize) -> Option<*const SlotHeader> {
        // Timestamps of a stream never decrease, also from one slot to the next.
        let now = now.max(stream.latest_timestamp());
        self.seal(stream);
        if !self.is_recording() {
            return None;
        }
        raise_test_signal("a slot");
        let sequence = self.entry(stream.index).map_or(0, |entry| entry.next_sequence);
        let is_first = sequence == 0;
        let slot = if stream.class == RING {
            flight_recorder::take(self, bytes, is_first)
        } else {
            self.take_slot(bytes, is_first)
        }?;
        start_slot(slot, stream, sequence, now);
        stream.slot.store(slot.cast_mut(), Ordering::Release);
        Some(slot)
    }

    /// Queues the stream's slot for the writer thread, or keeps it until it is overwritten.
    fn seal(&mut self, stream: &ThreadStream) {
        let slot = stream.slot.swap(std::ptr::null_mut(), Ordering::Relaxed).cast_const();
        if slot.is_null() {
            return;
        }
        // SAFETY: a stream's slot is one of the pool.
        let head = unsafe { &*slot };
        head.dropped.store(stream.dropped_records(), Ordering::Relaxed);
        if let Some(entry) = self.entry(stream.index) {
            entry.close_slot(head);
            entry.waiting_slots += 1;
        }
        if stream.class == RING && head.unwritten_records() > 0 {
            self.flight_recorder.push(slot);
        } else {
            self.full_slots.push_back(slot);
        }
    }

    /// Ends a stream at `now`, but not before the timestamp of its last record.
    pub(crate) fn end_stream(&mut self, stream: &ThreadStream, now: u64) {
        let end = now.max(stream.latest_timestamp());
        self.seal(stream);
        if let Some(entry) = self.entry(stream.index).filter(|entry| !entry.cursor.is_null()) {
            entry.cursor = std::ptr::null();
            entry.end_at(end);
            self.live_threads -= 1;
        }
    }

    /// Ends the streams of threads that exited without a call of their key destructor. The time of
    /// such an end is unknown: these streams end at the timestamp of their last record.
    pub(crate) fn end_streams_of_exited_threads(&mut self) {
        self.end_streams(|entry| threads::is_exited(entry.tid));
    }

    /// Ends streams of exited threads with the number that the system has now given to this thread.
    pub(crate) fn end_streams_of_reused_id(&mut self, cursor: &ThreadCursor, tid: u64) {
        let is_own = |stream: *const ThreadStream| {
            cursor.streams.iter().any(|own_stream| std::ptr::eq(own_stream.get(), stream))
        };
        self.end_streams(|entry| entry.tid == tid && !is_own(&raw const *entry.stream));
    }

    fn end_streams(&mut self, is_exited: impl Fn(&StreamEntry) -> bool) {
        let exited: Vec<u32> = self
            .entries
            .iter()
            .filter(|entry| !entry.cursor.is_null() && is_exited(entry))
            .map(|entry| entry.stream.index)
            .collect();
        for index in exited {
            let stream = self.entry(index).map_or(std::ptr::null(), |entry| &raw const *entry.stream);
            // SAFETY: the stream lives as long as its entry, which `end_stream` does not remove.
            if let Some(stream) = unsafe { stream.as_ref() } {
                self.end_stream(stream, 0);
            }
        }
    }
}

/// Initializes the head of a slot. Its first record reports the records that the stream has dropped
/// since the last report.
fn start_slot(slot: *const SlotHeader, stream: &ThreadStream, sequence: u64, now: u64) {
    // SAFETY: the slot was just taken from the pool.
    let head = unsafe { &*slot };
    for (word, value) in [(&head.first, now), (&head.last, now), (&head.flush_mark, 0), (&head.sequence, sequence)] {
        word.store(value, Ordering::Relaxed);
    }
    head.stream.store(stream.index, Ordering::Relaxed);
    head.dropped.store(stream.dropped_records(), Ordering::Relaxed);
    let report_bytes = stream.drops.take_report().map_or(0, |dropped| {
        let target = payload(slot, 0);
        // SAFETY: the slot is empty and this thread's own.
        unsafe { write_head(target, ID_DROPPED, 0) };
        let body = target.wrapping_add(RECORD_HEAD_BYTES);
        // SAFETY: as above.
        unsafe { body.cast::<[u8; DroppedRecords::BYTES]>().write(dropped.encode()) };
        DROP_REPORT_BYTES as u64
    });
    head.state.store(report_bytes, Ordering::Release);
    let slot_use_word = if stream.class == RING { slot_use::OVERWRITES } else { slot_use::YES };
    head.is_taken.store(slot_use_word, Ordering::Release);
}
