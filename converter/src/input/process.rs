//! One process of a run: its file's index of blocks and its tables, and what is wrong with the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use tracer_format::block::{Block, BlockHeader};
use tracer_format::entries::{Anchor, SyncSample, anchors, sites, strings, sync_samples};
use tracer_format::tags::{Tags, integer, tag};
use tracer_format::{
    BlockKind, ClockKind, Codec, FIRST_RESERVED_ID, FormatError, PREAMBLE_BYTES, RecordType, Schema, check_preamble,
};

use super::ReadError;
use super::read_at::read_at;
use super::scan::{Found, scan};

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
    /// Records written and dropped, as it said at its end.
    pub totals: Option<(u64, u64)>,
    /// Damage that the scan found.
    pub damage: Vec<Damage>,
    /// Provider and record type of each record id.
    kinds: Vec<Option<(u32, u32)>>,
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
    /// It holds the records of signal handlers.
    pub signal: bool,
    /// Its blocks of records, by sequence number.
    pub blocks: Vec<BlockIndex>,
    /// Records that the recorder dropped.
    pub dropped: u64,
    /// Blocks whose sequence numbers are missing.
    pub missing_blocks: u64,
}

/// Where a block of records is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BlockIndex {
    /// First byte of its payload in the file.
    pub payload_offset: u64,
    /// Its header.
    pub header: BlockHeader,
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

/// Why a file is not part of a run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{}: {why}", file.display())]
    Format { file: PathBuf, why: FormatError },
}

impl Process {
    /// Scans a file and collects its tables.
    pub(crate) fn open(path: &Path) -> Result<Self, FileError> {
        let read_error = |offset| move |source| ReadError { file: path.to_path_buf(), offset, source };
        let file = File::open(path).map_err(read_error(0))?;
        let length = file.metadata().map_err(read_error(0))?.len();
        let mut head = [0; PREAMBLE_BYTES];
        let filled = read_at(&file, &mut head, 0).map_err(read_error(0))?;
        check_preamble(&head[..filled]).map_err(|why| FileError::Format { file: path.to_path_buf(), why })?;
        let mut building = Building::default();
        scan(&file, length, &mut |found| building.take(found)).map_err(read_error(PREAMBLE_BYTES as u64))?;
        Ok(building.finish(path, length))
    }

    /// The record type with this id in the file.
    #[must_use]
    pub fn record_type(&self, id: u16) -> Option<&RecordType> {
        let (provider, record) = self.kind(id)?;
        self.providers[provider].schema.records.get(record)
    }

    /// Positions of the provider, and of the record type in its schema, that this record id stands for.
    #[must_use]
    pub fn kind(&self, id: u16) -> Option<(usize, usize)> {
        let (provider, record) = (*self.kinds.get(usize::from(id))?)?;
        Some((provider as usize, record as usize))
    }

    /// Bytes of the file that belong to no good block.
    #[must_use]
    pub fn damaged_bytes(&self) -> u64 {
        self.damage.iter().map(|damage| damage.bytes).sum()
    }

    /// Records that the recorder dropped: as the streams say, or the process at its end.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        let streams: u64 = self.streams.iter().map(|stream| stream.dropped).sum();
        streams.max(self.totals.map_or(0, |(_, dropped)| dropped))
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
        self.blocks.iter().map(|block| block.header.block_bytes() as u64).sum()
    }
}

/// A process while its file is scanned: tables whose ids may come in any order.
#[derive(Default)]
struct Building {
    process: Process,
    strings: Vec<(u32, Box<str>)>,
    sites: Vec<(u32, (Box<str>, u32))>,
    streams: BTreeMap<u32, Stream>,
}

impl Building {
    fn take(&mut self, found: Found<'_>) {
        match found {
            Found::Damage { offset, bytes, why } => self.process.damage.push(Damage { offset, bytes, why }),
            Found::Block { offset, block } => {
                if let Err(why) = self.block(offset, &block) {
                    let bytes = block.header.block_bytes() as u64;
                    self.process.damage.push(Damage { offset, bytes, why });
                }
            }
        }
    }

    fn block(&mut self, offset: u64, block: &Block<'_>) -> Result<(), FormatError> {
        let Some(kind) = BlockKind::from_number(block.header.kind) else { return Ok(()) };
        if kind == BlockKind::Records {
            let payload_offset = offset + tracer_format::HEADER_BYTES as u64;
            let stream = self.streams.entry(block.header.stream).or_default();
            stream.blocks.push(BlockIndex { payload_offset, header: block.header });
            return Ok(());
        }
        let mut unpacked = Vec::new();
        let payload = unpack(&block.header, block.stored, &mut unpacked)?;
        match kind {
            BlockKind::Process => self.process_tags(payload),
            BlockKind::Schema => return self.schema(payload),
            BlockKind::Stream => self.stream_tags(block.header.stream, payload),
            BlockKind::Strings => self.strings.extend(strings(payload).map(|(id, text)| (id, text_of(text).into()))),
            BlockKind::Sites => {
                self.sites.extend(sites(payload).map(|(id, line, file)| (id, (text_of(file).into(), line))));
            }
            BlockKind::Sync => self.process.sync.extend(sync_samples(payload)),
            BlockKind::Anchors => self.process.anchors.extend(anchors(payload)),
            BlockKind::End => self.end_tags(payload),
            BlockKind::Records => {}
        }
        Ok(())
    }

