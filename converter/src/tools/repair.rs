//! Repair of a process file that is damaged, or that its process did not finish.
//!
//! Good blocks are copied unchanged. The blocks of the live file are added. The end block records
//! the repair.
//!
//! ```
//! # use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};
//! # let folder = tempfile::tempdir()?;
//! # let text = "trace heat; level APP { event step { n: u32 } }";
//! # let spec = tumit::compile_text("heat.tumit", text).0.expect("correct");
//! # let mut file = SyntheticFile::new(&SyntheticProcess::rank(0), &spec.schema());
//! # file.thread(0, 1, "main");
//! # let mut records = SyntheticRecords::default();
//! # records.record(0, 1_000, &5u32.to_le_bytes());
//! # records.record(0, 2_000, &6u32.to_le_bytes());
//! # file.records(0, 0, &records);
//! # file.end();
//! # file.save(folder.path(), "0.tmt");
//! # let path = folder.path();
//! use tumit_converter::run::OpenRun;
//! use tumit_converter::tools::repair::{self, FileRepair};
//!
//! let file = path.join("0.tmt");
//! let bytes = std::fs::read(&file)?;
//! std::fs::write(&file, &bytes[..bytes.len() - 8])?;
//! let run = OpenRun::open(path)?;
//! assert!(FileRepair::of(&run.processes[0]).is_some_and(|repair| repair.needs_rewrite()));
//! let mut repaired = Vec::new();
//! repair::write(&run.processes[0], &mut repaired)?;
//! std::fs::write(&file, repaired)?;
//! assert_eq!(FileRepair::of(&OpenRun::open(path)?.processes[0]), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use tracer_format::block::DecodedBlock;
use tracer_format::columns::{BlockPacker, RecordShape};
use tracer_format::record::DroppedRecords;
use tracer_format::tags::{append_integer, tag};
use tracer_format::{
    BLOCK_ALIGN, BlockHeader, BlockKind, HEADER_BYTES, ID_DROPPED, ID_WIDE_TIMESTAMP, PREAMBLE_BYTES, PROCESS_STREAM,
    PayloadCodec, RECORD_HEAD_BYTES, cause, preamble, process_of_block,
};

use crate::run::{BlockIndex, LiveLogEntry, ProcessInRun, RunReadError, ScanItem, StreamInRun, missing_names, scan};

/// The actions of a repair of a process file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRepair {
    /// The file to write: the file of the process, or the missing file if there is only a live
    /// file.
    pub file: PathBuf,
    /// The process did not end in order.
    pub has_no_end: bool,
    /// The file ends early because the process was killed. If false, the file could not take all
    /// records, as on a full disk.
    pub is_killed: bool,
    /// Number of damaged pieces that are left out.
    pub damaged_pieces: usize,
    /// Size of the damaged pieces in bytes.
    pub damaged_bytes: u64,
    /// Number of blocks that are taken from the live file.
    pub live_blocks: u64,
    /// Number of records in these blocks.
    pub live_records: u64,
    /// The live file of the process, which is no longer needed after the repair.
    pub live: Option<PathBuf>,
    /// Some parts of the live file could not be used.
    pub live_is_damaged: bool,
    /// The expected path of a missing live file.
    pub live_is_missing: Option<PathBuf>,
}

