//! How a trace is opened, and the errors of that.

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use converter::clock::Method;
use converter::launches::Launches;
use converter::paje::read::ReadError;
use converter::pipeline::{ConvertError, Progress};
use converter::time::Unit;
use tumit::Spec;

use crate::current::Current;

/// Bytes up to which an index is read and checked as a whole; a larger one is mapped.
pub(crate) const READ_BYTES: u64 = 32 << 20;

/// How to open.
#[derive(Clone)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Called now and then with steps done and steps in all: bytes of a Pajé file, records of a run.
    pub progress: Option<Progress>,
    /// How the clocks of a run are corrected.
    pub clock: Method,
    /// Whether links of a run that still end before they start are put in order.
    pub causal: bool,
    /// Rules to use instead of those that a run carries.
    pub rules: Option<Spec>,
    /// Text output of a run's spec to read as Pajé, instead of its rules for Pajé.
    pub output: Option<String>,
    /// How many threads may convert a run; as many as are of use if `None`.
    pub threads: Option<NonZeroUsize>,
    /// How many bytes of what the conversion of a run notes of links are kept in memory; the rest goes to temporary files.
    pub memory: usize,
    /// The launches of a run folder to read.
    pub launches: Launches,
    /// The unit of the timestamps of Pajé text.
    pub unit: Unit,
    /// Whether the user gave the unit. If not, timestamps that are unlikely to be seconds are reported.
    pub unit_is_known: bool,
    /// Whether tables show timestamps as the time of day.
    pub wall_clock: bool,
    /// Whether the trace is kept in a file beside it, and where.
    pub index: IndexChoice,
    /// When this becomes true while an index is made, [`open()`](crate::open()) gives up and leaves nothing behind.
    pub cancel: Option<Arc<AtomicBool>>,
    /// The title of the trace, if its path does not give one.
    pub title: Option<String>,
    /// The path leads to a temporary copy. An index is then recognised by the content of the trace
    /// alone, because name and time of the copy are new each time.
    pub is_copy: bool,
    /// Whether numbers of Pajé text are read as `pj_dump` reads them; dates are doubles then.
    pub(crate) as_pj_dump: bool,
    /// Where its beginning is shown while it is read.
    pub(crate) glimpse: Option<Current>,
    /// Indexes up to so many bytes are read, and checked as a whole; larger ones are mapped.
    pub(crate) read_up_to: u64,
}

/// Whether a trace is kept in an index, to be opened at once the next time and to need little memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexChoice {
    /// If the trace is large: beside it (`trace.paje.tmtx`), inside a run (`index.tmtx`), or in the user's cache folder where
    /// those cannot be written.
    #[default]
    Auto,
    /// In this file, however small the trace is.
    At(PathBuf),
    /// Not at all: it is read into memory.
    None,
}

impl Default for OpenOptions {
    fn default() -> Self {
        let memory = converter::pipeline::DEFAULT_MEMORY;
        Self {
            progress: None,
            clock: Method::default(),
            causal: true,
            rules: None,
            output: None,
            threads: None,
            memory,
            launches: Launches::default(),
            unit: Unit::default(),
            unit_is_known: false,
            wall_clock: false,
            index: IndexChoice::default(),
            cancel: None,
            title: None,
            is_copy: false,
            as_pj_dump: false,
            glimpse: None,
            read_up_to: READ_BYTES,
        }
    }
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenOptions").field("clock", &self.clock).field("output", &self.output).finish_non_exhaustive()
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
    /// Options that are for runs were given for a Pajé file.
    #[error("{} is a Pajé file: clocks, rules, outputs and launches can be chosen for a run only", path.display())]
    NoRun {
        /// The file.
        path: PathBuf,
    },
    /// Times of day were asked for.
    #[error("--wall-clock: {} has no time of day; only runs have one, whose processes read the real-time clock", path.display())]
    NoWallClock {
        /// The trace.
        path: PathBuf,
    },
    /// A unit was given for a run that is no text.
    #[error("{} is a run, and its dates are in nanoseconds: a unit can be chosen for Pajé text only", path.display())]
    NoText {
        /// The run.
        path: PathBuf,
    },
    /// It is a run, or should be one, but cannot be used.
    #[error(transparent)]
    Run(#[from] converter::run::OpenError),
    /// A run that could not be converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The index could not be written.
    #[error("cannot write the index {}: {source}; `--index PATH` puts it elsewhere, `--index none` does without", path.display())]
    Index {
        /// Where it was to be.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// What is where the user wants the index is something else, and is left alone.
    #[error("{} is no index: name another file for it, or remove this one", path.display())]
    NoIndex {
        /// The file.
        path: PathBuf,
    },
    /// [`OpenOptions::cancel`] was set.
    #[error("cancelled")]
    Cancelled,
    /// The text output of a run is no Pajé.
    #[error("the text output `{output}` cannot be viewed: {source}")]
    Output {
        /// Its name.
        output: String,
        /// What is wrong.
        source: ReadError,
    },
}
