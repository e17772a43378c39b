//! Options, progress and errors of a conversion.

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tumit::Spec;

use crate::clock::Method;
use crate::run::ReadError;

/// Callback for progress, with the numbers of steps done and of all steps.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// What the user chose.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// How clocks are corrected.
    pub clock: Method,
    /// Whether links that still end before they start are put in order.
    pub causal: bool,
    /// Rules to use instead of those that the run carries.
    pub rules: Option<Spec>,
    /// Name of the text output that [`convert_to_text`](crate::convert::convert_to_text) writes.
    pub output: Option<String>,
    /// Called now and then.
    pub progress: Option<Progress>,
    /// Maximum number of threads; as many as are useful if `None`. The result does not depend on
    /// it.
    pub threads: Option<NonZeroUsize>,
    /// Memory budget in bytes for link endpoints; the rest goes to temporary files. The result does not depend on it.
    /// Records that wait for an action with an earlier timestamp (`at`) have a budget of their own: a quarter of
    /// `TUMIT_BLOCK_MEMORY`.
    pub memory: usize,
    /// Evaluates every record singly instead of by columns. This is slower and for tests: the
    /// result is the same.
    pub by_record: bool,
}

/// Runs with fewer records are small.
const MANY_RECORDS: u64 = 1 << 16;

/// Default of [`Options::memory`].
pub const DEFAULT_MEMORY: usize = 64 << 20;

impl Default for Options {
    fn default() -> Self {
        Self {
            clock: Method::default(),
            causal: true,
            rules: None,
            output: None,
            progress: None,
            threads: None,
            memory: DEFAULT_MEMORY,
            by_record: false,
        }
    }
}

impl Options {
    /// Whether the options allow this number of threads. By default every number is allowed,
    /// because surplus threads mostly wait for each other and cores are never idle.
    pub(crate) fn may_use(&self, threads: usize) -> bool {
        self.threads.is_none_or(|most| most.get() >= threads)
    }

    /// How many threads read. Unless told otherwise, a small run is read by the one that merges: it is done before others have begun.
    pub(crate) fn readers(&self, records: u64) -> usize {
        let is_of_use = self.threads.is_some() || records >= MANY_RECORDS;
        if self.may_use(5) && is_of_use { 2 } else { 1 }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("clock", &self.clock).field("output", &self.output).finish_non_exhaustive()
    }
}

/// Why a conversion stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The run could not be read. (Damage is no error.)
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The result could not be written.
    #[error("cannot write the result: {0}")]
    Write(#[from] io::Error),
    /// The temporary file of the run's links could not be written or read.
    #[error("cannot keep the run's links in a temporary file ({0}); TMPDIR says where such files are made")]
    Links(io::Error),
    /// No event of the rules that were chosen is in the run.
    #[error(
        "no event of the spec `{spec}` is in this run, which was recorded with {recorded}: its rules are for another program"
    )]
    OtherProgram {
        /// Name of the spec of the rules.
        spec: String,
        /// Names of the run's own.
        recorded: String,
    },
    /// There is no such text output.
    #[error("the spec has no text output `{name}`; it has {}", if known.is_empty() { "none" } else { known })]
    NoOutput {
        /// As asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
}