/// Reasons for a failed repair.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// The file or its live file could not be read.
    #[error(transparent)]
    Read(#[from] RunReadError),
    /// The result could not be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

impl FileRepair {
    /// The necessary repair of this process's file. `None` when there is nothing to do.
    #[must_use]
    pub fn of(process: &ProcessInRun) -> Option<Self> {
        // A damaged sorted file is not repaired. It can be sorted again from its original run.
        if process.part.is_some() {
            return None;
        }
        let live = process.live.as_ref().filter(|live| live.is_used);
        let repair = Self {
            file: if process.live_alone { process.path.with_extension("tmt") } else { process.path.clone() },
            has_no_end: !process.has_ended,
            is_killed: !process.has_ended && process.end.is_none(),
            damaged_pieces: process.torn_ranges.count,
            damaged_bytes: process.torn_ranges.bytes,
            live_blocks: live.map_or(0, |live| live.blocks),
            live_records: live.map_or(0, |live| live.records),
            live: live.map(|live| live.path.clone()).or_else(|| process.left_live.clone()),
            live_is_damaged: live.is_some_and(|live| !live.faults.is_empty()),
            live_is_missing: (!process.has_ended && process.live.is_none()).then(|| missing_live(process)).flatten(),
        };
        (repair.has_no_end || repair.damaged_pieces > 0 || repair.live.is_some()).then_some(repair)
    }

    /// Whether the file has to be rewritten. If not, there is only a live file to remove.
    #[must_use]
    pub const fn needs_rewrite(&self) -> bool {
        self.has_no_end || self.damaged_pieces > 0
    }
}

/// The expected path of a missing live file.
fn missing_live(process: &ProcessInRun) -> Option<PathBuf> {
    let default = (process.buffers == Some(1)).then(|| process.path.with_extension("live"));
    process.live_path.clone().or(default)
}

/// Writes the repaired file of a process. Blocks with a correct checksum are copied unchanged, even
/// if their contents are unknown to this program.
///
/// # Errors
/// When the file cannot be read, or the result cannot be written.
pub fn write(process: &ProcessInRun, out: &mut dyn Write) -> Result<(), RepairError> {
    write_after(process, Vec::new(), out)
}

/// Writes the repaired file of a process, with these blocks before all others.
pub(crate) fn write_after(
    process: &ProcessInRun,
    first: Vec<LiveLogEntry>,
    out: &mut dyn Write,
) -> Result<(), RepairError> {
    let read_error = |source| RunReadError { file: process.path.clone(), offset: 0, source };
    let names = missing_names(process).map_err(read_error)?;
    // A file begins with the block that describes its process.
    let names = first.into_iter().chain(names);
    let (early, late): (Vec<LiveLogEntry>, Vec<LiveLogEntry>) =
        names.partition(|entry| entry.kind == BlockKind::Process);
    let mut writing =
        RepairWriter { out, process, sequence: 0, numbers: numbers(process), names_before: early.len() as u64 };
    writing.out.write_all(&preamble())?;
    for entry in &early {
        writing.name(entry)?;
    }
    if !process.live_alone {
        writing.copy()?;
    }
    for entry in &late {
        writing.name(entry)?;
    }
    writing.live_blocks()?;
    writing.write_missing_ends()?;
    writing.end()?;
    Ok(())
}

struct RepairWriter<'p, 'o> {
    out: &'o mut dyn Write,
    process: &'p ProcessInRun,
    /// Number of the next block without records.
    sequence: u64,
    /// New numbers of blocks of records. The key is the stream, whether the block is live, and its
    /// offset.
    numbers: BTreeMap<RepairedBlock, u64>,
    /// Number of blocks that were written before those of the file.
    names_before: u64,
}

impl RepairWriter<'_, '_> {
    /// Copies the good blocks of the file, except for its end.
    fn copy(&mut self) -> Result<(), RepairError> {
        let path = &self.process.path;
        let read_error = |source| RunReadError { file: path.clone(), offset: 0, source };
        let file = File::open(path).map_err(read_error)?;
        // The copy ends where the first read ended, because the process may still be writing.
        let length = file.metadata().map_err(read_error)?.len().min(self.process.file_bytes);
        let mut failure = None;
        scan(&file, length, &mut |item| {
            if let ScanItem::Block { offset, block } = item
                && failure.is_none()
            {
                failure = self.block(offset, &block).err();
            }
        })
        .map_err(|source| RunReadError { file: path.clone(), offset: PREAMBLE_BYTES as u64, source })?;
        if let Some(error) = failure {
            return Err(error.into());
        }
        Ok(())
    }

    fn block(&mut self, offset: u64, block: &DecodedBlock<'_>) -> io::Result<()> {
        let kind = BlockKind::from_number(block.header.kind);
        if kind == Some(BlockKind::End) {
            return Ok(());
        }
        let mut header = block.header;
        // Names that were written before the block have used up numbers.
        header.sequence =
            header.sequence.saturating_add(if kind == Some(BlockKind::Records) { 0 } else { self.names_before });
        if kind == Some(BlockKind::Records) {
            let payload_offset = offset + HEADER_BYTES as u64;
            if !is_kept(self.process, &header, payload_offset) {
                return Ok(());
            }
            let renumbered = self.numbers.get(&RepairedBlock { stream: header.stream, live: false, payload_offset });
            header.sequence = renumbered.copied().unwrap_or(header.sequence);
        } else {
            self.sequence = self.sequence.max(header.sequence.saturating_add(1));
        }
        self.put(&header, block.stored_body)
    }

    fn name(&mut self, entry: &LiveLogEntry) -> io::Result<()> {
        // A damaged file may contain a stream number with a process number, as in a sorted file.
        // This file is not sorted.
        let stream = match (entry.kind, process_of_block(entry.stream)) {
            (BlockKind::Stream, None) => entry.stream,
            (BlockKind::Stream, Some(_)) => return Ok(()),
            _ => PROCESS_STREAM,
        };
        self.write_raw(entry.kind, stream, entry.entries, &entry.payload)
    }

    fn write_raw(&mut self, kind: BlockKind, stream: u32, entries: u32, payload: &[u8]) -> io::Result<()> {
        let bytes = u32::try_from(payload.len()).map_err(io::Error::other)?;
        let header = BlockHeader {
            kind: kind as u8,
            stream,
            records: entries,
            sequence: self.sequence,
            raw_bytes: bytes,
            stored_bytes: bytes,
            ..BlockHeader::default()
        };
        self.sequence = self.sequence.saturating_add(1);
        self.put(&header, payload)
    }

    fn live_blocks(&mut self) -> Result<(), RepairError> {
        let Some(live) = &self.process.live else { return Ok(()) };
        // Live blocks are read from their copy in memory. The reader needs the file as an argument only.
        let read_error = |source| RunReadError { file: live.path.clone(), offset: 0, source };
        let file = File::open(&live.path).map_err(read_error)?;
        let mut stored_payload = Vec::new();
        let mut packer = packer(self.process);
        for stream in &self.process.streams {
            for block in stream.blocks.iter().filter(|block| block.live) {
                let filled = self.process.read_stored(&file, block, &mut stored_payload)?;
                let renumbered = self.numbers.get(&RepairedBlock::new(stream.number, block));
                let sequence = renumbered.copied().unwrap_or(block.header.sequence);
                let first_ticks = restart(block.header.first_ticks, &mut stored_payload[..filled]);
                let header = BlockHeader { sequence, first_ticks, ..block.header };
                match packer.pack(&stored_payload[..filled]) {
                    Some(packed) => {
                        let codec = PayloadCodec::Columns as u8;
                        let stored_bytes = u32::try_from(packed.len()).map_err(io::Error::other)?;
                        self.put(&BlockHeader { codec, stored_bytes, ..header }, packed)?;
                    }
                    None => self.put(&header, &stored_payload[..filled])?,
                }
            }
        }
        Ok(())
    }

    /// Adds the losses that no copied block reports: for streams with a last block that was left
    /// out, and losses that only the live file reports. Without them, the repaired file would hide
    /// these losses.
    fn write_missing_ends(&mut self) -> io::Result<()> {
        for stream in &self.process.streams {
            let last = stream.blocks.last();
            let header = last.map_or_else(BlockHeader::default, |last| last.header);
            let ticks = header.last_ticks;
            let torn =
                DroppedRecords { count: 0, bytes: 0, first_ticks: ticks, last_ticks: ticks, cause: cause::DAMAGED };
            let record = stream.end_is_torn().then_some(torn);
            let number = last.and_then(|last| self.numbers.get(&RepairedBlock::new(stream.number, last)));
            let mut sequence = last.map(|last| number.copied().unwrap_or(last.header.sequence));
            for record in record.iter().chain(stream.unreported_losses()) {
                sequence = Some(sequence.map_or(0, |sequence| sequence.saturating_add(1)));
                self.write_drop_report(
                    &BlockHeader { stream: stream.number, sequence: sequence.unwrap_or(0), ..header },
                    record,
                )?;
            }
        }
        Ok(())
    }

    /// Writes a block with a single `dropped` record. It follows a block with this header.
    fn write_drop_report(&mut self, header: &BlockHeader, record: &DroppedRecords) -> io::Result<()> {
        let payload = [&ID_DROPPED.to_le_bytes()[..], &[0; 4], &record.encode()].concat();
        let ticks = header.last_ticks.max(record.last_ticks);
        let header = BlockHeader {
            kind: BlockKind::Records as u8,
            codec: PayloadCodec::Raw as u8,
            flags: 0,
            records: 0,
            raw_bytes: payload.len() as u32,
            stored_bytes: payload.len() as u32,
            first_ticks: ticks,
            last_ticks: ticks,
            ..*header
        };
        self.put(&header, &payload)
    }

    fn end(&mut self) -> io::Result<()> {
        let process = self.process;
        let old_repair = process.repair.unwrap_or_default();
        let in_streams = || process.streams.iter().map(StreamInRun::records).sum();
        let written_records = process.totals.map_or_else(in_streams, |totals| totals.written_records);
        let live = process.live.as_ref().map_or(0, |live| live.records);
        let without_live = process.buffers == Some(1) && process.has_missing_buffers();
        let is_killed = !process.has_ended && process.end.is_none();
        let state = if without_live { 2 } else { u64::from(is_killed || old_repair.has_no_end) };
        let mut tags = Vec::new();
        append_integer(&mut tags, tag::RECORDS_WRITTEN, written_records);
        append_integer(&mut tags, tag::RECORDS_DROPPED, process.dropped_records());
        if process.repeated_timestamps > 0 {
            append_integer(&mut tags, tag::REPEATED_TIMESTAMPS, process.repeated_timestamps);
        }
        if process.clock_wraps > 0 {
            append_integer(&mut tags, tag::CLOCK_WRAPS, process.clock_wraps);
        }
        if let Some(end) = process.end {
            append_integer(&mut tags, tag::PROCESS_END, end.0);
        } else if let Some(ticks) = process.last_known_ticks() {
            append_integer(&mut tags, tag::LAST_KNOWN, ticks);
        }
        if process.truncated_records > 0 {
            append_integer(&mut tags, tag::RECORDS_TRUNCATED, process.truncated_records);
        }
        append_integer(&mut tags, tag::REPAIRED, state);
        append_integer(
            &mut tags,
            tag::REPAIRED_DAMAGE,
            process.torn_ranges.bytes.saturating_add(old_repair.damaged_bytes),
        );
        append_integer(&mut tags, tag::REPAIRED_RECORDS, live.saturating_add(old_repair.live_records));
        self.write_raw(BlockKind::End, PROCESS_STREAM, 1, &tags)?;
        self.out.flush()
    }

    fn put(&mut self, header: &BlockHeader, body: &[u8]) -> io::Result<()> {
        self.out.write_all(&header.encode(body))?;
        self.out.write_all(body)?;
        let padding = header.block_bytes() - HEADER_BYTES - body.len();
        self.out.write_all(&[0; BLOCK_ALIGN][..padding])
    }
}

/// Makes the first timestamp of a block that of its first record, and the delta of this record 0.
/// In a live file, the delta may count from a record of another block. Returns the timestamp in
/// ticks.
fn restart(first: u64, payload: &mut [u8]) -> u64 {
    let Some((&mut [low, high, ref mut delta @ ..], remaining_payload)) =
        payload.split_first_chunk_mut::<RECORD_HEAD_BYTES>()
    else {
        return first;
    };
    if u16::from_le_bytes([low, high]) == ID_WIDE_TIMESTAMP {
        return remaining_payload.first_chunk().map_or(first, |timestamp| u64::from_le_bytes(*timestamp));
    }
    first.saturating_add(u32::from_le_bytes(std::mem::take(delta)).into())
}

/// Whether this block of records is used. Several blocks may have its number.
fn is_kept(process: &ProcessInRun, header: &BlockHeader, payload_offset: u64) -> bool {
    let index = process.streams.binary_search_by_key(&header.stream, |stream| stream.number);
    let Some(stream) = index.ok().and_then(|index| process.streams.get(index)) else { return false };
    let first = stream.blocks.partition_point(|block| block.header.sequence < header.sequence);
    let same = stream.blocks[first..].iter().take_while(|block| block.header.sequence == header.sequence);
    same.into_iter().any(|block| !block.live && block.payload_offset == payload_offset)
}

/// A block of the repaired file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RepairedBlock {
    stream: u32,
    /// Whether it comes from the live file.
    live: bool,
    payload_offset: u64,
}

