//! [`SelfRepairingIndex`]: an index that is repaired if a query finds it damaged.
//!
//! A page of a large index is checked when it is first read. If it is damaged, the index is made
//! anew from the trace and the query runs again. The numbers of entities stay the same, because the
//! same trace gives the same index.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tumit_paje::{ContainerId, DiagnosticKind, TraceDiagnostic, TypeId, ValueId};

use crate::index::{IndexKey, IndexReader};
use crate::input::open_options::{OpenOptions, TraceOpenError};
use crate::query::{
    ContainerInfo, EntityFacts, EntityId, EntityList, EventCount, EventEntity, FirstFreeNumbers, LinkEntity,
    LinkVisitor, MixtureCells, NestedLaneGroup, NestedTime, OpenLinkEntity, OperationPart, QueryError, SeriesColumn,
    StateEntity, StateLaneId, TimeRange, TimelineSource, TraceSummary, TypeModel, ValueRange, VariableSample,
};

/// Maximum number of repairs. After them the disk is assumed to lose data.
const TRIES: u32 = 2;

/// Maximum number of link counts that are held back.
const WAITING: usize = 1 << 20;

#[derive(Clone)]
enum AnswerSource {
    Index(Arc<IndexReader>),
    /// The trace in memory, because no index can be written.
    Memory(Arc<dyn TimelineSource>),
}

/// An index that was made anew, or the trace in memory if no index can be written.
pub(crate) type RebuildResult = Result<Result<IndexReader, Arc<dyn TimelineSource>>, TraceOpenError>;

/// Makes the index of a trace anew. Fails if the trace no longer has this key.
type RebuildFn = fn(&Path, &OpenOptions, IndexKey) -> RebuildResult;

/// The index of a trace, and the function that makes another one.
pub(crate) struct SelfRepairingIndex {
    path: PathBuf,
    options: OpenOptions,
    key: IndexKey,
    rebuild: RebuildFn,
    source: RwLock<AnswerSource>,
    /// The number of repairs. Locked during a repair.
    rebuilds: Mutex<u32>,
}

impl SelfRepairingIndex {
    pub(crate) fn new(
        index: IndexReader,
        key: IndexKey,
        path: &Path,
        options: &OpenOptions,
        rebuild: RebuildFn,
    ) -> Self {
        let options = OpenOptions { preview: None, ..options.clone() };
        let source = RwLock::new(AnswerSource::Index(Arc::new(index)));
        Self { path: path.to_owned(), options, key, rebuild, source, rebuilds: Mutex::new(0) }
    }

    fn current_source(&self) -> AnswerSource {
        self.source.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs a query, and runs it again if the index was damaged and repaired.
    fn query_or_repair<T>(&self, query: impl Fn(&dyn TimelineSource) -> T) -> T {
        loop {
            let index = match self.current_source() {
                AnswerSource::Memory(source) => return query(source.as_ref()),
                AnswerSource::Index(index) => index,
            };
            let answer = query(index.as_ref());
            if !index.is_damaged() || !self.repair(&index) {
                return answer;
            }
        }
    }

    /// Repairs the index. Returns whether another source answers now.
    #[cold]
    fn repair(&self, reader: &Arc<IndexReader>) -> bool {
        let mut rebuilds = self.rebuilds.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(self.current_source(), AnswerSource::Index(index) if Arc::ptr_eq(&index, reader)) {
            return true;
        }
        if *rebuilds >= TRIES {
            return false;
        }
        *rebuilds += 1;
        let repair = TraceDiagnostic::note(DiagnosticKind::Index, "the index was damaged and has been rebuilt");
        let next = match (self.rebuild)(&self.path, &self.options, self.key) {
            Ok(Ok(index)) => AnswerSource::Index(Arc::new(index.with_diagnostic(Some(repair)))),
            Ok(Err(memory)) => AnswerSource::Memory(memory),
            // The trace was removed or changed.
            Err(_) => return false,
        };
        *self.source.write().unwrap_or_else(PoisonError::into_inner) = next;
        true
    }
}

impl TimelineSource for SelfRepairingIndex {
    fn summary(&self) -> TraceSummary {
        self.query_or_repair(|source| source.summary())
    }

