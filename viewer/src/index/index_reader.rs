//! [`IndexReader`]: answers queries from an index.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, TraceDiagnostic, TypeId, ValueId};

use super::description_section::DescriptionSection;
use super::file::file_layout::{IndexKey, IndexRefusal, LaneKey, LaneRecord, PageBytes};
use super::file::index_bytes::{IndexBytes, IndexOpenError, blocks_read};
use super::lane_records::{ContainerRecords, LaneRecords};
use super::lane_sums::IndexLaneSums;
use super::lanes::links::IndexLinks;
use super::lanes::marks::IndexMarkLane;
use super::lanes::open_links::IndexOpenLinks;
use super::lanes::states::IndexStateLane;
use super::lanes::variables::IndexVariableLane;
use super::link_fields;
use super::mixtures::overview::CellRequest;
use crate::query::entity_facts::{self, EntityLookup};
use crate::query::nested_times::{self, Checkpoints, NestedLaneGroup};
use crate::query::{
    ContainerInfo, EntityFacts, EntityId, EntityList, EventCount, EventEntity, LinkEntity, LinkVisitor, MixtureCells,
    NestedTime, OpenLinkEntity, OperationPart, QueryError, SeriesColumn, StateEntity, StateLaneId, TimeRange,
    TimelineSource, TraceSummary, TypeModel, ValueRange, VariableSample,
};
use crate::store::check_time_range;

/// A trace in an index file.
#[derive(Debug)]
pub struct IndexReader {
    pub(super) index_bytes: IndexBytes,
    pub(super) summary: TraceSummary,
    pub(super) model: Arc<TypeModel>,
    pub(super) containers: Arc<Vec<ContainerInfo>>,
    /// Position in `containers` by id; `u32::MAX` if there is no such container.
    pub(super) positions: Vec<u32>,
    /// Rows of extra fields by container id.
    pub(super) container_details: Vec<u32>,
    /// Least and largest value of each variable type that has values. They are read at the first
    /// request.
    ranges: OnceLock<FxHashMap<TypeId, ValueRange>>,
    state_records: ContainerRecords,
}

impl IndexReader {
    /// Opens the index of the trace that `key` identifies. Files of more than `read_up_to` bytes
    /// are mapped, and checked when they are read.
    pub(crate) fn open(path: &Path, key: IndexKey, read_up_to: u64) -> Result<Self, IndexOpenError> {
        let index_bytes = IndexBytes::open(path, key, read_up_to)?;
        let PageBytes { offset, len } = index_bytes.header.model;
        let body = usize::try_from(len).ok().and_then(|n| DescriptionSection::decode(index_bytes.slice(offset, n)));
        let DescriptionSection { summary, model, containers, details } = body.ok_or(IndexRefusal::Damaged)?;
        let mut positions = vec![u32::MAX; details.len()];
        for (position, container) in containers.iter().enumerate() {
            positions[container.id.index()] = position as u32;
        }
        Ok(Self {
            index_bytes,
            summary,
            model: Arc::new(model),
            containers: Arc::new(containers),
            positions,
            container_details: details,
            ranges: OnceLock::new(),
            state_records: ContainerRecords::default(),
        })
    }

    /// Whether a read found damage. If so, answers since the last check are invalid.
    pub(crate) fn is_damaged(&self) -> bool {
        self.index_bytes.is_damaged()
    }

    /// Whether the whole file is undamaged. Reads all of it.
    pub(crate) fn is_whole(&self) -> bool {
        self.index_bytes.is_whole()
    }

    /// Adds a diagnostic about this opening to the summary.
    pub(crate) fn with_diagnostic(mut self, diagnostic: Option<TraceDiagnostic>) -> Self {
        self.summary.diagnostics.extend(diagnostic);
        self
    }

    /// Number of blocks and sums that this thread has read so far, in all indexes: the cost of
    /// queries, independent of the machine. It does not count cells of many lanes, which other
    /// threads compute.
    #[must_use]
    pub fn blocks_read(&self) -> u64 {
        blocks_read()
    }

