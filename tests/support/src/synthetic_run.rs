//! Writes runs with known contents, in the same way as recorders.

use std::path::Path;

use tracer_format::block::append_block;
use tracer_format::columns::{BlockPacker, RecordShape};
use tracer_format::entries::{ClockAnchor, SyncSample, append_string};
use tracer_format::schema::Schema;
use tracer_format::tags::{append_integer, append_tag, tag};
use tracer_format::{BlockHeader, BlockKind, ID_WIDE_TIMESTAMP, PROCESS_STREAM, PayloadCodec, preamble};

/// A process file that is being written.
#[derive(Debug)]
pub struct SyntheticFile {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The process id of the format.
    pub id: [u8; 16],
    sequence: u64,
    written: u64,
    strings: u32,
    /// Codec of blocks that it makes smaller.
    pub codec: PayloadCodec,
    packer: BlockPacker,
}

/// Properties of a process.
#[derive(Clone, Debug)]
pub struct SyntheticProcess {
    /// Number of the process on its host.
    pub pid: u64,
    /// MPI rank.
    pub rank: Option<u64>,
    /// Number of MPI ranks.
    pub ranks: Option<u64>,
    /// Name of the host.
    pub host: &'static str,
    /// Ticks per second of the clock.
    pub hz: u64,
    /// Name of the clock. Processes with the same name share a clock.
    pub domain: String,
}

impl SyntheticProcess {
    /// A process without a rank. All these processes share a clock of nanoseconds.
    #[must_use]
    pub fn new(pid: u64) -> Self {
        Self { pid, rank: None, ranks: None, host: "host", hz: 1_000_000_000, domain: "one".to_owned() }
    }

    /// A process with a rank and a separate clock.
    #[must_use]
    pub fn rank(rank: u64) -> Self {
        Self { rank: Some(rank), domain: format!("clock {rank}"), ..Self::new(100 + rank) }
    }
}

/// The process id of the format for a process with this number.
#[must_use]
pub fn process_id(pid: u64) -> [u8; 16] {
    let mut id = [7; 16];
    id[..8].copy_from_slice(&pid.to_le_bytes());
    id
}

/// The number by which sync samples of other processes name this process.
#[must_use]
pub fn peer(pid: u64) -> u64 {
    u64::from_le_bytes(*process_id(pid).first_chunk().unwrap())
}

impl SyntheticFile {
    /// A file with the blocks of the process and its schema.
    #[must_use]
    pub fn new(process: &SyntheticProcess, schema: &Schema) -> Self {
        Self::with_tags(process, schema, |_| {})
    }

    /// A file with additional fields in its process block.
    pub fn with_tags(process: &SyntheticProcess, schema: &Schema, more: impl FnOnce(&mut Vec<u8>)) -> Self {
        let id = process_id(process.pid);
        let mut packer = BlockPacker::default();
        for (id, kind) in (1..).zip(&schema.records) {
            packer.add_type(RecordShape::of(id, kind).unwrap());
        }
        let (bytes, codec) = (preamble().to_vec(), PayloadCodec::Raw);
        let mut file = Self { bytes, id, sequence: 0, written: 0, strings: 0, codec, packer };
        let mut tags = Vec::new();
        append_tag(&mut tags, tag::PROCESS_ID, &id);
        append_tag(&mut tags, tag::HOST, process.host.as_bytes());
        append_integer(&mut tags, tag::PID, process.pid);
        if let Some(rank) = process.rank {
            append_integer(&mut tags, tag::RANK, rank);
        }
        if let Some(ranks) = process.ranks {
            append_integer(&mut tags, tag::RANKS, ranks);
        }
        append_integer(&mut tags, tag::CLOCK_KIND, 5);
        append_integer(&mut tags, tag::CLOCK_HZ, process.hz);
        append_tag(&mut tags, tag::CLOCK_DOMAIN, process.domain.as_bytes());
        append_tag(&mut tags, tag::WRITER, b"test 1");
        more(&mut tags);
        file.process_block(BlockKind::Process, 1, &tags);
        let mut payload = Vec::new();
        payload.extend_from_slice(&1u32.to_le_bytes());
        payload.extend_from_slice(&u32::try_from(schema.records.len()).unwrap().to_le_bytes());
        payload.extend_from_slice(&schema.encode());
        file.process_block(BlockKind::Schema, 1, &payload);
        file
    }

    /// Appends a block of the whole process.
    pub fn process_block(&mut self, kind: BlockKind, entries: u32, payload: &[u8]) {
        let header = BlockHeader {
            kind: kind as u8,
            stream: PROCESS_STREAM,
            records: entries,
            sequence: self.sequence,
            ..BlockHeader::default()
        };
        self.sequence += 1;
        self.append(header, payload);
    }

    fn append(&mut self, header: BlockHeader, payload: &[u8]) {
        let packed = match self.codec {
            PayloadCodec::Raw => None,
            PayloadCodec::Lz4 => Some(lz4_flex::block::compress(payload)),
            PayloadCodec::Columns if header.kind == BlockKind::Records as u8 => {
                self.packer.pack(payload).map(<[u8]>::to_vec)
            }
            PayloadCodec::Columns => None,
        };
        let stored_bytes = packed.as_deref().unwrap_or(payload);
        let header = BlockHeader {
            codec: if packed.is_some() { self.codec } else { PayloadCodec::Raw } as u8,
            raw_bytes: u32::try_from(payload.len()).unwrap(),
            stored_bytes: u32::try_from(stored_bytes.len()).unwrap(),
            ..header
        };
        append_block(&mut self.bytes, &header, stored_bytes);
    }

