//! Point events of one type in one container, by date.

use tumit_paje::{ContainerId, TypeId, ValueId};

use super::details::DetailColumn;
use crate::query::Interval;

/// Events while they come, in any order.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct RawMarks {
    pub(crate) dates: Vec<i64>,
    pub(crate) values: Vec<ValueId>,
    pub(crate) details: DetailColumn,
}

impl RawMarks {
    /// Adds one.
    pub(crate) fn push(&mut self, date: i64, value: ValueId, detail: u32) {
        self.details.push(self.dates.len(), detail);
        self.dates.push(date);
        self.values.push(value);
    }
}

/// Events sorted by date; those of one date in the order of the trace.
#[derive(Debug)]
pub(crate) struct MarkLane {
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    /// Number in the store of the first event.
    pub(crate) base: u32,
    dates: Vec<i64>,
    values: Vec<ValueId>,
    details: DetailColumn,
}

impl MarkLane {
    /// Sorts and seals.
    pub(crate) fn new(container: ContainerId, ty: TypeId, base: u32, raw: RawMarks) -> Self {
        let RawMarks { mut dates, mut values, mut details } = raw;
        if !dates.is_sorted() {
            let mut order: Vec<u32> = (0..dates.len() as u32).collect();
            order.sort_by_key(|&index| dates[index as usize]);
            dates = order.iter().map(|&index| dates[index as usize]).collect();
            values = order.iter().map(|&index| values[index as usize]).collect();
            details.permute(&order);
        }
        dates.shrink_to_fit();
        values.shrink_to_fit();
        details.seal();
        Self { container, ty, base, dates, values, details }
    }

    pub(crate) fn len(&self) -> usize {
        self.dates.len()
    }

    pub(crate) fn date(&self, index: usize) -> i64 {
        self.dates[index]
    }

    pub(crate) fn value(&self, index: usize) -> ValueId {
        self.values[index]
    }

    pub(crate) fn detail(&self, index: usize) -> u32 {
        self.details.get(index)
    }

    /// Positions of those in an interval.
    pub(crate) fn within(&self, interval: Interval) -> std::ops::Range<usize> {
        let first = self.dates.partition_point(|&date| date < interval.from.0);
        first..self.dates.partition_point(|&date| date < interval.to.0).max(first)
    }
}
