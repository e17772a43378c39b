//! The place of the states, variable or events of one type in one container.

use super::entity_sink::EntityPlace;
use crate::query::TimestampExtent;

/// Point events of one type in one container.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct MarkList {
    pub(super) place: EntityPlace,
    pub(super) last: i64,
    /// The timestamp at which the container was created.
    pub(super) creation_time: i64,
    /// From the first timestamp here or the container's creation to the last one.
    pub(super) extent: TimestampExtent,
}

/// The states, variable or events of one type in one container: an index in the list of the kind.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum EntitySlot {
    Stack(u32),
    Variable(u32),
    Marks(u32),
}
