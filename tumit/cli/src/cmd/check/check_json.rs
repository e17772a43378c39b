//! The output of `tumit check --json`: one object per line. `docs/check-json.md` describes it.
//! Fields may be added, but never change their meaning.

use serde::Serialize;
use tumit::diagnostics::{Diagnostic, DiagnosticLabel, Severity};
use tumit::source_text::SourceMap;
use tumit::{Diagnostics, Spec};
use tumit_paje::DiagnosticSeverity;

use super::paje_check::{PajeContents, PajeFinding, PajeReport};

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum JsonLine<'a> {
    Diagnostic {
        /// The checked spec, with its path as given.
        file: &'a str,
        code: String,
        severity: &'static str,
        message: &'a str,
        primary: Option<JsonLabel<'a>>,
        secondary: Vec<JsonLabel<'a>>,
        notes: &'a [String],
        help: &'a [String],
        explanation: &'static str,
    },
    Summary {
        file: &'a str,
        errors: usize,
        warnings: usize,
        spec: Option<SpecContents<'a>>,
    },
    Unreadable {
        file: &'a str,
        message: &'a str,
    },
    /// A mistake of a Pajé file.
    Fault {
        file: &'a str,
        #[serde(flatten)]
        finding: &'a PajeFinding,
    },
    PajeSummary {
        file: &'a str,
        errors: usize,
        warnings: usize,
        #[serde(flatten)]
        contents: PajeContents,
    },
}

/// A label: a range and the text about it.
#[derive(Debug, Serialize)]
struct JsonLabel<'a> {
    file: &'a str,
    start: EditorPosition,
    end: EditorPosition,
    text: &'a str,
}

/// A position in a text, in all units that editors use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct EditorPosition {
    /// Offset in bytes from the start of the file, from 0.
    byte: usize,
    /// Line, from 1.
    line: usize,
    /// Column in characters, from 1.
    column: usize,
    /// Column in UTF-16 code units, from 1.
    utf16: usize,
}

/// Main figures of a correct spec.
#[derive(Debug, Serialize)]
struct SpecContents<'a> {
    name: &'a str,
    version: u32,
    files: Vec<&'a str>,
    levels: usize,
    events: usize,
    spans: usize,
}

/// The lines for a spec: one per diagnostic, and a summary.
pub(super) fn lines(file: &str, spec: Option<&Spec>, diagnostics: &Diagnostics) -> serde_json::Result<String> {
    let sources = diagnostics.sources();
    let mut out = String::new();
    for diagnostic in diagnostics.iter() {
        push(&mut out, &diagnostic_line(file, diagnostic, sources))?;
    }
    let spec = spec.map(|spec| SpecContents {
        name: &spec.name,
        version: spec.version,
        files: spec.sources.iter().map(|source| source.path.as_str()).collect(),
        levels: spec.levels.len(),
        events: spec.events(),
        spans: spec.spans.len(),
    });
    let (errors, warnings) = (diagnostics.error_count(), diagnostics.warning_count());
    push(&mut out, &JsonLine::Summary { file, errors, warnings, spec })?;
    Ok(out)
}

pub(super) fn paje_lines(file: &str, report: &PajeReport) -> serde_json::Result<String> {
    let mut out = String::new();
    for finding in &report.findings {
        push(&mut out, &JsonLine::Fault { file, finding })?;
    }
    let (errors, warnings) = (report.count(DiagnosticSeverity::Error), report.count(DiagnosticSeverity::Warning));
    push(&mut out, &JsonLine::PajeSummary { file, errors, warnings, contents: report.contents })?;
    Ok(out)
}

/// The line of a file that could not be read.
pub(super) fn unreadable_file_line(file: &str, message: &str) -> serde_json::Result<String> {
    let mut out = String::new();
    push(&mut out, &JsonLine::Unreadable { file, message })?;
    Ok(out)
}

fn push(out: &mut String, line: &JsonLine<'_>) -> serde_json::Result<()> {
    out.push_str(&serde_json::to_string(line)?);
    out.push('\n');
    Ok(())
}

fn diagnostic_line<'a>(file: &'a str, diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> JsonLine<'a> {
    JsonLine::Diagnostic {
        file,
        code: diagnostic.code.to_string(),
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: &diagnostic.title,
        primary: diagnostic.primary.as_ref().map(|label| place(label, sources)),
        secondary: diagnostic.secondary.iter().map(|label| place(label, sources)).collect(),
        notes: &diagnostic.notes,
        help: &diagnostic.help,
        explanation: diagnostic.code.explanation(),
    }
}

fn place<'a>(label: &'a DiagnosticLabel, sources: &'a SourceMap) -> JsonLabel<'a> {
    let (path, text) = sources.get(label.span.file).map_or(("", ""), |source| (&source.path, &source.text));
    let range = label.span.range();
    JsonLabel { file: path, start: position(text, range.start), end: position(text, range.end), text: &label.text }
}

/// The position of a byte offset. An offset inside a character counts as the start of the
/// character. Takes time linear in the offset.
fn position(text: &str, offset: usize) -> EditorPosition {
    let mut byte = offset.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &text[..byte];
    let line = &before[before.rfind('\n').map_or(0, |newline| newline + 1)..];
    EditorPosition {
        byte,
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
        utf16: line.encode_utf16().count() + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_three_ways() {
        let text = "a\né😀b";
        assert_eq!(position(text, 8), EditorPosition { byte: 8, line: 2, column: 3, utf16: 4 });
        assert_eq!(position(text, 5).byte, 4, "the start of the character");
        assert_eq!(position(text, 99), EditorPosition { byte: 9, line: 2, column: 4, utf16: 5 });
        assert_eq!(position("", 0), EditorPosition { byte: 0, line: 1, column: 1, utf16: 1 });
    }
}
