//! Pairs the halves of links by key within (holding container, type).

use std::collections::VecDeque;

use converter::paje::{ContainerId, KeyId, TypeId, ValueId};
use converter::time::GlobalNanos;
use rustc_hash::FxHashMap;

use super::entities::{EndedLink, Entities};
use super::faults::{Fault, Faults};

/// The start or the end of a link.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Half {
    pub(super) starts: bool,
    pub(super) time: i64,
    pub(super) value: ValueId,
    pub(super) container: ContainerId,
    pub(super) detail: u32,
    /// Line of the file, if it is known.
    pub(super) line: u64,
}

type Key = (ContainerId, TypeId, KeyId);

/// Halves that wait.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Links {
    // Keys are numbers that the reader or the rules gave out: nobody can choose them to collide.
    waiting: FxHashMap<Key, Half>,
    /// More halves of the same kind with the same key, in order of arrival.
    queued: FxHashMap<Key, VecDeque<Half>>,
}

impl Links {
    pub(super) fn take(&mut self, at: Key, half: Half, faults: &mut Faults, out: &mut impl Entities) {
        let Some(first) = self.waiting.remove(&at) else {
            self.waiting.insert(at, half);
            return;
        };
        if first.starts == half.starts {
            faults.count(Fault::KeyInUse);
            self.waiting.insert(at, first);
            self.queued.entry(at).or_default().push_back(half);
            return;
        }
        let (holder, ty, key) = at;
        let (start, end) = if half.starts { (half, first) } else { (first, half) };
        if start.value != end.value {
            faults.count(Fault::LinkValue);
        }
        let detail = out.join(start.detail, end.detail);
        out.link(&EndedLink {
            container: holder,
            ty,
            value: start.value,
            start_time: GlobalNanos(start.time),
            end_time: GlobalNanos(end.time),
            start: start.container,
            end: end.container,
            key: key.0,
            detail,
        });
        if !self.advance(&at) {
            out.forget_key(key.0);
        }
    }

    /// Lets the next half with this key wait; `false` when there is none.
    fn advance(&mut self, at: &Key) -> bool {
        if self.queued.is_empty() {
            return false;
        }
        let Some(queue) = self.queued.get_mut(at) else { return false };
        if let Some(next) = queue.pop_front() {
            self.waiting.insert(*at, next);
        }
        if queue.is_empty() {
            self.queued.remove(at);
        }
        true
    }

    /// Those that wait for their other half have none; how many they are.
    pub(super) fn drop_halves(&mut self, out: &mut impl Entities) -> u64 {
        let mut count = 0;
        let queued = self.queued.drain().flat_map(|(at, halves)| halves.into_iter().map(move |half| (at, half)));
        for ((_, _, key), half) in self.waiting.drain().chain(queued) {
            out.forget(half.detail);
            out.forget_key(key.0);
            count += 1;
        }
        count
    }

    /// Lines and dates of the halves without their other.
    pub(super) fn pending(&self) -> impl Iterator<Item = (u64, i64)> {
        self.waiting.values().chain(self.queued.values().flatten()).map(|half| (half.line, half.time))
    }
}
