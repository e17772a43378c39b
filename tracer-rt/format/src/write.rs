//! Writes a process file block by block, or a file of several processes in timestamp order.
//! Tools that filter, sort or correct runs use this module. Recorders have their own writers,
//! because they have other constraints. The module opens no files: it writes to the [`Write`] that
//! the caller supplies.
//!
//! ```
//! use tracer_format::block::decode_block;
//! use tracer_format::write::FileWriter;
//! use tracer_format::{BlockKind, PREAMBLE_BYTES, check_preamble};
//!
//! let mut file = FileWriter::new(Vec::new())?;
//! // Stream 0 has a record of type 1, with a body of one byte.
//! file.record(0, 1, 1000, &[42])?;
//! let bytes = file.finish(Some(0))?;
//!
//! check_preamble(&bytes)?;
//! let block = decode_block(&bytes[PREAMBLE_BYTES..])?;
//! assert_eq!((block.header.kind, block.header.records), (BlockKind::Records as u8, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod name_tables;

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::block::{BlockHeader, BlockKind, PayloadCodec, flag};
use crate::cause;
use crate::columns::{BlockPacker, RecordShape};
use crate::format_constants::{
    BLOCK_ALIGN, HEADER_BYTES, ID_DROPPED, ID_WIDE_TIMESTAMP, MAX_PAYLOAD_BYTES, MAX_PROCESSES, PROCESS_STREAM,
    RECORD_HEAD_BYTES,
};
use crate::preamble::preamble;
use crate::record::DroppedRecords;
use crate::tags::{append_integer, append_tag, tag};

pub use name_tables::NameTables;

/// Size in bytes at which a block of records is written.
const BLOCK_BYTES: usize = 1 << 16;

/// Writes one process file.
#[derive(Debug)]
pub struct FileWriter<W> {
    out: W,
    sequence: u64,
    backward_records: u64,
    streams: BTreeMap<u32, OutputStream>,
    names: NameTables,
    /// Packers by process.
    packers: Vec<BlockPacker>,
    /// By process: the number of records missing from the file, and the further tags of its `end`
    /// block.
    ends: BTreeMap<u32, (u64, Vec<u8>)>,
    /// The process of the data that is currently added.
    process: u32,
    /// For a sorted file: maximum number of bytes of records in memory before all are written.
    slice: Option<usize>,
    /// Number of bytes of records in memory.
    buffered: usize,
}

/// A stream of the file.
#[derive(Debug, Default)]
struct OutputStream {
    process: u32,
    /// Number of records of the stream so far, without reports of drops.
    offset: u64,
    /// Sequence number of the next block.
    sequence: u64,
    /// Number of records that were dropped so far.
    dropped: u64,
    /// Number of dropped records in the head of the last block: the value of `dropped` at that
    /// time.
    reported_drops: u64,
    /// Number of records in `bytes`.
    records: u32,
    /// Flags of the next block.
    flags: u8,
    /// Ticks of the first record in `bytes`.
    first: u64,
    /// Ticks of the last record.
    last: u64,
    /// The encoded records of the next block.
    bytes: Vec<u8>,
    /// The body of the truncation mark that precedes the next record, in bytes.
    mark: Option<Vec<u8>>,
}

impl OutputStream {
    fn put(&mut self, id: u16, delta: u32, body: &[u8]) {
        self.bytes.extend_from_slice(&id.to_le_bytes());
        self.bytes.extend_from_slice(&delta.to_le_bytes());
        self.bytes.extend_from_slice(body);
    }
}

/// The tags of a stream. Empty values are omitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamTags<'a> {
    /// Thread id of the operating system.
    pub tid: Option<u64>,
    /// The name that the operating system has for the thread.
    pub thread_name: &'a str,
    /// The label that the program gave to the thread's streams.
    pub label: &'a str,
    /// The stream contains records of signal handlers.
    pub signal: bool,
    /// Newer records overwrote the stream's records, unless they were written on request before.
    pub overwrites: bool,
    /// Timestamp of the end of its thread.
    pub end: Option<u64>,
}

