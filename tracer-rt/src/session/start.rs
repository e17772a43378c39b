//! The start of recording: folder, buffers, live file, and the handlers for ends and forks.

use std::path::Path;
use std::sync::Once;
use std::sync::atomic::Ordering;

use tracer_format::live_file::LiveLayout;
use tracer_format::tags::{append_integer, append_tag, tag};
use tracer_format::{BlockKind, PROCESS_STREAM};

use super::control::Session;
use super::start_error::StartError;
use super::{end, fork, thread_end};
use crate::config::RecorderConfig;
use crate::intern_tables::{InternTables, TABLES};
use crate::levels::level_table::RegisteredProvider;
use crate::levels::overflow_policy;
use crate::live_file::{self, LiveFile, MappedRegion, SlotLocation};
use crate::local_clock;
use crate::process::{self, ProcessName};
use crate::reentrancy::{self, run_unnested};
use crate::slots::SLOT_BYTES;
use crate::slots::pool::{self, SlotPool};
use crate::state::{RecorderState, STATE, SYNC_EXCHANGES, SYNC_INTERVAL, SessionPhase};
use crate::stream::STRAYS;
use crate::user_messages::report;
use crate::writer::{self, BLOCK_WRITER};

/// The value of the tag `BUFFERS` for private memory after a live file could not be created.
const FALLBACK: u64 = 2;

/// Memory in bytes that the slots leave for other uses.
const SPARE_BYTES: usize = 4 << 20;

/// Starts recording now, with these options.
/// Optional, because recording starts at the first record.
///
/// # Errors
/// If recording started before, or if the file cannot be created. The program may continue in both
/// cases.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let parent = tempfile::tempdir()?;
/// let mut config = tracer_rt::RecorderConfig::from_env();
/// config.folder = Some(parent.path().join("run.tmt"));
/// config.memory_bytes = Some(4 << 20);
/// let session = tracer_rt::start(config)?;
/// assert!(session.folder().is_dir());
/// session.finish();
/// # Ok(())
/// # }
/// ```
pub fn start(config: RecorderConfig) -> Result<Session, StartError> {
    let mut result = Err(StartError::Late);
    run_unnested(|| result = start_now(config));
    result
}

/// Starts recording at the first use of a spec, if the environment requests it (`TUMIT_START`).
/// This happens even if all levels are off, so that they can be switched on from outside. The
/// thread is marked as busy.
pub(crate) fn start_if_requested() {
    if std::env::var_os("TUMIT_START").is_some_and(|text| !text.is_empty()) {
        // If recording has started already, there is nothing to do. Other errors were reported
        // before.
        let _ = start_now(RecorderConfig::default());
    }
}

fn start_now(config: RecorderConfig) -> Result<Session, StartError> {
    let mut writer = BLOCK_WRITER.lock();
    let mut state = STATE.lock();
    if state.phase != SessionPhase::Idle {
        return Err(StartError::Late);
    }
    state.config = Some(config);
    if !state.prepare() {
        return Err(StartError::Memory);
    }
    let folder = state.folder.clone().unwrap_or_default();
    drop(state);
    let opened = writer.open();
    STATE.lock().record();
    match opened {
        Ok(()) => Ok(Session { folder }),
        Err(source) => Err(StartError::Folder { path: folder, source }),
    }
}

/// Starts recording, unless it has started. Returns false if it cannot start or has ended.
/// On return the file exists, and all names known so far are in the file or in the live file.
pub(crate) fn begin() -> bool {
    let phase = STATE.lock().phase;
    if phase != SessionPhase::Idle {
        return phase == SessionPhase::Recording;
    }
    let mut writer = BLOCK_WRITER.lock();
    let mut state = STATE.lock();
    if state.phase != SessionPhase::Idle {
        return state.phase == SessionPhase::Recording;
    }
    let is_prepared = state.prepare();
    drop(state);
    if is_prepared {
        writer.write_names();
        STATE.lock().record();
    }
    is_prepared
}

