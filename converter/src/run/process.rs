//! One process of a run: the index of blocks and the tables of its file, and the damage of the
//! file.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tracer_format::block::BlockHeader;
use tracer_format::entries::{ClockAnchor, SyncSample};
use tracer_format::record::DroppedRecords;
use tracer_format::record_values::RecordedSite;
use tracer_format::write::StreamTags;
use tracer_format::{ClockKind, FormatError, RecordType, Schema};

use super::error::RunReadError;
use super::live_snapshot::LiveFault;
use super::read_at::read_at;
use tumit_paje::time::LocalTicks;

/// Live files that were moved, by the ids of their processes.
pub(crate) type MovedLiveFiles = BTreeMap<[u8; 16], PathBuf>;

/// The file of one process: its tables and the index of its record blocks.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ProcessInRun {
    /// The file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub file_bytes: u64,
    /// Random id of the process.
    pub id: [u8; 16],
    /// Id of the parent that was forked.
    pub parent_id: Option<[u8; 16]>,
    /// Process id of its parent in the operating system. `None` if unknown.
    pub parent_pid: Option<u64>,
    /// Host name. Empty if unknown.
    pub host: String,
    /// Process id of the operating system.
    pub pid: u64,
    /// Rank in the job.
    pub rank: Option<u64>,
    /// Number of ranks in the job.
    pub ranks: Option<u64>,
    /// The kind of clock that it reads.
    pub clock_kind: Option<ClockKind>,
    /// Nominal ticks per second. 0 if unknown.
    pub clock_hz: u64,
    /// The clock domain. Processes with equal domains read one clock. Empty if unknown.
    pub clock_domain: String,
    /// Command line.
    pub command: String,
    /// The recorder.
    pub writer: String,
    /// Job id.
    pub job: String,
    /// Launch id: processes with equal ids were launched together. Empty if the recorder is too old
    /// to write it.
    pub launch: String,
    /// Id of the merged run. Processes with equal ids form one launch, independent of their launch
    /// ids.
    pub merged_run: Option<[u8; 16]>,
    /// Interned strings by id. `None` for ids that no block defines.
    pub strings: Vec<Option<Box<str>>>,
    /// Source positions by id.
    pub sites: Vec<Option<RecordedSite>>,
    /// The specs of its events.
    pub providers: Vec<ProviderInRun>,
    /// Its streams, by number.
    pub streams: Vec<StreamInRun>,
    /// Exchanges with other processes.
    pub sync: Vec<SyncSample>,
    /// Readings of several clocks together, by ticks.
    pub anchors: Vec<ClockAnchor>,
    /// Whether the process ended in order.
    pub has_ended: bool,
    /// Timestamp of the orderly end. `None` if the process was killed, or if its recorder is too
    /// old to write it.
    pub end: Option<LocalTicks>,
    /// Last known timestamp of a process without an orderly end, from its live file or, in a copy,
    /// from its file.
    pub last_known: Option<LocalTicks>,
    /// Records with texts, bytes or arrays that the recorder truncated.
    pub truncated_records: u64,
    /// Numbers of written and dropped records in its end block.
    pub totals: Option<RecordTotals>,
    /// Number of records with the timestamp of their predecessor, because the clock went back.
    /// Known only for a process that ended in order.
    pub repeated_timestamps: u64,
    /// How often its 32-bit clock counter wrapped to 0. The recorder has unwrapped the timestamps.
    pub clock_wraps: u64,
    /// Damage that the scan found.
    pub damage: Vec<DamagedRange>,
    /// The damaged ranges between valid blocks. They are a part of `damage`.
    pub torn_ranges: TornRanges,
    /// Its number in a sorted file, which contains several processes.
    pub part: Option<u32>,
    /// Number of missing blocks without records (names, specs, threads, clocks), by gaps in the
    /// sequence numbers. In a sorted file they are counted with the first process, because their
    /// process is unknown.
    pub missing_blocks: u64,
    /// The next free sequence number of blocks without records, in the file.
    pub(crate) next_sequence: u64,
    /// Whether the file has a process block.
    pub has_description: bool,
    /// The changes of a repair. `None` if the file was not repaired.
    pub repair: Option<RepairSummary>,
    /// A live file that remains although the process ended in order.
    pub left_live: Option<PathBuf>,
    /// The path of its live file, if it is not in the folder of the process file.
    pub live_path: Option<PathBuf>,
    /// The place of data that are not in the file yet: 0 private memory, 1 live file, 2 private
    /// memory because the live file could not be created. `None` for older recorders.
    pub buffers: Option<u64>,
    /// The use of its live file. Set only if the process did not end in order.
    pub live: Option<LiveFileUse>,
    /// Whether only a live file exists. `path` is then the live file.
    pub live_alone: bool,
    /// The file with the payloads of live blocks.
    pub(super) spool: Option<Arc<File>>,
    /// Provider and record type of each record id.
    pub(super) kinds: Vec<Option<RecordTypePosition>>,
    /// The sizes of its records, by id. Computed at the first use.
    pub(super) extents: OnceLock<Box<[RecordExtent]>>,
}

