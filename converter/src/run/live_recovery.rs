//! What a live file gives to the process whose file has no end: names, and blocks of records that are believed only as far
//! as the schema can follow them.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use tracer_format::block::{flag, unpack};
use tracer_format::{BlockHeader, BlockKind, Codec, FormatError, ID_LOST, RECORD_HEAD_BYTES, Records};

use super::live::{Entry, LiveError, Piece, Snapshot};
use super::names::{Adding, process_id};
use super::process::{BlockIndex, Live, LiveFault};
use super::process_builder::Building;
use super::read_at::read_at;
use tumit_paje::time::LocalTicks;

/// How far the records of a payload can be followed.
struct Walk {
    /// Bytes of good records.
    bytes: usize,
    records: u32,
    last: u64,
    /// Why not to the end.
    why: Option<String>,
}

impl Building {
    /// Takes over what a live file has and the process file, already scanned, has not.
    pub(super) fn adopt(
        &mut self,
        snapshot: Result<Snapshot, LiveError>,
        path: PathBuf,
        file: Option<&File>,
    ) -> io::Result<()> {
        let mut live = Live { path, ..Live::default() };
        match snapshot.and_then(|snapshot| self.is_own(&snapshot).map(|()| snapshot)) {
            Ok(snapshot) => {
                live.used = true;
                live.dropped = snapshot.header.dropped;
                self.process.truncated = snapshot.header.truncated;
                self.process.end = Some(LocalTicks(snapshot.header.process_end)).filter(|end| end.0 > 0);
                self.process.last_known = self.last_reading(snapshot.header.last_reading);
                self.names(&snapshot, &mut live);
                self.blocks(&snapshot, &mut live, file)?;
                self.forget_what_was_cut_off();
                live.faults.extend(snapshot.faults.into_iter().map(|(bytes, why)| LiveFault { bytes, why }));
            }
            Err(why) => live.faults.push(LiveFault { bytes: 0, why }),
        }
        self.process.live = Some(live);
        Ok(())
    }

    /// The later of the last reading in the file and that in the live file, which is 0 if there is none.
    fn last_reading(&self, in_live: u64) -> Option<LocalTicks> {
        let in_file = self.process.anchors.iter().map(|anchor| anchor.ticks).max();
        Some(in_live.max(in_file.unwrap_or(0))).filter(|ticks| *ticks > 0).map(LocalTicks)
    }

    /// Whether a live file is of this process. A file that was killed before it could say which it is believes the names.
    fn is_own(&self, snapshot: &Snapshot) -> Result<(), LiveError> {
        let id = snapshot.header.process_id;
        let same = |entry: &Entry| entry.kind == BlockKind::Process && process_id(&entry.payload) == Some(id);
        let unknown = self.process.id == [0; 16];
        let own = if unknown { snapshot.names().flatten().any(|entry| same(&entry)) } else { id == self.process.id };
        if own { Ok(()) } else { Err(LiveError::OtherProcess) }
    }

