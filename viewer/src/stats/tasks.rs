//! Latency of tasks: from the begin of the first part to the end of the last one.
//!
//! A part is a state. A *continuation* is a link that starts in a container at the end of a state
//! and ends in a container at the begin of a state of the same value. Without rules, the parts of
//! an `async` span are linked this way; rules and Pajé text can do the same. Parts that
//! continuations join, one after another, are a task. A part without a continuation is a task by
//! itself, if other parts of its value have one.

mod continuations;

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Durations;
use crate::query::entity_walk;
use crate::query::{ContainerId, EntityId, QueryError, StateLaneId, TimeRange, TimelineSource, TypeId, ValueId};
pub(crate) use continuations::ContinuationTypes;
use continuations::full_extent;

/// The tasks of one value that begin in one container.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TaskGroup {
    /// From the begin of the first part to the end of the last one.
    pub latencies: Durations,
    /// Time in the parts.
    pub active_time: i128,
    /// `None` for a group without tasks.
    pub longest_task: Option<LongestTask>,
}

/// The longest of some tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestTask {
    /// Its latency in nanoseconds.
    pub latency: i64,
    /// Its first part.
    pub first: EntityId,
}

impl TaskGroup {
    /// Adds other tasks. O(n log n) in the number of both.
    pub(crate) fn merge(&mut self, other: Self) {
        let latencies = [std::mem::take(&mut self.latencies), other.latencies];
        self.latencies = latencies.into_iter().flat_map(Durations::into_nanos).collect();
        self.active_time += other.active_time;
        self.longest_task = longer_task(self.longest_task, other.longest_task);
    }
}

/// The longer of two tasks. Of equally long ones, the one with the smaller id.
fn longer_task(first: Option<LongestTask>, second: Option<LongestTask>) -> Option<LongestTask> {
    first.into_iter().chain(second).max_by_key(|task| (task.latency, std::cmp::Reverse(task.first)))
}

/// A state.
struct TaskPart {
    id: EntityId,
    container: ContainerId,
    value: ValueId,
    life: TimeRange,
    next: Option<usize>,
    has_previous: bool,
}

/// The whole tasks that overlap a time range, by value and container of the first part. A trace
/// without continuations has none. In a trace with continuations, all states of the affected types
/// are read.
///
/// # Errors
/// As [`TimelineSource::states`] and [`TimelineSource::links`].
pub(crate) fn tasks_of(
    source: &dyn TimelineSource,
    ty: TypeId,
    time_range: TimeRange,
    continuations: &ContinuationTypes,
) -> Result<BTreeMap<(ContainerId, ValueId), TaskGroup>, QueryError> {
    let extent = full_extent(source);
    let Some(continuations) = continuations.by_type.get(&ty) else { return Ok(BTreeMap::new()) };
    let mut parts = parts(source, ty, extent)?;
    let continued_values = join(source, &mut parts, continuations, extent)?;
    let mut latencies: BTreeMap<(ContainerId, ValueId), Vec<i64>> = BTreeMap::new();
    let mut groups: BTreeMap<(ContainerId, ValueId), TaskGroup> = BTreeMap::new();
    for first in parts.iter().filter(|part| !part.has_previous && continued_values.contains(&part.value)) {
        let (mut last, mut active_time) = (first, 0_i128);
        loop {
            active_time += i128::from(last.life.to.0) - i128::from(last.life.from.0);
            match last.next {
                Some(next) => last = &parts[next],
                None => break,
            }
        }
        if first.life.from < time_range.to && last.life.to >= time_range.from {
            let key = (first.container, first.value);
            let latency = last.life.to.0.saturating_sub(first.life.from.0);
            latencies.entry(key).or_default().push(latency);
            let tasks = groups.entry(key).or_default();
            tasks.active_time += active_time;
            tasks.longest_task = longer_task(tasks.longest_task, Some(LongestTask { latency, first: first.id }));
        }
    }
    for (key, latencies) in latencies {
        groups.entry(key).or_default().latencies = latencies.into_iter().collect();
    }
    Ok(groups)
}

