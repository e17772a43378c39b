//! Reads the records of one process: stream by stream, or in order of time.

use std::fs::File;
use std::sync::Arc;

use tracer_format::block::unpack;
use tracer_format::record::{DroppedRecords, RecordIterator};
use tracer_format::record_values::{
    BoundType, Context, Family, Head, Origin, SchemaBinding, SiteRef, Tables, TypedRecord, bind,
};
use tracer_format::{FormatError, ID_DROPPED, RecordType};

use crate::clock::{CorrectionMethod, RunClocks};
use crate::run::{DamagedRange, OpenRun, ProcessInRun, RecordTypePosition, RunReadError, StreamInRun, open_shared};

/// Order in which the records of a process are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadOrder {
    /// One stream after the other. Keeps one block in memory.
    #[default]
    Streams,
    /// All streams in order of time. Of equal timestamps, the earlier stream comes first. Keeps one
    /// block per stream in memory.
    Timestamps,
}

/// Reads the records of one process as values of the types of `F`.
#[expect(missing_debug_implementations, reason = "holds a function")]
pub struct RecordReader<'r, F> {
    process: &'r ProcessInRun,
    bindings: Vec<SchemaBinding>,
    nanos: Box<dyn Fn(u64) -> i64 + 'r>,
    cursors: Vec<RecordCursor<'r>>,
    order: ReadOrder,
    stream_index: usize,
    is_begun: bool,
    damage: Vec<DamagedRange>,
    damaged_records: u64,
    family: std::marker::PhantomData<fn() -> F>,
}

/// A stream that is being read.
struct RecordCursor<'r> {
    stream: &'r StreamInRun,
    file: Arc<File>,
    next_block: usize,
    payload: Vec<u8>,
    stored_payload: Vec<u8>,
    position: usize,
    ticks: u64,
    in_block: u32,
    dropped: u64,
    /// The current record and its place in the payload.
    block_start: Option<BlockStart>,
}

#[derive(Clone, Copy)]
struct BlockStart {
    id: u16,
    ticks: u64,
    nanos: i64,
    site: u32,
    start: usize,
    length: usize,
}

impl<'r, F: Family> RecordReader<'r, F> {
    /// Reads the records of a process of the run, stream by stream. Timestamps are on the run's
    /// time line by its sync samples, as in `tumit dump --clock bursts`.
    ///
    /// # Errors
    /// When the file cannot be opened.
    ///
    /// # Panics
    /// When the run has no such process.
    pub fn new(run: &'r OpenRun, process: usize) -> Result<Self, RunReadError> {
        Self::with_order(run, process, ReadOrder::Streams)
    }

    /// The same in a given order.
    ///
    /// # Errors
    /// When the file cannot be opened.
    ///
    /// # Panics
    /// When the run has no such process.
    pub fn with_order(run: &'r OpenRun, process: usize, order: ReadOrder) -> Result<Self, RunReadError> {
        let mut clocks = RunClocks::new(run, CorrectionMethod::Bursts);
        clocks.start_at(crate::convert::planning::shared_facts::first_timestamp(run, &clocks));
        let map = clocks.map(process).clone();
        let process = &run.processes[process];
        let error = |source| RunReadError { file: process.path.clone(), offset: 0, source };
        let file = open_shared(&process.path).map_err(error)?;
        let cursors = process.streams.iter().map(|stream| RecordCursor::new(stream, Arc::clone(&file)));
        Ok(Self {
            process,
            bindings: bind(F::SPEC, process.providers.iter().map(|provider| &provider.schema)),
            nanos: Box::new(move |ticks| map.global_from_local(tumit_paje::time::LocalTicks(ticks)).0),
            cursors: cursors.collect(),
            order,
            stream_index: 0,
            is_begun: false,
            damage: Vec::new(),
            damaged_records: 0,
            family: std::marker::PhantomData,
        })
    }

    /// The next record. It borrows from the reader.
    ///
    /// # Errors
    /// When the file cannot be read. Damage is no error: see [`RecordReader::damage`].
    #[expect(clippy::should_implement_trait, reason = "the records borrow from the reader")]
    pub fn next(&mut self) -> Result<Option<TypedRecord<'_, F::Record<'_>>>, RunReadError> {
        if !self.advance()? {
            return Ok(None);
        }
        let cursor = &self.cursors[self.stream_index];
        let Some(block_start) = cursor.block_start else { return Ok(None) };
        let body = &cursor.payload[block_start.start..block_start.start + block_start.length];
        Ok(Some(self.decode_record(cursor, block_start, body)))
    }

