//! [`PiclReader`]: reads a trace, and sends it as Pajé operations.

use std::io::{self, Read};

use tumit_paje::time::GlobalNanos;
use tumit_paje::{EventOperation, ExtraFieldKind, FieldSet, PajeSink, TraceDiagnostic};
use tumit_spill::temporary_space::TemporarySpace;

use crate::alog::AlogParser;
use crate::bounded_lines::BoundedLines;
use crate::emission::node_containers::NodeContainers;
use crate::emission::state_extras::STATE_FIELDS;
use crate::emission::{ActionEmitter, EmitError};
use crate::model::{ActionLog, LogError, TraceAction};
use crate::new_picl::NewParser;
use crate::old_picl::OldParser;
use crate::picl_faults::{PiclFault, StrictFault};
use crate::trace_format::TraceFormat;

/// Maximum memory of the records that are sorted, in bytes. Further records are in temporary files.
const SORT_MEMORY: usize = 64 << 20;

/// The reason why a trace was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PiclReadError {
    /// The input failed.
    #[error("cannot read line {line}: {source}")]
    Input {
        /// The line after the last one that was read.
        line: u64,
        /// The error.
        source: io::Error,
    },
    /// The sink or a temporary file failed.
    #[error("cannot process the trace: {0}")]
    Sink(#[source] io::Error),
    /// The first fault in strict mode.
    #[error("{0}")]
    Strict(PiclFault),
}

impl From<StrictFault> for PiclReadError {
    fn from(StrictFault(fault): StrictFault) -> Self {
        Self::Strict(fault)
    }
}

impl From<LogError> for PiclReadError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Io(error) => Self::Sink(error),
            LogError::Strict(fault) => fault.into(),
        }
    }
}

impl From<EmitError> for PiclReadError {
    fn from(error: EmitError) -> Self {
        match error {
            EmitError::Io(error) => Self::Sink(error),
            EmitError::Strict(fault) => fault.into(),
        }
    }
}

/// The result of reading.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PiclReport {
    /// Number of lines.
    pub lines: u64,
    /// Number of operations that were sent, without definitions.
    pub events: u64,
    /// The last time.
    pub end: GlobalNanos,
    /// The faults, one for each kind, sorted by their first lines.
    pub faults: Vec<PiclFault>,
}

impl PiclReport {
    /// A diagnostic for each kind of fault, errors first.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<TraceDiagnostic> {
        let mut diagnostics: Vec<TraceDiagnostic> = self.faults.iter().map(PiclFault::diagnostic).collect();
        diagnostics.sort_by_key(|diagnostic| !diagnostic.is_error());
        diagnostics
    }
}

/// Reads a trace in one of the formats of this package.
///
/// Records are sorted by time, so all lines are read before the first operation is sent.
/// Definitions are sent first.
#[derive(Debug)]
pub struct PiclReader<R> {
    lines: BoundedLines<R>,
    format: TraceFormat,
    is_strict: bool,
    sort_memory: usize,
}

enum FormatParser {
    Old(OldParser),
    New(NewParser),
    Alog(AlogParser),
}

impl FormatParser {
    fn of(format: TraceFormat) -> Self {
        match format {
            TraceFormat::OldPicl => Self::Old(OldParser::default()),
            TraceFormat::NewPicl => Self::New(NewParser::default()),
            TraceFormat::Alog => Self::Alog(AlogParser::default()),
        }
    }

    fn line(&mut self, line: &[u8], number: u64, log: &mut ActionLog) -> Result<(), LogError> {
        // A file system can add NUL bytes to the end of a trace.
        if line.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0) {
            return Ok(());
        }
        match self {
            Self::Old(parser) => parser.line(line, number, log),
            Self::New(parser) => parser.line(line, number, log),
            Self::Alog(parser) => parser.line(line, number, log),
        }
    }
}

impl<R: Read> PiclReader<R> {
    /// Creates a reader at the start of an input, which needs no buffer.
    pub fn new(input: R, format: TraceFormat) -> Self {
        Self { lines: BoundedLines::new(input), format, is_strict: false, sort_memory: SORT_MEMORY }
    }

    /// Stops at the first fault.
    #[must_use]
    pub fn stop_at_first_fault(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Sets the memory for records that are sorted, in bytes.
    #[must_use]
    pub fn with_sort_memory(mut self, bytes: usize) -> Self {
        self.sort_memory = bytes;
        self
    }

    /// Reads all lines, sends their operations in order of time, and finishes the sink.
    ///
    /// # Errors
    /// If the input or the sink fails, or in strict mode at the first fault. The sink is then not
    /// finished.
    pub fn read(mut self, sink: &mut dyn PajeSink) -> Result<PiclReport, PiclReadError> {
        let space = TemporarySpace::in_system_folder(self.sort_memory);
        let mut log = ActionLog::new(&space, self.is_strict);
        let mut parser = FormatParser::of(self.format);
        loop {
            let has_line = self.lines.advance();
            let number = self.lines.number();
            match has_line {
                Ok(true) => parser.line(self.lines.line(), number, &mut log)?,
                Ok(false) => break,
                Err(source) => return Err(PiclReadError::Input { line: number + 1, source }),
            }
        }
        let names = match parser {
            FormatParser::Old(parser) => {
                parser.close(&mut log)?;
                Default::default()
            }
            FormatParser::New(_) => Default::default(),
            FormatParser::Alog(parser) => parser.processes,
        };
        log.close()?;
        let is_alog = self.format == TraceFormat::Alog;
        let mut rows = log.sort(&space).map_err(PiclReadError::Sink)?;
        let mut emitter = ActionEmitter::new(&mut log, NodeContainers::new(names, is_alog), is_alog, sink)?;
        while let Some(words) = rows.next().map_err(PiclReadError::Sink)? {
            if let Some(action) = TraceAction::of_words(words) {
                emitter.send(&action)?;
            }
        }
        let events = emitter.sent_count();
        let end = GlobalNanos(emitter.finish()?);
        Ok(PiclReport { lines: self.lines.number(), events, end, faults: log.faults.into_list() })
    }
}

/// Announces the extra fields of all operations that a reader can send. Formats with a header need
/// them in advance.
///
/// # Errors
/// If the sink fails.
pub fn announce(sink: &mut dyn PajeSink) -> io::Result<()> {
    use ExtraFieldKind::{Integer, Text};
    let sets: [(EventOperation, &[(&str, ExtraFieldKind)]); 4] = [
        (EventOperation::PushState, &STATE_FIELDS),
        (EventOperation::StartLink, &[("bytes", Integer), ("type", Integer)]),
        (EventOperation::NewEvent, &[("data", Text)]),
        (EventOperation::NewEvent, &[("text", Text)]),
    ];
    sets.into_iter().try_for_each(|(operation, fields)| sink.announce(&FieldSet { operation, fields, source: false }))
}
