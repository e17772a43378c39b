//! Links of one type, sorted by the earlier of their two timestamps.

use tumit_paje::TypeId;

use super::end_tree::EndTree;
use crate::query::{LinkRow, TimeRange};

/// All links of a type.
#[derive(Debug)]
pub(crate) struct StoreLinks {
    pub(crate) ty: TypeId,
    /// Number of the first link in the store.
    pub(crate) base: u32,
    pub(crate) rows: Vec<LinkRow>,
    spans: EndTree,
}

impl StoreLinks {
    /// Sorts and seals. Links of equal timestamp stay in the order of completion.
    pub(crate) fn new(ty: TypeId, base: u32, mut rows: Vec<LinkRow>) -> Self {
        rows.sort_by_key(LinkRow::earlier_timestamp);
        rows.shrink_to_fit();
        let spans = EndTree::new(rows.iter().map(LinkRow::effective_end).collect());
        Self { ty, base, rows, spans }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    fn count_started(&self, time_range: TimeRange) -> usize {
        self.rows.partition_point(|row| row.earlier_timestamp() < time_range.to.0)
    }

    /// Number of links that overlap a time range. O(log n).
    pub(crate) fn count(&self, time_range: TimeRange) -> u64 {
        self.spans.count(self.count_started(time_range), time_range)
    }

    /// Positions of the links that overlap a time range, by their earlier timestamp.
    pub(crate) fn overlapping_links(&self, time_range: TimeRange) -> impl Iterator<Item = usize> {
        self.spans
            .overlapping_spans(self.count_started(time_range), time_range, |index| self.rows[index].effective_end())
    }
}
