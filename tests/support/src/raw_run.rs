//! Reads a run according to FORMAT.md only.
//! Nothing here is shared with the recorder or with other readers. The reader knows only the record
//! types of `tracer-rt/tests/process_exits.tumit`.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The files of one process.
#[derive(Debug, Default)]
pub struct RawProcess {
    /// The process id of the format.
    pub id: Vec<u8>,
    /// The id of the process that forked this one.
    pub parent: Option<Vec<u8>>,
    /// The kind of buffers, as in the process block.
    pub buffers: u64,
    /// The file contains the end of the process.
    pub ended: bool,
    /// Number of dropped records, in the end block.
    pub end_dropped: u64,
    /// Sum of the counters of the live file, if there is one.
    pub live_dropped: Option<u64>,
    /// Blocks of records by stream and sequence number.
    pub blocks: BTreeMap<(u32, u64), RawBlock>,
    /// Number of these blocks that come from the live file.
    pub live_blocks: u64,
    /// Interned strings by id.
    pub strings: HashMap<u32, String>,
    /// Names of threads by stream.
    pub names: HashMap<u32, String>,
    /// Result of the last request through the live file.
    pub result: u32,
    has_schema: bool,
}

/// A block of records.
#[derive(Debug, Default)]
pub struct RawBlock {
    raw: usize,
    first: u64,
    last: u64,
    payload: Vec<u8>,
    live: bool,
    /// Sequence numbers before that of the block may be missing.
    overwritten: bool,
}

/// A record, decoded with the spec of the test.
#[derive(Clone, Debug, PartialEq)]
pub enum RawRunRecord {
    /// The events `tick` and `noise`.
    Tick {
        /// A number that counts on.
        n: u64,
        /// The thread.
        m: u64,
    },
    /// The event `text`.
    Text(String),
    /// The event `detail`.
    Detail(u32),
    /// A report of dropped records: their number and the cause.
    Dropped(u64, u32),
}

/// Unpacks codec 2. The records of the test's spec have no arrays and no texts.
fn columns(stored_bytes: &[u8]) -> Vec<u8> {
    let mut input = RawColumns(stored_bytes);
    let types: Vec<(u64, Vec<usize>)> = (0..input.number(2))
        .map(|_| (input.number(2), (0..input.number(2)).map(|_| 1 << input.number(1)).collect()))
        .collect();
    let records = input.number(4) as usize;
    let order = input.column(records, 2);
    let mut values: Vec<Vec<std::vec::IntoIter<u64>>> = Vec::new();
    for (index, (_, parts)) in types.iter().enumerate() {
        let count = order.iter().filter(|number| **number == index as u64).count();
        let sizes = std::iter::once(&4).chain(parts);
        values.push(sizes.map(|bytes| input.column(count, *bytes).into_iter()).collect());
    }
    assert!(input.0.is_empty());
    let mut out = Vec::new();
    for index in order {
        let (id, parts) = &types[index as usize];
        out.extend(&id.to_le_bytes()[..2]);
        for (bytes, column) in std::iter::once(&4).chain(parts).zip(&mut values[index as usize]) {
            out.extend(&column.next().unwrap().to_le_bytes()[..*bytes]);
        }
    }
    out
}

struct RawColumns<'a>(&'a [u8]);

