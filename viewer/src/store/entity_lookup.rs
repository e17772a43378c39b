//! Look-up of single entities in a store, for facts and relations.

use tumit_paje::ContainerId;

use super::entity_number::number;
use super::links::StoreLinks;
use super::marks::StoreMarkLane;
use super::states::StoreStateLane;
use super::trace_store::TraceStore;
use super::variables::StoreVariableLane;
use crate::query::entity_facts::{DetailValue, EntityDetail, EntityLookup, FoundEntity, find_open_link};
use crate::query::{
    ContainerInfo, EntityId, GlobalNanos, LinkRow, OpenLinkRow, OperationPart, QueryError, TimeRange, TimestampExtent,
    TypeModel, nanos_range,
};

/// A list of entities with consecutive numbers.
pub(crate) trait NumberedList {
    /// The first number.
    fn base(&self) -> u32;
    fn len(&self) -> usize;
}

macro_rules! impl_numbered_list {
    ($($lane:ty),*) => {$(
        impl NumberedList for $lane {
            fn base(&self) -> u32 {
                self.base
            }

            fn len(&self) -> usize {
                self.len()
            }
        }
    )*};
}

impl_numbered_list!(StoreStateLane, StoreMarkLane, StoreLinks, StoreVariableLane);

/// The lane with entity `number`, and the entity's position in it. `lanes` are sorted by base;
/// empty lanes share the base of the next one.
pub(crate) fn locate<L: NumberedList>(lanes: &[L], number: u32) -> Option<(&L, usize)> {
    let after = lanes.partition_point(|lane| lane.base() <= number);
    let lane = &lanes[after.checked_sub(1)?];
    let index = (number - lane.base()) as usize;
    (index < lane.len()).then_some((lane, index))
}

impl EntityLookup for TraceStore {
    fn types(&self) -> &TypeModel {
        &self.model
    }

    fn container(&self, id: ContainerId) -> Result<&ContainerInfo, QueryError> {
        self.position(id).map(|position| &self.containers[position])
    }

    fn find(&self, id: EntityId) -> Result<FoundEntity, QueryError> {
        match id {
            EntityId::Container(container) => {
                let info = self.container(container)?;
                let detail = self.container_details.get(container.index()).copied().unwrap_or(0);
                Ok(FoundEntity { name: info.name.clone(), ty: info.ty, container, life: info.life, detail })
            }
            EntityId::State(number) => {
                let (lane, index) = locate(&self.states, number).ok_or(QueryError::Unknown { kind: "state" })?;
                Ok(FoundEntity {
                    name: self.value_name(lane.value(index)),
                    ty: lane.ty,
                    container: lane.container,
                    life: nanos_range(lane.start(index), lane.end(index)),
                    detail: lane.detail(index),
                })
            }
            EntityId::Event(number) => {
                let (lane, index) = locate(&self.marks, number).ok_or(QueryError::Unknown { kind: "event" })?;
                Ok(FoundEntity {
                    name: self.value_name(lane.value(index)),
                    ty: lane.ty,
                    container: lane.container,
                    life: nanos_range(lane.timestamp(index), lane.timestamp(index)),
                    detail: lane.detail(index),
                })
            }
            EntityId::Link(number) => {
                let (table, index) = locate(&self.links, number).ok_or(QueryError::Unknown { kind: "link" })?;
                let row = &table.rows[index];
                Ok(FoundEntity {
                    name: self.value_name(row.value),
                    ty: table.ty,
                    container: row.holder,
                    life: nanos_range(row.start_time, row.end_time),
                    detail: row.detail,
                })
            }
            EntityId::OpenLink(number) => find_open_link(self, number, |value| self.value_name(value)),
            EntityId::Sample(number) => {
                let (lane, index) = locate(&self.variables, number).ok_or(QueryError::Unknown { kind: "sample" })?;
                Ok(FoundEntity {
                    name: lane.value(index).to_string(),
                    ty: lane.ty,
                    container: lane.container,
                    life: nanos_range(lane.start(index), lane.end(index)),
                    detail: 0,
                })
            }
        }
    }

    fn link(&self, number: u32) -> Option<LinkRow> {
        locate(&self.links, number).map(|(table, index)| table.rows[index])
    }

    fn open_link(&self, number: u32) -> Option<OpenLinkRow> {
        self.open_links.get(number as usize).copied()
    }

    fn end(&self) -> GlobalNanos {
        self.summary.extent.to
    }

    fn detail(&self, row: u32) -> EntityDetail {
        self.details.detail(row)
    }

    fn field(&self, row: u32, name: &str) -> Option<DetailValue> {
        self.details.field(row, name)
    }

    fn key(&self, key: u64) -> String {
        self.details.key(key)
    }

    fn states_during(&self, container: ContainerId, time_range: TimeRange, max_count: usize) -> Vec<EntityId> {
        let lanes = self.state_lanes(container).iter();
        let states = lanes
            .flat_map(|lane| lane.overlapping_range(time_range).map(|index| EntityId::State(number(lane.base, index))))
            .take(max_count);
        states.collect()
    }

    fn states_at(&self, container: ContainerId, timestamp: i64, max_count: usize) -> Vec<EntityId> {
        let lanes = self.state_lanes(container).iter();
        let states = lanes
            .flat_map(|lane| {
                lane.touching_range(TimestampExtent::instant(timestamp))
                    .map(|index| EntityId::State(number(lane.base, index)))
            })
            .take(max_count);
        states.collect()
    }

    fn referring_states(&self, container: ContainerId, time_range: TimeRange, max_count: usize) -> Vec<EntityId> {
        self.references.states_referring_to(container, time_range).take(max_count).collect()
    }

    fn link_ends(&self, container: ContainerId, extent: TimestampExtent, max_count: usize) -> Vec<EntityId> {
        self.ends.links_within(container, extent).take(max_count).collect()
    }

    fn operation_parts(&self, operation: u64) -> Vec<OperationPart> {
        self.parts.of(operation).collect()
    }
}

impl TraceStore {
    fn value_name(&self, value: tumit_paje::ValueId) -> String {
        self.model.values.get(value.index()).map(|value| value.name.clone()).unwrap_or_default()
    }
}
