//! The mutex and the counting semaphore of a node. Both serve in order of arrival, so that every
//! wake-up has one cause. They record waits, ownership, and the cause of each wake-up.
//!
//! Tickets keep both short: the `n`-th thread that arrives at a mutex waits until it was unlocked
//! `n` times, the `n`-th P of a semaphore until there were `n` + 1 V operations. The ticket is the
//! key of the wake-up's arrow. Records are written while the queue is locked, so that their
//! timestamps have the order of the operations.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, MutexGuard, PoisonError};

use crate::trace::{self, Gate, SyncObject, ThreadAddress};

/// A mutual exclusion lock around a value.
#[derive(Debug)]
pub(crate) struct Mutex<T> {
    object: SyncObject,
    queue: std::sync::Mutex<LockQueue>,
    turn: Condvar,
    /// Never contended: the queue decides.
    value: std::sync::Mutex<T>,
}

#[derive(Debug, Default)]
struct LockQueue {
    tickets: u64,
    unlocks: u64,
    owner: u16,
}

impl<T> Mutex<T> {
    /// A free lock.
    pub(crate) fn new(object: SyncObject, value: T) -> Self {
        trace::mutex_made(object);
        let queue = std::sync::Mutex::new(LockQueue::default());
        Self { object, queue, turn: Condvar::new(), value: std::sync::Mutex::new(value) }
    }

    /// Waits until this thread owns the lock.
    #[track_caller]
    pub(crate) fn lock(&self, place: ThreadAddress) -> LockGuard<'_, T> {
        let mut queue = enter(&self.queue);
        let ticket = queue.tickets;
        queue.tickets += 1;
        let waits = ticket > queue.unlocks;
        if waits {
            trace::mutex_blocks(place, self.object, queue.owner);
            queue = self.turn.wait_while(queue, |queue| ticket > queue.unlocks).unwrap_or_else(PoisonError::into_inner);
        }
        queue.owner = place.thread;
        trace::mutex_locked(place, self.object, ticket, waits);
        drop(queue);
        LockGuard { mutex: self, place, value: Some(enter(&self.value)) }
    }

    fn unlock(&self, place: ThreadAddress) {
        let mut queue = enter(&self.queue);
        queue.unlocks += 1;
        let wakes = queue.tickets > queue.unlocks;
        trace::mutex_unlocked(place, self.object, queue.unlocks, wakes);
        self.turn.notify_all();
    }
}

/// The lock is held during the lifetime of the guard.
#[derive(Debug)]
pub(crate) struct LockGuard<'a, T> {
    mutex: &'a Mutex<T>,
    place: ThreadAddress,
    /// `None` only in `drop`.
    value: Option<MutexGuard<'a, T>>,
}

impl<T> Deref for LockGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.value.as_deref().expect("a guard holds the value until it is dropped")
    }
}

impl<T> DerefMut for LockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_deref_mut().expect("a guard holds the value until it is dropped")
    }
}

impl<T> Drop for LockGuard<'_, T> {
    fn drop(&mut self) {
        self.value = None;
        self.mutex.unlock(self.place);
    }
}

/// A counting semaphore, zero at first (Dijkstra's P and V).
#[derive(Debug)]
pub(crate) struct Semaphore {
    object: SyncObject,
    count: std::sync::Mutex<Count>,
    raised: Condvar,
}

#[derive(Debug, Default)]
struct Count {
    /// P operations begun, and V operations done.
    downs: u64,
    ups: u64,
}

impl Count {
    const fn gate(&self) -> Gate {
        if self.downs > self.ups {
            Gate::Blocked
        } else if self.downs == self.ups {
            Gate::Closed
        } else {
            Gate::Open
        }
    }
}

impl Semaphore {
    /// A semaphore at zero.
    pub(crate) fn new(object: SyncObject) -> Self {
        trace::semaphore_made(object);
        Self { object, count: std::sync::Mutex::default(), raised: Condvar::new() }
    }

    /// P: waits until the count is positive, and decreases it by one.
    #[track_caller]
    pub(crate) fn down(&self, place: ThreadAddress) {
        let mut count = enter(&self.count);
        let ticket = count.downs;
        count.downs += 1;
        let waits = ticket >= count.ups;
        if waits {
            trace::semaphore_blocks(place, self.object);
            count = self.raised.wait_while(count, |count| ticket >= count.ups).unwrap_or_else(PoisonError::into_inner);
        }
        trace::semaphore_down(place, self.object, ticket, waits, count.gate());
    }

    /// V: increases the count by one. This may wake the thread that has waited longest.
    #[track_caller]
    pub(crate) fn up(&self, place: ThreadAddress) {
        let mut count = enter(&self.count);
        let ticket = count.ups;
        count.ups += 1;
        let wakes = count.downs > ticket;
        trace::semaphore_up(place, self.object, ticket, wakes, count.gate());
        self.raised.notify_all();
    }
}

/// Locks a mutex of the standard library. A panic leaves the counters consistent.
fn enter<T>(mutex: &std::sync::Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    const OBJECT: SyncObject = SyncObject { node: 1, number: 0 };

    fn place(thread: u16) -> ThreadAddress {
        ThreadAddress { node: 1, thread }
    }

    #[test]
    fn a_mutex_lets_one_thread_in_at_a_time() {
        let mutex = Mutex::new(OBJECT, 0_u32);
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (mutex, inside) = (&mutex, &inside);
                scope.spawn(move || {
                    for _ in 0..500 {
                        let mut value = mutex.lock(place(thread));
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        *value += 1;
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(*mutex.lock(place(0)), 2000);
    }

    #[test]
    fn a_semaphore_passes_one_thread_per_raise() {
        let semaphore = Semaphore::new(OBJECT);
        let passed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let (semaphore, passed) = (&semaphore, &passed);
                scope.spawn(move || {
                    for _ in 0..300 {
                        semaphore.down(place(thread));
                        passed.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            for raised in 0..600 {
                assert!(passed.load(Ordering::SeqCst) <= raised);
                semaphore.up(place(9));
            }
        });
        assert_eq!(passed.into_inner(), 600);
        assert_eq!(enter(&semaphore.count).gate(), Gate::Closed);
    }
}
