//! [`Diagnosis`]: the costs of an execution on one page: efficiency, imbalance, waits with their
//! causes, and the critical path.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{
    ContainerId, ContainerInfo, GlobalNanos, QueryError, SourceLine, TimeRange, TypeId, ValueId, container_tree,
};

use crate::analysis::collective_groups::{CollectiveGroup, collective_groups};
use crate::analysis::collectives::CollectiveSet;
use crate::analysis::critical_path::{CriticalPath, PathTimes};
use crate::analysis::efficiency::Efficiency;
use crate::analysis::wait_states::{WaitKind, WaitState, wait_states};
use crate::error::PerspectiveError;
use crate::execution::Execution;

/// Number of waits of a group whose causes are examined, longest first.
const EXAMINED_WAITS: usize = 64;
/// The smallest imbalance that is reported: the largest busy time is 5 % above the mean.
pub const REPORTED_IMBALANCE: f64 = 0.05;
/// The smallest busy time of a container with work, as a part of the largest busy time.
const SMALLEST_WORK: f64 = 0.01;

/// The costs of an execution.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// The time range in nanoseconds.
    pub from: i64,
    /// The end of the time range in nanoseconds.
    pub to: i64,
    /// The name of the container type of the units, such as `Rank`.
    pub level: String,
    /// The number of units.
    pub units: usize,
    /// The efficiency of the whole time range. `None` if no unit is ever busy.
    pub efficiency: Option<Efficiency>,
    /// The efficiency of each phase, by time.
    pub phases: Vec<PhaseEfficiency>,
    /// Levels of the container tree with an imbalance of at least [`REPORTED_IMBALANCE`], from the
    /// root downward.
    pub imbalances: Vec<Imbalance>,
    /// The waits by pattern, state and cause, the largest first.
    pub waits: Vec<WaitGroup>,
    /// The sum of all waits, in nanoseconds.
    pub wait_nanos: i128,
    /// The critical path by value, the largest first.
    pub path_values: Vec<PathShare>,
    /// The critical path by unit, the largest first.
    pub path_units: Vec<PathShare>,
    /// The length of the critical path, in nanoseconds.
    pub path_nanos: i64,
    /// The part of the critical path in messages, in nanoseconds.
    pub path_transit: i64,
    /// Values whose categories are guesses.
    pub guessed_values: usize,
    /// The collective operations by state and communicator, those with the longest waits first.
    pub collectives: Vec<CollectiveGroup>,
    /// Names of states that look like collective operations, but do not match.
    pub unmatched_collectives: Vec<String>,
}

/// The efficiency of a phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseEfficiency {
    /// The name of the phase.
    pub name: String,
    /// Start in nanoseconds.
    pub from: i64,
    /// End in nanoseconds.
    pub to: i64,
    /// Its efficiency.
    pub efficiency: Option<Efficiency>,
}

/// An uneven distribution of busy time at one level of the container tree.
#[derive(Clone, Debug, Serialize)]
pub struct Imbalance {
    /// The container type, such as `Node`.
    pub level: String,
    /// The container with the largest busy time per unit.
    pub busiest: String,
    /// The container with the smallest.
    pub least_busy: String,
    /// The largest busy time divided by the mean, minus 1.
    pub excess: f64,
    /// The busy time per unit above the mean, in nanoseconds.
    pub nanos: i64,
}

/// Waits of one pattern, in states of one value, for one cause.
#[derive(Clone, Debug, Serialize)]
pub struct WaitGroup {
    /// The pattern.
    pub kind: &'static str,
    /// The name of the states in which units wait.
    pub state: String,
    /// The name of the state of the causing unit during most of the waits. Empty if unknown.
    pub cause: String,
    /// The unit that causes most of the time, and its part from 0 to 1.
    pub culprit: Option<(String, f64)>,
    /// The unit that waits longest, and its part from 0 to 1.
    pub victim: Option<(String, f64)>,
    /// Number of waits.
    pub count: u64,
    /// Sum in nanoseconds.
    pub nanos: i128,
    /// The sum as a part of the time of all units, from 0 to 1.
    pub share: f64,
    /// The longest wait: start and end in nanoseconds, and its unit.
    pub longest: (i64, i64, String),
    /// The source line of the state of the longest wait, as `file:line`.
    pub waiting_line: Option<String>,
    /// The source line of the cause of the longest wait, as `file:line`.
    pub causing_line: Option<String>,
}

