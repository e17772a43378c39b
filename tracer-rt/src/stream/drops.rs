//! Dropped records that no block reports yet: their number and, for overwritten records, their
//! place in the stream.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tracer_format::record::DroppedRecords;
use tracer_format::{ID_DROPPED, RECORD_HEAD_BYTES};

use crate::fault_injection;

/// The drop counts of a stream: the total, and the part that no block reports yet.
#[derive(Debug, Default)]
pub(crate) struct DropCounts {
    count: AtomicU64,
    reported_count: AtomicU64,
    bytes: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    cause: AtomicU32,
}

impl DropCounts {
    /// Counts dropped records. Only threads that drop records pay for the atomic read-modify-write.
    pub(crate) fn add(&self, count: u64, bytes: u64, first: u64, last: u64, cause: u32) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let _ = self.first.compare_exchange(0, first, Ordering::Relaxed, Ordering::Relaxed);
        self.last.store(last, Ordering::Relaxed);
        self.cause.fetch_or(cause, Ordering::Relaxed);
        self.count.fetch_add(count, Ordering::Release);
    }

    /// Timestamp of the last dropped record.
    pub(crate) fn latest_timestamp(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Number of records dropped so far.
    pub(crate) fn total(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Takes the records dropped since the last call for a report. `None` if there are none.
    pub(crate) fn take_report(&self) -> Option<DroppedRecords> {
        let total = self.total();
        let count = total - self.reported_count.swap(total, Ordering::Relaxed);
        (count > 0).then(|| DroppedRecords {
            count,
            bytes: self.bytes.swap(0, Ordering::Relaxed),
            first_ticks: self.first.swap(0, Ordering::Relaxed),
            last_ticks: self.last.load(Ordering::Relaxed),
            cause: self.cause.swap(0, Ordering::Relaxed),
        })
    }

    /// Makes a report unreported again, because its block no longer exists.
    pub(crate) fn undo_report(&self, drops: &DroppedRecords) {
        self.reported_count.fetch_sub(drops.count, Ordering::Relaxed);
        self.bytes.fetch_add(drops.bytes, Ordering::Relaxed);
        let _ = self.last.compare_exchange(0, drops.last_ticks, Ordering::Relaxed, Ordering::Relaxed);
        // The records of this report were dropped before all unreported ones.
        self.first.store(drops.first_ticks, Ordering::Relaxed);
        self.cause.fetch_or(drops.cause, Ordering::Relaxed);
    }

    /// Whether [`Self::take_report`] would return a report.
    pub(crate) fn has_report(&self) -> bool {
        self.total() != self.reported_count.load(Ordering::Relaxed)
    }
}

/// A gap in the blocks of a stream: consecutive blocks that were overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverwrittenBlocks {
    /// Sequence number of the first block after the gap.
    pub(crate) end: u64,
    pub(crate) dropped: DroppedRecords,
}

/// The gaps of a stream, oldest first.
/// There are several gaps only while slots between them wait to be written, so never more gaps than
/// slots.
///
/// Changed only under the session's lock.
#[derive(Debug)]
pub(crate) struct OverwrittenRanges(VecDeque<OverwrittenBlocks>);

impl OverwrittenRanges {
    pub(crate) const fn new() -> Self {
        Self(VecDeque::new())
    }

    /// Adds the overwritten block with the sequence number `block`, the newest one.
    pub(crate) fn add(&mut self, block: u64, drops: &DroppedRecords) {
        match self.0.back_mut() {
            Some(gap) if gap.end == block => {
                gap.end = block + 1;
                gap.dropped = join_reports(&gap.dropped, drops);
            }
            _ => self.0.push_back(OverwrittenBlocks { end: block + 1, dropped: *drops }),
        }
    }

    /// Takes the oldest gap, if it comes before the block with this sequence number.
    /// The caller reports it.
    pub(crate) fn take_before(&mut self, block: u64) -> Option<OverwrittenBlocks> {
        let is_before = self.0.front()?.end <= block || fault_injection::is_injected("drops are reported early");
        if is_before { self.0.pop_front() } else { None }
    }

