//! [`Diagnosis`]: the costs of an execution on one page: efficiency, imbalance, waits with their
//! causes, and the critical path.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::analysis::diagnosis::Diagnosis;
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let diagnosis = Diagnosis::new(&execution, execution.extent(), &[], &[])?;
//! // One thread waits 2 s for a message, the other one 1.5 s in a barrier.
//! assert_eq!((diagnosis.waits.len(), diagnosis.wait_nanos), (2, 3_500_000_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{GlobalNanos, PajeTypeKind, QueryError, SourceLine, TimeRange, ValueId};

use crate::analysis::collective_groups::{CollectiveGroup, UnitShare, collective_groups};
use crate::analysis::collectives::CollectiveSet;
use crate::analysis::critical_path::{CriticalPath, PathEvents, PathTimes};
use crate::analysis::efficiency::Efficiency;
use crate::analysis::gain::GainModel;
pub use crate::analysis::imbalance::Imbalance;
use crate::analysis::imbalance::imbalances;
use crate::analysis::innermost_state::innermost_state;
use crate::analysis::path_shares::{PathShare, PathShares, ShorterStates, WhatIf, unit_name, value_name, what_ifs};
use crate::analysis::time_spans::TimeSpans;
use crate::analysis::wait_states::{WaitKind, WaitState, wait_states};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::task_timeline::TaskPiece;

/// Number of waits per group with examined causes, the longest first. Each costs several queries,
/// and shorter waits change the order of causes little.
const EXAMINED_WAITS: usize = 64;

/// The costs of an execution.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The time range in nanoseconds.
    pub from: i64,
    /// The end of the time range in nanoseconds.
    pub to: i64,
    /// The name of the container type of the units, such as `Rank`.
    pub level: String,
    /// The number of units.
    pub units: usize,
    /// The part of the time of all units that has no state, from 0 to 1. `None` if a unit is busy,
    /// because then it is no finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stateless_share: Option<f64>,
    /// The efficiency of the whole time range. `None` if no unit is ever busy.
    pub efficiency: Option<Efficiency>,
    /// The efficiency of each phase, by time.
    pub phases: Vec<PhaseEfficiency>,
    /// The levels of the container tree with an uneven distribution of busy time, from the root
    /// downward.
    pub imbalances: Vec<Imbalance>,
    /// The waits by pattern, state and cause, the largest first.
    pub waits: Vec<WaitGroup>,
    /// The sum of all waits, in nanoseconds.
    pub wait_nanos: i128,
    /// The critical path by value, the largest first.
    pub path_values: Vec<PathShare>,
    /// The critical path by unit, the largest first.
    pub path_units: Vec<PathShare>,
    /// The critical path by category: busy, overhead, idle.
    pub path_categories: Vec<PathShare>,
    /// The largest possible gains of assumed changes.
    pub what_ifs: Vec<WhatIf>,
    /// The length of the critical path, in nanoseconds.
    pub path_nanos: i64,
    /// The part of the critical path in messages, in nanoseconds.
    pub path_transit: i64,
    /// The end of the critical path, in nanoseconds. `None` if no unit is active.
    pub path_end: Option<i64>,
    /// Values whose categories are guesses.
    pub guessed_values: usize,
    /// The collective operations by state and communicator, those with the longest waits first.
    pub collectives: Vec<CollectiveGroup>,
    /// Names of states that look like collective operations, but do not match.
    pub unmatched_collectives: Vec<String>,
}

/// A phase of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutionPhase {
    /// Its name, such as `solve 2`.
    pub name: String,
    /// Its time range.
    pub range: TimeRange,
}

/// The efficiency of a phase.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PhaseEfficiency {
    /// The name of the phase.
    pub name: String,
    /// Start in nanoseconds.
    pub from: i64,
    /// End in nanoseconds.
    pub to: i64,
    /// Its efficiency.
    pub efficiency: Option<Efficiency>,
    /// The sum of the waits that begin in it, in nanoseconds.
    pub wait_nanos: i128,
}

