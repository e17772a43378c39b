//! [`MessageEnds`]: pairs the endpoints of links.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, KeyId, TypeId, ValueId};

use crate::model::TraceUnit;

/// An endpoint of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkEnd {
    pub(super) is_start: bool,
    pub(super) unit: TraceUnit,
    pub(super) time: i64,
    pub(super) sequence: u64,
    pub(super) bytes: i64,
    pub(super) tag: Option<i64>,
    pub(super) value: ValueId,
    /// The container at which a start without an end should end.
    pub(super) destination: Option<ContainerId>,
}

/// The container, the type and the key of a link.
pub(super) type LinkIdentity = (ContainerId, TypeId, KeyId);

/// The endpoints of links, until their other endpoints are known.
#[derive(Debug, Default)]
pub(super) struct MessageEnds {
    /// Of each link key, only starts or only ends wait.
    pending_ends: FxHashMap<LinkIdentity, VecDeque<LinkEnd>>,
}

impl MessageEnds {
    /// Adds an endpoint. Returns the start and the end of its link if both are known.
    pub(super) fn add(&mut self, link: LinkIdentity, end: LinkEnd) -> Option<(LinkEnd, LinkEnd)> {
        let waiting = self.pending_ends.entry(link).or_default();
        let is_paired = waiting.front().is_some_and(|other| other.is_start != end.is_start);
        if !is_paired {
            waiting.push_back(end);
            return None;
        }
        let other = waiting.pop_front()?;
        if waiting.is_empty() {
            self.pending_ends.remove(&link);
        }
        Some(if end.is_start { (end, other) } else { (other, end) })
    }

    /// Takes the endpoints without a partner, in order of their operations.
    pub(super) fn take_unpaired(&mut self) -> Vec<LinkEnd> {
        let mut ends: Vec<LinkEnd> = self.pending_ends.drain().flat_map(|(_, ends)| ends).collect();
        ends.sort_unstable_by_key(|end| end.sequence);
        ends
    }
}
