//! What was lost and no block has told of yet: so many records, and, of what was overwritten, the place.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tracer_format::record::Lost;
use tracer_format::{ID_LOST, RECORD_HEAD_BYTES};

use crate::fault_injection;

/// What a stream lost: how much in all, and what no block has told of yet.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    count: AtomicU64,
    told: AtomicU64,
    bytes: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    cause: AtomicU32,
}

impl Losses {
    /// Counts lost records. Only losing threads pay for the locked instructions.
    pub(crate) fn add(&self, count: u64, bytes: u64, first: u64, last: u64, cause: u32) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let _ = self.first.compare_exchange(0, first, Ordering::Relaxed, Ordering::Relaxed);
        self.last.store(last, Ordering::Relaxed);
        self.cause.fetch_or(cause, Ordering::Relaxed);
        self.count.fetch_add(count, Ordering::Release);
    }

    /// The last date at which something was lost.
    pub(crate) fn latest(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Records lost so far.
    pub(crate) fn total(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// What was lost since the last call, if anything.
    pub(crate) fn tell(&self) -> Option<Lost> {
        let total = self.total();
        let count = total - self.told.swap(total, Ordering::Relaxed);
        (count > 0).then(|| Lost {
            count,
            bytes: self.bytes.swap(0, Ordering::Relaxed),
            first_ticks: self.first.swap(0, Ordering::Relaxed),
            last_ticks: self.last.load(Ordering::Relaxed),
            cause: self.cause.swap(0, Ordering::Relaxed),
        })
    }

    /// The block that told of this is no more.
    pub(crate) fn tell_again(&self, lost: &Lost) {
        self.told.fetch_sub(lost.count, Ordering::Relaxed);
        self.bytes.fetch_add(lost.bytes, Ordering::Relaxed);
        let _ = self.last.compare_exchange(0, lost.last_ticks, Ordering::Relaxed, Ordering::Relaxed);
        // What it told of was before all that is untold.
        self.first.store(lost.first_ticks, Ordering::Relaxed);
        self.cause.fetch_or(lost.cause, Ordering::Relaxed);
    }

    /// Whether [`Self::tell`] would tell something.
    pub(crate) fn untold(&self) -> bool {
        self.total() != self.told.load(Ordering::Relaxed)
    }
}

/// Blocks that would follow each other in a stream, and were overwritten instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// Number of the first block behind them.
    pub(crate) end: u64,
    pub(crate) lost: Lost,
}

/// What a stream has overwritten, oldest first. There are several gaps only while slots between them wait to be written, so
/// never more than slots.
///
/// Changed under the session's lock only.
#[derive(Debug)]
pub(crate) struct Gaps(VecDeque<Gap>);

impl Gaps {
    pub(crate) const fn new() -> Self {
        Self(VecDeque::new())
    }

    /// The block with this number, the newest that was overwritten, is no more.
    pub(crate) fn add(&mut self, block: u64, lost: &Lost) {
        match self.0.back_mut() {
            Some(gap) if gap.end == block => {
                gap.end = block + 1;
                gap.lost = both(&gap.lost, lost);
            }
            _ => self.0.push_back(Gap { end: block + 1, lost: *lost }),
        }
    }

    /// Takes the oldest out, if it is older than the block with this number. It is to be told of now.
    pub(crate) fn take_before(&mut self, block: u64) -> Option<Gap> {
        let due = self.0.front()?.end <= block || fault_injection::injected("losses come early");
        if due { self.0.pop_front() } else { None }
    }

    /// It could not be told of.
    pub(crate) fn put_back(&mut self, gap: Gap) {
        self.0.push_front(gap);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Two losses that follow each other.
pub(crate) fn both(first: &Lost, then: &Lost) -> Lost {
    Lost {
        count: first.count + then.count,
        bytes: first.bytes + then.bytes,
        first_ticks: first.first_ticks,
        last_ticks: then.last_ticks,
        cause: first.cause | then.cause,
    }
}

/// The news of a loss, as a record.
pub(crate) fn news(lost: &Lost) -> Vec<u8> {
    let mut bytes = vec![0; RECORD_HEAD_BYTES];
    bytes[..2].copy_from_slice(&ID_LOST.to_le_bytes());
    bytes.extend(lost.encode());
    bytes
}

/// The news with which a payload begins.
pub(crate) fn news_at_start(payload: &[u8]) -> Option<Lost> {
    let (head, body) = payload.split_at_checked(RECORD_HEAD_BYTES)?;
    let news = if head[..2] == ID_LOST.to_le_bytes() { Lost::decode(body.get(..Lost::BYTES)?) } else { None };
    // A mark belongs to the record behind it.
    news.filter(|lost| !lost.is_truncation())
}

#[cfg(test)]
mod tests {
    use super::*;

    use tracer_format::cause;

    #[test]
    fn losses_are_told_once() {
        let losses = Losses::default();
        assert!(losses.tell().is_none());
        losses.add(1, 22, 100, 100, cause::NO_BUFFER);
        losses.add(2, 44, 200, 300, cause::NESTED);
        let lost = Lost { count: 3, bytes: 66, first_ticks: 100, last_ticks: 300, cause: 5 };
        assert_eq!(losses.tell(), Some(lost));
        assert!(losses.tell().is_none() && !losses.untold());
        losses.add(1, 1, 400, 400, cause::OVERSIZE);
        assert_eq!(losses.tell().map(|lost| (lost.count, lost.first_ticks, lost.cause)), Some((1, 400, 2)));
        assert_eq!(losses.total(), 4);
        losses.tell_again(&lost);
        assert_eq!(losses.tell().map(|lost| (lost.count, lost.bytes, lost.first_ticks)), Some((3, 66, 100)));
        assert_eq!(losses.total(), 4);
    }

    #[test]
    fn what_is_overwritten_has_its_place() {
        let lost = |count, first_ticks| Lost {
            count,
            bytes: 22 * count,
            first_ticks,
            last_ticks: first_ticks + 9,
            cause: cause::OVERWRITTEN,
        };
        let mut gaps = Gaps::new();
        gaps.add(0, &lost(5, 100));
        gaps.add(1, &both(&Lost { cause: cause::NO_BUFFER, ..lost(2, 110) }, &lost(7, 120)));
        // Blocks 2 and 3 wait to be written.
        gaps.add(4, &lost(3, 150));
        let first = Gap { end: 2, lost: Lost { last_ticks: 129, cause: 17, ..lost(14, 100) } };
        assert_eq!(gaps.take_before(1), None);
        assert_eq!(gaps.take_before(2), Some(first));
        gaps.put_back(first);
        assert_eq!(gaps.take_before(3), Some(first));
        assert_eq!(gaps.take_before(4), None, "block 3 is older");
        assert_eq!(gaps.take_before(5), Some(Gap { end: 5, lost: lost(3, 150) }));
        assert!(gaps.is_empty());
    }

    #[test]
    fn news_are_found_at_the_start() {
        let lost = Lost { count: 3, bytes: 66, first_ticks: 100, last_ticks: 300, cause: 5 };
        let bytes = news(&lost);
        assert_eq!(news_at_start(&bytes), Some(lost));
        assert_eq!(news_at_start(&bytes[..bytes.len() - 1]), None);
        assert_eq!(news_at_start(&[1, 0, 0, 0, 0, 0, 7]), None);
        assert_eq!(news_at_start(&[]), None);
        assert_eq!(news_at_start(&news(&Lost::of_truncated(9, 100))), None, "no loss");
    }
}