/// Waits of one pattern, in states of one value, for one cause.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct WaitGroup {
    /// The pattern.
    pub kind: &'static str,
    /// The name of the states in which units wait.
    pub state: String,
    /// The name of the state of the causing unit during most of the waits. Empty if unknown.
    pub cause: String,
    /// The unit that causes most of the time, and its part from 0 to 1.
    pub main_cause: Option<UnitShare>,
    /// The unit that waits longest, and its part from 0 to 1.
    pub main_waiter: Option<UnitShare>,
    /// Number of waits.
    pub count: u64,
    /// Sum in nanoseconds.
    pub nanos: i128,
    /// The sum as a part of the time of all units, from 0 to 1.
    pub share: f64,
    /// The longest wait.
    #[serde(rename = "longest")]
    pub longest_wait: WaitOfUnit,
    /// The source line of the state of the longest wait, as `file:line`.
    pub waiting_line: Option<String>,
    /// The source line of the cause in one of the longest waits, as `file:line`.
    pub causing_line: Option<String>,
}

/// A wait of a unit. In JSON, it is an array of its start, its end and the unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "(GlobalNanos, GlobalNanos, String)")]
#[non_exhaustive]
pub struct WaitOfUnit {
    /// Its time range.
    pub range: TimeRange,
    /// The name of the unit.
    pub unit: String,
}

impl From<WaitOfUnit> for (GlobalNanos, GlobalNanos, String) {
    fn from(wait: WaitOfUnit) -> Self {
        (wait.range.from, wait.range.to, wait.unit)
    }
}

impl WaitKind {
    /// The pattern in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::LateSender => "late sender",
            Self::LateReceiver => "late receiver",
            Self::Collective => "wait at a collective operation",
            Self::Lock => "wait for a lock",
        }
    }
}

impl Diagnosis {
    /// Examines a time range. `phases` have efficiencies of their own. The gains of `changes` are
    /// estimated.
    ///
    /// # Errors
    /// If the trace has no states, or the source fails.
    pub fn new(
        execution: &Execution,
        range: TimeRange,
        phases: &[ExecutionPhase],
        changes: &[ShorterStates],
    ) -> Result<Self, PerspectiveError> {
        let model = execution.model();
        let collectives = CollectiveSet::new(execution)?;
        let events = PathEvents::new(execution, &collectives)?;
        let path = events.path(range)?;
        let times = path.times(execution)?;
        let gains = GainModel::new(execution, &collectives, &path, range)?;
        let PathShares { nanos: path_nanos, transit: path_transit, values, units, categories } =
            PathShares::new(execution, &path, &times, &gains)?;
        let waits = wait_states(execution, &collectives, range)?;
        let what_ifs = what_ifs(execution, changes, &times, &gains)?;
        let efficiency = Efficiency::new(execution, range, Some(&times))?;
        let wait_nanos = waits.iter().map(|wait| i128::from(wait.nanos())).sum();
        let used = |value: &&tumit_viewer::query::ValueInfo| execution.units().state_types.contains(&value.ty);
        let is_guess = |value: &&tumit_viewer::query::ValueInfo| {
            execution.categories().get(value.id).origin == crate::execution::categories::CategoryOrigin::Guess
        };
        Ok(Self {
            from: range.from.0,
            to: range.to.0,
            level: model.types[execution.units().ty.index()].name.clone(),
            units: execution.units().count(),
            stateless_share: efficiency.is_none().then(|| stateless_share(execution, range)).transpose()?,
            efficiency,
            phases: phase_efficiencies(execution, &collectives, &events, phases)?,
            imbalances: imbalances(execution, range)?,
            waits: wait_groups(execution, &waits, range)?,
            wait_nanos,
            path_values: values,
            path_units: units,
            path_categories: categories,
            what_ifs,
            path_nanos,
            path_transit,
            path_end: path.end.map(|end| end.time),
            guessed_values: model.values.iter().filter(used).filter(is_guess).count(),
            collectives: collective_groups(execution, &collectives, range),
            unmatched_collectives: collectives
                .unmatched_values
                .iter()
                .map(|value| value_name(execution, Some(*value)))
                .collect(),
        })
    }
}

