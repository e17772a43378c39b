//! The session: what the process records, from the first record to its end; also across `fork`.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::thread::Thread;
use std::time::Duration;

use tracer_format::entries::Anchor;

use crate::buffer::{CURSOR, Cursor, Slot};
use crate::intern::{TABLES, Tables};
use crate::level::Levels;
use crate::pool::Pool;
use crate::sink::{SINK, Sink};
use crate::sync::{AcrossFork, Lock};
use crate::thread::{self, Losses, STRAYS, Stream};
use crate::{clock, helper, process};

/// What [`start`] may be told. Everything has a default, from the environment where it names one.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Config {
    /// The run folder; else `TUMIT_TRACE`, else `./PROGRAM-DATE-PID.tmt`. Processes may share one.
    pub folder: Option<PathBuf>,
    /// Memory for records that are not yet in the file, in bytes; else `TUMIT_MEMORY`, else 16 MiB.
    pub memory_bytes: Option<usize>,
    /// Processes with equal text read one clock. For a clock given by [`crate::set_clock`]; the machine's own is known.
    pub clock_domain: Option<String>,
}

impl Config {
    /// The environment's choices: `TUMIT_TRACE` and `TUMIT_MEMORY` (bytes, or with `K`, `M`, `G`).
    #[must_use]
    pub fn from_env() -> Self {
        let folder = std::env::var_os("TUMIT_TRACE").filter(|path| !path.is_empty()).map(PathBuf::from);
        let memory_bytes = std::env::var("TUMIT_MEMORY").ok().and_then(|text| {
            let bytes = parse_bytes(&text);
            if bytes.is_none() {
                report(&format!("TUMIT_MEMORY: `{text}` is not understood: write a number of bytes, or 64M"));
            }
            bytes
        });
        Self { folder, memory_bytes, clock_domain: None }
    }
}

fn parse_bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 10),
        b'm' | b'M' => (&text[..text.len() - 1], 20),
        b'g' | b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.trim().parse::<usize>().ok()?.checked_mul(1 << shift)
}

/// Why [`start`] could not record. The program can go on: its records are dropped.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Recording has begun already, or has ended.
    Late,
    /// The file in the run folder could not be made.
    Folder {
        /// The run folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no memory for the buffers.
    Memory,
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Late => f.write_str("recording has begun already: call `start` before the first record"),
            Self::Folder { path, source } => write!(
                f,
                "cannot record in `{}`: {source}; set TUMIT_TRACE to a folder that can be made and written",
                path.display()
            ),
            Self::Memory => f.write_str("no memory for the buffers of records: set TUMIT_MEMORY to less"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Folder { source, .. } => Some(source),
            Self::Late | Self::Memory => None,
        }
    }
}

/// A session that was started by [`start`]. Dropping it changes nothing: recording ends with the process, or by
/// [`Session::finish`].
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
}

impl Session {
    /// The run folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends recording, as [`finish`] does.
    pub fn finish(self) {
        finish();
    }
}

/// Starts recording now, with these choices. Optional: recording starts by itself at the first record.
///
/// # Errors
/// When it began before, or the file cannot be made; the program may go on in either case.
pub fn start(config: Config) -> Result<Session, StartError> {
    let mut state = STATE.lock();
    if state.phase != Phase::Idle {
        return Err(StartError::Late);
    }
    state.config = Some(config);
    if !state.start() {
        return Err(StartError::Memory);
    }
    let folder = state.folder.clone().unwrap_or_default();
    drop(state);
    match SINK.lock().open() {
        Ok(()) => Ok(Session { folder }),
        Err(source) => Err(StartError::Folder { path: folder, source }),
    }
}

/// Writes out what was recorded so far, of all threads.
pub fn flush() {
    unnested(|| SINK.lock().flush());
}

/// Ends recording: writes out everything, of all threads, and closes the file. Later records are dropped. Not needed at
/// the end of a process, which does the same.
pub fn finish() {
    unnested(|| finish_with(&mut SINK.lock()));
}

/// Numbers of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// In the file. Call [`flush`] before, to count those in the buffers.
    pub written: u64,
    /// Dropped, for whatever reason.
    pub dropped: u64,
}

/// How many records were written and dropped so far by this process.
#[must_use]
pub fn counts() -> Counts {
    let mut counts = Counts::default();
    unnested(|| {
        counts.written = SINK.lock().records_written();
        let state = STATE.lock();
        counts.dropped = state.dropped() + state.late();
    });
    counts
}

/// Runs work that takes locks, with records of signal handlers kept out, unless it is itself in such a handler.
pub(crate) fn unnested(work: impl FnOnce()) {
    CURSOR.with(|cursor| {
        if !cursor.busy.swap(true, Ordering::Relaxed) {
            work();
            cursor.busy.store(false, Ordering::Release);
        }
    });
}

