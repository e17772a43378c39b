//! Locks. Only slow paths take them: a thread whose slot is full, the helper, and the calls of the API.
//!
//! Order, where several are held: the sink, the session, the tables of names. A `fork` holds all three, so that the child
//! finds them whole.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// A mutex that does not care whether a holder panicked: nothing in here panics, and a lost block is better than a
/// second panic.
#[derive(Debug)]
pub(crate) struct Lock<T> {
    mutex: Mutex<T>,
    /// Threads that wait for it.
    waiting: AtomicUsize,
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { mutex: Mutex::new(value), waiting: AtomicUsize::new(0) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// For a signal handler, whose own thread may hold it.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.mutex.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
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
    pub(crate) fn lock_within(&self, patience: Duration) -> Option<MutexGuard<'_, T>> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let give_up = Instant::now() + patience;
        let guard = loop {
            match self.mutex.try_lock() {
                Ok(guard) => break Some(guard),
                Err(TryLockError::Poisoned(poisoned)) => break Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() >= give_up => break None,
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_micros(200)),
            }
        };
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        guard
    }
}

/// Guards that are taken before a `fork` and released after it, by the same thread, in both processes.
#[derive(Debug)]
pub(crate) struct AcrossFork<G>(UnsafeCell<Option<G>>);

// SAFETY: only the handlers of `fork` touch it, and the guards inside keep other threads' forks out.
unsafe impl<G> Sync for AcrossFork<G> {}

impl<G> AcrossFork<G> {
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    /// # Safety
    /// Only while `guards` exclude every other caller.
    pub(crate) unsafe fn hold(&self, guards: G) {
        // SAFETY: the caller's promise.
        unsafe { *self.0.get() = Some(guards) };
    }

    /// # Safety
    /// Only by the thread that called [`Self::hold`].
    pub(crate) unsafe fn take(&self) -> Option<G> {
        // SAFETY: the caller's promise.
        let place = unsafe { &mut *self.0.get() };
        place.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn the_end_of_the_process_gets_its_turn() {
        static BUSY: Lock<()> = Lock::new(());
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
