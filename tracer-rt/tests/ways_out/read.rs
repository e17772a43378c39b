//! What a run holds, by the text of FORMAT.md alone: nothing here is shared with the recorder or with other readers.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// What one process left.
#[derive(Debug, Default)]
pub(crate) struct Left {
    pub id: Vec<u8>,
    pub parent: Option<Vec<u8>>,
    pub buffers: u64,
    pub ended: bool,
    pub end_dropped: u64,
    /// Sum of the counters of the live file, if there was one.
    pub live_dropped: Option<u64>,
    /// Blocks of records by stream and sequence number.
    pub blocks: BTreeMap<(u32, u64), Block>,
    /// How many of these came from the live file.
    pub live_blocks: u64,
    pub strings: HashMap<u32, String>,
    pub names: HashMap<u32, String>,
    pub result: u32,
    has_schema: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Block {
    raw: usize,
    first: u64,
    last: u64,
    payload: Vec<u8>,
}

/// A record, with what the spec of the test says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    Tick { n: u64, m: u64 },
    Text(String),
    Detail(u32),
}

fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(b[at..at + 2].try_into().unwrap())
}
fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(b[at..at + 4].try_into().unwrap())
}
fn u64_at(b: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(b[at..at + 8].try_into().unwrap())
}

/// All processes of a run; live files may be in another folder.
pub(crate) fn read(folder: &Path, live: &Path) -> Vec<Left> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "tmt"));
    paths.sort();
    let one = |path: &PathBuf| {
        let mut left = Left::default();
        left.read_file(&std::fs::read(path).unwrap());
        let live = live.join(path.file_name().unwrap()).with_extension("live");
        assert!(!left.ended || !live.exists(), "a clean end removes the live file");
        if live.exists() {
            left.read_live(&std::fs::read(live).unwrap());
        }
        left
    };
    paths.iter().map(one).collect()
}

impl Left {
    fn read_file(&mut self, bytes: &[u8]) {
        assert_eq!(&bytes[..10], b"\xB1TUMIT\r\n\x01\0");
        let mut at = 16;
        while at + 64 <= bytes.len() {
            let head = &bytes[at..at + 64];
            assert_eq!(&head[..8], b"\xB1TMTBLK\n", "byte {at}");
            let (raw, stored) = (u32_at(head, 32) as usize, u32_at(head, 36) as usize);
            let Some(body) = bytes.get(at + 64..at + 64 + stored) else { break };
            let payload = match head[13] {
                0 => body.to_vec(),
                _ => lz4_flex::block::decompress(body, raw).unwrap(),
            };
            at += (64 + stored).next_multiple_of(8);
            if head[12] == 6 {
                let block = Block { raw, first: u64_at(head, 48), last: u64_at(head, 56), payload };
                let known = self.blocks.insert((u32_at(head, 16), u64_at(head, 24)), block);
                assert!(known.is_none(), "a block twice");
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
                assert_eq!((u32_at(payload, 0), u32_at(payload, 4)), (1, 3), "ids of the test's spec");
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
        let (mut at, log) = (u32_at(bytes, 40) as usize, u64_at(bytes, 56) as usize);
        assert!(log <= u32_at(bytes, 44) as usize && u64_at(bytes, 64) <= log as u64);
        let end = at + log;
        while at < end {
            let (kind, stream, length) = (u32_at(bytes, at), u32_at(bytes, at + 4), u32_at(bytes, at + 12) as usize);
            self.name(kind, stream, &bytes[at + 16..at + 16 + length]);
            at += 16 + length.next_multiple_of(8);
        }
        assert_eq!(at, end);
        self.live_dropped = Some((0..256).map(|counter| u64_at(bytes, 2048 + 8 * counter)).sum());
        self.result = u32_at(bytes, 1284);
        let start = u64_at(bytes, 48) as usize;
        assert_eq!(start + slots * slot_bytes, bytes.len());
        let slots: Vec<&[u8]> = bytes[start..].chunks(slot_bytes).collect();
        let from_file: Vec<_> = slots.iter().filter_map(|slot| self.live_block(slot)).collect();
        for (key, block) in from_file {
            self.live_blocks += 1;
            assert!(self.blocks.insert(key, block).is_none(), "two slots for one block {key:?}");
        }
    }

    fn live_block(&self, slot: &[u8]) -> Option<((u32, u64), Block)> {
        if u32_at(slot, 60) != 1 {
            return None;
        }
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
        let block = Block { raw: 0, first, last: u64::MAX, payload: payload[from..].to_vec() };
        (from < payload.len()).then_some(((stream, sequence), block))
    }

    /// All records, stream by stream, in order.
    pub(crate) fn records(&self) -> Vec<Record> {
        let mut all = Vec::new();
        let (mut before, mut expected, mut date) = (u32::MAX, 0, 0);
        for ((stream, sequence), block) in &self.blocks {
            if *stream != before {
                (before, expected, date) = (*stream, 0, 0);
            }
            assert!(self.has_schema && self.names.contains_key(stream), "names before records");
            assert_eq!(*sequence, expected, "a block of stream {stream} is missing");
            expected += 1;
            assert!(block.first >= date, "dates do not go back, {} after {date}", block.first);
            date = self.walk(block, &mut all);
        }
        all
    }

    fn walk(&self, block: &Block, all: &mut Vec<Record>) -> u64 {
        let (mut rest, mut date) = (&block.payload[..], block.first);
        while !rest.is_empty() {
            date += u64::from(u32_at(rest, 2));
            let bytes = match u16_at(rest, 0) {
                0xFFFF => {
                    date = u64_at(rest, 6);
                    14
                }
                0xFFFE => 42,
                1 => {
                    all.push(Record::Tick { n: u64_at(rest, 6), m: u64_at(rest, 14) });
                    22
                }
                2 => {
                    all.push(Record::Text(self.strings[&u32_at(rest, 6)].clone()));
                    10
                }
                3 => {
                    all.push(Record::Detail(u32_at(rest, 6)));
                    10
                }
                other => panic!("a torn record: id {other}"),
            };
            rest = &rest[bytes..];
        }
        assert!(date <= block.last, "{date} after the block's last date {}", block.last);
        date
    }

    /// The numbers that each thread recorded.
    pub(crate) fn ticks(&self) -> Vec<Vec<u64>> {
        let mut threads = vec![Vec::new(); 64];
        for record in self.records() {
            if let Record::Tick { n, m } = record {
                threads[m as usize].push(n);
            }
        }
        threads
    }
}