/// A part of the critical path.
#[derive(Clone, Debug, Serialize)]
pub struct PathShare {
    /// The name of the value or unit.
    pub name: String,
    /// Time in nanoseconds.
    pub nanos: i64,
    /// Part of the path from 0 to 1.
    pub share: f64,
}

impl PathShare {
    /// An upper bound of the time that is gained if this part took `percent` less time, in
    /// nanoseconds. Another path may become the longest, so the gain can be smaller.
    #[expect(clippy::cast_precision_loss, reason = "a bound is rounded")]
    pub fn gain(&self, percent: f64) -> f64 {
        self.nanos as f64 * percent / 100.0
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
    /// Examines a time range. `phases` are the names and time ranges of phases.
    ///
    /// # Errors
    /// If the trace has no states, or the source fails.
    pub fn new(
        execution: &Execution,
        range: TimeRange,
        phases: &[(String, TimeRange)],
    ) -> Result<Self, PerspectiveError> {
        let model = execution.model();
        let collectives = CollectiveSet::new(execution)?;
        let path = CriticalPath::new(execution, &collectives, range)?;
        let times = path.times(execution)?;
        let phase = |(name, range): &(String, TimeRange)| {
            let efficiency = Efficiency::new(execution, *range, None)?;
            Ok(PhaseEfficiency { name: name.clone(), from: range.from.0, to: range.to.0, efficiency })
        };
        let waits = wait_states(execution, &collectives, range)?;
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
            efficiency: Efficiency::new(execution, range, Some(&times))?,
            phases: phases.iter().map(phase).collect::<Result<_, PerspectiveError>>()?,
            imbalances: imbalances(execution, range)?,
            waits: wait_groups(execution, &waits, range)?,
            wait_nanos,
            path_values: path_shares(&times.by_value, path.nanos(), |value| value_name(execution, *value)),
            path_units: path_shares(&times.by_unit, path.nanos(), |unit| unit_name(execution, *unit)),
            path_nanos: path.nanos(),
            path_transit: times.transit,
            guessed_values: model.values.iter().filter(used).filter(is_guess).count(),
            collectives: collective_groups(execution, &collectives, range),
            unmatched_collectives: collectives
                .unmatched
                .iter()
                .map(|value| value_name(execution, Some(*value)))
                .collect(),
        })
    }
}

fn value_name(execution: &Execution, value: Option<ValueId>) -> String {
    let info = value.and_then(|value| execution.model().values.get(value.index()));
    info.map_or_else(|| "(no state)".to_owned(), |info| info.name.clone())
}

fn unit_name(execution: &Execution, unit: u32) -> String {
    execution.units().list().get(unit as usize).map_or_else(String::new, |unit| unit.name.clone())
}

#[expect(clippy::cast_precision_loss, reason = "a part is rounded")]
fn path_shares<K>(times: &BTreeMap<K, i64>, length: i64, name: impl Fn(&K) -> String) -> Vec<PathShare> {
    let share = |nanos: i64| if length > 0 { nanos as f64 / length as f64 } else { 0.0 };
    let of = |(key, nanos): (&K, &i64)| PathShare { name: name(key), nanos: *nanos, share: share(*nanos) };
    let mut shares: Vec<PathShare> = times.iter().map(of).collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.nanos));
    shares
}

/// The sum of the busy times of the units below a container.
struct BusyContainer {
    name: String,
    nanos: f64,
    units: usize,
}

