//! Reads a run folder with `tracer-format` alone, as an oracle of the recorders. Any deviation from
//! `FORMAT.md` is a panic that states the position.

mod show;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracer_format::block::{BlockHeader, decode_block, flag};
use tracer_format::entries::{ClockAnchor, SyncSample, anchors, sites, strings, sync_samples};
use tracer_format::record::{DroppedRecords, RecordIterator};
use tracer_format::tags::{TagIterator, integer, tag};
use tracer_format::{BlockKind, PREAMBLE_BYTES, PROCESS_STREAM, RecordType, Schema, check_preamble, process_of_block};

/// One process, with a file of its own or a part of a sorted file.
#[derive(Debug, Default)]
pub struct ProcessFile {
    /// Several processes of a sorted file have the same path.
    pub path: PathBuf,
    /// Its number in a sorted file.
    pub part: Option<u32>,
    /// Tagged fields of the process.
    pub process: BTreeMap<u16, Vec<u8>>,
    /// Tagged fields of each stream.
    pub streams: BTreeMap<u32, BTreeMap<u16, Vec<u8>>>,
    /// Providers: base and schema.
    pub schemas: Vec<(u32, Schema)>,
    /// The string table.
    pub strings: BTreeMap<u32, String>,
    /// The table of source locations: file and line.
    pub sites: BTreeMap<u32, (String, u32)>,
    /// Headers of all its blocks, in file order.
    pub blocks: Vec<BlockHeader>,
    /// Records of each stream.
    pub records: BTreeMap<u32, Vec<TextRecord>>,
    /// Dropped records according to the records of the loss.
    pub dropped_reports: Vec<DroppedRecords>,
    /// Number of records that are marked as truncated.
    pub truncated: u64,
    /// Samples of clock differences to other processes, in file order.
    pub sync: Vec<SyncSample>,
    /// Readings of the native clock and of the system clocks, in file order.
    pub anchors: Vec<ClockAnchor>,
    /// Tagged fields of the end, if the process ended regularly.
    pub end: Option<BTreeMap<u16, Vec<u8>>>,
}

/// A record as text, and its timestamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRecord {
    /// Local ticks.
    pub ticks: u64,
    /// `name field=value …`. Timestamps inside are `<date>`. Strings and source locations are
    /// looked up.
    pub text: String,
    /// The same for readers and expected listings. Numbers are complete. Long texts and arrays are
    /// reduced to their ends and a checksum. Timestamps are included if the program has a clock of
    /// its own.
    pub listed: String,
    /// The bytes after id, delta and source location. Timestamps inside are zero, unless the
    /// program has a clock of its own.
    pub bytes: Vec<u8>,
    /// File (without folder and extension) and id of the source location. The end of a span has no
    /// id.
    pub place: Option<(String, Option<u32>)>,
}

/// Reads all processes of a run folder, in order of file names, and of numbers in a sorted file.
///
/// # Panics
/// If anything deviates from the format.
#[must_use]
pub fn read(run: &Path) -> Vec<ProcessFile> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(run)
        .unwrap_or_else(|error| panic!("{}: {error}", run.display()))
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tmt"))
        .collect();
    paths.sort();
    paths.iter().flat_map(|path| read_file(path)).collect()
}

