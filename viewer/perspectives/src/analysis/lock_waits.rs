//! Waits for locks, with the units that hold the locks meanwhile.
//!
//! A state is a wait for a lock if its category is not busy, and if its name describes such a wait,
//! or a field names the lock (`waits for`). The cause is the owner that a field of the state, or of
//! the state of the lock, names (`owned by`). Otherwise it is the unit that is in a state such as
//! `holds mutex` for most of the wait.
//!
//! The wait ends after the *release* of the lock by the unit that holds it last. It is the end of
//! the last state of the lock, or of the last state such as `holds mutex`. Without such states, the
//! owner is assumed to release the lock at the end of the wait.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{
    ContainerId, EntityId, GlobalNanos, PajeTypeKind, QueryError, StateEntity, StateLaneId, TimeRange, ValueId,
    entity_walk,
};

use crate::analysis::lock_names::{is_lock_hold, is_lock_wait, lock_of};
use crate::error::PerspectiveError;
use crate::execution::Execution;

/// The field that refers to the lock.
const WAITS_FOR: &str = "waits for";
/// The field that refers to the container that holds the lock.
const OWNED_BY: &str = "owned by";
/// Number of related entities that are examined.
const MAX_RELATED: usize = 64;
/// Number of states of a container and depth that are searched for the field `waits for`.
const EXAMINED_STATES: usize = 16;
/// Number of units that are searched for this field.
const EXAMINED_UNITS: usize = 256;

/// Number of states of a lock that are examined at once.
const LOCK_STATES: usize = 64;

/// The release of a lock by the unit that holds it before another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LockRelease {
    /// Index of the unit that releases the lock.
    pub(super) unit: u32,
    /// The time in nanoseconds.
    pub(super) time: i64,
    /// Whether the trace shows it. Otherwise the unit is the likely holder, and the time may be
    /// wrong.
    pub(super) is_certain: bool,
}

/// A wait for a lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LockWait {
    /// Index of the unit that waits.
    pub(super) unit: u32,
    /// The state in which it waits.
    pub(super) state: EntityId,
    /// The value of the state.
    pub(super) value: ValueId,
    /// The start and end of the state.
    pub(super) life: TimeRange,
    /// Index of the unit that holds the lock, if it is known.
    pub(super) holder: Option<u32>,
    /// The release after which the wait ends, if there is one during the wait.
    pub(super) release: Option<LockRelease>,
}

/// A time in which a unit holds a lock.
#[derive(Clone, Copy, Debug)]
struct LockHold {
    unit: u32,
    value: ValueId,
    from: i64,
    to: i64,
}

/// The waits for locks of the whole trace, by unit and time.
///
/// # Errors
/// If the source fails.
pub(super) fn lock_waits(execution: &Execution) -> Result<Arc<Vec<LockWait>>, PerspectiveError> {
    execution.derived("waits for locks", || Ok(new_lock_waits(execution, execution.extent())?))
}

fn new_lock_waits(execution: &Execution, range: TimeRange) -> Result<Vec<LockWait>, QueryError> {
    let values = wait_values(execution)?;
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let mut waits = Vec::new();
    visit_states(execution, range, &values, |unit, state, value, life| {
        waits.push(LockWait { unit, state, value, life, holder: None, release: None });
    })?;
    let mut holds = LockHolds::new(execution, range)?;
    for wait in &mut waits {
        let related = execution.source().related_entities(wait.state, MAX_RELATED)?;
        let named = related_holder(execution, wait, &related)?;
        let (longest, last) = holds.holders(execution, wait);
        wait.holder = named.or(longest);
        let assumed = named.map(|unit| LockRelease { unit, time: wait.life.to.0, is_certain: false });
        wait.release = release_of_lock(execution, wait, &related)?.or(last).or(assumed);
    }
    Ok(waits)
}

