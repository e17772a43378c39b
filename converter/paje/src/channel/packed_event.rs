//! What nearly all operations are on their way, in 16 bytes: what one thread writes and another reads costs by its size.

use crate::time::GlobalNanos;
use crate::{ContainerId, PlainEvent, PlainKind, TypeId, ValueId};

/// An operation of a batch, or where else in the batch it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    /// From a date of the batch on.
    nanos: u32,
    /// What it is: a [`PlainKind`], with the type beside it; or in which other list of the batch.
    head: u32,
    /// The container; of what is in another list, its place.
    container: u32,
    value: u32,
}

const _: () = assert!(size_of::<Packed>() == 16);

/// What a [`Packed`] is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unpacked {
    Plain(PlainEvent),
    /// At this place among the variables.
    Variable(usize),
    /// At this place among the rest.
    Rest(usize),
}

/// Bits of the number of a type; what it is stands above.
const TYPE_BITS: u32 = 28;
/// The kinds of plain ones, by what they are.
const KINDS: [PlainKind; 5] =
    [PlainKind::SetState, PlainKind::PushState, PlainKind::PopState, PlainKind::ResetState, PlainKind::NewEvent];
/// The other lists.
const VARIABLE: u32 = 14;
const REST: u32 = 15;

impl Packed {
    /// `None` when it is before this date or too far from it, or its type has too high a number.
    #[inline]
    pub(super) fn plain(event: PlainEvent, since: i64) -> Option<Self> {
        let PlainEvent { kind, time, container, ty, value } = event;
        let nanos = u32::try_from(time.0.checked_sub(since)?).ok()?;
        let head = (kind as u32) << TYPE_BITS | ty.0;
        (ty.0 < 1 << TYPE_BITS).then_some(Self { nanos, head, container: container.0, value: value.0 })
    }

    /// A variable at this place.
    pub(super) fn variable(place: usize) -> Self {
        Self::elsewhere(VARIABLE, place)
    }

    /// Something of the rest at this place.
    pub(super) fn rest(place: usize) -> Self {
        Self::elsewhere(REST, place)
    }

    fn elsewhere(list: u32, place: usize) -> Self {
        let container = u32::try_from(place).unwrap_or(u32::MAX);
        Self { nanos: 0, head: list << TYPE_BITS, container, value: 0 }
    }

    /// What it is, if this is the date from which it counts.
    #[inline]
    pub(super) fn unpack(self, since: i64) -> Unpacked {
        let what = self.head >> TYPE_BITS;
        let Some(&kind) = KINDS.get(what as usize) else {
            let place = self.container as usize;
            return if what == VARIABLE { Unpacked::Variable(place) } else { Unpacked::Rest(place) };
        };
        let (ty, value) = (TypeId(self.head & ((1 << TYPE_BITS) - 1)), ValueId(self.value));
        let time = GlobalNanos(since.wrapping_add(self.nanos.into()));
        Unpacked::Plain(PlainEvent { kind, time, container: ContainerId(self.container), ty, value })
    }
}
