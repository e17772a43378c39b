//! One process of a run: its file's index of blocks and its tables, and what is wrong with the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tracer_format::block::BlockHeader;
use tracer_format::entries::{Anchor, SyncSample};
use tracer_format::record::Lost;
use tracer_format::write::StreamTags;
use tracer_format::{ClockKind, FormatError, RecordType, Schema};

use super::error::ReadError;
use super::live::LiveError;
use super::read_at::read_at;
use tumit_paje::time::LocalTicks;

/// Live files that were moved, by the ids of their processes.
pub(crate) type Lives = BTreeMap<[u8; 16], PathBuf>;

/// The file of one process, as far as it is kept in memory: tables, and where its blocks of records are.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Process {
    /// The file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub file_bytes: u64,
    /// Random id of the process.
    pub id: [u8; 16],
    /// Id of the parent that was forked.
    pub parent_id: Option<[u8; 16]>,
    /// Process id, of the operating system, of its parent; `None` when unknown.
    pub parent_pid: Option<u64>,
    /// Host name; empty when unknown.
    pub host: String,
    /// Process id of the operating system.
    pub pid: u64,
    /// Rank in the job.
    pub rank: Option<u64>,
    /// Number of ranks in the job.
    pub ranks: Option<u64>,
    /// The clock that it read.
    pub clock_kind: Option<ClockKind>,
    /// Nominal ticks per second; 0 when unknown.
    pub clock_hz: u64,
    /// Processes of equal domain read one clock; empty when unknown.
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
    /// Id of the merged run. Processes with equal ids form one launch, whatever their launch ids are.
    pub merged_run: Option<[u8; 16]>,
    /// Interned strings by id; ids that no block gave are `None`.
    pub strings: Vec<Option<Box<str>>>,
    /// Source positions by id.
    pub sites: Vec<Option<(Box<str>, u32)>>,
    /// Specs that it records events of.
    pub providers: Vec<Provider>,
    /// Its streams, by number.
    pub streams: Vec<Stream>,
    /// Exchanges with other processes.
    pub sync: Vec<SyncSample>,
    /// Readings of several clocks together, by ticks.
    pub anchors: Vec<Anchor>,
    /// The process ended in order.
    pub ended: bool,
    /// Timestamp of the orderly end. `None` if the process was killed, or if its recorder is too
    /// old to write it.
    pub end: Option<LocalTicks>,
    /// Last known timestamp of a process without an orderly end, from its live file or, in a copy,
    /// from its file. See [`Self::last_known_ticks`].
    pub last_known: Option<LocalTicks>,
    /// Records with texts, bytes or arrays that the recorder truncated.
    pub truncated: u64,
    /// Records written and dropped, as it said at its end.
    pub totals: Option<(u64, u64)>,
    /// Records that have the date of the one before, as the clock went back; only a process that ended in order tells.
    pub repeated_dates: u64,
    /// How often its clock, a counter of 32 bits, began again at 0; the recorder has unwrapped it.
    pub clock_wraps: u64,
    /// Damage that the scan found.
    pub damage: Vec<Damage>,
    /// Pieces of the file between good blocks, and their bytes: a part of the damage.
    pub torn: (usize, u64),
    /// Its number in a sorted file, which holds several processes.
    pub part: Option<u32>,
    /// Missing blocks without records (names, specs, threads, clocks), found by gaps in the sequence
    /// numbers. In a sorted file they are counted with its first process, because their process is
    /// unknown.
    pub missing_blocks: u64,
    /// The next free sequence number of blocks without records, in the file.
    pub(crate) next_sequence: u64,
    /// A process block says which process it is.
    pub described: bool,
    /// What a repair of the file left out or filled in.
    pub repaired: Option<Repaired>,
    /// The live file beside its file that a process left although it ended in order.
    pub left_live: Option<PathBuf>,
    /// Where its live file is, when it is not beside its file.
    pub live_path: Option<PathBuf>,
    /// Where it keeps what is not in its file yet: 0 in private memory, 1 in its live file, 2 in private memory because the
    /// live file could not be made. Older recorders do not say.
    pub buffers: Option<u64>,
    /// What its live file gave; only of a process that did not end in order.
    pub live: Option<Live>,
    /// There is nothing of it but a live file, which is its `path` then.
    pub live_alone: bool,
    /// Where the payloads of live blocks are.
    pub(super) spool: Option<Arc<File>>,
    /// Provider and record type of each record id.
    pub(super) kinds: Vec<Option<(u32, u32)>>,
    /// The sizes of its records, by id; made when they are first asked for.
    pub(super) extents: OnceLock<Box<[Extent]>>,
}

/// How many bytes of a record follow its id and delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Always so many.
    Fixed(u32),
    /// Always so many, of which the first four are its source position.
    Located(u32),
    /// It depends, or the id is not known.
    Varies,
}

