//! Collective operations that are guessed from the names of states.
//!
//! The n-th state of a value such as `MPI_Barrier` in each unit belongs to the n-th operation. A
//! value is used only if all units that have it have the same number of such states, and if the
//! states of each operation are consistent with its kind: in a barrier, no unit leaves before the
//! last one enters. Roots are unknown. `MPI_Finalize` counts as a barrier if it is consistent with
//! one: most libraries wait in it for all processes, but MPI does not demand it.

use std::collections::{BTreeMap, BTreeSet};

use tumit_paje::collective::CollectiveKind;
use tumit_viewer::query::{GlobalNanos, QueryError, StateLaneId, TimeRange, ValueId, entity_walk};
use tumit_viewer::stats::collective::{Collective, CollectivePart};

use crate::execution::Execution;

/// The name of the end of MPI, in lower case.
const FINALIZE: &str = "mpi_finalize";

/// The kind of an operation by the name of its states, such as `MPI_Allreduce`.
fn kind_of_name(name: &str) -> Option<CollectiveKind> {
    const WORDS: [(&str, CollectiveKind); 11] = [
        ("barrier", CollectiveKind::Barrier),
        (FINALIZE, CollectiveKind::Barrier),
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

/// The operations of the values without fields of operations.
#[derive(Default)]
pub(super) struct GuessedOperations {
    pub(super) list: Vec<Collective>,
    /// The values of the operations.
    pub(super) guessed: Vec<ValueId>,
    /// The values that look like collective operations, but whose states do not match.
    pub(super) unmatched_values: Vec<ValueId>,
}

impl GuessedOperations {
    /// Finds the operations. Takes O(states) if there are values with such names.
    pub(super) fn new(execution: &Execution) -> Result<Self, QueryError> {
        let mut all = Self::default();
        for (value, PartLists { kind, lists }) in part_lists(execution)? {
            match operations(value, kind, &lists) {
                Some(operations) => {
                    all.list.extend(operations);
                    all.guessed.push(value);
                }
                None if is_finalize(execution, value) => {}
                None => all.unmatched_values.push(value),
            }
        }
        Ok(all)
    }
}

fn is_finalize(execution: &Execution, value: ValueId) -> bool {
    let value = execution.model().values.get(value.index());
    value.is_some_and(|value| value.name.to_lowercase().contains(FINALIZE))
}

/// The states of a value in each unit that has any.
struct PartLists {
    kind: CollectiveKind,
    lists: Vec<Vec<CollectivePart>>,
}

/// The states of each value with the name of a collective operation.
fn part_lists(execution: &Execution) -> Result<BTreeMap<ValueId, PartLists>, QueryError> {
    let model = execution.model();
    // The calls of non-blocking operations have the names of operations of another state type.
    let described = model.collective_values.iter().filter_map(|value| model.values.get(value.index()));
    let described_names: BTreeSet<&str> = described.map(|value| value.name.as_str()).collect();
    let kinds: BTreeMap<ValueId, CollectiveKind> = (model.values.iter())
        .filter(|value| execution.units().state_types.contains(&value.ty))
        .filter(|value| !described_names.contains(value.name.as_str()))
        .filter_map(|value| Some((value.id, kind_of_name(&value.name)?)))
        .collect();
    if kinds.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut by_value: BTreeMap<ValueId, PartLists> = BTreeMap::new();
    for (unit, index) in execution.units().list().iter().zip(0_u32..) {
        let mut parts: BTreeMap<ValueId, Vec<CollectivePart>> = BTreeMap::new();
        for group in &unit.groups {
            // The last unit of an operation may leave it as it enters, also at the end of its life.
            let life = TimeRange { to: GlobalNanos(group.life.to.0.saturating_add(1)), ..group.life };
            for depth in 0..execution.source().depths(group.container, group.ty) {
                let lane = StateLaneId { container: group.container, ty: group.ty, depth };
                entity_walk::states(execution.source(), lane, life, |state| {
                    let value = state.value;
                    if kinds.contains_key(&value) {
                        let (enter, leave) = (state.life.from.0, state.life.to.0);
                        let (unit, state) = (index, state.id);
                        let (wait_from, is_root, bytes) = (enter, false, None);
                        let part = CollectivePart { unit, state, enter, leave, wait_from, is_root, bytes };
                        parts.entry(value).or_default().push(part);
                    }
                    Ok(())
                })?;
            }
        }
        for (value, mut list) in parts {
            list.sort_by_key(|part| (part.enter, part.leave));
            let lists = by_value.entry(value).or_insert_with(|| PartLists { kind: kinds[&value], lists: Vec::new() });
            lists.lists.push(list);
        }
    }
    Ok(by_value)
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
        let is_consistent = kind.has_root() || parts.iter().all(|part| part.leave >= last_enter);
        is_consistent.then_some(Collective { value, kind, communicator: String::new(), parts })
    };
    (0..count).map(operation).collect()
}