    fn decode_record<'s>(
        &'s self,
        cursor: &'s RecordCursor<'r>,
        block_start: BlockStart,
        body: &'s [u8],
    ) -> TypedRecord<'s, F::Record<'s>> {
        let (process, stream) = (self.process, cursor.stream);
        let site = process.sites.get(block_start.site as usize).and_then(Option::as_ref);
        let head = Head {
            ticks: block_start.ticks,
            nanos: block_start.nanos,
            stream: stream.number,
            pid: process.pid,
            rank: process.rank,
            tid: stream.tid,
            thread: &stream.name,
            label: &stream.label,
            source: site.map(|site| SiteRef { file: &site.file, line: site.line }),
            dropped: cursor.dropped,
        };
        let Some(RecordTypePosition { provider, record: position }) = process.kind(block_start.id) else {
            let dropped = DroppedRecords::decode(body).unwrap_or_default();
            return TypedRecord::new(head, tracer_format::record_values::AnyRecord::from_dropped(dropped));
        };
        let schema = &process.providers[provider].schema;
        let file: &RecordType = &schema.records[position];
        let bound: &BoundType = &self.bindings[provider].types[position];
        let nanos: &dyn Fn(u64) -> i64 = &*self.nanos;
        let tables = Tables { strings: &process.strings, sites: &process.sites, nanos: Some(nanos) };
        let origin = Origin { id: block_start.id, file, bound, enums: &schema.enums, body };
        TypedRecord::read(head, origin, Context { tables, enums: &schema.enums })
    }

    /// Advances to the next record, in the order of this reader. Returns whether there is one.
    fn advance(&mut self) -> Result<bool, RunReadError> {
        if self.order == ReadOrder::Streams {
            while self.stream_index < self.cursors.len() {
                self.step(self.stream_index)?;
                if self.cursors[self.stream_index].block_start.is_some() {
                    return Ok(true);
                }
                self.cursors[self.stream_index].payload = Vec::new();
                self.stream_index += 1;
            }
            return Ok(false);
        }
        if self.is_begun {
            self.step(self.stream_index)?;
        } else {
            for cursor in 0..self.cursors.len() {
                self.step(cursor)?;
            }
            self.is_begun = true;
        }
        let timestamps =
            self.cursors.iter().enumerate().filter_map(|(index, cursor)| Some((cursor.block_start?.nanos, index)));
        let earliest = timestamps.min();
        self.stream_index = earliest.map_or(self.stream_index, |(_, index)| index);
        Ok(earliest.is_some())
    }

    fn step(&mut self, cursor: usize) -> Result<(), RunReadError> {
        let process = self.process;
        let cursor = &mut self.cursors[cursor];
        while let Some((damage, records)) = cursor.step(process, &*self.nanos)? {
            self.damage.push(damage);
            self.damaged_records += records;
        }
        Ok(())
    }

    /// Blocks with undecodable contents and a correct checksum.
    #[must_use]
    pub fn damage(&self) -> &[DamagedRange] {
        &self.damage
    }

    /// Number of records in these blocks.
    #[must_use]
    pub fn damaged_records(&self) -> u64 {
        self.damaged_records
    }
}

impl<'r> RecordCursor<'r> {
    fn new(stream: &'r StreamInRun, file: Arc<File>) -> Self {
        Self {
            stream,
            file,
            next_block: 0,
            payload: Vec::new(),
            stored_payload: Vec::new(),
            position: 0,
            ticks: 0,
            in_block: 0,
            dropped: 0,
            block_start: None,
        }
    }

    /// Advances to the next record. If it returns damage, it has to be called again.
    fn step(
        &mut self,
        process: &'r ProcessInRun,
        nanos: &dyn Fn(u64) -> i64,
    ) -> Result<Option<(DamagedRange, u64)>, RunReadError> {
        let last = self.block_start.take().map_or(i64::MIN, |start| start.nanos);
        while self.position >= self.payload.len() {
            match self.load(process)? {
                BlockLoad::End => return Ok(None),
                BlockLoad::Block => {}
                BlockLoad::Damage(damage, records) => return Ok(Some((damage, records))),
            }
        }
        let mut records = RecordIterator::new(&self.payload[self.position..], self.ticks, |id| process.record_type(id));
        match records.next() {
            Some(Ok(raw)) => {
                let length = raw.body.len();
                let corrected_time = nanos(raw.ticks).max(last);
                let (id, ticks, site) = (raw.id, raw.ticks, raw.site);
                self.position += records.offset();
                self.ticks = ticks;
                self.in_block += u32::from(id != ID_DROPPED);
                self.block_start =
                    Some(BlockStart { id, ticks, nanos: corrected_time, site, start: self.position - length, length });
                Ok(None)
            }
            Some(Err(reason)) => {
                let block = &self.stream.blocks[self.next_block - 1];
                let bytes = (self.payload.len() - self.position) as u64;
                self.position = self.payload.len();
                let hidden = u64::from(block.header.records.saturating_sub(self.in_block));
                Ok(Some((damage(block.payload_offset, bytes, reason), hidden)))
            }
            None => Ok(None),
        }
    }

    fn load(&mut self, process: &ProcessInRun) -> Result<BlockLoad, RunReadError> {
        let Some(block) = self.stream.blocks.get(self.next_block) else { return Ok(BlockLoad::End) };
        self.next_block += 1;
        self.in_block = 0;
        self.position = 0;
        self.ticks = block.header.first_ticks;
        self.dropped = block.header.dropped;
        let byte_count = process.read_stored(&self.file, block, &mut self.stored_payload)?;
        let mut buffer = std::mem::take(&mut self.payload);
        match unpack(&block.header, &self.stored_payload[..byte_count], &mut buffer) {
            Ok(_) if block.header.codec == 0 => {
                buffer.clear();
                buffer.extend_from_slice(&self.stored_payload[..byte_count]);
                self.payload = buffer;
                Ok(BlockLoad::Block)
            }
            Ok(_) => {
                self.payload = buffer;
                Ok(BlockLoad::Block)
            }
            Err(reason) => {
                let records = u64::from(block.header.records);
                Ok(BlockLoad::Damage(damage(block.payload_offset, byte_count as u64, reason), records))
            }
        }
    }
}

/// The result of loading a block.
enum BlockLoad {
    Block,
    Damage(DamagedRange, u64),
    End,
}

fn damage(offset: u64, bytes: u64, reason: FormatError) -> DamagedRange {
    DamagedRange { offset, bytes, reason }
}