/// Numbers of records of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordTotals {
    /// Records in the file.
    pub written_records: u64,
    /// Records that the recorder dropped.
    pub dropped: u64,
}

/// Number and size of damaged ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TornRanges {
    /// Number of ranges.
    pub count: usize,
    /// Their total size.
    pub bytes: u64,
}

/// The position of a record type in the tables of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordTypePosition {
    pub(crate) provider: usize,
    /// The index in the schema of the provider.
    pub(crate) record: usize,
}

/// The number of bytes of a record after its id and delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordExtent {
    /// Always this number.
    Fixed(u32),
    /// Always this number. The first four bytes are the source position.
    Located(u32),
    /// Variable, or the id is unknown.
    Varies,
}

impl RecordExtent {
    fn of(kind: &RecordType) -> Self {
        let fields = kind.fields.iter().try_fold(0, |sum: usize, field| sum.checked_add(field.ty.bytes()?));
        let bytes = fields.and_then(|bytes| u32::try_from(bytes + if kind.has_location { 4 } else { 0 }).ok());
        match bytes {
            Some(bytes) if kind.has_location => Self::Located(bytes),
            Some(bytes) => Self::Fixed(bytes),
            None => Self::Varies,
        }
    }
}

/// A spec of a process, and its range of record ids.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProviderInRun {
    /// Id of its first record type.
    pub base: u16,
    /// The layouts of its records.
    pub schema: Schema,
}

/// A stream: the records of one thread.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StreamInRun {
    /// Its number in the file.
    pub number: u32,
    /// Thread id of the operating system.
    pub tid: Option<u64>,
    /// Name of the thread. Empty if it has none.
    pub name: String,
    /// The label that the program gives to the thread's streams. Empty if it gives none.
    pub label: String,
    /// Whether it contains the records of signal handlers.
    pub signal: bool,
    /// Whether newer records overwrite its records unless the program writes them out in time.
    pub overwrites: bool,
    /// Timestamp of the end of its thread. `None` if the thread ran until the process ended, if it
    /// was killed, or if the recorder is too old to write it.
    pub end: Option<LocalTicks>,
    /// Whether the file has a block that describes the thread of the stream.
    pub has_description: bool,
    /// Its blocks of records, by sequence number.
    pub blocks: Vec<BlockIndex>,
    /// Records that the recorder dropped.
    pub dropped: u64,
    /// Number of blocks missing from the sequence.
    pub missing_blocks: u64,
    /// Dropped, damaged or missing records. `None` for most streams, because a run may have a
    /// million of them.
    pub(super) losses: Option<Box<StreamLosses>>,
    /// The highest sequence number of a damaged block that seems to be of this stream.
    pub(super) torn_offset: Option<u64>,
    /// The identity of its thread within the process.
    pub(crate) thread: ThreadIdentity,
}