impl<W: Write> FileWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&preamble())?;
        Ok(Self {
            out,
            sequence: 0,
            backward_records: 0,
            streams: BTreeMap::new(),
            names: NameTables::default(),
            packers: vec![BlockPacker::default()],
            ends: BTreeMap::new(),
            process: 0,
            slice: None,
            buffered: 0,
        })
    }

    /// Starts a file of several processes, with records added in timestamp order.
    /// Records stay in memory until they take `slice` bytes. Then each stream gets a block, in the
    /// order of the first records. Blocks are therefore in timestamp order, and a reader needs at
    /// most `slice` bytes in memory to sort the records.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new_sorted(out: W, slice: usize) -> io::Result<Self> {
        Ok(Self { slice: Some(slice), ..Self::new(out)? })
    }

    /// Selects the process of the data that follows, except records.
    /// First writes the names of the previous process.
    ///
    /// # Errors
    /// Errors of `out`, or a process number that is too large for a file.
    pub fn select(&mut self, process: u32) -> io::Result<()> {
        if process >= MAX_PROCESSES {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a file contains at most 65,536 processes"));
        }
        self.write_names()?;
        self.names = NameTables::default();
        self.process = process;
        let count = self.packers.len().max(process as usize + 1);
        self.packers.resize_with(count, BlockPacker::default);
        Ok(())
    }

    /// The stream number in the blocks of the selected process.
    #[must_use]
    pub const fn process_stream(&self) -> u32 {
        PROCESS_STREAM - self.process
    }

    /// Sets the layout of a record type. Blocks with only known record types are packed by columns.
    pub fn set_layout(&mut self, shape: RecordShape) {
        self.packers[self.process as usize].add_type(shape);
    }

    /// The names of the file. They are written before the records that use them.
    pub fn names(&mut self) -> &mut NameTables {
        &mut self.names
    }

    /// Number of records with a timestamp before the previous one in their stream.
    /// They get the previous timestamp.
    #[must_use]
    pub const fn backward_records(&self) -> u64 {
        self.backward_records
    }

    /// Writes a block without records: tags of the process or of a stream, a schema, sync samples,
    /// anchors.
    ///
    /// # Errors
    /// Errors of `out`, or a payload larger than a block.
    pub fn block(&mut self, kind: BlockKind, stream: u32, entries: u32, payload: &[u8]) -> io::Result<()> {
        let header = BlockHeader {
            kind: kind as u8,
            stream,
            records: entries,
            sequence: self.sequence,
            ..BlockHeader::default()
        };
        self.sequence += 1;
        let packed = lz4_flex::block::compress(payload);
        if packed.len() >= payload.len() {
            return put(&mut self.out, header, payload);
        }
        let raw_bytes = u32::try_from(payload.len()).map_err(io::Error::other)?;
        put(&mut self.out, BlockHeader { codec: PayloadCodec::Lz4 as u8, raw_bytes, ..header }, &packed)
    }

    /// Writes a schema: records of its type `k` have the id `base + k`.
    ///
    /// # Errors
    /// As [`FileWriter::block`].
    pub fn schema(&mut self, base: u16, ids: u32, schema: &[u8]) -> io::Result<()> {
        let mut payload = u32::from(base).to_le_bytes().to_vec();
        payload.extend_from_slice(&ids.to_le_bytes());
        payload.extend_from_slice(schema);
        self.block(BlockKind::Schema, self.process_stream(), 1, &payload)
    }

    /// Writes the tags of a stream. Also adds streams without records.
    ///
    /// # Errors
    /// As [`FileWriter::block`].
    pub fn stream(&mut self, stream: u32, of: &StreamTags<'_>) -> io::Result<()> {
        let mut tags = Vec::new();
        if let Some(tid) = of.tid {
            append_integer(&mut tags, tag::TID, tid);
        }
        for (number, text) in [(tag::THREAD_NAME, of.thread_name), (tag::STREAM_LABEL, of.label)] {
            if !text.is_empty() {
                append_tag(&mut tags, number, text.as_bytes());
            }
        }
        for (number, is_marked) in [(tag::SIGNAL_STREAM, of.signal), (tag::OVERWRITTEN, of.overwrites)] {
            if is_marked {
                append_integer(&mut tags, number, 1);
            }
        }
        if let Some(end) = of.end {
            append_integer(&mut tags, tag::THREAD_END, end);
        }
        if self.slice.is_some() {
            append_integer(&mut tags, tag::STREAM_PROCESS, self.process.into());
        }
        self.streams.entry(stream).or_default().process = self.process;
        self.block(BlockKind::Stream, stream, 1, &tags)
    }

    /// Adds a record to a stream. `body` is the part after id and delta.
    /// The mark of a truncated record is written with the next record of the stream, in one block.
    ///
    /// # Errors
    /// Errors of `out`, or a record larger than a block.
    pub fn record(&mut self, stream: u32, id: u16, ticks: u64, body: &[u8]) -> io::Result<()> {
        let need = body.len() + 2 * RECORD_HEAD_BYTES + 8;
        if need > MAX_PAYLOAD_BYTES {
            return Err(too_large(body.len()));
        }
        let is_drop_report = id == ID_DROPPED;
        if is_drop_report && DroppedRecords::decode(body).is_some_and(|dropped| dropped.is_truncation()) {
            self.streams.entry(stream).or_default().mark = Some(body.to_vec());
            return Ok(());
        }
        let mark = self.streams.get_mut(&stream).and_then(|stream| stream.mark.take());
        let need = need + mark.as_ref().map_or(0, |mark| RECORD_HEAD_BYTES + mark.len());
        let current = self.streams.entry(stream).or_default();
        match self.slice {
            None if !current.bytes.is_empty() && (is_drop_report || current.bytes.len() + need > BLOCK_BYTES) => {
                self.seal(stream)?;
            }
            // A report of drops is the first one of its block.
            Some(slice) if self.buffered + need > slice || (is_drop_report && !current.bytes.is_empty()) => {
                self.seal_all()?;
            }
            _ => {}
        }
        self.buffered += need;
        let current = self.streams.entry(stream).or_default();
        if ticks < current.last {
            self.backward_records += 1;
        }
        let ticks = ticks.max(current.last);
        if current.bytes.is_empty() {
            current.first = ticks;
            current.last = ticks;
        }
        let delta = u32::try_from(ticks - current.last).unwrap_or_else(|_| {
            current.bytes.extend_from_slice(&ID_WIDE_TIMESTAMP.to_le_bytes());
            current.bytes.extend_from_slice(&[0; 4]);
            current.bytes.extend_from_slice(&ticks.to_le_bytes());
            0
        });
        current.last = ticks;
        if let Some(mark) = &mark {
            current.put(ID_DROPPED, delta, mark);
        }
        current.put(id, if mark.is_some() { 0 } else { delta }, body);
        if !is_drop_report {
            current.records += 1;
            current.offset += 1;
        } else if DroppedRecords::decode(body).is_some_and(|dropped| dropped.cause & cause::DAMAGED != 0) {
            current.flags |= flag::MISSING;
        }
        Ok(())
    }

    /// Adds a report of missing records.
    ///
    /// # Errors
    /// As [`FileWriter::record`].
    pub fn add_dropped(&mut self, stream: u32, ticks: u64, drops: &DroppedRecords) -> io::Result<()> {
        self.record(stream, ID_DROPPED, ticks, &drops.encode())
    }

    /// Sets the number of records of a stream that were dropped up to this point.
    pub fn set_dropped(&mut self, stream: u32, records: u64) {
        let stream = self.streams.entry(stream).or_default();
        stream.dropped = stream.dropped.max(records);
    }

    /// Writes the records in memory of all streams, in the order of their first records.
    fn seal_all(&mut self) -> io::Result<()> {
        let filled = self.streams.iter().filter(|(_, stream)| !stream.bytes.is_empty());
        let mut filled: Vec<(u64, u32)> = filled.map(|(number, stream)| (stream.first, *number)).collect();
        filled.sort_unstable();
        for (_, number) in filled {
            self.seal(number)?;
        }
        self.buffered = 0;
        Ok(())
    }

    fn seal(&mut self, number: u32) -> io::Result<()> {
        self.write_names()?;
        let Some(stream) = self.streams.get_mut(&number) else { return Ok(()) };
        let header = BlockHeader {
            kind: BlockKind::Records as u8,
            stream: number,
            records: std::mem::take(&mut stream.records),
            flags: std::mem::take(&mut stream.flags),
            sequence: stream.sequence,
            dropped: stream.dropped,
            first_ticks: stream.first,
            last_ticks: stream.last,
            ..BlockHeader::default()
        };
        stream.sequence += 1;
        stream.reported_drops = stream.dropped;
        let raw_bytes = u32::try_from(stream.bytes.len()).map_err(io::Error::other)?;
        match self.packers[stream.process as usize].pack(&stream.bytes) {
            Some(packed) => {
                put(&mut self.out, BlockHeader { codec: PayloadCodec::Columns as u8, raw_bytes, ..header }, packed)
            }
            None => put(&mut self.out, header, &stream.bytes),
        }?;
        stream.bytes.clear();
        Ok(())
    }

    fn write_names(&mut self) -> io::Result<()> {
        for (kind, count, bytes) in self.names.take_new() {
            if !bytes.is_empty() {
                self.block(kind, self.process_stream(), count, &bytes)?;
            }
        }
        Ok(())
    }

    /// Sets the further tags of the `end` block of a copied process, and the number of its missing
    /// records.
    /// Missing records count as written, so that readers find them missing in the copy, too.
    pub fn end_with(&mut self, process: u32, missing_blocks: u64, tags: Vec<u8>) {
        self.ends.insert(process, (missing_blocks, tags));
    }

    /// Ends the file.
    /// `dropped_at_end` is the number of records that the process dropped, if it ended in order.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn finish(self, dropped_at_end: Option<u64>) -> io::Result<W> {
        self.finish_all(&[dropped_at_end])
    }

    /// Like [`FileWriter::finish`], for a file of several processes. `dropped_at_end` is indexed by
    /// process.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn finish_all(mut self, dropped_at_end: &[Option<u64>]) -> io::Result<W> {
        self.seal_all()?;
        let numbers: Vec<u32> = self.streams.keys().copied().collect();
        for number in numbers {
            let Some(stream) = self.streams.get_mut(&number) else { continue };
            stream.first = stream.last;
            if stream.dropped > stream.reported_drops {
                self.seal(number)?;
            }
        }
        self.write_names()?;
        for (number, dropped) in (0u32..).zip(dropped_at_end) {
            let Some(dropped) = dropped else { continue };
            let streams = self.streams.values().filter(|stream| stream.process == number);
            let (of_streams, offset) =
                streams.fold((0, 0), |sums: (u64, u64), stream| (sums.0 + stream.dropped, sums.1 + stream.offset));
            let (missing, others) = self.ends.remove(&number).unwrap_or_default();
            let mut tags = Vec::new();
            append_integer(&mut tags, tag::RECORDS_WRITTEN, offset.saturating_add(missing));
            append_integer(&mut tags, tag::RECORDS_DROPPED, (*dropped).max(of_streams));
            tags.extend(others);
            self.block(BlockKind::End, PROCESS_STREAM - number, 1, &tags)?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

fn too_large(bytes: usize) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{bytes} bytes are more than a block holds"))
}

