//! The index: columns and sums of a trace in a file next to it. It is written once and read in
//! place, also if the trace is larger than memory.
//!
//! `writer` collects the output of the simulation and writes the file, and [`IndexReader`] answers
//! queries from it. `location` finds the file and checks that it belongs to this trace. `INDEX.md`
//! describes the layout; only `file/file_layout.rs` implements it.
//!
//! ```
//! use tumit_viewer::index::{IndexKey, IndexReader};
//! use tumit_viewer::query::TimelineSource;
//! use tumit_viewer::query::replay::replay;
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("example.tmtx");
//! let key = IndexKey { size: 1, ..IndexKey::default() };
//! IndexReader::write(&path, key, "example", |sink| replay(&store, sink))?;
//! assert_eq!(IndexReader::open_file(&path, key)?.summary().states, 1);
//! // The index of another trace is not used.
//! assert!(IndexReader::open_file(&path, IndexKey::default()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod description_section;
mod details;
mod entity_lookup;
mod file;
pub(crate) mod index_reader;
mod index_writer;
mod lane_records;
mod lane_sums;
mod lanes;
mod link_fields;
mod location;
mod mixtures;
pub(crate) mod self_repair;

use std::fs::File;
use std::io::{self, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tumit_paje::time::GlobalNanos;
use tumit_paje::{PajeEvent, PajeSink};

pub use file::file_layout::IndexKey;
pub use index_reader::IndexReader;
pub(crate) use location::{IndexLookup, IndexPath};

use tumit_spill::temporary_space::TemporarySpace;

use crate::input::open_options::{OpenOptions, READ_BYTES, TraceOpenError};
use crate::input::trace::TraceInputFile;
use crate::sim::Simulation;
use file::file_layout::IndexRefusal;
use file::index_bytes::IndexOpenError;
use index_writer::assembly;
use index_writer::builder::IndexBuilder;

/// Default size in bytes of the collected data in memory.
const MEMORY: usize = 32 << 20;

/// The reason why an index at a path is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// There is no index, or it cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is not an index.
    #[error("{}", IndexRefusal::Foreign)]
    Foreign,
    /// The index has another version, belongs to another trace, or is damaged.
    #[error("{0}")]
    Useless(String),
}

impl From<IndexOpenError> for IndexError {
    fn from(error: IndexOpenError) -> Self {
        match error {
            IndexOpenError::Io(error) => Self::Io(error),
            IndexOpenError::Refused(IndexRefusal::Foreign) => Self::Foreign,
            IndexOpenError::Refused(refused) => Self::Useless(refused.to_string()),
        }
    }
}

impl IndexReader {
    /// Opens the index at `path` if it belongs to the trace of `key` and the checked part is
    /// undamaged.
    /// The first page and the checksums are checked, and small files of some megabytes as a whole.
    /// Other damage is found when the damaged part is queried.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn open_file(path: &Path, key: IndexKey) -> Result<Self, IndexError> {
        Ok(Self::open(path, key, READ_BYTES)?)
    }

    /// As [`Self::open_file`]. Files above `bytes` bytes are mapped.
    pub(crate) fn open_up_to(path: &Path, key: IndexKey, bytes: u64) -> Result<Self, IndexError> {
        Ok(Self::open(path, key, bytes)?)
    }

    /// As [`Self::open_file`], but maps the file regardless of its size.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn map_file(path: &Path, key: IndexKey) -> Result<Self, IndexError> {
        Ok(Self::open(path, key, 0)?)
    }

    /// Builds an index at `path` from the events that `send` sends to its sink. For programs that
    /// generate traces, and for tests.
    /// `send` must finish the sink.
    ///
    /// # Errors
    /// If `send` fails, or if the file or temporary files next to it cannot be written.
    pub fn write(
        path: &Path,
        key: IndexKey,
        name: &str,
        send: impl FnOnce(&mut dyn PajeSink) -> io::Result<()>,
    ) -> io::Result<()> {
        Self::write_within(path, key, name, MEMORY, send)
    }

    /// As [`Self::write`], with a limit on memory: collected data uses about twice `memory` bytes,
    /// and the rest goes to temporary files. Only the data of the simulation grows beyond that:
    /// containers, names and open entities.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_within(
        path: &Path,
        key: IndexKey,
        name: &str,
        memory: usize,
        send: impl FnOnce(&mut dyn PajeSink) -> io::Result<()>,
    ) -> io::Result<()> {
        let room = TemporarySpace::new(&folder_of(path), memory);
        let mut simulation = Simulation::into_entities(name, IndexBuilder::new(&room, None));
        send(&mut simulation)?;
        let file = room.file()?;
        assembly::write(simulation.into_outcome(), key, file.try_clone()?)?;
        name_file(file, path, None)
    }

    /// As [`Self::write`], from a list of events. The trace ends at the largest timestamp.
    ///
    /// # Errors
    /// If the file or temporary files next to it cannot be written.
    pub fn write_events<'a>(
        path: &Path,
        key: IndexKey,
        name: &str,
        events: impl IntoIterator<Item = PajeEvent<'a>>,
    ) -> io::Result<()> {
        Self::write(path, key, name, |sink| {
            let mut end = GlobalNanos(0);
            for event in events {
                end = event.time().map_or(end, |time| time.max(end));
                sink.event(&event)?;
            }
            sink.finish(end)
        })
    }
}