/// Dropped, damaged or missing records of a stream, as files report them.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamLosses {
    /// Dropped records that only the live file reports.
    pub(crate) unreported: Vec<DroppedRecords>,
    /// Damaged or missing records of the file from which this one was made.
    pub(crate) inherited: Vec<DroppedRecords>,
}

impl StreamInRun {
    /// Dropped records that only the live file reports.
    pub(crate) fn unreported_losses(&self) -> &[DroppedRecords] {
        self.losses.as_ref().map_or(&[], |losses| &losses.unreported)
    }

    /// Damaged or missing records of the file from which this one was made.
    pub(crate) fn inherited_losses(&self) -> &[DroppedRecords] {
        self.losses.as_ref().map_or(&[], |losses| &losses.inherited)
    }

    /// The losses of the stream, to add some.
    pub(crate) fn losses_mut(&mut self) -> &mut StreamLosses {
        self.losses.get_or_insert_default()
    }

    /// Its description, as written to files.
    pub(crate) fn tags(&self) -> StreamTags<'_> {
        let Self { tid, name, label, signal, overwrites, end, .. } = self;
        let end = end.map(|end| end.0);
        StreamTags { tid: *tid, thread_name: name, label, signal: *signal, overwrites: *overwrites, end }
    }

    /// Whether a damaged block seems to follow all others. Its number of records is unknown.
    pub(crate) fn end_is_torn(&self) -> bool {
        self.blocks.last().is_some_and(|last| self.torn_offset > Some(last.header.sequence))
    }
}

/// Distinguishes the thread of a stream from other threads of its process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadIdentity {
    /// Number of the thread in its process, in order of creation.
    pub(crate) number: u32,
    /// How many earlier threads of the process had the same thread id.
    pub(crate) reuse: u32,
    /// The name that is shown if the thread has none.
    pub(crate) default_name: ThreadName,
    /// The ordinal among the threads of the process that have the same name, in order of creation,
    /// from 1. 0 if no other thread has the name.
    pub(crate) ordinal: u32,
}

/// The name of a thread without a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ThreadName {
    /// Its thread id.
    #[default]
    Tid,
    /// The main thread: its thread id is the process id.
    Main,
    /// The worker with this number.
    Worker(u32),
}

/// The position of a block of records.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BlockIndex {
    /// Offset of its payload in the file, or in the copy of the live file.
    pub payload_offset: u64,
    /// The decoded header, so that the block need not be read for it.
    pub header: BlockHeader,
    /// Whether it is from the live file.
    pub live: bool,
}

/// The used and unusable parts of a live file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LiveFileUse {
    /// The live file.
    pub path: PathBuf,
    /// Whether it belongs to the process.
    pub is_used: bool,
    /// Number of blocks used.
    pub blocks: u64,
    /// Number of records in these blocks.
    pub records: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// The unusable parts.
    pub faults: Vec<LiveFault>,
    /// Number of records in its slots that could not be read.
    pub unreadable_records: u64,
    /// Number of records dropped by the process, by the counters in the file.
    pub dropped: u64,
}

/// The changes of `tumit repair`, from the end block of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairSummary {
    /// Whether the process had not ended in order.
    pub has_no_end: bool,
    /// Whether its live file was missing, too.
    pub without_live: bool,
    /// Number of damaged bytes that were left out.
    pub damaged_bytes: u64,
    /// Number of records that were taken from the live file.
    pub live_records: u64,
}

/// A damaged range of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DamagedRange {
    /// Its offset in bytes.
    pub offset: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The reason why its bytes cannot be read.
    pub reason: FormatError,
}

impl ProcessInRun {
    /// The name for a separate file of this process: the name of its file, with its number if the
    /// file contains several processes.
    pub(crate) fn own_file_name(&self) -> PathBuf {
        let name = self.path.file_name().map(PathBuf::from).unwrap_or_default();
        let Some(part) = self.part else { return name };
        PathBuf::from(format!("{}-{part}.tmt", name.file_stem().unwrap_or_default().to_string_lossy()))
    }

