//! The reader of Pajé text: accepts what producers really write, from any of the format's ages.
//!
//! Definitions are keyed by id, so that an event may have several; fields come in any order, under today's names or older ones.
//! Identifiers are aliases, else names. Unknown fields become [`super::Extra`]s; one whose name ends in `Container` and whose text is
//! a container's identifier becomes a reference (`WaitsForContainer` is `waits for`). Values may be used without a
//! declaration, or before it: then `DefineValue` comes again for the same value. The identifier of a destroyed
//! container may be used again. Dates become nanoseconds exactly, without floats.
//!
//! A bad line is counted and left out, and reading goes on. The order of lines is the file's: this reader does not sort.
//! Nothing is allocated per line once tables and buffers have grown, but for what is new: containers, values, keys in use.

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

use super::Sink;
use super::other_formats::{Foreign, foreign_format};
use super::time::{GlobalNanos, Unit};
use definitions::{Header, Role};
use events::{Input, State};
use faults::Faults;
pub use faults::{Fault, FaultKind};
pub use pj_dump_compat::{date_of_double, double_of_date};
use split_files::Parts;
pub use split_files::{Place, names_parts, note_copy};
pub use split_trace::{PartOfTrace, parts_of};
use symbols::Names;
use tokenizer::{Line, Lines, Loose, Words};

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadReport {
    /// Lines of the file, and of its parts.
    pub lines: u64,
    /// Operations that were sent to the sink.
    pub events: u64,
    /// The largest date.
    pub end: GlobalNanos,
    /// What was wrong, one entry for each kind, in the order in which they were met first.
    pub faults: Vec<Fault>,
    /// What was read in full but is not read by everybody, likewise.
    pub notes: Vec<Fault>,
}

impl ReadReport {
    /// A sentence for each kind of fault.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.faults.iter().map(ToString::to_string).collect()
    }
}

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// No event definition was found where one should be.
    #[error("this is no Pajé file, which begins with `%EventDef`: it looks like {looks_like}")]
    NotPaje {
        /// What it is, as far as its first bytes tell.
        looks_like: String,
    },
    /// Another format, which is known by name.
    #[error("This is {name}. {advice}")]
    Foreign {
        /// Its name.
        name: &'static str,
        /// What the user can do.
        advice: &'static str,
    },
    /// The input failed.
    #[error("line {line} could not be read: {source}")]
    Input {
        /// The line after the last one that was read.
        line: u64,
        /// Why.
        source: io::Error,
    },
    /// The sink failed.
    #[error("what line {line} says could not be passed on: {source}")]
    Sink {
        /// The line.
        line: u64,
        /// Why.
        source: io::Error,
    },
}

/// Bytes of a line that every reader takes.
const LENGTHY: usize = 4000;
/// Lines without any definition after which we give up.
const MAX_LINES_BEFORE_HEADER: u64 = 1000;
/// Bytes, likewise.
const MAX_BYTES_BEFORE_HEADER: usize = 1 << 20;

/// Reads Pajé text and sends what it says to a sink, which is finished with the largest date.
///
/// # Errors
/// When the input or the sink fails, and when there is no event definition in the first 1000 lines that are not comments
/// (or the first mebibyte of them): then the sink is not finished.
pub fn read(input: impl Read, sink: &mut dyn Sink) -> Result<ReadReport, ReadError> {
    Reader::new(input).read(sink)
}

/// Announces the extra fields that event definitions anywhere in the text have: what a format with a header must know.
///
/// # Errors
/// When the input or the sink fails.
pub fn announce(input: impl Read, sink: &mut dyn Sink) -> Result<(), ReadError> {
    Reader::new(input).announce(sink)
}

/// Reads Pajé text line by line. [`read`] does so to the end.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    header: Header,
    taker: Taker,
    first_bytes: Vec<u8>,
    /// Lines before the first definition, and their bytes.
    strange: (u64, usize),
    /// The other files of a split trace.
    parts: Parts,
}

/// Takes lines, whichever file they are from.
#[derive(Debug, Default)]
struct Taker {
    /// The current line as text if it is not UTF-8.
    decoded: String,
    words: Words,
    state: State,
    /// Whether definitions are announced.
    announces: bool,
}

impl<R: Read> Reader<R> {
    /// At the beginning. The input needs no buffer.
    pub fn new(input: R) -> Self {
        Self {
            lines: Lines::new(input),
            header: Header::default(),
            taker: Taker::default(),
            first_bytes: Vec::new(),
            strange: (0, 0),
            parts: Parts::default(),
        }
    }

    /// Reads the files that containers name in their field `Filename` as parts of the trace. They are
    /// looked for below the folder of the file at `root`, which the input is from.
    #[must_use]
    pub fn with_parts_beside(mut self, root: &Path) -> Self {
        self.parts = Parts::beside(root);
        self
    }

