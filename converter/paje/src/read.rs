//! Reads Pajé text: all variants that producers write, from all versions of the format.
//!
//! Definitions are keyed by id, so an event may have several. Fields may be in any order, and have
//! current or older names. Identifiers are aliases, or names if there is no alias.
//!
//! Unknown fields become [`super::ExtraField`]s. An unknown field with a name that ends in `Container`
//! and the identifier of a container as its text becomes a reference (`WaitsForContainer` is
//! `waits for`).
//!
//! Values may be used without a declaration, or before it. In the latter case `DefineValue` is sent
//! again for the same value. The identifier of a destroyed container may be reused. Timestamps are
//! converted to nanoseconds exactly, without floats.
//!
//! A faulty line is counted and skipped. Lines keep the order of the file, because this reader does
//! not sort. Once tables and buffers have grown, memory is allocated only for new containers,
//! values and keys in use.

pub(crate) mod definitions;
pub(crate) mod events;
pub(crate) mod faults;
mod number;
pub(crate) mod pj_dump_compat;
pub(crate) mod split_files;
pub(crate) mod split_trace;
pub(crate) mod symbols;
#[cfg(test)]
mod tests;
pub(crate) mod tokenizer;

use std::io::{self, Read};
use std::path::Path;

use super::PajeSink;
use super::diagnostic::TraceDiagnostic;
use super::other_formats::{OtherFormat, foreign_format};
use super::time::{GlobalNanos, TimeUnit};
use definitions::{Definitions, FieldRole};
use events::{DefinedLine, ReadState};
use faults::FaultList;
pub use faults::{FaultKind, FaultSummary};
pub use pj_dump_compat::{date_of_double, double_of_date};
use split_files::TraceParts;
pub use split_files::{TraceLine, names_parts, note_copy};
pub use split_trace::{NamedPart, parts_of};
use symbols::ExternalNames;
use tokenizer::{AmbiguousSigns, LineReader, LineWords, TextLine};

/// The result of reading.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// The reason why nothing could be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PajeReadError {
    /// The expected event definition was not found.
    #[error("this is not a Pajé file: expected `%EventDef` at its start, found {looks_like}")]
    NotPaje {
        /// A description by the first bytes.
        looks_like: String,
    },
    /// Another known format.
    #[error("This is {name}. {advice}")]
    Foreign {
        /// Its name.
        name: &'static str,
        /// Advice for the user.
        advice: &'static str,
    },
    /// The input failed.
    #[error("cannot read line {line}: {source}")]
    Input {
        /// The line after the last one that was read.
        line: u64,
        /// The error.
        source: io::Error,
    },
    /// The sink failed.
    #[error("cannot process the contents of line {line}: {source}")]
    Sink {
        /// The number of the line.
        line: u64,
        /// The error.
        source: io::Error,
    },
}

/// Longer lines, in bytes, are not accepted by every reader.
const LENGTHY: usize = 4000;
/// Maximum number of lines before the first definition.
const MAX_LINES_BEFORE_HEADER: u64 = 1000;
/// Maximum number of bytes before the first definition.
const MAX_BYTES_BEFORE_HEADER: usize = 1 << 20;

/// Reads Pajé text, sends its operations to a sink, and finishes the sink with the maximum
/// timestamp.
///
/// # Errors
/// If the input or the sink fails. Also if there is no event definition in the first 1000 lines
/// that are not comments (or the first mebibyte of them). The sink is then not finished.
pub fn read(input: impl Read, sink: &mut dyn PajeSink) -> Result<ReadReport, PajeReadError> {
    PajeReader::new(input).read(sink)
}

/// Announces the extra fields of all event definitions in the text. Formats with a header need them
/// in advance.
///
/// # Errors
/// If the input or the sink fails.
pub fn announce(input: impl Read, sink: &mut dyn PajeSink) -> Result<(), PajeReadError> {
    PajeReader::new(input).announce(sink)
}