    fn process_tags(&mut self, payload: &[u8]) {
        let process = &mut self.process;
        for (number, bytes) in Tags(payload) {
            match number {
                tag::PROCESS_ID => process.id = bytes.try_into().unwrap_or_default(),
                tag::PARENT_ID => process.parent_id = bytes.try_into().ok(),
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
                _ => {}
            }
        }
    }

    fn stream_tags(&mut self, number: u32, payload: &[u8]) {
        let stream = self.streams.entry(number).or_default();
        for (number, bytes) in Tags(payload) {
            match number {
                tag::TID => stream.tid = integer(bytes),
                tag::THREAD_NAME => stream.name = text_of(bytes),
                tag::SIGNAL_STREAM => stream.signal = integer(bytes) == Some(1),
                _ => {}
            }
        }
    }

    fn end_tags(&mut self, payload: &[u8]) {
        let (mut written, mut dropped) = (0, 0);
        for (number, bytes) in Tags(payload) {
            match number {
                tag::RECORDS_WRITTEN => written = integer(bytes).unwrap_or(0),
                tag::RECORDS_DROPPED => dropped = integer(bytes).unwrap_or(0),
                _ => {}
            }
        }
        self.process.ended = true;
        self.process.totals = Some((written, dropped));
    }

    fn schema(&mut self, payload: &[u8]) -> Result<(), FormatError> {
        let (Some(base), Some(count)) = (word(payload, 0), word(payload, 4)) else {
            return Err(FormatError::Truncated { needed: 8, found: payload.len() });
        };
        let schema = Schema::decode(&payload[8..])?;
        let end = u64::from(base) + u64::from(count);
        let fits = base >= 1 && end <= u64::from(FIRST_RESERVED_ID) && count as usize == schema.records.len();
        let Some(base) = u16::try_from(base).ok().filter(|_| fits) else {
            return Err(FormatError::BadSchema(format!("its record ids {base}..{end} are out of range")));
        };
        let provider = u32::try_from(self.process.providers.len()).unwrap_or(u32::MAX);
        let kinds = &mut self.process.kinds;
        kinds.resize(kinds.len().max(usize::from(base) + count as usize), None);
        for record in 0..count {
            kinds[usize::from(base) + record as usize].get_or_insert((provider, record));
        }
        self.process.providers.push(Provider { base, schema });
        Ok(())
    }

    fn finish(mut self, path: &Path, length: u64) -> Process {
        self.process.path = path.to_path_buf();
        self.process.file_bytes = length;
        self.process.strings = dense(self.strings);
        self.process.sites = dense(self.sites);
        self.process.anchors.sort_by_key(|anchor| anchor.ticks);
        self.process.streams = self.streams.into_iter().map(|(number, stream)| closed(number, stream)).collect();
        self.process
    }
}

/// Sorts a stream's blocks, drops those that are there twice, and counts what is missing.
fn closed(number: u32, mut stream: Stream) -> Stream {
    stream.number = number;
    stream.blocks.sort_by_key(|block| (block.header.sequence, block.payload_offset));
    stream.blocks.dedup_by_key(|block| block.header.sequence);
    let mut expected = 0u64;
    for block in &stream.blocks {
        stream.missing_blocks += block.header.sequence.saturating_sub(expected);
        expected = block.header.sequence.saturating_add(1);
        stream.dropped = stream.dropped.max(block.header.dropped);
    }
    stream
}

/// A table by id. Ids are given out densely, so that one far beyond the number of entries is not a real one.
fn dense<T>(entries: Vec<(u32, T)>) -> Vec<Option<T>> {
    let limit = entries.len() * 4 + 1024;
    let length = entries.iter().map(|(id, _)| *id as usize + 1).filter(|length| *length <= limit).max().unwrap_or(0);
    let mut table: Vec<Option<T>> = std::iter::repeat_with(|| None).take(length).collect();
    for (id, entry) in entries {
        if let Some(slot) = table.get_mut(id as usize) {
            *slot = Some(entry);
        }
    }
    table
}

/// The payload of a block, unpacked into `buffer` where it was packed.
pub(crate) fn unpack<'b>(
    header: &BlockHeader,
    stored: &'b [u8],
    buffer: &'b mut Vec<u8>,
) -> Result<&'b [u8], FormatError> {
    if header.codec == Codec::Raw as u8 {
        return Ok(stored);
    }
    if header.codec != Codec::Lz4 as u8 {
        return Err(FormatError::UnknownCodec(header.codec));
    }
    let size = header.raw_bytes as usize;
    buffer.clear();
    buffer.resize(size, 0);
    match lz4_flex::block::decompress_into(stored, buffer) {
        Ok(filled) if filled == size => Ok(buffer),
        Ok(filled) => Err(FormatError::Truncated { needed: size, found: filled }),
        Err(_) => Err(FormatError::BadSize { found: u64::from(header.stored_bytes) }),
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|chunk| u32::from_le_bytes(*chunk))
}
