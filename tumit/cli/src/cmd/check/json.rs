//! What `tumit check --json` writes: one object per line. `docs/check-json.md` is its description; fields may be added, none
//! changes its meaning.

use serde::Serialize;
use tumit::diag::{Diagnostic, Label, Severity};
use tumit::source::SourceMap;
use tumit::{Diagnostics, Spec};

use super::paje::{Finding, Holds as Holding, Report};

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line<'a> {
    Diagnostic {
        /// The spec that was checked, as it was given.
        file: &'a str,
        code: String,
        severity: &'static str,
        message: &'a str,
        primary: Option<Place<'a>>,
        secondary: Vec<Place<'a>>,
        notes: &'a [String],
        help: &'a [String],
        explanation: &'static str,
    },
    Summary {
        file: &'a str,
        errors: usize,
        warnings: usize,
        spec: Option<Holds<'a>>,
    },
    Unreadable {
        file: &'a str,
        message: &'a str,
    },
    /// Of a Pajé file.
    Fault {
        file: &'a str,
        #[serde(flatten)]
        finding: &'a Finding,
    },
    PajeSummary {
        file: &'a str,
        errors: usize,
        warnings: usize,
        #[serde(flatten)]
        holds: Holding,
    },
}

/// A label: where, and what is there.
#[derive(Debug, Serialize)]
struct Place<'a> {
    file: &'a str,
    start: Position,
    end: Position,
    text: &'a str,
}

/// A place in a text, counted in every way that an editor may want.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Position {
    /// Offset in bytes from the start of the file, from 0.
    byte: usize,
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    /// Column in UTF-16 code units, from 1.
    utf16: usize,
}

/// What a right spec holds.
#[derive(Debug, Serialize)]
struct Holds<'a> {
    name: &'a str,
    version: u32,
    files: Vec<&'a str>,
    levels: usize,
    events: usize,
    spans: usize,
}

/// A line per finding, and one that sums up.
pub(super) fn lines(file: &str, spec: Option<&Spec>, diagnostics: &Diagnostics) -> serde_json::Result<String> {
    let sources = diagnostics.sources();
    let mut out = String::new();
    for diagnostic in diagnostics.iter() {
        push(&mut out, &found(file, diagnostic, sources))?;
    }
    let spec = spec.map(|spec| Holds {
        name: &spec.name,
        version: spec.version,
        files: spec.sources.iter().map(|source| source.path.as_str()).collect(),
        levels: spec.levels.len(),
        events: spec.events(),
        spans: spec.spans.len(),
    });
    let (errors, warnings) = (diagnostics.error_count(), diagnostics.warning_count());
    push(&mut out, &Line::Summary { file, errors, warnings, spec })?;
    Ok(out)
}

/// The same for a Pajé file.
pub(super) fn paje_lines(file: &str, report: &Report) -> serde_json::Result<String> {
    let mut out = String::new();
    for finding in &report.findings {
        push(&mut out, &Line::Fault { file, finding })?;
    }
    let (errors, warnings) = (report.count("error"), report.count("warning"));
    push(&mut out, &Line::PajeSummary { file, errors, warnings, holds: report.holds })?;
    Ok(out)
}

/// The line of a file that could not be read.
pub(super) fn unreadable(file: &str, message: &str) -> serde_json::Result<String> {
    let mut out = String::new();
    push(&mut out, &Line::Unreadable { file, message })?;
    Ok(out)
}

fn push(out: &mut String, line: &Line<'_>) -> serde_json::Result<()> {
    out.push_str(&serde_json::to_string(line)?);
    out.push('\n');
    Ok(())
}

fn found<'a>(file: &'a str, diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Line<'a> {
    Line::Diagnostic {
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

fn place<'a>(label: &'a Label, sources: &'a SourceMap) -> Place<'a> {
    let (path, text) = sources.get(label.span.file).map_or(("", ""), |source| (&source.path, &source.text));
    let range = label.span.range();
    Place { file: path, start: position(text, range.start), end: position(text, range.end), text: &label.text }
}

/// Counts up to a byte offset; one inside a character counts as its start. Takes time linear in the offset.
fn position(text: &str, offset: usize) -> Position {
    let mut byte = offset.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &text[..byte];
    let line = &before[before.rfind('\n').map_or(0, |newline| newline + 1)..];
    Position {
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
        assert_eq!(position(text, 8), Position { byte: 8, line: 2, column: 3, utf16: 4 });
        assert_eq!(position(text, 5).byte, 4, "the start of the character");
        assert_eq!(position(text, 99), Position { byte: 9, line: 2, column: 4, utf16: 5 });
        assert_eq!(position("", 0), Position { byte: 0, line: 1, column: 1, utf16: 1 });
    }
}
