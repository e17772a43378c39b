//! The longest of some entities. The page offers to go there.

use serde_json::{Value, json};
use tumit_viewer::query::EntityId;
use tumit_viewer::scene::wire::entity;

/// An entity with its duration, the longest so far.
#[derive(Clone, Copy)]
pub(crate) struct LongestEntity {
    pub(crate) nanos: i64,
    pub(crate) id: EntityId,
}

impl LongestEntity {
    /// Returns the longer one. If both are equally long, returns the one with the smaller number,
    /// so that the result does not depend on the order.
    pub(crate) fn longer_of(first: Option<Self>, second: Option<Self>) -> Option<Self> {
        first.into_iter().chain(second).max_by(|a, b| a.nanos.cmp(&b.nanos).then(b.id.cmp(&a.id)))
    }

    pub(crate) fn json(self) -> Value {
        json!({ "nanos": self.nanos, "id": entity(self.id) })
    }
}
