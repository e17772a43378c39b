//! The locks of the recorder.
//! Only slow paths take them: a thread with a full slot, the writer thread, and the calls of the
//! API.
//!
//! Lock order: the block writer, the session, the tables of names, the log of names. A `fork` holds
//! all of them, so that the child finds their data consistent. `session/fork.rs` describes a `fork`
//! in a signal handler. The thread of the handler may hold some of the locks.

use std::cell::{Cell, UnsafeCell};
use std::io;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The locks as bits of [`held_locks`].
pub(crate) mod bit {
    pub(crate) const BLOCK_WRITER: u8 = 1;
    pub(crate) const STATE: u8 = 2;
    pub(crate) const TABLES: u8 = 4;
    pub(crate) const LOG: u8 = 8;
}

thread_local! {
    /// Bits of the locks that the thread holds.
    static HELD: Cell<u8> = const { Cell::new(0) };
}

/// Bits of the locks that the calling thread holds.
/// Signal handlers need them, because they cannot wait for these locks.
pub(crate) fn held_locks() -> u8 {
    HELD.get()
}

/// True in a forked child that still continues the interrupted work of its parent's thread.
static UNSETTLED: AtomicBool = AtomicBool::new(false);

/// The function that such a child calls when its thread releases its last lock.
static SETTLE: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Whether this is a forked child that has not restarted yet.
pub(crate) fn is_unsettled() -> bool {
    UNSETTLED.load(Ordering::Relaxed)
}

/// Returns an error in such a child, because the files belong to its parent.
pub(crate) fn refuse_unsettled() -> io::Result<()> {
    if is_unsettled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
}

/// Stores that this child continues the work of its parent's thread.
/// `settle` is called when the thread releases its last lock.
pub(crate) fn set_unsettled(settle: fn()) {
    SETTLE.store(settle as *mut (), Ordering::Relaxed);
    UNSETTLED.store(true, Ordering::Relaxed);
}

/// Called when the thread has released its last lock.
#[inline]
fn run_deferred_requests() {
    if is_unsettled() {
        settle_now();
    }
}

#[cold]
fn settle_now() {
    // The flag comes first, because the function releases locks, too.
    UNSETTLED.store(false, Ordering::Relaxed);
    let settle = SETTLE.load(Ordering::Relaxed);
    // SAFETY: `set_unsettled` stored this function pointer before it set the flag.
    let settle = unsafe { std::mem::transmute::<*mut (), fn()>(settle) };
    settle();
}

/// A mutex without poisoning.
/// Nothing that holds it panics, and a missing block is better than a second panic.
#[derive(Debug)]
pub(crate) struct RecorderLock<T> {
    mutex: UnsafeCell<Mutex<T>>,
    bit: u8,
    /// Number of threads that wait for the lock.
    waiter_count: AtomicUsize,
}

// SAFETY: all accesses use the mutex, except `revive`, which runs in a process with one thread.
unsafe impl<T: Send> Sync for RecorderLock<T> {}

/// The guard of a held lock.
#[derive(Debug)]
pub(crate) struct RecorderLockGuard<'a, T> {
    guard: ManuallyDrop<MutexGuard<'a, T>>,
    bit: u8,
}

impl<'a, T> RecorderLockGuard<'a, T> {
    fn new(guard: MutexGuard<'a, T>, bit: u8) -> Self {
        HELD.set(HELD.get() | bit);
        Self { guard: ManuallyDrop::new(guard), bit }
    }
}

impl<T> Deref for RecorderLockGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for RecorderLockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T> Drop for RecorderLockGuard<'_, T> {
    fn drop(&mut self) {
        let other_locks = HELD.get() & !self.bit;
        HELD.set(other_locks);
        // SAFETY: the guard is not used after this.
        unsafe { ManuallyDrop::drop(&mut self.guard) };
        if other_locks == 0 {
            run_deferred_requests();
        }
    }
}

impl<T> RecorderLock<T> {
    pub(crate) const fn new(bit: u8, value: T) -> Self {
        Self { mutex: UnsafeCell::new(Mutex::new(value)), bit, waiter_count: AtomicUsize::new(0) }
    }

