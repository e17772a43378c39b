//! [`Profile`]: calls, total and self time per name, and the call tree, of one state type.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tumit_viewer::parallel_map::{MAX_THREADS, map_in_order};
use tumit_viewer::query::{ContainerId, NestedLaneGroup, QueryError, StateLaneId, TimeRange, TimelineSource, TypeId};
use tumit_viewer::stats;

use crate::call_tree::{CallTree, NameId, NameTimes};
use crate::duration_histogram::DurationHistogram;
use crate::tree_builder::{ContainerCalls, RangePart, container_calls};
use crate::value_names::{ValueGroups, ValueNames};

/// Approximate number of states in a job. A thread is worth its cost, and progress is visible.
const STATES_PER_JOB: u64 = 1 << 18;
/// Maximum number of jobs for one container.
const MAX_JOBS: u64 = 1 << 12;

/// The largest and the mean time of a name, over all containers with states of the type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TimeImbalance {
    /// The largest total time in a container, in nanoseconds.
    pub max: i128,
    /// The container with this time. The first one if several have it.
    pub container: ContainerId,
    /// The mean total time over the containers, in nanoseconds.
    pub mean: f64,
}

impl TimeImbalance {
    /// The largest time divided by the mean: 1 if all containers have the same time.
    pub fn ratio(self) -> f64 {
        if self.mean > 0.0 { self.max as f64 / self.mean } else { 1.0 }
    }
}

/// The calls of one name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NameProfile {
    /// The name.
    pub name: NameId,
    /// Calls, total and self time, over all containers.
    pub times: NameTimes,
    /// Total time as a share of the lifetime of the containers within the time range, from 0 to 1.
    pub share: f64,
    /// Self time as a share of the same lifetime, from 0 to 1.
    pub self_share: f64,
    /// The durations of the calls, whole even if a call exceeds the time range.
    pub durations: DurationHistogram,
    /// The distribution of the total time over the containers.
    pub imbalance: TimeImbalance,
}

/// The profile of a state type in a time range.
///
/// A state is a *call* of its value. A state inside of another one of the same container and type
/// is called by it.
///
/// ```
/// use tumit_profile::profile::Profile;
/// use tumit_profile::value_names::ValueGroups;
/// use tumit_viewer::query::{TimelineSource, TypeId};
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n7 3 T t\n";
/// # let trace = format!("{header}{body}");
/// # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
/// let profile = Profile::new(&store, TypeId(2), store.extent(), &ValueGroups::None, &|_| {})?;
/// let work = &profile.by_name[0];
/// assert_eq!(profile.names.text(work.name), "work");
/// assert_eq!((work.times.calls, work.times.total), (1, 2_000_000_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Profile {
    /// The state type.
    pub ty: TypeId,
    /// The time range.
    pub time_range: TimeRange,
    /// The names of the values.
    pub names: ValueNames,
    /// The number of containers with states of the type.
    pub containers: usize,
    /// Total nanoseconds for which these containers existed in the time range.
    pub existence_nanos: i128,
    /// The names with calls or time in the time range: the longest self time first, then by text.
    pub by_name: Vec<NameProfile>,
    /// The call tree over all containers.
    pub tree: CallTree,
}

/// The state types that have states in some container, by id.
pub fn state_types(source: &dyn TimelineSource) -> Vec<TypeId> {
    let mut types: Vec<TypeId> = source.state_lane_groups().iter().map(|group| group.ty).collect();
    types.sort_unstable();
    types.dedup();
    types
}

/// A part of the states of one container.
struct ProfileJob {
    /// The index of the container in the list of containers.
    container_index: usize,
    container: ContainerId,
    part: RangePart,
    /// Approximate number of states.
    weight: u64,
}

