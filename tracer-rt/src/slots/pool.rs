//! The slots: a fixed number, mapped once and never given back, so that a pointer to a slot is good for ever. Whether they
//! lie in private memory or in the live file is all the same here.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use tracer_format::live::{PART_BYTES, taken};

use super::{LOST_BYTES, SLOT_BYTES, Slot, room_bytes};

/// Pieces of a slot that is divided, the first of which is not used.
pub(crate) const PIECES: usize = SLOT_BYTES / PART_BYTES;
/// The largest record for a part of a slot.
pub(crate) const MAX_PART_RECORD_BYTES: usize = room_bytes(PART_BYTES) - LOST_BYTES;

/// Slots that can be taken. A hint: read without the lock, so that threads that must drop do not queue for it.
static AVAILABLE: AtomicUsize = AtomicUsize::new(0);
/// Parts of slots that can be taken.
static AVAILABLE_PARTS: AtomicUsize = AtomicUsize::new(0);
/// Where the slots begin.
static BASE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// A thread waited in vain: no other one does until a slot is free again.
static STUCK: AtomicBool = AtomicBool::new(false);

/// Says that waiting is of no use, or is again.
pub(crate) fn set_stuck(stuck: bool) {
    STUCK.store(stuck, Ordering::Relaxed);
}

/// Whether waiting for a slot is of no use.
pub(crate) fn is_stuck() -> bool {
    STUCK.load(Ordering::Relaxed)
}

/// Whether a slot seems to be free.
pub(crate) fn seems_available() -> bool {
    AVAILABLE.load(Ordering::Relaxed) > 0 || AVAILABLE_PARTS.load(Ordering::Relaxed) > 0
}

/// How many slots seem to be free.
pub(crate) fn available() -> usize {
    AVAILABLE.load(Ordering::Relaxed)
}

/// Size of a slot, or of a part of one.
pub(crate) fn slot_bytes(slot: *const Slot) -> usize {
    if offset(slot).is_multiple_of(SLOT_BYTES) { SLOT_BYTES } else { PART_BYTES }
}

fn offset(slot: *const Slot) -> usize {
    slot.addr() - BASE.load(Ordering::Relaxed).addr()
}

/// Free slots.
#[derive(Debug)]
pub(crate) struct Pool {
    base: *mut u8,
    slots: usize,
    /// Slots from here on were never touched: taking one costs page faults.
    fresh: usize,
    /// A slot was given back: threads fill them.
    refilled: bool,
    /// Slots to take first; the last one given back is the warmest in the caches.
    free: Vec<*const Slot>,
    /// Free parts of slots that are divided.
    parts: Vec<*const Slot>,
    /// How many parts of each slot are taken.
    taken_parts: Vec<u8>,
}

// SAFETY: the pointers are to a mapping of the whole process.
unsafe impl Send for Pool {}

impl Pool {
    /// A pool without slots.
    pub(crate) const fn empty() -> Self {
        Self {
            base: std::ptr::null_mut(),
            slots: 0,
            fresh: 0,
            refilled: false,
            free: Vec::new(),
            parts: Vec::new(),
            taken_parts: Vec::new(),
        }
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
        self.refilled = false;
        self.free.clear();
        self.free.reserve_exact(slots);
        self.parts.clear();
        self.parts.reserve_exact(slots * PIECES);
        self.taken_parts.clear();
        self.taken_parts.resize(slots, 0);
        BASE.store(base, Ordering::Relaxed);
        AVAILABLE.store(slots, Ordering::Relaxed);
        AVAILABLE_PARTS.store(0, Ordering::Relaxed);
    }

    /// Number of slots.
    pub(crate) const fn slots(&self) -> usize {
        self.slots
    }

    /// Takes a free slot.
    pub(crate) fn take(&mut self) -> Option<*const Slot> {
        if self.free.is_empty() && self.fresh == self.slots {
            self.join();
        }
        let slot = self.free.pop().or_else(|| self.take_fresh())?;
        AVAILABLE.fetch_sub(1, Ordering::Relaxed);
        Some(slot)
    }

    /// Takes a part of a slot that is divided, or that now is.
    pub(crate) fn take_part(&mut self) -> Option<*const Slot> {
        if self.parts.is_empty() {
            let whole = self.take()?;
            self.divide(whole);
        }
        let part = self.parts.pop()?;
        AVAILABLE_PARTS.fetch_sub(1, Ordering::Relaxed);
        self.taken_parts[offset(part) / SLOT_BYTES] += 1;
        Some(part)
    }