impl RawColumns<'_> {
    fn number(&mut self, bytes: usize) -> u64 {
        let (number, rest) = self.0.split_at(bytes);
        self.0 = rest;
        number.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }

    fn zigzag(&mut self) -> u64 {
        let (mut code, mut shift) = (0, 0);
        loop {
            let byte = self.number(1);
            code |= (byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                return if code % 2 == 0 { code / 2 } else { !(code / 2) };
            }
        }
    }

    fn column(&mut self, count: usize, bytes: usize) -> Vec<u64> {
        if count == 0 {
            return Vec::new();
        }
        match self.number(1) {
            0 => (0..count).map(|_| self.number(bytes)).collect(),
            1 => self.groups(count),
            2 => {
                let entries = self.number(2) as usize;
                let entries = self.column(entries, bytes);
                self.column(count, 2).into_iter().map(|index| entries[index as usize]).collect()
            }
            other => panic!("method {other}"),
        }
    }

    fn groups(&mut self, count: usize) -> Vec<u64> {
        let mut all: Vec<u64> = Vec::new();
        while all.len() < count {
            let size = 128.min(count - all.len());
            let (head, base, exceptions) = (self.number(1), self.zigzag(), self.number(1));
            let width = (head & 127) as usize;
            let (packed, rest) = self.0.split_at((size * width).div_ceil(8));
            self.0 = rest;
            let bit = |position: usize| u64::from(packed[position / 8] >> (position % 8) & 1);
            let mut group: Vec<u64> = (0..size)
                .map(|index| base.wrapping_add((0..width).map(|n| bit(index * width + n) << n).sum()))
                .collect();
            for _ in 0..exceptions {
                let base_index = self.number(1) as usize;
                group[base_index] = base.wrapping_add(self.zigzag());
            }
            for mut value in group {
                if head >= 128 {
                    value = value.wrapping_add(all.last().copied().unwrap_or(0));
                }
                all.push(value);
            }
        }
        all
    }
}

/// A pseudo-random number for `n`, which cannot be compressed.
#[must_use]
pub fn noise(n: u64) -> u64 {
    let mixed = (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ mixed >> 32
}

fn u16_at(b: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes(b[offset..offset + 2].try_into().unwrap())
}
fn u32_at(b: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(b[offset..offset + 4].try_into().unwrap())
}
fn u64_at(b: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(b[offset..offset + 8].try_into().unwrap())
}

/// Reads all processes of a run. Live files may be in another folder.
///
/// # Panics
/// If a file violates the format.
#[must_use]
pub fn read_processes(folder: &Path, live: &Path) -> Vec<RawProcess> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "tmt"));
    paths.sort();
    let read_file = |path: &PathBuf| {
        let mut process = RawProcess::default();
        process.read_file(&std::fs::read(path).unwrap());
        let live = live.join(path.file_name().unwrap()).with_extension("live");
        assert!(!process.ended || !live.exists(), "a clean end removes the live file");
        if live.exists() {
            process.read_live(&std::fs::read(live).unwrap());
        }
        process
    };
    paths.iter().map(read_file).collect()
}

impl RawProcess {
    fn read_file(&mut self, bytes: &[u8]) {
        assert_eq!(&bytes[..10], b"\xB1TUMIT\r\n\x01\0");
        let (mut position, mut next) = (16, HashMap::new());
        while position + 64 <= bytes.len() {
            let head = &bytes[position..position + 64];
            assert_eq!(&head[..8], b"\xB1TMTBLK\n", "byte {position}");
            let (raw, stored_bytes) = (u32_at(head, 32) as usize, u32_at(head, 36) as usize);
            let Some(body) = bytes.get(position + 64..position + 64 + stored_bytes) else { break };
            let payload = match head[13] {
                0 => body.to_vec(),
                1 => lz4_flex::block::decompress(body, raw).unwrap(),
                2 => columns(body),
                other => panic!("codec {other}"),
            };
            position += (64 + stored_bytes).next_multiple_of(8);
            if head[12] == 6 {
                let (first, last, overwritten) = (u64_at(head, 48), u64_at(head, 56), head[14] & 1 != 0);
                let block = RawBlock { raw, first, last, payload, live: false, overwritten };
                let (stream, sequence) = (u32_at(head, 16), u64_at(head, 24));
                let next = next.insert(stream, sequence + 1).unwrap_or(0);
                assert!(sequence >= next, "block {sequence} of stream {stream} after its successor {next}");
                self.blocks.insert((stream, sequence), block);
            } else {
                self.name(u32::from(head[12]), u32_at(head, 16), &payload);
            }
        }
    }