    /// Takes all lines, and ends.
    ///
    /// # Errors
    /// As [`read`].
    pub fn read(mut self, sink: &mut dyn Sink) -> Result<ReadReport, ReadError> {
        while self.next(sink)? {}
        self.finish(sink)
    }

    /// Takes the next line; `false` when there is none.
    ///
    /// # Errors
    /// As [`read`]. When the input fails because it has nothing yet, as one that is still written may, the next call goes on from there.
    pub fn next(&mut self, sink: &mut dyn Sink) -> Result<bool, ReadError> {
        if !self.parts.list.is_empty() {
            return self.next_of_parts(sink);
        }
        match self.lines.advance() {
            Err(source) => return Err(ReadError::Input { line: self.number() + 1, source }),
            Ok(true) => {}
            Ok(false) if self.header.is_begun() => return Ok(false),
            Ok(false) => return Err(not_paje(&self.first_bytes)),
        }
        if self.header.is_begun() {
            self.take(sink)?;
            return Ok(true);
        }
        let bytes = self.lines.line().bytes;
        let length = bytes.len() + 1;
        if self.first_bytes.len() < 512 {
            self.first_bytes.extend_from_slice(bytes);
            self.first_bytes.push(b'\n');
        }
        self.take(sink)?;
        if !self.header.is_begun() && self.taker.words.len() > 0 {
            self.strange = (self.strange.0 + 1, self.strange.1 + length);
            if self.strange.0 >= MAX_LINES_BEFORE_HEADER || self.strange.1 >= MAX_BYTES_BEFORE_HEADER {
                return Err(not_paje(&self.first_bytes));
            }
        }
        Ok(true)
    }

    /// Goes to the next line, and takes nothing of it; `false` when there is none.
    pub fn advance(&mut self) -> Result<bool, ReadError> {
        self.lines.advance().map_err(|source| ReadError::Input { line: self.number() + 1, source })
    }

    /// The date of the line that [`Self::advance`] went to.
    pub fn date(&mut self) -> Option<i64> {
        self.taker.date(self.lines.line(), &self.header, None)
    }

    /// Takes the line that [`Self::advance`] went to.
    pub fn take_current(&mut self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        self.take(sink)
    }

    /// What lines can name: for what was defined elsewhere.
    pub fn names(&mut self) -> Names<'_> {
        let state = &mut self.taker.state;
        Names { types: &mut state.types, containers: &mut state.containers }
    }

    /// Where the lines come from.
    pub fn input(&self) -> &R {
        self.lines.input()
    }

    /// The number of the line that was taken last, from 1, as [`Place`] reads it.
    pub fn number(&self) -> u64 {
        self.line().number
    }

    /// The line that was taken last.
    pub fn bytes(&self) -> &[u8] {
        self.line().bytes
    }

    /// How many lines were read, of all files.
    pub fn lines(&self) -> u64 {
        self.lines.count() + self.parts.list.iter().map(|part| part.lines.count()).sum::<u64>()
    }

    /// The names of the files that are read as parts of the trace, as [`Place::part`] counts them.
    pub fn parts(&self) -> &[std::sync::Arc<str>] {
        &self.taker.state.faults.parts
    }

    /// Announces the extra fields of each definition where it stands: for tables. A writer of Pajé defines what it needs, and
    /// would define them all.
    #[must_use]
    pub fn announcing(mut self) -> Self {
        self.taker.announces = true;
        self
    }

    /// Takes dates to be in this unit: the text does not tell.
    #[must_use]
    pub fn in_unit(mut self, unit: Unit) -> Self {
        self.taker.state.missing_decimals = Unit::Seconds.exact_decimals() - unit.exact_decimals();
        self
    }

    /// Reads numbers as `pj_dump` does, and ends at the date of the last line, which is 0 where a line has none. Dates are not nanoseconds then but
    /// [`date_of_double`] of seconds, which have the same order. What is no number is told as ever, but its line is left out only where
    /// `pj_dump` would make up a date.
    #[must_use]
    pub fn as_pj_dump(mut self) -> Self {
        self.taker.state.as_pj_dump = true;
        self
    }

    /// Takes the unit for certain: dates that would be unusual in it are not pointed out.
    #[must_use]
    pub fn trusting_unit(mut self) -> Self {
        self.taker.state.is_long = true;
        self
    }

    /// Remembers the keys of all links, so that one that is used again is told: eight bytes for each link.
    #[must_use]
    pub fn remember_keys(mut self) -> Self {
        self.taker.state.remember_keys();
        self
    }

    /// What was found so far: faults and notes.
    pub fn found(&self) -> impl Iterator<Item = &Fault> {
        self.taker.state.faults.found()
    }

    /// How many kinds of faults and notes there were so far.
    pub fn kinds_of_faults(&self) -> usize {
        self.taker.state.faults.kinds
    }

    /// Ends the file and finishes the sink with the largest date.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn finish(mut self, sink: &mut dyn Sink) -> Result<ReadReport, ReadError> {
        let (lines, all) = (self.lines.count(), self.lines());
        let state = &self.taker.state;
        let end = GlobalNanos(if state.as_pj_dump { state.last } else { state.end.unwrap_or(0) });
        let ended = self.close_definition(lines, sink).and_then(|()| sink.finish(end));
        ended.map_err(|source| ReadError::Sink { line: lines, source })?;
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

    /// The end of the file: a definition that is still open ends here.
    fn close_definition(&mut self, line: u64, sink: &mut dyn Sink) -> io::Result<()> {
        self.taker.close_definition(line, &mut self.header, sink)
    }

    /// Takes the line at which `lines` is.
    fn take(&mut self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        let Self { lines, header, taker, .. } = self;
        let line = lines.line();
        taker.take(line, header, None, sink).map_err(|source| ReadError::Sink { line: line.number, source })?;
        if taker.state.named.is_empty() { Ok(()) } else { self.open_parts(sink) }
    }
}