impl Extent {
    fn of(kind: &RecordType) -> Self {
        let fields = kind.fields.iter().try_fold(0, |sum: usize, field| sum.checked_add(field.ty.bytes()?));
        let bytes = fields.and_then(|bytes| u32::try_from(bytes + if kind.located { 4 } else { 0 }).ok());
        match bytes {
            Some(bytes) if kind.located => Self::Located(bytes),
            Some(bytes) => Self::Fixed(bytes),
            None => Self::Varies,
        }
    }
}

/// A spec whose events a process records, and its range of record ids.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Provider {
    /// Id of its first record type.
    pub base: u16,
    /// What its records look like.
    pub schema: Schema,
}

/// A stream: the records of one thread.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stream {
    /// Its number in the file.
    pub number: u32,
    /// Thread id of the operating system.
    pub tid: Option<u64>,
    /// Name of the thread; empty when it has none.
    pub name: String,
    /// What the program says that the thread's streams are; empty when it says nothing.
    pub label: String,
    /// It holds the records of signal handlers.
    pub signal: bool,
    /// Its records were overwritten by newer ones unless they were asked for in time.
    pub overwrites: bool,
    /// Timestamp of the end of its thread. `None` if the thread ran until the process ended, if it
    /// was killed, or if the recorder is too old to write it.
    pub end: Option<LocalTicks>,
    /// A stream block says which thread it is of.
    pub described: bool,
    /// Its blocks of records, by sequence number.
    pub blocks: Vec<BlockIndex>,
    /// Records that the recorder dropped.
    pub dropped: u64,
    /// Blocks whose sequence numbers are missing.
    pub missing_blocks: u64,
    /// Dropped, damaged or missing records. `None` for most streams: a run may have a million of them.
    pub(super) losses: Option<Box<StreamLosses>>,
    /// The highest sequence number of a damaged block that seems to be of this stream.
    pub(super) torn: Option<u64>,
    /// The identity of its thread within the process.
    pub(crate) thread: ThreadIdentity,
}

/// Dropped, damaged or missing records of a stream, as files report them.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamLosses {
    /// Dropped records that only the live file reports.
    pub(crate) unreported: Vec<Lost>,
    /// Damaged or missing records of the file from which this one was made.
    pub(crate) inherited: Vec<Lost>,
}

impl Stream {
    /// Dropped records that only the live file reports.
    pub(crate) fn unreported_losses(&self) -> &[Lost] {
        self.losses.as_ref().map_or(&[], |losses| &losses.unreported)
    }

    /// Damaged or missing records of the file from which this one was made.
    pub(crate) fn inherited_losses(&self) -> &[Lost] {
        self.losses.as_ref().map_or(&[], |losses| &losses.inherited)
    }

    /// The losses of the stream, to add some.
    pub(crate) fn losses_mut(&mut self) -> &mut StreamLosses {
        self.losses.get_or_insert_default()
    }

    /// What it says of itself.
    pub(crate) fn tags(&self) -> StreamTags<'_> {
        let Self { tid, name, label, signal, overwrites, end, .. } = self;
        let end = end.map(|end| end.0);
        StreamTags { tid: *tid, thread_name: name, label, signal: *signal, overwrites: *overwrites, end }
    }

    /// Whether a damaged block seems to have come behind all others. How many records it had, nobody knows.
    pub(crate) fn end_is_torn(&self) -> bool {
        self.blocks.last().is_some_and(|last| self.torn > Some(last.header.sequence))
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
    pub(crate) unnamed: Unnamed,
    /// The ordinal among the threads of the process that have the same name, in order of creation,
    /// from 1. 0 if no other thread has the name.
    pub(crate) ordinal: u32,
}

/// The name of a thread without a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unnamed {
    /// Its thread id.
    #[default]
    Tid,
    /// The main thread: its thread id is the process id.
    Main,
    /// The worker with this number.
    Worker(u32),
}

/// Where a block of records is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BlockIndex {
    /// First byte of its payload in the file, or in the copy of the live file.
    pub payload_offset: u64,
    /// Its header.
    pub header: BlockHeader,
    /// It is from the live file.
    pub live: bool,
}

/// What was used of a live file, and what could not be.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Live {
    /// The live file.
    pub path: PathBuf,
    /// It is the process's own.
    pub used: bool,
    /// Blocks that it gave.
    pub blocks: u64,
    /// Records in them.
    pub records: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// What could not be used.
    pub faults: Vec<LiveFault>,
    /// Records that its slots claim and that could not be read.
    pub lost_records: u64,
    /// Records that the process had dropped, as it counted them there.
    pub dropped: u64,
}

