//! Processes lines: definitions of events, and events by their definitions.

use std::io;

use super::event_definitions::{Definitions, EventDefinition, FieldRole};
use super::faults::{FaultKind, FaultList};
use super::number;
use super::operations::{DefinedLine, ReadState};
use super::tokenizer::{AmbiguousSigns, DecodedLine, LineWords, TextLine};
use crate::PajeSink;

/// Longer lines, in bytes, are not accepted by every reader.
const LENGTHY: usize = 4000;

/// Processes the lines of all files.
#[derive(Debug, Default)]
pub(super) struct LineProcessor {
    /// The current line as text if it is not UTF-8.
    pub(super) decoded_line: String,
    pub(super) words: LineWords,
    pub(super) state: ReadState,
    /// Whether definitions are announced.
    pub(super) announces: bool,
}

impl LineProcessor {
    /// Ends a definition that is still open at a line of events or at the end of a file.
    pub(super) fn close_definition(
        &mut self,
        line: u64,
        header: &mut Definitions,
        sink: &mut dyn PajeSink,
    ) -> io::Result<()> {
        match header.close_open(line, &mut self.state.faults) {
            Some(definition) if self.announces => definition.announce(sink),
            _ => Ok(()),
        }
    }

    /// The timestamp of a line. In a part of a split trace, the definitions of the root file apply
    /// as well.
    pub(super) fn timestamp(
        &mut self,
        line: TextLine<'_>,
        header: &Definitions,
        root: Option<&Definitions>,
    ) -> Option<i64> {
        let text = std::str::from_utf8(line.bytes).ok()?;
        self.words.split(text);
        let id = self.words.get(text, 0)?;
        let definition = header.definition_or(root, id).ok()??;
        let word = self.words.get(text, definition.word(FieldRole::Time)?)?;
        number::nanos(word, self.state.missing_decimals).map(|timestamp| timestamp.value)
    }

    /// Notes the part that a line names.
    pub(super) fn note_parts(&mut self, line: TextLine<'_>, header: &Definitions, root: Option<&Definitions>) {
        let text = line.text(&mut self.decoded_line).text;
        self.words.split(text);
        let Some(id) = self.words.get(text, 0) else { return };
        let of_root = || root.map_or(Err(()), |root| root.definition(id));
        let Ok(Some(definition)) = header.definition(id).or_else(|()| of_root()) else { return };
        if definition.word(FieldRole::Part).is_none() {
            return;
        }
        if text.contains(['\'', '\\']) {
            self.words.split_expecting(text, definition.words);
        }
        let input = DefinedLine { definition, words: &self.words, text, line: line.number };
        self.state.part_names.extend(input.part().map(str::to_owned));
    }

    pub(super) fn process_line(
        &mut self,
        line: TextLine<'_>,
        header: &mut Definitions,
        root: Option<&Definitions>,
        sink: &mut dyn PajeSink,
    ) -> io::Result<()> {
        let (number, words) = (line.number, &mut self.words);
        let DecodedLine { text, is_latin1 } = line.text(&mut self.decoded_line);
        let faults = &mut self.state.faults;
        count_unusual_bytes(line, text, faults);
        let head = text.trim_ascii_start().strip_prefix('%');
        let mut signs = AmbiguousSigns::find(head.unwrap_or(text), false);
        if signs.dialect && head.is_none() && !self.state.as_pj_dump && line.bytes.contains(&b'\\') {
            signs = signs_with_escapes(words, text, header, root).unwrap_or(signs);
        }
        signs.count(text, number, faults);
        if let Some(remainder) = head {
            words.split(remainder);
            let list: Vec<&str> = (0..words.len()).filter_map(|index| words.get(remainder, index)).collect();
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
        if is_latin1 {
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
        if signs.dialect && !self.state.as_pj_dump {
            split_by_dialect(words, text, definition.words, faults, number);
        }
        if !check_words(words, definition, text, faults, number) {
            return Ok(());
        }
        self.state.line(DefinedLine { definition, words, text, line: number }, sink)
    }
}

/// Splits a line that has an apostrophe or a backslash. Notes words that other readers read
/// differently.
#[cold]
fn split_by_dialect(words: &mut LineWords, text: &str, expected: usize, faults: &mut FaultList, line: u64) {
    words.split_expecting(text, expected);
    let dialect = words.dialect(text);
    if dialect.has_single_quotes {
        faults.count(FaultKind::SingleQuotes, line, text.trim_ascii_end());
    }
    if dialect.escapes {
        faults.count(FaultKind::EscapedQuote, line, text.trim_ascii_end());
    }
}

/// Counts characters and lengths that some readers reject.
#[inline]
fn count_unusual_bytes(line: TextLine<'_>, text: &str, faults: &mut FaultList) {
    if line.bytes.len() > LENGTHY || text.ends_with('\r') {
        let kind = if text.ends_with('\r') { FaultKind::CarriageReturn } else { FaultKind::LineCutByVite };
        faults.count(kind, line.number, "");
    }
    if line.mark {
        faults.count(FaultKind::ByteOrderMark, line.number, "");
    }
    if memchr::memchr(0, line.bytes).is_some() {
        faults.count(FaultKind::Nul, line.number, text.trim_ascii_end());
    }
}

/// The ambiguous signs of a line of an event that contains a backslash. The expected number of
/// words determines whether a backslash is an escape. `None` without a definition.
#[cold]
fn signs_with_escapes(
    words: &mut LineWords,
    text: &str,
    header: &Definitions,
    root: Option<&Definitions>,
) -> Option<AmbiguousSigns> {
    words.split(text);
    let id = words.get(text, 0).unwrap_or("");
    let definition = header.definition_or(root, id).ok()??;
    words.split_expecting(text, definition.words);
    Some(AmbiguousSigns::find(text, words.has_escapes()))
}

/// Counts faults of the words of a line. Returns whether the line has all mandatory words.
#[inline]
fn check_words(words: &LineWords, definition: &EventDefinition, text: &str, faults: &mut FaultList, line: u64) -> bool {
    if words.is_empty {
        faults.count(FaultKind::EmptyText, line, text.trim_ascii_end());
    }
    if words.unclosed {
        faults.count(FaultKind::Quote, line, text.trim_ascii_end());
    }
    if words.len() < definition.words {
        faults.count(FaultKind::TooFew, line, text.trim_ascii_end());
        return words.len() >= definition.min_words;
    }
    if words.len() > definition.words {
        faults.count(FaultKind::TooMany, line, text.trim_ascii_end());
    }
    true
}
