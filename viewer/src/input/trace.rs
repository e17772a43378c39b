//! [`TraceInputFile`]: determines the kind of trace at a path, and sends its Pajé operations to a
//! sink.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use tumit_converter::clock::CorrectionMethod;
use tumit_converter::convert::launches::LaunchSelection;
use tumit_converter::convert::wall_clock;
use tumit_converter::convert::{ConvertError, ConvertOptions, ProgressFn, convert, convert_to_text, own_paje_output};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_paje::read::{FaultKind, FaultSummary, PajeReadError, PajeReader, ReadReport, parts_of};
use tumit_paje::time::TimeUnit;
use tumit_paje::{PajeSink, TraceDiagnostic};
use tumit_picl::{PiclReadError, PiclReader, TraceFormat};

use super::open_options::{OpenOptions, TraceOpenError};
use super::preview::PreviewSink;

/// A trace at a path.
#[derive(Debug)]
pub(crate) enum TraceInputFile {
    /// A run, or one process of it.
    Run(Box<OpenRun>),
    /// Pajé text.
    Paje(PathBuf, BufReader<File>),
    /// PICL or Alog.
    Picl(PathBuf, BufReader<File>, TraceFormat),
}

/// Diagnostics about a trace, errors first, and its wall clock.
#[derive(Debug, Default)]
pub(crate) struct InputDiagnostics {
    pub(crate) diagnostics: Vec<TraceDiagnostic>,
    /// See [`TraceSummary::wall_clock`](crate::query::TraceSummary::wall_clock).
    pub(crate) wall_clock: Option<i64>,
}

/// Size of the read buffer in bytes.
const BUFFER_BYTES: usize = 1 << 18;