/// One line for the user, on the standard error; nothing more can be done.
pub(crate) fn report(line: &str) {
    let text = format!("tumit: {line}\n");
    // SAFETY: pointer and length are of one live string.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Recording,
    Finished,
}

/// What the threads and the helper share.
#[derive(Debug)]
pub(crate) struct State {
    phase: Phase,
    config: Option<Config>,
    /// The run folder, absolute, once recording.
    pub(crate) folder: Option<PathBuf>,
    /// The process's id, and the first reading of its clocks, once recording.
    pub(crate) process_id: [u8; 16],
    pub(crate) first_anchor: Anchor,
    /// Process id of the parent that was forked.
    pub(crate) parent: Option<[u8; 16]>,
    pub(crate) pool: Pool,
    /// Slots to be written, oldest first.
    pub(crate) full: VecDeque<*const Slot>,
    /// Streams by their index; those that are written out and gone leave.
    pub(crate) entries: Vec<Entry>,
    next_stream: u32,
    /// What streams that left had dropped.
    dropped_by_the_gone: u64,
    pub(crate) levels: Levels,
    pub(crate) helper: Option<Thread>,
    pub(crate) thread_key: Option<libc::pthread_key_t>,
    hooked: bool,
}

// SAFETY: the pointers are to slots, which are never unmapped, and to cursors, which outlive their entries' use.
unsafe impl Send for State {}

/// A stream, as the session sees it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) stream: Box<Stream>,
    /// The thread's cursor, or null when the thread has ended.
    pub(crate) cursor: *const Cursor,
    pub(crate) tid: u64,
    pub(crate) name: Option<String>,
    /// Thread id and name are in the file.
    pub(crate) told: bool,
    pub(crate) next_sequence: u64,
}

pub(crate) static STATE: Lock<State> = Lock::new(State {
    phase: Phase::Idle,
    config: None,
    folder: None,
    process_id: [0; 16],
    first_anchor: Anchor { ticks: 0, monotonic_nanos: 0, real_nanos: 0, bracket: 0 },
    parent: None,
    pool: Pool::empty(),
    full: VecDeque::new(),
    entries: Vec::new(),
    next_stream: 0,
    dropped_by_the_gone: 0,
    levels: Levels::new(),
    helper: None,
    thread_key: None,
    hooked: false,
});

impl State {
    pub(crate) fn is_recording(&self) -> bool {
        self.phase == Phase::Recording
    }

    pub(crate) fn entry(&mut self, stream: u32) -> Option<&mut Entry> {
        let at = self.entries.binary_search_by_key(&stream, |entry| entry.stream.index).ok()?;
        self.entries.get_mut(at)
    }

    /// Begins to record unless it did. False when it cannot, or has ended.
    pub(crate) fn start(&mut self) -> bool {
        const MEMORY_BYTES: usize = 16 << 20;
        match self.phase {
            Phase::Recording => return true,
            Phase::Finished => return false,
            Phase::Idle => {}
        }
        let asked = self.config.clone().unwrap_or_default();
        let environment = Config::from_env();
        let memory = asked.memory_bytes.or(environment.memory_bytes).unwrap_or(MEMORY_BYTES);
        if let Err(error) = self.pool.map(memory) {
            report(&format!("cannot record: no memory for buffers ({error}); events are dropped"));
            self.phase = Phase::Finished;
            return false;
        }
        self.full.reserve(self.pool.slots());
        if self.folder.is_none() {
            let folder = asked.folder.or(environment.folder).unwrap_or_else(process::default_folder);
            self.folder = Some(std::path::absolute(&folder).unwrap_or(folder));
        }
        self.process_id = process::new_id();
        self.first_anchor = clock::anchor();
        self.hook();
        self.phase = Phase::Recording;
        self.helper = helper::spawn();
        true
    }

    /// What the user said of the clock.
    pub(crate) fn clock_domain(&self) -> Option<String> {
        self.config.as_ref().and_then(|config| config.clock_domain.clone())
    }

    pub(crate) fn add_stream(&mut self, cursor: &Cursor, tid: u64, name: Option<String>) -> *const Stream {
        let stream = Box::new(Stream {
            index: self.next_stream,
            slot: AtomicPtr::new(std::ptr::null_mut()),
            losses: Losses::default(),
        });
        self.next_stream += 1;
        let address = &raw const *stream;
        self.entries.push(Entry { stream, cursor, tid, name, told: false, next_sequence: 0 });
        address
    }

