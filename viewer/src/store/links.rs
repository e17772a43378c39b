//! Links of one type, sorted by the earlier of their two dates.

use tumit_paje::TypeId;

use super::spans::Spans;
use crate::query::{Interval, LinkRow};

/// All links of a type.
#[derive(Debug)]
pub(crate) struct LinkTable {
    pub(crate) ty: TypeId,
    /// Number in the store of the first link.
    pub(crate) base: u32,
    pub(crate) rows: Vec<LinkRow>,
    spans: Spans,
}

impl LinkTable {
    /// Sorts and seals. Links of one date stay in the order of completion.
    pub(crate) fn new(ty: TypeId, base: u32, mut rows: Vec<LinkRow>) -> Self {
        rows.sort_by_key(LinkRow::low);
        rows.shrink_to_fit();
        let spans = Spans::new(rows.iter().map(LinkRow::effective_end).collect());
        Self { ty, base, rows, spans }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    fn started(&self, interval: Interval) -> usize {
        self.rows.partition_point(|row| row.low() < interval.to.0)
    }

    /// How many overlap an interval. O(log n).
    pub(crate) fn count(&self, interval: Interval) -> u64 {
        self.spans.count(self.started(interval), interval)
    }

    /// Positions of those that overlap an interval, by their earlier date.
    pub(crate) fn overlapping(&self, interval: Interval) -> impl Iterator<Item = usize> {
        self.spans.overlapping(self.started(interval), interval, |index| self.rows[index].effective_end())
    }
}