    fn divide(&mut self, whole: *const Slot) {
        for piece in (1..PIECES).rev() {
            let part = whole.wrapping_byte_add(piece * PART_BYTES);
            // SAFETY: within a slot that nobody uses; what stood there is no head, and its words may be anything.
            unsafe { &*part }.taken.store(taken::NO, Ordering::Relaxed);
            self.parts.push(part);
        }
        AVAILABLE_PARTS.fetch_add(PIECES - 1, Ordering::Relaxed);
        // SAFETY: a slot of the pool.
        unsafe { &*whole }.taken.store(taken::DIVIDED, Ordering::Release);
    }

    /// Makes slots of those whose parts are all free.
    fn join(&mut self) {
        let taken_parts = &self.taken_parts;
        let whole = |part: &*const Slot| taken_parts[offset(*part) / SLOT_BYTES] == 0;
        let firsts = self.parts.iter().copied().filter(whole).filter(|part| offset(*part) % SLOT_BYTES == PART_BYTES);
        let joined: Vec<*const Slot> = firsts.map(|first| first.wrapping_byte_sub(PART_BYTES)).collect();
        self.parts.retain(|part| !whole(part));
        AVAILABLE_PARTS.fetch_sub(joined.len() * (PIECES - 1), Ordering::Relaxed);
        AVAILABLE.fetch_add(joined.len(), Ordering::Relaxed);
        joined.iter().for_each(|slot| make_ready(*slot));
        self.free.extend(joined);
    }

    /// Gives back a slot that was [made ready](make_ready).
    pub(crate) fn give(&mut self, slot: *const Slot) {
        self.refilled = true;
        set_stuck(false);
        if slot_bytes(slot) == PART_BYTES {
            self.taken_parts[offset(slot) / SLOT_BYTES] -= 1;
            self.parts.push(slot);
            AVAILABLE_PARTS.fetch_add(1, Ordering::Relaxed);
        } else {
            self.free.push(slot);
            AVAILABLE.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A slot that was never touched, when few warm ones are left: to be [made ready](make_ready), without the lock that
    /// guards the pool, and given to [`Self::add_warm`].
    pub(crate) fn take_cold(&mut self) -> Option<*const Slot> {
        // Programs that record little touch little; those that fill slots get as many as they may need before the helper
        // comes back.
        const FEW: usize = 4;
        let wanted = if self.refilled { FEW.max(self.slots / 4) } else { FEW };
        // While the helper touches a slot, no thread can take it. Enough others stay free, so that no record is dropped.
        let others = (self.free.len() + self.slots - self.fresh).saturating_sub(1);
        if self.free.len() >= wanted || others < FEW {
            return None;
        }
        let slot = self.take_fresh()?;
        AVAILABLE.fetch_sub(1, Ordering::Relaxed);
        Some(slot)
    }

    /// Adds a slot that is warm now, behind those that are warmer.
    pub(crate) fn add_warm(&mut self, slot: *const Slot) {
        self.free.insert(0, slot);
        AVAILABLE.fetch_add(1, Ordering::Relaxed);
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

/// Writes to each page of a slot that nobody uses any more, so that the thread that gets it meets no page fault: neither the
/// first one, nor those after the system has written pages of a file back.
pub(crate) fn make_ready(slot: *const Slot) {
    // SAFETY: a slot of the pool.
    unsafe { &*slot }.taken.store(taken::NO, Ordering::Release);
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
        let mut pool = Pool::empty();
        let slots = Pool::slots_in(5 * SLOT_BYTES + 100);
        let base = crate::live_file::map_private(slots * SLOT_BYTES, None).unwrap();
        pool.serve(base, slots);
        let warm = pool.take_cold().unwrap();
        assert_eq!(pool.take_cold(), None, "the last four are left to the threads");
        make_ready(warm);
        pool.add_warm(warm);
        let mut all: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 5);
        assert_eq!(pool.take_cold(), None);
        pool.give(all[2]);
        assert_eq!(pool.take(), Some(all[2]));
        pool.serve(base, slots);
        assert_eq!(std::iter::from_fn(|| pool.take()).count(), 5, "a forked child has all of them");
        // Divided, and whole again.
        all.iter().for_each(|slot| pool.give(*slot));
        let mut parts: Vec<_> = std::iter::from_fn(|| pool.take_part()).collect();
        parts.sort();
        parts.dedup();
        assert_eq!(parts.len(), 5 * 15);
        assert!(parts.iter().all(|part| slot_bytes(*part) == 4096) && !seems_available());
        let (some, rest) = parts.split_at(31);
        some.iter().for_each(|part| pool.give(*part));
        assert_eq!(std::iter::from_fn(|| pool.take()).count(), 2, "one part of the third is in use");
        assert_eq!(std::iter::from_fn(|| pool.take_part()).count(), 1);
        assert!(rest.iter().all(|part| offset(*part) >= 2 * SLOT_BYTES));
    }
}
