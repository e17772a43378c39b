//! Links that never end, in the index file: one table of all types, by type and start.

use tumit_paje::{ContainerId, TypeId, ValueId};

use crate::index::file::bit_fields::{sortable_timestamp, timestamp};
use crate::index::file::index_bytes::IndexBytes;
use crate::index::file::packed_table::PackedTable;
use crate::index::lanes::links::partition;
use crate::query::{OpenLinkRow, TimeRange};

/// Columns: type; start; key; value; container of the start; holder; detail row.
pub(crate) const OPEN_LINK_COLUMNS: usize = 7;

pub(crate) fn open_link_words(row: &OpenLinkRow) -> [u64; OPEN_LINK_COLUMNS] {
    [
        row.ty.0.into(),
        sortable_timestamp(row.start_time),
        row.key,
        row.value.0.into(),
        row.start.0.into(),
        row.holder.0.into(),
        row.detail.into(),
    ]
}

/// The row that these words encode.
fn open_link_row([ty, start_time, key, value, start, holder, detail]: [u64; OPEN_LINK_COLUMNS]) -> OpenLinkRow {
    OpenLinkRow {
        ty: TypeId(ty as u32),
        start_time: timestamp(start_time),
        key,
        value: ValueId(value as u32),
        holder: ContainerId(holder as u32),
        start: ContainerId(start as u32),
        detail: detail as u32,
    }
}

/// All links that never end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexOpenLinks<'a>(PackedTable<'a, OPEN_LINK_COLUMNS>);

impl<'a> IndexOpenLinks<'a> {
    pub(crate) fn new(index_bytes: &'a IndexBytes) -> Self {
        Self(PackedTable::new(index_bytes, index_bytes.header.open_links))
    }

    /// The link with this number.
    pub(crate) fn row(self, number: u32) -> Option<OpenLinkRow> {
        (u64::from(number) < self.0.rows()).then(|| open_link_row(self.0.row(number.into())))
    }

    /// The links of a type that start before the end of a time range, each with its number.
    pub(crate) fn before_end(self, ty: TypeId, time_range: TimeRange) -> Vec<(u32, OpenLinkRow)> {
        let end = sortable_timestamp(time_range.to.0);
        let key = |row| {
            let [ty, start, ..] = self.0.row(row);
            (ty, start)
        };
        let first = partition(self.0.rows(), |row| key(row) < (ty.0.into(), 0));
        let last = partition(self.0.rows(), |row| key(row) < (ty.0.into(), end)).max(first);
        self.0.list(first..last, usize::MAX, |block, index| {
            let number = (block.row + index as u64) as u32;
            (number, open_link_row(block.columns.map(|column| column.get(index))))
        })
    }
}
