//! The records of one stream, block by block.

mod position;

use std::fs::File;
use std::rc::Rc;
use std::sync::Arc;

use tracer_format::block::{columns, flag, unpack};
use tracer_format::columns::{BlockColumns, TypeSize};
use tracer_format::record::DroppedRecords;
use tracer_format::{FormatError, ID_DROPPED, PayloadCodec, RECORD_HEAD_BYTES, RecordIterator, cause};

use super::error::RunReadError;
use super::memory_budget::{BudgetShare, BudgetUser};
use super::process::{BlockIndex, DamagedRange, ProcessInRun, RecordExtent, StreamInRun};
pub(crate) use position::{BlockPosition, RecordPosition};
use tumit_paje::time::LocalTicks;

/// Maximum number of causes with separate sums.
const MAX_CAUSES: usize = 64;

/// Bytes of memory per record of a block that is evaluated by columns: ticks, raw timestamp,
/// corrected timestamp and operation, 8 bytes each.
const RECORD_MEMORY: usize = 32;

/// Reads a stream. Holds one decoded block, or one piece of it.
#[derive(Debug)]
pub(crate) struct RunStreamReader<'r> {
    process: &'r ProcessInRun,
    stream: &'r StreamInRun,
    file: Arc<File>,
    /// The index of the next block of the stream.
    next_block: usize,
    payload: Rc<Vec<u8>>,
    /// Budget memory of `payload`.
    memory: BudgetShare,
    /// Budget memory of the last block that was evaluated by columns. `take_memory` takes it.
    of_columns: BudgetShare,
    /// The offset of `payload` in the current block. Set if `payload` is a piece and further pieces
    /// follow.
    piece: Option<usize>,
    /// Size in bytes of a piece that held a long record.
    long_piece: usize,
    sharer: BudgetUser,
    extents: &'r [RecordExtent],
    stored_payload: Vec<u8>,
    offset: usize,
    ticks: u64,
    in_block: u32,
    ordinal: u64,
    losses: Vec<DroppedRecords>,
    damage: Vec<DamagedRange>,
    damaged_records: u64,
    /// The dropped, damaged or missing records between the last record and the next one.
    gap: Option<DroppedRecords>,
    /// Whether the losses at the end of the stream were added.
    has_end_losses: bool,
    /// Whether a mark identifies the next record as truncated.
    is_marked: bool,
    /// Number of missing bytes in the last truncation mark.
    missing_bytes: u64,
    truncated_records: u64,
}

impl<'r> RunStreamReader<'r> {
    /// Reads `stream` of `process` from its file.
    pub(crate) fn new(process: &'r ProcessInRun, stream: &'r StreamInRun, file: Arc<File>) -> Self {
        Self {
            process,
            stream,
            file,
            next_block: 0,
            payload: Rc::default(),
            memory: BudgetShare::default(),
            of_columns: BudgetShare::default(),
            piece: None,
            long_piece: 0,
            sharer: BudgetUser::new(),
            extents: process.extents(),
            stored_payload: Vec::new(),
            offset: 0,
            ticks: 0,
            in_block: 0,
            ordinal: 0,
            losses: Vec::new(),
            damage: Vec::new(),
            damaged_records: 0,
            gap: None,
            has_end_losses: false,
            is_marked: false,
            missing_bytes: 0,
            truncated_records: 0,
        }
    }

