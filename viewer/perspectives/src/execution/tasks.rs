//! [`TaskSet`]: the tasks of an execution. A task is a value of a state type that describes the
//! work of the program, such as a phase, an iteration or a kernel.

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_viewer::filter::NamePattern;
use tumit_viewer::parallel_map::map_indexes;
use tumit_viewer::query::{
    ContainerId, GlobalNanos, PajeTypeKind, QueryError, StateEntity, StateLaneId, TimeRange, TimelineSource, TypeId,
    TypeModel, ValueId, entity_walk,
};

use crate::chart::ChartPaint;
use crate::error::PerspectiveError;
use crate::execution::categories::words;
use crate::execution::task_timeline::{
    NO_TASK, TaskPiece, TaskState, TaskTimeline, TaskTotal, UnitTasks, UnitTasksBuilder,
};
use crate::execution::units::{StateGroup, UnitSet};
use crate::execution::value_timelines::ValueTimelines;

/// Words in the names of state types for tasks, such as `Phases` or `Time_step`, but not `Blocked`.
/// They count if no name contains `task`, such as `Subtask`.
const TASK_WORDS: [&str; 6] = ["phase", "iteration", "step", "kernel", "codelet", "block"];

/// A task of an execution.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExecutionTask {
    /// The value of its states.
    pub value: ValueId,
    /// Its name.
    pub name: String,
    /// Its number, which determines its colour. It is the integer with which the name begins, as in
    /// `3` and `3: solve`. Other names have the numbers that are left, by their first begin.
    pub number: u32,
    /// From the first begin to the last end by any unit.
    pub life: TimeRange,
    /// The time that all units together execute it, in nanoseconds.
    pub unit_time: i128,
}

impl ExecutionTask {
    /// The colour in all views.
    pub(crate) fn paint(&self) -> ChartPaint {
        ChartPaint::Task(self.number)
    }
}

/// The tasks of an execution, by their first begin.
#[derive(Debug)]
pub struct TaskSet {
    /// The state types whose values are tasks.
    pub types: Vec<TypeId>,
    tasks: Vec<ExecutionTask>,
    /// The index of the task of each value.
    indexes: Vec<u32>,
    by_unit: Vec<UnitTimeline>,
}

/// The innermost task of a unit at any time.
#[derive(Debug)]
pub(crate) struct UnitTimeline {
    pub(crate) timeline: TaskTimeline,
    /// Whether the unit may execute several tasks at a time.
    pub(crate) has_overlaps: bool,
}

/// The lanes of a unit with states of tasks, with the lives of their containers.
type TaskLanes = Vec<(StateLaneId, TimeRange)>;

impl TaskSet {
    /// Reads the task states of all units. Takes O(states log lanes of a unit). `values` are the
    /// innermost states, if they are in memory. If all states of a unit are tasks, they are not
    /// read again.
    ///
    /// # Errors
    /// If no state type has the chosen name, or the source fails.
    pub(crate) fn new(
        source: &dyn TimelineSource,
        units: &UnitSet,
        choice: Option<&NamePattern>,
        values: Option<&ValueTimelines>,
    ) -> Result<Self, PerspectiveError> {
        let model = source.model();
        let types = task_types(&model, choice)?;
        let lanes = task_lanes(source, units, &types);
        let read = map_indexes(lanes.len(), 1, |unit| {
            let mut builder = UnitTasksBuilder::default();
            match values.filter(|_| is_only_group(&units.list()[unit].groups, &lanes[unit])) {
                Some(values) => {
                    let states = values.states(unit).map(|(from, to, value)| TaskState { from, to, value });
                    states.for_each(|state| builder.add(state));
                }
                None => visit_states(source, &lanes[unit], |state| builder.add(state))?,
            }
            Ok(builder.finish())
        });
        let read: Vec<UnitTasks> = read.into_iter().collect::<Result<_, QueryError>>()?;
        let name = |value: ValueId| model.values.get(value.index()).map_or_else(String::new, |info| info.name.clone());
        Ok(Self::from_units(types, read, name))
    }