/// The imbalance of each level of the container tree, from the units upward.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "times are rounded")]
fn imbalances(execution: &Execution, range: TimeRange) -> Result<Vec<Imbalance>, PerspectiveError> {
    let activity = execution.activity()?;
    let containers = execution.source().containers();
    let positions = container_tree::positions(&containers);
    let length = (range.to.0 - range.from.0) as f64;
    let mut sums: FxHashMap<ContainerId, BusyContainer> = FxHashMap::default();
    for (unit, index) in execution.units().list().iter().zip(0..) {
        let nanos = activity.fractions(index, range)[0] * length;
        let mut at = positions.get(&unit.container).copied();
        while let Some(info) = at.map(|at| &containers[at]).filter(|info| info.id != info.parent) {
            let sum =
                sums.entry(info.id).or_insert_with(|| BusyContainer { name: info.name.clone(), nanos: 0.0, units: 0 });
            (sum.nanos, sum.units) = (sum.nanos + nanos, sum.units + 1);
            at = positions.get(&info.parent).copied();
        }
    }
    let groups = comparable_groups(execution, &containers, &sums);
    let per_unit = |sum: &BusyContainer| sum.nanos / sum.units as f64;
    let mut all: Vec<Imbalance> = Vec::new();
    for (level, list) in groups {
        let largest = list.iter().map(|sum| per_unit(sum)).fold(0.0, f64::max);
        // Containers without work, such as a process that only controls others, are left out.
        let list: Vec<&BusyContainer> =
            list.into_iter().filter(|sum| per_unit(sum) > largest * SMALLEST_WORK).collect();
        let mean = list.iter().map(|sum| per_unit(sum)).sum::<f64>() / list.len() as f64;
        let by_busy = |one: &&&BusyContainer, other: &&&BusyContainer| per_unit(one).total_cmp(&per_unit(other));
        let (Some(busiest), Some(least)) = (list.iter().max_by(by_busy), list.iter().min_by(by_busy)) else { continue };
        let excess = if mean > 0.0 { per_unit(busiest) / mean - 1.0 } else { 0.0 };
        if excess >= REPORTED_IMBALANCE {
            let nanos = (per_unit(busiest) - mean).round() as i64;
            let (busiest, least_busy) = (busiest.name.clone(), least.name.clone());
            all.push(Imbalance { level, busiest, least_busy, excess, nanos });
        }
    }
    Ok(all)
}

/// The containers that are compared: those of a type, from the root downward. If the same name
/// occurs in several parents, such as `main` in each process, the containers of the type have
/// different purposes, and are not compared.
fn comparable_groups<'a>(
    execution: &Execution,
    containers: &[ContainerInfo],
    sums: &'a FxHashMap<ContainerId, BusyContainer>,
) -> Vec<(String, Vec<&'a BusyContainer>)> {
    let mut parents: FxHashMap<(TypeId, &str), ContainerId> = FxHashMap::default();
    let mut with_purposes: FxHashSet<TypeId> = FxHashSet::default();
    for info in containers.iter().filter(|info| sums.contains_key(&info.id)) {
        if parents.insert((info.ty, &info.name), info.parent).is_some_and(|parent| parent != info.parent) {
            with_purposes.insert(info.ty);
        }
    }
    let mut groups: BTreeMap<(u32, String), Vec<&BusyContainer>> = BTreeMap::new();
    for info in containers {
        let Some(sum) = sums.get(&info.id) else { continue };
        if !with_purposes.contains(&info.ty) {
            let level = execution.model().types[info.ty.index()].name.clone();
            groups.entry((info.depth, level)).or_default().push(sum);
        }
    }
    groups.into_iter().map(|((_, level), list)| (level, list)).filter(|group| group.1.len() > 1).collect()
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
    let mut all = Vec::new();
    for ((kind, value), mut list) in groups {
        list.sort_by_key(|wait| std::cmp::Reverse(wait.nanos()));
        let nanos: i128 = list.iter().map(|wait| i128::from(wait.nanos())).sum();
        let causes = causes(execution, &list[..list.len().min(EXAMINED_WAITS)])?;
        let part = |unit: fn(&WaitState) -> Option<u32>| {
            let (unit, time) = largest(list.iter().filter_map(|wait| Some((unit(wait)?, wait.nanos()))))?;
            Some((unit_name(execution, unit), time as f64 / nanos as f64))
        };
        let longest = list[0];
        let line =
            |id| Ok::<_, QueryError>(execution.source().facts_without_paths(id)?.source.map(|line| as_text(&line)));
        all.push(WaitGroup {
            kind: kind.words(),
            state: value_name(execution, Some(value)),
            cause: causes.map_or_else(String::new, |value| value_name(execution, Some(value))),
            culprit: part(|wait| wait.cause),
            victim: part(|wait| Some(wait.unit)),
            count: list.len() as u64,
            nanos,
            share: nanos as f64 / unit_time,
            longest: (longest.from, longest.to, unit_name(execution, longest.unit)),
            waiting_line: line(longest.state)?,
            causing_line: causing_line(execution, longest)?,
        });
    }
    all.sort_by_key(|group| std::cmp::Reverse(group.nanos));
    Ok(all)
}

