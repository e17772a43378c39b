//! Builds a process while its file is scanned. The ids of tables may come in any order. Blocks may
//! occur twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracer_format::block::{DecodedBlock, flag, unpack};
use tracer_format::entries::{anchors, sites, strings, sync_samples};
use tracer_format::record::{DroppedRecords, RecordIterator};
use tracer_format::record_values::RecordedSite;
use tracer_format::tags::{TagIterator, integer, tag};
use tracer_format::{
    BlockHeader, BlockKind, ClockKind, FIRST_RESERVED_ID, FormatError, ID_DROPPED, Schema, process_of_block,
};

use super::file_scan::ScanItem;
use super::process::{
    BlockIndex, DamagedRange, ProcessInRun, ProviderInRun, RecordTotals, RecordTypePosition, RepairSummary, StreamInRun,
};
use super::stream_table::StreamTable;
use super::thread_identity::set_threads;
use tumit_paje::time::LocalTicks;

/// The number of a block of records.
struct BlockNumber {
    stream: u32,
    sequence: u64,
}

/// A process that is being built.
#[derive(Default)]
pub(super) struct ProcessBuilder {
    pub(super) process: ProcessInRun,
    /// The other processes of the file by number. `owners` contains the process of each stream.
    other_processes: BTreeMap<u32, ProcessBuilder>,
    owners: BTreeMap<u32, u32>,
    is_sorted: bool,
    pub(super) strings: Vec<(u32, Box<str>)>,
    pub(super) sites: Vec<(u32, RecordedSite)>,
    pub(super) streams: StreamTable,
    /// Sequence numbers of all valid blocks of the file, except blocks of records.
    numbers: Vec<u64>,
    /// The numbers in the heads of damaged blocks of records.
    torn_heads: Vec<BlockNumber>,
    /// The header of a truncated block at the end of the file.
    cut_off: Option<BlockHeader>,
}

impl ProcessBuilder {
    pub(super) fn add_item(&mut self, item: ScanItem<'_>) {
        match item {
            ScanItem::Damage { offset, bytes, reason, head } => {
                let records = head.filter(|head| BlockKind::from_number(head.kind) == Some(BlockKind::Records));
                self.torn_heads
                    .extend(records.map(|head| BlockNumber { stream: head.stream, sequence: head.sequence }));
                self.cut_off = head.filter(|_| matches!(reason, FormatError::Truncated { .. }));
                self.process.torn_ranges.count += 1;
                self.process.torn_ranges.bytes += bytes;
                self.process.damage.push(DamagedRange { offset, bytes, reason });
            }
            ScanItem::Block { offset, block } => {
                self.cut_off = None;
                if let Err(error) = self.block(offset, &block) {
                    let bytes = block.header.block_bytes() as u64;
                    self.process.damage.push(DamagedRange { offset, bytes, reason: error });
                }
            }
        }
    }

    /// Removes the damage of a block that is truncated at the end of the file, if the live file has
    /// its contents. The process was killed while it wrote this block.
    pub(super) fn remove_cut_off_damage(&mut self) {
        let Some(head) = self.cut_off.take() else { return };
        let kind = BlockKind::from_number(head.kind);
        let blocks = self.streams.get(head.stream).map(|stream| stream.blocks.as_slice()).unwrap_or_default();
        let is_there = match kind {
            Some(BlockKind::Records) => blocks.iter().any(|block| block.live && block.header.sequence == head.sequence),
            // The log contains all names.
            Some(BlockKind::Schema | BlockKind::Stream | BlockKind::Strings | BlockKind::Sites) => true,
            _ => false,
        };
        if let Some(damage) = self.process.damage.pop_if(|_| is_there) {
            self.process.torn_ranges.count -= 1;
            self.process.torn_ranges.bytes -= damage.bytes;
            if kind == Some(BlockKind::Records) {
                self.torn_heads.pop();
            }
        }
    }

