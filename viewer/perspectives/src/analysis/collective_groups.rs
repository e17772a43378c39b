//! [`CollectiveGroup`]: statistics of the collective operations of a state and a communicator.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::analysis::collective_groups::collective_groups;
//! use tumit_perspectives::analysis::collectives::CollectiveSet;
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let operations = CollectiveSet::new(&execution)?;
//! let groups = collective_groups(&execution, &operations, execution.extent());
//! // One thread enters the barrier 1.5 s before the other one.
//! assert_eq!((groups[0].state.as_str(), groups[0].wait_nanos), ("Barrier", 1_500_000_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use serde::Serialize;
use tumit_paje::collective::CollectiveKind;
use tumit_viewer::query::{TimeRange, ValueId};
use tumit_viewer::stats::collective::Collective;

use crate::analysis::collectives::CollectiveSet;
use crate::execution::Execution;

/// A unit, and its part of the waits. In JSON, they are an array.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "(String, f64)")]
#[non_exhaustive]
pub struct UnitShare {
    /// The name of the unit.
    pub unit: String,
    /// Its part, from 0 to 1.
    pub share: f64,
}

impl From<UnitShare> for (String, f64) {
    fn from(share: UnitShare) -> Self {
        (share.unit, share.share)
    }
}

/// Statistics of the collective operations of a state and a communicator.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CollectiveGroup {
    /// The name of the state.
    pub state: String,
    /// The kind of the operations.
    pub kind: CollectiveKind,
    /// The communicator. Empty if it is unknown, or there is only one.
    pub communicator: String,
    /// Number of operations.
    pub operations: u64,
    /// Number of parts of all operations.
    pub parts: u64,
    /// Number of parts of unknown operations, because records are missing. All communicators of a
    /// state together.
    pub parts_without_operation: u64,
    /// Sum of all waits in nanoseconds.
    pub wait_nanos: i128,
    /// The longest wait in nanoseconds.
    pub longest_wait: i64,
    /// The sum of all bytes that units send or receive, if it is known.
    pub bytes: Option<u64>,
    /// The unit for which the others wait most, and its part of the waits from 0 to 1.
    pub main_cause: Option<UnitShare>,
    /// Whether the operations are guessed from the name of the state. Roots are then unknown.
    pub is_guess: bool,
    /// Whether roots are unknown, so that waits for them are not counted.
    pub has_unknown_roots: bool,
}

impl CollectiveGroup {
    /// The mean wait of a part, in nanoseconds.
    pub fn mean_wait(&self) -> i64 {
        i64::try_from(self.wait_nanos / i128::from(self.parts.max(1))).unwrap_or(i64::MAX)
    }
}

/// The statistics of the operations that begin in a time range, those with the longest waits first.
pub fn collective_groups(execution: &Execution, collectives: &CollectiveSet, range: TimeRange) -> Vec<CollectiveGroup> {
    let mut groups: BTreeMap<(ValueId, CollectiveKind, &str), Vec<&Collective>> = BTreeMap::new();
    for operation in &collectives.list {
        if operation.parts.first().is_some_and(|part| range.from.0 <= part.enter && part.enter < range.to.0) {
            let key = (operation.value, operation.kind, operation.communicator.as_str());
            groups.entry(key).or_default().push(operation);
        }
    }
    let group = |((value, kind, communicator), operations): ((ValueId, CollectiveKind, &str), Vec<&Collective>)| {
        let waits = || {
            operations.iter().flat_map(|operation| operation.parts.iter().map(|part| operation.wait_of(part).max(0)))
        };
        let sizes = operations.iter().flat_map(|operation| operation.parts.iter().filter_map(|part| part.bytes));
        let wait_nanos = waits().map(i128::from).sum();
        CollectiveGroup {
            state: execution.model().values.get(value.index()).map_or_else(String::new, |info| info.name.clone()),
            kind,
            communicator: communicator.to_owned(),
            operations: operations.len() as u64,
            parts: operations.iter().map(|operation| operation.parts.len() as u64).sum(),
            parts_without_operation: collectives.parts_without_operation.get(&value).copied().unwrap_or(0),
            wait_nanos,
            longest_wait: waits().max().unwrap_or(0),
            bytes: sizes.fold(None, |sum: Option<u64>, size| Some(sum.unwrap_or(0).saturating_add(size))),
            main_cause: main_cause(execution, &operations, wait_nanos),
            is_guess: collectives.guessed.binary_search(&value).is_ok(),
            has_unknown_roots: kind.has_root() && operations.iter().any(|operation| operation.root().is_none()),
        }
    };
    let mut groups_list: Vec<CollectiveGroup> = groups.into_iter().map(group).collect();
    groups_list.sort_by_key(|group| std::cmp::Reverse(group.wait_nanos));
    groups_list
}

/// The unit for which the others wait most.
#[expect(clippy::cast_precision_loss, reason = "a part is rounded")]
fn main_cause(execution: &Execution, operations: &[&Collective], total: i128) -> Option<UnitShare> {
    let mut sums: BTreeMap<u32, i128> = BTreeMap::new();
    for operation in operations {
        for part in &operation.parts {
            if let Some(awaited) = operation.wait_cause(part) {
                *sums.entry(awaited.unit).or_default() += i128::from(operation.wait_of(part).max(0));
            }
        }
    }
    let (unit, nanos) = sums.into_iter().max_by_key(|(unit, nanos)| (*nanos, std::cmp::Reverse(*unit)))?;
    let unit = execution.units().list().get(unit as usize)?.name.clone();
    (total > 0).then(|| UnitShare { unit, share: nanos as f64 / total as f64 })
}