    fn model(&self) -> Arc<TypeModel> {
        self.query_or_repair(|source| source.model())
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        self.query_or_repair(|source| source.containers())
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        self.query_or_repair(|source| source.depths(container, ty))
    }

    fn state_lane_groups(&self) -> Vec<NestedLaneGroup> {
        self.query_or_repair(|source| source.state_lane_groups())
    }

    fn types_in(&self, container: ContainerId) -> Option<Vec<TypeId>> {
        self.query_or_repair(|source| source.types_in(container))
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        self.query_or_repair(|source| source.cells(lanes, time_range, columns))
    }

    fn largest_shares(
        &self,
        lanes: &[StateLaneId],
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<MixtureCells, QueryError> {
        self.query_or_repair(|source| source.largest_shares(lanes, time_range, columns, limit))
    }

    fn times(&self, lanes: &[StateLaneId], time_range: TimeRange) -> Result<Vec<(ValueId, i64)>, QueryError> {
        self.query_or_repair(|source| source.times(lanes, time_range))
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
    ) -> Result<Vec<NestedTime>, QueryError> {
        self.query_or_repair(|source| source.nested_times(container, ty, time_range))
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        self.query_or_repair(|source| source.states(lane, time_range, limit))
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        self.query_or_repair(|source| source.events(container, ty, time_range, limit))
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        self.query_or_repair(|source| source.links(ty, time_range, limit))
    }

    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        self.query_or_repair(|source| source.open_links(ty, time_range))
    }

    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        self.query_or_repair(|source| source.event_counts(container, ty, time_range, columns, limit))
    }

    fn link_counts(
        &self,
        ty: TypeId,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        // Visits cannot be undone. They are held back until the index is known to be undamaged, up
        // to [`WAITING`] counts.
        loop {
            let now = self.current_source();
            let (mut pending_counts, mut visited) = (Vec::new(), false);
            let source: &dyn TimelineSource = match &now {
                AnswerSource::Index(index) => index.as_ref(),
                AnswerSource::Memory(source) => source.as_ref(),
            };
            let answer = source.link_counts(ty, time_range, exponent, &mut |count| {
                pending_counts.push(*count);
                if pending_counts.len() < WAITING {
                    return Ok(());
                }
                visited = true;
                pending_counts.drain(..).try_for_each(|count| visit(&count))
            });
            match now {
                AnswerSource::Index(index) if index.is_damaged() => {
                    if !self.repair(&index) || visited {
                        return Err(QueryError::Damaged);
                    }
                }
                _ => {
                    answer?;
                    return pending_counts.iter().try_for_each(visit);
                }
            }
        }
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        self.query_or_repair(|source| source.samples(container, ty, time_range, limit))
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        self.query_or_repair(|source| source.series(container, ty, time_range, columns))
    }

    fn value_range(&self, ty: TypeId) -> Option<ValueRange> {
        self.query_or_repair(|source| source.value_range(ty))
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        self.query_or_repair(|source| source.facts(id))
    }

    fn facts_without_paths(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        self.query_or_repair(|source| source.facts_without_paths(id))
    }

    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        self.query_or_repair(|source| source.number_fields(ids, field))
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        self.query_or_repair(|source| source.related_entities(id, limit))
    }

    fn operation_parts(&self, id: EntityId) -> Result<Vec<OperationPart>, QueryError> {
        self.query_or_repair(|source| source.operation_parts(id))
    }

    fn extent(&self) -> TimeRange {
        self.query_or_repair(|source| source.extent())
    }

    fn shows(&self, value: ValueId) -> bool {
        self.query_or_repair(|source| source.shows(value))
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        self.query_or_repair(|source| source.is_dense(lane, time_range, limit))
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        self.query_or_repair(|source| source.free_numbers())
    }
}