impl TraceInputFile {
    /// Examines a path. Options for runs are rejected for a Pajé file.
    pub(crate) fn find(path: &Path, options: &OpenOptions) -> Result<Self, TraceOpenError> {
        let io_error = |source| TraceOpenError::Io { path: path.to_owned(), source };
        if std::fs::metadata(path).map_err(io_error)?.is_dir() {
            return Ok(Self::Run(Box::new(OpenRun::open_launches(path, options.launches)?)));
        }
        if tumit_converter::run::is_spec(path) {
            return Err(tumit_converter::run::RunOpenError::Spec { path: path.to_owned() }.into());
        }
        let mut input = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(io_error)?);
        let first = input.fill_buf().map_err(io_error)?;
        let picl_format = TraceFormat::of_file(first, path);
        if first.starts_with(&tracer_format::FILE_MAGIC) {
            return Ok(Self::Run(Box::new(OpenRun::open_launches(path, options.launches)?)));
        }
        let ConvertOptions { clock, has_causal_pass: causal, rules, output, .. } = &options.convert;
        let is_for_runs = rules.is_some() || output.is_some() || options.launches != LaunchSelection::default();
        if is_for_runs || *clock != CorrectionMethod::default() || !causal {
            return Err(TraceOpenError::NoRun { path: path.to_owned() });
        }
        tumit_converter::run::output_permissions::note_input(path);
        if let Some(format) = picl_format {
            return Ok(Self::Picl(path.to_owned(), input, format));
        }
        let parts = parts_of(path).map_err(|source| TraceOpenError::Read { path: path.to_owned(), source })?;
        parts
            .iter()
            .filter_map(|part| part.path.as_deref())
            .for_each(tumit_converter::run::output_permissions::note_input);
        Ok(Self::Paje(path.to_owned(), input))
    }

    /// Whether operations are made from records. They are not if they are read from text, such as
    /// the text output of a run.
    pub(crate) fn is_records(&self, options: &OpenOptions) -> bool {
        match self {
            Self::Run(run) => output_of(run, options).is_none(),
            Self::Paje(..) | Self::Picl(..) => false,
        }
    }

    /// The name of the trace, for titles.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Run(run) => run.name(),
            Self::Paje(path, _) | Self::Picl(path, ..) => Self::find_name(path),
        }
    }

    /// The title that the user gave, or the name of the trace.
    pub(crate) fn title(&self, options: &OpenOptions) -> String {
        options.title.clone().unwrap_or_else(|| self.name())
    }

    /// The name of the trace at a path, for any kind of trace.
    pub(crate) fn find_name(path: &Path) -> String {
        path.file_stem().or_else(|| path.file_name()).unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }

    /// Reads a Pajé file for its definitions of fields, announces them to the sink, and seeks back
    /// to the start of the file. Runs announce their fields in [`Self::feed`]. Input that cannot be
    /// read twice, such as a pipe, announces its fields at their definitions.
    pub(crate) fn announce(&mut self, sink: &mut dyn PajeSink) -> Result<(), TraceOpenError> {
        if let Self::Picl(path, ..) = self {
            return tumit_picl::announce(sink).map_err(|source| TraceOpenError::Io { path: path.clone(), source });
        }
        let Self::Paje(path, input) = self else { return Ok(()) };
        let io_error = |source| TraceOpenError::Io { path: path.clone(), source };
        if !input.get_ref().metadata().map_err(io_error)?.is_file() {
            return Ok(());
        }
        let reader = PajeReader::new(&mut *input).with_parts_beside(path);
        reader.announce(sink).map_err(|source| TraceOpenError::Read { path: path.clone(), source })?;
        input.rewind().map_err(io_error)
    }

    /// Same as [`Self::feed`]. It also publishes previews if the options ask for them.
    pub(crate) fn feed_shown(
        self,
        options: &OpenOptions,
        sink: &mut dyn PajeSink,
    ) -> Result<InputDiagnostics, TraceOpenError> {
        let Some(current) = &options.preview else { return self.feed(options, sink) };
        let name = self.title(options);
        self.feed(options, &mut PreviewSink::new(sink, &name, current))
    }

    /// Sends all operations, and finishes the sink.
    pub(crate) fn feed(
        self,
        options: &OpenOptions,
        sink: &mut dyn PajeSink,
    ) -> Result<InputDiagnostics, TraceOpenError> {
        match self {
            Self::Run(run) => feed_run(&run, options, sink),
            Self::Picl(path, input, format) => feed_picl(path, CountingReader::new(input, options), format, sink),
            Self::Paje(path, input) => {
                let input = CountingReader::new(input, options);
                match reader(input, options).with_parts_beside(&path).read(sink) {
                    Ok(report) => {
                        let diagnostics = report.errors().into_iter().chain(warnings(&report)).collect();
                        Ok(InputDiagnostics { diagnostics, wall_clock: None })
                    }
                    Err(PajeReadError::Sink { source, .. }) => Err(ConvertError::Write(source).into()),
                    Err(source) => Err(TraceOpenError::Read { path, source }),
                }
            }
        }
    }
}

/// Sends the operations of a PICL or Alog trace.
fn feed_picl(
    path: PathBuf,
    input: CountingReader<'_>,
    format: TraceFormat,
    sink: &mut dyn PajeSink,
) -> Result<InputDiagnostics, TraceOpenError> {
    match PiclReader::new(input, format).read(sink) {
        Ok(report) => Ok(InputDiagnostics { diagnostics: report.diagnostics(), wall_clock: None }),
        Err(PiclReadError::Sink(source)) => Err(ConvertError::Write(source).into()),
        Err(source) => Err(TraceOpenError::Picl { path, source }),
    }
}

/// Warns about timestamps that are probably not in seconds, because the text does not state the
/// unit. Also warns about lines that other readers ignore.
fn warnings(report: &ReadReport) -> impl Iterator<Item = TraceDiagnostic> {
    let notes = report.notes.iter();
    let notes = notes.filter(|note| matches!(note.kind, FaultKind::LongTime | FaultKind::EarlyEnd));
    notes.map(FaultSummary::diagnostic)
}

