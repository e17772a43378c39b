//! Relations between entities: references to containers, both endpoints of links, and parts of
//! collective operations.

use std::collections::HashMap;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ValueId};

use super::details::DetailTable;
use super::end_tree::EndTree;
use super::entity_number::number;
use super::links::StoreLinks;
use super::states::StoreStateLane;
use crate::query::entity_facts::operation_number;
use crate::query::{EntityId, OperationPart, TimeRange, TimestampExtent, effective_end};

/// States that refer to containers, by container.
#[derive(Debug, Default)]
pub(crate) struct StateReferences {
    by_container: HashMap<ContainerId, ReferringState>,
}

#[derive(Debug, Default)]
struct ReferringState {
    /// Start, effective end and number of the states, sorted by start.
    rows: Vec<(i64, i64, u32)>,
    spans: EndTree,
}

impl StateReferences {
    pub(crate) fn new(states: &[StoreStateLane], details: &DetailTable) -> Self {
        let mut by_container: HashMap<ContainerId, ReferringState> = HashMap::new();
        for lane in states.iter().filter(|lane| lane.has_details()) {
            for index in 0..lane.len() {
                for container in details.references(lane.detail(index)) {
                    let (start, end) = (lane.start(index), lane.end(index));
                    let row = (start, effective_end(start, end), number(lane.base, index));
                    let rows = &mut by_container.entry(container).or_default().rows;
                    // A state may refer to a container twice, for example as the reason of waiting
                    // and as its owner.
                    if rows.last() != Some(&row) {
                        rows.push(row);
                    }
                }
            }
        }
        #[expect(clippy::iter_over_hash_type, reason = "each list is sealed separately")]
        for referring in by_container.values_mut() {
            referring.rows.sort_unstable();
            referring.spans = EndTree::new(referring.rows.iter().map(|row| row.1).collect());
        }
        Self { by_container }
    }

    /// States that refer to `container` and overlap the time range, ordered by start.
    pub(crate) fn states_referring_to(
        &self,
        container: ContainerId,
        time_range: TimeRange,
    ) -> impl Iterator<Item = EntityId> {
        self.by_container.get(&container).into_iter().flat_map(move |referring| {
            let started_count = referring.rows.partition_point(|row| row.0 < time_range.to.0);
            referring
                .spans
                .overlapping_spans(started_count, time_range, |index| referring.rows[index].1)
                .map(|index| EntityId::State(referring.rows[index].2))
        })
    }
}

/// Both endpoints of all links, by container and timestamp.
#[derive(Debug, Default)]
pub(crate) struct LinkEndIndex(Vec<(ContainerId, i64, u32)>);

impl LinkEndIndex {
    pub(crate) fn new(links: &[StoreLinks]) -> Self {
        let mut ends = Vec::with_capacity(2 * links.iter().map(|table| table.rows.len()).sum::<usize>());
        for table in links {
            for (index, row) in table.rows.iter().enumerate() {
                let link = number(table.base, index);
                ends.push((row.start, row.start_time, link));
                if (row.end, row.end_time) != (row.start, row.start_time) {
                    ends.push((row.end, row.end_time, link));
                }
            }
        }
        ends.sort_unstable();
        Self(ends)
    }

    /// Links that start or end in `container` at a timestamp of `extent`, ordered by that
    /// timestamp.
    pub(crate) fn links_within(
        &self,
        container: ContainerId,
        extent: TimestampExtent,
    ) -> impl Iterator<Item = EntityId> {
        let first = self.0.partition_point(|end| (end.0, end.1) < (container, extent.first));
        self.0[first..]
            .iter()
            .take_while(move |end| end.0 == container && end.1 <= extent.last)
            .map(|end| EntityId::Link(end.2))
    }
}

/// The parts of all collective operations: operation, start and number of the state, sorted.
#[derive(Debug, Default)]
pub(crate) struct OperationPartIndex(Vec<(u64, i64, u32)>);

impl OperationPartIndex {
    /// Finds the parts among the states of `values`.
    pub(crate) fn new(states: &[StoreStateLane], details: &DetailTable, values: &[ValueId]) -> Self {
        let mut parts = Vec::new();
        if values.is_empty() {
            return Self(parts);
        }
        for lane in states.iter().filter(|lane| lane.has_details()) {
            for index in (0..lane.len()).filter(|&index| values.binary_search(&lane.value(index)).is_ok()) {
                let row = lane.detail(index);
                if let Some(operation) = operation_number(|name| details.field(row, name)) {
                    parts.push((operation, lane.start(index), number(lane.base, index)));
                }
            }
        }
        parts.sort_unstable();
        Self(parts)
    }

    /// The parts of an operation, by the time at which they enter.
    pub(crate) fn of(&self, operation: u64) -> impl Iterator<Item = OperationPart> {
        let first = self.0.partition_point(|part| part.0 < operation);
        self.0[first..]
            .iter()
            .take_while(move |part| part.0 == operation)
            .map(|part| OperationPart { id: EntityId::State(part.2), enter: GlobalNanos(part.1) })
    }
}
