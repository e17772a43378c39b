//! A trace larger than memory: its columns and sums in a file beside it, made once and read in place.
//!
//! `record` gathers what the simulation gives away, `assemble` writes the file, [`Index`] answers from it. `lookup` says where the
//! file is and whether it is still of this trace. `INDEX.md` describes the layout, `format` alone knows it.

pub(crate) mod assembly;
pub(crate) mod bit_fields;
pub(crate) mod builder;
mod details;
mod format;
mod guarded_map;
mod image;
pub(crate) mod lane_writer;
pub(crate) mod link_density;
mod links;
mod lookup;
mod marks;
pub(crate) mod mixture_few_values;
pub(crate) mod mixture_many_values;
mod model;
pub(crate) mod nested_sums;
mod overview;
pub(crate) mod packed_table;
pub(crate) mod page_writer;
pub(crate) mod prefix_counts;
pub(crate) mod reader;
pub(crate) mod self_repair;
mod sort;
pub(crate) mod state_cursor;
pub(crate) mod state_writer;
mod states;
pub(crate) mod temporary_streams;
mod tree;
mod unpack;
mod variables;

use std::fs::File;
use std::io::{self, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tumit_paje::time::GlobalNanos;
use tumit_paje::{PajeEvent, Sink};

pub use format::Key;
pub(crate) use lookup::{Lookup, Target};
pub use reader::Index;

use crate::input::options::{OpenError, OpenOptions, READ_BYTES};
use crate::input::trace::Input;
use crate::sim::Simulation;
use builder::Recorder;
use format::Refused;
use image::ImageError;
use temporary_streams::Room;

/// Bytes of what is gathered that stay in memory, unless told otherwise.
const MEMORY: usize = 32 << 20;

/// Why an index at a path is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// There is none, or it cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("{}", Refused::Foreign)]
    Foreign,
    /// Of another version, of another trace, or damaged.
    #[error("{0}")]
    Useless(String),
}

impl From<ImageError> for IndexError {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Io(error) => Self::Io(error),
            ImageError::Refused(Refused::Foreign) => Self::Foreign,
            ImageError::Refused(refused) => Self::Useless(refused.to_string()),
        }
    }
}

impl Index {
    /// Opens the index at `path` if it is of what `key` stands for, undamaged as far as was looked: the first page and the
    /// checksums, and everything in files of some megabytes. What is damaged elsewhere is found when it is asked for.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn open_file(path: &Path, key: Key) -> Result<Self, IndexError> {
        Ok(Self::open(path, key, READ_BYTES)?)
    }

    /// As [`Self::open_file`], and files beyond so many bytes are mapped.
    pub(crate) fn open_up_to(path: &Path, key: Key, bytes: u64) -> Result<Self, IndexError> {
        Ok(Self::open(path, key, bytes)?)
    }

    /// As [`Self::open_file`], but never reads the whole file, however small it is.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn map_file(path: &Path, key: Key) -> Result<Self, IndexError> {
        Ok(Self::open(path, key, 0)?)
    }

    /// Makes an index at `path` of what `send` sends to the sink that it is given, which it must finish. For programs that make
    /// their own traces, and for tests.
    ///
    /// # Errors
    /// When `send` fails; when the file, or temporary ones beside it, cannot be written.
    pub fn write(
        path: &Path,
        key: Key,
        name: &str,
        send: impl FnOnce(&mut dyn Sink) -> io::Result<()>,
    ) -> io::Result<()> {
        Self::write_within(path, key, name, MEMORY, send)
    }

    /// As [`Self::write`], with about twice so many bytes of memory at most for what is gathered; the rest goes to temporary files. What
    /// grows beyond that is what the simulation keeps: containers, names, and what is open.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_within(
        path: &Path,
        key: Key,
        name: &str,
        memory: usize,
        send: impl FnOnce(&mut dyn Sink) -> io::Result<()>,
    ) -> io::Result<()> {
        let room = Room::of(&folder_of(path), memory);
        let mut simulation = Simulation::into_entities(name, Recorder::new(&room, None));
        send(&mut simulation)?;
        let file = room.file()?;
        assembly::write(simulation.into_outcome(), key, file.try_clone()?)?;
        name_file(file, path, None)
    }

    /// As [`Self::write`], of a list of events. The trace ends at the largest date.
    ///
    /// # Errors
    /// When the file, or temporary ones beside it, cannot be written.
    pub fn write_events<'a>(
        path: &Path,
        key: Key,
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

/// Simulates a trace into an index at `target`, which appears when it is complete.
pub(crate) fn build(input: Input, options: &OpenOptions, lookup: &Lookup, target: &Path) -> Result<(), OpenError> {
    let room = Room::new(&folder_of(target));
    let cancel: Option<Arc<AtomicBool>> = options.cancel.clone();
    let mut simulation = Simulation::into_entities(&input.name(), Recorder::new(&room, cancel.clone()));
    let make = || -> Result<(), OpenError> {
        let write_error = |source| OpenError::Index { path: target.to_owned(), source };
        let told = input.feed_shown(options, &mut simulation)?;
        simulation.fault(told.faults);
        simulation.remark(told.remarks);
        simulation.set_wall_clock(told.wall_clock);
        let file = room.file().map_err(write_error)?;
        let copy = file.try_clone().map_err(write_error)?;
        assembly::write(simulation.into_outcome(), lookup.key, copy).map_err(write_error)?;
        let _naming = NAMING.lock().unwrap_or_else(PoisonError::into_inner);
        if cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(OpenError::Cancelled);
        }
        name_file(file, target, lookup.permissions.clone()).map_err(write_error)
    };
    make().map_err(|error| match cancel {
        Some(cancel) if cancel.load(Ordering::Relaxed) => OpenError::Cancelled,
        _ => error,
    })
}

/// Held while a file gets its name, which takes two steps.
static NAMING: Mutex<()> = Mutex::new(());

/// Cancels what is being made, before the process ends: files without a name go with it, and one that is just being named has its name
/// when this returns.
pub fn abandon(cancel: &AtomicBool) {
    cancel.store(true, Ordering::Relaxed);
    drop(NAMING.lock().unwrap_or_else(PoisonError::into_inner));
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// Gives a file without a name its name, in place of what was there. Where the system cannot, a copy gets it.
fn name_file(mut file: File, path: &Path, permissions: Option<std::fs::Permissions>) -> io::Result<()> {
    if let Some(permissions) = permissions {
        // That others may read it is worth having, not worth failing for.
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
    // A file of this name is left from a process that was killed right here.
    let _ = std::fs::remove_file(to);
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    let here = rustix::fs::CWD;
    Ok(rustix::fs::linkat(here, open, here, to, rustix::fs::AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
