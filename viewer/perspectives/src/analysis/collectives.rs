//! [`CollectiveSet`]: the operations in which several units take part.
//!
//! Fields of states describe the operations of a trace, if its rules declare them
//! ([`tumit_paje::collective`]). The other operations are guessed from the names of states.

mod guess;

use std::collections::BTreeMap;

use tumit_viewer::query::{GlobalNanos, QueryError, TimeRange, ValueId};
use tumit_viewer::stats::RecordedOperations;
use tumit_viewer::stats::collective::Collective;

use crate::analysis::collectives::guess::GuessedOperations;
use crate::execution::Execution;

/// The collective operations of an execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectiveSet {
    /// The operations by the time at which the first unit enters.
    pub list: Vec<Collective>,
    /// The values with guessed operations, by id.
    pub guessed: Vec<ValueId>,
    /// The values that look like collective operations, but whose states do not match.
    pub unmatched: Vec<ValueId>,
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
        let GuessedOperations { list: guessed_list, guessed, unmatched } = GuessedOperations::new(execution)?;
        list.extend(guessed_list);
        let mut all = Self { list, guessed, unmatched, parts_without_operation };
        all.list.sort_by_key(|operation| operation.parts.first().map_or(i64::MAX, |part| part.enter));
        Ok(all)
    }
}
