//! The full slots that the flight recorder keeps and does not write.

use std::collections::VecDeque;

use crate::slots::SlotHeader;
use crate::slots::pool::slot_bytes;

/// Full slots of streams that overwrite, oldest first.
#[derive(Debug)]
pub(crate) struct KeptSlots {
    slots: VecDeque<*const SlotHeader>,
    /// Size of these slots in bytes. A part of a slot counts with its own size.
    bytes: usize,
}

impl KeptSlots {
    pub(crate) const fn new() -> Self {
        Self { slots: VecDeque::new(), bytes: 0 }
    }

    pub(crate) fn reserve(&mut self, slots: usize) {
        self.slots.reserve(slots);
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.bytes = 0;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = *const SlotHeader> + '_ {
        self.slots.iter().copied()
    }

    /// Size of the kept slots in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn oldest_slot(&self) -> Option<*const SlotHeader> {
        self.slots.front().copied()
    }

    /// Keeps a full slot.
    pub(crate) fn push(&mut self, slot: *const SlotHeader) {
        self.bytes += slot_bytes(slot);
        self.slots.push_back(slot);
    }

    pub(crate) fn pop_oldest(&mut self) -> Option<*const SlotHeader> {
        self.remove(0)
    }

    pub(crate) fn remove(&mut self, index: usize) -> Option<*const SlotHeader> {
        let slot = self.slots.remove(index)?;
        self.bytes -= slot_bytes(slot);
        Some(slot)
    }
}
