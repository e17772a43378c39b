//! [`RecordedOperations`]: the collective operations that the fields of states describe
//! ([`tumit_paje::collective`]).

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_paje::collective::{BYTES, COMMUNICATOR, CollectiveKind, IS_ROOT, KIND, OPERATION};

use super::collective::{Collective, CollectivePart};
use crate::query::entity_facts::number_of_facts;
use crate::query::{
    ContainerId, EntityId, PajeTypeKind, QueryError, StateLaneId, TimeRange, TimelineSource, TypeId, ValueId,
    entity_walk,
};

/// Number of states per request for fields.
const FIELDS_AT_ONCE: usize = 1 << 14;

/// A state of a value that has parts of collective operations.
#[derive(Clone, Copy)]
struct FoundState {
    value: ValueId,
    part: CollectivePart,
}

/// The parts of each operation by its number.
#[derive(Default)]
struct PartsByOperation {
    operations: FxHashMap<u64, Vec<FoundState>>,
    without_operation: BTreeMap<ValueId, u64>,
}

/// The operations that fields describe.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedOperations {
    /// The operations by the time at which the first unit enters.
    pub list: Vec<Collective>,
    /// The number of parts without an operation, because records are missing, by value.
    pub parts_without_operation: BTreeMap<ValueId, u64>,
}

impl RecordedOperations {
    /// The operations with a part in a time range, with all their parts. `unit_of` gives the unit
    /// of a container. Containers without a unit are left out. Takes O(states of the time range) if
    /// the trace has any operation, otherwise O(1).
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn new(
        source: &dyn TimelineSource,
        time_range: TimeRange,
        unit_of: impl Fn(ContainerId) -> Option<u32>,
    ) -> Result<Self, QueryError> {
        let mut parts_by_operation = PartsByOperation::collect_parts(source, time_range, &unit_of)?;
        let extent = source.extent();
        if time_range.from > extent.from || time_range.to < extent.to {
            parts_by_operation.complete(source, &unit_of)?;
        }
        let mut list = Vec::new();
        for parts in parts_by_operation.operations.into_values() {
            list.extend(operation(source, parts)?);
        }
        // Hash tables have no order.
        list.sort_by_key(|operation: &Collective| {
            operation.parts.first().map(|part| (part.enter, part.unit, part.state))
        });
        Ok(Self { list, parts_without_operation: parts_by_operation.without_operation })
    }
}

impl PartsByOperation {
    /// Collects the parts of all units that overlap a time range.
    fn collect_parts(
        source: &dyn TimelineSource,
        time_range: TimeRange,
        unit_of: &dyn Fn(ContainerId) -> Option<u32>,
    ) -> Result<Self, QueryError> {
        let model = source.model();
        let values = &model.collective_values;
        let mut types: Vec<TypeId> = values.iter().map(|value| model.values[value.index()].ty).collect();
        types.sort_unstable();
        types.dedup();
        types.retain(|ty| model.types[ty.index()].kind == PajeTypeKind::State);
        let mut parts_by_operation = Self::default();
        if types.is_empty() {
            return Ok(parts_by_operation);
        }
        let mut batch: Vec<FoundState> = Vec::new();
        for info in source.containers().iter() {
            let Some(unit) = unit_of(info.id) else { continue };
            let lanes = types.iter().flat_map(|&ty| {
                (0..source.depths(info.id, ty)).map(move |depth| StateLaneId { container: info.id, ty, depth })
            });
            for lane in lanes {
                entity_walk::states(source, lane, time_range, |state| {
                    if values.binary_search(&state.value).is_err() {
                        return Ok(());
                    }
                    let (enter, leave) = (state.life.from.0, state.life.to.0);
                    let (state_id, wait_from) = (state.id, enter);
                    let part =
                        CollectivePart { unit, state: state_id, enter, leave, wait_from, is_root: false, bytes: None };
                    batch.push(FoundState { value: state.value, part });
                    if batch.len() >= FIELDS_AT_ONCE { parts_by_operation.add(source, &mut batch) } else { Ok(()) }
                })?;
            }
        }
        parts_by_operation.add(source, &mut batch)?;
        Ok(parts_by_operation)
    }

    /// Reads the fields of states and adds them to their operations.
    fn add(&mut self, source: &dyn TimelineSource, batch: &mut Vec<FoundState>) -> Result<(), QueryError> {
        let ids: Vec<EntityId> = batch.iter().map(|state| state.part.state).collect();
        let operations = source.number_fields(&ids, OPERATION)?;
        let roots = source.number_fields(&ids, IS_ROOT)?;
        let sizes = source.number_fields(&ids, BYTES)?;
        for (((state, operation), is_root), bytes) in batch.drain(..).zip(operations).zip(roots).zip(sizes) {
            let Some(operation) = operation.and_then(as_count) else {
                *self.without_operation.entry(state.value).or_default() += 1;
                continue;
            };
            let part = CollectivePart { is_root: is_root == Some(1.0), bytes: bytes.and_then(as_count), ..state.part };
            self.operations.entry(operation).or_default().push(FoundState { part, ..state });
        }
        Ok(())
    }

    /// Adds the parts of the operations that do not overlap the time range.
    fn complete(
        &mut self,
        source: &dyn TimelineSource,
        unit_of: &dyn Fn(ContainerId) -> Option<u32>,
    ) -> Result<(), QueryError> {
        #[expect(clippy::iter_over_hash_type, reason = "each operation is completed separately")]
        for states in self.operations.values_mut() {
            let Some(&first) = states.first() else { continue };
            let parts = source.operation_parts(first.part.state)?;
            if parts.len() <= states.len() {
                continue;
            }
            let read_ids: FxHashSet<EntityId> = states.iter().map(|state| state.part.state).collect();
            for operation_part in parts.iter().filter(|part| !read_ids.contains(&part.id)) {
                let facts = source.facts_without_paths(operation_part.id)?;
                let Some(unit) = unit_of(facts.container) else { continue };
                let part = CollectivePart {
                    unit,
                    state: operation_part.id,
                    enter: facts.life.from.0,
                    leave: facts.life.to.0,
                    wait_from: facts.life.from.0,
                    is_root: number_of_facts(&facts, IS_ROOT) == Some(1.0),
                    bytes: number_of_facts(&facts, BYTES).and_then(as_count),
                };
                states.push(FoundState { part, ..first });
            }
        }
        Ok(())
    }
}

/// A number of a field as a count. `None` if it is negative or has a fraction.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers that are not negative")]
fn as_count(number: f64) -> Option<u64> {
    (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
}

/// The operation of some parts. `None` if its kind is unknown.
fn operation(source: &dyn TimelineSource, mut states: Vec<FoundState>) -> Result<Option<Collective>, QueryError> {
    states.sort_by_key(|state| (state.part.enter, state.part.unit, state.part.state));
    let Some(first) = states.first() else { return Ok(None) };
    let facts = source.facts_without_paths(first.part.state)?;
    let field = |name: &str| {
        facts.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, text)| text.as_str())
    };
    let Some(kind) = field(KIND).and_then(CollectiveKind::of_word) else { return Ok(None) };
    let mut counts: BTreeMap<ValueId, usize> = BTreeMap::new();
    states.iter().for_each(|state| *counts.entry(state.value).or_default() += 1);
    let value = counts.into_iter().max_by_key(|(value, count)| (*count, std::cmp::Reverse(*value)));
    Ok(value.map(|(value, _)| Collective {
        value,
        kind,
        communicator: field(COMMUNICATOR).unwrap_or_default().to_owned(),
        parts: states.into_iter().map(|state| state.part).collect(),
    }))
}
