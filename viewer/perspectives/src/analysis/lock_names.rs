//! The names of states in which a container waits for a lock, or holds it.

use crate::execution::categories::words;

/// Words for locks.
const LOCK_WORDS: [&str; 13] = [
    "lock",
    "locks",
    "mutex",
    "mutexes",
    "spinlock",
    "rwlock",
    "futex",
    "semaphore",
    "semaphores",
    "sem",
    "critical",
    "latch",
    "monitor",
];
/// The beginnings of words for waiting.
const WAIT_WORDS: [&str; 9] =
    ["wait", "block", "acquir", "request", "contend", "contention", "contended", "queue", "spinning"];
/// The beginnings of words for states in which a container has the lock, or gives it back.
const HOLD_WORDS: [&str; 6] = ["hold", "held", "own", "unlock", "releas", "locked"];
/// Further words for states in which a container has the lock.
const INSIDE_WORDS: [&str; 2] = ["in", "inside"];
/// The functions that return as soon as they have the lock, as their words.
const LOCK_FUNCTIONS: [&[&str]; 13] = [
    &["pthread", "mutex", "lock"],
    &["pthread", "mutex", "timedlock"],
    &["pthread", "spin", "lock"],
    &["pthread", "rwlock", "rdlock"],
    &["pthread", "rwlock", "wrlock"],
    &["mtx", "lock"],
    &["sem", "wait"],
    &["sem", "timedwait"],
    &["omp", "set", "lock"],
    &["omp", "set", "nest", "lock"],
    &["win", "lock"],
    &["win", "lock", "all"],
    &["shmem", "set", "lock"],
];
/// Words that do not distinguish locks.
const FILLERS: [&str; 10] = ["for", "the", "a", "an", "on", "of", "to", "until", "is", "state"];

fn starts_with_any(word: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| word.starts_with(beginning))
}

fn is_hold_word(word: &str) -> bool {
    INSIDE_WORDS.contains(&word) || starts_with_any(word, &HOLD_WORDS)
}

/// Whether a container waits for a lock in a state of this name, such as `Waits for the mutex` or
/// `pthread_mutex_lock`. `Blocked` alone may be a wait for anything, and a container in `Mutex` may
/// hold it.
pub(super) fn is_lock_wait(name: &str) -> bool {
    let words = words(name);
    let contains = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_function = LOCK_FUNCTIONS.iter().any(|function| words.windows(function.len()).any(|part| part == *function));
    let is_wait = words.iter().any(|word| starts_with_any(word, &WAIT_WORDS));
    let is_held = words.iter().any(|word| starts_with_any(word, &HOLD_WORDS));
    is_function || contains(&LOCK_WORDS) && is_wait && !is_held
}

/// Whether a container holds a lock in a state of this name, such as `holds mutex`.
pub(super) fn is_lock_hold(name: &str) -> bool {
    let words = words(name);
    let has_lock = words.iter().any(|word| LOCK_WORDS.contains(&word.as_str()));
    let is_held = words.iter().any(|word| is_hold_word(word));
    let is_release = words.iter().any(|word| starts_with_any(word, &["unlock", "releas"]));
    let is_wait = words.iter().any(|word| starts_with_any(word, &WAIT_WORDS));
    has_lock && is_held && !is_release && !is_wait
}

/// The words of a name that identify its lock. `Waits for the mutex` and `holds mutex` have the
/// same ones. Digits count.
pub(super) fn lock_of(name: &str) -> Vec<String> {
    let mut words = words(name);
    words
        .retain(|word| !starts_with_any(word, &WAIT_WORDS) && !is_hold_word(word) && !FILLERS.contains(&word.as_str()));
    let numbers = name.split(|letter: char| !letter.is_ascii_digit()).filter(|number| !number.is_empty());
    words.extend(numbers.map(str::to_owned));
    words
}

#[cfg(test)]
mod tests {
    use super::{is_lock_hold, is_lock_wait, lock_of};

    #[test]
    fn only_waits_for_locks_are_found() {
        for name in [
            "wait for mutex",
            "Waits for the semaphore",
            "pthread_mutex_lock",
            "omp_set_lock",
            "MPI_Win_lock",
            "sem_wait",
            "Blocked on lock 3",
            "acquire lock",
            "lockWait",
            "WaitingForLock",
        ] {
            assert!(is_lock_wait(name), "{name}");
        }
        for name in [
            "Blocked",
            "blocks",
            "clock synchronisation",
            "holds mutex",
            "Wait",
            "unlock",
            "pthread_mutex_unlock",
            "in critical section",
            "Mutex",
            "waits while it holds the lock",
            "Waits for a message",
            "block cyclic",
        ] {
            assert!(!is_lock_wait(name), "{name}");
        }
    }

    #[test]
    fn a_holder_has_the_lock_of_its_waiters() {
        for name in ["holds mutex", "Lock held", "in critical section", "owns the lock"] {
            assert!(is_lock_hold(name), "{name}");
        }
        for name in ["wait for mutex", "unlock", "releases the lock", "compute", "locks"] {
            assert!(!is_lock_hold(name), "{name}");
        }
        assert_eq!(lock_of("Waits for the mutex"), lock_of("holds mutex"));
        assert_ne!(lock_of("waits for lock 1"), lock_of("holds lock 2"));
    }
}
