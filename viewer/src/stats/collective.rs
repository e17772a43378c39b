//! [`Collective`]: an operation in which several units take part, and the waits that follow from
//! its kind.
//!
//! ```
//! use tumit_paje::collective::CollectiveKind;
//! use tumit_viewer::query::{EntityId, ValueId};
//! use tumit_viewer::stats::collective::{Collective, CollectivePart};
//!
//! let part = |unit, enter| {
//!     let (state, leave) = (EntityId::State(unit), 30);
//!     CollectivePart { unit, state, enter, leave, wait_from: enter, is_root: false, bytes: None }
//! };
//! let parts = vec![part(0, 10), part(1, 25)];
//! let kind = CollectiveKind::Barrier;
//! let barrier = Collective { value: ValueId(0), kind, communicator: String::new(), parts };
//! // The first unit waits for the second one.
//! assert_eq!(barrier.wait_of(&barrier.parts[0]), 15);
//! assert_eq!(barrier.wait_of(&barrier.parts[1]), 0);
//! ```

use crate::query::{EntityId, ValueId};
use tumit_paje::collective::CollectiveKind;

/// The part of a unit in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollectivePart {
    /// Number of the unit: a container, or a group of containers.
    pub unit: u32,
    /// Its state.
    pub state: EntityId,
    /// The time at which it enters the operation, in nanoseconds.
    pub enter: i64,
    /// The time at which it leaves the operation, in nanoseconds.
    pub leave: i64,
    /// The time from which the unit can wait, in nanoseconds: `enter`, unless the unit is known to
    /// work during a non-blocking operation.
    pub wait_from: i64,
    /// Whether it is the part of the root.
    pub is_root: bool,
    /// The number of bytes that the unit sends or receives, if it is known.
    pub bytes: Option<u64>,
}

/// A collective operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// The value of the states of most parts.
    pub value: ValueId,
    /// Its dependences.
    pub kind: CollectiveKind,
    /// Its communicator. Empty if it is unknown, or there is only one.
    pub communicator: String,
    /// The parts by the time at which their units enter.
    pub parts: Vec<CollectivePart>,
}

impl Collective {
    /// The part of the unit that enters last.
    pub fn last_entered(&self) -> Option<&CollectivePart> {
        self.parts.last()
    }

    /// The part of the root. `None` if there is no root, or if it is unknown.
    pub fn root(&self) -> Option<&CollectivePart> {
        self.parts.iter().find(|part| part.is_root)
    }

    /// The part that has to begin before another part can end: the last part that it depends on.
    /// `None` if it depends on no other part, or if this is unknown.
    pub fn wait_cause(&self, part: &CollectivePart) -> Option<&CollectivePart> {
        let cause = match self.kind {
            CollectiveKind::Barrier | CollectiveKind::AllToAll => self.last_entered()?,
            CollectiveKind::OneToAll => self.root()?,
            CollectiveKind::AllToOne => {
                self.root().filter(|root| root.state == part.state)?;
                self.last_entered()?
            }
        };
        (cause.state != part.state && cause.unit != part.unit && cause.enter > part.wait_from).then_some(cause)
    }

    /// The time in nanoseconds that a part waits for another one.
    pub fn wait_of(&self, part: &CollectivePart) -> i64 {
        self.wait_cause(part).map_or(0, |cause| cause.enter.min(part.leave) - part.wait_from)
    }

    /// The transfers of the operation, as pairs of a sending and a receiving part: from the root to
    /// all others, from all others to the root, or from each part to each other one. A barrier has
    /// none. Without a known root, there are none.
    pub fn transfers(&self) -> impl Iterator<Item = (&CollectivePart, &CollectivePart)> {
        let root = self.root().map(|root| root.state);
        let (from_all, to_all) = match self.kind {
            CollectiveKind::Barrier => (false, false),
            CollectiveKind::AllToAll => (true, true),
            CollectiveKind::OneToAll => (false, true),
            CollectiveKind::AllToOne => (true, false),
        };
        let senders = self.parts.iter().filter(move |part| from_all || to_all && root == Some(part.state));
        senders.flat_map(move |from| {
            let receivers = self.parts.iter().filter(move |part| to_all || root == Some(part.state));
            receivers.filter(|to| to.unit != from.unit).map(move |to| (from, to))
        })
    }
}
