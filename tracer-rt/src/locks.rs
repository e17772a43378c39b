//! Locks. Only slow paths take them: a thread whose slot is full, the helper, and the calls of the API.
//!
//! Order, where several are held: the sink, the session, the tables of names, the log of names. A `fork` holds all of them, so that the
//! child finds them whole; what a `fork` in a signal handler does, whose thread holds some itself, is in `fork`.

use std::cell::{Cell, UnsafeCell};
use std::io;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The locks, each a bit of [`held`].
pub(crate) mod bit {
    pub(crate) const SINK: u8 = 1;
    pub(crate) const STATE: u8 = 2;
    pub(crate) const TABLES: u8 = 4;
    pub(crate) const LOG: u8 = 8;
}

thread_local! {
    /// The locks that the thread holds, as bits.
    static HELD: Cell<u8> = const { Cell::new(0) };
}

/// Which locks the calling thread holds: known to signal handlers, which cannot wait for them.
pub(crate) fn held() -> u8 {
    HELD.get()
}

/// This is a child in which the work of the parent's thread goes on.
static UNSETTLED: AtomicBool = AtomicBool::new(false);

/// Called in such a child when its thread releases its last lock.
static SETTLE: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Whether this is a child which has not begun anew yet.
pub(crate) fn is_unsettled() -> bool {
    UNSETTLED.load(Ordering::Relaxed)
}

/// An error in such a child: files would be the parent's.
pub(crate) fn refuse_unsettled() -> io::Result<()> {
    if is_unsettled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
}

/// This child continues the work of its parent's thread. `settle` is called when the thread releases its last lock.
pub(crate) fn set_unsettled(settle: fn()) {
    SETTLE.store(settle as *mut (), Ordering::Relaxed);
    UNSETTLED.store(true, Ordering::Relaxed);
}

/// In a child, when its thread has released its last lock.
#[inline]
fn settle() {
    if is_unsettled() {
        settle_now();
    }
}

#[cold]
fn settle_now() {
    // First: the function releases locks, too.
    UNSETTLED.store(false, Ordering::Relaxed);
    let settle = SETTLE.load(Ordering::Relaxed);
    // SAFETY: `set_unsettled` stored this function pointer before it set the flag.
    let settle = unsafe { std::mem::transmute::<*mut (), fn()>(settle) };
    settle();
}

/// A mutex that does not care whether a holder panicked: nothing in here panics, and a lost block is better than a
/// second panic.
#[derive(Debug)]
pub(crate) struct Lock<T> {
    mutex: UnsafeCell<Mutex<T>>,
    bit: u8,
    /// Threads that wait for it.
    waiting: AtomicUsize,
}

// SAFETY: the mutex is used as such, but by `revive`, in a process of one thread.
unsafe impl<T: Send> Sync for Lock<T> {}

/// A lock that is held.
#[derive(Debug)]
pub(crate) struct Guard<'a, T> {
    guard: ManuallyDrop<MutexGuard<'a, T>>,
    bit: u8,
}

impl<'a, T> Guard<'a, T> {
    fn new(guard: MutexGuard<'a, T>, bit: u8) -> Self {
        HELD.set(HELD.get() | bit);
        Self { guard: ManuallyDrop::new(guard), bit }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        let held = HELD.get() & !self.bit;
        HELD.set(held);
        // SAFETY: nobody uses it behind this.
        unsafe { ManuallyDrop::drop(&mut self.guard) };
        if held == 0 {
            settle();
        }
    }
}

impl<T> Lock<T> {
    pub(crate) const fn new(bit: u8, value: T) -> Self {
        Self { mutex: UnsafeCell::new(Mutex::new(value)), bit, waiting: AtomicUsize::new(0) }
    }

    const fn mutex(&self) -> &Mutex<T> {
        // SAFETY: it is replaced in `revive` alone, whose callers promise that nobody else uses it.
        unsafe { &*self.mutex.get() }
    }

    pub(crate) fn lock(&self) -> Guard<'_, T> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let guard = self.mutex().lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        Guard::new(guard, self.bit)
    }

    /// For a signal handler, whose own thread may hold it.
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, T>> {
        let guard = match self.mutex().try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(Guard::new(guard, self.bit))
    }

    /// The same, for a lock that nobody holds for long: tries a few times, unless the own thread may be the one that holds it.
    pub(crate) fn try_lock_soon(&self) -> Option<Guard<'_, T>> {
        const TURNS: usize = 20;
        let turns = if held() == 0 { TURNS } else { 0 };
        self.try_lock().or_else(|| {
            (0..turns).find_map(|_| {
                std::thread::yield_now();
                self.try_lock()
            })
        })
    }

    /// Whether the calling thread holds it.
    pub(crate) fn is_mine(&self) -> bool {
        held() & self.bit != 0
    }

    /// In a forked child: a lock that was held by a thread which does not exist here is free, with what it guarded.
    ///
    /// # Safety
    /// Only where there is no other thread, and the calling one does not hold it.
    pub(crate) unsafe fn revive(&self) {
        let place = self.mutex.get();
        // SAFETY: the caller's promise; the old one is not dropped.
        let value = unsafe { place.read() }.into_inner().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as above.
        unsafe { place.write(Mutex::new(value)) };
    }

    /// For a thread that takes the lock again and again, between two times: lets those go first that wait for it. The
    /// mutex alone would let them starve.
    pub(crate) fn give_way(&self) {
        const TURNS: usize = 1000;
        for _ in 0..TURNS {
            if self.waiting.load(Ordering::Relaxed) == 0 {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// After a `fork`, in the child: those who waited are not there.
    pub(crate) fn forget_waiting(&self) {
        self.waiting.store(0, Ordering::Relaxed);
    }

    /// For the end of the process, where a holder may be a thread that never runs again.
    pub(crate) fn lock_within(&self, patience: Duration) -> Option<Guard<'_, T>> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let give_up = Instant::now() + patience;
        let guard = loop {
            match self.try_lock() {
                Some(guard) => break Some(guard),
                None if Instant::now() >= give_up => break None,
                None => nap(Duration::from_micros(200)),
            }
        };
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        guard
    }
}

/// Sleeps, not longer: signals that come all the time would have `std` begin again each time, with the rest and the system's own slack.
fn nap(time: Duration) {
    let request = libc::timespec { tv_sec: 0, tv_nsec: libc::c_long::from(time.subsec_nanos().cast_signed()) };
    // SAFETY: the pointer is to a live local; what is left of it is not asked for.
    unsafe { libc::nanosleep(&raw const request, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn the_end_of_the_process_gets_its_turn() {
        static BUSY: Lock<()> = Lock::new(0, ());
        static STOP: AtomicBool = AtomicBool::new(false);
        let helper = std::thread::spawn(|| {
            while !STOP.load(Ordering::Relaxed) {
                let guard = BUSY.lock();
                std::thread::sleep(Duration::from_millis(20));
                drop(guard);
                BUSY.give_way();
            }
        });
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(10));
            assert!(BUSY.lock_within(Duration::from_secs(60)).is_some(), "starved by a thread that always comes back");
        }
        STOP.store(true, Ordering::Relaxed);
        helper.join().unwrap();
    }
}
