//! Reads a run with `tracer-format` only, and checks all guarantees of the format.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;

use tracer_format::entries::{ClockAnchor, anchors, sites, strings};
use tracer_format::record::{DroppedRecords, RecordIterator, Value, array_elements, values};
use tracer_format::schema::{RecordType, Schema};
use tracer_format::tags::{TagIterator, integer, tag};
use tracer_format::{BlockKind, ID_DROPPED, PREAMBLE_BYTES, PROCESS_STREAM, block::decode_block, check_preamble};

/// The files of a run.
#[derive(Debug)]
pub struct DecodedRun {
    /// The files in order of their names.
    pub files: Vec<DecodedFile>,
}

/// The file of a process.
#[derive(Debug, Default)]
pub struct DecodedFile {
    /// Name of the file.
    pub name: String,
    /// Fields of the process block.
    pub tags: HashMap<u16, Vec<u8>>,
    /// Schemas, each with the id of its first record type.
    pub schemas: Vec<(u32, Schema)>,
    /// Streams by number.
    pub streams: BTreeMap<u32, DecodedStream>,
    /// Readings of the clock together with those of the system.
    pub anchors: Vec<ClockAnchor>,
    /// Whether the file has an end block of its process.
    pub ended: bool,
    /// Number of written records, in the end block.
    pub end_written: Option<u64>,
    /// Number of dropped records, in the end block.
    pub end_dropped: Option<u64>,
    /// Number of repeated timestamps, in the end block.
    pub repeated_timestamps: Option<u64>,
    /// Timestamp of the process's end.
    pub process_end: Option<u64>,
    /// Number of truncated records, in the end block.
    pub truncated: Option<u64>,
    strings: HashMap<u32, String>,
    sites: HashMap<u32, (u32, String)>,
}

/// The records of a thread, or of the signal handlers in a thread.
#[derive(Debug, Default)]
pub struct DecodedStream {
    /// Name of the thread.
    pub name: Option<String>,
    /// The stream contains records of signal handlers.
    pub signal: bool,
    /// Thread id of the system.
    pub tid: u64,
    /// Timestamp of the thread's end.
    pub end: Option<u64>,
    /// The records in order.
    pub records: Vec<DecodedRecord>,
    /// Reports of dropped records.
    pub losses: Vec<DroppedRecords>,
    /// Marks of truncated records: the position of the record in the stream, and the number of
    /// missing bytes.
    pub marks: Vec<(usize, u64)>,
    /// Number of dropped records, in the last block.
    pub dropped: u64,
    /// Number of blocks.
    pub blocks: u64,
    /// Number of blocks in columns.
    pub packed_blocks: u64,
    /// Number of blocks that the sequence numbers show as missing.
    pub missing_blocks: u64,
    next_sequence: u64,
}

/// A record with its names.
#[derive(Debug)]
pub struct DecodedRecord {
    /// Name of the spec.
    pub trace: String,
    /// Name of the record type.
    pub name: String,
    /// Timestamp in ticks.
    pub ticks: u64,
    /// Line and file of the call.
    pub site: Option<(u32, String)>,
    /// Names and values of the fields.
    pub fields: Vec<(String, DecodedValue)>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum DecodedValue {
    /// An unsigned number, timestamp or pointer.
    Number(u64),
    /// A text or the name of an enum value.
    Text(String),
    /// The content of a `bytes` field.
    Bytes(Vec<u8>),
    /// The printed form of the value.
    Other(String),
}

impl DecodedValue {
    /// The number.
    ///
    /// # Panics
    /// If the value is no number.
    #[must_use]
    pub fn number(&self) -> u64 {
        let Self::Number(number) = self else { panic!("{self:?} is no number") };
        *number
    }
}

impl fmt::Display for DecodedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) | Self::Other(text) => f.write_str(text),
            Self::Bytes(bytes) => write!(f, "{bytes:?}"),
        }
    }
}

impl DecodedRecord {
    /// The value of a field.
    ///
    /// # Panics
    /// If there is no such field.
    #[must_use]
    pub fn get(&self, name: &str) -> &DecodedValue {
        &self.fields.iter().find(|(field, _)| field == name).unwrap_or_else(|| panic!("no {name} in {self:?}")).1
    }