    fn name(&mut self, kind: u32, stream: u32, mut payload: &[u8]) {
        match kind {
            1 | 3 | 9 => {
                while payload.len() >= 6 {
                    let length = u32_at(payload, 2) as usize;
                    let value = &payload[6..6 + length];
                    match u16_at(payload, 0) {
                        1 => self.id = value.to_vec(),
                        2 => self.parent = Some(value.to_vec()),
                        14 => self.buffers = u64_at(value, 0),
                        21 => drop(self.names.insert(stream, String::from_utf8(value.to_vec()).unwrap())),
                        31 => self.end_dropped = u64_at(value, 0),
                        _ => {}
                    }
                    payload = &payload[6 + length..];
                }
                self.ended |= kind == 9;
                if kind == 3 {
                    self.names.entry(stream).or_default();
                }
            }
            2 => {
                assert_eq!((u32_at(payload, 0), u32_at(payload, 4)), (1, 4), "ids of the test's spec");
                self.has_schema = true;
            }
            4 => {
                while payload.len() >= 8 {
                    let length = u32_at(payload, 4) as usize;
                    let text = String::from_utf8(payload[8..8 + length].to_vec()).unwrap();
                    self.strings.insert(u32_at(payload, 0), text);
                    payload = &payload[8 + length..];
                }
            }
            _ => {}
        }
    }

    fn read_live(&mut self, bytes: &[u8]) {
        assert_eq!(&bytes[..10], b"\xB1TLIVE\r\n\x01\0");
        if self.id.is_empty() {
            self.id = bytes[16..32].to_vec();
        }
        assert_eq!(&bytes[16..32], self.id);
        let (slot_bytes, slots) = (u32_at(bytes, 32) as usize, u32_at(bytes, 36) as usize);
        let (mut position, log) = (u32_at(bytes, 40) as usize, u64_at(bytes, 56) as usize);
        assert!(log <= u32_at(bytes, 44) as usize && u64_at(bytes, 64) <= log as u64);
        let end = position + log;
        while position < end {
            let (kind, stream, length) =
                (u32_at(bytes, position), u32_at(bytes, position + 4), u32_at(bytes, position + 12) as usize);
            self.name(kind, stream, &bytes[position + 16..position + 16 + length]);
            position += 16 + length.next_multiple_of(8);
        }
        assert_eq!(position, end);
        let counters: u64 = (0..256).map(|counter| u64_at(bytes, 2048 + 8 * counter)).sum();
        self.result = u32_at(bytes, 1284);
        let start = u64_at(bytes, 48) as usize;
        assert_eq!(start + slots * slot_bytes, bytes.len());
        let mut slots = Vec::new();
        for slot in bytes[start..].chunks(slot_bytes) {
            if u32_at(slot, 60) == 4 {
                slots.extend(slot.chunks(4096).skip(1));
            } else {
                slots.push(slot);
            }
        }
        let given_up = slots.iter().filter(|slot| u32_at(slot, 60) == 3 && u64_at(slot, 32) == u64_at(bytes, 72));
        let uncounted: u64 = given_up.map(|slot| u64::from(u32_at(slot, 4) - u32::from(u16_at(slot, 28)))).sum();
        self.live_dropped = Some(counters + u64_at(bytes, 72) + uncounted);
        let from_file: Vec<_> = slots.iter().filter_map(|slot| self.live_block(slot)).collect();
        for (key, block) in from_file {
            self.live_blocks += 1;
            assert!(self.blocks.insert(key, block).is_none(), "two slots for one block {key:?}");
        }
    }

    fn live_block(&self, slot: &[u8]) -> Option<((u32, u64), RawBlock)> {
        let overwritten = match u32_at(slot, 60) {
            1 => false,
            2 => true,
            _ => return None,
        };
        let stream = u32_at(slot, 56);
        let mut sequence = u64_at(slot, 40) + u64::from(u16_at(slot, 30));
        let mut from = u32_at(slot, 24) as usize;
        let mut first = if u16_at(slot, 30) == 0 { u64_at(slot, 16) } else { u64_at(slot, 32) };
        while let Some(block) = self.blocks.get(&(stream, sequence)) {
            from += block.raw;
            first = block.last;
            sequence += 1;
        }
        let payload = &slot[64..64 + u32_at(slot, 0) as usize];
        assert!(from <= payload.len());
        let payload_left = payload[from..].to_vec();
        let block = RawBlock { raw: 0, first, last: u64::MAX, payload: payload_left, live: true, overwritten };
        (from < payload.len()).then_some(((stream, sequence), block))
    }

