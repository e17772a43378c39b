//! [`LaneRecords`]: the records of all lanes of one kind, by lane.

use std::ops::Range;
use std::sync::OnceLock;

use super::file::file_layout::{LaneKey, LaneRecord, PageBytes};
use super::file::index_bytes::IndexBytes;
use super::lanes::links;

/// Records that are read together if only their keys are needed: those of a page of 4 KiB.
const RECORDS_AT_ONCE: usize = 51;

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

    /// As [`Self::find`], among the records at some positions.
    pub(super) fn find_within(self, positions: Range<u64>, key: LaneKey) -> Option<LaneRecord> {
        let count = positions.end.saturating_sub(positions.start);
        let index = positions.start + links::partition(count, |index| self.record(positions.start + index).key() < key);
        (index < positions.end).then(|| self.record(index)).filter(|record| record.key() == key)
    }

    /// The records at some positions. They end if the file is damaged.
    pub(super) fn records_within(self, positions: Range<u64>) -> impl Iterator<Item = LaneRecord> {
        let count = positions.end.saturating_sub(positions.start);
        self.records_from(positions.start).take(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// The lane with entity `number`, and the entity's row.
    pub(super) fn locate(self, number: u32) -> Option<(LaneRecord, u64)> {
        let after = self.partition(|record| record.base <= number);
        let record = self.record(after.checked_sub(1)?);
        let row = u64::from(number.checked_sub(record.base)?);
        (row < record.table.rows).then_some((record, row))
    }

    /// The keys of all records. They end if the file is damaged.
    pub(super) fn keys(self) -> impl Iterator<Item = LaneKey> + use<'a> {
        let parts = (0..self.place.len).step_by(RECORDS_AT_ONCE);
        parts.take_while(move |_| !self.index_bytes.is_damaged()).flat_map(move |first| {
            let count = (self.place.len - first).min(RECORDS_AT_ONCE as u64) as usize;
            let offset = self.place.offset.saturating_add(first.saturating_mul(LaneRecord::BYTES as u64));
            let records = self.index_bytes.slice(offset, count * LaneRecord::BYTES);
            records.chunks_exact(LaneRecord::BYTES).map(LaneKey::decode)
        })
    }

    /// The records from a position on. They end if the file is damaged.
    pub(super) fn records_from(self, first: u64) -> impl Iterator<Item = LaneRecord> {
        (first..self.place.len).map(move |index| self.record(index)).take_while(move |_| !self.index_bytes.is_damaged())
    }
}

/// The positions of the records of each container. A search among all records would read about
/// twenty of a million, and views of many containers search for each of them.
#[derive(Debug, Default)]
pub(super) struct ContainerRecords {
    /// For each container, the position of its first record; then the end.
    starts: OnceLock<Vec<u32>>,
}

impl ContainerRecords {
    /// The positions of the records of a container, whose number is below `containers`. The first
    /// call reads all records.
    pub(super) fn positions(&self, records: LaneRecords<'_>, containers: usize, container: u32) -> Range<u64> {
        let starts = self.starts.get_or_init(|| {
            let mut starts = vec![0_u32; containers + 1];
            for key in records.keys() {
                // The record of an unknown container, in a damaged file, has no effect.
                if let Some(next) = starts.get_mut((key.container as usize).saturating_add(1)) {
                    *next = next.saturating_add(1);
                }
            }
            for container in 1..starts.len() {
                starts[container] = starts[container].saturating_add(starts[container - 1]);
            }
            starts
        });
        let position = |index: usize| starts.get(index).copied().map_or(0, u64::from);
        let container = container as usize;
        if container < containers { position(container)..position(container + 1) } else { 0..0 }
    }
}
