//! The slots: a fixed number, mapped once and never given back, so that a pointer to a slot is good for ever. Whether they
//! lie in private memory or in the live file is all the same here.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::buffer::{SLOT_BYTES, Slot};

/// Slots that can be taken. A hint: read without the lock, so that threads that must drop do not queue for it.
static AVAILABLE: AtomicUsize = AtomicUsize::new(0);

/// Whether a slot seems to be free.
pub(crate) fn seems_available() -> bool {
    AVAILABLE.load(Ordering::Relaxed) > 0
}

/// How many slots seem to be free.
pub(crate) fn available() -> usize {
    AVAILABLE.load(Ordering::Relaxed)
}

/// Free slots.
#[derive(Debug)]
pub(crate) struct Pool {
    base: *mut u8,
    slots: usize,
    /// Slots from here on were never touched: taking one costs page faults.
    fresh: usize,
    /// Slots to take first; the last one given back is the warmest in the caches.
    free: Vec<*const Slot>,
}

// SAFETY: the pointers are to a mapping of the whole process.
unsafe impl Send for Pool {}

impl Pool {
    /// A pool without slots.
    pub(crate) const fn empty() -> Self {
        Self { base: std::ptr::null_mut(), slots: 0, fresh: 0, free: Vec::new() }
    }

    /// Slots for at most `bytes`: at least two.
    pub(crate) fn slots_in(bytes: usize) -> usize {
        (bytes / SLOT_BYTES).clamp(2, u32::MAX as usize)
    }

    /// Serves the `slots` slots that are mapped at `base`, all of them free and zero.
    pub(crate) fn serve(&mut self, base: *mut u8, slots: usize) {
        self.base = base;
        self.slots = slots;
        self.fresh = 0;
        self.free.clear();
        self.free.reserve_exact(slots);
        AVAILABLE.store(slots, Ordering::Relaxed);
    }

    /// Number of slots.
    pub(crate) const fn slots(&self) -> usize {
        self.slots
    }

    /// Takes a free slot.
    pub(crate) fn take(&mut self) -> Option<*const Slot> {
        let slot = self.free.pop().or_else(|| self.take_fresh())?;
        AVAILABLE.fetch_sub(1, Ordering::Relaxed);
        Some(slot)
    }

    /// Gives a slot back.
    pub(crate) fn give(&mut self, slot: *const Slot) {
        // SAFETY: a slot of the pool, which nobody uses any more.
        unsafe { &*slot }.taken.store(0, Ordering::Release);
        touch(slot);
        self.free.push(slot);
        AVAILABLE.fetch_add(1, Ordering::Relaxed);
    }

    /// Touches the pages of one more slot, when few warm ones are left, so that no thread of the program has to.
    pub(crate) fn warm_one(&mut self) -> bool {
        const WARM: usize = 4;
        if self.free.len() >= WARM {
            return false;
        }
        let Some(slot) = self.take_fresh() else { return false };
        touch(slot);
        self.free.insert(0, slot);
        true
    }

    fn take_fresh(&mut self) -> Option<*const Slot> {
        if self.fresh == self.slots {
            return None;
        }
        let slot = self.base.wrapping_add(self.fresh * SLOT_BYTES).cast::<Slot>().cast_const();
        self.fresh += 1;
        Some(slot)
    }
}

/// Writes to each page of a free slot, so that the thread that gets it meets no page fault: neither the first one, nor
/// those after the system has written pages of a file back.
fn touch(slot: *const Slot) {
    for page in (0..SLOT_BYTES).step_by(4096) {
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
        let mut pool = Pool::empty();
        let slots = Pool::slots_in(5 * SLOT_BYTES + 100);
        let base = crate::live::map_private(slots * SLOT_BYTES, None).unwrap();
        pool.serve(base, slots);
        assert!(pool.warm_one());
        let mut all: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 5);
        assert!(!pool.warm_one());
        pool.give(all[2]);
        assert_eq!(pool.take(), Some(all[2]));
        pool.serve(base, slots);
        assert_eq!(std::iter::from_fn(|| pool.take()).count(), 5, "a forked child has all of them");
    }
}
