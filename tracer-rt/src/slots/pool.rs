//! The pool of slots. Their number is fixed.
//! Slots are mapped once and never unmapped, so that a pointer to a slot is always valid. The pool
//! treats private memory and the live file alike.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use tracer_format::live_file::{PART_BYTES, slot_use};

use super::SlotHeader;
use super::sizes::{DROP_REPORT_BYTES, SLOT_BYTES, room_bytes};

/// Number of parts of a divided slot. The first part is not used.
pub(crate) const PARTS_PER_SLOT: usize = SLOT_BYTES / PART_BYTES;
/// The largest record for a part of a slot.
pub(crate) const MAX_PART_RECORD_BYTES: usize = room_bytes(PART_BYTES) - DROP_REPORT_BYTES;

/// Number of slots that can be taken.
/// This is a hint: it is read without the lock, so that threads that must drop records do not queue
/// for the lock.
static AVAILABLE_SLOTS: AtomicUsize = AtomicUsize::new(0);
/// Number of parts of slots that can be taken. A hint, too.
static AVAILABLE_PARTS: AtomicUsize = AtomicUsize::new(0);
/// The address of the first slot.
static FIRST_SLOT: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// Whether a thread waited for a slot without success. No thread waits again until a slot is free.
static STUCK: AtomicBool = AtomicBool::new(false);

/// Sets whether waiting for a slot is useless.
pub(crate) fn set_stuck(stuck: bool) {
    STUCK.store(stuck, Ordering::Relaxed);
}

/// Whether waiting for a slot is useless.
pub(crate) fn is_stuck() -> bool {
    STUCK.load(Ordering::Relaxed)
}

/// Whether a slot seems to be free.
pub(crate) fn seems_available() -> bool {
    AVAILABLE_SLOTS.load(Ordering::Relaxed) > 0 || AVAILABLE_PARTS.load(Ordering::Relaxed) > 0
}

/// The approximate number of free slots.
pub(crate) fn available() -> usize {
    AVAILABLE_SLOTS.load(Ordering::Relaxed)
}

/// Size in bytes of a slot or of a part of a slot.
pub(crate) fn slot_bytes(slot: *const SlotHeader) -> usize {
    if offset(slot).is_multiple_of(SLOT_BYTES) { SLOT_BYTES } else { PART_BYTES }
}

fn offset(slot: *const SlotHeader) -> usize {
    slot.addr() - FIRST_SLOT.load(Ordering::Relaxed).addr()
}

/// The free slots and free parts of slots.
#[derive(Debug)]
pub(crate) struct SlotPool {
    base: *mut u8,
    slots: usize,
    /// Index of the first untouched slot. Taking an untouched slot costs page faults.
    unused_slots: usize,
    /// A slot was given back, so threads fill slots.
    refilled: bool,
    /// Slots to take first. The last one is the warmest in the caches.
    free_slots: Vec<*const SlotHeader>,
    /// Free parts of divided slots.
    free_parts: Vec<*const SlotHeader>,
    /// Number of taken parts of each slot.
    taken_parts: Vec<u8>,
}

// SAFETY: the pointers are to a mapping of the whole process.
unsafe impl Send for SlotPool {}

impl SlotPool {
    /// A pool without slots.
    pub(crate) const fn empty() -> Self {
        Self {
            base: std::ptr::null_mut(),
            slots: 0,
            unused_slots: 0,
            refilled: false,
            free_slots: Vec::new(),
            free_parts: Vec::new(),
            taken_parts: Vec::new(),
        }
    }

    /// Number of slots that fit into `bytes` bytes. At least two.
    pub(crate) fn slots_in(bytes: usize) -> usize {
        (bytes / SLOT_BYTES).clamp(2, u32::MAX as usize)
    }

