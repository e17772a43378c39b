//! [`open`]: from a path to a source, whatever is there.

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use converter::clock::Method;
use converter::paje::read::ReadError;
use converter::pipeline::{ConvertError, Progress};
use tumit::Spec;

use crate::feed::Input;
use crate::query::TimelineSource;
use crate::sim::Simulation;

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
    #[error("{} is a Pajé file: clocks, rules and outputs can be chosen for a run only", path.display())]
    NoRun {
        /// The file.
        path: PathBuf,
    },
    /// It is a run, or should be one, but cannot be used.
    #[error(transparent)]
    Run(#[from] converter::run::OpenError),
    /// A run that could not be converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The text output of a run is no Pajé.
    #[error("the text output `{output}` cannot be viewed: {source}")]
    Output {
        /// Its name.
        output: String,
        /// What is wrong.
        source: ReadError,
    },
}

/// Opens a trace: reads or converts it, simulates it, and keeps it in memory. A folder is a run, a file one process of a
/// run or Pajé text.
///
/// # Errors
/// When there is nothing there, or nothing that is a trace. What is wrong *inside* a trace is in its summary's remarks.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Arc<dyn TimelineSource>, OpenError> {
    let input = Input::find(path, options)?;
    let mut simulation = Simulation::new(&input.name());
    let told = input.feed(options, &mut simulation)?;
    simulation.fault(told.faults);
    simulation.remark(told.remarks);
    Ok(Arc::new(simulation.into_store()))
}

#[cfg(test)]
mod tests {
    use super::{OpenError, OpenOptions, open};

    #[test]
    fn a_paje_file_is_opened_under_its_name_and_progress_is_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("small.paje");
        std::fs::write(&path, include_str!("../tests/header.paje")).expect("room for it");
        let told = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let mut options = OpenOptions::default();
        let teller = std::sync::Arc::clone(&told);
        options.progress =
            Some(std::sync::Arc::new(move |done, _| teller.store(done, std::sync::atomic::Ordering::Relaxed)));
        let source = open(&path, &options).expect("it is a Pajé file");
        assert_eq!(source.summary().name, "small");
        assert_eq!(
            told.load(std::sync::atomic::Ordering::Relaxed),
            std::fs::metadata(&path).expect("it is there").len()
        );
    }

    #[test]
    fn what_is_no_trace_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let missing = open(&folder.path().join("missing"), &OpenOptions::default()).err();
        assert!(matches!(missing, Some(OpenError::Io { .. })));
        let empty = open(folder.path(), &OpenOptions::default()).err().map(|error| error.to_string());
        assert!(empty.is_some_and(|text| text.contains("*.tmt")));
        let path = folder.path().join("data.json");
        std::fs::write(&path, "{}").expect("room for it");
        let json = open(&path, &OpenOptions::default()).err().map(|error| error.to_string());
        assert!(json.is_some_and(|text| text.contains("data.json") && text.contains("JSON")));
    }
}
