//! The time per value of a state type, over some containers.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::parallel_map::map_parts;
use crate::query::nested_times::NestedTotals;
use crate::query::{
    ContainerId, ContainerInfo, NestedTime, QueryError, StateLaneId, TimeRange, TimelineSource, TypeId, ValueId,
};

/// The time of one value of a state type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ValueTime {
    /// The value of the states.
    pub value: ValueId,
    /// Total time in nanoseconds: a state of the value is open. Summed over all containers, so it
    /// may exceed 64 bits. Nested states of the same value count once.
    pub nanos: i128,
    /// [`Self::nanos`] as a share of the lifetime of the containers within the time range.
    pub share: f64,
    /// Self time in nanoseconds: a state of the value is the innermost open state of its type.
    pub self_nanos: i128,
    /// [`Self::self_nanos`] as a share of the same lifetime. The self shares of a type add up to at
    /// most 1.
    pub self_share: f64,
}

/// Time per value of a state type.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StateTimes {
    /// The values that occur, longest first.
    pub values: Vec<ValueTime>,
    /// Total nanoseconds for which the containers existed in the time range.
    pub existence_nanos: i128,
    /// Total nanoseconds without any state of the type.
    pub stateless_time: i128,
}

impl StateTimes {
    /// The share of a value; 0 if it does not occur.
    #[must_use]
    pub fn share(&self, value: ValueId) -> f64 {
        self.values.iter().find(|time| time.value == value).map_or(0.0, |time| time.share)
    }
}

/// Time per value of a state type in some containers. The result is exact. The cost does not depend
/// on the number of states.
///
/// ```
/// use tumit_viewer::query::{ContainerId, TimelineSource, TypeId};
/// use tumit_viewer::stats::times;
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n7 3 T t\n";
/// # let trace = format!("{header}{body}");
/// # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
/// let times = times(&store, &[ContainerId(1)], TypeId(2), store.extent())?;
/// assert_eq!((times.values[0].nanos, times.stateless_time), (2_000_000_000, 1_000_000_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`TimelineSource::nested_times`].
pub fn times(
    source: &dyn TimelineSource,
    containers: &[ContainerId],
    ty: TypeId,
    time_range: TimeRange,
) -> Result<StateTimes, QueryError> {
    let all = source.containers();
    if let [container] = containers {
        return times_of(source, [all.iter().find(|info| info.id == *container)], ty, time_range);
    }
    let all: FxHashMap<ContainerId, &ContainerInfo> = all.iter().map(|info| (info.id, info)).collect();
    times_of(source, containers.iter().map(|container| all.get(container).copied()), ty, time_range)
}

/// As [`times`], for containers that the caller has looked up.
pub(crate) fn times_of<'a>(
    source: &dyn TimelineSource,
    containers: impl IntoIterator<Item = Option<&'a ContainerInfo>>,
    ty: TypeId,
    time_range: TimeRange,
) -> Result<StateTimes, QueryError> {
    let (mut existence, mut ids) = (0_i128, Vec::new());
    for info in containers {
        let info = info.ok_or(QueryError::Unknown { kind: "container" })?;
        existence += existence_nanos(source, info, ty, time_range);
        ids.push(info.id);
    }
    let times = nested_times(source, &ids, ty, time_range)?;
    let state_nanos: i128 = times.iter().map(|time| time.self_time).sum();
    let share = |nanos: i128| if existence > 0 { nanos as f64 / existence as f64 } else { 0.0 };
    let value = |time: NestedTime| ValueTime {
        value: time.value,
        nanos: time.total,
        share: share(time.total),
        self_nanos: time.self_time,
        self_share: share(time.self_time),
    };
    let mut values: Vec<ValueTime> = times.into_iter().map(value).collect();
    values.sort_by(|a, b| b.nanos.cmp(&a.nanos).then(a.value.cmp(&b.value)));
    Ok(StateTimes { values, existence_nanos: existence, stateless_time: (existence - state_nanos).max(0) })
}

/// Minimum number of containers with nested states per thread.
const NESTED_PER_THREAD: usize = 8;

/// Total and self time of each value of a state type, summed over some containers.
///
/// # Errors
/// As [`TimelineSource::nested_times`].
pub(crate) fn nested_times(
    source: &dyn TimelineSource,
    containers: &[ContainerId],
    ty: TypeId,
    time_range: TimeRange,
) -> Result<Vec<NestedTime>, QueryError> {
    let (mut flat_containers, mut nested_containers) = (Vec::new(), Vec::new());
    for &container in containers {
        match source.depths(container, ty) {
            0 | 1 => flat_containers.push(StateLaneId { container, ty, depth: 0 }),
            _ => nested_containers.push(container),
        }
    }
    let mut totals = NestedTotals::default();
    // States that are not nested: one query for all containers.
    let of_flat = of_lanes(source, &flat_containers, time_range)?;
    totals.add(of_flat.into_iter().map(|(value, nanos)| NestedTime { value, total: nanos, self_time: nanos }));
    let parts = map_parts(&nested_containers, NESTED_PER_THREAD, |part, _| {
        let mut sums = NestedTotals::default();
        for &container in part {
            sums.add(source.nested_times(container, ty, time_range)?);
        }
        Ok::<_, QueryError>(sums.finish())
    });
    for part in parts {
        totals.add(part?);
    }
    Ok(totals.finish())
}