    /// Lets go of streams whose threads have ended and of which everything is told.
    pub(crate) fn forget_the_gone(&mut self) {
        if !self.full.is_empty() {
            return;
        }
        let mut dropped = 0;
        self.entries.retain(|entry| {
            let stream = &entry.stream;
            let gone = entry.cursor.is_null() && entry.told && !stream.losses.untold();
            dropped += if gone { stream.losses.total() } else { 0 };
            !gone
        });
        self.dropped_by_the_gone += dropped;
    }

    /// Records dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        let alive: u64 = self.entries.iter().map(|entry| entry.stream.losses.total()).sum();
        alive + self.dropped_by_the_gone + STRAYS.load(Ordering::Relaxed)
    }

    /// Records made after the end of recording, in slots that nobody writes out any more.
    fn late(&self) -> u64 {
        if self.phase != Phase::Finished {
            return 0;
        }
        let live = self.entries.iter().map(|entry| entry.stream.slot.load(Ordering::Relaxed).cast_const());
        // SAFETY: a stream's slot is null or, as those of the queue, one of the pool, which is never unmapped.
        let heads = live.chain(self.full.iter().copied()).filter_map(|slot| unsafe { slot.as_ref() });
        heads.map(|head| u64::from(head.unwritten())).sum()
    }

    /// Asks the system to tell of the end of threads, of the process, and of forks. Once.
    fn hook(&mut self) {
        if self.hooked {
            return;
        }
        self.hooked = true;
        self.thread_key = thread::thread_key();
        watch_forks();
        // SAFETY: the handler is a function of this library, which is never unloaded before the process ends.
        unsafe { libc::atexit(at_exit) };
    }
}

/// Writes full slots in the calling thread: for systems that gave us no helper.
pub(crate) fn write_here() {
    SINK.lock().write_full();
}

fn finish_with(sink: &mut Sink) {
    let mut state = STATE.lock();
    if !state.is_recording() {
        return;
    }
    state.phase = Phase::Finished;
    drop(state);
    sink.finish();
}

extern "C" fn at_exit() {
    // The helper may be in the midst of a write; a thread that never runs again may hold a lock.
    const PATIENCE: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(500);
    CURSOR.with(|cursor| {
        // A signal handler may end the process in the midst of a record of its own thread: that record alone is lost,
        // unless it was in the slow path and holds a lock.
        let nested = cursor.busy.swap(true, Ordering::Relaxed);
        if nested && (STATE.lock_within(SHORT).is_none() || TABLES.lock_within(SHORT).is_none()) {
            return;
        }
        if let Some(mut sink) = SINK.lock_within(PATIENCE) {
            finish_with(&mut sink);
        }
        cursor.busy.store(nested, Ordering::Release);
    });
}

/// Handlers of `fork` are there before `main`: a `fork` that had begun before the first record of another thread would not
/// know of handlers made by it, and its child would find the locks held for ever.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = watch_forks;

extern "C" fn watch_forks() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Ordering::Relaxed) {
        // SAFETY: the handlers are functions of this library, which is never unloaded before the process ends.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
    }
}

type Guards = (MutexGuard<'static, Sink>, MutexGuard<'static, State>, MutexGuard<'static, Tables>);
static FORK: AcrossFork<Guards> = AcrossFork::new();

extern "C" fn before_fork() {
    let guards = (SINK.lock(), STATE.lock(), TABLES.lock());
    // SAFETY: the guards keep other forks out.
    unsafe { FORK.hold(guards) };
}

extern "C" fn after_fork() {
    // SAFETY: this thread called `before_fork`.
    drop(unsafe { FORK.take() });
}

/// The child has one thread and no helper. What its parent had not written is the parent's to write; the child's first
/// record opens a file of its own in the same folder.
extern "C" fn in_child() {
    // SAFETY: this thread called `before_fork`.
    let Some((mut sink, mut state, tables)) = (unsafe { FORK.take() }) else { return };
    if state.phase == Phase::Recording {
        state.phase = Phase::Idle;
        state.parent = Some(state.process_id);
    }
    sink.forget();
    state.full.clear();
    // Not freed: a signal handler may have interrupted a record of another thread, which exists no more.
    std::mem::forget(std::mem::take(&mut state.entries));
    state.next_stream = 0;
    state.dropped_by_the_gone = 0;
    state.helper = None;
    STRAYS.store(0, Ordering::Relaxed);
    thread::forget_stream();
    drop((tables, state, sink));
    SINK.forget_waiting();
    STATE.forget_waiting();
    TABLES.forget_waiting();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed() {
        assert_eq!(parse_bytes("64M"), Some(64 << 20));
        assert_eq!(parse_bytes(" 3 k"), Some(3072));
        assert_eq!(parse_bytes("100"), Some(100));
        for bad in ["", "M", "1.5M", "-1", "99999999999999G"] {
            assert_eq!(parse_bytes(bad), None, "{bad}");
        }
    }
}
