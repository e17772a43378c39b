//! Links in the index file: the links of a type by the earlier of their two timestamps, and all
//! endpoints by container and timestamp.

use std::ops::ControlFlow;

use tumit_paje::{ContainerId, TypeId, ValueId};

use super::link_density::LinkDensity;
use crate::index::file::bit_fields::{sortable_timestamp, timestamp};
use crate::index::file::file_layout::{LaneRecord, TableRef};
use crate::index::file::index_bytes::IndexBytes;
use crate::index::file::max_end_tree::MaxEndTree;
use crate::index::file::packed_table::{PackedTable, TableBlock};
use crate::query::LinkRow;
use crate::query::effective_end;
use crate::query::{EntityId, GlobalNanos, LinkCount, LinkEntity, LinkVisitor, QueryError, TimeRange, TimestampExtent};

/// Columns: earlier timestamp; duration; value; start; end; holder; key; detail row × 2 + 1 if the
/// end comes first.
pub(crate) const COLUMNS: usize = 8;

/// All links of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexLinks<'a> {
    pub(crate) record: LaneRecord,
    table: PackedTable<'a, COLUMNS>,
    ends: PackedTable<'a, 1>,
    tree: MaxEndTree<'a>,
}

/// The words of a link's row.
pub(crate) fn words(row: &LinkRow) -> [u64; COLUMNS] {
    let low = row.start_time.min(row.end_time);
    [
        sortable_timestamp(low),
        row.start_time.max(row.end_time).wrapping_sub(low).cast_unsigned(),
        row.value.0.into(),
        row.start.0.into(),
        row.end.0.into(),
        row.holder.0.into(),
        row.key,
        u64::from(row.detail) << 1 | u64::from(row.end_time < row.start_time),
    ]
}

/// The row that these words encode.
pub(crate) fn row(words: [u64; COLUMNS]) -> LinkRow {
    let [low, length, value, start, end, holder, key, detail] = words;
    let (low, high) = (timestamp(low), timestamp(low).wrapping_add(length.cast_signed()));
    let (start_time, end_time) = if detail & 1 == 0 { (low, high) } else { (high, low) };
    LinkRow {
        start_time,
        end_time,
        key,
        value: ValueId(value as u32),
        holder: ContainerId(holder as u32),
        start: ContainerId(start as u32),
        end: ContainerId(end as u32),
        detail: (detail >> 1) as u32,
    }
}

/// The end of a link for overlap tests.
fn overlap_end(block: &TableBlock<'_, COLUMNS>, index: usize) -> i64 {
    let low = timestamp(block.columns[0].get(index));
    effective_end(low, low.wrapping_add(block.columns[1].get(index).cast_signed()))
}

impl<'a> IndexLinks<'a> {
    pub(crate) fn new(index_bytes: &'a IndexBytes, record: LaneRecord) -> Self {
        let ends = TableRef {
            rows: record.values.len,
            payload: record.values.offset,
            directory: record.values.offset.saturating_add(record.extra),
        };
        Self {
            record,
            table: PackedTable::new(index_bytes, record.table),
            ends: PackedTable::new(index_bytes, ends),
            tree: MaxEndTree { index_bytes, offset: record.sums.offset },
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.table.rows()
    }

    pub(crate) fn block(&self, number: u64) -> TableBlock<'a, COLUMNS> {
        self.table.block(number)
    }

    /// The row of extra fields of a link in a block.
    pub(crate) fn detail(block: &TableBlock<'a, COLUMNS>, index: usize) -> u32 {
        (block.columns[COLUMNS - 1].get(index) >> 1) as u32
    }

    pub(crate) fn row(&self, index: u64) -> LinkRow {
        row(self.table.row(index))
    }

    fn count_started(&self, time_range: TimeRange) -> u64 {
        self.table.lower_bound(0, sortable_timestamp(time_range.to.0))
    }

    /// Number of links that overlap a time range. It costs O(log n): links that started before the
    /// time range's end, minus links that ended by its start. The latter are a subset of the
    /// former.
    pub(crate) fn count(&self, time_range: TimeRange) -> u64 {
        let ended_count = time_range
            .from
            .0
            .checked_add(1)
            .map_or(self.len(), |after| self.ends.lower_bound(0, sortable_timestamp(after)));
        self.count_started(time_range).saturating_sub(ended_count)
    }

