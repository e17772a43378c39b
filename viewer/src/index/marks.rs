//! Point events of one type in one container in an image, by date.

use std::ops::Range;

use tumit_paje::ValueId;

use super::bit_fields::{date, ordered};
use super::format::LaneRecord;
use super::image::Image;
use super::packed_table::Table;
use super::prefix_counts::{Counts, Tally};
use crate::query::{EntityId, EventCount, GlobalNanos, Interval, Mark};

/// Columns: date, value, detail row.
pub(crate) const COLUMNS: usize = 3;

/// Events of one type in one container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkLane<'a> {
    pub(crate) record: LaneRecord,
    table: Table<'a, COLUMNS>,
    tally: Tally<'a>,
}

impl<'a> MarkLane<'a> {
    pub(crate) fn new(image: &'a Image, record: LaneRecord) -> Self {
        Self { record, table: Table::new(image, record.table), tally: Tally::new(image, record.values, record.sums) }
    }

    /// Date, value and detail row.
    pub(crate) fn row(&self, row: u64) -> (i64, ValueId, u32) {
        let [at, value, detail] = self.table.row(row);
        (date(at), ValueId(value as u32), detail as u32)
    }

    /// Those in an interval.
    pub(crate) fn within(&self, interval: Interval) -> Range<u64> {
        self.within_from(interval, 0)
    }

    /// The same where it is known that as many as `near` are earlier.
    fn within_from(&self, interval: Interval, near: u64) -> Range<u64> {
        let first = self.table.lower(near, ordered(interval.from.0));
        first..self.table.lower(first, ordered(interval.to.0)).max(first)
    }

    /// How many are in each of some columns, from left to right; values are below `values`.
    pub(crate) fn counts(
        &self,
        columns: impl Iterator<Item = Interval>,
        most: usize,
        values: usize,
    ) -> Vec<EventCount> {
        let (mut counts, mut near) = (Counts::new(values), 0);
        let count = |column| {
            let rows = self.within_from(column, near);
            near = rows.start;
            self.tally.add(self.table, 1, rows, &mut counts);
            EventCount::of(counts.take(), most)
        };
        columns.map(count).collect()
    }

    /// At most `limit` events from a range, in order.
    pub(crate) fn list(&self, rows: Range<u64>, limit: usize) -> Vec<Mark> {
        self.table.list(rows, limit, |block, index| Mark {
            id: EntityId::Event(self.record.base.wrapping_add((block.row + index as u64) as u32)),
            value: ValueId(block.columns[1].get(index) as u32),
            time: GlobalNanos(date(block.columns[0].get(index))),
        })
    }
}