    /// Appends the description of a stream.
    pub fn thread(&mut self, stream: u32, tid: u64, name: &str) {
        self.thread_with(stream, tid, name, &[]);
    }

    /// As [`Self::thread`], with these tags set to 1.
    pub fn thread_with(&mut self, stream: u32, tid: u64, name: &str, marks: &[u16]) {
        let mut tags = Vec::new();
        marks.iter().for_each(|mark| append_integer(&mut tags, *mark, 1));
        append_integer(&mut tags, tag::TID, tid);
        append_tag(&mut tags, tag::THREAD_NAME, name.as_bytes());
        let (kind, sequence) = (BlockKind::Stream as u8, self.sequence);
        self.sequence += 1;
        self.append(BlockHeader { kind, stream, records: 1, sequence, ..BlockHeader::default() }, &tags);
    }

    /// A thread that ended at this timestamp.
    pub fn ended_thread(&mut self, stream: u32, tid: u64, name: &str, end: u64) {
        let mut tags = Vec::new();
        append_integer(&mut tags, tag::TID, tid);
        append_tag(&mut tags, tag::THREAD_NAME, name.as_bytes());
        append_integer(&mut tags, tag::THREAD_END, end);
        let (kind, sequence) = (BlockKind::Stream as u8, self.sequence);
        self.sequence += 1;
        self.append(BlockHeader { kind, stream, records: 1, sequence, ..BlockHeader::default() }, &tags);
    }

    /// Appends an interned string. Returns its id.
    pub fn string(&mut self, text: &str) -> u32 {
        self.strings += 1;
        let mut entry = Vec::new();
        append_string(&mut entry, self.strings, text.as_bytes());
        self.process_block(BlockKind::Strings, 1, &entry);
        self.strings
    }

    /// Appends clock samples of exchanges with other processes.
    pub fn sync(&mut self, samples: &[SyncSample]) {
        let bytes: Vec<u8> = samples.iter().flat_map(SyncSample::encode).collect();
        self.process_block(BlockKind::Sync, u32::try_from(samples.len()).unwrap(), &bytes);
    }

    /// Appends a reading of the clock together with those of the system.
    pub fn anchor(&mut self, anchor: ClockAnchor) {
        self.process_block(BlockKind::Anchors, 1, &anchor.encode());
    }

    /// Appends a block of records.
    pub fn records(&mut self, stream: u32, sequence: u64, records: &SyntheticRecords) {
        let header = BlockHeader {
            kind: BlockKind::Records as u8,
            stream,
            records: records.count,
            sequence,
            first_ticks: records.first,
            last_ticks: records.last,
            ..BlockHeader::default()
        };
        self.written += u64::from(records.count);
        self.append(header, &records.payload);
    }

    /// Appends the end of a process that dropped no records.
    pub fn end(&mut self) {
        self.end_with_dropped(0);
    }

    /// The end of a process with its timestamp.
    pub fn end_at(&mut self, ticks: u64) {
        let mut tags = Vec::new();
        append_integer(&mut tags, tag::RECORDS_WRITTEN, self.written);
        append_integer(&mut tags, tag::PROCESS_END, ticks);
        self.process_block(BlockKind::End, 1, &tags);
    }

    /// As [`Self::end`], for a process that dropped records.
    pub fn end_with_dropped(&mut self, dropped: u64) {
        let mut tags = Vec::new();
        append_integer(&mut tags, tag::RECORDS_WRITTEN, self.written);
        append_integer(&mut tags, tag::RECORDS_DROPPED, dropped);
        self.process_block(BlockKind::End, 1, &tags);
    }

    /// Writes the file into a folder, which is created if it is missing.
    pub fn save(&self, folder: &Path, name: &str) {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(name), &self.bytes).unwrap();
    }
}

/// The records of a block.
#[derive(Clone, Debug, Default)]
pub struct SyntheticRecords {
    /// The encoded records.
    pub payload: Vec<u8>,
    /// Number of records.
    pub count: u32,
    /// Timestamp of the first record in ticks.
    pub first: u64,
    /// Timestamp of the last record in ticks.
    pub last: u64,
}

impl SyntheticRecords {
    /// Adds record `number` of the schema. The ids of the schema begin at 1.
    pub fn record(&mut self, number: u16, ticks: u64, body: &[u8]) {
        if self.count == 0 {
            self.first = ticks;
            self.last = ticks;
        }
        let delta = ticks.checked_sub(self.last).and_then(|delta| u32::try_from(delta).ok());
        if delta.is_none() {
            self.payload.extend_from_slice(&ID_WIDE_TIMESTAMP.to_le_bytes());
            self.payload.extend_from_slice(&[0; 4]);
            self.payload.extend_from_slice(&ticks.to_le_bytes());
        }
        self.payload.extend_from_slice(&(number + 1).to_le_bytes());
        self.payload.extend_from_slice(&delta.unwrap_or(0).to_le_bytes());
        self.payload.extend_from_slice(body);
        self.count += 1;
        self.last = ticks;
    }
}
