//! Pairs the halves of links by key within (holding container, type).

use std::collections::{BTreeMap, HashMap, VecDeque};

use converter::paje::{ContainerId, KeyId, TypeId, ValueId};

use super::faults::{Fault, Faults};
use crate::store::{Details, LinkRow};

/// The start or the end of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    pub(super) starts: bool,
    pub(super) time: i64,
    pub(super) value: ValueId,
    pub(super) container: ContainerId,
    pub(super) detail: u32,
}

type Key = (ContainerId, TypeId, KeyId);

/// Halves that wait, and links that are complete.
#[derive(Debug, Default)]
pub(super) struct Links {
    waiting: HashMap<Key, Half>,
    /// More halves of the same kind with the same key, in order of arrival.
    queued: HashMap<Key, VecDeque<Half>>,
    complete: BTreeMap<TypeId, Vec<LinkRow>>,
}

impl Links {
    pub(super) fn take(
        &mut self,
        holder: ContainerId,
        ty: TypeId,
        key: KeyId,
        half: Half,
        details: &mut Details,
        faults: &mut Faults,
    ) {
        let at = (holder, ty, key);
        let Some(&first) = self.waiting.get(&at) else {
            self.waiting.insert(at, half);
            return;
        };
        if first.starts == half.starts {
            faults.count(Fault::KeyInUse);
            self.queued.entry(at).or_default().push_back(half);
            return;
        }
        let next = self.queued.get_mut(&at).and_then(VecDeque::pop_front);
        match next {
            Some(next) => _ = self.waiting.insert(at, next),
            None => _ = self.waiting.remove(&at),
        }
        if next.is_some() && self.queued.get(&at).is_some_and(VecDeque::is_empty) {
            self.queued.remove(&at);
        }
        let (start, end) = if half.starts { (half, first) } else { (first, half) };
        if start.value != end.value {
            faults.count(Fault::LinkValue);
        }
        self.complete.entry(ty).or_default().push(LinkRow {
            start_time: start.time,
            end_time: end.time,
            key: key.0,
            value: start.value,
            holder,
            start: start.container,
            end: end.container,
            detail: details.join(start.detail, end.detail),
        });
    }

    /// Number of halves without their other.
    pub(super) fn pending(&self) -> u64 {
        let queued: usize = self.queued.values().map(VecDeque::len).sum();
        (self.waiting.len() + queued) as u64
    }

    pub(super) fn into_raw(self) -> Vec<(TypeId, Vec<LinkRow>)> {
        self.complete.into_iter().collect()
    }
}