    /// The answer, or an error if the file is damaged.
    fn check_damage<T>(&self, answer: T) -> Result<T, QueryError> {
        if self.index_bytes.is_damaged() { Err(QueryError::Damaged) } else { Ok(answer) }
    }

    pub(super) fn directory(&self, place: PageBytes) -> LaneRecords<'_> {
        LaneRecords::new(&self.index_bytes, place)
    }

    /// All state lanes of a container, of any type.
    pub(super) fn state_lanes(&self, container: ContainerId) -> impl Iterator<Item = IndexStateLane<'_>> {
        self.state_lane_records(container).map(|record| IndexStateLane::new(&self.index_bytes, record))
    }

    /// The positions of the records of the state lanes of a container.
    fn state_positions(&self, container: ContainerId) -> std::ops::Range<u64> {
        let directory = self.directory(self.index_bytes.header.states);
        self.state_records.positions(directory, self.positions.len(), container.0)
    }

    fn state_lane_records(&self, container: ContainerId) -> impl Iterator<Item = LaneRecord> {
        let directory = self.directory(self.index_bytes.header.states);
        let records = directory.records_within(self.state_positions(container));
        records.take_while(move |record| record.container == container.0)
    }

    fn state_lane(&self, lane: StateLaneId) -> Option<IndexStateLane<'_>> {
        let key = LaneKey { container: lane.container.0, ty: lane.ty.0, depth: lane.depth };
        let directory = self.directory(self.index_bytes.header.states);
        let record = directory.find_within(self.state_positions(lane.container), key)?;
        Some(IndexStateLane::new(&self.index_bytes, record))
    }

    fn mark_lane(&self, container: ContainerId, ty: TypeId) -> Option<IndexMarkLane<'_>> {
        let record = self.directory(self.index_bytes.header.marks).find(LaneKey {
            container: container.0,
            ty: ty.0,
            depth: 0,
        })?;
        Some(IndexMarkLane::new(&self.index_bytes, record))
    }

    fn variable(&self, container: ContainerId, ty: TypeId) -> Option<IndexVariableLane<'_>> {
        let record = self.directory(self.index_bytes.header.variables).find(LaneKey {
            container: container.0,
            ty: ty.0,
            depth: 0,
        })?;
        Some(IndexVariableLane::new(&self.index_bytes, record))
    }

    fn link_table(&self, ty: TypeId) -> Option<IndexLinks<'_>> {
        let record =
            self.directory(self.index_bytes.header.links).find(LaneKey { container: 0, ty: ty.0, depth: 0 })?;
        Some(IndexLinks::new(&self.index_bytes, record))
    }

    fn check(&self, container: ContainerId, ty: TypeId, time_range: TimeRange) -> Result<(), QueryError> {
        self.container(container)?;
        self.check_type(ty)?;
        check_time_range(time_range)
    }

    fn check_type(&self, ty: TypeId) -> Result<(), QueryError> {
        if ty.index() < self.model.types.len() { Ok(()) } else { Err(QueryError::Unknown { kind: "type" }) }
    }

    pub(super) fn value_name(&self, value: ValueId) -> String {
        self.model.values.get(value.index()).map(|value| value.name.clone()).unwrap_or_default()
    }

    fn lane_sums<'a>(&'a self) -> IndexLaneSums<'a, impl Fn(StateLaneId) -> Option<IndexStateLane<'a>> + Sync> {
        let (origin, values) = (self.summary.extent.from.0, self.model.values.len());
        IndexLaneSums { index_bytes: &self.index_bytes, origin, values, find: |lane| self.state_lane(lane) }
    }

    fn check_lanes(&self, lanes: &[StateLaneId], time_range: TimeRange) -> Result<(), QueryError> {
        check_time_range(time_range)?;
        lanes.iter().try_for_each(|lane| self.check(lane.container, lane.ty, time_range))
    }
}

