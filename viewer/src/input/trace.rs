//! [`Input`]: finds out what lies at a path, and sends its Pajé operations to whoever takes them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use tumit_converter::clock::Method;
use tumit_converter::convert::launches::Launches;
use tumit_converter::convert::wall_clock;
use tumit_converter::convert::{ConvertError, Options, Progress, convert, convert_to_text, own_paje_output};
use tumit_converter::report::Report;
use tumit_converter::run::Run;
use tumit_paje::Sink;
use tumit_paje::read::{FaultKind, ReadError, ReadReport, Reader, parts_of};
use tumit_paje::time::Unit;

use super::options::{OpenError, OpenOptions};
use super::preview::Preview;

/// A trace that was found.
#[derive(Debug)]
pub(crate) enum Input {
    /// A run, or one process of it.
    Run(Box<Run>),
    /// Pajé text.
    Paje(PathBuf, BufReader<File>),
}

/// What was wrong with a trace, and what a user should know beside.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) faults: Vec<String>,
    pub(crate) remarks: Vec<String>,
    /// As [`Summary::wall_clock`](crate::query::Summary::wall_clock).
    pub(crate) wall_clock: Option<i64>,
}

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 18;

impl Input {
    /// Looks at a path. Options that are for runs are refused for a Pajé file.
    pub(crate) fn find(path: &Path, options: &OpenOptions) -> Result<Self, OpenError> {
        let io_error = |source| OpenError::Io { path: path.to_owned(), source };
        if std::fs::metadata(path).map_err(io_error)?.is_dir() {
            return Ok(Self::Run(Box::new(Run::open_launches(path, options.launches)?)));
        }
        if tumit_converter::run::is_spec(path) {
            return Err(tumit_converter::run::OpenError::Spec { path: path.to_owned() }.into());
        }
        let mut input = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(io_error)?);
        if input.fill_buf().map_err(io_error)?.starts_with(&tracer_format::FILE_MAGIC) {
            return Ok(Self::Run(Box::new(Run::open_launches(path, options.launches)?)));
        }
        let is_for_runs =
            options.rules.is_some() || options.output.is_some() || options.launches != Launches::default();
        if is_for_runs || options.clock != Method::default() || !options.causal {
            return Err(OpenError::NoRun { path: path.to_owned() });
        }
        tumit_converter::run::output_permissions::note_input(path);
        let parts = parts_of(path).map_err(|source| OpenError::Read { path: path.to_owned(), source })?;
        parts
            .iter()
            .filter_map(|part| part.path.as_deref())
            .for_each(tumit_converter::run::output_permissions::note_input);
        Ok(Self::Paje(path.to_owned(), input))
    }

    /// Whether operations are made from records, and not read from text, be it that of a run's own output.
    pub(crate) fn is_records(&self, options: &OpenOptions) -> bool {
        match self {
            Self::Run(run) => output_of(run, options).is_none(),
            Self::Paje(..) => false,
        }
    }

    /// The name of the trace, for titles.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Run(run) => run.name(),
            Self::Paje(path, _) => Self::find_name(path),
        }
    }

    /// The name that the user gave it, or its own.
    pub(crate) fn title(&self, options: &OpenOptions) -> String {
        options.title.clone().unwrap_or_else(|| self.name())
    }

    /// The name of the trace at a path, of what kind it may be.
    pub(crate) fn find_name(path: &Path) -> String {
        path.file_stem().or_else(|| path.file_name()).unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }

    /// Announces the fields that a Pajé file defines, wherever it does so, and goes back to its start. Runs announce theirs
    /// when they are fed; what cannot be read twice, such as a pipe, announces its fields where it defines them.
    pub(crate) fn announce(&mut self, sink: &mut dyn Sink) -> Result<(), OpenError> {
        let Self::Paje(path, input) = self else { return Ok(()) };
        let io_error = |source| OpenError::Io { path: path.clone(), source };
        if !input.get_ref().metadata().map_err(io_error)?.is_file() {
            return Ok(());
        }
        let reader = Reader::new(&mut *input).with_parts_beside(path);
        reader.announce(sink).map_err(|source| OpenError::Read { path: path.clone(), source })?;
        input.rewind().map_err(io_error)
    }

    /// As [`Self::feed`]; and shows the beginning meanwhile, if someone wants to see it.
    pub(crate) fn feed_shown(self, options: &OpenOptions, sink: &mut dyn Sink) -> Result<Told, OpenError> {
        let Some(current) = &options.glimpse else { return self.feed(options, sink) };
        let name = self.title(options);
        self.feed(options, &mut Preview::new(sink, &name, current))
    }

    /// Sends everything; the sink is finished then.
    pub(crate) fn feed(self, options: &OpenOptions, sink: &mut dyn Sink) -> Result<Told, OpenError> {
        match self {
            Self::Run(run) => feed_run(&run, options, sink),
            Self::Paje(path, input) => {
                let total = input.get_ref().metadata().map_or(0, |metadata| metadata.len());
                let input = Counted { inner: input, done: 0, told: 0, total, progress: options.progress.as_ref() };
                match reader(input, options).with_parts_beside(&path).read(sink) {
                    Ok(report) => Ok(Told { faults: report.remarks(), remarks: warnings(&report), wall_clock: None }),
                    Err(ReadError::Sink { source, .. }) => Err(ConvertError::Write(source).into()),
                    Err(source) => Err(OpenError::Read { path, source }),
                }
            }
        }
    }
}