/// Reads one file: its process, or all processes of a sorted file.
///
/// # Panics
/// If anything deviates from the format.
#[must_use]
pub fn read_file(path: &Path) -> Vec<ProcessFile> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    check_preamble(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut position = PREAMBLE_BYTES;
    let (mut headers, mut payloads) = (Vec::new(), Vec::new());
    while position < bytes.len() {
        let block = decode_block(&bytes[position..])
            .unwrap_or_else(|error| panic!("{} byte {position}: {error}", path.display()));
        let payload = unpack(&block.header, block.stored_body);
        position += block.header.block_bytes();
        headers.push(block.header);
        payloads.push(payload);
    }
    assert_eq!(position, bytes.len(), "{}: the last block is padded", path.display());
    check_sequences(&headers);
    let (mut processes, mut owners) = (BTreeMap::new(), BTreeMap::new());
    for (number, (header, payload)) in headers.iter().zip(&payloads).enumerate() {
        let in_stream = |block: &&BlockHeader| block.kind == header.kind && block.stream == header.stream;
        let is_last = !headers[number + 1..].iter().any(|block| in_stream(&block));
        let of = process_of_block(header.stream).unwrap_or_else(|| {
            let process = tags_of_stream(header, payload).get(&tag::STREAM_PROCESS).and_then(|bytes| integer(bytes));
            *owners
                .entry(header.stream)
                .or_insert(process.map_or(0, |number| u32::try_from(number).expect("a process")))
        });
        let process = processes.entry(of).or_insert_with(|| ProcessFile {
            path: path.to_owned(),
            part: Some(of),
            ..ProcessFile::default()
        });
        process.blocks.push(*header);
        process.add(header, payload, is_last);
    }
    let several = processes.len() > 1;
    for file in processes.values_mut() {
        let sorted = file.process_integer(tag::SORTED) == Some(1);
        assert!(sorted || !several, "{}: several processes in a file that is not sorted", path.display());
        let owned = file.streams.values().all(|tags| tags.contains_key(&tag::STREAM_PROCESS) == sorted);
        assert!(owned, "{}: exactly the streams of a sorted file name their process", path.display());
        file.part = file.part.filter(|_| sorted);
        file.check_ends();
    }
    processes.into_values().collect()
}

/// The tags of a stream block; none for other kinds of blocks.
fn tags_of_stream(header: &BlockHeader, payload: &[u8]) -> BTreeMap<u16, Vec<u8>> {
    if header.kind == BlockKind::Stream as u8 { tags(payload) } else { BTreeMap::new() }
}

/// Checks that sequence numbers have no gaps, except for overwritten blocks.
fn check_sequences(blocks: &[BlockHeader]) {
    let mut next: BTreeMap<u32, u64> = BTreeMap::new();
    for header in blocks {
        let counter = if header.kind == BlockKind::Records as u8 { header.stream } else { PROCESS_STREAM };
        let expected = next.entry(counter).or_default();
        let explained = header.flags & flag::OVERWRITTEN != 0 && header.sequence > *expected;
        assert!(header.sequence == *expected || explained, "sequence of {header:?}: {expected} expected");
        *expected = header.sequence + 1;
    }
}

fn unpack(header: &BlockHeader, stored: &[u8]) -> Vec<u8> {
    tracer_format::block::unpack(header, stored, &mut Vec::new()).expect("the payload is valid").to_vec()
}

fn tags(payload: &[u8]) -> BTreeMap<u16, Vec<u8>> {
    TagIterator(payload).map(|(tag, bytes)| (tag, bytes.to_vec())).collect()
}

impl ProcessFile {
    fn add(&mut self, header: &BlockHeader, payload: &[u8], is_last: bool) {
        assert_eq!(payload.len(), header.raw_bytes as usize, "raw size of {header:?}");
        match BlockKind::from_number(header.kind).expect("the kind is known") {
            BlockKind::Process => {
                assert!(self.process.is_empty(), "{}: a process has one description", self.path.display());
                self.process = tags(payload);
            }
            BlockKind::Stream => self.streams.entry(header.stream).or_default().extend(tags(payload)),
            BlockKind::End => self.end = Some(tags(payload)),
            BlockKind::Schema => {
                let base = u32::from_le_bytes(*payload.first_chunk().expect("a base"));
                self.schemas.push((base, Schema::decode(&payload[8..]).expect("the schema is valid")));
            }
            BlockKind::Strings => {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
                self.strings.extend(strings(payload).map(|entry| (entry.id, text(entry.text))));
            }
            BlockKind::Sites => {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
                self.sites.extend(sites(payload).map(|entry| (entry.id, (text(entry.file), entry.line))));
            }
            BlockKind::Sync => self.sync.extend(sync_samples(payload)),
            BlockKind::Anchors => self.anchors.extend(anchors(payload)),
            BlockKind::Records => self.add_records(header, payload, is_last),
        }
    }

