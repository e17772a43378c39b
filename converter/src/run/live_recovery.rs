//! Adds the contents of a live file to a process without an orderly end: names and blocks of
//! records. Records are used up to the first one that the schema cannot decode.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use tracer_format::block::{flag, unpack};
use tracer_format::{BlockHeader, BlockKind, FormatError, ID_DROPPED, PayloadCodec, RECORD_HEAD_BYTES, RecordIterator};

use super::live_snapshot::{LiveError, LiveFault, LiveLogEntry, LiveSnapshot, RecoveredPiece};
use super::name_recovery::{ProcessNames, process_id};
use super::process::{BlockIndex, LiveFileUse};
use super::process_builder::ProcessBuilder;
use super::read_at::read_at;
use tumit_paje::time::LocalTicks;

/// The result of decoding the records of a payload.
struct RecordWalk {
    /// Number of bytes of valid records.
    bytes: usize,
    records: u32,
    /// Ticks of the last valid record.
    last: u64,
    /// The error at which decoding stopped.
    error: Option<String>,
}

impl ProcessBuilder {
    /// Adds the contents of a live file that are missing from the process file, which is already
    /// scanned.
    pub(super) fn add_live_file(
        &mut self,
        snapshot: Result<LiveSnapshot, LiveError>,
        path: PathBuf,
        file: Option<&File>,
    ) -> io::Result<()> {
        let mut live = LiveFileUse { path, ..LiveFileUse::default() };
        match snapshot.and_then(|snapshot| self.is_own(&snapshot).map(|()| snapshot)) {
            Ok(snapshot) => {
                live.is_used = true;
                live.dropped = snapshot.header.dropped;
                self.process.truncated_records = snapshot.header.truncated_records;
                self.process.end = Some(LocalTicks(snapshot.header.process_end)).filter(|end| end.0 > 0);
                self.process.last_known = self.last_reading(snapshot.header.last_reading);
                self.names(&snapshot, &mut live);
                self.blocks(&snapshot, &mut live, file)?;
                self.remove_cut_off_damage();
                live.faults.extend(snapshot.faults);
            }
            Err(reason) => live.faults.push(LiveFault { bytes: 0, reason }),
        }
        self.process.live = Some(live);
        Ok(())
    }

    /// The last known clock reading of the process: the later of the last anchor in its file and
    /// the last reading in its live file. `in_live` is 0 if the live file has none.
    fn last_reading(&self, in_live: u64) -> Option<LocalTicks> {
        let in_file = self.process.anchors.iter().map(|anchor| anchor.ticks).max();
        Some(in_live.max(in_file.unwrap_or(0))).filter(|ticks| *ticks > 0).map(LocalTicks)
    }

    /// Whether a live file belongs to this process. If the process was killed before its file
    /// contained its id, the log of names decides.
    fn is_own(&self, snapshot: &LiveSnapshot) -> Result<(), LiveError> {
        let id = snapshot.header.process_id;
        let same = |entry: &LiveLogEntry| entry.kind == BlockKind::Process && process_id(&entry.payload) == Some(id);
        let unknown = self.process.id == [0; 16];
        let is_own = if unknown { snapshot.names().flatten().any(|entry| same(&entry)) } else { id == self.process.id };
        if is_own { Ok(()) } else { Err(LiveError::OtherProcess) }
    }