    /// The first `limit` links that overlap a time range, by their earlier timestamp.
    pub(crate) fn list(&self, time_range: TimeRange, limit: usize) -> Vec<LinkEntity> {
        if limit == 0 {
            return Vec::new();
        }
        let mut links = Vec::with_capacity(self.count(time_range).min(limit as u64).min(1 << 16) as usize);
        let rows = 0..self.count_started(time_range);
        self.tree.visit(self.table, rows, time_range.from.0, overlap_end, |block, index| {
            let row = row(block.columns.map(|column| column.get(index)));
            links.push(LinkEntity {
                id: EntityId::Link(self.record.base.wrapping_add((block.row + index as u64) as u32)),
                ty: TypeId(self.record.ty),
                value: row.value,
                start_time: GlobalNanos(row.start_time),
                end_time: GlobalNanos(row.end_time),
                start: row.start,
                end: row.end,
            });
            if links.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        links
    }
}

impl<'a> IndexLinks<'a> {
    /// Visits counts of the links that overlap a time range.
    pub(crate) fn counts(
        &self,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        // Links in progress at the start of the time range begin in none of its bins. They are
        // usually few, and the tree finds them.
        let (first, mut result) = (self.table.lower_bound(0, sortable_timestamp(time_range.from.0)), Ok(()));
        self.tree.visit(self.table, 0..first, time_range.from.0, overlap_end, |block, index| {
            result = visit(&self.link_count(block, index, exponent));
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result?;
        let density = LinkDensity::new(self.tree.index_bytes, self.record.sums, exponent);
        density.visit(time_range, exponent, visit, &mut |edge_range, visit| {
            let first = self.table.lower_bound(0, sortable_timestamp(edge_range.from.0));
            let mut result = Ok(());
            self.table.visit_rows(
                first..self.table.lower_bound(first, sortable_timestamp(edge_range.to.0)),
                |block, index| {
                    result = visit(&self.link_count(block, index, exponent));
                    result.is_ok()
                },
            );
            result
        })
    }

    fn link_count(&self, block: &TableBlock<'a, COLUMNS>, index: usize, exponent: u8) -> LinkCount {
        let [low, length, value, start, end, _, _, detail] = block.columns;
        let low = timestamp(low.get(index));
        let high = low.wrapping_add(length.get(index).cast_signed()) >> exponent;
        let (low, is_reversed) = (low >> exponent, detail.get(index) & 1 == 1);
        let (start_bin, end_bin) = if is_reversed { (high, low) } else { (low, high) };
        LinkCount {
            start: ContainerId(start.get(index) as u32),
            end: ContainerId(end.get(index) as u32),
            value: ValueId(value.get(index) as u32),
            start_bin,
            end_bin,
            is_reversed,
            count: 1,
            first: EntityId::Link(self.record.base.wrapping_add((block.row + index as u64) as u32)),
        }
    }
}

/// First row of `0..rows` for which `is_before` is false. It must be true for all rows before.
pub(crate) fn partition(rows: u64, is_before: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, rows);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// Links that start or end in `container` at a timestamp of `extent`, ordered by that timestamp.
pub(crate) fn ends_within(
    ends: PackedTable<'_, 3>,
    container: ContainerId,
    extent: TimestampExtent,
    max_count: usize,
) -> Vec<EntityId> {
    let key = |row| {
        let [container, timestamp, _] = ends.row(row);
        (container, timestamp)
    };
    let container = u64::from(container.0);
    let first = partition(ends.rows(), |row| key(row) < (container, sortable_timestamp(extent.first)));
    let last = partition(ends.rows(), |row| key(row) <= (container, sortable_timestamp(extent.last)));
    ends.list(first..last, max_count, |block, index| EntityId::Link(block.columns[2].get(index) as u32))
}

/// States that refer to `container` and overlap the time range, ordered by start.
pub(crate) fn referring_states(
    table: PackedTable<'_, 4>,
    tree: MaxEndTree<'_>,
    container: ContainerId,
    time_range: TimeRange,
    max_count: usize,
) -> Vec<EntityId> {
    let key = |row| {
        let [container, start, ..] = table.row(row);
        (container, start)
    };
    let container = u64::from(container.0);
    let first = partition(table.rows(), |row| key(row) < (container, 0));
    let last = partition(table.rows(), |row| key(row) < (container, sortable_timestamp(time_range.to.0)));
    let mut states = Vec::new();
    if max_count > 0 {
        let end = |block: &TableBlock<'_, 4>, index: usize| timestamp(block.columns[2].get(index));
        tree.visit(table, first..last, time_range.from.0, end, |block, index| {
            states.push(EntityId::State(block.columns[3].get(index) as u32));
            if states.len() < max_count { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    states
}