impl Taker {
    /// A line of events, or the end of a file: a definition that is still open ends here.
    fn close_definition(&mut self, line: u64, header: &mut Header, sink: &mut dyn Sink) -> io::Result<()> {
        match header.close_open(line, &mut self.state.faults) {
            Some(definition) if self.announces => definition.announce(sink),
            _ => Ok(()),
        }
    }

    /// The date of a line. A part of a split trace has the definitions of the root as well.
    fn date(&mut self, line: Line<'_>, header: &Header, root: Option<&Header>) -> Option<i64> {
        let text = std::str::from_utf8(line.bytes).ok()?;
        self.words.split(text);
        let id = self.words.get(text, 0)?;
        let definition = header.definition_or(root, id).ok()??;
        let word = self.words.get(text, definition.word(Role::Time)?)?;
        number::nanos(word, self.state.missing_decimals).map(|date| date.value)
    }

    /// Takes a line.
    fn take(
        &mut self,
        line: Line<'_>,
        header: &mut Header,
        root: Option<&Header>,
        sink: &mut dyn Sink,
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
        let mut loose = Loose::find(head.unwrap_or(text), false);
        if loose.dialect && head.is_none() && !self.state.as_pj_dump && line.bytes.contains(&b'\\') {
            // How many words there should be tells whether a backslash is an escape.
            words.split(text);
            let id = words.get(text, 0).unwrap_or("");
            if let Ok(Some(definition)) = header.definition_or(root, id) {
                words.split_expecting(text, definition.words);
                loose = Loose::find(text, words.has_escapes());
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
        self.state.line(Input { definition, words, text, line: number }, sink)
    }
}

/// Splits a line that has an apostrophe or a backslash, and notes what other readers read differently.
#[cold]
fn split_by_dialect(words: &mut Words, text: &str, expected: usize, faults: &mut Faults, line: u64) {
    words.split_expecting(text, expected);
    let (single, escapes) = words.dialect(text);
    if single {
        faults.count(FaultKind::SingleQuotes, line, text.trim_ascii_end());
    }
    if escapes {
        faults.count(FaultKind::EscapedQuote, line, text.trim_ascii_end());
    }
}

/// The error for a text without event definitions, or for something that is no text.
#[must_use]
pub fn not_paje(first: &[u8]) -> ReadError {
    if let Some(Foreign { name, advice }) = foreign_format(first, Path::new("")) {
        return ReadError::Foreign { name, advice };
    }
    let text = first.trim_ascii_start();
    let looks_like = match first {
        [] => "an empty file",
        [0x1f, 0x8b, ..] => "a gzip file; unpack it first (`gunzip`)",
        [b'B', b'Z', b'h', ..] => "a bzip2 file; unpack it first (`bunzip2`)",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "an xz file; unpack it first (`unxz`)",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "a zstd file; unpack it first (`unzstd`)",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "text in UTF-16; save it as UTF-8",
        _ if first.starts_with(&tracer_format::FILE_MAGIC) => {
            "one process of a Tumit run; give the run's folder, not a file in it"
        }
        _ if first.iter().all(|&byte| byte == 0) => "nothing but NUL bytes",
        _ if first.contains(&0) => "binary data",
        _ if text.is_empty() => "a file of blank lines",
        _ => "",
    };
    if !looks_like.is_empty() {
        return ReadError::NotPaje { looks_like: looks_like.to_owned() };
    }
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let start: String = String::from_utf8_lossy(line).chars().filter(|c| !c.is_control()).take(60).collect();
    ReadError::NotPaje { looks_like: format!("other text, beginning with `{start}`") }
}