    /// The record type, and the names and values of the fields.
    #[must_use]
    pub fn text(&self) -> String {
        self.fields.iter().fold(self.name.clone(), |text, (name, value)| format!("{text} {name}={value}"))
    }
}

impl DecodedFile {
    /// The records of all streams, stream by stream.
    pub fn records(&self) -> impl Iterator<Item = &DecodedRecord> {
        self.streams.values().flat_map(|stream| &stream.records)
    }

    /// A number in the process block.
    #[must_use]
    pub fn integer(&self, tag: u16) -> Option<u64> {
        integer(self.tags.get(&tag)?)
    }

    /// A text in the process block.
    ///
    /// # Panics
    /// If the bytes are not UTF-8.
    #[must_use]
    pub fn text(&self, tag: u16) -> Option<String> {
        Some(String::from_utf8(self.tags.get(&tag)?.clone()).unwrap())
    }

    fn record_type(&self, id: u16) -> Option<(&Schema, &RecordType)> {
        self.schemas.iter().find_map(|(base, schema)| {
            let index = u32::from(id).checked_sub(*base)?;
            Some((schema, schema.records.get(index as usize)?))
        })
    }

    fn value(&self, schema: &Schema, raw: Value<'_>) -> DecodedValue {
        match raw {
            Value::Unsigned(number) | Value::Date(number) | Value::Pointer(number) => DecodedValue::Number(number),
            Value::Signed(number) => DecodedValue::Other(number.to_string()),
            Value::Text(bytes) => DecodedValue::Text(String::from_utf8(bytes.to_vec()).unwrap()),
            Value::Bytes(bytes) => DecodedValue::Bytes(bytes.to_vec()),
            Value::Interned(0) => DecodedValue::Text(String::new()),
            Value::Interned(id) => DecodedValue::Text(self.strings[&id].clone()),
            Value::Enum { index, value } => {
                DecodedValue::Text(schema.enums[index as usize].name_of(value).expect("a known value").to_owned())
            }
            Value::Array(scalar, bytes) => {
                let all: Vec<String> = array_elements(scalar, bytes)
                    .map(|element| match self.value(schema, element) {
                        DecodedValue::Text(text) if matches!(element, Value::Interned(_)) => format!("{text:?}"),
                        value => value.to_string(),
                    })
                    .collect();
                DecodedValue::Other(format!("[{}]", all.join(", ")))
            }
            other => DecodedValue::Other(format!("{other:?}")),
        }
    }
}

/// Reads all files of a run.
///
/// # Panics
/// If a file violates the format.
#[must_use]
pub fn read_run(folder: &Path) -> DecodedRun {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    DecodedRun { files: paths.iter().map(|path| read_file(path)).collect() }
}

fn read_file(path: &Path) -> DecodedFile {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(check_preamble(&bytes), Ok(1));
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut file = DecodedFile { name, ..DecodedFile::default() };
    let (mut position, mut sequence, mut ended) = (PREAMBLE_BYTES, 0, false);
    while position < bytes.len() {
        assert!(!ended, "nothing follows the end");
        assert_eq!(position % 8, 0);
        let block = decode_block(&bytes[position..])
            .unwrap_or_else(|error| panic!("byte {position} of {}: {error}", file.name));
        position += block.header.block_bytes();
        let header = block.header;
        let unpacked = tracer_format::block::unpack(&header, block.stored_body, &mut Vec::new()).unwrap().to_vec();
        assert_eq!(unpacked.len(), header.raw_bytes as usize);
        let kind = BlockKind::from_number(header.kind).unwrap();
        if kind == BlockKind::Records {
            read_records(&mut file, &header, &unpacked);
            continue;
        }
        assert_eq!(header.sequence, sequence, "blocks of the process count on");
        sequence += 1;
        if kind == BlockKind::Process {
            assert_eq!(sequence, 1, "the process comes first");
        }
        assert_eq!(kind == BlockKind::Stream, header.stream != PROCESS_STREAM);
        read_definitions(&mut file, kind, header.stream, &unpacked);
        ended = kind == BlockKind::End;
    }
    file.ended = ended;
    file
}