/// The result of [`tasks_by_value`].
#[derive(Debug)]
pub enum TasksByValue {
    /// By the type and value of the parts.
    Read(BTreeMap<(TypeId, ValueId), TaskGroup>),
    /// Too many states: none was read. The number of states.
    TooMany(u64),
}

/// The tasks that overlap a time range and begin in one of the containers.
///
/// All states of the types that tasks have are read, unless there are more than `max_states`. Each
/// takes about 150 bytes of memory.
pub fn tasks_by_value(
    source: &dyn TimelineSource,
    time_range: TimeRange,
    containers: &FxHashSet<ContainerId>,
    max_states: u64,
) -> Result<TasksByValue, QueryError> {
    let continuations = ContinuationTypes::find(source)?;
    let (extent, model) = (full_extent(source), source.model());
    let mut states = 0;
    for ty in model.types.iter().filter(|ty| continuations.by_type.contains_key(&ty.id)) {
        for info in source.containers().iter() {
            for depth in 0..source.depths(info.id, ty.id) {
                states += source.states(StateLaneId { container: info.id, ty: ty.id, depth }, extent, 0)?.total;
            }
        }
    }
    if states > max_states {
        return Ok(TasksByValue::TooMany(states));
    }
    let mut groups: BTreeMap<(TypeId, ValueId), TaskGroup> = BTreeMap::new();
    for ty in &model.types {
        let tasks = tasks_of(source, ty.id, time_range, &continuations)?.into_iter();
        for ((_, value), tasks) in tasks.filter(|((container, _), _)| containers.contains(container)) {
            groups.entry((ty.id, value)).or_default().merge(tasks);
        }
    }
    Ok(TasksByValue::Read(groups))
}

fn parts(source: &dyn TimelineSource, ty: TypeId, extent: TimeRange) -> Result<Vec<TaskPart>, QueryError> {
    let mut parts = Vec::new();
    for info in source.containers().iter() {
        let container = info.id;
        for depth in 0..source.depths(container, ty) {
            entity_walk::states(source, StateLaneId { container, ty, depth }, extent, |state| {
                let (id, value, life) = (state.id, state.value, state.life);
                parts.push(TaskPart { id, container, value, life, next: None, has_previous: false });
                Ok(())
            })?;
        }
    }
    Ok(parts)
}

/// Joins parts along the links of these types. Returns the values of joined parts. Each endpoint of
/// a part has at most one link.
fn join(
    source: &dyn TimelineSource,
    parts: &mut [TaskPart],
    types: &[TypeId],
    extent: TimeRange,
) -> Result<FxHashSet<ValueId>, QueryError> {
    let (mut begins, mut ends): (FxHashMap<_, Vec<usize>>, FxHashMap<_, Vec<usize>>) = Default::default();
    for (index, part) in parts.iter().enumerate() {
        begins.entry((part.container, part.life.from)).or_default().push(index);
        ends.entry((part.container, part.life.to)).or_default().push(index);
    }
    let mut continued_values = FxHashSet::default();
    for &ty in types {
        entity_walk::links(source, ty, extent, |link| {
            let ends = ends.get(&(link.start, link.start_time)).map_or(&[][..], Vec::as_slice);
            let begins = begins.get(&(link.end, link.end_time)).map_or(&[][..], Vec::as_slice);
            let mut pairs = ends.iter().flat_map(|&end| begins.iter().map(move |&begin| (end, begin)));
            let fits = |&(end, begin): &(usize, usize)| {
                let (before, after) = (&parts[end], &parts[begin]);
                let is_free = before.next.is_none() && !after.has_previous;
                // A part does not precede itself, also if it has no duration.
                end != begin && is_free && before.value == after.value && before.life.from <= after.life.from
            };
            if let Some((end, begin)) = pairs.find(fits) {
                (parts[end].next, parts[begin].has_previous) = (Some(begin), true);
                continued_values.insert(parts[end].value);
            }
            Ok(())
        })?;
    }
    Ok(continued_values)
}
