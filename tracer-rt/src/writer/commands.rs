//! The commands of the writer: flush, dump, the tick of the writer thread, and the end of the file.

use std::sync::atomic::Ordering;

use tracer_format::BlockKind;
use tracer_format::tags::{append_integer, tag};

use crate::slots::record_bytes::{REPEATED, TRUNCATED};
use crate::state::{STATE, flight_recorder};
use crate::{fault_injection, live_file, local_clock};

use super::block_writer::{BlockWriter, WriterTarget};
use super::flush_active::ActiveSlots;
use super::reserve::ReserveStage;

impl BlockWriter {
    /// Writes all records made before the call: those in full slots and those in the threads'
    /// current slots.
    pub(crate) fn flush(&mut self) {
        // Before the first record no folder is known.
        if !STATE.lock().is_recording() {
            return;
        }
        STATE.lock().end_streams_of_exited_threads();
        self.write_full();
        self.write_live(ActiveSlots::SinceTheCall);
    }

    /// Writes the kept records of the streams that overwrite.
    pub(crate) fn dump(&mut self) {
        let mut state = STATE.lock();
        if !state.is_recording() {
            return;
        }
        flight_recorder::release(&mut state);
        drop(state);
        fault_injection::hold_dump();
        self.write_full();
        self.write_live(ActiveSlots::Dump);
    }

    /// Runs about once per second.
    pub(crate) fn tick(&mut self) {
        self.restore();
        STATE.lock().end_streams_of_exited_threads();
        self.write_live(ActiveSlots::Quiet);
        // If slots wait all the time, no other call does this.
        self.remove_exited_streams();
        if matches!(self.file, WriterTarget::Open(_))
            && let Err(error) = self.anchor(&local_clock::anchor())
        {
            self.report_once(&format!("cannot write the trace: {error}"));
        }
    }

    /// Writes everything and ends the file.
    /// Returns the number of records that are in none of the files.
    pub(crate) fn finish(&mut self) -> u64 {
        let now = local_clock::read();
        self.restore();
        flight_recorder::release(&mut STATE.lock());
        // Threads get no new slots any more, so the number of full slots is finite.
        while self.write_next() {}
        self.live_file_remains = false;
        self.write_live(ActiveSlots::AtEnd);
        while self.write_next() {}
        fault_injection::hold_end();
        self.stage = ReserveStage::Reports;
        self.report_remaining_drops();
        let mut state = STATE.lock();
        state.keeps_live_file = state.live.is_some() && self.is_open() && self.live_file_remains;
        let keeps_live_file = state.keeps_live_file;
        drop(state);
        live_file::store_process_end(now.max(self.latest_timestamp));
        if !self.ensure_open() || keeps_live_file {
            // Without an `end` block, readers open the live file.
            self.close();
            let state = STATE.lock();
            return state.dropped_records() + if keeps_live_file { 0 } else { state.unwritten_at_the_end() };
        }
        // New names and one more reading of the clocks may not fit. There is reserved space for the
        // `end` block.
        let _ = self.definitions().and_then(|()| self.anchor(&local_clock::anchor()));
        let state = STATE.lock();
        // Records that other threads made meanwhile count as dropped, too.
        let dropped = state.dropped_records() + state.unwritten_at_the_end();
        let last_thread = state.entries.iter().filter_map(|entry| entry.end).max().unwrap_or(0);
        drop(state);
        let mut tags = Vec::new();
        append_integer(&mut tags, tag::RECORDS_WRITTEN, self.records);
        append_integer(&mut tags, tag::RECORDS_DROPPED, dropped);
        let repeated = REPEATED.load(Ordering::Relaxed);
        if repeated > 0 {
            append_integer(&mut tags, tag::REPEATED_TIMESTAMPS, repeated);
        }
        let truncated = TRUNCATED.load(Ordering::Relaxed);
        if truncated > 0 {
            append_integer(&mut tags, tag::RECORDS_TRUNCATED, truncated);
        }
        if local_clock::wraps() > 0 {
            append_integer(&mut tags, tag::CLOCK_WRAPS, local_clock::wraps());
        }
        append_integer(&mut tags, tag::PROCESS_END, now.max(self.latest_timestamp).max(last_thread));
        self.stage = ReserveStage::End;
        match self.process_block(BlockKind::End, 1, &tags, (0, 0)) {
            Ok(()) => {
                if let Some(live) = &STATE.lock().live {
                    live.remove();
                }
            }
            Err(error) => self.report_once(&format!("cannot write the end of the trace: {error}")),
        }
        self.close();
        dropped
    }

    /// Closes the file. Nothing is written after this.
    fn close(&mut self) {
        if let WriterTarget::Open(file) = &mut self.file
            && self.reserve.has_space_after(self.length)
        {
            file.cut(self.length);
        }
        self.file = WriterTarget::Ended;
    }
}
