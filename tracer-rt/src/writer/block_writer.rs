//! The writer of blocks: the file, and the amount of data in it.

use std::io;
use std::sync::atomic::Ordering;

use tracer_format::entries::{ClockAnchor, SyncSample};
use tracer_format::{BlockHeader, BlockKind, PROCESS_STREAM, block, cause};

use crate::cursor::raise_test_signal;
use crate::locks::{RecorderLock, bit};
use crate::slots::{DROP_REPORT_BYTES, SlotHeader, pool};
use crate::state::STATE;
use crate::stream::drops::report_at_start;
use crate::{fault_injection, live_file, local_clock};

use super::clock_steps::ClockStepWatch;
use super::codec::{CompressionEffort, PayloadPacker};
use super::file_handle::ProcessFileHandle;
use super::pending_block::SealedBlock;
use super::reserve::{DiskReserve, ReserveStage};

pub(crate) static BLOCK_WRITER: RecorderLock<BlockWriter> =
    RecorderLock::new(bit::BLOCK_WRITER, BlockWriter::new_closed());

/// The file and the amount of data in it.
#[derive(Debug)]
pub(crate) struct BlockWriter {
    pub(super) file: WriterTarget,
    /// Length of the file up to its last whole block.
    pub(super) length: u64,
    /// Sequence number of the next block of the process.
    pub(super) sequence: u64,
    pub(super) schemas: usize,
    pub(super) strings: usize,
    pub(super) sites: usize,
    pub(super) records: u64,
    /// Timestamp of the latest record that was written.
    pub(super) latest_timestamp: u64,
    /// At the end, the live file contains records that could not be written.
    pub(super) live_file_remains: bool,
    pub(super) has_reported: bool,
    pub(super) reserve: DiskReserve,
    pub(super) stage: ReserveStage,
    pub(super) packing: PayloadPacker,
    watch: ClockStepWatch,
    /// The buffer of a block, reused.
    block: Vec<u8>,
}

#[derive(Debug)]
pub(super) enum WriterTarget {
    /// Not opened yet.
    None,
    Open(ProcessFileHandle),
    /// Could not be opened.
    Failed,
    /// Complete, or no longer writable: records in slots stay there.
    Ended,
}

impl BlockWriter {
    const fn new_closed() -> Self {
        Self {
            file: WriterTarget::None,
            length: 0,
            sequence: 0,
            schemas: 0,
            strings: 0,
            sites: 0,
            records: 0,
            latest_timestamp: 0,
            live_file_remains: false,
            has_reported: false,
            reserve: DiskReserve::new(false),
            stage: ReserveStage::Records,
            packing: PayloadPacker::new(),
            watch: ClockStepWatch::new(),
            block: Vec::new(),
        }
    }

    /// Resets the writer in a forked child, because the file belongs to the parent.
    pub(crate) fn reset_in_child(&mut self) {
        *self = Self::new_closed();
    }

    /// Length of the file up to its last whole block.
    pub(crate) const fn file_bytes(&self) -> u64 {
        self.length
    }

    pub(crate) const fn records_written(&self) -> u64 {
        self.records
    }

    /// Writes all full slots. If threads fill slots faster, writes as many as wait at the start.
    pub(crate) fn write_full(&mut self) {
        let waiting = STATE.lock().full_slots.len();
        for _ in 0..waiting.max(1) {
            if !self.write_next() {
                return;
            }
        }
    }

    /// Writes the oldest full slot. Returns false if there is none.
    pub(crate) fn write_next(&mut self) -> bool {
        if matches!(self.file, WriterTarget::Ended) && !fault_injection::is_injected("slots are taken after the end") {
            // The writer thread came too late. A live file that remains contains these slots.
            return false;
        }
        self.ensure_open();
        let mut state = STATE.lock();
        let Some(slot) = state.full_slots.pop_front() else {
            drop(state);
            self.remove_exited_streams();
            return false;
        };
        // If more than half of the slots wait, speed matters more than size.
        let hurry = state.full_slots.len() > state.pool.slots() / 2;
        let mapped = state.live.is_some();
        let mut pending = state.entry(stream_of(slot)).and_then(|entry| entry.pending_of(slot));
        drop(state);
        let effort = if hurry { CompressionEffort::Fastest } else { CompressionEffort::Records };
        while let Some(piece) = SealedBlock::of_sealed(slot, pending) {
            if !fault_injection::is_injected("full slots are discarded")
                && self.write_after_drop_reports(&piece, effort).is_err()
            {
                if mapped && self.is_open() {
                    // The records are safe in the live file. They stay there until the file can
                    // take them, or for ever.
                    STATE.lock().full_slots.push_front(slot);
                    self.live_file_remains = true;
                    return false;
                }
                self.give_up(&piece);
            }
            let mut state = STATE.lock();
            piece.commit(slot);
            if let Some(entry) = state.entry(piece.stream).filter(|_| pending.is_some()) {
                entry.pending_block = None;
            }
            pending = None;
        }
        let stream = stream_of(slot);
        pool::make_ready(slot);
        let mut state = STATE.lock();
        state.pool.give_back(slot);
        if let Some(entry) = state.entry(stream) {
            // In a child that was forked meanwhile, this is another entry, without waiting slots.
            entry.waiting_slots = entry.waiting_slots.saturating_sub(1);
        }
        true
    }

    /// Reads the clocks, about ten times per second.
    /// If a clock was set since the last reading, writes both readings.
    pub(crate) fn read_clocks(&mut self) {
        let now = local_clock::anchor();
        live_file::store_clock_reading(now.ticks);
        if matches!(self.file, WriterTarget::Open(_))
            && let Err(error) = self.add_reading(&now, false)
        {
            self.report_once(&format!("cannot write the trace: {error}"));
        }
    }

