//! Point events of one type in one container in an index, by timestamp.

use std::ops::Range;

use tumit_paje::ValueId;

use super::prefix_counts::{CountsByValue, PrefixCounts};
use crate::index::file::bit_fields::{sortable_timestamp, timestamp};
use crate::index::file::file_layout::LaneRecord;
use crate::index::file::index_bytes::IndexBytes;
use crate::index::file::packed_table::PackedTable;
use crate::query::{EntityId, EventCount, EventEntity, GlobalNanos, TimeRange};

/// Columns: timestamp, value, detail row.
pub(crate) const COLUMNS: usize = 3;

/// Events of one type in one container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexMarkLane<'a> {
    pub(crate) record: LaneRecord,
    table: PackedTable<'a, COLUMNS>,
    tally: PrefixCounts<'a>,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexMark {
    pub(crate) timestamp: i64,
    pub(crate) value: ValueId,
    /// The detail row; 0 if the event has none.
    pub(crate) detail: u32,
}

impl<'a> IndexMarkLane<'a> {
    pub(crate) fn new(index_bytes: &'a IndexBytes, record: LaneRecord) -> Self {
        Self {
            record,
            table: PackedTable::new(index_bytes, record.table),
            tally: PrefixCounts::new(index_bytes, record.values, record.sums),
        }
    }

    pub(crate) fn row(&self, row: u64) -> IndexMark {
        let [sortable_time, value, detail] = self.table.row(row);
        IndexMark { timestamp: timestamp(sortable_time), value: ValueId(value as u32), detail: detail as u32 }
    }

    /// Rows of the events in a time range.
    pub(crate) fn rows_in(&self, time_range: TimeRange) -> Range<u64> {
        self.rows_in_from(time_range, 0)
    }

    /// Same as [`Self::rows_in`], if at least `hint` rows are known to be earlier.
    fn rows_in_from(&self, time_range: TimeRange, hint: u64) -> Range<u64> {
        let first = self.table.lower_bound(hint, sortable_timestamp(time_range.from.0));
        first..self.table.lower_bound(first, sortable_timestamp(time_range.to.0)).max(first)
    }

    /// Counts the events in each of some columns, from left to right. Values are below `values`.
    pub(crate) fn counts(
        &self,
        columns: impl Iterator<Item = TimeRange>,
        max_count: usize,
        values: usize,
    ) -> Vec<EventCount> {
        let (mut counts, mut hint) = (CountsByValue::new(values), 0);
        let count = |column| {
            let rows = self.rows_in_from(column, hint);
            hint = rows.start;
            self.tally.add(self.table, 1, rows, &mut counts);
            EventCount::of(counts.take_counts(), max_count)
        };
        columns.map(count).collect()
    }

    /// At most `limit` events from a range, in order.
    pub(crate) fn list(&self, rows: Range<u64>, limit: usize) -> Vec<EventEntity> {
        self.table.list(rows, limit, |block, index| EventEntity {
            id: EntityId::Event(self.record.base.wrapping_add((block.row + index as u64) as u32)),
            value: ValueId(block.columns[1].get(index) as u32),
            time: GlobalNanos(timestamp(block.columns[0].get(index))),
        })
    }
}