/// The values of the states in which units wait for locks.
fn wait_values(execution: &Execution) -> Result<BTreeSet<ValueId>, QueryError> {
    let is_counted = |value: ValueId| {
        let category = execution.categories().category(value);
        matches!(category, ActivityCategory::Idle | ActivityCategory::Overhead)
    };
    let of_units = execution.model().values.iter();
    let of_units = of_units.filter(|value| execution.units().state_types.contains(&value.ty) && is_counted(value.id));
    let mut lock_values: BTreeSet<ValueId> = BTreeSet::new();
    let mut other_values: BTreeSet<ValueId> = BTreeSet::new();
    for value in of_units {
        if is_lock_wait(&value.name) {
            lock_values.insert(value.id)
        } else {
            other_values.insert(value.id)
        };
    }
    // The first states of a value show whether its states have the field.
    for group in execution.units().list().iter().take(EXAMINED_UNITS).flat_map(|unit| &unit.groups) {
        for depth in 0..group.depths {
            let lane = StateLaneId { container: group.container, ty: group.ty, depth };
            for state in execution.source().states(lane, group.life, EXAMINED_STATES)?.items {
                if other_values.remove(&state.value) && waits_for_lock(execution, state.id)? {
                    lock_values.insert(state.value);
                }
            }
        }
    }
    Ok(lock_values)
}

/// Whether a state has a field that refers to a lock. A lock is a container outside of all units.
fn waits_for_lock(execution: &Execution, state: EntityId) -> Result<bool, QueryError> {
    let facts = execution.source().facts_without_paths(state)?;
    if !facts.fields.iter().any(|(name, _)| name == WAITS_FOR) {
        return Ok(false);
    }
    let related = execution.source().related_entities(state, MAX_RELATED)?;
    Ok(containers(&related).any(|container| execution.units().owner(container).is_none()))
}

fn containers(entities: &[EntityId]) -> impl Iterator<Item = ContainerId> {
    entities.iter().filter_map(|id| match id {
        EntityId::Container(container) => Some(*container),
        _ => None,
    })
}

/// The first unit among some entities, except for the one that waits.
fn other_unit(execution: &Execution, wait: &LockWait, entities: &[EntityId]) -> Option<u32> {
    let units = containers(entities).filter_map(|container| execution.units().owner(container));
    units.into_iter().find(|unit| *unit != wait.unit)
}

/// The unit that the state of a lock names as the owner, except for the one that waits.
fn owner_of_state(execution: &Execution, wait: &LockWait, state: EntityId) -> Result<Option<u32>, QueryError> {
    let source = execution.source();
    if !source.facts_without_paths(state)?.fields.iter().any(|(name, _)| name == OWNED_BY) {
        return Ok(None);
    }
    Ok(other_unit(execution, wait, &source.related_entities(state, MAX_RELATED)?))
}

/// The unit that fields of the state, or of the state of the lock, name as the owner.
fn related_holder(execution: &Execution, wait: &LockWait, entities: &[EntityId]) -> Result<Option<u32>, QueryError> {
    if let Some(unit) = other_unit(execution, wait, entities) {
        return Ok(Some(unit));
    }
    let locks: Vec<ContainerId> = containers(entities).collect();
    for id in entities.iter().filter(|id| matches!(id, EntityId::State(_))) {
        let container = execution.source().facts_without_paths(*id)?.container;
        if locks.contains(&container)
            && let Some(unit) = owner_of_state(execution, wait, *id)?
        {
            return Ok(Some(unit));
        }
    }
    Ok(None)
}

/// The end of the last state of the lock in which another unit owns it, before the wait ends.
fn release_of_lock(
    execution: &Execution,
    wait: &LockWait,
    entities: &[EntityId],
) -> Result<Option<LockRelease>, QueryError> {
    let source = execution.source();
    let locks = containers(entities).filter(|container| execution.units().owner(*container).is_none());
    for container in locks {
        for ty in execution.model().types.iter().filter(|ty| ty.kind == PajeTypeKind::State) {
            for depth in 0..source.depths(container, ty.id) {
                let lane = StateLaneId { container, ty: ty.id, depth };
                for state in last_states(execution, lane, wait.life)?.iter().rev() {
                    if let Some(unit) = owner_of_state(execution, wait, state.id)? {
                        let (released, end) = (state.life.to.0, wait.life.to.0);
                        return Ok(Some(LockRelease { unit, time: released.min(end), is_certain: released <= end }));
                    }
                }
            }
        }
    }
    Ok(None)
}

/// The last states of a lane in a time range, at most [`LOCK_STATES`], by time.
fn last_states(execution: &Execution, lane: StateLaneId, range: TimeRange) -> Result<Vec<StateEntity>, QueryError> {
    let (mut from, to) = (range.from.0, range.to.0);
    loop {
        let last = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
        let list = execution.source().states(lane, last, LOCK_STATES)?;
        if list.total <= list.items.len() as u64 || to.saturating_sub(from) <= 1 {
            return Ok(list.items);
        }
        from += (to - from) / 2;
    }
}