fn put<W: Write>(out: &mut W, header: BlockHeader, payload: &[u8]) -> io::Result<()> {
    let size = u32::try_from(payload.len()).ok().filter(|size| *size as usize <= MAX_PAYLOAD_BYTES);
    let size = size.ok_or_else(|| too_large(payload.len()))?;
    let raw_bytes = if header.codec == PayloadCodec::Raw as u8 { size } else { header.raw_bytes };
    let header = BlockHeader { raw_bytes, stored_bytes: size, ..header };
    out.write_all(&header.encode(payload))?;
    out.write_all(payload)?;
    let padding = header.block_bytes() - HEADER_BYTES - payload.len();
    out.write_all(&[0; BLOCK_ALIGN][..padding])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::decode_block;
    use crate::entries::{StringEntry, strings};
    use crate::record::RecordIterator;
    use crate::record_values::Names;
    use crate::schema::{FieldInfo, FieldType, RecordKind, RecordType, Scalar};
    use crate::{PREAMBLE_BYTES, check_preamble};

    #[test]
    fn timestamps_names_and_drops() {
        let mut file = FileWriter::new(Vec::new()).unwrap();
        let name = file.names().string("one");
        assert_eq!((name, file.names().string("one"), file.names().string("")), (1, 1, 0));
        file.record(4, 1, 100, &[7]).unwrap();
        file.record(4, 1, 90, &[8]).unwrap();
        file.record(4, 1, 1 << 40, &[9]).unwrap();
        file.set_dropped(4, 5);
        file.add_dropped(4, 1 << 40, &DroppedRecords { count: 5, ..DroppedRecords::default() }).unwrap();
        assert_eq!(file.backward_records(), 1);
        let bytes = file.finish(Some(0)).unwrap();
        check_preamble(&bytes).unwrap();
        let kind = RecordType {
            name: "a".into(),
            level: 0,
            kind: RecordKind::Event,
            has_location: false,
            fields: vec![FieldInfo { name: "n".into(), ty: FieldType::One(Scalar::U8) }],
        };
        let (mut position, mut timestamps, mut kinds) = (PREAMBLE_BYTES, Vec::new(), Vec::new());
        while position < bytes.len() {
            let block = decode_block(&bytes[position..]).unwrap();
            position += block.header.block_bytes();
            kinds.push(block.header.kind);
            if block.header.kind == BlockKind::Strings as u8 {
                assert_eq!(strings(block.stored_body).collect::<Vec<_>>(), [StringEntry { id: 1, text: b"one" }]);
            }
            if block.header.kind == BlockKind::Records as u8 {
                assert_eq!(block.header.dropped, 5);
                let records = RecordIterator::new(block.stored_body, block.header.first_ticks, |_| Some(&kind));
                timestamps.extend(records.map(|record| (record.as_ref().unwrap().id, record.unwrap().ticks)));
            }
        }
        assert_eq!(timestamps, [(1, 100), (1, 100), (1, 1 << 40), (ID_DROPPED, 1 << 40)]);
        assert_eq!(kinds, [4, 6, 6, 9]);
    }
}
