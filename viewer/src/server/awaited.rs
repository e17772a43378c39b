//! The trace for one question: it answers as long as somebody waits.
//!
//! A page that is moved asks anew and hangs up on what it asked before. Whatever computes an answer asks the trace many times over: the next
//! time it is told that nobody waits, and ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::query::{
    Cells, ContainerId, ContainerInfo, EntityId, Facts, FreeNumbers, Interval, Lane, Link, Listed, Mark, Model,
    QueryError, Sample, SeriesColumn, State, Summary, TimelineSource, TypeId, ValueId,
};

/// Whether whoever asked has gone.
#[derive(Clone, Debug, Default)]
pub(super) struct Gone(Arc<AtomicBool>);

/// Kept by the one who waits.
#[derive(Debug)]
pub(super) struct Waiting(Gone);

impl Waiting {
    pub(super) fn new() -> (Self, Gone) {
        let gone = Gone::default();
        (Self(gone.clone()), gone)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

pub(super) struct Awaited {
    pub(super) source: Arc<dyn TimelineSource>,
    pub(super) gone: Gone,
}

impl Awaited {
    /// The trace, if the answer is awaited.
    fn of(&self) -> Result<&dyn TimelineSource, QueryError> {
        if self.gone.0.load(Ordering::Relaxed) { Err(QueryError::NotAwaited) } else { Ok(self.source.as_ref()) }
    }
}

impl TimelineSource for Awaited {
    fn summary(&self) -> Summary {
        self.source.summary()
    }

    fn model(&self) -> Arc<Model> {
        self.source.model()
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        self.source.containers()
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        self.source.depths(container, ty)
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        self.of()?.cells(lanes, interval, columns)
    }

    fn largest(&self, lanes: &[Lane], interval: Interval, columns: u32, most: usize) -> Result<Cells, QueryError> {
        self.of()?.largest(lanes, interval, columns, most)
    }

    fn times(&self, lanes: &[Lane], interval: Interval) -> Result<Vec<(ValueId, i64)>, QueryError> {
        self.of()?.times(lanes, interval)
    }

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        self.of()?.states(lane, interval, limit)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Mark>, QueryError> {
        self.of()?.events(container, ty, interval, limit)
    }

    fn links(&self, ty: TypeId, interval: Interval, limit: usize) -> Result<Listed<Link>, QueryError> {
        self.of()?.links(ty, interval, limit)
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Sample>, QueryError> {
        self.of()?.samples(container, ty, interval, limit)
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        self.of()?.series(container, ty, interval, columns)
    }

    fn range(&self, ty: TypeId) -> Option<(f64, f64)> {
        self.source.range(ty)
    }

    fn facts(&self, id: EntityId) -> Result<Facts, QueryError> {
        self.of()?.facts(id)
    }

    fn related(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        self.of()?.related(id, limit)
    }

    fn extent(&self) -> Interval {
        self.source.extent()
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        self.source.members(container)
    }

    fn shows(&self, value: ValueId) -> bool {
        self.source.shows(value)
    }

    fn is_dense(&self, lane: Lane, interval: Interval, most: usize) -> Result<bool, QueryError> {
        self.of()?.is_dense(lane, interval, most)
    }

    fn free_numbers(&self) -> FreeNumbers {
        self.source.free_numbers()
    }
}