/// Simulates a trace into an index at `target`. The file appears when it is complete.
pub(crate) fn build(
    input: TraceInputFile,
    options: &OpenOptions,
    lookup: &IndexLookup,
    target: &Path,
) -> Result<(), TraceOpenError> {
    let room = TemporarySpace::new(&folder_of(target), MEMORY);
    let cancel: Option<Arc<AtomicBool>> = options.cancel.clone();
    let mut simulation = Simulation::into_entities(&input.name(), IndexBuilder::new(&room, cancel.clone()));
    let make = || -> Result<(), TraceOpenError> {
        let write_error = |source| TraceOpenError::Index { path: target.to_owned(), source };
        let outcome = input.feed_shown(options, &mut simulation)?;
        simulation.report(outcome.diagnostics);
        simulation.set_wall_clock(outcome.wall_clock);
        let file = room.file().map_err(write_error)?;
        let copy = file.try_clone().map_err(write_error)?;
        assembly::write(simulation.into_outcome(), lookup.key, copy).map_err(write_error)?;
        let _naming = NAMING.lock().unwrap_or_else(PoisonError::into_inner);
        if cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(TraceOpenError::Cancelled);
        }
        name_file(file, target, lookup.permissions.clone()).map_err(write_error)
    };
    make().map_err(|error| match cancel {
        Some(cancel) if cancel.load(Ordering::Relaxed) => TraceOpenError::Cancelled,
        _ => error,
    })
}

/// Locked while a file gets its name, which takes two steps.
static NAMING: Mutex<()> = Mutex::new(());

/// Cancels the construction of indexes before the process ends. Unnamed files vanish with the
/// process. A file that is being named has its name when this returns.
pub fn abandon(cancel: &AtomicBool) {
    cancel.store(true, Ordering::Relaxed);
    drop(NAMING.lock().unwrap_or_else(PoisonError::into_inner));
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// Gives an unnamed file its name, and replaces the previous file. If the system does not support
/// this, a copy gets the name.
fn name_file(mut file: File, path: &Path, permissions: Option<std::fs::Permissions>) -> io::Result<()> {
    if let Some(permissions) = permissions {
        // Read permission for others is useful, but not required.
        let _ = file.set_permissions(permissions);
    }
    // The name is short, because the name of the index may have the maximum length. A process
    // writes one index at a time.
    let part = path.with_file_name(format!(".tumit-{}-index.part", std::process::id()));
    if link(&file, &part).is_ok() {
        return std::fs::rename(&part, path).inspect_err(|_| _ = std::fs::remove_file(&part));
    }
    file.rewind()?;
    let mut copy = tempfile::NamedTempFile::new_in(folder_of(path))?;
    io::copy(&mut file, &mut copy)?;
    let _ = copy.as_file().set_permissions(file.metadata()?.permissions());
    copy.persist(path)?;
    Ok(())
}

#[cfg(target_os = "linux")]
fn link(file: &File, to: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    // A file with this name was left by a process that was killed at this point.
    let _ = std::fs::remove_file(to);
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    let folder = rustix::fs::CWD;
    Ok(rustix::fs::linkat(folder, open, folder, to, rustix::fs::AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
