//! Reads a split trace: the lines of all its files in order of time.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::PajeReadError;
use super::faults::FaultKind;
use super::paje_reader::PajeReader;
use super::split_files::{TraceParts, UnreadReason};
use super::tokenizer::TextLine;
use crate::time::GlobalNanos;
use crate::{PajeEvent, PajeSink};

/// A file that a split trace names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedPart {
    /// Its name in the trace.
    pub name: String,
    /// Its path. `None` if it is missing or refused.
    pub path: Option<PathBuf>,
}

/// The files that the Pajé file at `path` names as parts of its trace, including those that its
/// parts name.
///
/// # Errors
/// If the file cannot be read.
pub fn parts_of(path: &Path) -> Result<Vec<NamedPart>, PajeReadError> {
    if !TraceParts::in_folder_of(path).can_be() {
        return Ok(Vec::new());
    }
    let file = File::open(path).map_err(|source| PajeReadError::Input { line: 1, source })?;
    PajeReader::new(file).with_parts_beside(path).scan(&mut DiscardSink)
}

/// A sink that discards all events.
struct DiscardSink;

impl PajeSink for DiscardSink {
    fn event(&mut self, _: &PajeEvent<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: GlobalNanos) -> io::Result<()> {
        Ok(())
    }
}

impl<R: Read> PajeReader<R> {
    /// Announces the extra fields of all event definitions in the text. Formats with a header need
    /// them in advance.
    ///
    /// # Errors
    /// If the input or the sink fails.
    pub fn announce(mut self, sink: &mut dyn PajeSink) -> Result<(), PajeReadError> {
        self.processor.announces = true;
        self.scan(sink).map(|_| ())
    }

    /// Reads definitions and the names of parts, in all files of the trace.
    fn scan(mut self, sink: &mut dyn PajeSink) -> Result<Vec<NamedPart>, PajeReadError> {
        let mut parts = Vec::new();
        let has_parts = self.parts.can_be();
        while self.advance()? {
            let Self { lines, header, processor, .. } = &mut self;
            let line = lines.line();
            let processed = if is_header(line) {
                processor.process_line(line, header, None, sink)
            } else {
                if has_parts {
                    processor.note_parts(line, header, None);
                }
                Ok(())
            };
            processed.map_err(|source| PajeReadError::Sink { line: line.number, source })?;
        }
        // Ends a definition that is not closed.
        let lines = self.number();
        self.close_definition(lines, sink).map_err(|source| PajeReadError::Sink { line: lines, source })?;
        let mut part = 0;
        loop {
            self.find_named(&mut parts);
            if part == self.parts.list.len() {
                return Ok(parts);
            }
            self.scan_part(part, sink)?;
            part += 1;
        }
    }

    /// Opens the parts that lines name.
    fn find_named(&mut self, parts: &mut Vec<NamedPart>) {
        for name in std::mem::take(&mut self.processor.state.part_names) {
            match self.parts.find(&name) {
                Ok(Some(file)) => {
                    parts.push(NamedPart { name: name.clone(), path: Some(file.path.clone()) });
                    self.parts.add(&name, file);
                }
                Ok(None) => {}
                Err(_) => parts.push(NamedPart { name, path: None }),
            }
        }
    }

    fn scan_part(&mut self, part: usize, sink: &mut dyn PajeSink) -> Result<(), PajeReadError> {
        let Self { header: root, processor, parts, .. } = self;
        let part = &mut parts.list[part];
        let failed = |line| move |source| PajeReadError::Sink { line, source };
        // Unreadable parts are reported when the trace is read.
        while part.lines.advance().unwrap_or(false) {
            let line = part.lines.line();
            if is_header(line) {
                processor.process_line(line, &mut part.header, None, sink).map_err(failed(line.number))?;
            } else {
                processor.note_parts(line, &part.header, Some(root));
            }
        }
        let last = part.lines.line().number;
        processor.close_definition(last, &mut part.header, sink).map_err(failed(last))?;
        part.lines.close();
        Ok(())
    }

