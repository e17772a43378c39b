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

    fn count_started(&self, interval: TimeRange) -> usize {
        self.rows.partition_point(|row| row.earlier_timestamp() < interval.to.0)
    }

    /// Number of links that overlap an interval. O(log n).
    pub(crate) fn count(&self, interval: TimeRange) -> u64 {
        self.spans.count(self.count_started(interval), interval)
    }

    /// Positions of the links that overlap an interval, by their earlier timestamp.
    pub(crate) fn overlapping_links(&self, interval: TimeRange) -> impl Iterator<Item = usize> {
        self.spans.overlapping_spans(self.count_started(interval), interval, |index| self.rows[index].effective_end())
    }
}
