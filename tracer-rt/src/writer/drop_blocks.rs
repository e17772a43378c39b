//! Reports of drops in separate blocks: overwritten records, drops after the last record of a
//! stream, and unreported drops of threads that have ended.

use std::io;
use std::sync::atomic::Ordering;

use tracer_format::BlockKind;
use tracer_format::block::flag;

use super::block_writer::BlockWriter;
use super::codec::CompressionEffort;
use super::pending_block::SealedBlock;
use super::reserve::ReserveStage;
use crate::fault_injection;
use crate::live_file;
use crate::state::STATE;
use crate::state::stream_entry::StreamEntry;
use crate::stream::drops::OverwrittenBlocks;

impl BlockWriter {
    /// Writes a piece after the reports of the records overwritten before it.
    pub(super) fn write_after_drop_reports(
        &mut self,
        piece: &SealedBlock,
        effort: CompressionEffort,
    ) -> io::Result<()> {
        self.report_overwritten(piece.stream, Some(piece))?;
        self.write_piece(piece, effort)
    }

    /// Reports the records that a stream overwrote before the piece `next`, or all of them if
    /// `next` is `None`.
    fn report_overwritten(&mut self, stream: u32, next: Option<&SealedBlock>) -> io::Result<()> {
        let limit = next.map_or(u64::MAX, |next| next.sequence);
        loop {
            let mut state = STATE.lock();
            let Some(entry) = state.entry(stream) else { return Ok(()) };
            let Some(gap) = entry.gaps.take_before(limit) else { return Ok(()) };
            let report = of_gap(entry, &gap, next);
            drop(state);
            if let Err(error) = self.write_piece(&report, CompressionEffort::None) {
                if let Some(entry) = STATE.lock().entry(stream) {
                    entry.gaps.put_back(gap);
                }
                return Err(error);
            }
        }
    }

    /// Reports the drops after the last record of a stream.
    fn report_last(&mut self, stream: u32) {
        // Unreported drops stay in the sum.
        let _ = self.report_overwritten(stream, None);
        let report = STATE.lock().entry(stream).and_then(of_drops);
        if let Some(report) = report
            && self.write_piece(&report, CompressionEffort::None).is_err()
        {
            self.report_to_live_file(&report);
        }
    }

    /// At the end, adds reports that the file cannot take to the log of the live file, which then
    /// remains.
    fn report_to_live_file(&mut self, report: &SealedBlock) {
        if self.stage == ReserveStage::Reports
            && STATE.lock().live.is_some()
            && live_file::log(BlockKind::Records, report.stream, 0, report.payload())
        {
            self.live_file_remains = true;
        }
    }

    /// Reports, at the end, all drops that no block reports.
    /// For streams with a slot that could not be written, the report goes to the live file.
    pub(super) fn report_remaining_drops(&mut self) {
        for stream in streams(|entry| entry.waiting_slots == 0 && entry.has_unreported_drops()) {
            self.report_last(stream);
        }
        if !self.live_file_remains {
            // Slots that still wait were filled after the end, by threads that continue. Their
            // records count as dropped, as do later records of such threads. The live file need not
            // remain for them.
            return;
        }
        for stream in streams(|entry| entry.waiting_slots > 0 && entry.stream.drops.has_report()) {
            let report = STATE.lock().entry(stream).and_then(of_drops);
            if let Some(report) = report {
                self.report_to_live_file(&report);
            }
        }
    }

    /// Removes the streams of ended threads without records in memory, and reports their remaining
    /// drops.
    /// Memory then does not grow with the number of threads that ever existed.
    pub(super) fn remove_exited_streams(&mut self) {
        // At the end there is reserved space for their reports, and removing them saves nothing.
        if fault_injection::is_injected("exited threads are not removed") || !STATE.lock().is_recording() {
            return;
        }
        let finished = streams(StreamEntry::is_finished);
        if finished.is_empty() {
            return;
        }
        if self.ensure_open() && !fault_injection::is_injected("exited threads are not reported") {
            // Their names are written, too. Best effort, because only records in the file need
            // them.
            self.write_names();
            finished.iter().for_each(|stream| self.report_last(*stream));
        }
        STATE.lock().remove_streams(&finished);
    }
}

/// The indexes of the selected streams, in order.
fn streams(is_selected: impl Fn(&StreamEntry) -> bool) -> Vec<u32> {
    STATE.lock().entries.iter().filter(|entry| is_selected(entry)).map(|entry| entry.stream.index).collect()
}

/// Makes a block that reports the gap.
/// All its records are older than `next`. The block has the last of the missing sequence numbers.
fn of_gap(entry: &StreamEntry, gap: &OverwrittenBlocks, next: Option<&SealedBlock>) -> SealedBlock {
    let last = next.map_or(u64::MAX, |next| next.first).min(gap.dropped.last_ticks);
    let mut report = SealedBlock::of_report(entry, &gap.dropped, gap.end - 1, last, flag::OVERWRITTEN);
    if let Some(next) = next {
        report.dropped = next.dropped;
    }
    report
}

fn of_drops(entry: &mut StreamEntry) -> Option<SealedBlock> {
    let dropped = entry.stream.drops.take_report()?;
    let slot = entry.stream.slot.load(Ordering::Relaxed).cast_const();
    // SAFETY: a stream's slot is null or one of the pool.
    let head = unsafe { slot.as_ref() };
    let sequence = head.map_or(entry.next_sequence, |head| {
        // This block has the number of the slot's next block. The blocks of the slot get later
        // numbers.
        let first = head.sequence.fetch_add(1, Ordering::Relaxed);
        first + u64::from(head.flush_mark().blocks)
    });
    entry.next_sequence = sequence + 1;
    Some(SealedBlock::of_report(entry, &dropped, sequence, dropped.last_ticks, 0))
}