fn empty_list<T>() -> EntityList<T> {
    EntityList { total: 0, items: Vec::new() }
}

impl TimelineSource for IndexReader {
    fn summary(&self) -> TraceSummary {
        self.summary.clone()
    }

    fn model(&self) -> Arc<TypeModel> {
        Arc::clone(&self.model)
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Arc::clone(&self.containers)
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        let records = self.state_lane_records(container).filter(|record| record.ty == ty.0);
        records.map(|record| record.depth.saturating_add(1)).max().unwrap_or(0)
    }

    fn state_lane_groups(&self) -> Vec<NestedLaneGroup> {
        let mut groups: Vec<NestedLaneGroup> = Vec::new();
        for key in self.directory(self.index_bytes.header.states).keys() {
            let (container, ty) = (ContainerId(key.container), TypeId(key.ty));
            match groups.last_mut().filter(|last| (last.container, last.ty) == (container, ty)) {
                Some(last) => last.depths = last.depths.max(key.depth.saturating_add(1)),
                None => groups.push(NestedLaneGroup { container, ty, depths: key.depth.saturating_add(1) }),
            }
        }
        groups
    }

    fn types_in(&self, container: ContainerId) -> Option<Vec<TypeId>> {
        let header = &self.index_bytes.header;
        let mut types: Vec<TypeId> = self.state_lane_records(container).map(|record| TypeId(record.ty)).collect();
        for place in [header.marks, header.variables] {
            let directory = self.directory(place);
            let first = directory.partition(|record| record.container < container.0);
            let records = directory.records_from(first);
            types.extend(records.take_while(|record| record.container == container.0).map(|record| TypeId(record.ty)));
        }
        types.sort_unstable();
        types.dedup();
        Some(types)
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        self.largest_shares(lanes, time_range, columns, usize::MAX)
    }