    fn block(&mut self, offset: u64, block: &DecodedBlock<'_>) -> Result<(), FormatError> {
        let kind = BlockKind::from_number(block.header.kind);
        if kind != Some(BlockKind::Records) {
            self.numbers.push(block.header.sequence);
        }
        let Some(kind) = kind else { return Ok(()) };
        if kind == BlockKind::Records {
            let payload_offset = offset + tracer_format::HEADER_BYTES as u64;
            let stream = self.streams.get_or_create(block.header.stream);
            if stream.blocks.is_empty() {
                // Most streams of a run with many short threads have one block.
                stream.blocks.reserve_exact(1);
            }
            stream.blocks.push(BlockIndex { payload_offset, header: block.header, live: false });
            if let Some(record) = missed_before(block) {
                stream.losses_mut().inherited.push(record);
            }
            return Ok(());
        }
        let mut unpacked = Vec::new();
        let payload = unpack(&block.header, block.stored_body, &mut unpacked)?;
        match process_of_block(block.header.stream) {
            Some(number @ 1..) => {
                self.other_processes.entry(number).or_default().table(kind, block.header.stream, payload)
            }
            _ => self.table(kind, block.header.stream, payload),
        }
    }

    /// Adds the contents of a block without records.
    fn table(&mut self, kind: BlockKind, stream: u32, payload: &[u8]) -> Result<(), FormatError> {
        match kind {
            BlockKind::Process => self.process_tags(payload),
            BlockKind::Schema => return self.schema(payload),
            BlockKind::Stream => self.stream_tags(stream, payload),
            BlockKind::Strings => self.strings.extend(strings_of(payload)),
            BlockKind::Sites => self.sites.extend(sites_of(payload)),
            BlockKind::Sync => self.process.sync.extend(sync_samples(payload)),
            BlockKind::Anchors => self.process.anchors.extend(anchors(payload)),
            BlockKind::End => self.end_tags(payload),
            BlockKind::Records => {}
        }
        Ok(())
    }

    pub(super) fn process_tags(&mut self, payload: &[u8]) {
        let process = &mut self.process;
        process.has_description = true;
        for (number, bytes) in TagIterator(payload) {
            match number {
                tag::PROCESS_ID => process.id = bytes.try_into().unwrap_or_default(),
                tag::PARENT_ID => process.parent_id = bytes.try_into().ok(),
                tag::PARENT_PID => process.parent_pid = integer(bytes),
                tag::HOST => process.host = text_of(bytes),
                tag::PID => process.pid = integer(bytes).unwrap_or(0),
                tag::RANK => process.rank = integer(bytes),
                tag::RANKS => process.ranks = integer(bytes),
                tag::CLOCK_KIND => process.clock_kind = integer(bytes).and_then(ClockKind::from_number),
                tag::CLOCK_HZ => process.clock_hz = integer(bytes).unwrap_or(0),
                tag::CLOCK_DOMAIN => process.clock_domain = text_of(bytes),
                tag::COMMAND => process.command = text_of(bytes),
                tag::WRITER => process.writer = text_of(bytes),
                tag::JOB => process.job = text_of(bytes),
                tag::LAUNCH => process.launch = text_of(bytes),
                tag::MERGED_RUN => process.merged_run = process.merged_run.or(bytes.try_into().ok()),
                tag::LIVE_PATH => process.live_path = Some(PathBuf::from(text_of(bytes))),
                tag::BUFFERS => process.buffers = integer(bytes),
                tag::LAST_KNOWN => process.last_known = integer(bytes).map(LocalTicks),
                tag::SORTED => self.is_sorted = integer(bytes) == Some(1),
                _ => {}
            }
        }
    }

    pub(super) fn stream_tags(&mut self, of: u32, payload: &[u8]) {
        let stream = self.streams.get_or_create(of);
        stream.has_description = true;
        for (number, bytes) in TagIterator(payload) {
            match number {
                tag::TID => stream.tid = integer(bytes),
                tag::THREAD_NAME => stream.name = text_of(bytes),
                tag::STREAM_LABEL => stream.label = text_of(bytes),
                tag::THREAD_END => stream.end = integer(bytes).map(LocalTicks),
                tag::SIGNAL_STREAM => stream.signal = integer(bytes) == Some(1),
                tag::OVERWRITTEN => stream.overwrites = integer(bytes) == Some(1),
                tag::STREAM_PROCESS => {
                    let owner = integer(bytes).and_then(|owner| u32::try_from(owner).ok()).unwrap_or(u32::MAX);
                    self.owners.insert(of, owner);
                }
                _ => {}
            }
        }
    }