    const fn mutex(&self) -> &Mutex<T> {
        // SAFETY: only `revive` replaces the mutex, and its callers guarantee that no other code
        // uses it.
        unsafe { &*self.mutex.get() }
    }

    pub(crate) fn lock(&self) -> RecorderLockGuard<'_, T> {
        self.waiter_count.fetch_add(1, Ordering::Relaxed);
        let guard = self.mutex().lock().unwrap_or_else(PoisonError::into_inner);
        self.waiter_count.fetch_sub(1, Ordering::Relaxed);
        RecorderLockGuard::new(guard, self.bit)
    }

    /// Takes the lock if it is free. For signal handlers, because their own thread may hold it.
    pub(crate) fn try_lock(&self) -> Option<RecorderLockGuard<'_, T>> {
        let guard = match self.mutex().try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(RecorderLockGuard::new(guard, self.bit))
    }

    /// Like [`Self::try_lock`], for a lock that is held only for short times.
    /// Tries 20 more times, unless the calling thread holds a lock.
    pub(crate) fn try_lock_soon(&self) -> Option<RecorderLockGuard<'_, T>> {
        const TURNS: usize = 20;
        let turns = if held_locks() == 0 { TURNS } else { 0 };
        self.try_lock().or_else(|| {
            (0..turns).find_map(|_| {
                std::thread::yield_now();
                self.try_lock()
            })
        })
    }

    /// Whether the calling thread holds it.
    pub(crate) fn is_mine(&self) -> bool {
        held_locks() & self.bit != 0
    }

    /// Releases, in a forked child, a lock that was held by a thread of the parent. Keeps the data.
    ///
    /// # Safety
    /// The process must have one thread, and this thread must not hold the lock.
    pub(crate) unsafe fn revive(&self) {
        let pointer = self.mutex.get();
        // SAFETY: the caller guarantees it. The old mutex is not dropped.
        let value = unsafe { pointer.read() }.into_inner().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as above.
        unsafe { pointer.write(Mutex::new(value)) };
    }

    /// Lets waiting threads take the lock first.
    /// For a thread that takes the lock repeatedly: the mutex alone would let the other threads
    /// starve.
    pub(crate) fn give_way(&self) {
        const TURNS: usize = 1000;
        for _ in 0..TURNS {
            if self.waiter_count.load(Ordering::Relaxed) == 0 {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Resets the number of waiting threads in a forked child, because these threads do not exist
    /// there.
    pub(crate) fn forget_waiting(&self) {
        self.waiter_count.store(0, Ordering::Relaxed);
    }

    /// Waits for the lock for a limited time.
    /// For the end of the process, when the holder may be a thread that never runs again.
    pub(crate) fn lock_within(&self, patience: Duration) -> Option<RecorderLockGuard<'_, T>> {
        self.waiter_count.fetch_add(1, Ordering::Relaxed);
        let give_up = Instant::now() + patience;
        let guard = loop {
            match self.try_lock() {
                Some(guard) => break Some(guard),
                None if Instant::now() >= give_up => break None,
                None => sleep_once(Duration::from_micros(200)),
            }
        };
        self.waiter_count.fetch_sub(1, Ordering::Relaxed);
        guard
    }
}

/// Sleeps for `time`, or less.
/// `std` would restart the sleep after each signal, with the remaining time and the slack of the
/// system.
fn sleep_once(time: Duration) {
    let request = libc::timespec { tv_sec: 0, tv_nsec: libc::c_long::from(time.subsec_nanos().cast_signed()) };
    // SAFETY: the pointer is to a live local. The remaining time is not requested.
    unsafe { libc::nanosleep(&raw const request, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn the_end_of_the_process_gets_its_turn() {
        static BUSY: RecorderLock<()> = RecorderLock::new(0, ());
        static STOP: AtomicBool = AtomicBool::new(false);
        let writer_thread = std::thread::spawn(|| {
            while !STOP.load(Ordering::Relaxed) {
                let guard = BUSY.lock();
                std::thread::sleep(Duration::from_millis(20));
                drop(guard);
                BUSY.give_way();
            }
        });
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(10));
            assert!(
                BUSY.lock_within(Duration::from_secs(60)).is_some(),
                "the other thread always takes the lock again"
            );
        }
        STOP.store(true, Ordering::Relaxed);
        writer_thread.join().unwrap();
    }
}
