//! [`Collective`]: an operation in which several units take part, found by the names of states.
//!
//! The n-th state of a value such as `MPI_Barrier` in each unit belongs to the n-th operation. A
//! value is used only if all units that have it have the same number of such states, and if the
//! states of each operation are consistent with its kind: in a barrier, no unit leaves before the
//! last one enters.

use std::collections::BTreeMap;

use tumit_viewer::query::{EntityId, QueryError, ValueId, entity_walk};

use crate::execution::Execution;

/// The dependences of a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CollectiveKind {
    /// Each unit waits for all others.
    AllToAll,
    /// Each unit waits for one.
    OneToAll,
    /// One unit waits for all others.
    AllToOne,
}

impl CollectiveKind {
    /// The kind of an operation by the name of its states, such as `MPI_Allreduce`.
    pub fn of_name(name: &str) -> Option<Self> {
        const WORDS: [(&str, CollectiveKind); 10] = [
            ("barrier", CollectiveKind::AllToAll),
            ("allreduce", CollectiveKind::AllToAll),
            ("allgather", CollectiveKind::AllToAll),
            ("alltoall", CollectiveKind::AllToAll),
            ("reduce_scatter", CollectiveKind::AllToAll),
            ("bcast", CollectiveKind::OneToAll),
            ("broadcast", CollectiveKind::OneToAll),
            ("scatter", CollectiveKind::OneToAll),
            ("reduce", CollectiveKind::AllToOne),
            ("gather", CollectiveKind::AllToOne),
        ];
        let name = name.to_lowercase();
        WORDS.iter().find(|(word, _)| name.contains(word)).map(|(_, kind)| *kind)
    }
}

/// The part of a unit in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollectivePart {
    /// Index of the unit.
    pub unit: u32,
    /// Its state.
    pub state: EntityId,
    /// The time at which it enters the operation, in nanoseconds.
    pub enter: i64,
    /// The time at which it leaves the operation, in nanoseconds.
    pub leave: i64,
}

/// A collective operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// The value of its states.
    pub value: ValueId,
    /// Its dependences.
    pub kind: CollectiveKind,
    /// The parts by the time at which their units enter.
    pub parts: Vec<CollectivePart>,
}

impl Collective {
    /// The part of the unit that enters last.
    pub fn last_entered(&self) -> Option<&CollectivePart> {
        self.parts.last()
    }
}

/// The collective operations of an execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectiveSet {
    /// The operations by the time at which the first unit enters.
    pub list: Vec<Collective>,
    /// The values that look like collective operations, but whose states do not match.
    pub unmatched: Vec<ValueId>,
}

impl CollectiveSet {
    /// Finds the collective operations. Takes O(states).
    ///
    /// # Errors
    /// The errors of the source.
    pub fn new(execution: &Execution) -> Result<Self, QueryError> {
        let model = execution.model();
        let kinds: BTreeMap<ValueId, CollectiveKind> = (model.values.iter())
            .filter(|value| execution.units().state_types.contains(&value.ty))
            .filter_map(|value| Some((value.id, CollectiveKind::of_name(&value.name)?)))
            .collect();
        let mut all = Self::default();
        if kinds.is_empty() {
            return Ok(all);
        }
        let mut by_value: BTreeMap<ValueId, Vec<Vec<CollectivePart>>> = BTreeMap::new();
        for (unit, index) in execution.units().list().iter().zip(0_u32..) {
            let mut parts: BTreeMap<ValueId, Vec<CollectivePart>> = BTreeMap::new();
            for group in &unit.groups {
                entity_walk::nested_states(execution.source(), (group.container, group.ty), group.life, |state| {
                    if kinds.contains_key(&state.value) {
                        let (enter, leave) = (state.life.from.0, state.life.to.0);
                        let part = CollectivePart { unit: index, state: state.id, enter, leave };
                        parts.entry(state.value).or_default().push(part);
                    }
                    Ok(())
                })?;
            }
            for (value, list) in parts {
                by_value.entry(value).or_default().push(list);
            }
        }
        for (value, lists) in by_value {
            match operations(value, kinds[&value], &lists) {
                Some(operations) => all.list.extend(operations),
                None => all.unmatched.push(value),
            }
        }
        all.list.sort_by_key(|operation| operation.parts.first().map_or(i64::MAX, |part| part.enter));
        Ok(all)
    }
}

/// The operations of a value from the states of each unit. `None` if they do not match.
fn operations(value: ValueId, kind: CollectiveKind, lists: &[Vec<CollectivePart>]) -> Option<Vec<Collective>> {
    let count = lists.first()?.len();
    if lists.len() < 2 || lists.iter().any(|list| list.len() != count) {
        return None;
    }
    let operation = |number: usize| {
        let mut parts: Vec<CollectivePart> = lists.iter().map(|list| list[number]).collect();
        parts.sort_by_key(|part| (part.enter, part.unit));
        let last_enter = parts.last()?.enter;
        let is_consistent = kind != CollectiveKind::AllToAll || parts.iter().all(|part| part.leave >= last_enter);
        is_consistent.then_some(Collective { value, kind, parts })
    };
    (0..count).map(operation).collect()
}
