//! Waits for locks, with the units that hold the locks meanwhile.
//!
//! A state is a wait for a lock if its category is not busy, and if its name describes such a wait,
//! or a field names the lock (`waits for`). The cause is the owner that a field of the state, or of
//! the state of the lock, names (`owned by`). Otherwise it is the unit that is in a state such as
//! `holds mutex` for most of the wait.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{ContainerId, EntityId, QueryError, StateLaneId, TimeRange, ValueId, entity_walk};

use crate::analysis::lock_names::{is_lock_hold, is_lock_wait, lock_of};
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
}

/// A time in which a unit holds a lock.
#[derive(Clone, Copy, Debug)]
struct LockHold {
    unit: u32,
    value: ValueId,
    from: i64,
    to: i64,
}

/// Finds the waits for locks that overlap a time range.
///
/// # Errors
/// If the source fails.
pub(super) fn lock_waits(execution: &Execution, range: TimeRange) -> Result<Vec<LockWait>, QueryError> {
    let values = wait_values(execution)?;
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let mut waits = Vec::new();
    visit_states(execution, range, &values, |unit, state, value, life| {
        waits.push(LockWait { unit, state, value, life, holder: None });
    })?;
    let mut holds = LockHolds::new(execution, range)?;
    for wait in &mut waits {
        wait.holder = match related_holder(execution, wait)? {
            None => holds.holder(execution, wait),
            holder => holder,
        };
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
    let mut found: BTreeSet<ValueId> = BTreeSet::new();
    let mut others: BTreeSet<ValueId> = BTreeSet::new();
    for value in of_units {
        if is_lock_wait(&value.name) {
            found.insert(value.id)
        } else {
            others.insert(value.id)
        };
    }
    // The first states of a value show whether its states have the field.
    for group in execution.units().list().iter().take(EXAMINED_UNITS).flat_map(|unit| &unit.groups) {
        for depth in 0..group.depths {
            let lane = StateLaneId { container: group.container, ty: group.ty, depth };
            for state in execution.source().states(lane, group.life, EXAMINED_STATES)?.items {
                if others.remove(&state.value) && waits_for_lock(execution, state.id)? {
                    found.insert(state.value);
                }
            }
        }
    }
    Ok(found)
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

fn containers(related: &[EntityId]) -> impl Iterator<Item = ContainerId> {
    related.iter().filter_map(|id| match id {
        EntityId::Container(container) => Some(*container),
        _ => None,
    })
}

/// The unit that fields of the state, or of the state of the lock, name as the owner.
fn related_holder(execution: &Execution, wait: &LockWait) -> Result<Option<u32>, QueryError> {
    let source = execution.source();
    let related = source.related_entities(wait.state, MAX_RELATED)?;
    let is_other = |unit: &u32| *unit != wait.unit;
    let owner = |related: &[EntityId]| {
        containers(related).filter_map(|container| execution.units().owner(container)).find(is_other)
    };
    if let Some(unit) = owner(&related) {
        return Ok(Some(unit));
    }
    let locks: Vec<ContainerId> = containers(&related).collect();
    for id in related.iter().filter(|id| matches!(id, EntityId::State(_))) {
        let facts = source.facts_without_paths(*id)?;
        if locks.contains(&facts.container) && facts.fields.iter().any(|(name, _)| name == OWNED_BY) {
            return Ok(owner(&source.related_entities(*id, MAX_RELATED)?));
        }
    }
    Ok(None)
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
    /// The values of the holds of the lock for which states of a value wait.
    of_waits: FxHashMap<ValueId, Vec<ValueId>>,
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

    /// The unit that holds the lock for most of a wait.
    fn holder(&mut self, execution: &Execution, wait: &LockWait) -> Option<u32> {
        let Self { list, ends, of_waits, values } = self;
        let of_wait = of_waits.entry(wait.value).or_insert_with(|| hold_values(execution, values, wait.value));
        let (from, to) = (wait.life.from.0, wait.life.to.0);
        let first = ends.partition_point(|end| *end <= from);
        let end = list.partition_point(|hold| hold.from < to);
        let mut sums: FxHashMap<u32, i64> = FxHashMap::default();
        for hold in list.get(first..end).unwrap_or_default() {
            let nanos = hold.to.min(to) - hold.from.max(from);
            if nanos > 0 && hold.unit != wait.unit && of_wait.contains(&hold.value) {
                *sums.entry(hold.unit).or_default() += nanos;
            }
        }
        sums.into_iter().max_by_key(|(unit, nanos)| (*nanos, std::cmp::Reverse(*unit))).map(|(unit, _)| unit)
    }
}

/// The values of the holds of the lock for which states of a value wait. If no name fits, all.
fn hold_values(execution: &Execution, values: &BTreeSet<ValueId>, wait: ValueId) -> Vec<ValueId> {
    let name = |value: ValueId| execution.model().values.get(value.index()).map_or("", |info| info.name.as_str());
    let lock = lock_of(name(wait));
    let same: Vec<ValueId> = values.iter().copied().filter(|value| lock_of(name(*value)) == lock).collect();
    if same.is_empty() { values.iter().copied().collect() } else { same }
}
