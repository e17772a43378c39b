//! [`UnitMessage`]: a link between two units.

use tumit_viewer::query::{EntityId, TypeId, ValueId};

/// A link from one unit to another.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnitMessage {
    /// The link.
    pub id: EntityId,
    /// Its type.
    pub ty: TypeId,
    /// Its value.
    pub value: ValueId,
    /// Index of the sending unit.
    pub from: u32,
    /// Index of the receiving unit.
    pub to: u32,
    /// Timestamp of the send, in nanoseconds.
    pub send_time: i64,
    /// Timestamp of the receive, in nanoseconds. Earlier than the send if the clocks are wrong.
    /// The largest possible timestamp if the message is never received.
    pub receive_time: i64,
    /// Size in bytes, if the link has a field for it.
    pub bytes: Option<u64>,
}

/// The time of the receive of a message that is never received.
pub(crate) const NEVER: i64 = i64::MAX;

/// A message that is never received, and whose receiver is unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UnaddressedMessage {
    /// The link.
    pub(crate) id: EntityId,
    /// Index of the sending unit.
    pub(crate) from: u32,
    /// Timestamp of the send, in nanoseconds.
    pub(crate) send_time: i64,
    /// Size in bytes, if the link has a field for it.
    pub(crate) bytes: Option<u64>,
}

impl UnitMessage {
    /// The end of the time in which the message is pending. A message that is received before it is
    /// sent is never pending.
    pub fn pending_until(&self) -> i64 {
        self.receive_time.max(self.send_time)
    }

    /// Whether the message is pending at any time.
    pub(crate) fn is_ever_pending(&self) -> bool {
        self.send_time < self.receive_time
    }
}

/// The bytes of a pending message.
pub(crate) fn pending_bytes(bytes: Option<u64>) -> i64 {
    i64::try_from(bytes.unwrap_or(0)).unwrap_or(i64::MAX)
}
