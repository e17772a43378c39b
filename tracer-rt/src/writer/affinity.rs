//! The processors of the writer thread: those of the process at its start, not those of the thread
//! that starts it.

use std::mem;
use std::sync::OnceLock;

static START_PROCESSORS: OnceLock<libc::cpu_set_t> = OnceLock::new();

/// Stores the processors on which the process may run. Called before `main`.
pub(crate) fn store_affinity() {
    // SAFETY: a set of processors is plain numbers. All zero is the empty set.
    let mut processors: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a live local of that size.
    if unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut processors) } == 0 {
        // The value exists already if two libraries call this.
        let _ = START_PROCESSORS.set(processors);
    }
}

/// Allows the calling thread to run on all these processors.
pub(crate) fn use_start_processors() {
    if let Some(processors) = START_PROCESSORS.get() {
        // SAFETY: as above. If the system refuses the set, nothing changes.
        unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), std::ptr::from_ref(processors)) };
    }
}
