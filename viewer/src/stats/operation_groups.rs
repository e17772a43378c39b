//! Statistics of collective operations: groups of operations of one kind and communicator.

use std::collections::BTreeMap;

use tumit_paje::collective::CollectiveKind;

use super::collective::{Collective, CollectivePart};
use super::recorded_operations::RecordedOperations;
use super::statistics_rows::RowGrouping;
use crate::query::{ContainerId, QueryError, TimeRange, TimelineSource, TypeId, ValueId};

/// The common properties of the operations of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OperationGroupKey {
    /// Type of the states.
    pub(crate) ty: TypeId,
    /// Value of most parts, unless all values are together.
    pub(crate) value: Option<ValueId>,
    /// The container of the counted parts, unless all containers are together.
    pub(crate) container: Option<ContainerId>,
    pub(crate) kind: CollectiveKind,
    /// Empty if it is unknown.
    pub(crate) communicator: String,
}

/// The longest of some waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongestWait {
    pub(crate) nanos: i64,
    /// The timestamp at which the waiting part begins.
    pub(crate) enter: i64,
    pub(crate) container: ContainerId,
}

/// Sums over the operations of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OperationSums {
    pub(crate) operations: u64,
    pub(crate) parts: u64,
    /// Bytes that the containers send or receive, if they are known.
    pub(crate) bytes: Option<u64>,
    /// Sum of the waits of all parts, in nanoseconds.
    pub(crate) wait: i128,
    /// `None` if no part waits.
    pub(crate) longest_wait: Option<LongestWait>,
    /// Number of the last counted operation.
    last: Option<usize>,
}

impl OperationSums {
    fn add(&mut self, number: usize, operation: &Collective, part: &CollectivePart) {
        if self.last.replace(number) != Some(number) {
            self.operations += 1;
        }
        self.parts += 1;
        if let Some(bytes) = part.bytes {
            self.bytes = Some(self.bytes.unwrap_or(0).saturating_add(bytes));
        }
        let nanos = operation.wait_of(part).max(0);
        self.wait += i128::from(nanos);
        if nanos > self.longest_wait.map_or(0, |longest| longest.nanos) {
            self.longest_wait = Some(LongestWait { nanos, enter: part.enter, container: ContainerId(part.unit) });
        }
    }

    /// The mean wait of a part, in nanoseconds.
    #[expect(clippy::cast_precision_loss, reason = "a mean to be displayed")]
    pub(crate) fn mean_wait(&self) -> f64 {
        self.wait as f64 / self.parts.max(1) as f64
    }
}

/// The groups of the operations with a part in a time range, those with the longest waits first.
/// All parts of such an operation count.
pub(crate) fn operation_groups(
    source: &dyn TimelineSource,
    time_range: TimeRange,
    grouping: RowGrouping,
) -> Result<Vec<(OperationGroupKey, OperationSums)>, QueryError> {
    let model = source.model();
    let operations = RecordedOperations::new(source, time_range, |container| Some(container.0))?.list;
    let mut groups: BTreeMap<OperationGroupKey, OperationSums> = BTreeMap::new();
    for (number, operation) in operations.iter().enumerate() {
        let Some(info) = model.values.get(operation.value.index()) else { continue };
        let mut key = OperationGroupKey {
            ty: info.ty,
            value: (grouping != RowGrouping::Type).then_some(operation.value),
            container: None,
            kind: operation.kind,
            communicator: operation.communicator.clone(),
        };
        if grouping == RowGrouping::Container {
            for part in &operation.parts {
                key.container = Some(ContainerId(part.unit));
                groups.entry(key.clone()).or_default().add(number, operation, part);
            }
        } else {
            let sums = groups.entry(key).or_default();
            operation.parts.iter().for_each(|part| sums.add(number, operation, part));
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.wait));
    Ok(groups)
}