    pub(crate) fn from_units(types: Vec<TypeId>, units: Vec<UnitTasks>, name: impl Fn(ValueId) -> String) -> Self {
        let totals = totals(&units);
        let largest = totals.iter().map(|(value, _)| value.index()).max();
        let mut indexes = vec![NO_TASK; largest.map_or(0, |largest| largest + 1)];
        totals.iter().zip(0..).for_each(|((value, _), index)| indexes[value.index()] = index);
        let timeline = |UnitTasks { mut timeline, has_overlaps, .. }| {
            timeline.renumber(&indexes);
            UnitTimeline { timeline, has_overlaps }
        };
        let by_unit = units.into_iter().map(timeline).collect();
        let names: Vec<String> = totals.iter().map(|(value, _)| name(*value)).collect();
        let numbers = task_numbers(&names);
        let task = |(((value, TaskTotal { from, to, nanos }), name), number)| ExecutionTask {
            value,
            name,
            number,
            life: TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) },
            unit_time: nanos,
        };
        Self { types, tasks: totals.into_iter().zip(names).zip(numbers).map(task).collect(), indexes, by_unit }
    }

    /// The index of the task of a value.
    fn index(&self, value: ValueId) -> Option<u32> {
        self.indexes.get(value.index()).copied().filter(|task| *task != NO_TASK)
    }

    /// The states of some tasks in each unit, by start. Nested states are included.
    ///
    /// # Errors
    /// If the source fails.
    pub(crate) fn states(
        &self,
        source: &dyn TimelineSource,
        units: &UnitSet,
        is_chosen: impl Fn(u32) -> bool + Sync,
    ) -> Result<Vec<Vec<TaskPiece>>, QueryError> {
        let lanes = task_lanes(source, units, &self.types);
        let by_unit = map_indexes(lanes.len(), 1, |unit| {
            let mut states = Vec::new();
            visit_states(source, &lanes[unit], |TaskState { from, to, value }| {
                let task = self.index(value).filter(|task| is_chosen(*task));
                states.extend(task.map(|task| TaskPiece { from, to, task }));
            })?;
            Ok(states)
        });
        by_unit.into_iter().collect()
    }

    /// Visits the states of the tasks of a unit by start. Of equal starts, the longest is first.
    ///
    /// # Errors
    /// If the source fails.
    pub(crate) fn visit_unit(
        &self,
        source: &dyn TimelineSource,
        lanes: &TaskLanes,
        mut visit: impl FnMut(TaskPiece),
    ) -> Result<(), QueryError> {
        visit_states(source, lanes, |TaskState { from, to, value }| {
            self.index(value).into_iter().for_each(|task| visit(TaskPiece { from, to, task }));
        })
    }

    /// The tasks by their first begin.
    pub fn list(&self) -> &[ExecutionTask] {
        &self.tasks
    }

    /// The innermost tasks of each unit.
    pub(crate) fn by_unit(&self) -> &[UnitTimeline] {
        &self.by_unit
    }

    /// The number and the index of the task with an index, by which legends are sorted.
    pub(crate) fn order_key(&self, task: u32) -> (u32, u32) {
        (self.tasks.get(task as usize).map_or(u32::MAX, |task| task.number), task)
    }

    /// The colour of the task with an index.
    pub(crate) fn paint(&self, task: u32) -> ChartPaint {
        self.tasks.get(task as usize).map_or(ChartPaint::Absent, ExecutionTask::paint)
    }

    fn timeline(&self, unit: usize) -> Option<&TaskTimeline> {
        self.by_unit.get(unit).map(|unit| &unit.timeline)
    }

    /// The times of a unit with an innermost task in a time range, by start.
    pub(crate) fn pieces(&self, unit: usize, range: TimeRange) -> impl Iterator<Item = TaskPiece> {
        self.timeline(unit).into_iter().flat_map(move |timeline| timeline.pieces(range))
    }

    /// The timestamps at which the innermost task of a unit changes, ascending.
    pub fn timestamps(&self, unit: usize) -> &[i64] {
        self.timeline(unit).map_or(&[], TaskTimeline::timestamps)
    }

    /// The innermost task of a unit at a time.
    pub fn at(&self, unit: usize, time: i64) -> Option<u32> {
        self.timeline(unit)?.at(time)
    }
}

/// The lanes of each unit with states of tasks.
pub(crate) fn task_lanes(source: &dyn TimelineSource, units: &UnitSet, types: &[TypeId]) -> Vec<TaskLanes> {
    let mut groups: FxHashMap<(ContainerId, TypeId), u32> = FxHashMap::default();
    for group in source.state_lane_groups().into_iter().filter(|group| types.contains(&group.ty)) {
        groups.insert((group.container, group.ty), group.depths);
    }
    let mut by_unit = vec![TaskLanes::new(); units.count()];
    for info in source.containers().iter().filter(|info| info.life.from < info.life.to) {
        let Some(unit) = units.owner(info.id) else { continue };
        for ty in types {
            let lane = |depth| (StateLaneId { container: info.id, ty: *ty, depth }, info.life);
            let depths = groups.get(&(info.id, *ty)).copied().unwrap_or(0);
            by_unit[unit as usize].extend((0..depths).map(lane));
        }
    }
    by_unit
}

/// Whether the lanes with tasks are those of the only group of states of a unit, and not nested.
fn is_only_group(groups: &[StateGroup], lanes: &TaskLanes) -> bool {
    match (groups, &lanes[..]) {
        ([group], [(lane, life)]) => {
            (group.container, group.ty, group.life, group.depths) == (lane.container, lane.ty, *life, 1)
        }
        _ => false,
    }
}

