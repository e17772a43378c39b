//! [`OperationNumbers`]: the numbers of collective operations, which both passes give to their
//! parts.
//!
//! The n-th part of a container in the operations of a communicator belongs to the n-th operation,
//! unless the rule gives a key. Operations are numbered by their first parts. The maps exceed
//! memory if necessary.

use std::io;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::rules::container_instances::PathNode;
use crate::rules::eval::RecordScope;
use crate::rules::link_keys::LinkKey;
use crate::rules::program::CollectivePattern;
use crate::rules::rule_value::{KeyPart, Symbols};
use tumit_spill::map::{SpillMap, spread};

/// The numbers of collective operations so far.
#[derive(Debug, Default)]
pub(crate) struct OperationNumbers {
    /// By container and communicator: the number of parts so far, and the stream of the last one.
    counts: SpillMap<2>,
    operations: SpillMap<1>,
    next: u64,
    /// Streams with missing records.
    incomplete_streams: FxHashSet<usize>,
}

/// The count of a container after missing records.
const UNKNOWN: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationNumber {
    Known(u64),
    /// Records are missing, so that the preceding parts of the container cannot be counted.
    Uncounted,
    /// A key cannot be computed.
    NotComputable,
}

impl OperationNumbers {
    /// Notes that records of a stream are missing from now on.
    pub(crate) fn note_gap(&mut self, stream: usize) {
        self.incomplete_streams.insert(stream);
    }

    /// The operation of the next part of a container. O(1).
    ///
    /// # Errors
    /// If a temporary file cannot be written or read.
    pub(crate) fn next_part(
        &mut self,
        scope: &RecordScope<'_>,
        pattern: &CollectivePattern,
        container: PathNode,
        scratch: &mut String,
        symbols: &mut Symbols,
    ) -> io::Result<OperationNumber> {
        let keys: SmallVec<[KeyPart; 8]> = pattern.keys.iter().map(|code| scope.key(code, scratch, symbols)).collect();
        if keys.contains(&KeyPart::None) {
            return Ok(OperationNumber::NotComputable);
        }
        let group = LinkKey::new(pattern.group, keys.into_iter()).hash();
        let operation = if pattern.has_key {
            group
        } else {
            match self.count(group, container, scope.stream.number)? {
                UNKNOWN => return Ok(OperationNumber::Uncounted),
                ordinal => spread(group.wrapping_add(spread(u128::from(ordinal) + 1))),
            }
        };
        let next = self.next;
        let number = self.operations.change(operation, |entry| {
            let number = entry.map_or(next, |[number]| number);
            (Some([number]), number)
        })?;
        self.next += u64::from(number == next);
        Ok(OperationNumber::Known(number))
    }

    /// Counts a part of a container in the operations of a group. Returns the number of parts
    /// before it, or [`UNKNOWN`].
    fn count(&mut self, group: u128, container: PathNode, stream: usize) -> io::Result<u64> {
        let Self { counts, incomplete_streams, .. } = self;
        counts.change(spread(group ^ spread(u128::from(container) << 1 | 1)), |before| {
            let [count, last] = before.unwrap_or([0, stream as u64]);
            let is_missed = |stream: &usize| !incomplete_streams.is_empty() && incomplete_streams.contains(stream);
            if count == UNKNOWN || is_missed(&stream) || usize::try_from(last).is_ok_and(|last| is_missed(&last)) {
                return (Some([UNKNOWN, stream as u64]), UNKNOWN);
            }
            (Some([count + 1, stream as u64]), count)
        })
    }
}
