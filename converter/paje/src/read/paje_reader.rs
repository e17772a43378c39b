//! [`PajeReader`]: reads Pajé text line by line.

use std::io::{self, Read};
use std::path::Path;

use super::error::{PajeReadError, not_paje};
use super::event_definitions::Definitions;
use super::faults::{FaultKind, FaultLists, FaultSummary};
use super::line_processor::LineProcessor;
use super::split_files::TraceParts;
use super::symbols::ExternalNames;
use super::tokenizer::LineReader;
use crate::PajeSink;
use crate::diagnostic::TraceDiagnostic;
use crate::time::{GlobalNanos, TimeUnit};

/// The result of reading.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadReport {
    /// Number of lines of the file and its parts.
    pub lines: u64,
    /// Number of operations that were sent to the sink.
    pub events: u64,
    /// The maximum timestamp.
    pub end: GlobalNanos,
    /// The faults, one entry for each kind, in the order of their first occurrence.
    pub faults: Vec<FaultSummary>,
    /// Notes on content that was read completely, but that some other readers reject. In the same
    /// order.
    pub notes: Vec<FaultSummary>,
}

impl ReadReport {
    /// A diagnostic for each kind of fault.
    #[must_use]
    pub fn errors(&self) -> Vec<TraceDiagnostic> {
        self.faults.iter().map(FaultSummary::diagnostic).collect()
    }
}

/// Maximum number of lines before the first definition.
const MAX_LINES_BEFORE_HEADER: u64 = 1000;
/// Maximum number of bytes before the first definition.
const MAX_BYTES_BEFORE_HEADER: usize = 1 << 20;

/// Reads Pajé text line by line. [`read`](super::read) calls it to the end.
#[derive(Debug)]
pub struct PajeReader<R> {
    pub(super) lines: LineReader<R>,
    pub(super) header: Definitions,
    pub(super) processor: LineProcessor,
    first_bytes: Vec<u8>,
    /// Number of lines before the first definition that are not comments.
    lines_before_header: u64,
    /// The size of these lines.
    bytes_before_header: usize,
    /// The other files of a split trace.
    pub(super) parts: TraceParts,
}

impl<R: Read> PajeReader<R> {
    /// Creates a reader at the start of an input. The input needs no buffer.
    pub fn new(input: R) -> Self {
        Self {
            lines: LineReader::new(input),
            header: Definitions::default(),
            processor: LineProcessor::default(),
            first_bytes: Vec::new(),
            lines_before_header: 0,
            bytes_before_header: 0,
            parts: TraceParts::default(),
        }
    }

    /// Also reads the files that containers name in their field `Filename`, as parts of the trace.
    /// They must be below the folder of the file at `root`, which is the input.
    #[must_use]
    pub fn with_parts_beside(mut self, root: &Path) -> Self {
        self.parts = TraceParts::in_folder_of(root);
        self
    }

    /// Processes all lines and finishes.
    ///
    /// # Errors
    /// As [`read`](super::read).
    pub fn read(mut self, sink: &mut dyn PajeSink) -> Result<ReadReport, PajeReadError> {
        while self.next(sink)? {}
        self.finish(sink)
    }

    /// Processes the next line. Returns `false` if there is none.
    ///
    /// # Errors
    /// As [`read`](super::read). If the input fails because it has no data yet, as a file that is
    /// still written, the next call continues there.
    pub fn next(&mut self, sink: &mut dyn PajeSink) -> Result<bool, PajeReadError> {
        if !self.parts.list.is_empty() {
            return self.next_of_parts(sink);
        }
        match self.lines.advance() {
            Err(source) => return Err(PajeReadError::Input { line: self.number() + 1, source }),
            Ok(true) => {}
            Ok(false) if self.header.is_begun() => return Ok(false),
            Ok(false) => return Err(not_paje(&self.first_bytes)),
        }
        if self.header.is_begun() {
            self.process_line(sink)?;
            return Ok(true);
        }
        let bytes = self.lines.line().bytes;
        let length = bytes.len() + 1;
        if self.first_bytes.len() < 512 {
            self.first_bytes.extend_from_slice(bytes);
            self.first_bytes.push(b'\n');
        }
        self.process_line(sink)?;
        if !self.header.is_begun() && self.processor.words.len() > 0 {
            self.lines_before_header += 1;
            self.bytes_before_header += length;
            if self.lines_before_header >= MAX_LINES_BEFORE_HEADER
                || self.bytes_before_header >= MAX_BYTES_BEFORE_HEADER
            {
                return Err(not_paje(&self.first_bytes));
            }
        }
        Ok(true)
    }

    /// Advances to the next line without processing it. Returns `false` if there is none.
    pub fn advance(&mut self) -> Result<bool, PajeReadError> {
        self.lines.advance().map_err(|source| PajeReadError::Input { line: self.number() + 1, source })
    }

