//! Options, progress and errors of a conversion.

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tumit::Spec;

use crate::clock::CorrectionMethod;
use crate::run::RunReadError;

/// Callback for progress, with the numbers of steps done and of all steps.
pub type ProgressFn = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// The user's choices for a conversion.
#[derive(Clone)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// How the timestamps of different clocks are made comparable.
    pub clock: CorrectionMethod,
    /// Whether links that still end before they start are put in order.
    pub has_causal_pass: bool,
    /// Rules to use instead of those in the run.
    pub rules: Option<Spec>,
    /// Name of the text output that [`convert_to_text`](crate::convert::convert_to_text) writes.
    pub output: Option<String>,
    /// Called from time to time with the progress.
    pub progress: Option<ProgressFn>,
    /// Maximum number of threads; as many as are useful if `None`. The result does not depend on
    /// it.
    pub threads: Option<NonZeroUsize>,
    /// Memory budget in bytes for link endpoints. The rest goes to temporary files. The result does
    /// not depend on it. Records that wait for an action with an earlier timestamp (`at`) have a
    /// separate budget: a quarter of `TUMIT_BLOCK_MEMORY`.
    pub memory: usize,
    /// Evaluates every record singly instead of by columns. This is slower and for tests: the
    /// result is the same.
    pub by_record: bool,
}

/// Runs with fewer records are small.
const MANY_RECORDS: u64 = 1 << 16;

/// Default of [`ConvertOptions::memory`].
const DEFAULT_MEMORY: usize = 64 << 20;

impl Default for ConvertOptions {
    fn default() -> Self {
        Self {
            clock: CorrectionMethod::default(),
            has_causal_pass: true,
            rules: None,
            output: None,
            progress: None,
            threads: None,
            memory: DEFAULT_MEMORY,
            by_record: false,
        }
    }
}

impl ConvertOptions {
    /// Whether the options allow this number of threads. By default every number is allowed,
    /// because surplus threads mostly wait for each other and cores are never idle.
    pub(crate) fn may_use(&self, threads: usize) -> bool {
        self.threads.is_none_or(|max_threads| max_threads.get() >= threads)
    }

    /// The number of reader threads. By default the merge thread reads a small run itself, because
    /// it finishes before other threads would start.
    pub(crate) fn readers(&self, records: u64) -> usize {
        let is_of_use = self.threads.is_some() || records >= MANY_RECORDS;
        if self.may_use(5) && is_of_use { 2 } else { 1 }
    }
}

impl fmt::Debug for ConvertOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConvertOptions")
            .field("clock", &self.clock)
            .field("output", &self.output)
            .finish_non_exhaustive()
    }
}

/// The reason why a conversion stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The run could not be read. Damage is no error.
    #[error(transparent)]
    Read(#[from] RunReadError),
    /// The result could not be written.
    #[error("cannot write the result: {0}")]
    Write(#[from] io::Error),
    /// The temporary file for link endpoints could not be written or read.
    #[error("cannot store the run's links in a temporary file: {0}; set TMPDIR to another folder")]
    Links(io::Error),
    /// The run has no event of the selected rules.
    #[error(
        "no event of the spec `{spec}` is in this run, which was recorded with {recorded_specs}; give the rules of the recorded program"
    )]
    OtherProgram {
        /// Name of the spec of the rules.
        spec: String,
        /// Names of the specs in the run.
        recorded_specs: String,
    },
    /// The requested text output does not exist.
    #[error("the spec has no text output `{name}`; it has {}", if output_names.is_empty() { "none" } else { output_names })]
    NoOutput {
        /// The requested name.
        name: String,
        /// The names of the existing text outputs.
        output_names: String,
    },
}