    /// Makes a pool of the `slots` slots that are mapped at `base`. All of them are free and zero.
    pub(crate) fn adopt_slots(&mut self, base: *mut u8, slots: usize) {
        self.base = base;
        self.slots = slots;
        self.unused_slots = 0;
        self.refilled = false;
        self.free_slots.clear();
        self.free_slots.reserve_exact(slots);
        self.free_parts.clear();
        self.free_parts.reserve_exact(slots * PARTS_PER_SLOT);
        self.taken_parts.clear();
        self.taken_parts.resize(slots, 0);
        FIRST_SLOT.store(base, Ordering::Relaxed);
        AVAILABLE_SLOTS.store(slots, Ordering::Relaxed);
        AVAILABLE_PARTS.store(0, Ordering::Relaxed);
    }

    pub(crate) const fn slots(&self) -> usize {
        self.slots
    }

    pub(crate) fn take(&mut self) -> Option<*const SlotHeader> {
        if self.free_slots.is_empty() && self.unused_slots == self.slots {
            self.join();
        }
        let slot = self.free_slots.pop().or_else(|| self.take_fresh())?;
        AVAILABLE_SLOTS.fetch_sub(1, Ordering::Relaxed);
        Some(slot)
    }

    /// Takes a part of a divided slot. Divides a slot if no part is free.
    pub(crate) fn take_part(&mut self) -> Option<*const SlotHeader> {
        if self.free_parts.is_empty() {
            let slot = self.take()?;
            self.divide(slot);
        }
        let part = self.free_parts.pop()?;
        AVAILABLE_PARTS.fetch_sub(1, Ordering::Relaxed);
        self.taken_parts[offset(part) / SLOT_BYTES] += 1;
        Some(part)
    }

    fn divide(&mut self, slot: *const SlotHeader) {
        for number in (1..PARTS_PER_SLOT).rev() {
            let part = slot.wrapping_byte_add(number * PART_BYTES);
            // SAFETY: within a slot that no thread uses. The old bytes are records, but every bit
            // pattern is a valid head.
            unsafe { &*part }.is_taken.store(slot_use::NO, Ordering::Relaxed);
            self.free_parts.push(part);
        }
        AVAILABLE_PARTS.fetch_add(PARTS_PER_SLOT - 1, Ordering::Relaxed);
        // SAFETY: a slot of the pool.
        unsafe { &*slot }.is_taken.store(slot_use::DIVIDED, Ordering::Release);
    }

    /// Joins the parts of each slot that has only free parts. Calls [`make_ready`] under the lock
    /// of the pool, because it is rare.
    fn join(&mut self) {
        let taken_parts = &self.taken_parts;
        let is_whole = |part: &*const SlotHeader| taken_parts[offset(*part) / SLOT_BYTES] == 0;
        let firsts =
            self.free_parts.iter().copied().filter(is_whole).filter(|part| offset(*part) % SLOT_BYTES == PART_BYTES);
        let joined: Vec<*const SlotHeader> = firsts.map(|first| first.wrapping_byte_sub(PART_BYTES)).collect();
        self.free_parts.retain(|part| !is_whole(part));
        AVAILABLE_PARTS.fetch_sub(joined.len() * (PARTS_PER_SLOT - 1), Ordering::Relaxed);
        AVAILABLE_SLOTS.fetch_add(joined.len(), Ordering::Relaxed);
        joined.iter().for_each(|slot| make_ready(*slot));
        self.free_slots.extend(joined);
    }