    fn record_type(&self, id: u16) -> Option<(&Schema, &RecordType)> {
        self.schemas.iter().find_map(|(base, schema)| {
            let index = u32::from(id).checked_sub(*base)?;
            Some((schema, schema.records.get(index as usize)?))
        })
    }

    fn add_records(&mut self, header: &BlockHeader, payload: &[u8], is_last: bool) {
        assert!(self.streams.contains_key(&header.stream), "stream {} is described before it is used", header.stream);
        let (mut records, mut dropped) = (Vec::new(), Vec::new());
        let (mut marked, mut truncated) = (false, 0);
        let mut last = header.first_ticks;
        let all: Vec<_> =
            RecordIterator::new(payload, header.first_ticks, |id| self.record_type(id).map(|(_, ty)| ty)).collect();
        for (number, record) in all.into_iter().enumerate() {
            let record = record.unwrap_or_else(|error| panic!("{}: {header:?}: {error}", self.path.display()));
            assert!(number > 0 || record.ticks == header.first_ticks, "first timestamp of {header:?}");
            assert!(record.ticks >= last, "timestamps of a stream never decrease");
            last = record.ticks;
            if record.id == tracer_format::ID_DROPPED {
                let account = DroppedRecords::decode(record.body).expect("the report is complete");
                marked = account.is_truncation();
                if !marked {
                    dropped.push(account);
                }
                continue;
            }
            let (schema, ty) = self.record_type(record.id).expect("the record was decoded");
            let mut text = self.text_record(schema, ty, (record.ticks, record.site), record.body);
            if std::mem::take(&mut marked) {
                text.text.push_str(" (truncated)");
                truncated += 1;
            }
            records.push(text);
        }
        assert_eq!(
            records.len(),
            header.records as usize,
            "number of records of {header:?} without those of the format"
        );
        // A thread that still recorded when the process ended may have taken the next timestamp
        // already.
        let date_fits = last == header.last_ticks || is_last && last < header.last_ticks;
        assert!(date_fits, "last timestamp of {header:?}: {last}");
        assert!(!marked, "a mark precedes a record: {header:?}");
        self.dropped_reports.extend(dropped);
        self.truncated += truncated;
        self.records.entry(header.stream).or_default().extend(records);
    }

    /// Checks that threads and the process end after their records.
    fn check_ends(&self) {
        let process = self.end.as_ref().and_then(|end| integer(end.get(&tag::PROCESS_END)?));
        for (stream, tags) in &self.streams {
            let last = self.records.get(stream).and_then(|records| records.last()).map(|record| record.ticks);
            let thread = tags.get(&tag::THREAD_END).and_then(|bytes| integer(bytes));
            let name = self.path.display();
            assert!(thread.is_none() || thread >= last, "{name}: stream {stream} ends before its last record");
            let latest = thread.max(last);
            assert!(process.is_none() || process >= latest, "{name}: the process ends before stream {stream}");
        }
    }

    /// The timestamp of the end of a stream's thread.
    #[must_use]
    pub fn thread_end(&self, stream: u32) -> Option<u64> {
        integer(self.streams.get(&stream)?.get(&tag::THREAD_END)?)
    }

    /// An integer field of the process.
    #[must_use]
    pub fn process_integer(&self, tag: u16) -> Option<u64> {
        integer(self.process.get(&tag)?)
    }

    /// Name of a stream's thread.
    #[must_use]
    pub fn thread_name(&self, stream: u32) -> String {
        let bytes = self.streams.get(&stream).and_then(|tags| tags.get(&tag::THREAD_NAME));
        bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
    }

    /// Number of written and dropped records according to the end of the process.
    ///
    /// # Panics
    /// If the process did not end regularly.
    #[must_use]
    pub fn totals(&self) -> (u64, u64) {
        let end = self.end.as_ref().expect("the process has an `end` block");
        let number = |tag| end.get(&tag).and_then(|bytes| integer(bytes)).expect("a number");
        (number(tag::RECORDS_WRITTEN), number(tag::RECORDS_DROPPED))
    }

    /// The records of all streams as text, stream by stream.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.records.values().flatten().map(|record| record.text.clone()).collect()
    }
}
