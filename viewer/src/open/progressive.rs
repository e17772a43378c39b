//! [`begin`]: opens a trace at once and shows what there is of it, while it is read or still being written.
//!
//! What is shown is [`Current`]: a source that is replaced by a newer one, each with a number, the *generation*. Views ask for the number
//! and ask again when it has changed; a question is answered from one source to its end. Where a trace stands is its [`Standing`]:
//! being read (a picture of its beginning), growing, or final.

pub(crate) mod follow_paje;
pub(crate) mod follow_run;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::index::Lookup;
use crate::input::options::{IndexChoice, OpenError, OpenOptions};
use crate::input::trace::Input;
use crate::open::open;
use crate::query::{Summary, TimelineSource};

pub use crate::input::current::{Current, Now, Standing};

/// A trace that was opened.
#[derive(Clone)]
pub enum Begun {
    /// All of it: it has an index, or is small.
    Whole(Arc<dyn TimelineSource>),
    /// It is being read, or followed.
    Going(Current),
}

impl fmt::Debug for Begun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Whole(_)) { "Whole" } else { "Going" })
    }
}

/// What is told when all of a trace has been read, or why that cannot be.
pub type Ended = Box<dyn FnOnce(Result<Summary, OpenError>) + Send>;

/// Opens a trace as [`open()`](crate::open()) does; but of one whose reading takes long, a growing part is shown meanwhile, and `ended` is
/// told when it is whole or cannot be had. [`OpenOptions::cancel`] ends the reading.
///
/// # Errors
/// When there is nothing at `path`, or what is read at once cannot be.
pub fn begin(path: &Path, options: &OpenOptions, ended: Ended) -> Result<Begun, OpenError> {
    if is_quick(path, options)? {
        return open(path, options).map(Begun::Whole);
    }
    let name = Input::find_name(path);
    let current = Current::empty(&name, Standing::Reading { done: 0, total: 0 });
    let (shown, path, mut options) = (current.clone(), path.to_owned(), options.clone());
    let (told, progress) = (current.clone(), options.progress.take());
    options.progress = Some(Arc::new(move |done, total| {
        told.stand(Standing::Reading { done, total });
        if let Some(progress) = &progress {
            progress(done, total);
        }
    }));
    options.glimpse = Some(current.clone());
    std::thread::spawn(move || {
        let opened = open(&path, &options).map(|source| {
            let summary = source.summary();
            shown.put(source, Standing::Final);
            summary
        });
        ended(opened);
    });
    Ok(Begun::Going(current))
}

/// Whether a trace is opened in a moment: it is small, or has an index.
fn is_quick(path: &Path, options: &OpenOptions) -> Result<bool, OpenError> {
    let io_error = |source| OpenError::Io { path: path.to_owned(), source };
    // How large it is is asked whether it is to have an index or not.
    let index = if options.index == IndexChoice::None { IndexChoice::Auto } else { options.index.clone() };
    let lookup = Lookup::new(path, &OpenOptions { index, ..options.clone() }).map_err(io_error)?;
    Ok(match lookup {
        // A run that is still written has no index: what there is of it is read.
        None => !is_stream(path),
        Some(lookup) => match options.index {
            IndexChoice::None => lookup.is_small,
            IndexChoice::Auto => lookup.is_small || lookup.is_made(),
            IndexChoice::At(_) => lookup.is_made(),
        },
    })
}

/// Whether it is a pipe or the like, whose end nobody knows.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// Follows a trace that is being written: a run in mapped mode, or a Pajé file. It need not be there yet. The picture grows with it
/// until [`OpenOptions::cancel`] is set; `ended` is told if it cannot go on. It is kept in memory.
///
/// A Pajé file is read on from where it ended; a last line without its end waits for it. A run is read as a whole each time, as
/// its clocks can be: then as long as that took, four times over, nothing is done.
#[must_use]
pub fn follow(path: &Path, options: &OpenOptions, ended: Ended) -> Current {
    let waiting = Standing::Awaited(format!("waiting for {}", path.display()));
    let current = Current::empty(&Input::find_name(path), waiting);
    let follower = Follower {
        path: path.to_owned(),
        options: options.clone(),
        current: current.clone(),
        cancel: options.cancel.clone().unwrap_or_default(),
    };
    std::thread::spawn(move || {
        if let Err(error) = follower.run() {
            ended(Err(error));
        }
    });
    current
}

/// Who follows a trace.
struct Follower {
    path: PathBuf,
    options: OpenOptions,
    current: Current,
    cancel: Arc<AtomicBool>,
}

/// Milliseconds between two looks at whether there is more.
const LOOK_EVERY: u64 = 100;

impl Follower {
    fn run(&self) -> Result<(), OpenError> {
        while !self.is_cancelled() {
            // It may not be there yet, or not have a beginning.
            match std::fs::metadata(&self.path) {
                Ok(about) if about.is_dir() => return self.follow_run(),
                Ok(about) if !about.is_file() || about.len() > 0 => return self.follow_file(),
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(OpenError::Io { path: self.path.clone(), source });
                }
                _ => self.pause(LOOK_EVERY),
            }
        }
        Ok(())
    }

    fn follow_file(&self) -> Result<(), OpenError> {
        match Input::find(&self.path, &self.options)? {
            Input::Run(_) => self.follow_run(),
            Input::Paje(..) => self.follow_text(),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Waits so many milliseconds, at most until it is cancelled.
    fn pause(&self, milliseconds: u64) {
        let mut left = milliseconds;
        while left > 0 && !self.is_cancelled() {
            let step = left.min(LOOK_EVERY);
            std::thread::sleep(std::time::Duration::from_millis(step));
            left -= step;
        }
    }
}