    /// All records, stream by stream, in order.
    #[must_use]
    pub fn records(&self) -> Vec<RawRunRecord> {
        let mut all = self.records_and_losses();
        all.retain(|record| !matches!(record, RawRunRecord::Dropped(..)));
        all
    }

    /// All records, with the reports of missing records between them.
    #[must_use]
    pub fn records_and_losses(&self) -> Vec<RawRunRecord> {
        let mut all = Vec::new();
        let (mut before, mut expected, mut timestamp, mut live) = (u32::MAX, 0, 0, false);
        for ((stream, sequence), block) in &self.blocks {
            if *stream != before {
                (before, expected, timestamp, live) = (*stream, 0, 0, false);
            }
            assert!(self.has_schema && self.names.contains_key(stream), "names before records");
            // After a block of the live file, a sequence number may be missing. The witness shows
            // that no record is missing.
            assert!(
                *sequence == expected || live || block.overwritten,
                "block {expected} of stream {stream} is missing before {sequence}"
            );
            (expected, live) = (sequence + 1, block.live);
            assert!(block.first >= timestamp, "timestamps do not go back, {} after {timestamp}", block.first);
            timestamp = self.walk(block, &mut all);
        }
        all
    }

    /// Bytes of records in the largest block.
    #[must_use]
    pub fn largest_block(&self) -> usize {
        self.blocks.values().map(|block| block.payload.len()).max().unwrap_or(0)
    }

    /// The number of missing records that the blocks report.
    #[must_use]
    pub fn reported_losses(&self) -> u64 {
        let mut all = Vec::new();
        for block in self.blocks.values() {
            self.walk(block, &mut all);
        }
        all.iter().map(|record| if let RawRunRecord::Dropped(count, _) = record { *count } else { 0 }).sum()
    }

    /// The number of these reports.
    #[must_use]
    pub fn loss_reports(&self) -> usize {
        self.records_and_losses().iter().filter(|record| matches!(record, RawRunRecord::Dropped(..))).count()
    }

    fn walk(&self, block: &RawBlock, all: &mut Vec<RawRunRecord>) -> u64 {
        let (mut rest, mut timestamp) = (&block.payload[..], block.first);
        while !rest.is_empty() {
            timestamp += u64::from(u32_at(rest, 2));
            let bytes = match u16_at(rest, 0) {
                0xFFFF => {
                    timestamp = u64_at(rest, 6);
                    14
                }
                0xFFFE => {
                    all.push(RawRunRecord::Dropped(u64_at(rest, 6), u32_at(rest, 38)));
                    42
                }
                1 => {
                    all.push(RawRunRecord::Tick { n: u64_at(rest, 6), m: u64_at(rest, 14) });
                    22
                }
                2 => {
                    all.push(RawRunRecord::Text(self.strings[&u32_at(rest, 6)].clone()));
                    10
                }
                3 => {
                    all.push(RawRunRecord::Detail(u32_at(rest, 6)));
                    10
                }
                4 => {
                    let n = u64_at(rest, 6);
                    assert_eq!(u64_at(rest, 14), noise(n), "a torn record");
                    all.push(RawRunRecord::Tick { n, m: 0 });
                    22
                }
                other => panic!("a torn record: id {other}"),
            };
            rest = &rest[bytes..];
        }
        assert!(timestamp <= block.last, "{timestamp} after the block's last timestamp {}", block.last);
        timestamp
    }

    /// The number of records. Blocks may be missing.
    #[must_use]
    pub fn blocks_of_records(&self) -> u64 {
        let mut all = Vec::new();
        for block in self.blocks.values() {
            self.walk(block, &mut all);
        }
        all.iter().filter(|record| !matches!(record, RawRunRecord::Dropped(..))).count() as u64
    }

    /// The numbers that each thread recorded.
    #[must_use]
    pub fn ticks(&self) -> Vec<Vec<u64>> {
        let mut threads = vec![Vec::new(); 64];
        for record in self.records() {
            if let RawRunRecord::Tick { n, m } = record {
                threads[m as usize].push(n);
            }
        }
        threads
    }
}
