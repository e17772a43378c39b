//! The start of a line: numbers with a few digits, and identifiers, which are numbers with a
//! letter.

use crate::number_text::NumberWords;
use crate::{ContainerId, TypeId};

/// Writes identifiers.
impl NumberWords {
    #[inline]
    pub(super) fn serial(&mut self, letter: u8, number: u64) {
        self.byte(letter);
        self.number(number);
    }

    #[inline]
    pub(super) fn type_id(&mut self, ty: TypeId) {
        if ty == TypeId::ROOT { self.byte(b'0') } else { self.serial(b't', ty.0.into()) }
    }

    #[inline]
    pub(super) fn container_id(&mut self, container: ContainerId) {
        if container == ContainerId::ROOT { self.byte(b'0') } else { self.serial(b'c', container.0.into()) }
    }
}