impl RepairedBlock {
    const fn new(stream: u32, block: &BlockIndex) -> Self {
        Self { stream, live: block.live, payload_offset: block.payload_offset }
    }
}

/// New numbers of blocks, for two reasons.
///
/// - A number can occur twice, if a block of the live file continues a block of the file. The
///   numbers of the blocks after it increase.
/// - A number can be missing after a block of the live file. The process was killed while a part of
///   this block was being written, and the number of the next block already counts that part. The
///   numbers of the blocks after it decrease.
fn numbers(process: &ProcessInRun) -> BTreeMap<RepairedBlock, u64> {
    let mut numbers = BTreeMap::new();
    for stream in &process.streams {
        let (mut previous_block, mut down, mut up): (Option<&BlockIndex>, u64, u64) = (None, 0, 0);
        for block in &stream.blocks {
            let number = block.header.sequence;
            if let Some(previous_block) = previous_block {
                up += u64::from(previous_block.header.sequence == number);
                if previous_block.live {
                    down += number.saturating_sub(previous_block.header.sequence.saturating_add(1));
                }
            }
            previous_block = Some(block);
            if down != up {
                let number = number.saturating_sub(down).saturating_add(up);
                numbers.insert(RepairedBlock::new(stream.number, block), number);
            }
        }
    }
    numbers
}

/// A packer that knows the record types of a process.
fn packer(process: &ProcessInRun) -> BlockPacker {
    let mut packer = BlockPacker::default();
    for provider in &process.providers {
        for (id, kind) in (provider.base..).zip(&provider.schema.records) {
            if let Some(shape) = RecordShape::of(id, kind) {
                packer.add_type(shape);
            }
        }
    }
    packer
}
