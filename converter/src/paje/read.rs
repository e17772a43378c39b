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

mod apply;
mod fault;
mod header;
mod names;
mod number;
#[cfg(test)]
mod tests;
mod words;

use std::io::{self, BufRead};

use super::Sink;
use crate::time::GlobalNanos;
use apply::{Input, State};
pub use fault::{Fault, FaultKind};
use header::Header;
use words::{Line, Words};

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadReport {
    /// Lines of the file.
    pub lines: u64,
    /// Operations that were sent to the sink.
    pub events: u64,
    /// The largest date.
    pub end: GlobalNanos,
    /// What was wrong, one entry for each kind, in the order in which they were met first.
    pub faults: Vec<Fault>,
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

/// Lines without any definition after which we give up.
const MAX_LINES_BEFORE_HEADER: u64 = 1000;
/// Bytes, likewise.
const MAX_BYTES_BEFORE_HEADER: usize = 1 << 20;

/// Reads Pajé text and sends what it says to a sink, which is finished with the largest date.
///
/// # Errors
/// When the input or the sink fails, and when there is no event definition in the first 1000 lines that are not comments
/// (or the first mebibyte of them): then the sink is not finished.
pub fn read(mut input: impl BufRead, sink: &mut dyn Sink) -> Result<ReadReport, ReadError> {
    let (mut line, mut words) = (Line::default(), Words::default());
    let (mut header, mut state) = (Header::default(), State::default());
    let mut first_bytes = Vec::new();
    let (mut strange_lines, mut strange_bytes) = (0, 0);
    loop {
        let more = line.read(&mut input);
        let number = line.number;
        match more {
            Err(source) => return Err(ReadError::Input { line: number + 1, source }),
            Ok(true) => {}
            Ok(false) if header.is_begun() => break,
            Ok(false) => return Err(not_paje(&first_bytes)),
        }
        if first_bytes.len() < 512 {
            first_bytes.extend_from_slice(line.bytes());
        }
        take_line(&line, &mut words, &mut header, &mut state, sink)
            .map_err(|source| ReadError::Sink { line: number, source })?;
        if !header.is_begun() && words.len() > 0 {
            (strange_lines, strange_bytes) = (strange_lines + 1, strange_bytes + line.bytes().len());
            if strange_lines >= MAX_LINES_BEFORE_HEADER || strange_bytes >= MAX_BYTES_BEFORE_HEADER {
                return Err(not_paje(&first_bytes));
            }
        }
    }
    header.close_open(line.number, &mut state.faults);
    let end = GlobalNanos(state.end.unwrap_or(0));
    sink.finish(end).map_err(|source| ReadError::Sink { line: line.number, source })?;
    Ok(ReadReport { lines: line.number, events: state.sent, end, faults: state.faults.into_list() })
}

fn take_line(
    line: &Line,
    words: &mut Words,
    header: &mut Header,
    state: &mut State,
    sink: &mut dyn Sink,
) -> io::Result<()> {
    let (text, number) = (line.text(), line.number);
    if let Some(rest) = text.trim_ascii_start().strip_prefix('%') {
        words.split(rest);
        let list: Vec<&str> = (0..words.len()).filter_map(|at| words.get(rest, at)).collect();
        header.line(&list, number, text.trim_ascii_end(), &mut state.faults);
        return Ok(());
    }
    words.split(text);
    if line.cut {
        state.faults.count(FaultKind::LongLine, number, text);
    }
    let Some(id) = words.get(text, 0) else { return Ok(()) };
    if line.foreign {
        state.faults.count(FaultKind::Encoding, number, text.trim_ascii_end());
    }
    header.close_open(number, &mut state.faults);
    let definition = match header.definition(id) {
        Ok(Some(definition)) => definition,
        Ok(None) => return Ok(()),
        Err(()) => {
            state.faults.count(FaultKind::UnknownId, number, text.trim_ascii_end());
            return Ok(());
        }
    };
    if words.unclosed {
        state.faults.count(FaultKind::Quote, number, text.trim_ascii_end());
    }
    if words.len() < definition.words {
        state.faults.count(FaultKind::TooFew, number, text.trim_ascii_end());
        if words.len() < definition.needed {
            return Ok(());
        }
    } else if words.len() > definition.words {
        state.faults.count(FaultKind::TooMany, number, text.trim_ascii_end());
    }
    state.line(Input { definition, words, text, line: number }, sink)
}

/// Says what the first bytes look like.
fn not_paje(first: &[u8]) -> ReadError {
    let text = first.trim_ascii_start();
    let looks_like = match first {
        [] => "an empty file",
        [0x1f, 0x8b, ..] => "a gzip file; unpack it first (`gunzip`)",
        [b'B', b'Z', b'h', ..] => "a bzip2 file; unpack it first (`bunzip2`)",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "an xz file; unpack it first (`unxz`)",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "a zstd file; unpack it first (`unzstd`)",
        [b'P', b'K', 3, 4, ..] => "a zip file; unpack it first",
        [0x7f, b'E', b'L', b'F', ..] => "a program",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "text in UTF-16; save it as UTF-8",
        _ if first.starts_with(&tracer_format::FILE_MAGIC) => {
            "one process of a Tumit run; give the run's folder, not a file in it"
        }
        _ if first.contains(&0) => "binary data",
        _ if text.is_empty() => "a file of blank lines",
        _ if text.starts_with(b"{") || text.starts_with(b"[") => "JSON",
        _ if text.starts_with(b"<") => "XML or HTML",
        _ if text.starts_with(b"Container, ") || text.starts_with(b"State, ") => "the output of `pj_dump`",
        _ if text.starts_with(b"-3 ") => "a PICL file",
        _ => "",
    };
    if !looks_like.is_empty() {
        return ReadError::NotPaje { looks_like: looks_like.to_owned() };
    }
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let start: String = String::from_utf8_lossy(line).chars().filter(|c| !c.is_control()).take(60).collect();
    ReadError::NotPaje { looks_like: format!("other text, beginning with `{start}`") }
}