/// Warns if dates are probably not in seconds, because the text does not state the unit. Also warns
/// of lines that other readers leave out.
fn warnings(report: &ReadReport) -> Vec<String> {
    let notes = report.notes.iter();
    let notes = notes.filter(|note| matches!(note.kind, FaultKind::LongTime | FaultKind::EarlyEnd));
    notes.map(ToString::to_string).collect()
}

/// A reader of text, be it that of a run.
fn reader<R: Read>(input: R, options: &OpenOptions) -> Reader<R> {
    let reader = Reader::new(input).in_unit(options.unit).announcing();
    let reader = if options.unit_is_known { reader.trusting_unit() } else { reader };
    if options.as_pj_dump { reader.as_pj_dump() } else { reader }
}

/// The text output of a run that is asked for, or that it has in place of operations.
fn output_of(run: &Run, options: &OpenOptions) -> Option<String> {
    let own = if options.rules.is_none() { own_paje_output(run) } else { None };
    options.output.clone().or(own)
}

fn feed_run(run: &Run, options: &OpenOptions, sink: &mut dyn Sink) -> Result<Told, OpenError> {
    let mut convert_options = Options::default();
    convert_options.clock = options.clock;
    convert_options.causal = options.causal;
    convert_options.threads = options.threads;
    convert_options.memory = options.memory;
    convert_options.rules.clone_from(&options.rules);
    convert_options.progress.clone_from(&options.progress);
    convert_options.output = output_of(run, options);
    let mut faults = Vec::new();
    let report = match &convert_options.output {
        None if options.unit != Unit::default() => return Err(OpenError::NoText { path: run.path.clone() }),
        None => convert(run, &convert_options, sink)?,
        Some(output) => feed_text(run, &convert_options, (output, options), sink, &mut faults)?,
    };
    faults.extend(report.faults());
    let wall_clock = wall_clock::start_of(run, &report.clocks);
    Ok(Told { faults, remarks: report.remarks, wall_clock })
}

/// The text output of a run, which must be Pajé. It goes straight from one to the other; it is never whole anywhere.
fn feed_text(
    run: &Run,
    options: &Options,
    (output, open_options): (&str, &OpenOptions),
    sink: &mut dyn Sink,
    faults: &mut Vec<String>,
) -> Result<Report, OpenError> {
    let (text, out) = io::pipe().map_err(ConvertError::Write)?;
    let (made, read) = std::thread::scope(|scope| {
        // Each end is closed by the side that is done with it.
        let writer = scope.spawn(move || convert_to_text(run, options, &mut io::BufWriter::new(out)));
        let read = reader(text, open_options).read(sink);
        (writer.join(), read)
    });
    let made = made.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    match (made, read) {
        // A reader that gives up closes the pipe, and its reason counts.
        (_, Err(ReadError::Sink { source, .. })) => Err(ConvertError::Write(source).into()),
        (Err(ConvertError::Write(_)) | Ok(_), Err(source)) => {
            Err(OpenError::Output { output: output.to_owned(), source })
        }
        (Err(error), _) => Err(error.into()),
        (Ok(report), Ok(read)) => {
            faults.extend(read.remarks());
            Ok(report)
        }
    }
}

/// Bytes between two calls of the progress function.
const PROGRESS_BYTES: u64 = 1 << 22;

/// Tells how much was read.
struct Counted<'a> {
    inner: BufReader<File>,
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
