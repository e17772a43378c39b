//! The cells of groups: the sums of the cells of their members.

use std::collections::BTreeMap;

use super::group_source::GroupSource;
use crate::filter::sources::entity_filter;
use crate::query::{self, ContainerInfo, MixtureCell, QueryError, StateLaneId, TimeRange, ValueId};

impl GroupSource {
    pub(super) fn group_cells(
        &self,
        members: &[ContainerInfo],
        lane: StateLaneId,
        time_range: TimeRange,
        columns: u32,
    ) -> Result<Vec<MixtureCell>, QueryError> {
        let deep = members.iter().filter(|member| self.inner.depths(member.id, lane.ty) > lane.depth);
        let within: Vec<StateLaneId> = deep.map(|member| StateLaneId { container: member.id, ..lane }).collect();
        let long = (i128::from(time_range.to.0) - i128::from(time_range.from.0)) / i128::from(columns.max(1)) + 1;
        if members.len() as i128 * long > i128::from(i64::MAX) {
            let max_nanos = query::weight(self, lane.container, lane.ty) as i128 * long;
            return self.wide_cells(&within, time_range, columns, max_nanos);
        }
        let mut sums = vec![MixtureCell::default(); columns as usize];
        for within in within.chunks(query::lanes_at_once(columns)) {
            let cells = self.inner.cells(within, time_range, columns)?.cells;
            for lane in cells.chunks(columns.max(1) as usize) {
                for (sum, cell) in sums.iter_mut().zip(lane) {
                    for &(value, nanos) in &cell.shares {
                        entity_filter::add(&mut sum.shares, value, nanos);
                    }
                }
            }
        }
        for sum in &mut sums {
            entity_filter::sort(&mut sum.shares);
        }
        Ok(sums)
    }

    /// Cells of the sum of lanes, computed with 128 bits. If the `max_nanos` nanoseconds of a cell
    /// exceed 64 bits, times are scaled so that `max_nanos` becomes [`i64::MAX`].
    fn wide_cells(
        &self,
        lanes: &[StateLaneId],
        time_range: TimeRange,
        columns: u32,
        max_nanos: i128,
    ) -> Result<Vec<MixtureCell>, QueryError> {
        let mut sums: Vec<BTreeMap<ValueId, i128>> = vec![BTreeMap::new(); columns as usize];
        for within in lanes.chunks(query::lanes_at_once(columns)) {
            let cells = self.inner.cells(within, time_range, columns)?.cells;
            for (cell, column) in cells.iter().zip((0..columns as usize).cycle()) {
                for &(value, nanos) in &cell.shares {
                    *sums[column].entry(value).or_default() += i128::from(nanos);
                }
            }
        }
        // A millionth of a full cell is smaller than a pixel. The products stay within 128 bits.
        let part = |nanos: i128| {
            if max_nanos > i128::from(i64::MAX) {
                (nanos << 20) / max_nanos * (i128::from(i64::MAX) >> 20)
            } else {
                nanos
            }
        };
        let cell = |sum: BTreeMap<ValueId, i128>| {
            let mut cell = MixtureCell::default();
            for (value, nanos) in sum {
                entity_filter::add(&mut cell.shares, value, i64::try_from(part(nanos)).unwrap_or(i64::MAX));
            }
            entity_filter::sort(&mut cell.shares);
            cell
        };
        Ok(sums.into_iter().map(cell).collect())
    }
}