/// What `tumit repair` did to a file, as its end tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The process had not ended in order.
    pub unended: bool,
    /// And its live file was missing.
    pub without_live: bool,
    /// Damaged bytes that were left out.
    pub damaged_bytes: u64,
    /// Records that were taken from the live file.
    pub live_records: u64,
}

/// A part of a live file that could not be used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LiveFault {
    /// How long it is; 0 when nobody knows.
    pub bytes: u64,
    /// What is wrong.
    pub why: LiveError,
}

/// A piece of a file that could not be used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Damage {
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
    /// What is wrong.
    pub why: FormatError,
}

impl Process {
    /// The name of a file of its own: that of its file, with its number if that holds several processes.
    #[must_use]
    pub fn own_file_name(&self) -> PathBuf {
        let name = self.path.file_name().map(PathBuf::from).unwrap_or_default();
        let Some(part) = self.part else { return name };
        PathBuf::from(format!("{}-{part}.tmt", name.file_stem().unwrap_or_default().to_string_lossy()))
    }

    /// Reads the stored payload of a block from the process's file, or from the copy of its live file. Fills as much of
    /// `stored` as there is, and returns how much that is.
    pub(crate) fn read_stored(
        &self,
        file: &File,
        block: &BlockIndex,
        stored: &mut Vec<u8>,
    ) -> Result<usize, ReadError> {
        let from = self.spool.as_deref().filter(|_| block.live).unwrap_or(file);
        stored.resize(block.header.stored_bytes as usize, 0);
        read_at(from, stored, block.payload_offset).map_err(|source| ReadError {
            file: self.path.clone(),
            offset: block.payload_offset,
            source,
        })
    }

    /// The record type with this id in the file.
    #[must_use]
    pub fn record_type(&self, id: u16) -> Option<&RecordType> {
        let (provider, record) = self.kind(id)?;
        self.providers[provider].schema.records.get(record)
    }

    /// By record id, how many bytes follow id and delta. Ids beyond are unknown.
    pub(super) fn extents(&self) -> &[Extent] {
        self.extents.get_or_init(|| {
            let ids = 0..u16::try_from(self.kinds.len()).unwrap_or(u16::MAX);
            ids.map(|id| self.record_type(id).map_or(Extent::Varies, Extent::of)).collect()
        })
    }

    /// Positions of the provider, and of the record type in its schema, that this record id stands for.
    #[must_use]
    pub fn kind(&self, id: u16) -> Option<(usize, usize)> {
        let (provider, record) = (*self.kinds.get(usize::from(id))?)?;
        Some((provider as usize, record as usize))
    }

    /// Timestamp of the orderly end. Without one, the latest of the records and of the readings of
    /// the clock, in local ticks. `None` if there are neither. O(readings + streams).
    #[must_use]
    pub fn last_known_ticks(&self) -> Option<u64> {
        let readings = || self.anchors.iter().map(|anchor| anchor.ticks).max();
        let told = self.end.or(self.last_known).map(|ticks| ticks.0).or_else(readings);
        let records = self.streams.iter().filter_map(|stream| stream.blocks.last());
        records.map(|block| block.header.last_ticks).chain(told).max()
    }

    /// Bytes of the file that belong to no good block.
    #[must_use]
    pub fn damaged_bytes(&self) -> u64 {
        self.damage.iter().map(|damage| damage.bytes).sum()
    }

    /// Records that the process said at its end it had written, and that are in no good block of the file.
    #[must_use]
    pub fn missing_records(&self) -> u64 {
        let there = self.streams.iter().fold(0, |sum: u64, stream| sum.saturating_add(stream.records()));
        self.totals.map_or(0, |(written, _)| written.saturating_sub(there))
    }

    /// Whether it did not end in order, and kept records in private memory, or in a live file that is missing: what was there is not in its file, and nobody can count it.
    #[must_use]
    pub fn has_lost_buffers(&self) -> bool {
        let unended = !self.ended || self.repaired.is_some_and(|repaired| repaired.unended);
        match self.buffers {
            Some(0 | 2) => unended,
            Some(1) => self.repaired.map_or(!self.ended && self.live.is_none(), |repaired| repaired.without_live),
            _ => false,
        }
    }

    /// Records that the recorder dropped: as the streams say, or the process at its end.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        let streams = self.streams.iter().fold(0, |sum: u64, stream| sum.saturating_add(stream.dropped));
        let live = self.live.as_ref().map_or(0, |live| live.dropped);
        streams.max(live).max(self.totals.map_or(0, |(_, dropped)| dropped))
    }
}

impl Stream {
    /// Records in its good blocks, as their headers say.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.header.records)).sum()
    }

    /// Size of its good blocks in the file.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.blocks.iter().filter(|block| !block.live).map(|block| block.header.block_bytes() as u64).sum()
    }
}
