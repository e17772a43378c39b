//! Options and errors of opening a trace.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tumit_converter::convert::launches::LaunchSelection;
use tumit_converter::convert::{ConvertError, ConvertOptions};
use tumit_paje::read::PajeReadError;
use tumit_paje::time::TimeUnit;
use tumit_picl::PiclReadError;

use super::current_trace::CurrentTrace;

/// An index of at most this many bytes is read and checked as a whole. A larger one is mapped.
pub(crate) const READ_BYTES: u64 = 32 << 20;

/// Options of opening a trace.
#[derive(Clone)]
#[non_exhaustive]
pub struct OpenOptions {
    /// The choices for the conversion of a run. Its text output must be Pajé, and is read as such.
    /// A Pajé file uses the progress callback only: the steps are its bytes.
    pub convert: ConvertOptions,
    /// The launches of a run folder to read.
    pub launches: LaunchSelection,
    /// The unit of the timestamps of Pajé text.
    pub unit: TimeUnit,
    /// Whether the user gave the unit. If not, timestamps that are unlikely to be seconds are
    /// reported.
    pub unit_is_known: bool,
    /// Whether tables show timestamps as the time of day.
    pub wall_clock: bool,
    /// Whether the trace is kept in an index, and where.
    pub index: IndexChoice,
    /// Set to true to cancel: [`open()`](crate::open()) stops and removes the index that it makes.
    pub cancel: Option<Arc<AtomicBool>>,
    /// The title of the trace, if its path does not give one.
    pub title: Option<String>,
    /// The path leads to a temporary copy. An index is then recognised by the content of the trace
    /// alone, because name and time of the copy are new each time.
    pub is_copy: bool,
    /// Whether numbers of Pajé text are read as `pj_dump` reads them, with timestamps as doubles.
    pub(crate) as_pj_dump: bool,
    /// Receives the beginning of the trace while it is read.
    pub(crate) preview: Option<CurrentTrace>,
    /// An index of at most this many bytes is read and checked as a whole. A larger one is mapped.
    pub(crate) read_up_to: u64,
}

/// Whether a trace is kept in an index. A trace with an index opens at once and needs little
/// memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexChoice {
    /// A large trace has an index: next to it (`trace.paje.tmtx`), inside a run (`index.tmtx`), or
    /// in the user's cache folder if those cannot be written.
    #[default]
    Auto,
    /// In this file, for any size of the trace.
    At(PathBuf),
    /// No index: the trace is read into memory.
    None,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            convert: ConvertOptions::default(),
            launches: LaunchSelection::default(),
            unit: TimeUnit::default(),
            unit_is_known: false,
            wall_clock: false,
            index: IndexChoice::default(),
            cancel: None,
            title: None,
            is_copy: false,
            as_pj_dump: false,
            preview: None,
            read_up_to: READ_BYTES,
        }
    }
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenOptions").field("convert", &self.convert).finish_non_exhaustive()
    }
}

/// Reasons why a trace cannot be opened, as sentences for the user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "`path` is the path that the user gave")]
pub enum TraceOpenError {
    /// The file cannot be opened or read.
    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The Pajé text cannot be read: it has another format, or reading or the consumer failed.
    #[error("{}: {source}", path.display())]
    Read {
        path: PathBuf,
        /// The error of the reader or of its consumer, with the line.
        source: PajeReadError,
    },
    /// The PICL or Alog trace cannot be read.
    #[error("{}: {source}", path.display())]
    Picl {
        path: PathBuf,
        /// The error of the reader, with the line.
        source: PiclReadError,
    },
    /// A PICL or Alog trace cannot be followed while it grows.
    #[error("{}: `--follow` reads runs and Pajé text only, because the records of {format} are in no order", path.display())]
    NotFollowed {
        path: PathBuf,
        /// The name of its format.
        format: &'static str,
    },
    /// Options for runs were given for another trace.
    #[error("{} is no run: options for clocks, rules, outputs and launches are for runs only", path.display())]
    NoRun { path: PathBuf },
    /// Times of day were requested for a trace without them.
    #[error("--wall-clock: {} has no time of day; only runs have one, if their processes read the real-time clock", path.display())]
    NoWallClock {
        /// The trace.
        path: PathBuf,
    },
    /// A unit was given for a run.
    #[error("{} is a run, and its timestamps are in nanoseconds: a unit is for Pajé text only", path.display())]
    NoText {
        /// The run.
        path: PathBuf,
    },
    /// The run cannot be opened.
    #[error(transparent)]
    Run(#[from] tumit_converter::run::RunOpenError),
    /// The run cannot be converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The index could not be written.
    #[error("cannot write the index {}: {source}; `--index PATH` writes it to another path, `--index none` uses no index", path.display())]
    Index {
        /// The path of the index.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The path of the index has a file that is not an index. It is left unchanged.
    #[error("{} is not an index: name another file for the index, or remove this one", path.display())]
    NoIndex { path: PathBuf },
    /// [`OpenOptions::cancel`] was set.
    #[error("cancelled")]
    Cancelled,
    /// The text output of a run is not Pajé.
    #[error("the text output `{output}` cannot be viewed: {source}")]
    Output {
        /// The name of the text output.
        output: String,
        /// The error of the Pajé reader, with the line of the output.
        source: PajeReadError,
    },
}
