//! Numbers over an interval: how long, and how often, containers were in each state; what was sent; what variables were.
//!
//! All of it is asked through the door, so that it is of what filters leave, and of groups as of containers. [`table`] puts everything into
//! rows for a command or a page.

mod durations;
mod links;
mod table;
mod tasks;
mod variables;

pub use durations::{Durations, durations};
pub use links::number;
pub use links::{Exchange, exchanges, size_field};
pub use table::{By, DATES, Row, table, time_of_day, to_csv, to_csv_with};
pub use tasks::{Continuations, tasks_of};
pub use tasks::{Tasks, tasks};
pub use tasks::{TasksByValue, tasks_by_value};
pub use variables::{Extreme, VariableStats, variable};

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Serialize as _, Serializer};
use serde_json::Value;

use crate::parallel::in_parts;
use crate::query::nested::NestedTotals;
use crate::query::walk;
use crate::query::{
    ContainerId, ContainerInfo, Interval, Lane, NestedTime, QueryError, TimelineSource, TypeId, ValueId,
};

/// What one value of a state type comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueTime {
    /// The value.
    pub value: ValueId,
    /// Total time in nanoseconds: a state of the value is open. Summed over all containers, so it
    /// may exceed 64 bits. Nested states of the same value count once.
    pub nanos: i128,
    /// [`Self::nanos`] as a share of the lifetime of the containers within the interval.
    pub share: f64,
    /// Self time in nanoseconds: a state of the value is the innermost open state of its type.
    pub self_nanos: i128,
    /// [`Self::self_nanos`] as a share of the same lifetime. The self shares of a type add up to at
    /// most 1.
    pub self_share: f64,
}

/// Time per value of a state type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateTimes {
    /// Longest first; only values that occur.
    pub values: Vec<ValueTime>,
    /// Nanoseconds for which the containers existed in the interval, added up.
    pub lived: i128,
    /// Nanoseconds of those without any state of the type.
    pub none: i128,
}

impl StateTimes {
    /// The share of a value; 0 when it does not occur.
    #[must_use]
    pub fn share(&self, value: ValueId) -> f64 {
        self.values.iter().find(|time| time.value == value).map_or(0.0, |time| time.share)
    }
}

/// Time per value of a state type in some containers. The result is exact. The cost does not depend
/// on the number of states.
///
/// # Errors
/// As [`TimelineSource::nested_times`].
pub fn times(
    source: &dyn TimelineSource,
    containers: &[ContainerId],
    ty: TypeId,
    interval: Interval,
) -> Result<StateTimes, QueryError> {
    let all = source.containers();
    if let [one] = containers {
        return times_of(source, [all.iter().find(|info| info.id == *one)], ty, interval);
    }
    let all: FxHashMap<ContainerId, &ContainerInfo> = all.iter().map(|info| (info.id, info)).collect();
    times_of(source, containers.iter().map(|container| all.get(container).copied()), ty, interval)
}

/// The same of containers that the caller has found.
fn times_of<'a>(
    source: &dyn TimelineSource,
    containers: impl IntoIterator<Item = Option<&'a ContainerInfo>>,
    ty: TypeId,
    interval: Interval,
) -> Result<StateTimes, QueryError> {
    let (mut lived, mut ids) = (0_i128, Vec::new());
    for info in containers {
        let info = info.ok_or(QueryError::Unknown { what: "container" })?;
        lived += self::lived(source, info, ty, interval);
        ids.push(info.id);
    }
    let times = nested_times(source, &ids, ty, interval)?;
    let covered: i128 = times.iter().map(|time| time.self_time).sum();
    let share = |nanos: i128| if lived > 0 { nanos as f64 / lived as f64 } else { 0.0 };
    let value = |time: NestedTime| ValueTime {
        value: time.value,
        nanos: time.total,
        share: share(time.total),
        self_nanos: time.self_time,
        self_share: share(time.self_time),
    };
    let mut values: Vec<ValueTime> = times.into_iter().map(value).collect();
    values.sort_by(|a, b| b.nanos.cmp(&a.nanos).then(a.value.cmp(&b.value)));
    Ok(StateTimes { values, lived, none: (lived - covered).max(0) })
}

/// Containers with nested states per thread: fewer are not worth a thread.
const NESTED_PER_THREAD: usize = 8;

/// Total and self time of each value of a state type, summed over some containers.
///
/// # Errors
/// As [`TimelineSource::nested_times`].
pub(crate) fn nested_times(
    source: &dyn TimelineSource,
    containers: &[ContainerId],
    ty: TypeId,
    interval: Interval,
) -> Result<Vec<NestedTime>, QueryError> {
    let (mut flat, mut nested) = (Vec::new(), Vec::new());
    for &container in containers {
        match source.depths(container, ty) {
            0 | 1 => flat.push(Lane { container, ty, depth: 0 }),
            _ => nested.push(container),
        }
    }
    let mut all = NestedTotals::default();
    // States that are not nested: one query for all containers.
    let of_flat = of_lanes(source, &flat, interval)?;
    all.add(of_flat.into_iter().map(|(value, nanos)| NestedTime { value, total: nanos, self_time: nanos }));
    let parts = in_parts(&nested, NESTED_PER_THREAD, |part, _| {
        let mut own = NestedTotals::default();
        for &container in part {
            own.add(source.nested_times(container, ty, interval)?);
        }
        Ok::<_, QueryError>(own.finish())
    });
    for part in parts {
        all.add(part?);
    }
    Ok(all.finish())
}