/// Visits the states of some lanes by start. Of equal starts, the longest one is first.
fn visit_states(
    source: &dyn TimelineSource,
    lanes: &TaskLanes,
    mut visit: impl FnMut(TaskState),
) -> Result<(), QueryError> {
    let task_state = |state: &StateEntity, life: TimeRange| TaskState {
        from: state.life.from.max(life.from).0,
        to: state.life.to.min(life.to).0,
        value: state.value,
    };
    // The states of one lane do not overlap.
    if let [(lane, life)] = lanes[..] {
        return entity_walk::states(source, lane, life, |state| {
            if state.life.from < state.life.to {
                visit(task_state(state, life));
            }
            Ok(())
        });
    }
    let mut same_start: Vec<TaskState> = Vec::new();
    let mut visit_all = |states: &mut Vec<TaskState>| {
        states.sort_by_key(|state| std::cmp::Reverse(state.to));
        states.drain(..).for_each(&mut visit);
    };
    entity_walk::merged_states(source, lanes.iter().copied(), |state, life| {
        let state = task_state(state, life);
        if same_start.first().is_some_and(|first| first.from < state.from) {
            visit_all(&mut same_start);
        }
        same_start.push(state);
        Ok(())
    })?;
    visit_all(&mut same_start);
    Ok(())
}

/// The chosen state types. Without a choice, those with `task` in their names; if there are none,
/// those with another word for tasks.
///
/// # Errors
/// If no state type has the chosen name.
pub(super) fn task_types(model: &TypeModel, choice: Option<&NamePattern>) -> Result<Vec<TypeId>, PerspectiveError> {
    let states = || model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State);
    let types =
        |fits: &dyn Fn(&str) -> bool| -> Vec<TypeId> { states().filter(|ty| fits(&ty.name)).map(|ty| ty.id).collect() };
    let Some(pattern) = choice else {
        let explicit = types(&|name| has_word(name, &["task"]));
        return Ok(if explicit.is_empty() { types(&|name| has_word(name, &TASK_WORDS)) } else { explicit });
    };
    let chosen = types(&|name| pattern.fits(name));
    if chosen.is_empty() {
        let known_names = states().map(|ty| ty.name.clone()).collect();
        return Err(PerspectiveError::NoStateType { name: pattern.as_str().to_owned(), known_names });
    }
    Ok(chosen)
}

/// Whether a word of a name ends with one of some words, or with its plural.
fn has_word(name: &str, endings: &[&str]) -> bool {
    words(name).iter().any(|word| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        endings.iter().any(|ending| singular.ends_with(ending))
    })
}

/// The numbers of tasks with some names, by their first begin.
fn task_numbers(names: &[String]) -> Vec<u32> {
    let explicit: Vec<Option<u32>> = names.iter().map(|name| leading_number(name)).collect();
    let used: FxHashSet<u32> = explicit.iter().copied().flatten().collect();
    let mut free = (0..u32::MAX).filter(|number| !used.contains(number));
    explicit.into_iter().map(|number| number.or_else(|| free.next()).unwrap_or(u32::MAX)).collect()
}

/// The number of a task with a name such as `3` or `3: solve`.
fn leading_number(name: &str) -> Option<u32> {
    let number = name.split_once(':').map_or(name, |(number, _)| number);
    // A sign is part of a name.
    number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The states of each task in all units, by their first begin.
fn totals(by_unit: &[UnitTasks]) -> Vec<(ValueId, TaskTotal)> {
    let mut all: FxHashMap<ValueId, TaskTotal> = FxHashMap::default();
    for (value, total) in by_unit.iter().flat_map(|unit| &unit.totals) {
        let sum = all.entry(*value).or_insert(TaskTotal { nanos: 0, ..*total });
        let (from, to) = (sum.from.min(total.from), sum.to.max(total.to));
        *sum = TaskTotal { from, to, nanos: sum.nanos + total.nanos };
    }
    let mut order: Vec<(ValueId, TaskTotal)> = all.into_iter().collect();
    order.sort_unstable_by_key(|(value, total)| (total.from, *value));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tumit_viewer::filter::NamePattern;

    use super::task_numbers;
    use crate::execution::ExecutionSettings;
    use crate::views::test_traces::traces;

    #[test]
    fn integers_are_the_numbers_of_tasks() {
        let numbers = |names: &[&str]| task_numbers(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(numbers(&["10", "2", "1: solve"]), [10, 2, 1]);
        assert_eq!(numbers(&["solve", "1", "+3", "step 4", "5x", "99999999999"]), [0, 1, 2, 3, 4, 5]);
    }

    proptest! {
        #[test]
        fn states_in_memory_give_the_same_tasks(trace in traces(4)) {
            let tasks = || Some(NamePattern::new("Activity"));
            let execution = || trace.execution_with(ExecutionSettings { tasks: tasks(), ..ExecutionSettings::default() });
            let (reading, sharing) = (execution(), execution());
            prop_assert_eq!(sharing.activity().is_ok(), sharing.units().has_states());
            prop_assert_eq!(sharing.has_values_in_memory(), sharing.units().has_states());
            prop_assert_eq!(format!("{:?}", reading.tasks()), format!("{:?}", sharing.tasks()));
        }
    }
}
