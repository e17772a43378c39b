//! [`open`]: from a path to a source, whatever is there.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use converter::paje::read::{ReadError, read};

use crate::query::TimelineSource;
use crate::sim::Simulation;

/// Told how much is done: steps done, and steps in all.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// How to open.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Called now and then.
    pub progress: Option<Progress>,
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenOptions").finish_non_exhaustive()
    }
}

/// Why there is nothing to see.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The system could not read it.
    #[error("{}: {source}", path.display())]
    Io {
        /// What was to be opened.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is a file, but no trace that we read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ReadError,
    },
}

/// Bytes between two calls of the progress function.
const PROGRESS_BYTES: u64 = 1 << 22;

/// Opens a trace: reads it, simulates it, and keeps it in memory.
///
/// # Errors
/// When there is nothing there, or nothing that is a trace. What is wrong *inside* a trace is in its summary's remarks.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Arc<dyn TimelineSource>, OpenError> {
    let io_error = |source| OpenError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io_error)?;
    let metadata = file.metadata().map_err(io_error)?;
    let mut simulation = Simulation::new(&name(path));
    let input = Counted { inner: file, done: 0, told: 0, total: metadata.len(), progress: options.progress.as_ref() };
    let report = read(BufReader::with_capacity(1 << 18, input), &mut simulation)
        .map_err(|source| OpenError::Read { path: path.to_owned(), source })?;
    simulation.remark(report.remarks());
    Ok(Arc::new(simulation.into_store()))
}

/// The last part of a path, without the ending.
fn name(path: &Path) -> String {
    let name = path.file_stem().or_else(|| path.file_name()).unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Tells how much was read.
struct Counted<'a> {
    inner: File,
    done: u64,
    told: u64,
    total: u64,
    progress: Option<&'a Progress>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.done += read as u64;
        if let Some(progress) = self.progress
            && (self.done - self.told >= PROGRESS_BYTES || read == 0)
        {
            self.told = self.done;
            progress(self.done, self.total.max(self.done));
        }
        Ok(read)
    }
}
