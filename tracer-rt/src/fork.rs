//! Across `fork`: no lock is held by a thread that does not exist, and the child begins a file of its own.

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::buffer::CURSOR;
use crate::intern::{TABLES, Tables};
use crate::session::{STATE, State};
use crate::sink::{SINK, Sink};
use crate::sync::AcrossFork;
use crate::thread;

/// Handlers of `fork` are there before `main`: a `fork` that had begun before the first record of another thread would not
/// know of handlers made by it, and its child would find the locks held for ever.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = watch;

pub(crate) extern "C" fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Ordering::Relaxed) {
        // SAFETY: the handlers are functions of this library, which is never unloaded before the process ends.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
    }
}

type Guards = (MutexGuard<'static, Sink>, MutexGuard<'static, State>, MutexGuard<'static, Tables>);
static FORK: AcrossFork<Guards> = AcrossFork::new();
/// The thread that forks was in the midst of a record.
static NESTED_FORK: AtomicBool = AtomicBool::new(false);

extern "C" fn before_fork() {
    // A signal handler that records meanwhile must not wait for the locks of its own thread.
    CURSOR.with(|cursor| NESTED_FORK.store(cursor.busy.swap(true, Ordering::Relaxed), Ordering::Relaxed));
    let guards = (SINK.lock(), STATE.lock(), TABLES.lock());
    // SAFETY: the guards keep other forks out.
    unsafe { FORK.hold(guards) };
}

extern "C" fn after_fork() {
    // Read before another thread may fork.
    let nested = NESTED_FORK.load(Ordering::Relaxed);
    // SAFETY: this thread called `before_fork`.
    drop(unsafe { FORK.take() });
    CURSOR.with(|cursor| cursor.busy.store(nested, Ordering::Release));
}

extern "C" fn in_child() {
    // SAFETY: this thread called `before_fork`.
    let Some((mut sink, mut state, mut tables)) = (unsafe { FORK.take() }) else { return };
    sink.forget();
    state.begin_child();
    thread::forget_stream();
    tables.forget_overflow();
    drop((tables, state, sink));
    SINK.forget_waiting();
    STATE.forget_waiting();
    TABLES.forget_waiting();
    CURSOR.with(|cursor| cursor.busy.store(NESTED_FORK.load(Ordering::Relaxed), Ordering::Release));
}