    pub(crate) const fn process(&self) -> &'r ProcessInRun {
        self.process
    }

    /// The sums of the `dropped` records so far, one for each cause.
    pub(crate) fn losses(&self) -> &[DroppedRecords] {
        &self.losses
    }

    /// Number of truncated records among those read so far.
    pub(crate) const fn truncated_records(&self) -> u64 {
        self.truncated_records
    }

    /// Number of bytes missing from the last truncated record.
    pub(crate) const fn missing_bytes(&self) -> u64 {
        self.missing_bytes
    }

    /// The gap before the last record that was read, or after the last record of the stream. A
    /// second call returns `None`.
    pub(crate) fn take_gap(&mut self) -> Option<DroppedRecords> {
        self.gap.take()
    }

    /// The number of records read.
    pub(crate) const fn records_read(&self) -> u64 {
        self.ordinal
    }

    /// The current timestamp in ticks.
    pub(crate) const fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Adds to the gap before the next record.
    fn add_to_gap(&mut self, drops: &DroppedRecords) {
        let Some(gap) = &mut self.gap else {
            self.gap = Some(*drops);
            return;
        };
        gap.count = gap.count.saturating_add(drops.count);
        gap.bytes = gap.bytes.saturating_add(drops.bytes);
        gap.first_ticks = gap.first_ticks.min(drops.first_ticks);
        gap.last_ticks = gap.last_ticks.max(drops.last_ticks);
        gap.cause |= drops.cause;
    }

    /// Adds at least `count` unreadable records between two timestamps in ticks to the gap.
    fn add_damage_to_gap(&mut self, count: u64, first_ticks: u64, last_ticks: u64) {
        self.add_to_gap(&DroppedRecords { count, bytes: 0, first_ticks, last_ticks, cause: cause::DAMAGED });
    }

    /// Adds reported drops to the gap and to the sums.
    fn add_drops(&mut self, drops: &DroppedRecords) {
        self.add_to_gap(drops);
        let Some(sum) = self.losses.iter_mut().find(|sum| sum.cause == drops.cause) else {
            // A valid file has few causes. The limit keeps a damaged file from using much memory.
            if self.losses.len() < MAX_CAUSES {
                self.losses.push(*drops);
            }
            return;
        };
        sum.count = sum.count.saturating_add(drops.count);
        sum.bytes = sum.bytes.saturating_add(drops.bytes);
        sum.first_ticks = sum.first_ticks.min(drops.first_ticks);
        sum.last_ticks = sum.last_ticks.max(drops.last_ticks);
    }

    /// Skips the first blocks as long as `is_before` holds for the timestamp of their last record.
    pub(crate) fn skip_before(&mut self, is_before: impl Fn(u64) -> bool) {
        let blocks = &self.stream.blocks[self.next_block..];
        self.next_block += blocks.iter().take_while(|block| is_before(block.header.last_ticks)).count();
    }

    /// Blocks with a correct checksum and undecodable contents.
    pub(crate) fn damage(&self) -> &[DamagedRange] {
        &self.damage
    }

    /// Number of records in [`Self::damage`].
    pub(crate) const fn damaged_records(&self) -> u64 {
        self.damaged_records
    }

    /// Number of blocks read so far.
    pub(crate) const fn blocks_read(&self) -> usize {
        self.next_block
    }

    /// Whether the next record is the first of a block, and no gap precedes it so far.
    pub(crate) fn is_between_blocks(&self) -> bool {
        self.offset >= self.payload.len() && self.piece.is_none() && self.gap.is_none()
    }

    /// Whether the current block is the last one, and no losses follow it. Records of this block
    /// may be unread.
    pub(crate) fn has_no_further_block(&self) -> bool {
        let stream = self.stream;
        self.next_block >= stream.blocks.len() && stream.unreported_losses().is_empty() && !stream.end_is_torn()
    }

    /// Reads the whole next block, but only the columns that `is_wanted(id, part)` selects. Returns
    /// the position of the block.
    ///
    /// `None` if its records must be read one by one. This is the case if there is a gap before it,
    /// if it has another codec or is damaged, if it contains `dropped` records or records of
    /// varying size, if the memory budget has no room, or if `is_due` is false for its first
    /// timestamp.
    pub(crate) fn next_columns(
        &mut self,
        is_wanted: impl FnMut(u16, usize) -> bool,
        is_due: impl Fn(u64) -> bool,
    ) -> Result<Option<(BlockColumns, BlockPosition)>, RunReadError> {
        let Some(block) = self.stream.blocks.get(self.next_block).filter(|_| self.is_between_blocks()) else {
            return Ok(None);
        };
        let previous_block = self.next_block.checked_sub(1).map(|previous_block| &self.stream.blocks[previous_block]);
        let is_packed = block.header.codec == PayloadCodec::Columns as u8;
        if !is_packed || is_gap(previous_block, block) || !is_due(block.header.first_ticks) {
            return Ok(None);
        }
        let expected = block.header.records as usize;
        let bytes = (block.header.raw_bytes as usize).saturating_add(expected.saturating_mul(RECORD_MEMORY));
        (self.payload, self.memory) = (Rc::default(), BudgetShare::default());
        let Some(memory) = BudgetShare::reserve(bytes) else { return Ok(None) };
        let filled = self.process.read_stored(&self.file, block, &mut self.stored_payload)?;
        let stored_payload = &self.stored_payload[..filled];
        let is_plain = |TypeSize { id, bytes: size }: TypeSize| match self.extents.get(usize::from(id)) {
            Some(RecordExtent::Fixed(bytes) | RecordExtent::Located(bytes)) => {
                size == RECORD_HEAD_BYTES + *bytes as usize
            }
            _ => false,
        };
        if !BlockColumns::sizes(stored_payload).is_some_and(|sizes| sizes.into_iter().all(is_plain)) {
            return Ok(None);
        }
        let first_ticks = block.header.first_ticks;
        let Some(columns) = columns(&block.header, stored_payload, is_wanted) else { return Ok(None) };
        let Some(last_ticks) = first_ticks.checked_add(columns.length()) else { return Ok(None) };
        // The header of a damaged block may state fewer records.
        if columns.records() > expected {
            return Ok(None);
        }
        let position =
            BlockPosition { number: self.next_block + 1, first_ticks, last_ticks, first_ordinal: self.ordinal };
        self.of_columns = memory;
        self.is_marked = false;
        (self.offset, self.ticks, self.in_block) = (0, last_ticks, block.header.records);
        self.next_block += 1;
        self.ordinal += columns.records() as u64;
        Ok(Some((columns, position)))
    }

    /// Whether further pieces of the current block follow, because memory is short.
    pub(crate) const fn has_further_pieces(&self) -> bool {
        self.piece.is_some()
    }

    /// The memory of the last block by columns. The caller holds it as long as the evaluated
    /// records.
    pub(crate) fn take_memory(&mut self) -> BudgetShare {
        std::mem::take(&mut self.of_columns)
    }

    /// Reads the next record, and returns its position in its block. `None` at the end of the
    /// stream.
    pub(crate) fn advance(&mut self) -> Result<Option<RecordPosition>, RunReadError> {
        loop {
            if let Some(position) = self.advance_plainly() {
                return Ok(Some(position));
            }
            // A record at the end of a piece may continue in the next piece.
            if self.piece.is_some() && self.payload.len() - self.offset < self.payload.len() / 2 {
                self.load_piece()?;
                continue;
            }
            if self.offset >= self.payload.len() {
                if !self.load()? {
                    return Ok(None);
                }
                continue;
            }
            let process = self.process;
            let mut records =
                RecordIterator::new(&self.payload[self.offset..], self.ticks, |id| process.record_type(id));
            match records.next() {
                Some(Ok(raw)) => {
                    let length = raw.body.len();
                    let (id, ticks, site) = (raw.id, raw.ticks, raw.site);
                    let dropped = if id == ID_DROPPED { DroppedRecords::decode(raw.body) } else { None };
                    self.offset += records.offset();
                    self.ticks = ticks;
                    if let Some(dropped) = dropped {
                        self.is_marked = dropped.is_truncation();
                        if self.is_marked {
                            self.missing_bytes = dropped.bytes;
                        } else {
                            self.add_drops(&dropped);
                        }
                        continue;
                    }
                    self.in_block += 1;
                    let is_truncated = std::mem::take(&mut self.is_marked);
                    self.truncated_records += u64::from(is_truncated);
                    let ordinal = self.ordinal;
                    self.ordinal += 1;
                    let start = self.offset - length;
                    #[expect(clippy::cast_possible_truncation, reason = "payloads are at most 2^24 bytes")]
                    let (start, length) = (start as u32, length as u32);
                    return Ok(Some(RecordPosition {
                        id,
                        ticks: LocalTicks(ticks),
                        site,
                        ordinal,
                        start,
                        length,
                        is_truncated,
                    }));
                }
                Some(Err(_)) if self.piece.is_some() => {
                    self.long_piece = self.payload.len().saturating_mul(2);
                    self.load_piece()?;
                }
                Some(Err(error)) => self.give_up_block(error),
                None => self.offset = self.payload.len(),
            }
        }
    }

    /// The next record of the current block, if it is complete and its type has a constant size.
    /// Nearly all records take this path.
    #[inline]
    pub(crate) fn advance_plainly(&mut self) -> Option<RecordPosition> {
        let unread_bytes = self.payload.get(self.offset..)?;
        let head = unread_bytes.first_chunk::<RECORD_HEAD_BYTES>()?;
        let id = u16::from_le_bytes([head[0], head[1]]);
        let (length, skip) = match *self.extents.get(usize::from(id))? {
            RecordExtent::Fixed(length) => (length, 0),
            RecordExtent::Located(length) => (length, 4),
            RecordExtent::Varies => return None,
        };
        let body = unread_bytes.get(RECORD_HEAD_BYTES..RECORD_HEAD_BYTES + length as usize)?;
        let delta = u32::from_le_bytes([head[2], head[3], head[4], head[5]]);
        self.ticks = self.ticks.wrapping_add(u64::from(delta));
        let site = if skip > 0 { body.first_chunk().map_or(0, |site| u32::from_le_bytes(*site)) } else { 0 };
        #[expect(clippy::cast_possible_truncation, reason = "payloads are at most 2^24 bytes")]
        let start = (self.offset + RECORD_HEAD_BYTES) as u32 + skip;
        self.offset += RECORD_HEAD_BYTES + length as usize;
        self.in_block += 1;
        let ordinal = self.ordinal;
        self.ordinal += 1;
        let ticks = LocalTicks(self.ticks);
        // Only records of variable size can be truncated.
        Some(RecordPosition { id, ticks, site, ordinal, start, length: length - skip, is_truncated: false })
    }

    /// The bytes of a record of the current block.
    pub(crate) fn body(&self, position: &RecordPosition) -> &[u8] {
        position.body(&self.payload)
    }

    /// The current block, to keep it while its records wait.
    pub(crate) fn block(&self) -> Rc<Vec<u8>> {
        Rc::clone(&self.payload)
    }

    fn give_up_block(&mut self, reason: FormatError) {
        self.is_marked = false;
        let block = &self.stream.blocks[self.next_block - 1];
        let bytes = (self.payload.len() - self.offset) as u64;
        let hidden = u64::from(block.header.records.saturating_sub(self.in_block));
        self.damaged_records += hidden;
        self.add_damage_to_gap(hidden, self.ticks, block.header.last_ticks);
        self.damage.push(DamagedRange { offset: block.payload_offset, bytes, reason });
        self.offset = self.payload.len();
    }

    /// Loads the piece of the current block that begins with the next record.
    fn load_piece(&mut self) -> Result<(), RunReadError> {
        let Some(begin) = self.piece.take().map(|begin| begin + self.offset) else { return Ok(()) };
        self.payload = Rc::default();
        let block = &self.stream.blocks[self.next_block - 1];
        let filled = self.process.read_stored(&self.file, block, &mut self.stored_payload)?;
        let mut whole = Vec::new();
        // `load` unpacked the same block without an error.
        let stored = std::mem::take(&mut self.stored_payload);
        let whole = unpack(&block.header, &stored[..filled], &mut whole).unwrap_or_default();
        self.set_piece(whole, begin);
        Ok(())
    }

    /// Keeps the piece of the current block that begins at this byte.
    fn set_piece(&mut self, payload: &[u8], begin: usize) {
        let bytes = self.sharer.piece().max(self.long_piece);
        let rest = payload.get(begin..).unwrap_or_default();
        let piece = &rest[..rest.len().min(bytes)];
        self.piece = Some(begin).filter(|_| piece.len() < rest.len());
        self.payload = Rc::new(piece.to_vec());
        self.offset = 0;
        self.stored_payload = Vec::new();
    }

    /// Loads the next block. A block that cannot be decoded counts as damage.
    fn load(&mut self) -> Result<bool, RunReadError> {
        let Some(block) = self.stream.blocks.get(self.next_block) else {
            (self.payload, self.memory, self.offset) = (Rc::default(), BudgetShare::default(), 0);
            if !std::mem::replace(&mut self.has_end_losses, true) {
                self.stream.unreported_losses().iter().for_each(|dropped| self.add_drops(dropped));
                if self.stream.end_is_torn() {
                    self.add_damage_to_gap(0, self.ticks, self.ticks);
                }
            }
            return Ok(false);
        };
        let previous_block = self.next_block.checked_sub(1).map(|previous_block| &self.stream.blocks[previous_block]);
        if is_gap(previous_block, block) {
            self.is_marked = false;
            // The number of records in a missing block is unknown.
            let first = if previous_block.is_some() { self.ticks } else { block.header.first_ticks };
            self.add_damage_to_gap(0, first, block.header.first_ticks);
        }
        self.next_block += 1;
        self.in_block = 0;
        self.offset = 0;
        self.ticks = block.header.first_ticks;
        self.memory = BudgetShare::default();
        let room = BudgetShare::reserve(block.header.raw_bytes as usize);
        let byte_count = self.process.read_stored(&self.file, block, &mut self.stored_payload)?;
        // Waiting records may still refer to the last block. The new block then gets a new buffer.
        let mut payload = Rc::try_unwrap(std::mem::take(&mut self.payload)).unwrap_or_default();
        let result = match unpack(&block.header, &self.stored_payload[..byte_count], &mut payload) {
            Ok(unpacked) if block.header.codec == PayloadCodec::Raw as u8 => {
                let copy = unpacked.to_vec();
                Ok(copy)
            }
            Ok(_) => Ok(payload),
            Err(error) => Err(error),
        };
        match result {
            Ok(payload) => match room {
                Some(memory) => (self.payload, self.memory) = (Rc::new(payload), memory),
                None => self.set_piece(&payload, 0),
            },
            Err(reason) => {
                self.is_marked = false;
                self.damage.push(DamagedRange { offset: block.payload_offset, bytes: byte_count as u64, reason });
                self.damaged_records += u64::from(block.header.records);
                self.add_damage_to_gap(block.header.records.into(), block.header.first_ticks, block.header.last_ticks);
                self.payload = Rc::default();
            }
        }
        Ok(true)
    }
}

/// Whether blocks are missing between two blocks. `previous_block` is `None` at the start of a
/// stream. After a block of the live file, the recorder may skip a sequence number. With the flag
/// `OVERWRITTEN`, a `dropped` record already counts the missing blocks.
pub(crate) fn is_gap(previous_block: Option<&BlockIndex>, block: &BlockIndex) -> bool {
    let expected = previous_block.map_or(0, |previous_block| previous_block.header.sequence.saturating_add(1));
    let explained =
        previous_block.is_some_and(|previous_block| previous_block.live) || block.header.flags & flag::OVERWRITTEN != 0;
    !explained && block.header.sequence > expected
}