/// Visits the states of some values in all units.
fn visit_states(
    execution: &Execution,
    range: TimeRange,
    values: &BTreeSet<ValueId>,
    mut visit: impl FnMut(u32, EntityId, ValueId, TimeRange),
) -> Result<(), QueryError> {
    for (unit, index) in execution.units().list().iter().zip(0_u32..) {
        for group in &unit.groups {
            entity_walk::nested_states(execution.source(), (group.container, group.ty), range, |state| {
                if values.contains(&state.value) {
                    visit(index, state.id, state.value, state.life);
                }
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// The times in which units hold locks.
struct LockHolds {
    /// By start.
    list: Vec<LockHold>,
    /// The latest end of each hold and all before it.
    ends: Vec<i64>,
    /// For each value of waits, the holds of its lock.
    of_waits: FxHashMap<ValueId, HoldValues>,
    values: BTreeSet<ValueId>,
}

impl LockHolds {
    fn new(execution: &Execution, range: TimeRange) -> Result<Self, QueryError> {
        let of_units = execution.model().values.iter();
        let of_units = of_units.filter(|value| execution.units().state_types.contains(&value.ty));
        let values: BTreeSet<ValueId> =
            of_units.filter(|value| is_lock_hold(&value.name)).map(|value| value.id).collect();
        let mut list = Vec::new();
        if !values.is_empty() {
            visit_states(execution, range, &values, |unit, _, value, life| {
                list.push(LockHold { unit, value, from: life.from.0, to: life.to.0 });
            })?;
        }
        list.sort_by_key(|hold| hold.from);
        let mut latest = i64::MIN;
        let latest_end = |hold: &LockHold| {
            latest = latest.max(hold.to);
            latest
        };
        let ends = list.iter().map(latest_end).collect();
        Ok(Self { list, ends, of_waits: FxHashMap::default(), values })
    }

    /// The unit that holds the lock for most of a wait, and the release by the last one.
    fn holders(&mut self, execution: &Execution, wait: &LockWait) -> (Option<u32>, Option<LockRelease>) {
        let Self { list, ends, of_waits, values } = self;
        let of_wait = of_waits.entry(wait.value).or_insert_with(|| HoldValues::new(execution, values, wait.value));
        let (from, to) = (wait.life.from.0, wait.life.to.0);
        let first = ends.partition_point(|end| *end <= from);
        let end = list.partition_point(|hold| hold.from < to);
        let mut sums: FxHashMap<u32, i64> = FxHashMap::default();
        let (mut last, mut is_exclusive): (Option<&LockHold>, bool) = (None, of_wait.have_same_lock);
        for hold in list.get(first..end).unwrap_or_default() {
            let nanos = hold.to.min(to) - hold.from.max(from);
            if nanos > 0 && hold.unit != wait.unit && of_wait.values.contains(&hold.value) {
                *sums.entry(hold.unit).or_default() += nanos;
                // Holds at the same time are those of several locks, or those of readers.
                is_exclusive &= last.is_none_or(|last| last.to <= hold.from || last.unit == hold.unit);
                last = Some(hold);
            }
        }
        let release = last.map(|hold| LockRelease {
            unit: hold.unit,
            time: hold.to.min(to),
            is_certain: is_exclusive && hold.to <= to,
        });
        let longest = sums.into_iter().max_by_key(|(unit, nanos)| (*nanos, std::cmp::Reverse(*unit)));
        (longest.map(|(unit, _)| unit), release)
    }
}

/// The values of the holds of the lock for which states of a value wait.
struct HoldValues {
    values: Vec<ValueId>,
    /// Whether their names have the lock of the wait. Otherwise they are all holds.
    have_same_lock: bool,
}

impl HoldValues {
    fn new(execution: &Execution, values: &BTreeSet<ValueId>, wait: ValueId) -> Self {
        let name = |value: ValueId| execution.model().values.get(value.index()).map_or("", |info| info.name.as_str());
        let lock = lock_of(name(wait));
        let same: Vec<ValueId> = values.iter().copied().filter(|value| lock_of(name(*value)) == lock).collect();
        match same.is_empty() {
            true => Self { values: values.iter().copied().collect(), have_same_lock: false },
            false => Self { values: same, have_same_lock: true },
        }
    }
}