    /// Puts back a gap that could not be reported.
    pub(crate) fn put_back(&mut self, gap: OverwrittenBlocks) {
        self.0.push_front(gap);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Joins two consecutive reports of drops.
pub(crate) fn join_reports(first: &DroppedRecords, second: &DroppedRecords) -> DroppedRecords {
    DroppedRecords {
        count: first.count + second.count,
        bytes: first.bytes + second.bytes,
        first_ticks: first.first_ticks,
        last_ticks: second.last_ticks,
        cause: first.cause | second.cause,
    }
}

pub(crate) fn encode_report(drops: &DroppedRecords) -> Vec<u8> {
    let mut bytes = vec![0; RECORD_HEAD_BYTES];
    bytes[..2].copy_from_slice(&ID_DROPPED.to_le_bytes());
    bytes.extend(drops.encode());
    bytes
}

/// Decodes the report of drops at the start of a payload.
pub(crate) fn report_at_start(payload: &[u8]) -> Option<DroppedRecords> {
    let (head, body) = payload.split_at_checked(RECORD_HEAD_BYTES)?;
    let report = if head[..2] == ID_DROPPED.to_le_bytes() {
        DroppedRecords::decode(body.get(..DroppedRecords::BYTES)?)
    } else {
        None
    };
    // The mark of a truncation belongs to the record after it.
    report.filter(|dropped| !dropped.is_truncation())
}

#[cfg(test)]
mod tests {
    use super::*;

    use tracer_format::cause;

    #[test]
    fn drops_are_reported_once() {
        let drops = DropCounts::default();
        assert!(drops.take_report().is_none());
        drops.add(1, 22, 100, 100, cause::NO_BUFFER);
        drops.add(2, 44, 200, 300, cause::NESTED);
        let dropped = DroppedRecords { count: 3, bytes: 66, first_ticks: 100, last_ticks: 300, cause: 5 };
        assert_eq!(drops.take_report(), Some(dropped));
        assert!(drops.take_report().is_none() && !drops.has_report());
        drops.add(1, 1, 400, 400, cause::OVERSIZE);
        assert_eq!(
            drops.take_report().map(|dropped| (dropped.count, dropped.first_ticks, dropped.cause)),
            Some((1, 400, 2))
        );
        assert_eq!(drops.total(), 4);
        drops.undo_report(&dropped);
        assert_eq!(
            drops.take_report().map(|dropped| (dropped.count, dropped.bytes, dropped.first_ticks)),
            Some((3, 66, 100))
        );
        assert_eq!(drops.total(), 4);
    }

    #[test]
    fn overwritten_blocks_are_reported_before_the_next_block() {
        let dropped = |count, first_ticks| DroppedRecords {
            count,
            bytes: 22 * count,
            first_ticks,
            last_ticks: first_ticks + 9,
            cause: cause::OVERWRITTEN,
        };
        let mut gaps = OverwrittenRanges::new();
        gaps.add(0, &dropped(5, 100));
        gaps.add(1, &join_reports(&DroppedRecords { cause: cause::NO_BUFFER, ..dropped(2, 110) }, &dropped(7, 120)));
        // Blocks 2 and 3 wait to be written.
        gaps.add(4, &dropped(3, 150));
        let first =
            OverwrittenBlocks { end: 2, dropped: DroppedRecords { last_ticks: 129, cause: 17, ..dropped(14, 100) } };
        assert_eq!(gaps.take_before(1), None);
        assert_eq!(gaps.take_before(2), Some(first));
        gaps.put_back(first);
        assert_eq!(gaps.take_before(3), Some(first));
        assert_eq!(gaps.take_before(4), None, "block 3 is older");
        assert_eq!(gaps.take_before(5), Some(OverwrittenBlocks { end: 5, dropped: dropped(3, 150) }));
        assert!(gaps.is_empty());
    }

    #[test]
    fn reports_of_drops_are_found_at_the_start() {
        let dropped = DroppedRecords { count: 3, bytes: 66, first_ticks: 100, last_ticks: 300, cause: 5 };
        let bytes = encode_report(&dropped);
        assert_eq!(report_at_start(&bytes), Some(dropped));
        assert_eq!(report_at_start(&bytes[..bytes.len() - 1]), None);
        assert_eq!(report_at_start(&[1, 0, 0, 0, 0, 0, 7]), None);
        assert_eq!(report_at_start(&[]), None);
        assert_eq!(
            report_at_start(&encode_report(&DroppedRecords::of_truncated(9, 100))),
            None,
            "not a report of dropped records"
        );
    }
}
