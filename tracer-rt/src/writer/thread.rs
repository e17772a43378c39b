//! The writer thread.
//!
//! It writes the full slots, ten times per second or when slots are scarce, and executes requests
//! of other processes. It checks for clock steps. About once per second it reads the clocks and
//! writes the records in the slots of quiet threads.

use std::sync::atomic::Ordering;
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::affinity;
use super::block_writer::BLOCK_WRITER;
use crate::cursor::{self, CURSOR};
use crate::reentrancy::run_unnested;
use crate::signal::handler_requests;
use crate::slots::{pool, used_bytes};
use crate::state::STATE;
use crate::{fault_injection, live_file, self_trace};

const PERIOD: Duration = Duration::from_secs(1);
/// The first period is shorter, so that a process that is killed early leaves two readings of its
/// clocks, and therefore the rate of its own clock.
const FIRST: Duration = Duration::from_millis(100);
/// Sleep time when there is little work.
const IDLE_SLEEP: Duration = Duration::from_millis(100);
/// Sleep time when threads fill slots all the time, so that they need not wake the writer thread.
const SHORT_SLEEP: Duration = Duration::from_millis(10);
const STACK_BYTES: usize = 256 << 10;

/// Starts the writer thread.
/// It blocks all signals, because signals belong to the program. Returns `None` if the system
/// provides no thread: the threads then write their own slots.
pub(crate) fn spawn() -> Option<Thread> {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the pointer is to a local of the right type.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: both pointers are to locals of the right type, the first filled.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    let spawned = std::thread::Builder::new().name("tumit-writer".to_owned()).stack_size(STACK_BYTES).spawn(run);
    // SAFETY: the mask was filled by the call above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    spawned.ok().map(|handle| handle.thread().clone())
}

/// Touches the pages of some slots, so that the program's threads have fewer page faults.
/// Without a lock that such a thread may need.
fn warm_slots() {
    loop {
        let cold = STATE.lock().pool.take_cold();
        let Some(slot) = cold else { return };
        pool::make_ready(slot);
        STATE.lock().pool.add_warm(slot);
    }
}

/// Executes a request of another process.
fn answer_request() {
    if let Some((number, text)) = live_file::request() {
        let has_all = STATE.lock().levels.switch_all(&text);
        live_file::answer(number, u32::from(!has_all));
    }
}

/// Runs the writer thread.
/// Its work counts as recorder work, as in other threads, because the program's allocator may
/// record.
fn run() {
    cursor::exclude_from_test_signals();
    affinity::use_start_processors();
    let mut next = Instant::now() + FIRST;
    let mut next_reading = next;
    let mut written_blocks = 0;
    CURSOR.with(|cursor| cursor.name.set(Some("tracer")));
    while STATE.lock().is_recording() {
        fault_injection::hold_writer_thread();
        let span = record_write();
        // Block by block, so that a `fork` or a flush waits for at most one write.
        let mut has_more = false;
        run_unnested(|| has_more = BLOCK_WRITER.lock().write_next());
        drop(span);
        BLOCK_WRITER.give_way();
        run_unnested(|| {
            warm_slots();
            STATE.lock().fill_spares();
        });
        let now = Instant::now();
        if now >= next_reading {
            run_unnested(|| BLOCK_WRITER.lock().read_clocks());
            next_reading = now + IDLE_SLEEP;
        }
        if now >= next {
            run_unnested(|| BLOCK_WRITER.lock().tick());
            next = now + PERIOD;
        }
        run_unnested(answer_request);
        serve_deferred();
        written_blocks += u32::from(has_more);
        if !has_more {
            let sleep = if written_blocks >= 2 { SHORT_SLEEP } else { IDLE_SLEEP };
            written_blocks = 0;
            std::thread::park_timeout(sleep.min(next.saturating_duration_since(Instant::now())));
        }
    }
}

/// Records, if self-tracing is on, that the writer thread is about to write a slot.
/// Called without a lock of the recorder.
fn record_write() -> Option<impl Drop> {
    self_trace::LEVEL.known_base()?;
    let state = STATE.lock();
    let (first, blocks) = (*state.full_slots.front()?, state.full_slots.len() as u32);
    // SAFETY: slots are never unmapped.
    let bytes = used_bytes(unsafe { &*first }.state.load(Ordering::Relaxed));
    drop(state);
    Some(self_trace::tumit::write(blocks, bytes as u64))
}

/// Executes the requests of signal handlers.
pub(crate) fn serve_deferred() {
    for (name, on) in handler_requests::take_switches() {
        run_unnested(|| STATE.lock().levels.switch(&name, on));
    }
    let requests = handler_requests::take_requests();
    for (request, paused) in [(handler_requests::PAUSE, true), (handler_requests::RESUME, false)] {
        if requests & request != 0 {
            run_unnested(|| STATE.lock().levels.set_paused(paused));
        }
    }
    if requests & handler_requests::FLUSH != 0 {
        run_unnested(|| BLOCK_WRITER.lock().flush());
    }
    if requests & handler_requests::DUMP != 0 {
        run_unnested(|| BLOCK_WRITER.lock().dump());
    }
}
