//! [`Layer`]: a source around another one that says only what it changes.
//!
//! Every layer is a [`TimelineSource`]: a filter of one's own implements [`Layer`] for a type and overrides what differs.

use std::sync::Arc;

use crate::query::{
    self, Cells, ContainerId, ContainerInfo, EntityId, EventCount, Facts, FreeNumbers, Interval, Lane, Link,
    LinkVisitor, Listed, Mark, Model, NestedTime, QueryError, Sample, SeriesColumn, State, Summary, TimelineSource,
    TypeId, ValueId, counts, nested,
};

/// The queries of [`TimelineSource`], each answered by the source within unless it is overridden.
///
/// What must stay true between them: ids of types, values and containers that come from within keep their meaning; what a layer
/// leaves out of one answer it leaves out of all; entities of its own have numbers from [`TimelineSource::free_numbers`] upwards.
#[expect(missing_docs, reason = "as in TimelineSource")]
#[expect(clippy::missing_errors_doc, reason = "as in TimelineSource")]
pub trait Layer: Send + Sync {
    /// The source within.
    fn inner(&self) -> &dyn TimelineSource;

    /// Whether states, events and links of a type are those of the source within: then so is what is asked of many at once, sums and counts,
    /// which is else made of the lists that the layer gives.
    fn keeps(&self, ty: TypeId) -> bool {
        let _ = ty;
        false
    }

    /// The source within, for questions that take work: a layer may refuse them all, or count them.
    fn asked(&self) -> Result<&dyn TimelineSource, QueryError> {
        Ok(self.inner())
    }

    fn summary(&self) -> Summary {
        self.inner().summary()
    }

    fn model(&self) -> Arc<Model> {
        self.inner().model()
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        self.inner().containers()
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        self.inner().depths(container, ty)
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        self.asked()?.cells(lanes, interval, columns)
    }

    /// Unlike the others, this is made of [`Self::cells`], unless the types are [kept](Self::keeps): a layer that changes those need not think of it.
    fn largest(&self, lanes: &[Lane], interval: Interval, columns: u32, most: usize) -> Result<Cells, QueryError> {
        if lanes.iter().all(|lane| self.keeps(lane.ty)) {
            return self.asked()?.largest(lanes, interval, columns, most);
        }
        let mut cells = self.cells(lanes, interval, columns)?;
        cells.cells.iter_mut().for_each(|cell| cell.keep(most));
        Ok(cells)
    }

    /// As [`Self::largest`], this is made of [`Self::cells`].
    fn times(&self, lanes: &[Lane], interval: Interval) -> Result<Vec<(ValueId, i64)>, QueryError> {
        if lanes.iter().all(|lane| self.keeps(lane.ty)) {
            return self.asked()?.times(lanes, interval);
        }
        query::times(|lanes| self.cells(lanes, interval, 1), lanes)
    }

    /// Computed from [`Self::states`], as [`Self::largest`] is.
    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
    ) -> Result<Vec<NestedTime>, QueryError> {
        if self.keeps(ty) {
            return self.asked()?.nested_times(container, ty, interval);
        }
        let place = (container, ty, self.depths(container, ty));
        nested::sweep(|lane, part, limit| self.states(lane, part, limit), place, interval)
    }

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        self.asked()?.states(lane, interval, limit)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Mark>, QueryError> {
        self.asked()?.events(container, ty, interval, limit)
    }

    fn links(&self, ty: TypeId, interval: Interval, limit: usize) -> Result<Listed<Link>, QueryError> {
        self.asked()?.links(ty, interval, limit)
    }

    /// As [`Self::largest`], this is made of [`Self::events`].
    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
        most: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        if self.keeps(ty) {
            return self.asked()?.event_counts(container, ty, interval, columns, most);
        }
        counts::events(|part, limit| self.events(container, ty, part, limit), interval, columns, most)
    }

    /// As [`Self::largest`], this is made of [`Self::links`].
    fn link_counts(
        &self,
        ty: TypeId,
        interval: Interval,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        if self.keeps(ty) {
            return self.asked()?.link_counts(ty, interval, exponent, visit);
        }
        counts::links(|part, limit| self.links(ty, part, limit), interval, exponent, visit)
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Sample>, QueryError> {
        self.asked()?.samples(container, ty, interval, limit)
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        self.asked()?.series(container, ty, interval, columns)
    }

    fn range(&self, ty: TypeId) -> Option<(f64, f64)> {
        self.inner().range(ty)
    }

    fn facts(&self, id: EntityId) -> Result<Facts, QueryError> {
        self.asked()?.facts(id)
    }

    fn related(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        self.asked()?.related(id, limit)
    }

    fn extent(&self) -> Interval {
        self.inner().extent()
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        self.inner().members(container)
    }

    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        self.inner().members_with(container, ty)
    }

    fn shows(&self, value: ValueId) -> bool {
        self.inner().shows(value)
    }

    fn is_dense(&self, lane: Lane, interval: Interval, most: usize) -> Result<bool, QueryError> {
        self.asked()?.is_dense(lane, interval, most)
    }

    fn free_numbers(&self) -> FreeNumbers {
        self.inner().free_numbers()
    }
}

impl<L: Layer> TimelineSource for L {
    fn summary(&self) -> Summary {
        Layer::summary(self)
    }

    fn model(&self) -> Arc<Model> {
        Layer::model(self)
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Layer::containers(self)
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        Layer::depths(self, container, ty)
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        Layer::cells(self, lanes, interval, columns)
    }

    fn largest(&self, lanes: &[Lane], interval: Interval, columns: u32, most: usize) -> Result<Cells, QueryError> {
        Layer::largest(self, lanes, interval, columns, most)
    }

    fn times(&self, lanes: &[Lane], interval: Interval) -> Result<Vec<(ValueId, i64)>, QueryError> {
        Layer::times(self, lanes, interval)
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
    ) -> Result<Vec<NestedTime>, QueryError> {
        Layer::nested_times(self, container, ty, interval)
    }

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        Layer::states(self, lane, interval, limit)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Mark>, QueryError> {
        Layer::events(self, container, ty, interval, limit)
    }

    fn links(&self, ty: TypeId, interval: Interval, limit: usize) -> Result<Listed<Link>, QueryError> {
        Layer::links(self, ty, interval, limit)
    }

    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
        most: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        Layer::event_counts(self, container, ty, interval, columns, most)
    }

    fn link_counts(
        &self,
        ty: TypeId,
        interval: Interval,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        Layer::link_counts(self, ty, interval, exponent, visit)
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Sample>, QueryError> {
        Layer::samples(self, container, ty, interval, limit)
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        Layer::series(self, container, ty, interval, columns)
    }

    fn range(&self, ty: TypeId) -> Option<(f64, f64)> {
        Layer::range(self, ty)
    }

    fn facts(&self, id: EntityId) -> Result<Facts, QueryError> {
        Layer::facts(self, id)
    }

    fn related(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        Layer::related(self, id, limit)
    }

    fn extent(&self) -> Interval {
        Layer::extent(self)
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        Layer::members(self, container)
    }

    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        Layer::members_with(self, container, ty)
    }

    fn shows(&self, value: ValueId) -> bool {
        Layer::shows(self, value)
    }

    fn is_dense(&self, lane: Lane, interval: Interval, most: usize) -> Result<bool, QueryError> {
        Layer::is_dense(self, lane, interval, most)
    }

    fn free_numbers(&self) -> FreeNumbers {
        Layer::free_numbers(self)
    }
}
