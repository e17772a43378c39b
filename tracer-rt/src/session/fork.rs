//! Across `fork`: no lock is held by a thread that does not exist, and the child begins a file of its own.
//!
//! A signal handler may fork while its own thread is in the midst of the recorder's work and holds some of the locks. Those are left alone; the
//! others are waited for, but not for ever, as their holders may wait for ours. In the child that work goes on to its end, on the child's copy of
//! everything; what it writes goes nowhere. When it gives back its last lock the child begins anew.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cursor::{CURSOR, Cursor};
use crate::live_file::{self, LOG, Log};
use crate::locks::{self, Guard, Lock};
use crate::names::{TABLES, Tables};
use crate::state::{STATE, State};
use crate::writer::{self, SINK, Writer, affinity};
use crate::{fault_injection, reentrancy};

/// Handlers of `fork` are there before `main`: a `fork` that had begun before the first record of another thread would not
/// know of handlers made by it, and its child would find the locks held for ever.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = watch;

pub(crate) extern "C" fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Ordering::Relaxed) {
        affinity::remember();
        // SAFETY: the handlers are functions of this library, which is never unloaded before the process ends.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
    }
}

type Held<T> = Option<Guard<'static, T>>;

/// What the thread that forks got of the locks, in their order.
struct Guards {
    sink: Held<Writer>,
    state: Held<State>,
    tables: Held<Tables>,
    log: Held<Log>,
}

/// What a thread that forks knows on both sides of it. Without a destructor, which would have to be told of.
struct Forking {
    /// What the thread was about.
    before: u32,
    /// Locks that it held before.
    mine: u8,
    guards: ManuallyDrop<Guards>,
}

thread_local! {
    static FORKING: Cell<Option<Forking>> = const { Cell::new(None) };
}

/// A lock, unless the thread holds it. In a signal handler the holder may wait for a lock of this thread: then it stands between two steps of
/// its work, and what it guards is whole.
fn get<T>(lock: &'static Lock<T>, mine: u8) -> Held<T> {
    const PATIENCE: Duration = Duration::from_secs(1);
    if mine == 0 || fault_injection::injected("forks wait") {
        return Some(lock.lock());
    }
    if lock.is_mine() { None } else { lock.lock_within(PATIENCE) }
}

extern "C" fn before_fork() {
    // A signal handler that records meanwhile must not wait for the locks of its own thread.
    let before = CURSOR.with(Cursor::begin_work);
    let mine = locks::held();
    let guards =
        Guards { sink: get(&SINK, mine), state: get(&STATE, mine), tables: get(&TABLES, mine), log: get(&LOG, mine) };
    FORKING.with(|forking| forking.set(Some(Forking { before, mine, guards: ManuallyDrop::new(guards) })));
}

extern "C" fn after_fork() {
    let Some(Forking { before, guards, .. }) = FORKING.with(Cell::take) else { return };
    drop(ManuallyDrop::into_inner(guards));
    CURSOR.with(|cursor| cursor.end_work(before));
}

extern "C" fn in_child() {
    let Some(Forking { before, mine, guards }) = FORKING.with(Cell::take) else { return };
    let guards = ManuallyDrop::into_inner(guards);
    let revive = [guards.sink.is_none(), guards.state.is_none(), guards.tables.is_none(), guards.log.is_none()];
    if mine != 0 {
        locks::set_unsettled(begin_anew);
        writer::detach();
        live_file::detach();
    }
    drop(guards);
    free(&SINK, revive[0]);
    free(&STATE, revive[1]);
    free(&TABLES, revive[2]);
    free(&LOG, revive[3]);
    if mine == 0 {
        begin_anew();
    }
    CURSOR.with(|cursor| cursor.end_work(before));
}

/// In the child: a lock that was not to be had is free, unless this thread has it.
fn free<T>(lock: &Lock<T>, revive: bool) {
    if revive && !lock.is_mine() {
        // SAFETY: a forked child has one thread, and that does not hold it.
        unsafe { lock.revive() };
    }
    lock.forget_waiting();
}

#[cold]
fn begin_anew() {
    let (mut sink, mut state, mut tables) = (SINK.lock(), STATE.lock(), TABLES.lock());
    sink.forget();
    reentrancy::disown_process();
    state.begin_child();
    CURSOR.with(Cursor::forget_streams);
    tables.forget_overflow();
}
