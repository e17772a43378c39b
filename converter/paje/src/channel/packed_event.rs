//! Operations packed into 16 bytes. Nearly all operations take this form, because their size
//! determines the cost of sending them to another thread.

use crate::time::GlobalNanos;
use crate::{ContainerId, PlainEvent, PlainKind, TypeId, ValueId};

/// An operation of a batch, or a reference to another list of the batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedEvent {
    /// Nanoseconds since the base of the batch.
    nanos: u32,
    /// A [`PlainKind`] in the upper bits and the type below, or the number of another list in the
    /// upper bits.
    head: u32,
    /// The container. For another list: the index in it.
    container: u32,
    value: u32,
}

const _: () = assert!(size_of::<PackedEvent>() == 16);

/// The decoded form of a [`PackedEvent`].
#[derive(Clone, Copy, Debug)]
pub(super) enum UnpackedEvent {
    Plain(PlainEvent),
    /// The index of a variable.
    Variable(usize),
    /// The index in the list of other operations.
    Rest(usize),
}

/// Number of bits of a type number. The kind is above these bits.
const TYPE_BITS: u32 = 28;
/// The kinds of plain operations, by number.
const KINDS: [PlainKind; 5] =
    [PlainKind::SetState, PlainKind::PushState, PlainKind::PopState, PlainKind::ResetState, PlainKind::NewEvent];
/// The numbers of the other lists.
const VARIABLE: u32 = 14;
const REFERENCE: u32 = 15;

impl PackedEvent {
    /// Packs a plain operation. `None` if its timestamp is before `base_time` or too far after it,
    /// or if its type number is too large.
    #[inline]
    pub(super) fn pack_plain(event: PlainEvent, base_time: i64) -> Option<Self> {
        let PlainEvent { kind, time, container, ty, value } = event;
        let nanos = u32::try_from(time.0.checked_sub(base_time)?).ok()?;
        let head = (kind as u32) << TYPE_BITS | ty.0;
        (ty.0 < 1 << TYPE_BITS).then_some(Self { nanos, head, container: container.0, value: value.0 })
    }

    /// A reference to a variable.
    pub(super) fn variable(index: usize) -> Self {
        Self::pack_reference(VARIABLE, index)
    }

    /// A reference to another operation.
    pub(super) fn rare_event(index: usize) -> Self {
        Self::pack_reference(REFERENCE, index)
    }

    fn pack_reference(list: u32, index: usize) -> Self {
        let container = u32::try_from(index).unwrap_or(u32::MAX);
        Self { nanos: 0, head: list << TYPE_BITS, container, value: 0 }
    }

    /// The decoded form. `base_time` is the base of the timestamps.
    #[inline]
    pub(super) fn unpack(self, base_time: i64) -> UnpackedEvent {
        let tag = self.head >> TYPE_BITS;
        let Some(&kind) = KINDS.get(tag as usize) else {
            let index = self.container as usize;
            return if tag == VARIABLE { UnpackedEvent::Variable(index) } else { UnpackedEvent::Rest(index) };
        };
        let (ty, value) = (TypeId(self.head & ((1 << TYPE_BITS) - 1)), ValueId(self.value));
        let time = GlobalNanos(base_time.wrapping_add(self.nanos.into()));
        UnpackedEvent::Plain(PlainEvent { kind, time, container: ContainerId(self.container), ty, value })
    }
}