    /// Gives back a slot after [`make_ready`].
    pub(crate) fn give_back(&mut self, slot: *const SlotHeader) {
        self.refilled = true;
        set_stuck(false);
        if slot_bytes(slot) == PART_BYTES {
            self.taken_parts[offset(slot) / SLOT_BYTES] -= 1;
            self.free_parts.push(slot);
            AVAILABLE_PARTS.fetch_add(1, Ordering::Relaxed);
        } else {
            self.free_slots.push(slot);
            AVAILABLE_SLOTS.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes an untouched slot if few warm ones are left.
    /// The caller calls [`make_ready`] without the lock of the pool and passes the slot to
    /// [`Self::add_warm`].
    pub(crate) fn take_cold(&mut self) -> Option<*const SlotHeader> {
        // Programs that record little touch few slots. Programs that fill slots get as many as they
        // may need until the writer thread runs again.
        const MIN_FREE: usize = 4;
        let min_free = if self.refilled { MIN_FREE.max(self.slots / 4) } else { MIN_FREE };
        // While the writer thread touches a slot, no thread can take it. Enough other slots stay
        // free, so that no record is dropped.
        let others = (self.free_slots.len() + self.slots - self.unused_slots).saturating_sub(1);
        if self.free_slots.len() >= min_free || others < MIN_FREE {
            return None;
        }
        let slot = self.take_fresh()?;
        AVAILABLE_SLOTS.fetch_sub(1, Ordering::Relaxed);
        Some(slot)
    }

    /// Adds a slot that is warm now. Warmer slots are taken before it.
    pub(crate) fn add_warm(&mut self, slot: *const SlotHeader) {
        self.free_slots.insert(0, slot);
        AVAILABLE_SLOTS.fetch_add(1, Ordering::Relaxed);
    }

    fn take_fresh(&mut self) -> Option<*const SlotHeader> {
        if self.unused_slots == self.slots {
            return None;
        }
        let slot = self.base.wrapping_add(self.unused_slots * SLOT_BYTES).cast::<SlotHeader>().cast_const();
        self.unused_slots += 1;
        Some(slot)
    }
}

/// Marks a slot as free, and writes to each of its pages, so that its next owner has no page
/// faults. This covers the first fault of a page and those after the system has written pages of
/// the file to the disk.
pub(crate) fn make_ready(slot: *const SlotHeader) {
    // SAFETY: the pointer is to a slot of the pool.
    unsafe { &*slot }.is_taken.store(slot_use::NO, Ordering::Release);
    for page in (0..slot_bytes(slot)).step_by(4096) {
        let byte = slot.cast_mut().cast::<u8>().wrapping_add(page);
        // SAFETY: the slot is free, and all its bytes are mapped.
        unsafe { byte.write_volatile(0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_given_once() {
        let mut pool = SlotPool::empty();
        let slots = SlotPool::slots_in(5 * SLOT_BYTES + 100);
        let base = crate::live_file::map_private(slots * SLOT_BYTES, None).unwrap();
        pool.adopt_slots(base, slots);
        let warm = pool.take_cold().unwrap();
        assert_eq!(pool.take_cold(), None, "the last four slots are reserved for threads");
        make_ready(warm);
        pool.add_warm(warm);
        let mut indexes: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        indexes.sort();
        indexes.dedup();
        assert_eq!(indexes.len(), 5);
        assert_eq!(pool.take_cold(), None);
        pool.give_back(indexes[2]);
        assert_eq!(pool.take(), Some(indexes[2]));
        pool.adopt_slots(base, slots);
        assert_eq!(std::iter::from_fn(|| pool.take()).count(), 5, "a forked child has all slots");
        // Divided, and whole again.
        indexes.iter().for_each(|slot| pool.give_back(*slot));
        let mut parts: Vec<_> = std::iter::from_fn(|| pool.take_part()).collect();
        parts.sort();
        parts.dedup();
        assert_eq!(parts.len(), 5 * 15);
        assert!(parts.iter().all(|part| slot_bytes(*part) == 4096) && !seems_available());
        let (first_parts, last_parts) = parts.split_at(31);
        first_parts.iter().for_each(|part| pool.give_back(*part));
        assert_eq!(std::iter::from_fn(|| pool.take()).count(), 2, "one part of the third slot is in use");
        assert_eq!(std::iter::from_fn(|| pool.take_part()).count(), 1);
        assert!(last_parts.iter().all(|part| offset(*part) >= 2 * SLOT_BYTES));
    }
}
