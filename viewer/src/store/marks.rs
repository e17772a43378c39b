//! Point events of one type in one container, by timestamp.

use tumit_paje::{ContainerId, TypeId, ValueId};

use super::details::DetailColumn;
use crate::query::TimeRange;

/// Events while they are collected, in any order.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct RawMarks {
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    pub(crate) timestamps: Vec<i64>,
    pub(crate) values: Vec<ValueId>,
    pub(crate) details: DetailColumn,
}

impl RawMarks {
    pub(crate) fn new(container: ContainerId, ty: TypeId) -> Self {
        Self { container, ty, timestamps: Vec::new(), values: Vec::new(), details: DetailColumn::default() }
    }

    /// Adds an event.
    pub(crate) fn push(&mut self, timestamp: i64, value: ValueId, detail: u32) {
        self.details.push(self.timestamps.len(), detail);
        self.timestamps.push(timestamp);
        self.values.push(value);
    }
}

/// Events sorted by timestamp. Events of equal timestamp are in the order of the trace.
#[derive(Debug)]
pub(crate) struct StoreMarkLane {
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    /// Number of the first event in the store.
    pub(crate) base: u32,
    timestamps: Vec<i64>,
    values: Vec<ValueId>,
    details: DetailColumn,
}

impl StoreMarkLane {
    /// Sorts and seals.
    pub(crate) fn new(base: u32, raw: RawMarks) -> Self {
        let RawMarks { container, ty, mut timestamps, mut values, mut details } = raw;
        if !timestamps.is_sorted() {
            let mut order: Vec<u32> = (0..timestamps.len() as u32).collect();
            order.sort_by_key(|&index| timestamps[index as usize]);
            timestamps = order.iter().map(|&index| timestamps[index as usize]).collect();
            values = order.iter().map(|&index| values[index as usize]).collect();
            details.permute(&order);
        }
        timestamps.shrink_to_fit();
        values.shrink_to_fit();
        details.seal();
        Self { container, ty, base, timestamps, values, details }
    }

    pub(crate) fn len(&self) -> usize {
        self.timestamps.len()
    }

    pub(crate) fn timestamp(&self, index: usize) -> i64 {
        self.timestamps[index]
    }

    pub(crate) fn value(&self, index: usize) -> ValueId {
        self.values[index]
    }

    pub(crate) fn detail(&self, index: usize) -> u32 {
        self.details.get(index)
    }

    /// Positions of the events in a time range.
    pub(crate) fn rows_in(&self, time_range: TimeRange) -> std::ops::Range<usize> {
        let first = self.timestamps.partition_point(|&timestamp| timestamp < time_range.from.0);
        first..self.timestamps.partition_point(|&timestamp| timestamp < time_range.to.0).max(first)
    }
}
