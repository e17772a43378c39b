//! Numbers over an interval: how long, and how often, containers were in each state.

use std::collections::BTreeMap;

use crate::query::{ContainerId, Interval, Lane, QueryError, TimelineSource, TypeId, ValueId};

/// What one value of a state type comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueTime {
    /// The value.
    pub value: ValueId,
    /// Nanoseconds spent in it, all containers together. A state counts with all that is nested in it.
    pub nanos: i64,
    /// [`Self::nanos`] as a share of the time for which the containers existed.
    pub share: f64,
}

/// Time per value of a state type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateTimes {
    /// Longest first; only values that occur.
    pub values: Vec<ValueTime>,
    /// Nanoseconds for which the containers existed in the interval, added up.
    pub lived: i64,
    /// Nanoseconds of those without any state of the type.
    pub none: i64,
}

impl StateTimes {
    /// The share of a value; 0 when it does not occur.
    #[must_use]
    pub fn share(&self, value: ValueId) -> f64 {
        self.values.iter().find(|time| time.value == value).map_or(0.0, |time| time.share)
    }
}

/// Time per value of a state type in some containers. Exact; the cost does not depend on the number of states.
///
/// Nested states count at each depth: with a state pushed inside another of the same value, that time counts twice.
///
/// # Errors
/// As [`TimelineSource::cells`].
pub fn times(
    source: &dyn TimelineSource,
    containers: &[ContainerId],
    ty: TypeId,
    interval: Interval,
) -> Result<StateTimes, QueryError> {
    let lives = source.containers();
    let lives: BTreeMap<ContainerId, Interval> = lives.iter().map(|info| (info.id, info.life)).collect();
    let mut sums: BTreeMap<ValueId, i64> = BTreeMap::new();
    let (mut lived, mut covered) = (0_i64, 0_i64);
    for &container in containers {
        let life = lives.get(&container).ok_or(QueryError::Unknown { what: "container" })?;
        lived += (life.to.0.min(interval.to.0) - life.from.0.max(interval.from.0)).max(0);
        let depths = source.depths(container, ty).max(1);
        let lanes: Vec<Lane> = (0..depths).map(|depth| Lane { container, ty, depth }).collect();
        let cells = source.cells(&lanes, interval, 1)?.cells;
        covered += cells.first().map_or(0, |outermost| outermost.shares.iter().map(|share| share.1).sum());
        for (value, nanos) in cells.into_iter().flat_map(|cell| cell.shares) {
            *sums.entry(value).or_default() += nanos;
        }
    }
    let share = |nanos: i64| if lived > 0 { nanos as f64 / lived as f64 } else { 0.0 };
    let mut values: Vec<ValueTime> =
        sums.into_iter().map(|(value, nanos)| ValueTime { value, nanos, share: share(nanos) }).collect();
    values.sort_by(|a, b| b.nanos.cmp(&a.nanos).then(a.value.cmp(&b.value)));
    Ok(StateTimes { values, lived, none: (lived - covered).max(0) })
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
            for state in source.states(Lane { container, ty, depth }, interval, usize::MAX)?.items {
                *counts.entry(state.value).or_default() += 1;
            }
        }
    }
    Ok(counts)
}

/// All containers of a type, whatever their depth.
#[must_use]
pub fn containers_of(source: &dyn TimelineSource, ty: TypeId) -> Vec<ContainerId> {
    source.containers().iter().filter(|info| info.ty == ty).map(|info| info.id).collect()
}