/// Total nanoseconds of each value in some lanes, by value.
/// A day of 10⁵ containers exceeds 64 bits, so the time range is queried in parts.
///
/// # Errors
/// As [`TimelineSource::times`].
pub(crate) fn of_lanes(
    source: &dyn TimelineSource,
    lanes: &[StateLaneId],
    time_range: TimeRange,
) -> Result<Vec<(ValueId, i128)>, QueryError> {
    let duration = i128::from(time_range.to.0) - i128::from(time_range.from.0);
    let wide = |lane: &StateLaneId| source.members_with(lane.container, lane.ty).len().max(1) as i128;
    // Skips the check of each lane if the sum is small, because few lanes represent more than 2^20
    // containers.
    let is_short = lanes.len() as i128 * duration < i128::from(i64::MAX) >> 20;
    let largest_sum = if is_short { 0 } else { lanes.iter().map(wide).sum::<i128>() * duration };
    let parts = u32::try_from(largest_sum / i128::from(i64::MAX) + 1).unwrap_or(u32::MAX);
    let mut all: BTreeMap<ValueId, i128> = BTreeMap::new();
    for part in 0..parts {
        for (value, nanos) in source.times(lanes, time_range.column(part, parts))? {
            *all.entry(value).or_default() += i128::from(nanos);
        }
    }
    Ok(all.into_iter().collect())
}

/// Total nanoseconds of a time range for which a container existed that may have entities of a
/// type. For a group, the sum over its members.
pub fn existence_nanos(
    source: &dyn TimelineSource,
    container: &ContainerInfo,
    ty: TypeId,
    time_range: TimeRange,
) -> i128 {
    let overlap = |life: TimeRange| {
        i128::from(life.to.0.min(time_range.to.0).saturating_sub(life.from.0.max(time_range.from.0)).max(0))
    };
    let members = source.members_with(container.id, ty);
    if members.is_empty() { overlap(container.life) } else { members.iter().map(|info| overlap(info.life)).sum() }
}

#[cfg(test)]
mod tests {
    use super::times;
    use crate::query::{GlobalNanos, TimeRange, TimelineSource as _};
    use crate::store::TraceStore;

    #[test]
    fn shares_of_the_time_for_which_containers_lived() {
        let text = format!(
            "{}0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n5 i S idle \"1 0 0\"\n\
             6 0 a 0 T a\n6 0 b 0 T b\n11 0 a S w\n11 2 b S i\n12 4 a S i\n13 5 a S\n7 8 T b\n7 10 T a\n",
            include_str!("../../tests/header.paje")
        );
        let store = TraceStore::from_paje("trace", text.as_bytes()).expect("the text is a valid Pajé file");
        let model = store.model();
        let ty =
            |name: &str| model.types.iter().find(|ty| ty.name == name).map(|ty| ty.id).expect("the trace defines it");
        let value = |name: &str| model.values.iter().find(|value| value.name == name).expect("the trace defines it").id;
        let threads: Vec<_> =
            store.containers().iter().filter(|info| info.ty == ty("Thread")).map(|info| info.id).collect();
        let second = 1_000_000_000_i64;
        let time_range = TimeRange { from: GlobalNanos(second), to: GlobalNanos(9 * second) };
        let state_times = times(&store, &threads, ty("Activity"), time_range).expect("the source contains all of them");
        // `a` exists for 8 s of the time range. It is in `work` all the time, with 1 s of `idle`
        // inside. `b` exists for 7 s and is in `idle` for 6 s.
        assert_eq!(
            (state_times.existence_nanos, state_times.stateless_time),
            (15 * i128::from(second), i128::from(second))
        );
        let nanos: Vec<_> = state_times.values.iter().map(|time| (time.value, time.nanos)).collect();
        assert_eq!(nanos, [(value("work"), 8 * i128::from(second)), (value("idle"), 7 * i128::from(second))]);
        assert!((state_times.share(value("idle")) - 7.0 / 15.0).abs() < 1e-12);
        let self_nanos: Vec<_> = state_times.values.iter().map(|time| (time.value, time.self_nanos)).collect();
        assert_eq!(self_nanos, [(value("work"), 7 * i128::from(second)), (value("idle"), 7 * i128::from(second))]);
    }
}
