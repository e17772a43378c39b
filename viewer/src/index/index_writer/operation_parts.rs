//! [`OperationPartWriter`]: the parts of collective operations, while an index is written.

use std::io;

use rustc_hash::FxHashMap;
use tumit_spill::byte_streams::ByteStreams;
use tumit_spill::row_sorter::RowSorter;
use tumit_spill::temporary_space::TemporarySpace;
use tumit_spill::varint;

use crate::index::file::bit_fields::sortable_timestamp;
use crate::index::file::file_layout::{OPERATION_PART_COLUMNS, TableRef};
use crate::index::file::packed_table::PackedTableWriter;
use crate::index::file::page_writer::PageWriter;

/// The operation of a row of extra fields, and the number of open states with this row.
#[derive(Debug)]
struct OpenParts {
    operation: u64,
    count: u32,
}

/// Collects the parts. Only open parts are in memory.
#[derive(Debug)]
pub(crate) struct OperationPartWriter {
    /// By row of extra fields. Parts with equal fields share a row.
    open_parts: FxHashMap<u32, OpenParts>,
    /// Byte stream of the ended parts: operation, start, byte stream of the lane, row in it.
    byte_stream: usize,
    count: u64,
}

impl OperationPartWriter {
    pub(crate) fn new(byte_streams: &mut ByteStreams) -> Self {
        Self { open_parts: FxHashMap::default(), byte_stream: byte_streams.open(), count: 0 }
    }

    /// A state with this row of extra fields begins.
    pub(crate) fn begin(&mut self, detail: u32, operation: u64) {
        // Row 0 has no fields: there are too many rows.
        if detail != 0 {
            self.open_parts.entry(detail).or_insert(OpenParts { operation, count: 0 }).count += 1;
        }
    }

    /// A state with this row of extra fields has ended. `place` is the byte stream of its lane, and
    /// its row in this lane.
    #[inline]
    pub(crate) fn end(&mut self, byte_streams: &mut ByteStreams, detail: u32, start: i64, (lane, row): (usize, u64)) {
        if self.open_parts.is_empty() {
            return;
        }
        let Some(parts) = self.open_parts.get_mut(&detail) else { return };
        let operation = parts.operation;
        parts.count -= 1;
        if parts.count == 0 {
            self.open_parts.remove(&detail);
        }
        self.count += 1;
        byte_streams.append(self.byte_stream, |out| {
            varint::push(out, operation);
            varint::push(out, varint::zigzag(start));
            varint::push(out, lane as u64);
            varint::push(out, row);
        });
    }

    /// Writes the table of all parts. `bases` has the number of the first state of each byte
    /// stream.
    pub(crate) fn write(
        self,
        byte_streams: &ByteStreams,
        bases: &[u32],
        room: &TemporarySpace,
        out: &mut PageWriter,
    ) -> io::Result<TableRef> {
        const COLUMNS: usize = OPERATION_PART_COLUMNS;
        let (mut from, mut rows) =
            (byte_streams.read(self.byte_stream)?, RowSorter::<COLUMNS, COLUMNS>::new(&room.part(2)));
        for _ in 0..self.count {
            let operation = from.number()?;
            let start = varint::unzigzag(from.number()?);
            let (lane, row) = (from.number()?, from.number()?);
            let base = bases.get(lane as usize).copied().unwrap_or(0);
            rows.push([operation, sortable_timestamp(start), u64::from(base) + row]);
            rows.flush()?;
        }
        let (mut rows, mut table) = (rows.finish()?, PackedTableWriter::<COLUMNS>::new(room, out)?);
        while let Some(row) = rows.next()? {
            table.push(out, row)?;
        }
        table.finish(out, 0)
    }
}
