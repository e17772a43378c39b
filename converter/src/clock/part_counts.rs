//! [`PartCounts`]: the number of parts that begin and end each collective operation, for readers of
//! a log that need to know when they have read all parts of an operation.
//!
//! A *source* is the begin of a part that others wait for. A *target* is the end of a part that
//! waits. In a barrier, each part has a source and a target. The counts exceed memory if necessary.

use std::io;

use tumit_spill::map::{SpillMap, spread};
use tumit_spill::row_sorter::RowSorter;
use tumit_spill::spool::Spool;
use tumit_spill::temporary_space::TemporarySpace;

/// Bytes of the counts of an operation.
const BYTES: u64 = 16;
/// Number of operations that are read at once.
const PAGE: u64 = 1 << 12;
/// Bytes in memory while the counts are sorted.
const SORTED_BYTES: usize = 16 << 20;

/// The begin or end of a part of a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartEndpoint {
    /// Number of the stream.
    pub(crate) stream: u32,
    /// The raw timestamp.
    pub(crate) timestamp: i64,
    /// Position in the stream of the record that declares it.
    pub(crate) ordinal: u64,
    /// Number of the operation.
    pub(crate) operation: u64,
    /// Others wait for the begin of the part. If false, the end of the part waits.
    pub(crate) is_source: bool,
}

/// The numbers of sources and targets of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OperationSize {
    pub(crate) sources: u64,
    pub(crate) targets: u64,
}

/// The sizes of all operations.
#[derive(Debug, Default)]
pub(crate) struct PartCounts {
    /// By operation: its number, its sources and targets, the latest source and the earliest
    /// target.
    open_operations: SpillMap<5>,
    /// The sizes in order of operations, after [`Self::finish`].
    sizes: Spool,
    operations: u64,
    targets: u64,
    /// Some target is earlier than a source of its operation.
    has_reversed: bool,
    failure: Option<io::Error>,
}

impl PartCounts {
    pub(crate) fn note(&mut self, part: PartEndpoint) {
        let PartEndpoint { operation, timestamp, is_source, .. } = part;
        self.operations = self.operations.max(operation.saturating_add(1));
        self.targets += u64::from(!is_source);
        let result = self.open_operations.change(spread(u128::from(operation)), |before| {
            let empty_row = [operation, 0, 0, i64::MIN.cast_unsigned(), i64::MAX.cast_unsigned()];
            let [_, mut sources, mut targets, latest, earliest] = before.unwrap_or(empty_row);
            let (mut latest, mut earliest) = (latest.cast_signed(), earliest.cast_signed());
            if is_source {
                (sources, latest) = (sources + 1, latest.max(timestamp));
            } else {
                (targets, earliest) = (targets + 1, earliest.min(timestamp));
            }
            let new_row = [operation, sources, targets, latest.cast_unsigned(), earliest.cast_unsigned()];
            (Some(new_row), earliest < latest)
        });
        match result {
            Ok(is_reversed) => self.has_reversed |= is_reversed,
            Err(error) => drop(self.failure.get_or_insert(error)),
        }
    }

    /// Sorts the sizes.
    ///
    /// # Errors
    /// If a temporary file could not be written or read.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)?;
        let mut sorter: RowSorter<3, 1> = RowSorter::new(&TemporarySpace::in_system_folder(SORTED_BYTES));
        self.open_operations.for_each(|_, [operation, sources, targets, ..]| {
            sorter.push([operation, sources, targets]);
            sorter.flush()
        })?;
        self.open_operations = SpillMap::default();
        let (mut sorted, mut bytes, mut next) = (sorter.finish()?, Vec::new(), 0);
        while let Some([operation, sources, targets]) = sorted.next()? {
            // Operations without a source or target have no size in the log.
            for number in next..=operation {
                let size = if number == operation { [sources, targets] } else { [0, 0] };
                size.iter().for_each(|count| bytes.extend_from_slice(&count.to_le_bytes()));
            }
            next = operation + 1;
            if bytes.len() as u64 >= PAGE * BYTES {
                self.sizes.append(&bytes)?;
                bytes.clear();
            }
        }
        if !bytes.is_empty() {
            self.sizes.append(&bytes)?;
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.operations == 0
    }

    pub(crate) fn targets(&self) -> u64 {
        self.targets
    }

    /// Whether all targets are later than the sources of their operations, by raw timestamps.
    pub(crate) fn is_forward(&self) -> bool {
        !self.has_reversed
    }

    pub(crate) fn sizes(&self) -> OperationSizes<'_> {
        OperationSizes { counts: self, first: 0, page: Vec::new() }
    }
}

/// Reads the sizes of operations. Neighbours are cheap.
#[derive(Debug)]
pub(crate) struct OperationSizes<'c> {
    counts: &'c PartCounts,
    /// The first operation of the page.
    first: u64,
    page: Vec<u8>,
}

impl OperationSizes<'_> {
    /// The size of an operation.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub(crate) fn of(&mut self, operation: u64) -> io::Result<OperationSize> {
        let in_page = |first: u64, page: &[u8]| operation >= first && (operation - first) * BYTES < page.len() as u64;
        if !in_page(self.first, &self.page) {
            self.first = operation / PAGE * PAGE;
            let length = (self.counts.sizes.len().saturating_sub(self.first * BYTES)).min(PAGE * BYTES);
            self.page.resize(usize::try_from(length).unwrap_or(0), 0);
            if length > 0 {
                self.counts.sizes.read_exact_at(&mut self.page, self.first * BYTES)?;
            }
        }
        if !in_page(self.first, &self.page) {
            return Ok(OperationSize::default());
        }
        let byte_offset = usize::try_from((operation - self.first) * BYTES).unwrap_or(0);
        let count =
            |byte_offset: usize| self.page[byte_offset..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Ok(OperationSize { sources: count(byte_offset), targets: count(byte_offset + 8) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn sizes_are_those_of_the_parts(parts in prop::collection::vec((0u64..10_000, any::<bool>(), 0i64..50), 0..400)) {
            let mut counts = PartCounts::default();
            let mut expected: BTreeMap<u64, (OperationSize, Vec<i64>, Vec<i64>)> = BTreeMap::new();
            for (operation, is_source, timestamp) in parts {
                counts.note(PartEndpoint { stream: 0, timestamp, ordinal: 0, operation, is_source });
                let (size, sources, targets) = expected.entry(operation).or_default();
                let (count, times) = if is_source { (&mut size.sources, sources) } else { (&mut size.targets, targets) };
                *count += 1;
                times.push(timestamp);
            }
            counts.finish().unwrap();
            let is_forward = expected.values().all(|(_, sources, targets)| {
                sources.iter().all(|source| targets.iter().all(|target| source <= target))
            });
            prop_assert_eq!(counts.is_forward(), is_forward);
            prop_assert_eq!(counts.is_empty(), expected.is_empty());
            prop_assert_eq!(counts.targets(), expected.values().map(|(size, ..)| size.targets).sum::<u64>());
            let mut sizes = counts.sizes();
            for operation in (0..10_100).rev().chain(0..10_100) {
                let size = expected.get(&operation).map_or(OperationSize::default(), |(size, ..)| *size);
                prop_assert_eq!(sizes.of(operation).unwrap(), size);
            }
        }
    }
}
