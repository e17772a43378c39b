//! [`Mending`]: an index that is repaired if a query finds it damaged.
//!
//! A page of a large index is checked when it is first read. If it is damaged, the index is made
//! anew from the trace and the query runs again. The numbers of entities stay the same, because the
//! same trace gives the same index.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tumit_paje::{ContainerId, TypeId, ValueId};

use crate::index::{Index, Key};
use crate::input::options::{OpenError, OpenOptions};
use crate::query::{
    Cells, ContainerInfo, EntityId, EventCount, Facts, FreeNumbers, Interval, Lane, Link, LinkVisitor, Listed, Mark,
    Model, NestedTime, QueryError, Sample, SeriesColumn, State, Summary, TimelineSource,
};

/// Maximum number of repairs. After them the disk is assumed to lose data.
const TRIES: u32 = 2;

/// Maximum number of link counts that are held back.
const WAITING: usize = 1 << 20;

/// The source of the answers.
#[derive(Clone)]
enum Answering {
    Index(Arc<Index>),
    /// The trace in memory, because no index can be written.
    Memory(Arc<dyn TimelineSource>),
}

/// An index that was made anew, or the trace in memory if no index can be written.
pub(crate) type Rebuilt = Result<Result<Index, Arc<dyn TimelineSource>>, OpenError>;

/// Makes the index of a trace anew. Fails if the trace no longer has this key.
type Rebuild = fn(&Path, &OpenOptions, Key) -> Rebuilt;

/// The index of a trace, and the function that makes another one.
pub(crate) struct Mending {
    path: PathBuf,
    options: OpenOptions,
    key: Key,
    rebuild: Rebuild,
    now: RwLock<Answering>,
    /// The number of repairs. Locked during a repair.
    made: Mutex<u32>,
}

impl Mending {
    pub(crate) fn new(index: Index, key: Key, path: &Path, options: &OpenOptions, rebuild: Rebuild) -> Self {
        let options = OpenOptions { glimpse: None, ..options.clone() };
        let now = RwLock::new(Answering::Index(Arc::new(index)));
        Self { path: path.to_owned(), options, key, rebuild, now, made: Mutex::new(0) }
    }

    fn now(&self) -> Answering {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs a query, and runs it again if the index was damaged and repaired.
    fn ask<T>(&self, of: impl Fn(&dyn TimelineSource) -> T) -> T {
        loop {
            let index = match self.now() {
                Answering::Memory(source) => return of(source.as_ref()),
                Answering::Index(index) => index,
            };
            let answer = of(index.as_ref());
            if !index.is_damaged() || !self.mend(&index) {
                return answer;
            }
        }
    }

    /// Repairs the index. Returns whether another source answers now.
    #[cold]
    fn mend(&self, damaged: &Arc<Index>) -> bool {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(self.now(), Answering::Index(index) if Arc::ptr_eq(&index, damaged)) {
            return true;
        }
        if *made >= TRIES {
            return false;
        }
        *made += 1;
        let remark = "the index was damaged, and has been made anew";
        let next = match (self.rebuild)(&self.path, &self.options, self.key) {
            Ok(Ok(index)) => Answering::Index(Arc::new(index.remarking(Some(remark.to_owned())))),
            Ok(Err(memory)) => Answering::Memory(memory),
            // The trace was removed or changed.
            Err(_) => return false,
        };
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = next;
        true
    }
}

impl TimelineSource for Mending {
    fn summary(&self) -> Summary {
        self.ask(|source| source.summary())
    }

    fn model(&self) -> Arc<Model> {
        self.ask(|source| source.model())
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        self.ask(|source| source.containers())
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        self.ask(|source| source.depths(container, ty))
    }

    fn types_in(&self, container: ContainerId) -> Option<Vec<TypeId>> {
        self.ask(|source| source.types_in(container))
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        self.ask(|source| source.cells(lanes, interval, columns))
    }

    fn largest(&self, lanes: &[Lane], interval: Interval, columns: u32, most: usize) -> Result<Cells, QueryError> {
        self.ask(|source| source.largest(lanes, interval, columns, most))
    }

    fn times(&self, lanes: &[Lane], interval: Interval) -> Result<Vec<(ValueId, i64)>, QueryError> {
        self.ask(|source| source.times(lanes, interval))
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
    ) -> Result<Vec<NestedTime>, QueryError> {
        self.ask(|source| source.nested_times(container, ty, interval))
    }

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        self.ask(|source| source.states(lane, interval, limit))
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Mark>, QueryError> {
        self.ask(|source| source.events(container, ty, interval, limit))
    }

    fn links(&self, ty: TypeId, interval: Interval, limit: usize) -> Result<Listed<Link>, QueryError> {
        self.ask(|source| source.links(ty, interval, limit))
    }

    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
        most: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        self.ask(|source| source.event_counts(container, ty, interval, columns, most))
    }

    fn link_counts(
        &self,
        ty: TypeId,
        interval: Interval,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        // Visits cannot be undone. They are held back until the index is known to be good, as far
        // as there is room.
        loop {
            let now = self.now();
            let (mut waiting, mut visited) = (Vec::new(), false);
            let source: &dyn TimelineSource = match &now {
                Answering::Index(index) => index.as_ref(),
                Answering::Memory(source) => source.as_ref(),
            };
            let answer = source.link_counts(ty, interval, exponent, &mut |count| {
                waiting.push(*count);
                if waiting.len() < WAITING {
                    return Ok(());
                }
                visited = true;
                waiting.drain(..).try_for_each(|count| visit(&count))
            });
            match now {
                Answering::Index(index) if index.is_damaged() => {
                    if !self.mend(&index) || visited {
                        return Err(QueryError::Damaged);
                    }
                }
                _ => {
                    answer?;
                    return waiting.iter().try_for_each(visit);
                }
            }
        }
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Sample>, QueryError> {
        self.ask(|source| source.samples(container, ty, interval, limit))
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        self.ask(|source| source.series(container, ty, interval, columns))
    }

    fn range(&self, ty: TypeId) -> Option<(f64, f64)> {
        self.ask(|source| source.range(ty))
    }

    fn facts(&self, id: EntityId) -> Result<Facts, QueryError> {
        self.ask(|source| source.facts(id))
    }

    fn facts_without_paths(&self, id: EntityId) -> Result<Facts, QueryError> {
        self.ask(|source| source.facts_without_paths(id))
    }

    fn related(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        self.ask(|source| source.related(id, limit))
    }

    fn extent(&self) -> Interval {
        self.ask(|source| source.extent())
    }

    fn shows(&self, value: ValueId) -> bool {
        self.ask(|source| source.shows(value))
    }

    fn is_dense(&self, lane: Lane, interval: Interval, most: usize) -> Result<bool, QueryError> {
        self.ask(|source| source.is_dense(lane, interval, most))
    }

    fn free_numbers(&self) -> FreeNumbers {
        self.ask(|source| source.free_numbers())
    }
}
