//! Where the helper runs: on the processors that the process began on, not on the one to which the thread that started it is bound.

use std::mem;
use std::sync::OnceLock;

static BEGUN_ON: OnceLock<libc::cpu_set_t> = OnceLock::new();

/// Before `main`: on which processors the process may run.
pub(crate) fn remember() {
    // SAFETY: a set of processors is plain numbers; none, to begin with.
    let mut processors: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a live local of that size.
    if unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut processors) } == 0 {
        // It is there already if two libraries do so.
        let _ = BEGUN_ON.set(processors);
    }
}

/// The calling thread runs there from now on.
pub(crate) fn take_all() {
    if let Some(processors) = BEGUN_ON.get() {
        // SAFETY: as above. Where the system does not want it, nothing is changed.
        unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), std::ptr::from_ref(processors)) };
    }
}