/// Distributes the states of each container to jobs. Returns the jobs, and their number for each
/// container.
fn jobs(
    source: &dyn TimelineSource,
    containers: &[ContainerId],
    ty: TypeId,
    time_range: TimeRange,
    states_per_job: u64,
) -> Result<(Vec<ProfileJob>, Vec<u32>), QueryError> {
    let (mut jobs, mut counts) = (Vec::new(), Vec::new());
    for (container_index, &container) in containers.iter().enumerate() {
        let mut states = 0;
        for depth in 0..source.depths(container, ty) {
            states += source.states(StateLaneId { container, ty, depth }, time_range, 0)?.total;
        }
        let width = u64::try_from(time_range.to.0.saturating_sub(time_range.from.0)).unwrap_or(1).max(1);
        let count = (states / states_per_job + 1).min(MAX_JOBS).min(width) as u32;
        counts.push(count);
        jobs.extend((0..count).map(|column| ProfileJob {
            container_index,
            container,
            part: RangePart {
                time_range: time_range.column(column, count),
                is_first: column == 0,
                is_last: column + 1 == count,
            },
            weight: (states / u64::from(count)).max(1),
        }));
    }
    Ok((jobs, counts))
}

/// Sums of the finished jobs.
struct Sums<'a> {
    containers: &'a [ContainerId],
    /// Number of unfinished jobs of each container.
    unfinished: Vec<u32>,
    /// Calls of containers with unfinished jobs.
    parts: FxHashMap<usize, ContainerCalls>,
    total: ContainerCalls,
    /// For each name, the sum of its times, and the largest time with the index of its container.
    by_name: BTreeMap<NameId, (NameTimes, i128, usize)>,
    finished_weight: u64,
}

impl Sums<'_> {
    fn add(&mut self, job: &ProfileJob, calls: ContainerCalls) {
        self.finished_weight += job.weight;
        let index = job.container_index;
        self.unfinished[index] -= 1;
        let calls = match (self.parts.remove(&index), self.unfinished[index]) {
            (None, 0) => calls,
            (earlier, unfinished) => {
                let mut sum = earlier.unwrap_or_default();
                sum.merge(&calls);
                if unfinished > 0 {
                    self.parts.insert(index, sum);
                    return;
                }
                sum
            }
        };
        for (name, times) in calls.tree.times_by_name() {
            let (sum, max, container) = self.by_name.entry(name).or_insert((NameTimes::default(), -1, index));
            sum.calls += times.calls;
            sum.total += times.total;
            sum.self_time += times.self_time;
            if (times.total, std::cmp::Reverse(index)) > (*max, std::cmp::Reverse(*container)) {
                (*max, *container) = (times.total, index);
            }
        }
        self.total.merge(&calls);
    }

    fn imbalance(&self, times: NameTimes, max: i128, container: usize) -> TimeImbalance {
        let mean = times.total as f64 / self.containers.len().max(1) as f64;
        TimeImbalance { max: max.max(0), container: self.containers[container], mean }
    }
}

/// The containers of the source with states of a type. Members of groups replace their groups,
/// because states of several members may overlap.
pub(crate) fn containers_with(source: &dyn TimelineSource, ty: TypeId) -> Vec<ContainerId> {
    let groups = source.state_lane_groups().into_iter().filter(|group| group.ty == ty);
    groups.flat_map(|group: NestedLaneGroup| members_or_container(source, group.container, ty)).collect()
}

/// The members of a group with states of a type, or the container itself if it is no group.
fn members_or_container(source: &dyn TimelineSource, container: ContainerId, ty: TypeId) -> Vec<ContainerId> {
    let members = source.members_with(container, ty);
    match members.is_empty() {
        true => vec![container],
        false => members.into_iter().map(|info| info.id).filter(|&member| source.depths(member, ty) > 0).collect(),
    }
}

