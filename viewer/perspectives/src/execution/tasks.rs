//! [`TaskSet`]: the tasks of an execution. A task is a value of a state type that describes the
//! work of the program, such as a phase, an iteration or a kernel.

use rustc_hash::FxHashMap;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{PajeTypeKind, TimeRange, TimelineSource, TypeId, TypeModel, ValueId, entity_walk};

use crate::error::PerspectiveError;
use crate::execution::categories::words;
use crate::execution::step_function::StepFunction;
use crate::execution::units::UnitSet;

/// Words in the names of state types for tasks, such as `Phases` or `Time_step`, but not `Blocked`.
/// They count if no name contains `task`, such as `Subtask`.
const TASK_WORDS: [&str; 6] = ["phase", "iteration", "step", "kernel", "codelet", "block"];

/// A task of an execution.
#[derive(Clone, Debug)]
pub struct ExecutionTask {
    /// The value of its states.
    pub value: ValueId,
    /// Its name.
    pub name: String,
    /// From the first begin to the last end by any unit.
    pub life: TimeRange,
    /// The number of units that execute it, at any time.
    pub active: StepFunction<1>,
    /// The time that all units together execute it, in nanoseconds.
    pub unit_time: i128,
}

/// A time during which the innermost task of a unit does not change, or a state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPiece {
    /// Start in nanoseconds.
    pub from: i64,
    /// End in nanoseconds.
    pub to: i64,
    /// Index of the task.
    pub task: u32,
}

/// The tasks of an execution, by their first begin.
#[derive(Debug)]
pub struct TaskSet {
    /// The state types whose values are tasks.
    pub types: Vec<TypeId>,
    tasks: Vec<ExecutionTask>,
    /// For each unit, the times with an innermost task, by start.
    by_unit: Vec<Vec<TaskPiece>>,
}

/// A state of a task in a unit.
#[derive(Clone, Copy)]
struct TaskState {
    from: i64,
    to: i64,
    value: ValueId,
}

impl TaskSet {
    /// Reads the task states of all units. Takes O(states log states).
    ///
    /// # Errors
    /// If no state type has the chosen name, or the source fails.
    pub fn new(
        source: &dyn TimelineSource,
        units: &UnitSet,
        choice: Option<&NamePattern>,
    ) -> Result<Self, PerspectiveError> {
        let model = source.model();
        let types = task_types(&model, choice)?;
        let mut by_unit_states: Vec<Vec<TaskState>> = vec![Vec::new(); units.count()];
        for_each_state(source, units, &types, |unit, state| by_unit_states[unit as usize].push(state))?;
        let numbers = numbers(&by_unit_states);
        let mut deltas: Vec<Vec<(i64, [i64; 1])>> = vec![Vec::new(); numbers.len()];
        let mut by_unit = Vec::with_capacity(units.count());
        for mut states in by_unit_states {
            states.sort_by_key(|state| (state.from, std::cmp::Reverse(state.to)));
            add_active(&states, &numbers, &mut deltas);
            by_unit.push(innermost(&states, &numbers));
        }
        let mut values: Vec<(u32, ValueId)> = numbers.iter().map(|(value, number)| (*number, *value)).collect();
        values.sort_unstable();
        let tasks = values.into_iter().zip(deltas).map(|((_, value), deltas)| {
            let name = model.values.get(value.index()).map_or_else(String::new, |info| info.name.clone());
            ExecutionTask::new(value, name, deltas)
        });
        Ok(Self { types, tasks: tasks.collect(), by_unit })
    }

    /// The states of tasks in the units, with the number of the task, in no particular order.
    ///
    /// # Errors
    /// If the source fails.
    pub fn states(
        &self,
        source: &dyn TimelineSource,
        units: &UnitSet,
    ) -> Result<Vec<(u32, TaskPiece)>, PerspectiveError> {
        let numbers = (0..).zip(&self.tasks).map(|(number, task)| (task.value, number));
        let numbers: FxHashMap<ValueId, u32> = numbers.collect();
        let mut states = Vec::new();
        for_each_state(source, units, &self.types, |unit, TaskState { from, to, value }| {
            states.extend(numbers.get(&value).map(|task| (unit, TaskPiece { from, to, task: *task })));
        })?;
        Ok(states)
    }

    /// The tasks by their first begin.
    pub fn list(&self) -> &[ExecutionTask] {
        &self.tasks
    }

    /// The times of a unit with an innermost task, by start.
    pub fn pieces(&self, unit: usize) -> &[TaskPiece] {
        self.by_unit.get(unit).map_or(&[], Vec::as_slice)
    }

    /// The innermost task of a unit at a time.
    pub fn at(&self, unit: usize, time: i64) -> Option<u32> {
        let pieces = self.pieces(unit);
        let before = pieces.partition_point(|piece| piece.from <= time);
        before.checked_sub(1).map(|index| pieces[index]).filter(|piece| piece.to > time).map(|piece| piece.task)
    }
}

