//! Look-up of single entities in an index.

use tumit_paje::{ContainerId, TypeId};

use super::details::IndexDetails;
use super::file::bit_fields::timestamp;
use super::file::file_layout::{LaneRecord, OPERATION_PART_COLUMNS};
use super::file::max_end_tree::MaxEndTree;
use super::file::packed_table::PackedTable;
use super::index_reader::IndexReader;
use super::lanes::links::{self, IndexLinks};
use super::lanes::marks::IndexMarkLane;
use super::lanes::open_links::IndexOpenLinks;
use super::lanes::states::{self, IndexStateLane};
use super::lanes::variables::IndexVariableLane;
use crate::query::entity_facts::{DetailValue, EntityDetail, EntityLookup, FoundEntity, find_open_link};
use crate::query::{
    ContainerInfo, EntityId, GlobalNanos, LinkRow, OpenLinkRow, OperationPart, QueryError, TimeRange, TimestampExtent,
    TypeModel, nanos_range,
};

impl EntityLookup for IndexReader {
    fn types(&self) -> &TypeModel {
        &self.model
    }

    fn container(&self, id: ContainerId) -> Result<&ContainerInfo, QueryError> {
        let position = self.positions.get(id.index()).copied().unwrap_or(u32::MAX);
        self.containers.get(position as usize).ok_or(QueryError::Unknown { kind: "container" })
    }

    fn find(&self, id: EntityId) -> Result<FoundEntity, QueryError> {
        let header = &self.index_bytes.header;
        let place_of = |record: &LaneRecord| (ContainerId(record.container), TypeId(record.ty));
        match id {
            EntityId::Container(container) => {
                let info = self.container(container)?;
                let detail = self.container_details.get(container.index()).copied().unwrap_or(0);
                Ok(FoundEntity { name: info.name.clone(), ty: info.ty, container, life: info.life, detail })
            }
            EntityId::State(number) => {
                let (record, row) =
                    self.directory(header.states).locate(number).ok_or(QueryError::Unknown { kind: "state" })?;
                let lane = IndexStateLane::new(&self.index_bytes, record);
                let (block, index) = lane.block_at(row);
                let (container, ty) = place_of(&record);
                Ok(FoundEntity {
                    name: self.value_name(lane.value(block.columns[2].get(index))),
                    ty,
                    container,
                    life: nanos_range(states::start(&block, index), states::end(&block, index)),
                    detail: block.columns[3].get(index) as u32,
                })
            }
            EntityId::Event(number) => {
                let (record, row) =
                    self.directory(header.marks).locate(number).ok_or(QueryError::Unknown { kind: "event" })?;
                let mark = IndexMarkLane::new(&self.index_bytes, record).row(row);
                let (container, ty) = place_of(&record);
                Ok(FoundEntity {
                    name: self.value_name(mark.value),
                    ty,
                    container,
                    life: nanos_range(mark.timestamp, mark.timestamp),
                    detail: mark.detail,
                })
            }
            EntityId::Link(number) => {
                let (record, row_index) =
                    self.directory(header.links).locate(number).ok_or(QueryError::Unknown { kind: "link" })?;
                let row = IndexLinks::new(&self.index_bytes, record).row(row_index);
                Ok(FoundEntity {
                    name: self.value_name(row.value),
                    ty: TypeId(record.ty),
                    container: row.holder,
                    life: nanos_range(row.start_time, row.end_time),
                    detail: row.detail,
                })
            }
            EntityId::OpenLink(number) => find_open_link(self, number, |value| self.value_name(value)),
            EntityId::Sample(number) => {
                let (record, row) =
                    self.directory(header.variables).locate(number).ok_or(QueryError::Unknown { kind: "sample" })?;
                let (life, value) = IndexVariableLane::new(&self.index_bytes, record).row(row);
                let (container, ty) = place_of(&record);
                Ok(FoundEntity { name: value.to_string(), ty, container, life, detail: 0 })
            }
        }
    }

    fn link(&self, number: u32) -> Option<LinkRow> {
        let (record, row) = self.directory(self.index_bytes.header.links).locate(number)?;
        Some(IndexLinks::new(&self.index_bytes, record).row(row))
    }

    fn open_link(&self, number: u32) -> Option<OpenLinkRow> {
        IndexOpenLinks::new(&self.index_bytes).row(number)
    }

    fn end(&self) -> GlobalNanos {
        self.summary.extent.to
    }

    fn detail(&self, row: u32) -> EntityDetail {
        IndexDetails(&self.index_bytes).detail(row)
    }

    fn field(&self, row: u32, name: &str) -> Option<DetailValue> {
        IndexDetails(&self.index_bytes).field(row, name)
    }

    fn key(&self, key: u64) -> String {
        IndexDetails(&self.index_bytes).key(key)
    }

    fn states_during(&self, container: ContainerId, time_range: TimeRange, max_count: usize) -> Vec<EntityId> {
        let numbers = self
            .state_lanes(container)
            .flat_map(|lane| lane.overlapping_range(time_range).map(move |row| EntityId::State(lane.number(row))));
        numbers.take(max_count).collect()
    }

    fn states_at(&self, container: ContainerId, timestamp: i64, max_count: usize) -> Vec<EntityId> {
        let numbers = self.state_lanes(container).flat_map(|lane| {
            lane.touching_range(TimestampExtent::instant(timestamp)).map(move |row| EntityId::State(lane.number(row)))
        });
        numbers.take(max_count).collect()
    }

    fn referring_states(&self, container: ContainerId, time_range: TimeRange, max_count: usize) -> Vec<EntityId> {
        let tree = MaxEndTree { index_bytes: &self.index_bytes, offset: self.index_bytes.header.reference_tree };
        links::referring_states(
            PackedTable::new(&self.index_bytes, self.index_bytes.header.references),
            tree,
            container,
            time_range,
            max_count,
        )
    }

    fn link_ends(&self, container: ContainerId, extent: TimestampExtent, max_count: usize) -> Vec<EntityId> {
        links::ends_within(
            PackedTable::new(&self.index_bytes, self.index_bytes.header.ends),
            container,
            extent,
            max_count,
        )
    }
    fn operation_parts(&self, operation: u64) -> Vec<OperationPart> {
        let table = PackedTable::<OPERATION_PART_COLUMNS>::new(&self.index_bytes, self.index_bytes.header.parts);
        let mut parts = Vec::new();
        let mut row = table.lower_bound(0, operation);
        while row < table.rows() {
            let (block, from) = table.block_at(row);
            for index in from..block.len {
                let [number_of_operation, enter, number] = block.columns.map(|column| column.get(index));
                if number_of_operation != operation {
                    return parts;
                }
                parts.push(OperationPart { id: EntityId::State(number as u32), enter: GlobalNanos(timestamp(enter)) });
            }
            // A damaged file may have empty blocks.
            row = block.row.saturating_add(block.len.max(1) as u64).max(row.saturating_add(1));
        }
        parts
    }
}
