//! [`begin`]: opens a trace at once, and shows its available part while it is read or still being
//! written.
//!
//! The shown trace is a [`CurrentTrace`]: its source is replaced by newer sources. Each source has
//! a number, its *generation*. Views poll this number, and query again when it has changed. A query
//! uses a single source from start to end. The [`TraceAvailability`] of a trace is its progress:
//! being read (a preview of its beginning), growing, or final.

pub(crate) mod follow_paje;
pub(crate) mod follow_run;
mod follower;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::whole_trace::open;
use crate::index::IndexLookup;
use crate::input::open_options::{IndexChoice, OpenOptions, TraceOpenError};
use crate::input::trace::TraceInputFile;
use crate::query::{TimelineSource, TraceSummary};
use follower::{LOOK_EVERY, TraceFollower};

pub use crate::input::current_trace::{CurrentTrace, TraceAvailability, TraceSnapshot};

/// A trace that can be drawn, even if it is not completely read.
#[derive(Clone)]
pub enum OpenedTrace {
    /// The whole trace: it has an index, or is small.
    Whole(Arc<dyn TimelineSource>),
    /// It is being read or followed.
    Going(CurrentTrace),
}

impl fmt::Debug for OpenedTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Whole(_)) { "Whole" } else { "Going" })
    }
}

/// Called when a trace has been read completely, or with the error.
pub type CompletionFn = Box<dyn FnOnce(Result<TraceSummary, TraceOpenError>) + Send>;

/// Opens a trace as [`open()`](crate::open()) does. If reading takes long, a growing part is shown
/// meanwhile.
///
/// `on_end` is called when the trace is complete or has failed. [`OpenOptions::cancel`] ends the
/// reading.
///
/// ```
/// use tumit_viewer::OpenOptions;
/// use tumit_viewer::open::background_read::{OpenedTrace, begin};
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n7 3 T t\n";
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("example.paje");
/// # std::fs::write(&path, format!("{header}{body}"))?;
/// let opened = begin(&path, &OpenOptions::default(), Box::new(|_outcome| {}))?;
/// // A small trace is read at once.
/// assert!(matches!(opened, OpenedTrace::Whole(source) if source.summary().states == 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If `path` does not exist, or if a trace that is opened at once cannot be read.
pub fn begin(path: &Path, options: &OpenOptions, on_end: CompletionFn) -> Result<OpenedTrace, TraceOpenError> {
    if is_quick(path, options)? {
        return open(path, options).map(OpenedTrace::Whole);
    }
    let name = TraceInputFile::find_name(path);
    let current = CurrentTrace::empty(&name, TraceAvailability::Reading { processed_bytes: 0, total: 0 });
    let (target, path, mut options) = (current.clone(), path.to_owned(), options.clone());
    let (reporter, progress) = (current.clone(), options.convert.progress.take());
    options.convert.progress = Some(Arc::new(move |processed_bytes, total| {
        reporter.set_availability(TraceAvailability::Reading { processed_bytes, total });
        if let Some(progress) = &progress {
            progress(processed_bytes, total);
        }
    }));
    options.preview = Some(current.clone());
    std::thread::spawn(move || {
        let result = open(&path, &options).map(|source| {
            let summary = source.summary();
            target.put(source, TraceAvailability::Final);
            summary
        });
        on_end(result);
    });
    Ok(OpenedTrace::Going(current))
}

/// Whether a trace opens within a moment: it is small, or has an index.
fn is_quick(path: &Path, options: &OpenOptions) -> Result<bool, TraceOpenError> {
    let io_error = |source| TraceOpenError::Io { path: path.to_owned(), source };
    // The size is determined even if the user wants no index.
    let index = if options.index == IndexChoice::None { IndexChoice::Auto } else { options.index.clone() };
    let lookup = IndexLookup::new(path, &OpenOptions { index, ..options.clone() }).map_err(io_error)?;
    Ok(match lookup {
        // A run that is still being written has no index. Its available part is read.
        None => !is_stream(path),
        Some(lookup) => match options.index {
            IndexChoice::None => lookup.is_small,
            IndexChoice::Auto => lookup.is_small || lookup.is_made(),
            IndexChoice::At(_) => lookup.is_made(),
        },
    })
}

/// Whether the path is a pipe or similar, with an unknown end.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// Follows a trace that is being written: a run in mapped mode, or a Pajé file.
///
/// The trace need not exist yet. It is kept in memory, and the shown part grows until
/// [`OpenOptions::cancel`] is set. `on_end` is called if following fails.
///
/// A Pajé file is read on from the previous end; an incomplete last line is read when it is
/// complete. A run is read as a whole each time, because its clock correction needs all of it.
/// After each reading, the follower waits four times as long as the reading took.
#[must_use]
pub fn follow(path: &Path, options: &OpenOptions, on_end: CompletionFn) -> CurrentTrace {
    let waiting = TraceAvailability::Awaited(format!("waiting for {}", path.display()));
    let current = CurrentTrace::empty(&TraceInputFile::find_name(path), waiting);
    let follower = TraceFollower {
        path: path.to_owned(),
        options: options.clone(),
        current_trace: current.clone(),
        cancel: options.cancel.clone().unwrap_or_default(),
    };
    std::thread::spawn(move || {
        if let Err(error) = follower.run() {
            on_end(Err(error));
        }
    });
    current
}

impl TraceFollower {
    fn run(&self) -> Result<(), TraceOpenError> {
        while !self.is_cancelled() {
            // The trace may not exist yet, or may still be empty.
            match std::fs::metadata(&self.path) {
                Ok(about) if about.is_dir() => return self.follow_run(),
                Ok(about) if !about.is_file() || about.len() > 0 => return self.follow_file(),
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(TraceOpenError::Io { path: self.path.clone(), source });
                }
                _ => self.pause(LOOK_EVERY),
            }
        }
        Ok(())
    }

    fn follow_file(&self) -> Result<(), TraceOpenError> {
        match TraceInputFile::find(&self.path, &self.options)? {
            TraceInputFile::Run(_) => self.follow_run(),
            TraceInputFile::Paje(..) => self.follow_text(),
            input @ TraceInputFile::Picl(..) => self.follow_picl(input),
        }
    }
}