    /// Writes samples of the clocks of this process and of a peer.
    /// The anchor after them is the nearest one.
    pub(crate) fn write_samples(&mut self, samples: &[SyncSample]) {
        let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return };
        if !STATE.lock().is_recording() || !self.ensure_open() {
            return;
        }
        let payload: Vec<u8> = samples.iter().flat_map(SyncSample::encode).collect();
        let written = self.process_block(BlockKind::Sync, samples.len() as u32, &payload, (first.t1, last.t4));
        if let Err(error) = written.and_then(|()| self.anchor(&local_clock::anchor())) {
            self.report_once(&format!("cannot write the trace: {error}"));
        }
    }

    pub(super) fn write_piece(&mut self, piece: &SealedBlock, effort: CompressionEffort) -> io::Result<()> {
        let written = if self.ensure_open() {
            self.try_piece(piece, effort)
        } else {
            Err(io::Error::other("its file could not be created"))
        };
        let written = if fault_injection::is_injected("write errors are ignored") { Ok(()) } else { written };
        match &written {
            Ok(()) => {
                self.records += u64::from(piece.records);
                self.latest_timestamp = self.latest_timestamp.max(piece.last);
            }
            Err(error) => self.report_once(&format!("cannot write the trace: {error}")),
        }
        written
    }

    /// Counts the records of a piece that could not be written as dropped.
    pub(super) fn give_up(&mut self, piece: &SealedBlock) {
        if let Some(entry) = STATE.lock().entry(piece.stream) {
            let (count, mut bytes) = (u64::from(piece.records), piece.payload().len() as u64);
            if let Some(reported) = report_at_start(piece.payload()) {
                entry.stream.drops.undo_report(&reported);
                bytes -= DROP_REPORT_BYTES as u64;
            }
            entry.stream.count_dropped(count, bytes, (piece.first, piece.last), cause::WRITE_FAILED);
        }
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.file, WriterTarget::Open(_))
    }

    fn try_piece(&mut self, piece: &SealedBlock, effort: CompressionEffort) -> io::Result<()> {
        raise_test_signal("the file");
        let named = self.definitions();
        if self.stage == ReserveStage::Records {
            named?;
        }
        // At the end there may be no space for names. Reports of drops are written all the same,
        // because they need no names.
        let header = BlockHeader {
            kind: BlockKind::Records as u8,
            stream: piece.stream,
            records: piece.records,
            sequence: piece.sequence,
            dropped: piece.dropped,
            flags: piece.flags,
            first_ticks: piece.first,
            last_ticks: piece.last,
            ..BlockHeader::default()
        };
        self.append(header, piece.payload(), effort)
    }

    pub(super) fn anchor(&mut self, anchor: &ClockAnchor) -> io::Result<()> {
        self.add_reading(anchor, true)
    }

    /// Passes a reading of the clocks to the step detection.
    /// Writes it if `is_wanted` or if a clock was set.
    pub(super) fn add_reading(&mut self, now: &ClockAnchor, is_wanted: bool) -> io::Result<()> {
        self.watch.add_reading(*now, is_wanted).try_for_each(|anchor| {
            self.process_block(BlockKind::Anchors, 1, &anchor.encode(), (anchor.ticks, anchor.ticks))
        })
    }

    pub(super) fn process_block(
        &mut self,
        kind: BlockKind,
        entries: u32,
        payload: &[u8],
        ticks: (u64, u64),
    ) -> io::Result<()> {
        let header = BlockHeader {
            kind: kind as u8,
            stream: PROCESS_STREAM,
            records: entries,
            sequence: self.sequence,
            first_ticks: ticks.0,
            last_ticks: ticks.1,
            ..BlockHeader::default()
        };
        self.append(header, payload, CompressionEffort::Texts)?;
        self.sequence += 1;
        Ok(())
    }

    /// Appends a block by one write. If the write fails, cuts the file to its previous length.
    pub(super) fn append(
        &mut self,
        mut header: BlockHeader,
        payload: &[u8],
        effort: CompressionEffort,
    ) -> io::Result<()> {
        let WriterTarget::Open(file) = &mut self.file else { return Err(io::ErrorKind::NotConnected.into()) };
        let (codec, stored_bytes) = self.packing.pack(payload, effort);
        header.codec = codec as u8;
        header.raw_bytes = payload.len() as u32;
        header.stored_bytes = stored_bytes.len() as u32;
        self.block.clear();
        block::append_block(&mut self.block, &header, stored_bytes);
        self.reserve.grow(file.checked_file(self.length)?, self.length + self.block.len() as u64, self.stage)?;
        if let Err(error) = file.write(&self.block, self.length) {
            file.cut(self.length);
            self.reserve.note_truncation(self.length);
            return Err(error);
        }
        self.length += self.block.len() as u64;
        Ok(())
    }
}

pub(super) fn stream_of(slot: *const SlotHeader) -> u32 {
    // SAFETY: slots are never unmapped.
    unsafe { &*slot }.stream.load(Ordering::Relaxed)
}

/// Writes full slots in the calling thread, if the system provided no writer thread.
pub(crate) fn write_full_slots() {
    BLOCK_WRITER.lock().write_full();
}

/// Writes names to the file in the calling thread. Used if the live file has no space for them.
pub(crate) fn write_names() {
    let mut writer = BLOCK_WRITER.lock();
    if STATE.lock().is_recording() {
        writer.write_names();
    }
}
