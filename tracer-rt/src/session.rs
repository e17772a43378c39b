//! The session: how recording begins and ends, and what programs ask of it in between.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::buffer::{CURSOR, busy};
use crate::config::Config;
use crate::intern::TABLES;
use crate::later;
use crate::launch;
use crate::sink::{SINK, Sink};
use crate::state::{Phase, STATE};

/// Why [`start`] could not record. The program can go on: its records are dropped.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Recording has begun already (`TUMIT_START=1` begins it, too), has ended, or could not begin before.
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
            Self::Late => {
                f.write_str("recording has begun already, or could not: call `start` once, before the first record")
            }
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
    let mut result = Err(StartError::Late);
    unnested(|| result = start_now(config));
    result
}

/// With the first use of a spec: begins if the environment asks for it (`TUMIT_START`), even where all levels are off, so that they can be
/// switched on from outside. The thread is marked as busy.
pub(crate) fn start_if_asked() {
    if std::env::var_os("TUMIT_START").is_some_and(|text| !text.is_empty()) {
        // Late is as good, and what is wrong has been told.
        let _ = start_now(Config::default());
    }
}

fn start_now(config: Config) -> Result<Session, StartError> {
    let mut sink = SINK.lock();
    let mut state = STATE.lock();
    if state.phase != Phase::Idle {
        return Err(StartError::Late);
    }
    state.config = Some(config);
    if !state.prepare() {
        return Err(StartError::Memory);
    }
    let folder = state.folder.clone().unwrap_or_default();
    drop(state);
    let opened = sink.open();
    STATE.lock().record();
    match opened {
        Ok(()) => Ok(Session { folder }),
        Err(source) => Err(StartError::Folder { path: folder, source }),
    }
}

/// Begins to record unless it did. False when it cannot, or has ended. The file is there when this returns, and all names
/// known so far are in it or in the live file.
pub(crate) fn begin() -> bool {
    let phase = STATE.lock().phase;
    if phase != Phase::Idle {
        return phase == Phase::Recording;
    }
    let mut sink = SINK.lock();
    let mut state = STATE.lock();
    if state.phase != Phase::Idle {
        return state.phase == Phase::Recording;
    }
    let ready = state.prepare();
    drop(state);
    if ready {
        sink.write_names();
        STATE.lock().record();
    }
    ready
}

/// Writes names to the file in the calling thread: those for which the live file has no room.
pub(crate) fn write_names() {
    let mut sink = SINK.lock();
    if STATE.lock().is_recording() {
        sink.write_names();
    }
}

/// Writes out what was recorded so far, of all threads.
pub fn flush() {
    if !unnested(|| SINK.lock().flush()) {
        later::ask(later::FLUSH);
    }
}

/// Writes out what the levels that overwrite ([`crate::Policy::Overwrite`]) hold, of all threads, oldest first. They go on
/// recording, into what is then empty.
pub fn dump() {
    if !unnested(|| SINK.lock().dump()) {
        later::ask(later::DUMP);
    }
}

/// Ends recording: writes out everything, of all threads, and closes the file. Later records are dropped. Not needed at
/// the end of a process, which does the same. Before anything is recorded it does nothing.
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
    /// After the end: in the live file, because the file could not take them.
    pub kept: u64,
}

/// How many records were written and dropped so far by this process.
#[must_use]
pub fn counts() -> Counts {
    let mut counts = Counts::default();
    unnested(|| {
        counts.written = SINK.lock().records_written();
        let state = STATE.lock();
        let unwritten = state.unwritten_at_the_end();
        let (kept, late) = if state.kept { (unwritten, 0) } else { (0, unwritten) };
        (counts.dropped, counts.kept) = (state.dropped() + late, kept);
    });
    counts
}

/// Runs work that takes locks, with records of signal handlers kept out, unless it is itself in such a handler: then it says no.
pub(crate) fn unnested(work: impl FnOnce()) -> bool {
    CURSOR.with(|cursor| {
        let before = cursor.begin_work();
        if before == busy::IDLE && is_own_process() {
            work();
        }
        cursor.end_work(before);
        before == busy::IDLE
    })
}

/// The process that records; 0 before it does.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// This process records from now on.
pub(crate) fn own_process() {
    PROCESS.store(std::process::id(), Ordering::Relaxed);
}

/// In a child: none does.
pub(crate) fn disown_process() {
    PROCESS.store(0, Ordering::Relaxed);
}

/// Whether this is not a child that no fork handler was told of (`_Fork`, a raw `clone`): the trace that it sees is its parent's.
fn is_own_process() -> bool {
    let process = PROCESS.load(Ordering::Relaxed);
    process == 0 || process == std::process::id()
}

/// One line for the user, on the standard error; nothing more can be done.
pub(crate) fn report(line: &str) {
    let text = format!("tumit: {line}\n");
    // SAFETY: pointer and length are of one live string.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
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
    let (unknown, policies) = (state.levels.unknown(), state.levels.unknown_policies());
    drop(state);
    for name in unknown {
        report(&format!("TUMIT_LEVELS: no spec that this program uses has a level `{name}`"));
    }
    for name in policies {
        report(&format!("a policy is given to level `{name}`, which no spec that this program uses has"));
    }
    let dropped = sink.finish();
    let state = STATE.lock();
    let (folder, tells_folder) = (state.folder.clone().unwrap_or_default(), state.tells_folder);
    drop(state);
    if dropped > 0 {
        report(&format!("{dropped} records are missing from {}", folder.display()));
    }
    // Once per launch.
    if tells_folder && launch::is_first() {
        report(&format!("the trace is in {}", folder.display()));
    }
}

pub(crate) extern "C" fn at_exit() {
    // The helper may be in the midst of a write; a thread that never runs again may hold a lock.
    const PATIENCE: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(500);
    if !is_own_process() {
        return;
    }
    CURSOR.with(|cursor| {
        // A signal handler may end the process in the midst of a record of its own thread: that record alone is lost,
        // unless it was in the slow path and holds a lock: others may hold the sink and wait for that.
        let before = cursor.begin_work();
        if cursor.held.get() != 0 {
            return;
        }
        if before != busy::IDLE && (STATE.lock_within(SHORT).is_none() || TABLES.lock_within(SHORT).is_none()) {
            return;
        }
        if let Some(mut sink) = SINK.lock_within(PATIENCE) {
            finish_with(&mut sink);
        }
        cursor.end_work(before);
    });
}