    /// Adds the names of the log that are missing from the file.
    fn names(&mut self, snapshot: &LiveSnapshot, live: &mut LiveFileUse) {
        let mut adding = ProcessNames::new(self, snapshot.header.process_id);
        for entry in snapshot.names() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(reason) => {
                    live.faults.push(LiveFault { bytes: 0, reason });
                    return;
                }
            };
            let bytes = entry.payload.len() as u64;
            if let Err(error) = adding.add_entry(entry) {
                live.faults.push(LiveFault { bytes, reason: LiveError::Schema(error.to_string()) });
            }
        }
    }

    fn blocks(&mut self, snapshot: &LiveSnapshot, live: &mut LiveFileUse, file: Option<&File>) -> io::Result<()> {
        for (&stream, &dropped) in &snapshot.drops {
            let stream = self.streams.get_or_create(stream);
            stream.dropped = stream.dropped.max(dropped);
        }
        let mut pieces: Vec<&RecoveredPiece> = snapshot.pieces.iter().collect();
        pieces.sort_by_key(|piece| (piece.stream, piece.sequence, piece.slot_offset));
        let mut previous_block: Option<(u32, u64)> = None;
        let mut payload = Vec::new();
        for piece in pieces {
            let name = (piece.stream, piece.sequence);
            if previous_block.map(|(stream, _)| stream) != Some(piece.stream) {
                let blocks = &mut self.streams.get_or_create(piece.stream).blocks;
                blocks.sort_by_key(|block| (block.live, block.header.sequence, block.payload_offset));
            }
            if previous_block == Some(name) {
                let problem =
                    format!("block {} of stream {}, which another slot contains", piece.sequence, piece.stream);
                self.note_unusable(piece, live, LiveError::Slot { offset: piece.slot_offset, problem });
                continue;
            }
            previous_block = Some(name);
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

    /// Makes a block from the records of a slot, after those that the file has.
    fn block_of(
        &mut self,
        piece: &RecoveredPiece,
        payload: &[u8],
        live: &mut LiveFileUse,
        file: Option<&File>,
    ) -> io::Result<()> {
        let (mut skip, mut first, mut claimed) = (0, piece.first, piece.records);
        let mut sequence = piece.sequence;
        while let Some((block, file)) = self.block_in_file(piece.stream, sequence).zip(file) {
            let start = match same_start(&block, &payload[skip..], file)? {
                PayloadOverlap::All => return Ok(()),
                // The recorder discarded the block after the copy, and the file records this.
                PayloadOverlap::Other if piece.overwrites => return Ok(()),
                // Uses the timestamps of the block, because those of the slot may be partially
                // written.
                PayloadOverlap::Part(raw) => self.walk(&raw, block.header.first_ticks, piece.last),
                PayloadOverlap::Other => {
                    let problem = format!(
                        "block {sequence} of stream {}, which has other contents in the process file",
                        piece.stream
                    );
                    self.note_unusable(piece, live, LiveError::Slot { offset: piece.slot_offset, problem });
                    return Ok(());
                }
            };
            (skip, first, claimed) = (skip + start.bytes, start.last, claimed.saturating_sub(start.records));
            if start.error.is_some() {
                break;
            }
            sequence = sequence.saturating_add(1);
        }
        let remainder = &payload[skip..];
        let walk = self.walk(remainder, first, piece.last);
        if let Some(error) = walk.error {
            let (offset, valid_bytes, bytes) = (piece.slot_offset, walk.bytes as u64, remainder.len() as u64);
            live.faults.push(LiveFault {
                bytes: bytes - valid_bytes,
                reason: LiveError::Records { offset, valid_bytes, bytes, error },
            });
            live.unreadable_records += u64::from(claimed.saturating_sub(walk.records));
        }
        if walk.bytes == 0 {
            return Ok(());
        }
        #[expect(clippy::cast_possible_truncation, reason = "a slot has at most 2^16 bytes")]
        let bytes = walk.bytes as u32;
        let header = BlockHeader {
            kind: BlockKind::Records as u8,
            codec: PayloadCodec::Raw as u8,
            flags: if piece.overwrites { flag::OVERWRITTEN } else { 0 },
            stream: piece.stream,
            records: walk.records,
            // The rest of a slot after a block of the file keeps the number of that block, because
            // the next slot may have the next number.
            sequence: if skip > 0 { sequence.saturating_sub(1).max(piece.sequence) } else { piece.sequence },
            raw_bytes: bytes,
            stored_bytes: bytes,
            dropped: piece.drops,
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

    /// The block of the file with the stream and number of a slot's block. The blocks of the file
    /// are sorted and precede those of the live file.
    fn block_in_file(&self, stream: u32, sequence: u64) -> Option<BlockIndex> {
        let blocks = &self.streams.get(stream)?.blocks;
        let sealed = &blocks[..blocks.partition_point(|block| !block.live)];
        let position = sealed.partition_point(|block| block.header.sequence < sequence);
        sealed.get(position).filter(|block| block.header.sequence == sequence).copied()
    }

    fn note_unusable(&self, piece: &RecoveredPiece, live: &mut LiveFileUse, reason: LiveError) {
        live.faults.push(LiveFault { bytes: u64::from(piece.bytes), reason });
        live.unreadable_records += u64::from(piece.records);
    }

    /// Decodes records by the schemas of the process. Timestamps must not decrease or exceed
    /// `limit`.
    fn walk(&self, payload: &[u8], first: u64, limit: u64) -> RecordWalk {
        let mut records = RecordIterator::new(payload, first, |id| self.process.record_type(id));
        let mut walk = RecordWalk { bytes: 0, records: 0, last: first, error: None };
        loop {
            match records.next() {
                None => return walk,
                Some(Err(why)) => walk.error = Some(why.to_string()),
                Some(Ok(record)) if record.ticks < walk.last || record.ticks > limit => {
                    let error = format!(
                        "a record with id {} has the timestamp {}, outside {}..{limit}",
                        record.id, record.ticks, walk.last
                    );
                    walk.error = Some(error);
                }
                Some(Ok(record)) => {
                    walk.bytes = records.offset();
                    walk.last = record.ticks;
                    walk.records += u32::from(record.id != ID_DROPPED);
                    continue;
                }
            }
            return walk;
        }
    }
}

/// The part of a slot's payload that the block of the file with its number contains.
enum PayloadOverlap {
    /// The whole payload, and possibly later records.
    All,
    /// The start of the payload: these bytes.
    Part(Vec<u8>),
    /// The contents differ.
    Other,
}

/// Compares the payload of a slot with the block of the file that has its number. A process that is
/// killed just after it writes a block may have recorded further records after this block in the
/// slot.
fn same_start(block: &BlockIndex, payload: &[u8], file: &File) -> io::Result<PayloadOverlap> {
    let header = &block.header;
    if header.raw_bytes as usize >= payload.len() {
        return Ok(PayloadOverlap::All);
    }
    let mut stored = vec![0; header.stored_bytes as usize];
    let filled = read_at(file, &mut stored, block.payload_offset)?;
    let mut buffer = Vec::new();
    let raw: Result<&[u8], FormatError> = unpack(header, &stored[..filled], &mut buffer);
    Ok(match raw {
        Ok(raw) if is_start(raw, payload) => PayloadOverlap::Part(raw.to_vec()),
        _ => PayloadOverlap::Other,
    })
}

/// Whether `raw` is the start of `payload`. The first delta is ignored, because the header of the
/// block may have another timestamp than the slot.
fn is_start(raw: &[u8], payload: &[u8]) -> bool {
    let delta = 2..RECORD_HEAD_BYTES;
    raw.len() >= RECORD_HEAD_BYTES
        && payload.get(..delta.start) == raw.get(..delta.start)
        && payload.get(delta.end..raw.len()) == raw.get(delta.end..)
}