    /// The last processed line.
    pub(super) fn line(&self) -> TextLine<'_> {
        match self.parts.file_number.checked_sub(1).and_then(|part| self.parts.list.get(part)) {
            None => self.lines.line(),
            Some(part) => part.lines.line(),
        }
    }

    /// Processes the next line of all files in order of time.
    #[cold]
    pub(super) fn next_of_parts(&mut self, sink: &mut dyn PajeSink) -> Result<bool, PajeReadError> {
        if self.parts.is_taken {
            self.go_on(self.parts.file_number, sink)?;
            self.parts.is_taken = false;
        }
        let Some(file) = self.parts.pop() else { return Ok(false) };
        self.parts.file_number = file;
        self.parts.is_taken = true;
        let Some(part) = file.checked_sub(1) else { return self.process_line(sink).map(|()| true) };
        let Self { header, processor, parts, .. } = self;
        let part = &mut parts.list[part];
        let line = part.lines.line();
        let processed = processor.process_line(line, &mut part.header, Some(header), sink);
        processed.map_err(|source| PajeReadError::Sink { line: line.number, source })?;
        if !self.processor.state.part_names.is_empty() {
            self.open_parts(sink)?;
        }
        Ok(true)
    }

    /// Advances a file to its next line, which then waits for its turn.
    fn go_on(&mut self, file: usize, sink: &mut dyn PajeSink) -> Result<(), PajeReadError> {
        let Self { lines, header, processor, parts, .. } = self;
        let Some(part) = file.checked_sub(1) else {
            let number = lines.line().number;
            if lines.advance().map_err(|source| PajeReadError::Input { line: number + 1, source })? {
                let timestamp = processor.timestamp(lines.line(), header, None).unwrap_or(i64::MIN);
                // A line without a timestamp follows the preceding line.
                parts.latest_of_root = parts.latest_of_root.max(timestamp);
                parts.push(parts.latest_of_root, 0);
            }
            return Ok(());
        };
        let part = &mut parts.list[part];
        let last = part.lines.line().number;
        match part.lines.advance() {
            Ok(true) => {
                let timestamp = processor.timestamp(part.lines.line(), &part.header, Some(header)).unwrap_or(i64::MIN);
                part.max_timestamp = part.max_timestamp.max(timestamp);
                let latest = part.max_timestamp;
                parts.push(latest, file);
                return Ok(());
            }
            Ok(false) if !part.lines.is_ended() => processor.state.faults.count(FaultKind::NoLineEnd, last, ""),
            Ok(false) => {}
            Err(error) => {
                let reason = format!("the file cannot be read after this line: {error}");
                processor.state.faults.count_part(FaultKind::MissingPart, last, (&part.name, &reason));
            }
        }
        let closed = processor.close_definition(last, &mut part.header, sink);
        part.lines.close();
        closed.map_err(|source| PajeReadError::Sink { line: last, source })
    }

    /// Opens the parts that the last processed line names.
    #[cold]
    pub(super) fn open_parts(&mut self, sink: &mut dyn PajeSink) -> Result<(), PajeReadError> {
        let line = self.number();
        for name in std::mem::take(&mut self.processor.state.part_names) {
            let (kind, reason) = match self.parts.find(&name) {
                Ok(None) => continue,
                Ok(Some(file)) => {
                    let number = self.parts.add(&name, file);
                    let faults = &mut self.processor.state.faults;
                    faults.count(FaultKind::SplitTrace, line, &name);
                    faults.parts.push(self.parts.list[number - 1].name.clone());
                    sink.name_part(&name);
                    self.go_on(number, sink)?;
                    continue;
                }
                Err(UnreadReason::Unreadable(error)) => (FaultKind::MissingPart, error.to_string()),
                Err(UnreadReason::Refused(text)) => (FaultKind::RefusedPart, text.to_owned()),
                Err(UnreadReason::Unavailable(why)) => (FaultKind::UnreadPart, why.to_owned()),
            };
            self.processor.state.faults.count_part(kind, line, (&name, &reason));
        }
        Ok(())
    }
}

/// Whether a line belongs to the header.
fn is_header(line: TextLine<'_>) -> bool {
    line.bytes.trim_ascii_start().first() == Some(&b'%')
}