    fn end_tags(&mut self, payload: &[u8]) {
        let (mut written_records, mut dropped) = (0, 0);
        let mut repaired: Option<RepairSummary> = None;
        for (number, bytes) in TagIterator(payload) {
            match number {
                tag::RECORDS_WRITTEN => written_records = integer(bytes).unwrap_or(0),
                tag::REPEATED_TIMESTAMPS => self.process.repeated_timestamps = integer(bytes).unwrap_or(0),
                tag::CLOCK_WRAPS => self.process.clock_wraps = integer(bytes).unwrap_or(0),
                tag::LAST_KNOWN => self.process.last_known = integer(bytes).map(LocalTicks),
                tag::PROCESS_END => self.process.end = integer(bytes).map(LocalTicks),
                tag::RECORDS_TRUNCATED => self.process.truncated_records = integer(bytes).unwrap_or(0),
                tag::RECORDS_DROPPED => dropped = integer(bytes).unwrap_or(0),
                tag::REPAIRED => {
                    let (state, repaired) = (integer(bytes), repaired.get_or_insert_default());
                    repaired.has_no_end = matches!(state, Some(1 | 2));
                    repaired.without_live = state == Some(2);
                }
                tag::REPAIRED_DAMAGE => repaired.get_or_insert_default().damaged_bytes = integer(bytes).unwrap_or(0),
                tag::REPAIRED_RECORDS => repaired.get_or_insert_default().live_records = integer(bytes).unwrap_or(0),
                _ => {}
            }
        }
        self.process.has_ended = true;
        self.process.repair = repaired;
        self.process.totals = Some(RecordTotals { written_records, dropped });
    }

    pub(super) fn schema(&mut self, payload: &[u8]) -> Result<(), FormatError> {
        let (Some(base), Some(count)) = (word(payload, 0), word(payload, 4)) else {
            return Err(FormatError::Truncated { needed_bytes: 8, available_bytes: payload.len() });
        };
        let schema = Schema::decode(&payload[8..])?;
        let end = u64::from(base) + u64::from(count);
        let fits = base >= 1 && end <= u64::from(FIRST_RESERVED_ID) && count as usize == schema.records.len();
        let Some(base) = u16::try_from(base).ok().filter(|_| fits) else {
            return Err(FormatError::BadSchema(format!("its record ids {base}..{end} are out of range")));
        };
        if self.process.providers.iter().any(|other| other.base == base && other.schema == schema) {
            return Ok(());
        }
        let provider = self.process.providers.len();
        let kinds = &mut self.process.kinds;
        kinds.resize(kinds.len().max(usize::from(base) + count as usize), None);
        for record in 0..count as usize {
            kinds[usize::from(base) + record].get_or_insert(RecordTypePosition { provider, record });
        }
        self.process.providers.push(ProviderInRun { base, schema });
        Ok(())
    }

    /// The processes of the file: one, or all those of a sorted file.
    pub(super) fn finish_all(mut self, path: &Path, length: u64) -> Vec<ProcessInRun> {
        for BlockNumber { stream: number, sequence } in std::mem::take(&mut self.torn_heads) {
            // A head that is damaged itself nearly always names a stream that does not exist.
            if let Some(stream) = self.streams.get_mut(number) {
                stream.torn_offset = stream.torn_offset.max(Some(sequence));
            }
        }
        let mut other_processes = std::mem::take(&mut self.other_processes);
        if other_processes.is_empty() && !self.is_sorted {
            return vec![self.finish(path, length)];
        }
        for stream in std::mem::take(&mut self.streams).into_sorted() {
            let number = stream.number;
            let part = match self.owners.get(&number) {
                Some(0) => Some(&mut self),
                Some(owner) => other_processes.get_mut(owner),
                None => None,
            };
            match part {
                Some(part) => part.streams.put(stream),
                // The block with its owner is missing. The stream is left out, because it could be
                // given to the wrong process.
                None => self.process.damage.extend(stream.blocks.iter().map(|block| DamagedRange {
                    offset: block.payload_offset,
                    bytes: block.header.block_bytes() as u64,
                    reason: FormatError::NoOwner { stream: number },
                })),
            }
        }
        let parts = std::iter::once((0, self)).chain(other_processes);
        let parts = parts.map(|(number, part)| ProcessInRun { part: Some(number), ..part.finish(path, length) });
        parts.collect()
    }