fn as_text(line: &SourceLine) -> String {
    format!("{}:{}", line.file, line.line)
}

/// The key with the largest sum.
fn largest<K: Ord>(list: impl Iterator<Item = (K, i64)>) -> Option<(K, i128)> {
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
        let range = TimeRange { from: GlobalNanos(wait.from), to: GlobalNanos(wait.to) };
        for group in &unit.groups {
            for time in execution.source().nested_times(group.container, group.ty, range)? {
                if execution.categories().category(time.value) != ActivityCategory::Idle {
                    times.push((time.value, i64::try_from(time.self_time).unwrap_or(i64::MAX)));
                }
            }
        }
    }
    Ok(largest(times.into_iter()).map(|(value, _)| value))
}

/// The source line of the state of the causing unit in the middle of a wait.
fn causing_line(execution: &Execution, wait: &WaitState) -> Result<Option<String>, QueryError> {
    let Some(cause) = wait.cause else { return Ok(None) };
    let middle = wait.from + wait.nanos() / 2;
    let Some(state) = crate::analysis::innermost_state::innermost_state(execution, cause as usize, middle)? else {
        return Ok(None);
    };
    Ok(execution.source().facts_without_paths(state.id)?.source.map(|line| as_text(&line)))
}

/// The occurrences of a value as phases. The n-th occurrence in each unit belongs to the n-th
/// phase, which lasts from the first begin to the last end.
///
/// # Errors
/// If the trace has no such tasks, or the source fails.
pub fn phases(execution: &Execution, name: &str) -> Result<Vec<(String, TimeRange)>, PerspectiveError> {
    let tasks = execution.tasks()?;
    let pattern = tumit_viewer::filter::NamePattern::new(name);
    let known = || tasks.list().iter().map(|task| task.name.clone()).collect();
    let chosen: Vec<bool> = tasks.list().iter().map(|task| pattern.fits(&task.name)).collect();
    if !chosen.contains(&true) {
        return Err(PerspectiveError::NoTask { name: name.to_owned(), known: known() });
    }
    let mut phases: Vec<(String, TimeRange)> = Vec::new();
    for unit in 0..execution.units().count() {
        let mut number: FxHashMap<u32, usize> = FxHashMap::default();
        for piece in tasks.pieces(unit).iter().filter(|piece| chosen[piece.task as usize]) {
            let number = number.entry(piece.task).or_default();
            *number += 1;
            let name = format!("{} {number}", tasks.list()[piece.task as usize].name);
            let range = TimeRange { from: GlobalNanos(piece.from), to: GlobalNanos(piece.to) };
            match phases.iter_mut().find(|phase| phase.0 == name) {
                Some((_, all)) => {
                    *all = TimeRange { from: all.from.min(range.from), to: all.to.max(range.to) };
                }
                None => phases.push((name, range)),
            }
        }
    }
    phases.sort_by_key(|phase| phase.1.from);
    Ok(phases)
}

/// The times of the critical path, for callers that draw it.
pub fn path_with_times(execution: &Execution, range: TimeRange) -> Result<(CriticalPath, PathTimes), PerspectiveError> {
    let collectives = CollectiveSet::new(execution)?;
    let path = CriticalPath::new(execution, &collectives, range)?;
    let times = path.times(execution)?;
    Ok((path, times))
}
