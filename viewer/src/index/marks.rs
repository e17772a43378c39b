//! Point events of one type in one container in an image, by date.

use converter::paje::ValueId;

use super::bits::{date, ordered};
use super::format::LaneRecord;
use super::image::Image;
use super::table::Table;
use crate::query::{EntityId, GlobalNanos, Interval, Mark};

/// Columns: date, value, detail row.
pub(super) const COLUMNS: usize = 3;

/// Events of one type in one container.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkLane<'a> {
    pub(super) record: LaneRecord,
    table: Table<'a, COLUMNS>,
}

impl<'a> MarkLane<'a> {
    pub(super) fn new(image: &'a Image, record: LaneRecord) -> Self {
        Self { record, table: Table::new(image, record.table) }
    }

    /// Date, value and detail row.
    pub(super) fn row(&self, row: u64) -> (i64, ValueId, u32) {
        let [at, value, detail] = self.table.row(row);
        (date(at), ValueId(value as u32), detail as u32)
    }

    /// Those in an interval.
    pub(super) fn within(&self, interval: Interval) -> std::ops::Range<u64> {
        let first = self.table.lower(0, ordered(interval.from.0));
        first..self.table.lower(first, ordered(interval.to.0)).max(first)
    }

    /// At most `limit` events from a range, in order.
    pub(super) fn list(&self, rows: std::ops::Range<u64>, limit: usize) -> Vec<Mark> {
        self.table.list(rows, limit, |block, index| Mark {
            id: EntityId::Event(self.record.base.wrapping_add((block.row + index as u64) as u32)),
            value: ValueId(block.columns[1].get(index) as u32),
            time: GlobalNanos(date(block.columns[0].get(index))),
        })
    }
}