/// Nanoseconds of each value in some lanes together, by value. A day of 10⁵ containers is more than 64 bits hold, so it is asked for in parts.
///
/// # Errors
/// As [`TimelineSource::times`].
pub(crate) fn of_lanes(
    source: &dyn TimelineSource,
    lanes: &[Lane],
    interval: Interval,
) -> Result<Vec<(ValueId, i128)>, QueryError> {
    let long = i128::from(interval.to.0) - i128::from(interval.from.0);
    let wide = |lane: &Lane| source.members_with(lane.container, lane.ty).len().max(1) as i128;
    // Without looking at each lane where it does not matter: few stand for more than a million.
    let is_short = lanes.len() as i128 * long < i128::from(i64::MAX) >> 20;
    let most = if is_short { 0 } else { lanes.iter().map(wide).sum::<i128>() * long };
    let parts = u32::try_from(most / i128::from(i64::MAX) + 1).unwrap_or(u32::MAX);
    let mut all: BTreeMap<ValueId, i128> = BTreeMap::new();
    for part in 0..parts {
        for (value, nanos) in source.times(lanes, interval.column(part, parts))? {
            *all.entry(value).or_default() += i128::from(nanos);
        }
    }
    Ok(all.into_iter().collect())
}

/// For JSON, which has no wider integers than 64 bits: beyond them, the nearest number of a page.
pub fn json_number(nanos: i128) -> Value {
    i64::try_from(nanos).map_or_else(|_wide| Value::from(nanos as f64), Value::from)
}

/// The same for a field.
#[expect(clippy::ref_option, reason = "as serde calls it")]
pub(crate) fn as_number<S: Serializer>(nanos: &Option<i128>, serializer: S) -> Result<S::Ok, S::Error> {
    nanos.map(json_number).serialize(serializer)
}

/// For how many nanoseconds of an interval a container existed that may have entities of a type; of one that stands for several, all of these
/// together.
pub fn lived(source: &dyn TimelineSource, container: &ContainerInfo, ty: TypeId, interval: Interval) -> i128 {
    let within = |life: Interval| {
        i128::from(life.to.0.min(interval.to.0).saturating_sub(life.from.0.max(interval.from.0)).max(0))
    };
    let members = source.members_with(container.id, ty);
    if members.is_empty() { within(container.life) } else { members.iter().map(|info| within(info.life)).sum() }
}

/// How many states of each value overlap an interval, all depths and containers together. The cost grows with their number.
///
/// # Errors
/// As [`TimelineSource::states`].
pub fn counts(
    source: &dyn TimelineSource,
    containers: &[ContainerId],
    ty: TypeId,
    interval: Interval,
) -> Result<BTreeMap<ValueId, u64>, QueryError> {
    let mut counts = BTreeMap::new();
    for &container in containers {
        for depth in 0..source.depths(container, ty) {
            walk::states(source, Lane { container, ty, depth }, interval, |state| {
                *counts.entry(state.value).or_default() += 1;
                Ok(())
            })?;
        }
    }
    Ok(counts)
}

/// All containers of a type, whatever their depth.
#[must_use]
pub fn containers_of(source: &dyn TimelineSource, ty: TypeId) -> Vec<ContainerId> {
    source.containers().iter().filter(|info| info.ty == ty).map(|info| info.id).collect()
}

#[cfg(test)]
mod tests {
    use super::{containers_of, counts, times};
    use crate::query::{GlobalNanos, Interval, TimelineSource as _};
    use crate::store::Store;

    #[test]
    fn shares_of_the_time_for_which_containers_lived() {
        let text = format!(
            "{}0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n5 i S idle \"1 0 0\"\n\
             6 0 a 0 T a\n6 0 b 0 T b\n11 0 a S w\n11 2 b S i\n12 4 a S i\n13 5 a S\n7 8 T b\n7 10 T a\n",
            include_str!("../tests/header.paje")
        );
        let store = Store::from_paje("trace", text.as_bytes()).expect("a Pajé file");
        let model = store.model();
        let ty = |name: &str| model.types.iter().find(|ty| ty.name == name).map(|ty| ty.id).expect("it is defined");
        let value = |name: &str| model.values.iter().find(|value| value.name == name).expect("it is defined").id;
        let threads = containers_of(&store, ty("Thread"));
        let second = 1_000_000_000_i64;
        let interval = Interval { from: GlobalNanos(second), to: GlobalNanos(9 * second) };
        let found = times(&store, &threads, ty("Activity"), interval).expect("all are there");
        // `a` lives 8 s of the interval and works all the time, idle inside for 1 s; `b` lives 7 s and is idle for 6 s.
        assert_eq!((found.lived, found.none), (15 * i128::from(second), i128::from(second)));
        let nanos: Vec<_> = found.values.iter().map(|time| (time.value, time.nanos)).collect();
        assert_eq!(nanos, [(value("work"), 8 * i128::from(second)), (value("idle"), 7 * i128::from(second))]);
        assert!((found.share(value("idle")) - 7.0 / 15.0).abs() < 1e-12);
        let own: Vec<_> = found.values.iter().map(|time| (time.value, time.self_nanos)).collect();
        assert_eq!(own, [(value("work"), 7 * i128::from(second)), (value("idle"), 7 * i128::from(second))]);
        let counted = counts(&store, &threads, ty("Activity"), interval).expect("all are there");
        assert_eq!((counted[&value("work")], counted[&value("idle")]), (1, 2));
    }
}
