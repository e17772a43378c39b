//! Collective operations that the fields of states describe.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tumit_paje::collective::{BYTES, COMMUNICATOR, CollectiveKind, IS_ROOT, KIND, OPERATION};
use tumit_viewer::query::{EntityId, PajeTypeKind, QueryError, TypeId, ValueId, entity_walk};

use crate::analysis::collectives::collective::{Collective, CollectivePart};
use crate::execution::Execution;

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
#[derive(Default)]
pub(super) struct RecordedOperations {
    pub(super) list: Vec<Collective>,
    /// The number of parts without an operation, by value.
    pub(super) parts_without_operation: BTreeMap<ValueId, u64>,
}

impl RecordedOperations {
    /// Finds the operations. Takes O(states) of the units if the trace has any.
    pub(super) fn new(execution: &Execution) -> Result<Self, QueryError> {
        let PartsByOperation { operations, without_operation } = parts_by_operation(execution)?;
        let mut list = Vec::new();
        for parts in operations.into_values() {
            list.extend(operation(execution, parts)?);
        }
        // Hash tables have no order.
        list.sort_by_key(|operation: &Collective| {
            operation.parts.first().map(|part| (part.enter, part.unit, part.state))
        });
        Ok(Self { list, parts_without_operation: without_operation })
    }
}

/// Collects the parts of all units.
fn parts_by_operation(execution: &Execution) -> Result<PartsByOperation, QueryError> {
    let model = execution.model();
    let values = &model.collective_values;
    let mut types: Vec<TypeId> = values.iter().map(|value| model.values[value.index()].ty).collect();
    types.sort_unstable();
    types.dedup();
    types.retain(|ty| model.types[ty.index()].kind == PajeTypeKind::State);
    if types.is_empty() {
        return Ok(PartsByOperation::default());
    }
    let (source, mut found) = (execution.source(), PartsByOperation::default());
    let mut batch: Vec<FoundState> = Vec::new();
    for info in source.containers().iter() {
        let Some(unit) = execution.units().owner(info.id) else { continue };
        for ty in types.iter().filter(|ty| source.depths(info.id, **ty) > 0) {
            entity_walk::nested_states(source, (info.id, *ty), info.life, |state| {
                if values.binary_search(&state.value).is_err() {
                    return Ok(());
                }
                let (enter, leave) = (state.life.from.0, state.life.to.0);
                let part = CollectivePart { unit, state: state.id, enter, leave, is_root: false, bytes: None };
                batch.push(FoundState { value: state.value, part });
                if batch.len() >= FIELDS_AT_ONCE { found.add(execution, &mut batch) } else { Ok(()) }
            })?;
        }
    }
    found.add(execution, &mut batch)?;
    Ok(found)
}

impl PartsByOperation {
    /// Reads the fields of states and adds them to their operations.
    fn add(&mut self, execution: &Execution, batch: &mut Vec<FoundState>) -> Result<(), QueryError> {
        let ids: Vec<EntityId> = batch.iter().map(|state| state.part.state).collect();
        let source = execution.source();
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
}

/// A number of a field as a count. `None` if it is negative or has a fraction.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers that are not negative")]
fn as_count(number: f64) -> Option<u64> {
    (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
}

/// The operation of some parts. `None` if its kind is unknown.
fn operation(execution: &Execution, mut states: Vec<FoundState>) -> Result<Option<Collective>, QueryError> {
    states.sort_by_key(|state| (state.part.enter, state.part.unit, state.part.state));
    let Some(first) = states.first() else { return Ok(None) };
    let facts = execution.source().facts_without_paths(first.part.state)?;
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