    /// Names that the log has and the file has not.
    fn names(&mut self, snapshot: &Snapshot, live: &mut Live) {
        let mut adding = Adding::new(self, snapshot.header.process_id);
        for entry in snapshot.names() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(why) => {
                    live.faults.push(LiveFault { bytes: 0, why });
                    return;
                }
            };
            let bytes = entry.payload.len() as u64;
            if let Err(why) = adding.take(entry) {
                live.faults.push(LiveFault { bytes, why: LiveError::Schema(why.to_string()) });
            }
        }
    }

    fn blocks(&mut self, snapshot: &Snapshot, live: &mut Live, file: Option<&File>) -> io::Result<()> {
        for (&stream, &dropped) in &snapshot.dropped {
            let stream = self.streams.get_or_create(stream);
            stream.dropped = stream.dropped.max(dropped);
        }
        let mut pieces: Vec<&Piece> = snapshot.pieces.iter().collect();
        pieces.sort_by_key(|piece| (piece.stream, piece.sequence, piece.slot_offset));
        let mut before: Option<(u32, u64)> = None;
        let mut payload = Vec::new();
        for piece in pieces {
            let name = (piece.stream, piece.sequence);
            if before.map(|(stream, _)| stream) != Some(piece.stream) {
                let blocks = &mut self.streams.get_or_create(piece.stream).blocks;
                blocks.sort_by_key(|block| (block.live, block.header.sequence, block.payload_offset));
            }
            if before == Some(name) {
                let what = format!("block {} of stream {}, which another slot has", piece.sequence, piece.stream);
                self.refuse(piece, live, LiveError::Slot { offset: piece.slot_offset, what });
                continue;
            }
            before = Some(name);
            payload.resize(piece.bytes as usize, 0);
            if let Some(spool) = &snapshot.spooled {
                let filled = read_at(spool, &mut payload, piece.offset)?;
                payload.truncate(filled);
            }
            self.block_of(piece, &payload, live, file)?;
        }
        self.process.spool.clone_from(&snapshot.spooled);
        Ok(())
    }

    /// Makes a block of records of what a slot had, behind what of it the file has.
    fn block_of(&mut self, piece: &Piece, payload: &[u8], live: &mut Live, file: Option<&File>) -> io::Result<()> {
        let (mut skip, mut first, mut claimed) = (0, piece.first, piece.records);
        let mut sequence = piece.sequence;
        while let Some((block, file)) = self.block_in_file(piece.stream, sequence).zip(file) {
            let start = match same_start(&block, &payload[skip..], file)? {
                Start::All => return Ok(()),
                // The recorder threw it away after it was copied, and the file says so.
                Start::Other if piece.overwrites => return Ok(()),
                // Its own dates: what the slot says of them may be half written.
                Start::Part(raw) => self.walk(&raw, block.header.first_ticks, piece.last),
                Start::Other => {
                    let what = format!("block {sequence} of stream {}, which the file has otherwise", piece.stream);
                    self.refuse(piece, live, LiveError::Slot { offset: piece.slot_offset, what });
                    return Ok(());
                }
            };
            (skip, first, claimed) = (skip + start.bytes, start.last, claimed.saturating_sub(start.records));
            if start.why.is_some() {
                break;
            }
            sequence = sequence.saturating_add(1);
        }
        let rest = &payload[skip..];
        let walk = self.walk(rest, first, piece.last);
        if let Some(why) = walk.why {
            let (offset, good, bytes) = (piece.slot_offset, walk.bytes as u64, rest.len() as u64);
            live.faults.push(LiveFault { bytes: bytes - good, why: LiveError::Records { offset, good, bytes, why } });
            live.lost_records += u64::from(claimed.saturating_sub(walk.records));
        }
        if walk.bytes == 0 {
            return Ok(());
        }
        #[expect(clippy::cast_possible_truncation, reason = "a slot has at most 2^16 bytes")]
        let bytes = walk.bytes as u32;
        let header = BlockHeader {
            kind: BlockKind::Records as u8,
            codec: Codec::Raw as u8,
            flags: if piece.overwrites { flag::OVERWRITTEN } else { 0 },
            stream: piece.stream,
            records: walk.records,
            // What follows a block of the file in its slot goes by the name of that block: the next slot may have the next.
            sequence: if skip > 0 { sequence.saturating_sub(1).max(piece.sequence) } else { piece.sequence },
            raw_bytes: bytes,
            stored_bytes: bytes,
            dropped: piece.dropped,
            first_ticks: first,
            last_ticks: walk.last,
        };
        live.blocks += 1;
        live.records += u64::from(walk.records);
        live.bytes += u64::from(bytes);
        let payload_offset = piece.offset + skip as u64;
        let stream = self.streams.get_or_create(piece.stream);
        stream.blocks.push(BlockIndex { payload_offset, header, live: true });
        Ok(())
    }

    /// The block of the file that has the name of a slot's; the stream's blocks of the file are sorted and come first.
    fn block_in_file(&self, stream: u32, sequence: u64) -> Option<BlockIndex> {
        let blocks = &self.streams.get(stream)?.blocks;
        let sealed = &blocks[..blocks.partition_point(|block| !block.live)];
        let at = sealed.partition_point(|block| block.header.sequence < sequence);
        sealed.get(at).filter(|block| block.header.sequence == sequence).copied()
    }

    fn refuse(&self, piece: &Piece, live: &mut Live, why: LiveError) {
        live.faults.push(LiveFault { bytes: u64::from(piece.bytes), why });
        live.lost_records += u64::from(piece.records);
    }

    /// Follows records by the schemas of the process. No date may go back, or pass `limit`.
    fn walk(&self, payload: &[u8], first: u64, limit: u64) -> Walk {
        let mut records = Records::new(payload, first, |id| self.process.record_type(id));
        let mut walk = Walk { bytes: 0, records: 0, last: first, why: None };
        loop {
            match records.next() {
                None => return walk,
                Some(Err(why)) => walk.why = Some(why.to_string()),
                Some(Ok(record)) if record.ticks < walk.last || record.ticks > limit => {
                    let why = format!(
                        "a record of id {} has the date {}, outside {}..{limit}",
                        record.id, record.ticks, walk.last
                    );
                    walk.why = Some(why);
                }
                Some(Ok(record)) => {
                    walk.bytes = records.offset();
                    walk.last = record.ticks;
                    walk.records += u32::from(record.id != ID_LOST);
                    continue;
                }
            }
            return walk;
        }
    }
}

/// What of a slot's payload a block of the file with its name has.
enum Start {
    /// All of it, and perhaps what came later.
    All,
    /// Its start: these bytes.
    Part(Vec<u8>),
    /// Something else.
    Other,
}

/// Compares a slot's payload with the block of the file that has its name: a process that is killed when a block was just
/// written may have recorded on behind it in the slot.
fn same_start(block: &BlockIndex, payload: &[u8], file: &File) -> io::Result<Start> {
    let header = &block.header;
    if header.raw_bytes as usize >= payload.len() {
        return Ok(Start::All);
    }
    let mut stored = vec![0; header.stored_bytes as usize];
    let filled = read_at(file, &mut stored, block.payload_offset)?;
    let mut buffer = Vec::new();
    let raw: Result<&[u8], FormatError> = unpack(header, &stored[..filled], &mut buffer);
    Ok(match raw {
        Ok(raw) if is_start(raw, payload) => Start::Part(raw.to_vec()),
        _ => Start::Other,
    })
}

/// The first delta of a block counts from the date in its head, which may be another than the slot's.
fn is_start(raw: &[u8], payload: &[u8]) -> bool {
    let delta = 2..RECORD_HEAD_BYTES;
    raw.len() >= RECORD_HEAD_BYTES
        && payload.get(..delta.start) == raw.get(..delta.start)
        && payload.get(delta.end..raw.len()) == raw.get(delta.end..)
}