/// The efficiency and the waits of each phase, as in a diagnosis of its time range.
fn phase_efficiencies(
    execution: &Execution,
    collectives: &CollectiveSet,
    events: &PathEvents<'_>,
    phases: &[ExecutionPhase],
) -> Result<Vec<PhaseEfficiency>, PerspectiveError> {
    let (Some(from), Some(to)) =
        (phases.iter().map(|phase| phase.range.from).min(), phases.iter().map(|phase| phase.range.to).max())
    else {
        return Ok(Vec::new());
    };
    let waits = wait_states(execution, collectives, TimeRange { from, to })?;
    let phase = |ExecutionPhase { name, range }: &ExecutionPhase| {
        let times = events.path(*range)?.times(execution)?;
        let efficiency = Efficiency::new(execution, *range, Some(&times))?;
        let (TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) }, name) = (*range, name.clone());
        let after_start = &waits[waits.partition_point(|wait| wait.from < from)..];
        let wait_nanos =
            after_start.iter().take_while(|wait| wait.from < to).map(|wait| i128::from(wait.nanos())).sum();
        Ok(PhaseEfficiency { name, from, to, efficiency, wait_nanos })
    };
    phases.iter().map(phase).collect()
}

/// The part of the time of all units in which they have no state, from 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "a part is rounded")]
fn stateless_share(execution: &Execution, range: TimeRange) -> Result<f64, QueryError> {
    let values = execution.model().values.iter().map(|value| value.id).collect();
    let (mut all, mut with_state) = (0_i128, 0_i128);
    for (unit, index) in execution.units().list().iter().zip(0..) {
        let (from, to) = (range.from.0.max(unit.life.from.0), range.to.0.min(unit.life.to.0));
        if from < to {
            all += i128::from(to - from);
            let spans = execution.value_spans(index, &[&values])?.into_iter().flatten();
            with_state += i128::from(TimeSpans::new(spans.collect()).nanos(from, to));
        }
    }
    Ok(if all > 0 { (all - with_state) as f64 / all as f64 } else { 0.0 })
}

/// Groups waits by pattern and state, and examines the causes of the longest ones.
#[expect(clippy::cast_precision_loss, reason = "parts are rounded")]
fn wait_groups(
    execution: &Execution,
    waits: &[WaitState],
    range: TimeRange,
) -> Result<Vec<WaitGroup>, PerspectiveError> {
    let mut groups: BTreeMap<(WaitKind, ValueId), Vec<&WaitState>> = BTreeMap::new();
    waits.iter().for_each(|wait| groups.entry((wait.kind, wait.value)).or_default().push(wait));
    let unit_time = (range.to.0 - range.from.0) as f64 * execution.units().count() as f64;
    let mut messages_list = Vec::new();
    for ((kind, value), mut list) in groups {
        list.sort_by_key(|wait| std::cmp::Reverse(wait.nanos()));
        let nanos: i128 = list.iter().map(|wait| i128::from(wait.nanos())).sum();
        let causes = causes(execution, &list[..list.len().min(EXAMINED_WAITS)])?;
        let part = |unit: fn(&WaitState) -> Option<u32>| {
            let (unit, time) = key_with_largest_sum(list.iter().filter_map(|wait| Some((unit(wait)?, wait.nanos()))))?;
            Some(UnitShare { unit: unit_name(execution, unit), share: time as f64 / nanos as f64 })
        };
        let longest = list[0];
        let line =
            |id| Ok::<_, QueryError>(execution.source().facts_without_paths(id)?.source.map(|line| as_text(&line)));
        messages_list.push(WaitGroup {
            kind: kind.words(),
            state: value_name(execution, Some(value)),
            cause: causes.map_or_else(String::new, |value| value_name(execution, Some(value))),
            main_cause: part(|wait| wait.cause),
            main_waiter: part(|wait| Some(wait.unit)),
            count: list.len() as u64,
            nanos,
            share: nanos as f64 / unit_time,
            longest_wait: WaitOfUnit { range: time_range(longest), unit: unit_name(execution, longest.unit) },
            waiting_line: line(longest.state)?,
            causing_line: causing_line(execution, &list, causes)?,
        });
    }
    messages_list.sort_by_key(|group| std::cmp::Reverse(group.nanos));
    Ok(messages_list)
}

fn time_range(wait: &WaitState) -> TimeRange {
    TimeRange { from: GlobalNanos(wait.from), to: GlobalNanos(wait.to) }
}

fn as_text(line: &SourceLine) -> String {
    format!("{}:{}", line.file, line.line)
}

/// The key with the largest sum.
fn key_with_largest_sum<K: Ord>(list: impl Iterator<Item = (K, i64)>) -> Option<(K, i128)> {
    let mut sums: BTreeMap<K, i128> = BTreeMap::new();
    list.for_each(|(key, nanos)| *sums.entry(key).or_default() += i128::from(nanos));
    sums.into_iter().max_by_key(|sum| sum.1)
}