impl Profile {
    /// Computes the profile of a state type. `progress` receives the finished share of the work,
    /// from 0 to 1.
    ///
    /// Reads each state of the time range once, in as many threads as there are processors. The
    /// memory is proportional to the number of different paths of calls.
    ///
    /// # Errors
    /// As [`TimelineSource::states`].
    pub fn new(
        source: &dyn TimelineSource,
        ty: TypeId,
        time_range: TimeRange,
        groups: &ValueGroups,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Self, QueryError> {
        Self::of_containers(source, ty, &containers_with(source, ty), time_range, groups, progress)
    }

    /// As [`Self::new`], of some containers only. Members of groups replace their groups.
    ///
    /// # Errors
    /// As [`TimelineSource::states`].
    pub fn of_containers(
        source: &dyn TimelineSource,
        ty: TypeId,
        containers: &[ContainerId],
        time_range: TimeRange,
        groups: &ValueGroups,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Self, QueryError> {
        let containers: Vec<ContainerId> =
            containers.iter().flat_map(|&container| members_or_container(source, container, ty)).collect();
        Self::with_jobs(source, (&containers, ty), time_range, groups, STATES_PER_JOB, progress)
    }

    /// As [`Self::of_containers`], with the approximate number of states in a job.
    pub(crate) fn with_jobs(
        source: &dyn TimelineSource,
        (containers, ty): (&[ContainerId], TypeId),
        time_range: TimeRange,
        groups: &ValueGroups,
        states_per_job: u64,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Self, QueryError> {
        let names = ValueNames::new(&source.model(), groups);
        let (jobs, unfinished) = jobs(source, containers, ty, time_range, states_per_job)?;
        let weight: u64 = jobs.iter().map(|job| job.weight).sum();
        let sums = Mutex::new(Sums {
            containers,
            unfinished,
            parts: FxHashMap::default(),
            total: ContainerCalls::default(),
            by_name: BTreeMap::new(),
            finished_weight: 0,
        });
        let results = map_in_order(jobs, MAX_THREADS, |job| {
            let calls = container_calls(source, &names, (job.container, ty), job.part)?;
            let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
            sums.add(&job, calls);
            progress(sums.finished_weight as f64 / weight.max(1) as f64);
            Ok::<_, QueryError>(())
        });
        results.into_iter().collect::<Result<(), QueryError>>()?;
        let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
        let existence_nanos = existence(source, containers, ty, time_range);
        let by_name = name_profiles(&sums, existence_nanos, &names);
        let ContainerCalls { tree, .. } = sums.total;
        Ok(Self { ty, time_range, names, containers: containers.len(), existence_nanos, by_name, tree })
    }
}

/// Total nanoseconds for which some containers existed in a time range.
fn existence(source: &dyn TimelineSource, containers: &[ContainerId], ty: TypeId, time_range: TimeRange) -> i128 {
    let list = source.containers();
    let mut lives: FxHashMap<ContainerId, i128> =
        list.iter().map(|info| (info.id, stats::existence_nanos(source, info, ty, time_range))).collect();
    for group in list.iter().flat_map(|info| source.members_with(info.id, ty)) {
        lives.entry(group.id).or_insert_with(|| stats::existence_nanos(source, &group, ty, time_range));
    }
    containers.iter().filter_map(|container| lives.get(container)).sum()
}

fn name_profiles(sums: &Sums<'_>, existence_nanos: i128, names: &ValueNames) -> Vec<NameProfile> {
    let share = |nanos: i128| if existence_nanos > 0 { nanos as f64 / existence_nanos as f64 } else { 0.0 };
    let profile = |(&name, &(times, max, container)): (&NameId, &(NameTimes, i128, usize))| NameProfile {
        name,
        times,
        share: share(times.total),
        self_share: share(times.self_time),
        durations: sums.total.durations.get(&name).cloned().unwrap_or_default(),
        imbalance: sums.imbalance(times, max, container),
    };
    let mut profiles: Vec<NameProfile> = sums.by_name.iter().map(profile).collect();
    profiles.sort_by(|a, b| {
        let key = |profile: &NameProfile| (profile.times.self_time, profile.times.total, profile.times.calls);
        key(b).cmp(&key(a)).then_with(|| names.text(a.name).cmp(names.text(b.name)))
    });
    profiles
}