    fn largest_shares(
        &self,
        lanes: &[StateLaneId],
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<MixtureCells, QueryError> {
        self.check_lanes(lanes, time_range)?;
        if columns == 0 {
            return Err(QueryError::EmptyTimeRange);
        }
        let cells = self.lane_sums().cells(lanes, CellRequest { time_range, columns, max_shares: limit });
        self.check_damage(MixtureCells { columns, cells })
    }

    fn times(&self, lanes: &[StateLaneId], time_range: TimeRange) -> Result<Vec<(ValueId, i64)>, QueryError> {
        self.check_lanes(lanes, time_range)?;
        self.check_damage(self.lane_sums().times(lanes, time_range))
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
    ) -> Result<Vec<NestedTime>, QueryError> {
        self.check(container, ty, time_range)?;
        let nesting = NestedLaneGroup { container, ty, depths: self.depths(container, ty) };
        if nesting.depths < 2 {
            return Ok(nested_times::unnested_times(
                self.times(&[StateLaneId { container, ty, depth: 0 }], time_range)?,
            ));
        }
        let sweep = |part| {
            nested_times::sweep(|lane, part, limit| TimelineSource::states(self, lane, part, limit), nesting, part)
        };
        let Some(PageBytes { offset, len }) = self
            .directory(self.index_bytes.header.nested_sums)
            .find(LaneKey { container: container.0, ty: ty.0, depth: 0 })
            .map(|record| record.sums)
        else {
            return sweep(time_range);
        };
        let word = |number: u64| self.index_bytes.word(offset.saturating_add(number.saturating_mul(8)));
        let max_words = len.min(self.index_bytes.header.length / 8);
        self.check_damage(nested_times::times_in_range(&Checkpoints::new(word, max_words), time_range, sweep)?)
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        self.check(lane.container, lane.ty, time_range)?;
        let Some(lane) = self.state_lane(lane) else { return self.check_damage(empty_list()) };
        let rows = lane.overlapping_range(time_range);
        self.check_damage(EntityList { total: rows.end - rows.start, items: lane.list(rows, limit) })
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        self.check(container, ty, time_range)?;
        let Some(lane) = self.mark_lane(container, ty) else { return self.check_damage(empty_list()) };
        let rows = lane.rows_in(time_range);
        self.check_damage(EntityList { total: rows.end - rows.start, items: lane.list(rows, limit) })
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        self.check_type(ty)?;
        check_time_range(time_range)?;
        let Some(table) = self.link_table(ty) else { return self.check_damage(empty_list()) };
        self.check_damage(EntityList { total: table.count(time_range), items: table.list(time_range, limit) })
    }

    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        self.check_type(ty)?;
        check_time_range(time_range)?;
        let rows = IndexOpenLinks::new(&self.index_bytes).before_end(ty, time_range);
        self.check_damage(rows.iter().map(|(number, row)| entity_facts::open_link(self, *number, row)).collect())
    }

    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        self.check(container, ty, time_range)?;
        if columns == 0 {
            return Err(QueryError::EmptyTimeRange);
        }
        let parts = time_range.columns(columns);
        self.check_damage(match self.mark_lane(container, ty) {
            Some(lane) => lane.counts(parts, limit, self.model.values.len()),
            None => vec![EventCount::default(); columns as usize],
        })
    }

    fn link_counts(
        &self,
        ty: TypeId,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        self.check_type(ty)?;
        check_time_range(time_range)?;
        let table = self.link_table(ty);
        let result = table.map_or(Ok(()), |table| table.counts(time_range, exponent.min(63), visit));
        self.check_damage(())?;
        result
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        self.check(container, ty, time_range)?;
        let Some(lane) = self.variable(container, ty) else { return self.check_damage(empty_list()) };
        let rows = lane.overlapping_range(time_range);
        self.check_damage(EntityList { total: rows.end - rows.start, items: lane.list(rows, limit) })
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        self.check(container, ty, time_range)?;
        if columns == 0 {
            return Err(QueryError::EmptyTimeRange);
        }
        let parts = time_range.columns(columns);
        self.check_damage(match self.variable(container, ty) {
            Some(lane) => lane.columns(parts),
            None => vec![None; columns as usize],
        })
    }

    fn value_range(&self, ty: TypeId) -> Option<ValueRange> {
        let ranges = self.ranges.get_or_init(|| {
            let mut ranges: FxHashMap<TypeId, ValueRange> = FxHashMap::default();
            for record in self.directory(self.index_bytes.header.variables).records_from(0) {
                let ty = TypeId(record.ty);
                let Some(range) = IndexVariableLane::new(&self.index_bytes, record).range() else { continue };
                ranges.entry(ty).and_modify(|all| *all = all.join(range)).or_insert(range);
            }
            ranges
        });
        ranges.get(&ty).copied().filter(|_| !self.index_bytes.is_damaged())
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        let facts = entity_facts::facts(self, id, true)?;
        self.check_damage(facts)
    }

    fn facts_without_paths(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        let facts = entity_facts::facts(self, id, false)?;
        self.check_damage(facts)
    }

    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        let are_links = ids.iter().all(|id| matches!(id, EntityId::Link(_)));
        let numbers = if are_links && !entity_facts::is_own_link_field(field) {
            let locate = |number| self.directory(self.index_bytes.header.links).locate(number);
            let values = link_fields::values(&self.index_bytes, ids, field, locate)?.into_iter();
            values.map(|value| value.and_then(|value| entity_facts::number_of_value(self, value))).collect()
        } else {
            entity_facts::number_fields(self, ids, field)?
        };
        self.check_damage(numbers)
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        let result = entity_facts::related_entities(self, id, limit)?;
        self.check_damage(result)
    }

    fn operation_parts(&self, id: EntityId) -> Result<Vec<OperationPart>, QueryError> {
        let parts = entity_facts::operation_parts(self, id)?;
        self.check_damage(parts)
    }
}
