//! [`Imbalance`]: an uneven distribution of busy time over the containers of a level, or over the
//! containers of one purpose within a container.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use tumit_viewer::query::{ContainerId, ContainerInfo, TimeRange, TypeId, container_tree};

use crate::error::PerspectiveError;
use crate::execution::Execution;

/// The smallest imbalance that is reported: the largest busy time is 5 % above the mean.
pub(crate) const REPORTED_IMBALANCE: f64 = 0.05;
/// The smallest busy time above the mean that is reported within a container: 5 % of the time
/// range.
const REPORTED_TIME_WITHIN: f64 = 0.05;
/// The smallest busy time of a container with work, as a fraction of the largest busy time.
/// Containers below it, such as a controlling process, do not take part in the work.
const SMALLEST_WORK: f64 = 0.01;

/// An uneven distribution of busy time at one level of the container tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Imbalance {
    /// The container type, such as `Node`.
    pub level: String,
    /// The container whose children are compared. `None`: all containers of the type are compared.
    // The key of the JSON report stays as it is for its readers.
    #[serde(rename = "within")]
    pub parent: Option<String>,
    /// The container with the largest busy time per unit.
    pub busiest: String,
    /// The container with the smallest.
    pub least_busy: String,
    /// The largest busy time divided by the mean, minus 1.
    pub excess: f64,
    /// The busy time per unit above the mean, in nanoseconds.
    pub nanos: i64,
}

/// The sum of the busy times of the units below a container.
struct BusyContainer {
    name: String,
    nanos: f64,
    units: usize,
}

/// The containers of each parent and purpose.
type SiblingGroups<'a> = BTreeMap<(ContainerId, String), Vec<&'a BusyContainer>>;

impl BusyContainer {
    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    fn per_unit(&self) -> f64 {
        self.nanos / self.units as f64
    }
}

/// The imbalances of at least [`REPORTED_IMBALANCE`], from the root downward.
///
/// If the same name occurs in several parents, such as `main` in each process, the containers of
/// the type have different purposes. Then a container is compared with those of its parent whose
/// names differ in numbers only, such as `worker 1` and `worker 2`. The report names the parent
/// with the largest difference between the largest busy time and the mean. A difference below 5 %
/// of the time range is not reported, because the program cannot gain more.
///
/// # Errors
/// If the trace has no states, or the source fails.
#[expect(clippy::cast_precision_loss, reason = "times are rounded")]
pub(crate) fn imbalances(execution: &Execution, range: TimeRange) -> Result<Vec<Imbalance>, PerspectiveError> {
    let length = range.to.0.saturating_sub(range.from.0) as f64;
    let containers = execution.source().containers();
    let sums = busy_containers(execution, &containers, range)?;
    let with_purposes = types_with_purposes(&containers, &sums);
    let level = |info: &ContainerInfo| execution.model().types[info.ty.index()].name.clone();
    let mut levels: BTreeMap<(u32, String), Vec<&BusyContainer>> = BTreeMap::new();
    let mut siblings: BTreeMap<(u32, String), SiblingGroups<'_>> = BTreeMap::new();
    for info in containers.iter() {
        let Some(sum) = sums.get(&info.id) else { continue };
        let key = (info.depth, level(info));
        if with_purposes.contains(&info.ty) {
            let group = (info.parent, purpose(&info.name));
            siblings.entry(key).or_default().entry(group).or_default().push(sum);
        } else {
            levels.entry(key).or_default().push(sum);
        }
    }
    let mut all: Vec<(u32, Imbalance)> = Vec::new();
    for ((depth, level), list) in levels {
        all.extend(imbalance(&level, None, &list).map(|imbalance| (depth, imbalance)));
    }
    for ((depth, level), groups) in siblings {
        let name = |container: ContainerId| sums.get(&container).map(|sum| sum.name.clone());
        let of_group =
            |((parent, _), list): ((ContainerId, String), Vec<&BusyContainer>)| imbalance(&level, name(parent), &list);
        let largest = groups.into_iter().filter_map(of_group).max_by_key(|imbalance| imbalance.nanos);
        let is_reported = |imbalance: &Imbalance| imbalance.nanos as f64 >= length * REPORTED_TIME_WITHIN;
        all.extend(largest.filter(is_reported).map(|imbalance| (depth, imbalance)));
    }
    all.sort_by_key(|(depth, _)| *depth);
    Ok(all.into_iter().map(|(_, imbalance)| imbalance).collect())
}

/// The busy time of each container that is a unit or contains units.
#[expect(clippy::cast_precision_loss, reason = "times are rounded")]
fn busy_containers(
    execution: &Execution,
    containers: &[ContainerInfo],
    range: TimeRange,
) -> Result<FxHashMap<ContainerId, BusyContainer>, PerspectiveError> {
    let activity = execution.activity()?;
    let positions = container_tree::positions(containers);
    let length = range.to.0.saturating_sub(range.from.0) as f64;
    let mut sums: FxHashMap<ContainerId, BusyContainer> = FxHashMap::default();
    for (unit, index) in execution.units().list().iter().zip(0..) {
        let nanos = activity.fractions(index, range)[0] * length;
        let mut position = positions.get(&unit.container).copied();
        while let Some(info) = position.map(|position| &containers[position]).filter(|info| info.id != info.parent) {
            let empty = || BusyContainer { name: info.name.clone(), nanos: 0.0, units: 0 };
            let sum = sums.entry(info.id).or_insert_with(empty);
            (sum.nanos, sum.units) = (sum.nanos + nanos, sum.units + 1);
            position = positions.get(&info.parent).copied();
        }
    }
    Ok(sums)
}

/// The types whose containers have the same name in several parents.
fn types_with_purposes(
    containers: &[ContainerInfo],
    sums: &FxHashMap<ContainerId, BusyContainer>,
) -> FxHashSet<TypeId> {
    let mut parents: FxHashMap<(TypeId, &str), ContainerId> = FxHashMap::default();
    let mut with_purposes = FxHashSet::default();
    for info in containers.iter().filter(|info| sums.contains_key(&info.id)) {
        if parents.insert((info.ty, &info.name), info.parent).is_some_and(|parent| parent != info.parent) {
            with_purposes.insert(info.ty);
        }
    }
    with_purposes
}

/// The name without its numbers.
fn purpose(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// The imbalance of some containers, if it is large enough to be reported.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "times are rounded")]
fn imbalance(level: &str, parent: Option<String>, list: &[&BusyContainer]) -> Option<Imbalance> {
    let largest = list.iter().map(|sum| sum.per_unit()).fold(0.0, f64::max);
    // Containers without work, such as a process that only controls others, are left out.
    let list: Vec<&BusyContainer> =
        list.iter().copied().filter(|sum| sum.per_unit() > largest * SMALLEST_WORK).collect();
    let mean = list.iter().map(|sum| sum.per_unit()).sum::<f64>() / list.len() as f64;
    let by_busy = |a: &&&BusyContainer, b: &&&BusyContainer| a.per_unit().total_cmp(&b.per_unit());
    let (busiest, least_busy) = (list.iter().max_by(by_busy)?, list.iter().min_by(by_busy)?);
    let excess = if mean > 0.0 { busiest.per_unit() / mean - 1.0 } else { 0.0 };
    (excess >= REPORTED_IMBALANCE).then(|| Imbalance {
        level: level.to_owned(),
        parent,
        busiest: busiest.name.clone(),
        least_busy: least_busy.name.clone(),
        excess,
        nanos: (busiest.per_unit() - mean).round() as i64,
    })
}