    pub(super) fn finish(mut self, path: &Path, length: u64) -> ProcessInRun {
        self.process.path = path.to_path_buf();
        self.process.file_bytes = length;
        self.process.next_sequence = self.numbers.iter().max().map_or(0, |last| last.saturating_add(1));
        self.process.missing_blocks = gaps(self.numbers);
        self.process.strings = dense_table(self.strings);
        self.process.sites = dense_table(self.sites);
        self.process.anchors.sort_by_key(|anchor| anchor.ticks);
        self.process.streams = self.streams.into_sorted().into_iter().map(close_stream).collect();
        set_threads(&mut self.process);
        self.process
    }
}

/// Sorts the blocks of a stream, removes duplicates, and counts missing blocks. If a block of the
/// live file has the number of a block of the file, it contains further records of this block.
fn close_stream(mut stream: StreamInRun) -> StreamInRun {
    stream.blocks.sort_by_key(|block| (block.header.sequence, block.live, block.payload_offset));
    stream.blocks.dedup_by_key(|block| (block.header.sequence, block.live));
    let (mut expected, mut live) = (0u64, false);
    for block in &stream.blocks {
        // After a block of the live file the recorder may skip a number.
        let explained = live || block.header.flags & flag::OVERWRITTEN != 0;
        stream.missing_blocks += if explained { 0 } else { block.header.sequence.saturating_sub(expected) };
        live = block.live;
        expected = block.header.sequence.saturating_add(1);
        stream.dropped = stream.dropped.max(block.header.dropped);
    }
    stream
}

/// The missing records that a block reports before its records, if its file was made from another
/// file.
fn missed_before(block: &DecodedBlock<'_>) -> Option<DroppedRecords> {
    if block.header.flags & flag::MISSING == 0 {
        return None;
    }
    let mut unpacked = Vec::new();
    let payload = unpack(&block.header, block.stored_body, &mut unpacked).ok()?;
    let first = RecordIterator::new(payload, block.header.first_ticks, |_| None).next()?.ok()?;
    (first.id == ID_DROPPED).then(|| DroppedRecords::decode(first.body)).flatten()
}

/// The number of missing values between 0 and the largest of `numbers`.
fn gaps(mut numbers: Vec<u64>) -> u64 {
    numbers.sort_unstable();
    numbers.dedup();
    numbers.last().map_or(0, |last| last.saturating_add(1).saturating_sub(numbers.len() as u64))
}

/// A table indexed by id. Recorders assign dense ids. An id far beyond the number of entries is
/// therefore invalid and ignored.
fn dense_table<T>(entries: Vec<(u32, T)>) -> Vec<Option<T>> {
    let mut ids: Vec<u32> = entries.iter().map(|(id, _)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    let limit = ids.len() * 4 + 1024;
    let length = entries.iter().map(|(id, _)| *id as usize + 1).filter(|length| *length <= limit).max().unwrap_or(0);
    let mut table: Vec<Option<T>> = std::iter::repeat_with(|| None).take(length).collect();
    for (id, entry) in entries {
        if let Some(slot) = table.get_mut(id as usize) {
            *slot = Some(entry);
        }
    }
    table
}

pub(super) fn strings_of(payload: &[u8]) -> impl Iterator<Item = (u32, Box<str>)> + '_ {
    strings(payload).map(|entry| (entry.id, text_of(entry.text).into()))
}

pub(super) fn sites_of(payload: &[u8]) -> impl Iterator<Item = (u32, RecordedSite)> + '_ {
    sites(payload).map(|entry| (entry.id, RecordedSite { file: text_of(entry.file).into(), line: entry.line }))
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().map(|chunk| u32::from_le_bytes(*chunk))
}
