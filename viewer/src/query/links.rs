//! A link, a link that never ends, and the effective end of an entity.

use tumit_paje::{ContainerId, TypeId, ValueId};

/// The end of an entity in overlap tests: at least 1 ns after the start.
pub(crate) fn effective_end(start: i64, end: i64) -> i64 {
    end.max(start.saturating_add(1))
}

/// One complete link.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct LinkRow {
    pub(crate) start_time: i64,
    pub(crate) end_time: i64,
    pub(crate) key: u64,
    pub value: ValueId,
    pub(crate) holder: ContainerId,
    pub(crate) start: ContainerId,
    pub(crate) end: ContainerId,
    pub(crate) detail: u32,
}

impl LinkRow {
    pub(crate) fn earlier_timestamp(&self) -> i64 {
        self.start_time.min(self.end_time)
    }

    pub(crate) fn effective_end(&self) -> i64 {
        effective_end(self.earlier_timestamp(), self.start_time.max(self.end_time))
    }
}

/// The field of an open link with the container at which it should end.
pub(crate) const DESTINATION: &str = "sent to";

/// One link that never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct OpenLinkRow {
    pub(crate) ty: TypeId,
    pub(crate) start_time: i64,
    pub(crate) key: u64,
    pub(crate) value: ValueId,
    pub(crate) holder: ContainerId,
    pub(crate) start: ContainerId,
    pub(crate) detail: u32,
}
