//! Fork handlers: in the child, no lock is held by a thread that does not exist, and the child
//! begins a file of its own.
//!
//! A signal handler may fork while its own thread runs the recorder and holds some of the locks.
//! The fork leaves these locks alone. It waits for the other locks, but only for a limited time,
//! because their holders may wait for locks of this thread. In the child, the interrupted work
//! continues on the child's copy of all data, and its writes go nowhere. When the thread releases
//! its last lock, the child begins again.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cursor::{CURSOR, ThreadCursor};
use crate::intern_tables::{InternTables, TABLES};
use crate::live_file::{self, LOG, LiveLogState};
use crate::locks::{self, RecorderLock, RecorderLockGuard};
use crate::state::{RecorderState, STATE};
use crate::writer::{self, BLOCK_WRITER, BlockWriter, affinity};
use crate::{fault_injection, reentrancy};

/// The fork handlers are installed before `main`.
/// A `fork` that began before another thread's first record would not run handlers installed by
/// that record. Its child would find the locks held for ever.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = watch;

pub(crate) extern "C" fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Ordering::Relaxed) {
        affinity::store_affinity();
        // SAFETY: the handlers are functions of this library, which is never unloaded before the
        // process ends.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
    }
}

type HeldLock<T> = Option<RecorderLockGuard<'static, T>>;

/// The guards that the forking thread acquired, in lock order.
struct ForkLocks {
    writer: HeldLock<BlockWriter>,
    state: HeldLock<RecorderState>,
    tables: HeldLock<InternTables>,
    log: HeldLock<LiveLogState>,
}

/// State of the forking thread before and after the fork.
/// Without a destructor, because thread-local destructors must be registered.
struct ForkState {
    /// The activity of the thread before the fork.
    parent_work: u32,
    /// Bits of the locks that the thread held before the fork.
    owner_code: u8,
    guards: ManuallyDrop<ForkLocks>,
}

thread_local! {
    static FORKING: Cell<Option<ForkState>> = const { Cell::new(None) };
}

/// Takes a lock, unless the thread holds it.
/// In a signal handler, the holder may wait for a lock of this thread. It is then between two steps
/// of its work, and its data is consistent, so the fork proceeds without the lock after one second.
fn get<T>(lock: &'static RecorderLock<T>, owner_code: u8) -> HeldLock<T> {
    const PATIENCE: Duration = Duration::from_secs(1);
    if owner_code == 0 || fault_injection::is_injected("forks wait") {
        return Some(lock.lock());
    }
    if lock.is_mine() { None } else { lock.lock_within(PATIENCE) }
}

extern "C" fn before_fork() {
    // A signal handler that records meanwhile must not wait for the locks of its own thread.
    let parent_work = CURSOR.with(ThreadCursor::begin_work);
    let owner_code = locks::held_locks();
    let guards = ForkLocks {
        writer: get(&BLOCK_WRITER, owner_code),
        state: get(&STATE, owner_code),
        tables: get(&TABLES, owner_code),
        log: get(&LOG, owner_code),
    };
    FORKING.with(|forking| forking.set(Some(ForkState { parent_work, owner_code, guards: ManuallyDrop::new(guards) })));
}

extern "C" fn after_fork() {
    let Some(ForkState { parent_work, guards, .. }) = FORKING.with(Cell::take) else { return };
    drop(ManuallyDrop::into_inner(guards));
    CURSOR.with(|cursor| cursor.end_work(parent_work));
}

extern "C" fn in_child() {
    let Some(ForkState { parent_work, owner_code, guards }) = FORKING.with(Cell::take) else { return };
    let guards = ManuallyDrop::into_inner(guards);
    let revive = [guards.writer.is_none(), guards.state.is_none(), guards.tables.is_none(), guards.log.is_none()];
    if owner_code != 0 {
        locks::set_unsettled(restart_in_child);
        writer::detach();
        live_file::detach();
    }
    drop(guards);
    free_in_child(&BLOCK_WRITER, revive[0]);
    free_in_child(&STATE, revive[1]);
    free_in_child(&TABLES, revive[2]);
    free_in_child(&LOG, revive[3]);
    if owner_code == 0 {
        restart_in_child();
    }
    CURSOR.with(|cursor| cursor.end_work(parent_work));
}

/// Frees, in the child, a lock that the fork could not take, unless this thread holds it.
fn free_in_child<T>(lock: &RecorderLock<T>, revive: bool) {
    if revive && !lock.is_mine() {
        // SAFETY: a forked child has one thread, and this thread does not hold the lock.
        unsafe { lock.revive() };
    }
    lock.forget_waiting();
}

#[cold]
fn restart_in_child() {
    let (mut writer, mut state, mut tables) = (BLOCK_WRITER.lock(), STATE.lock(), TABLES.lock());
    writer.reset_in_child();
    reentrancy::disown_process();
    state.begin_child();
    CURSOR.with(ThreadCursor::forget_streams);
    tables.forget_overflow();
}