fn read_definitions(file: &mut DecodedFile, kind: BlockKind, stream: u32, payload: &[u8]) {
    match kind {
        BlockKind::Process => file.tags = TagIterator(payload).map(|(tag, bytes)| (tag, bytes.to_vec())).collect(),
        BlockKind::Schema => {
            let word = |offset: usize| u32::from_le_bytes(payload[offset..offset + 4].try_into().unwrap());
            let schema = Schema::decode(&payload[8..]).unwrap();
            assert_eq!(schema.records.len(), word(4) as usize);
            file.schemas.push((word(0), schema));
        }
        BlockKind::Stream => {
            let stream = file.streams.entry(stream).or_default();
            for (tag, bytes) in TagIterator(payload) {
                match tag {
                    tag::TID => stream.tid = integer(bytes).unwrap(),
                    tag::SIGNAL_STREAM => stream.signal = true,
                    // Not stored: each test sets the policy itself.
                    tag::OVERWRITTEN => {}
                    tag::THREAD_END => stream.end = integer(bytes),
                    tag::THREAD_NAME => stream.name = Some(String::from_utf8(bytes.to_vec()).unwrap()),
                    other => panic!("tag {other}"),
                }
            }
        }
        BlockKind::Strings => {
            let new = strings(payload).map(|entry| (entry.id, String::from_utf8(entry.text.to_vec()).unwrap()));
            file.strings.extend(new);
        }
        BlockKind::Sites => {
            let new =
                sites(payload).map(|entry| (entry.id, (entry.line, String::from_utf8(entry.file.to_vec()).unwrap())));
            file.sites.extend(new);
        }
        BlockKind::Anchors => file.anchors.extend(anchors(payload)),
        BlockKind::End => {
            for (tag, bytes) in TagIterator(payload) {
                match tag {
                    tag::RECORDS_WRITTEN => file.end_written = integer(bytes),
                    tag::REPEATED_TIMESTAMPS => file.repeated_timestamps = integer(bytes),
                    tag::PROCESS_END => file.process_end = integer(bytes),
                    tag::RECORDS_TRUNCATED => file.truncated = integer(bytes),
                    tag::RECORDS_DROPPED => file.end_dropped = integer(bytes),
                    other => panic!("tag {other}"),
                }
            }
        }
        BlockKind::Records | BlockKind::Sync => panic!("{kind:?}"),
    }
}

fn read_records(file: &mut DecodedFile, header: &tracer_format::BlockHeader, payload: &[u8]) {
    let mut stream = file.streams.remove(&header.stream).expect("a stream is described before its records");
    assert!(header.sequence >= stream.next_sequence);
    stream.missing_blocks += header.sequence - stream.next_sequence;
    stream.next_sequence = header.sequence + 1;
    stream.blocks += 1;
    stream.packed_blocks += u64::from(header.codec == 2);
    assert!(header.dropped >= stream.dropped);
    stream.dropped = header.dropped;
    let raws: Vec<_> = RecordIterator::new(payload, header.first_ticks, |id| Some(file.record_type(id)?.1))
        .map(|record| record.unwrap())
        .collect();
    let mut count = 0;
    for (index, raw) in raws.iter().enumerate() {
        if index == 0 {
            assert_eq!(raw.ticks, header.first_ticks, "the first record has the block's first timestamp");
        }
        assert!(raw.ticks <= header.last_ticks);
        if raw.id == ID_DROPPED {
            let report = DroppedRecords::decode(raw.body).unwrap();
            if report.is_truncation() {
                stream.marks.push((stream.records.len(), report.bytes));
            } else {
                assert_eq!(index, 0, "losses are reported first");
                stream.losses.push(report);
            }
            continue;
        }
        count += 1;
        let (schema, kind) = file.record_type(raw.id).unwrap();
        let names = kind.fields.iter().map(|field| field.name.clone());
        let fields = names.zip(values(&kind.fields, raw.body).map(|value| file.value(schema, value))).collect();
        let site = (raw.site != 0).then(|| file.sites[&raw.site].clone());
        assert!(!kind.has_location || site.is_some());
        stream.records.push(DecodedRecord {
            trace: schema.name.clone(),
            name: kind.name.clone(),
            ticks: raw.ticks,
            site,
            fields,
        });
    }
    assert_eq!(count, header.records);
    file.streams.insert(header.stream, stream);
}