/// Reads Pajé text line by line. [`read`] calls it to the end.
#[derive(Debug)]
pub struct PajeReader<R> {
    lines: LineReader<R>,
    header: Definitions,
    taker: LineSink,
    first_bytes: Vec<u8>,
    /// Number of lines before the first definition, and their size in bytes.
    strange: (u64, usize),
    /// The other files of a split trace.
    parts: TraceParts,
}

/// Processes the lines of all files.
#[derive(Debug, Default)]
struct LineSink {
    /// The current line as text if it is not UTF-8.
    decoded: String,
    words: LineWords,
    state: ReadState,
    /// Whether definitions are announced.
    announces: bool,
}

impl<R: Read> PajeReader<R> {
    /// Creates a reader at the start of an input. The input needs no buffer.
    pub fn new(input: R) -> Self {
        Self {
            lines: LineReader::new(input),
            header: Definitions::default(),
            taker: LineSink::default(),
            first_bytes: Vec::new(),
            strange: (0, 0),
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
    /// As [`read`].
    pub fn read(mut self, sink: &mut dyn PajeSink) -> Result<ReadReport, PajeReadError> {
        while self.next(sink)? {}
        self.finish(sink)
    }

    /// Processes the next line. Returns `false` if there is none.
    ///
    /// # Errors
    /// As [`read`]. If the input fails because it has no data yet, as a file that is still written,
    /// the next call continues there.
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
        if !self.header.is_begun() && self.taker.words.len() > 0 {
            self.strange = (self.strange.0 + 1, self.strange.1 + length);
            if self.strange.0 >= MAX_LINES_BEFORE_HEADER || self.strange.1 >= MAX_BYTES_BEFORE_HEADER {
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
    pub fn date(&mut self) -> Option<i64> {
        self.taker.date(self.lines.line(), &self.header, None)
    }

    /// Processes the current line after [`Self::advance`].
    pub fn take_current(&mut self, sink: &mut dyn PajeSink) -> Result<(), PajeReadError> {
        self.process_line(sink)
    }

    /// The names that lines can refer to. Used to add names from other sources.
    pub fn names(&mut self) -> ExternalNames<'_> {
        let state = &mut self.taker.state;
        ExternalNames { types: &mut state.types, containers: &mut state.containers }
    }

    /// The source of the lines.
    pub fn input(&self) -> &R {
        self.lines.input()
    }

    /// The number of the last processed line, from 1, encoded as in [`TraceLine`].
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

    /// The names of the files that are read as parts of the trace, counted as in [`TraceLine::part`].
    pub fn parts(&self) -> &[std::sync::Arc<str>] {
        &self.taker.state.faults.parts
    }

    /// Announces the extra fields of each definition at its position. Meant for tables. A writer of
    /// Pajé text defines fields on demand, and would otherwise define all of them.
    #[must_use]
    pub fn announcing(mut self) -> Self {
        self.taker.announces = true;
        self
    }

    /// Sets the unit of timestamps, which the text does not contain.
    #[must_use]
    pub fn in_unit(mut self, unit: TimeUnit) -> Self {
        self.taker.state.missing_decimals = TimeUnit::Seconds.exact_decimals() - unit.exact_decimals();
        self
    }

    /// Reads numbers like `pj_dump`, and ends at the timestamp of the last line, which is 0 if that
    /// line has none.
    ///
    /// Timestamps are then not nanoseconds, but [`date_of_double`] of seconds, which has the same
    /// order. Invalid numbers are reported as usual, but a line is left out only if `pj_dump` would
    /// use an arbitrary timestamp.
    #[must_use]
    pub fn as_pj_dump(mut self) -> Self {
        self.taker.state.as_pj_dump = true;
        self
    }

    /// Trusts the unit: unusual timestamps are not reported.
    #[must_use]
    pub fn trusting_unit(mut self) -> Self {
        self.taker.state.is_long = true;
        self
    }

    /// Remembers the keys of all links, so that reused keys are reported. Uses at least eight bytes
    /// per link.
    #[must_use]
    pub fn remember_keys(mut self) -> Self {
        self.taker.state.remember_keys();
        self
    }

    /// The faults and notes so far.
    pub fn faults(&self) -> impl Iterator<Item = &FaultSummary> {
        self.taker.state.faults.faults()
    }

    /// Number of kinds of faults and notes so far.
    pub fn kinds_of_faults(&self) -> usize {
        self.taker.state.faults.kinds
    }

    /// Ends the file and finishes the sink with the maximum timestamp.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn finish(mut self, sink: &mut dyn PajeSink) -> Result<ReadReport, PajeReadError> {
        let (lines, all) = (self.lines.count(), self.lines());
        let state = &self.taker.state;
        let end = GlobalNanos(if state.as_pj_dump { state.last } else { state.end.unwrap_or(0) });
        let ended = self.close_definition(lines, sink).and_then(|()| sink.finish(end));
        ended.map_err(|source| PajeReadError::Sink { line: lines, source })?;
        let mut state = self.taker.state;
        if lines > 0 && !self.lines.is_ended() {
            state.faults.count(FaultKind::NoLineEnd, lines, "");
        }
        if state.dated != state.taken {
            state.faults.count(FaultKind::UndatedEnd, state.taken, "");
        }
        let (faults, notes) = state.faults.into_lists();
        Ok(ReadReport { lines: all, events: state.sent, end, faults, notes })
    }

    /// Ends a definition that is still open at the end of the file.
    fn close_definition(&mut self, line: u64, sink: &mut dyn PajeSink) -> io::Result<()> {
        self.taker.close_definition(line, &mut self.header, sink)
    }

    /// Processes the current line of `lines`.
    fn process_line(&mut self, sink: &mut dyn PajeSink) -> Result<(), PajeReadError> {
        let Self { lines, header, taker, .. } = self;
        let line = lines.line();
        taker
            .process_line(line, header, None, sink)
            .map_err(|source| PajeReadError::Sink { line: line.number, source })?;
        if taker.state.named.is_empty() { Ok(()) } else { self.open_parts(sink) }
    }
}

impl LineSink {
    /// Ends a definition that is still open at a line of events or at the end of a file.
    fn close_definition(&mut self, line: u64, header: &mut Definitions, sink: &mut dyn PajeSink) -> io::Result<()> {
        match header.close_open(line, &mut self.state.faults) {
            Some(definition) if self.announces => definition.announce(sink),
            _ => Ok(()),
        }
    }

    /// The timestamp of a line. In a part of a split trace, the definitions of the root file apply
    /// as well.
    fn date(&mut self, line: TextLine<'_>, header: &Definitions, root: Option<&Definitions>) -> Option<i64> {
        let text = std::str::from_utf8(line.bytes).ok()?;
        self.words.split(text);
        let id = self.words.get(text, 0)?;
        let definition = header.definition_or(root, id).ok()??;
        let word = self.words.get(text, definition.word(FieldRole::Time)?)?;
        number::nanos(word, self.state.missing_decimals).map(|date| date.value)
    }

    /// Processes a line.
    fn process_line(
        &mut self,
        line: TextLine<'_>,
        header: &mut Definitions,
        root: Option<&Definitions>,
        sink: &mut dyn PajeSink,
    ) -> io::Result<()> {
        let (number, words) = (line.number, &mut self.words);
        let (text, foreign) = line.text(&mut self.decoded);
        let faults = &mut self.state.faults;
        if line.bytes.len() > LENGTHY || text.ends_with('\r') {
            let kind = if text.ends_with('\r') { FaultKind::CarriageReturn } else { FaultKind::Lengthy };
            faults.count(kind, number, "");
        }
        if line.mark {
            faults.count(FaultKind::ByteOrderMark, number, "");
        }
        if memchr::memchr(0, line.bytes).is_some() {
            faults.count(FaultKind::Nul, number, text.trim_ascii_end());
        }
        let head = text.trim_ascii_start().strip_prefix('%');
        let mut loose = AmbiguousSigns::find(head.unwrap_or(text), false);
        if loose.dialect && head.is_none() && !self.state.as_pj_dump && line.bytes.contains(&b'\\') {
            // The expected number of words determines whether a backslash is an escape.
            words.split(text);
            let id = words.get(text, 0).unwrap_or("");
            if let Ok(Some(definition)) = header.definition_or(root, id) {
                words.split_expecting(text, definition.words);
                loose = AmbiguousSigns::find(text, words.has_escapes());
            }
        }
        loose.count(text, number, faults);
        if let Some(rest) = head {
            words.split(rest);
            let list: Vec<&str> = (0..words.len()).filter_map(|at| words.get(rest, at)).collect();
            return match header.line(&list, number, text.trim_ascii_end(), faults) {
                Some(definition) if self.announces => definition.announce(sink),
                _ => Ok(()),
            };
        }
        words.split(text);
        if self.state.as_pj_dump {
            words.empty_is_quote(text);
        }
        if line.cut {
            faults.count(FaultKind::LongLine, number, text);
        }
        let Some(id) = words.get(text, 0) else { return Ok(()) };
        if foreign {
            faults.count(FaultKind::Encoding, number, text.trim_ascii_end());
        }
        if let Some(definition) = header.close_open(number, faults)
            && self.announces
        {
            definition.announce(sink)?;
        }
        let definition = match header.definition_or(root, id) {
            Ok(Some(definition)) => definition,
            Ok(None) => return Ok(()),
            Err(()) => {
                faults.count(FaultKind::UnknownId, number, text.trim_ascii_end());
                return Ok(());
            }
        };
        if loose.dialect && !self.state.as_pj_dump {
            split_by_dialect(words, text, definition.words, faults, number);
        }
        if words.empty {
            faults.count(FaultKind::Empty, number, text.trim_ascii_end());
        }
        if words.unclosed {
            faults.count(FaultKind::Quote, number, text.trim_ascii_end());
        }
        if words.len() < definition.words {
            faults.count(FaultKind::TooFew, number, text.trim_ascii_end());
            if words.len() < definition.needed {
                return Ok(());
            }
        } else if words.len() > definition.words {
            faults.count(FaultKind::TooMany, number, text.trim_ascii_end());
        }
        self.state.line(DefinedLine { definition, words, text, line: number }, sink)
    }
}

/// Splits a line that has an apostrophe or a backslash. Notes words that other readers read
/// differently.
#[cold]
fn split_by_dialect(words: &mut LineWords, text: &str, expected: usize, faults: &mut FaultList, line: u64) {
    words.split_expecting(text, expected);
    let (single, escapes) = words.dialect(text);
    if single {
        faults.count(FaultKind::SingleQuotes, line, text.trim_ascii_end());
    }
    if escapes {
        faults.count(FaultKind::EscapedQuote, line, text.trim_ascii_end());
    }
}

/// The error for a text without event definitions, or for data that are not text.
#[must_use]
pub fn not_paje(first: &[u8]) -> PajeReadError {
    if let Some(OtherFormat { name, advice }) = foreign_format(first, Path::new("")) {
        return PajeReadError::Foreign { name, advice };
    }
    let text = first.trim_ascii_start();
    let looks_like = match first {
        [] => "an empty file",
        [0x1f, 0x8b, ..] => "a gzip file; unpack it with `gunzip`",
        [b'B', b'Z', b'h', ..] => "a bzip2 file; unpack it with `bunzip2`",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "an xz file; unpack it with `unxz`",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "a zstd file; unpack it with `unzstd`",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "text in UTF-16; save it as UTF-8",
        _ if first.starts_with(&tracer_format::FILE_MAGIC) => {
            "one process of a Tumit run; name the run's folder, not a file of it"
        }
        _ if first.iter().all(|&byte| byte == 0) => "only NUL bytes",
        _ if first.contains(&0) => "binary data",
        _ if text.is_empty() => "a file of blank lines",
        _ => "",
    };
    if !looks_like.is_empty() {
        return PajeReadError::NotPaje { looks_like: looks_like.to_owned() };
    }
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let start: String = String::from_utf8_lossy(line).chars().filter(|c| !c.is_control()).take(60).collect();
    PajeReadError::NotPaje { looks_like: format!("text that starts with `{start}`") }
}
