//! [`LaneRecords`]: the records of all lanes of one kind, by lane.

use super::file::file_layout::{LaneKey, LaneRecord, PageBytes};
use super::file::index_bytes::IndexBytes;
use super::lanes::links;

/// The records of all lanes of one kind, such as the lanes of states. Their keys and the numbers of
/// their entities ascend.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneRecords<'a> {
    index_bytes: &'a IndexBytes,
    place: PageBytes,
}

impl<'a> LaneRecords<'a> {
    pub(super) fn new(index_bytes: &'a IndexBytes, place: PageBytes) -> Self {
        Self { index_bytes, place }
    }

    fn record(self, index: u64) -> LaneRecord {
        let bytes = LaneRecord::BYTES;
        LaneRecord::decode(self.index_bytes.slice(self.place.offset.saturating_add(index * bytes as u64), bytes))
    }

    /// Number of records with `is_before` true; they come first. A directory cannot be longer than
    /// the file.
    pub(super) fn partition(self, is_before: impl Fn(&LaneRecord) -> bool) -> u64 {
        let len = self.place.len.min(self.index_bytes.header.length);
        links::partition(len, |index| is_before(&self.record(index)))
    }

    pub(super) fn find(self, key: LaneKey) -> Option<LaneRecord> {
        let index = self.partition(|record| record.key() < key);
        (index < self.place.len).then(|| self.record(index)).filter(|record| record.key() == key)
    }

    /// The lane with entity `number`, and the entity's row.
    pub(super) fn locate(self, number: u32) -> Option<(LaneRecord, u64)> {
        let after = self.partition(|record| record.base <= number);
        let record = self.record(after.checked_sub(1)?);
        let row = u64::from(number.checked_sub(record.base)?);
        (row < record.table.rows).then_some((record, row))
    }

    /// The records from a position on. They end if the file is damaged.
    pub(super) fn records_from(self, first: u64) -> impl Iterator<Item = LaneRecord> {
        (first..self.place.len).map(move |index| self.record(index)).take_while(move |_| !self.index_bytes.is_damaged())
    }
}