    /// The timestamp of the current line.
    pub fn timestamp(&mut self) -> Option<i64> {
        self.processor.timestamp(self.lines.line(), &self.header, None)
    }

    /// Processes the current line after [`Self::advance`].
    pub fn take_current(&mut self, sink: &mut dyn PajeSink) -> Result<(), PajeReadError> {
        self.process_line(sink)
    }

    /// The names that lines can refer to. Used to add names from other sources.
    pub fn names(&mut self) -> ExternalNames<'_> {
        let state = &mut self.processor.state;
        ExternalNames { types: &mut state.types, containers: &mut state.containers }
    }

    /// The source of the lines.
    pub fn input(&self) -> &R {
        self.lines.input()
    }

    /// The number of the last processed line, from 1, encoded as in
    /// [`TraceLine`](crate::read::TraceLine).
    pub fn number(&self) -> u64 {
        self.line().number
    }

    /// The last processed line.
    pub fn bytes(&self) -> &[u8] {
        self.line().bytes
    }

    /// Number of lines read so far, of all files.
    pub fn lines(&self) -> u64 {
        self.lines.count() + self.parts.list.iter().map(|part| part.lines.count()).sum::<u64>()
    }

    /// The names of the files that are read as parts of the trace, counted as in
    /// [`TraceLine::part`](crate::read::TraceLine::part).
    pub fn parts(&self) -> &[std::sync::Arc<str>] {
        &self.processor.state.faults.parts
    }

    /// Announces the extra fields of each definition at its position. Meant for tables. A writer of
    /// Pajé text defines fields on demand, and would otherwise define all of them.
    #[must_use]
    pub fn with_field_announcements(mut self) -> Self {
        self.processor.announces = true;
        self
    }

    /// Sets the unit of timestamps, which the text does not contain.
    #[must_use]
    pub fn in_unit(mut self, unit: TimeUnit) -> Self {
        self.processor.state.missing_decimals = TimeUnit::Seconds.exact_decimals() - unit.exact_decimals();
        self
    }

    /// Reads numbers like `pj_dump`, and ends at the timestamp of the last line, which is 0 if that
    /// line has none.
    ///
    /// Timestamps are then not nanoseconds, but `timestamp_of_double` of seconds, which has the
    /// same order. Invalid numbers are reported as usual, but a line is left out only if `pj_dump`
    /// would use an arbitrary timestamp.
    #[must_use]
    pub fn as_pj_dump(mut self) -> Self {
        self.processor.state.as_pj_dump = true;
        self
    }

    /// Trusts the unit: unusual timestamps are not reported.
    #[must_use]
    pub fn trusting_unit(mut self) -> Self {
        self.processor.state.is_long = true;
        self
    }

    /// Remembers the keys of all links, so that reused keys are reported. Uses at least eight bytes
    /// per link.
    #[must_use]
    pub fn remember_keys(mut self) -> Self {
        self.processor.state.remember_keys();
        self
    }

    /// The faults and notes so far.
    pub fn faults(&self) -> impl Iterator<Item = &FaultSummary> {
        self.processor.state.faults.faults()
    }

    /// Number of kinds of faults and notes so far.
    pub fn kinds_of_faults(&self) -> usize {
        self.processor.state.faults.kinds
    }

    /// Ends the file and finishes the sink with the maximum timestamp.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn finish(mut self, sink: &mut dyn PajeSink) -> Result<ReadReport, PajeReadError> {
        let (lines, text) = (self.lines.count(), self.lines());
        let state = &self.processor.state;
        let end = GlobalNanos(if state.as_pj_dump { state.last } else { state.end.unwrap_or(0) });
        let finished = self.close_definition(lines, sink).and_then(|()| sink.finish(end));
        finished.map_err(|source| PajeReadError::Sink { line: lines, source })?;
        let mut state = self.processor.state;
        if lines > 0 && !self.lines.is_ended() {
            state.faults.count(FaultKind::NoLineEnd, lines, "");
        }
        if state.last_timestamp_line != state.last_line {
            state.faults.count(FaultKind::EndWithoutTimestamp, state.last_line, "");
        }
        let FaultLists { faults, notes } = state.faults.into_lists();
        Ok(ReadReport { lines: text, events: state.sent_count, end, faults, notes })
    }

    /// Ends a definition that is still open at the end of the file.
    pub(super) fn close_definition(&mut self, line: u64, sink: &mut dyn PajeSink) -> io::Result<()> {
        self.processor.close_definition(line, &mut self.header, sink)
    }

    /// Processes the current line of `lines`.
    pub(super) fn process_line(&mut self, sink: &mut dyn PajeSink) -> Result<(), PajeReadError> {
        let Self { lines, header, processor, .. } = self;
        let line = lines.line();
        processor
            .process_line(line, header, None, sink)
            .map_err(|source| PajeReadError::Sink { line: line.number, source })?;
        if processor.state.part_names.is_empty() { Ok(()) } else { self.open_parts(sink) }
    }
}