impl RecorderState {
    /// Prepares recording, except the file: folder, buffers, and the first copy of the names in the
    /// live file.
    pub(crate) fn prepare(&mut self) -> bool {
        const MEMORY_BYTES: usize = 16 << 20;
        let config = self.config.clone().unwrap_or_default().or_environment();
        // A forked child records into its parent's folder, unless its options name another.
        let configured = self.config.as_ref().and_then(|config| config.folder.clone());
        let folder = configured.or_else(|| self.folder.take()).or(config.folder);
        self.prints_folder = folder.is_none();
        let folder = folder.unwrap_or_else(process::default_folder);
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        self.first_anchor = local_clock::anchor();
        ProcessName { id: self.process_id, file_name: self.file_name } = process::new_name(&folder);
        self.levels.set_policies(config.policies.clone());
        self.sync_exchanges = config.sync_exchanges.unwrap_or(SYNC_EXCHANGES);
        self.sync_interval = config.sync_interval.unwrap_or(SYNC_INTERVAL);
        self.levels.register_self_trace();
        let slots = SlotPool::slots_in(config.memory_bytes.unwrap_or(MEMORY_BYTES));
        let location = config.buffers.unwrap_or(SlotLocation::Mapped);
        let tables = TABLES.lock();
        let mut live = None;
        if location == SlotLocation::Mapped && self.is_room_for(slots, SPARE_BYTES) {
            match (self.create_live_file(&folder, config.live_folder.as_deref(), slots, &tables), &config.live_folder) {
                (Ok(created), _) => live = Some(created),
                (Err(error), Some(requested)) => report(&format!(
                    "cannot create a live file in `{}`: {error}; the program continues with private buffers",
                    requested.display()
                )),
                (Err(_), None) => {}
            }
        }
        let (base, slots) = match &live {
            Some(live) => (live.slots(), slots),
            None => match self.map_slots(slots) {
                Ok(mapped) => mapped,
                Err(error) => {
                    report(&format!("cannot record: no memory for buffers ({error}); events are dropped"));
                    self.phase = SessionPhase::Finished;
                    return false;
                }
            },
        };
        self.pool.adopt_slots(base, slots);
        self.full_slots.reserve(slots * pool::PARTS_PER_SLOT);
        self.flight_recorder.reserve(slots * pool::PARTS_PER_SLOT);
        let domain = process::clock_domain(&self.process_id, config.clock_domain);
        self.clock_domain = process::hash_text(&domain);
        let mut tags = process::tags(&self.process_id, self.parent.as_ref(), &domain);
        let buffers = if live.is_none() && location == SlotLocation::Mapped { FALLBACK } else { location as u64 };
        append_integer(&mut tags, tag::BUFFERS, buffers);
        if let Some(path) = live.as_ref().map(LiveFile::path).filter(|path| path.parent() != Some(&folder)) {
            append_tag(&mut tags, tag::LIVE_PATH, path.as_os_str().as_encoded_bytes());
        }
        if let Some(live) = &live {
            live.publish();
            // Records dropped before the live file could count them.
            live_file::count_dropped(0, STRAYS.load(Ordering::Relaxed));
            live_file::log(BlockKind::Process, PROCESS_STREAM, 1, &tags);
            for provider in self.levels.registered_from(0) {
                provider.log();
            }
            tables.log();
        }
        (self.process_tags, self.folder, self.live) = (tags, Some(folder), live);
        true
    }

    fn create_live_file(
        &mut self,
        folder: &Path,
        live_folder: Option<&Path>,
        slots: usize,
        tables: &InternTables,
    ) -> std::io::Result<LiveFile> {
        const LOG_BYTES: std::ops::RangeInclusive<usize> = 64 << 10..=1 << 20;
        let schemas: usize = self.levels.registered_from(0).iter().map(RegisteredProvider::log_bytes).sum();
        let log_bytes =
            LOG_BYTES.end().min(&(slots * SLOT_BYTES / 16)).max(LOG_BYTES.start()) + schemas + tables.log_bytes();
        let layout = LiveLayout {
            process_id: self.process_id,
            slot_bytes: SLOT_BYTES as u32,
            slots: slots as u32,
            log_bytes: u32::try_from(log_bytes).map_err(std::io::Error::other)?,
        };
        std::fs::create_dir_all(folder)?;
        let parent = live_folder.unwrap_or_else(|| live_file::folder_for(folder));
        std::fs::create_dir_all(parent)?;
        let path = std::path::absolute(parent)?.join(&self.file_name).with_extension("live");
        LiveFile::create(path, layout, self.region.as_ref())
    }

    /// Whether `slots` slots leave `spare` bytes of memory.
    /// The rest is for the program and for the recorder's own lists, which end the program if there
    /// is no memory. Slots that are mapped already need no more memory.
    fn is_room_for(&self, slots: usize, spare: usize) -> bool {
        let bytes = slots * SLOT_BYTES;
        self.region.as_ref().is_some_and(|region| region.bytes == bytes) || live_file::is_room_for(bytes + spare)
    }

    /// Maps private memory for `requested` slots.
    /// Tries half as many, and so on, if limits allow no more or if all memory of the program is
    /// locked. In that case as many bytes as the slots take are left free.
    fn map_slots(&mut self, requested: usize) -> std::io::Result<(*mut u8, usize)> {
        const MIN_BYTES: usize = 1 << 20;
        let (mut slots, mut spare) = (requested, SPARE_BYTES);
        while !self.is_room_for(slots, spare) && slots / 2 * SLOT_BYTES >= MIN_BYTES {
            slots /= 2;
            spare = slots * SLOT_BYTES;
        }
        let base = live_file::map_private(slots * SLOT_BYTES, self.region.as_ref())?;
        if slots < requested {
            let (requested_bytes, bytes) = (requested * SLOT_BYTES, slots * SLOT_BYTES);
            report(&format!("no memory for buffers of {requested_bytes} bytes; the program continues with {bytes}"));
        }
        self.region = Some(MappedRegion { base, bytes: slots * SLOT_BYTES });
        Ok((base, slots))
    }

    /// Starts recording: threads get slots from now on.
    pub(crate) fn record(&mut self) {
        reentrancy::own_process();
        self.hook();
        self.fill_spares();
        watch_panics();
        self.phase = SessionPhase::Recording;
        self.writer_thread = writer::thread::spawn();
    }

    /// Installs the handlers for the end of threads, the end of the process, and forks. Once.
    fn hook(&mut self) {
        if self.hooked {
            return;
        }
        self.hooked = true;
        self.thread_key = thread_end::thread_key();
        fork::watch();
        // SAFETY: the handler is a function of this library, which is never unloaded before the
        // process ends.
        unsafe { libc::atexit(end::at_exit) };
    }
}

/// Installs a panic hook that writes the kept records, if any level overwrites.
fn watch_panics() {
    static WATCHED: Once = Once::new();
    if !overflow_policy::overwrites() || std::thread::panicking() {
        return;
    }
    WATCHED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |about| {
            super::control::dump();
            before(about);
        }));
    });
}