impl ExecutionTask {
    fn new(value: ValueId, name: String, deltas: Vec<(i64, [i64; 1])>) -> Self {
        use tumit_viewer::query::GlobalNanos;

        let active = StepFunction::from_deltas([0], deltas);
        let time = |time: Option<&i64>| GlobalNanos(time.copied().unwrap_or(0));
        let life = TimeRange { from: time(active.timestamps().first()), to: time(active.timestamps().last()) };
        let [unit_time] = active.integral(life);
        Self { value, name, life, active, unit_time }
    }
}

/// Visits the task states of all units.
fn for_each_state(
    source: &dyn TimelineSource,
    units: &UnitSet,
    types: &[TypeId],
    mut visit: impl FnMut(u32, TaskState),
) -> Result<(), PerspectiveError> {
    for info in source.containers().iter() {
        let Some(unit) = units.owner(info.id) else { continue };
        for ty in types.iter().filter(|ty| source.depths(info.id, **ty) > 0) {
            entity_walk::nested_states(source, (info.id, *ty), info.life, |state| {
                let (from, to) = (state.life.from.0.max(info.life.from.0), state.life.to.0.min(info.life.to.0));
                visit(unit, TaskState { from, to, value: state.value });
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// The chosen state types. Without a choice, those with `task` in their names; if there are none,
/// those with another word for tasks.
fn task_types(model: &TypeModel, choice: Option<&NamePattern>) -> Result<Vec<TypeId>, PerspectiveError> {
    let states = || model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State);
    let types =
        |fits: &dyn Fn(&str) -> bool| -> Vec<TypeId> { states().filter(|ty| fits(&ty.name)).map(|ty| ty.id).collect() };
    let Some(pattern) = choice else {
        let explicit = types(&|name| has_word(name, &["task"]));
        return Ok(if explicit.is_empty() { types(&|name| has_word(name, &TASK_WORDS)) } else { explicit });
    };
    let chosen = types(&|name| pattern.fits(name));
    if chosen.is_empty() {
        let known = states().map(|ty| ty.name.clone()).collect();
        return Err(PerspectiveError::NoStateType { name: pattern.as_str().to_owned(), known });
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

/// Numbers the tasks in order of their first begin.
fn numbers(by_unit: &[Vec<TaskState>]) -> FxHashMap<ValueId, u32> {
    let mut first: FxHashMap<ValueId, i64> = FxHashMap::default();
    for state in by_unit.iter().flatten() {
        let begin = first.entry(state.value).or_insert(i64::MAX);
        *begin = state.from.min(*begin);
    }
    let mut order: Vec<(i64, ValueId)> = first.into_iter().map(|(value, begin)| (begin, value)).collect();
    order.sort_unstable();
    order.into_iter().zip(0..).map(|((_, value), number)| (value, number)).collect()
}

/// Adds the times in which a unit executes each task. Nested and overlapping states of one task
/// count once.
fn add_active(states: &[TaskState], numbers: &FxHashMap<ValueId, u32>, deltas: &mut [Vec<(i64, [i64; 1])>]) {
    let mut ends: FxHashMap<ValueId, i64> = FxHashMap::default();
    for state in states {
        let list = &mut deltas[numbers[&state.value] as usize];
        let covered = ends.entry(state.value).or_insert(i64::MIN);
        let from = state.from.max(*covered);
        if from < state.to {
            list.push((from, [1]));
            list.push((state.to, [-1]));
            *covered = state.to;
        }
    }
}

/// The times with an innermost task. Of overlapping states, the one that begins later is inner.
fn innermost(states: &[TaskState], numbers: &FxHashMap<ValueId, u32>) -> Vec<TaskPiece> {
    let mut pieces: Vec<TaskPiece> = Vec::new();
    let mut add = |from: i64, to: i64, value: ValueId| {
        if from >= to {
            return;
        }
        let task = numbers[&value];
        match pieces.last_mut().filter(|last| last.to == from && last.task == task) {
            Some(last) => last.to = to,
            None => pieces.push(TaskPiece { from, to, task }),
        }
    };
    let mut open: Vec<TaskState> = Vec::new();
    let mut now = i64::MIN;
    for state in states {
        while let Some(inner) = open.last().copied().filter(|inner| inner.to <= state.from) {
            add(now.max(inner.from), inner.to, inner.value);
            now = now.max(inner.to);
            open.pop();
        }
        if let Some(inner) = open.last() {
            add(now.max(inner.from), state.from, inner.value);
        }
        now = now.max(state.from);
        open.push(*state);
    }
    while let Some(inner) = open.pop() {
        add(now.max(inner.from), inner.to, inner.value);
        now = now.max(inner.to);
    }
    pieces
}
