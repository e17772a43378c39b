//! [`open`]: from a path to a source, whatever is there.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use converter::clock::Method;
use converter::paje::read::{ReadError, read};
use converter::pipeline::{ConvertError, Options, Progress, convert, convert_to_text, own_paje_output};
use converter::run::Run;
use tumit::Spec;

use crate::query::TimelineSource;
use crate::sim::Simulation;

/// How to open.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Called now and then with steps done and steps in all: bytes of a Pajé file, records of a run.
    pub progress: Option<Progress>,
    /// How the clocks of a run are corrected.
    pub clock: Method,
    /// Rules to use instead of those that a run carries.
    pub rules: Option<Spec>,
    /// Text output of a run's spec to read as Pajé, instead of its rules for Pajé.
    pub output: Option<String>,
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

/// Bytes between two calls of the progress function.
const PROGRESS_BYTES: u64 = 1 << 22;

/// Opens a trace: reads or converts it, simulates it, and keeps it in memory. A folder is a run, a file one process of a
/// run or Pajé text.
///
/// # Errors
/// When there is nothing there, or nothing that is a trace. What is wrong *inside* a trace is in its summary's remarks.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Arc<dyn TimelineSource>, OpenError> {
    let io_error = |source| OpenError::Io { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(io_error)?;
    if metadata.is_dir() {
        return open_run(path, options);
    }
    let input = Counted {
        inner: File::open(path).map_err(io_error)?,
        done: 0,
        told: 0,
        total: metadata.len(),
        progress: options.progress.as_ref(),
    };
    let mut input = BufReader::with_capacity(1 << 18, input);
    if input.fill_buf().map_err(io_error)?.starts_with(&tracer_format::FILE_MAGIC) {
        return open_run(path, options);
    }
    if options.rules.is_some() || options.output.is_some() || options.clock != Method::default() {
        return Err(OpenError::NoRun { path: path.to_owned() });
    }
    let mut simulation = Simulation::new(&name(path));
    let report = read(input, &mut simulation).map_err(|source| OpenError::Read { path: path.to_owned(), source })?;
    simulation.fault(report.remarks());
    Ok(Arc::new(simulation.into_store()))
}

fn open_run(path: &Path, options: &OpenOptions) -> Result<Arc<dyn TimelineSource>, OpenError> {
    let run = Run::open(path)?;
    let mut simulation = Simulation::new(&run.name());
    let mut convert_options = Options::default();
    convert_options.clock = options.clock;
    convert_options.rules.clone_from(&options.rules);
    convert_options.progress.clone_from(&options.progress);
    let own = if options.rules.is_none() { own_paje_output(&run) } else { None };
    convert_options.output = options.output.clone().or(own);
    let report = match &convert_options.output {
        None => convert(&run, &convert_options, &mut simulation)?,
        Some(output) => {
            // The text goes straight from one to the other; it is never whole anywhere.
            let (text, out) = io::pipe().map_err(ConvertError::Write)?;
            let (run, convert_options) = (&run, &convert_options);
            let (made, read) = std::thread::scope(|scope| {
                // Each end is closed by the side that is done with it.
                let writer = scope.spawn(move || convert_to_text(run, convert_options, &mut io::BufWriter::new(out)));
                let read = read(BufReader::new(text), &mut simulation);
                (writer.join(), read)
            });
            let made = made.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match (made, read) {
                // A reader that gives up closes the pipe, and its reason counts.
                (Err(ConvertError::Write(_)) | Ok(_), Err(source)) => {
                    return Err(OpenError::Output { output: output.clone(), source });
                }
                (Err(error), _) => return Err(error.into()),
                (Ok(report), Ok(read)) => {
                    simulation.fault(read.remarks());
                    report
                }
            }
        }
    };
    simulation.fault(report.faults());
    simulation.remark(report.remarks);
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