/// A reader of text, including the text of a run.
pub(super) fn reader<R: Read>(input: R, options: &OpenOptions) -> PajeReader<R> {
    let reader = PajeReader::new(input).in_unit(options.unit).with_field_announcements();
    let reader = if options.unit_is_known { reader.trusting_unit() } else { reader };
    if options.as_pj_dump { reader.as_pj_dump() } else { reader }
}

/// The requested text output of a run, or the run's own Pajé output.
fn output_of(run: &OpenRun, options: &OpenOptions) -> Option<String> {
    let ConvertOptions { rules, output, .. } = &options.convert;
    let own_output = if rules.is_none() { own_paje_output(run) } else { None };
    output.clone().or(own_output)
}

fn feed_run(run: &OpenRun, options: &OpenOptions, sink: &mut dyn PajeSink) -> Result<InputDiagnostics, TraceOpenError> {
    let mut options = options.clone();
    options.convert.output = output_of(run, &options);
    let mut diagnostics = Vec::new();
    let report = match &options.convert.output {
        None if options.unit != TimeUnit::default() => return Err(TraceOpenError::NoText { path: run.path.clone() }),
        None => convert(run, &options.convert, sink)?,
        Some(output) => feed_text(run, output, &options, sink, &mut diagnostics)?,
    };
    diagnostics.extend(report.all_diagnostics());
    let wall_clock = wall_clock::start_of(run, &report.clocks);
    Ok(InputDiagnostics { diagnostics, wall_clock })
}

/// Sends the text output of a run that the options select, which must be Pajé. The text is streamed
/// through a pipe and is never stored as a whole.
fn feed_text(
    run: &OpenRun,
    output: &str,
    options: &OpenOptions,
    sink: &mut dyn PajeSink,
    errors: &mut Vec<TraceDiagnostic>,
) -> Result<ConversionReport, TraceOpenError> {
    let (text, out) = io::pipe().map_err(ConvertError::Write)?;
    let (converted, read) = std::thread::scope(|scope| {
        // Each side closes its end of the pipe when it is done.
        let writer = scope.spawn(move || convert_to_text(run, &options.convert, &mut io::BufWriter::new(out)));
        let read = reader(text, options).read(sink);
        (writer.join(), read)
    });
    let converted = converted.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    match (converted, read) {
        // A reader that stops early closes the pipe. Its error takes precedence over the resulting
        // write error.
        (_, Err(PajeReadError::Sink { source, .. })) => Err(ConvertError::Write(source).into()),
        (Err(ConvertError::Write(_)) | Ok(_), Err(source)) => {
            Err(TraceOpenError::Output { output: output.to_owned(), source })
        }
        (Err(error), _) => Err(error.into()),
        (Ok(report), Ok(read)) => {
            errors.extend(read.errors());
            Ok(report)
        }
    }
}

/// Bytes between two calls of the progress function.
const PROGRESS_BYTES: u64 = 1 << 22;

/// Reports the progress of reading.
pub(super) struct CountingReader<'a> {
    inner: BufReader<File>,
    processed_bytes: u64,
    reported_bytes: u64,
    total: u64,
    progress: Option<&'a ProgressFn>,
}

impl<'a> CountingReader<'a> {
    pub(super) fn new(inner: BufReader<File>, options: &'a OpenOptions) -> Self {
        let total = inner.get_ref().metadata().map_or(0, |metadata| metadata.len());
        Self { inner, processed_bytes: 0, reported_bytes: 0, total, progress: options.convert.progress.as_ref() }
    }
}

impl Read for CountingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.processed_bytes += read as u64;
        if let Some(progress) = self.progress
            && (self.processed_bytes - self.reported_bytes >= PROGRESS_BYTES || read == 0)
        {
            self.reported_bytes = self.processed_bytes;
            progress(self.processed_bytes, self.total.max(self.processed_bytes));
        }
        Ok(read)
    }
}