/// The value that the causing units have for most of the time of some waits, by self time. States
/// in which they wait themselves do not count.
fn causes(execution: &Execution, waits: &[&WaitState]) -> Result<Option<ValueId>, QueryError> {
    let mut times = Vec::new();
    for wait in waits {
        let Some(unit) = wait.cause.and_then(|unit| execution.units().list().get(unit as usize)) else { continue };
        let range = time_range(wait);
        for group in &unit.groups {
            for time in execution.source().nested_times(group.container, group.ty, range)? {
                if execution.categories().category(time.value) != ActivityCategory::Idle {
                    times.push((time.value, i64::try_from(time.self_time).unwrap_or(i64::MAX)));
                }
            }
        }
    }
    Ok(key_with_largest_sum(times.into_iter()).map(|(value, _)| value))
}

/// The source line of the cause of a wait: of the state in which the causing unit is in the middle
/// of the wait. The longest wait whose state has the value decides.
fn causing_line(
    execution: &Execution,
    waits: &[&WaitState],
    value: Option<ValueId>,
) -> Result<Option<String>, QueryError> {
    for wait in waits.iter().take(EXAMINED_WAITS) {
        let Some(cause) = wait.cause else { continue };
        let middle = wait.from + wait.nanos() / 2;
        let state = innermost_state(execution, cause as usize, middle)?;
        if let Some(state) = state.filter(|state| Some(state.value) == value) {
            return Ok(execution.source().facts_without_paths(state.id)?.source.map(|line| as_text(&line)));
        }
    }
    Ok(None)
}

/// The occurrences of a value as phases. The n-th occurrence in each unit belongs to the n-th
/// phase, which lasts from the first begin to the last end.
///
/// # Errors
/// If the trace has no such tasks, or the source fails.
pub fn phases(execution: &Execution, name: &str) -> Result<Vec<ExecutionPhase>, PerspectiveError> {
    let tasks = execution.tasks()?;
    let pattern = NamePattern::new(name);
    let known_names = || tasks.list().iter().map(|task| task.name.clone()).collect();
    let chosen: Vec<bool> = tasks.list().iter().map(|task| pattern.fits(&task.name)).collect();
    if !chosen.contains(&true) {
        let model = execution.model();
        let fitting = model.values.iter().filter(|value| pattern.fits(&value.name));
        let mut types = fitting.filter_map(|value| model.types.get(value.ty.index()));
        let state_type = types.find(|ty| ty.kind == PajeTypeKind::State).map(|ty| ty.name.clone());
        return Err(PerspectiveError::NoTask { name: name.to_owned(), known_names: known_names(), state_type });
    }
    let by_unit = tasks.states(execution.source(), execution.units(), |task| chosen[task as usize])?;
    let mut ranges: FxHashMap<(u32, usize), TimeRange> = FxHashMap::default();
    for states in by_unit {
        let mut numbers: FxHashMap<u32, usize> = FxHashMap::default();
        for TaskPiece { from, to, task } in states {
            let number = numbers.entry(task).or_default();
            *number += 1;
            let (from, to) = (GlobalNanos(from), GlobalNanos(to));
            let task_range = ranges.entry((task, *number)).or_insert(TimeRange { from, to });
            *task_range = TimeRange { from: task_range.from.min(from), to: task_range.to.max(to) };
        }
    }
    let mut ranges: Vec<_> = ranges.into_iter().collect();
    ranges.sort_unstable_by_key(|((task, number), range)| (range.from, *task, *number));
    let phase = |((task, number), range): ((u32, usize), TimeRange)| {
        let name = format!("{} {number}", tasks.list()[task as usize].name);
        ExecutionPhase { name, range }
    };
    Ok(ranges.into_iter().map(phase).collect())
}

/// The critical path and its times, for callers that draw it.
///
/// # Errors
/// If the trace has no states, or the source fails.
pub(crate) fn path_with_times(
    execution: &Execution,
    range: TimeRange,
) -> Result<(CriticalPath, PathTimes), PerspectiveError> {
    let collectives = CollectiveSet::new(execution)?;
    let path = CriticalPath::new(execution, &collectives, range)?;
    let times = path.times(execution)?;
    Ok((path, times))
}