    /// Reads the stored payload of a block from the process's file, or from the copy of its live
    /// file. Fills `buffer` with the available bytes, and returns their number.
    pub(crate) fn read_stored(
        &self,
        file: &File,
        block: &BlockIndex,
        buffer: &mut Vec<u8>,
    ) -> Result<usize, RunReadError> {
        let from = self.spool.as_deref().filter(|_| block.live).unwrap_or(file);
        buffer.resize(block.header.stored_bytes as usize, 0);
        read_at(from, buffer, block.payload_offset).map_err(|source| RunReadError {
            file: self.path.clone(),
            offset: block.payload_offset,
            source,
        })
    }

    /// The record type with this id in the file.
    #[must_use]
    pub fn record_type(&self, id: u16) -> Option<&RecordType> {
        let RecordTypePosition { provider, record } = self.kind(id)?;
        self.providers[provider].schema.records.get(record)
    }

    /// For each record id: the number of bytes after id and delta. Greater ids are unknown.
    pub(super) fn extents(&self) -> &[RecordExtent] {
        self.extents.get_or_init(|| {
            let ids = 0..u16::try_from(self.kinds.len()).unwrap_or(u16::MAX);
            ids.map(|id| self.record_type(id).map_or(RecordExtent::Varies, RecordExtent::of)).collect()
        })
    }

    /// The position of the record type with this id.
    pub(crate) fn kind(&self, id: u16) -> Option<RecordTypePosition> {
        *self.kinds.get(usize::from(id))?
    }

    /// Timestamp of the orderly end. Without one, the latest of the records and of the readings of
    /// the clock, in local ticks. `None` if there are neither. O(readings + streams).
    pub(crate) fn last_known_ticks(&self) -> Option<u64> {
        let readings = || self.anchors.iter().map(|anchor| anchor.ticks).max();
        let recorded = self.end.or(self.last_known).map(|ticks| ticks.0).or_else(readings);
        let records = self.streams.iter().filter_map(|stream| stream.blocks.last());
        records.map(|block| block.header.last_ticks).chain(recorded).max()
    }

    /// Number of bytes of the file that belong to no valid block.
    #[must_use]
    pub fn damaged_bytes(&self) -> u64 {
        self.damage.iter().map(|damage| damage.bytes).sum()
    }

    /// Number of records that the process wrote by its end block, but that are in no valid block of
    /// the file.
    #[must_use]
    pub fn missing_records(&self) -> u64 {
        let records = self.streams.iter().fold(0, |sum: u64, stream| sum.saturating_add(stream.records()));
        self.totals.map_or(0, |totals| totals.written_records.saturating_sub(records))
    }

    /// Whether records are missing with the buffers of a process that did not end in order. They
    /// were in private memory, or in a live file that is missing. Their number is unknown.
    #[must_use]
    pub fn has_missing_buffers(&self) -> bool {
        let unended = !self.has_ended || self.repair.is_some_and(|repaired| repaired.has_no_end);
        match self.buffers {
            Some(0 | 2) => unended,
            Some(1) => self.repair.map_or(!self.has_ended && self.live.is_none(), |repaired| repaired.without_live),
            _ => false,
        }
    }

    /// Number of records that the recorder dropped: the maximum of the counts in the streams, in
    /// the live file and in the end block.
    #[must_use]
    pub fn dropped_records(&self) -> u64 {
        let streams = self.streams.iter().fold(0, |sum: u64, stream| sum.saturating_add(stream.dropped));
        let live = self.live.as_ref().map_or(0, |live| live.dropped);
        streams.max(live).max(self.totals.map_or(0, |totals| totals.dropped))
    }
}

impl StreamInRun {
    /// Number of records in its valid blocks, by the headers of these.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.header.records)).sum()
    }

    /// Size of its valid blocks in the file, in bytes.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.blocks.iter().filter(|block| !block.live).map(|block| block.header.block_bytes() as u64).sum()
    }
}
