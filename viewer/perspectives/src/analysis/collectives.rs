//! [`CollectiveSet`]: the operations in which several units take part.
//!
//! Fields of states describe the operations of a trace, if its rules declare them
//! ([`tumit_paje::collective`]). The other operations are guessed from the names of states.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::analysis::collectives::CollectiveSet;
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let operations = CollectiveSet::new(&execution)?;
//! // The two states with the name `Barrier` are one operation.
//! assert_eq!((operations.list.len(), operations.list[0].parts.len()), (1, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod guess;

use std::collections::{BTreeMap, BTreeSet};

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{GlobalNanos, QueryError, TimeRange, TypeModel, ValueId};
use tumit_viewer::stats::RecordedOperations;
use tumit_viewer::stats::collective::{Collective, CollectivePart};

use crate::analysis::collectives::guess::GuessedOperations;
use crate::analysis::innermost_state::{InnermostState, innermost_state};
use crate::execution::Execution;

/// The collective operations of an execution.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CollectiveSet {
    /// The operations by the time at which the first unit enters.
    pub list: Vec<Collective>,
    /// The values with guessed operations, by id.
    pub guessed: Vec<ValueId>,
    /// The values that look like collective operations, but whose states do not match.
    pub unmatched_values: Vec<ValueId>,
    /// The number of parts of unknown operations, because records are missing, by value.
    pub parts_without_operation: BTreeMap<ValueId, u64>,
}

impl CollectiveSet {
    /// Finds the collective operations. Takes O(states) if there are any.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn new(execution: &Execution) -> Result<Self, QueryError> {
        let ever = TimeRange { from: GlobalNanos(i64::MIN), to: GlobalNanos(i64::MAX) };
        let unit_of = |container| execution.units().owner(container);
        let RecordedOperations { mut list, parts_without_operation } =
            RecordedOperations::new(execution.source(), ever, unit_of)?;
        let GuessedOperations { list: guessed_list, guessed, unmatched_values } = GuessedOperations::new(execution)?;
        list.extend(guessed_list);
        let mut all = Self { list, guessed, unmatched_values, parts_without_operation };
        for operation in &mut all.list {
            set_waits(execution, operation)?;
        }
        all.list.sort_by_key(|operation| operation.parts.first().map_or(i64::MAX, |part| part.enter));
        Ok(all)
    }

    /// A note about the guesses among some operations. `None` if none of them is guessed.
    pub(crate) fn guess_note<'a>(
        &self,
        model: &TypeModel,
        operations: impl Iterator<Item = &'a Collective>,
    ) -> Option<String> {
        let used: BTreeSet<ValueId> = operations.map(|operation| operation.value).collect();
        let guesses = used.iter().filter(|value| self.guessed.binary_search(value).is_ok());
        let names: Vec<&str> =
            guesses.filter_map(|value| model.values.get(value.index())).map(|value| value.name.as_str()).collect();
        (!names.is_empty()).then(|| {
            format!("The operations of {} are guessed from the names and the order of states.", names.join(", "))
        })
    }
}

/// Whether the states of an operation do not determine the activity of the units, so that the units
/// may work meanwhile. The parts of a non-blocking operation are such states.
pub(crate) fn is_nonblocking(execution: &Execution, operation: &Collective) -> bool {
    let value = execution.model().values.get(operation.value.index());
    value.is_some_and(|value| !execution.units().state_types.contains(&value.ty))
}

/// The state of a unit at the end of its part.
///
/// # Errors
/// The errors of the source.
pub(crate) fn state_at_end(execution: &Execution, part: &CollectivePart) -> Result<Option<InnermostState>, QueryError> {
    innermost_state(execution, part.unit as usize, part.leave.saturating_sub(1))
}

/// Sets the times from which units wait for a non-blocking operation: the begins of the states in
/// which they are when it ends, such as `MPI_Wait`. A unit that is busy then does not wait.
fn set_waits(execution: &Execution, operation: &mut Collective) -> Result<(), QueryError> {
    if !is_nonblocking(execution, operation) {
        return Ok(());
    }
    for part in &mut operation.parts {
        part.wait_from = match state_at_end(execution, part)? {
            Some(state) if state.category != ActivityCategory::Busy => part.enter.max(state.life.from.0),
            _ => part.leave,
        };
    }
    Ok(())
}
