//! [`TraceDiagnostic`]: a finding about a run or a trace, from the reader that makes it to the
//! command or page that shows it.
//!
//! A finding is no reason to stop: the rest of the trace is read. Reasons to stop are error types.
//! Findings about a spec are of another type, because they have spans and codes
//! (`tumit::diagnostics`).

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The effect of a finding on the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticSeverity {
    /// Data is dropped, missing, damaged, left out or changed. The trace is not intact.
    Error,
    /// The trace has all its data, but may not show what its user expects. An example is a clock
    /// that could not be corrected.
    Warning,
    /// Information, such as the launch that is read.
    Note,
}

impl DiagnosticSeverity {
    /// All severities, the most severe first.
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Note];
}

impl fmt::Display for DiagnosticSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// The subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// Records, blocks or processes that are dropped or missing.
    Loss,
    /// Bytes or records that cannot be read.
    Damage,
    /// Records that are truncated or have another timestamp than the recorded one.
    Record,
    /// Names that several subjects have, or that are truncated or replaced.
    Name,
    /// Clocks, sync samples and the correction of timestamps.
    Clock,
    /// Pairs of link endpoints, and their order.
    Link,
    /// Rules that do not fit the run, or could not be evaluated.
    Rule,
    /// Pajé operations that contradict the Pajé model, such as the pop of an absent state.
    Operation,
    /// The syntax of Pajé text.
    PajeText,
    /// The selection of the files and launches that are read, and the form of files that are
    /// written.
    File,
    /// The index of a trace.
    Index,
}

impl DiagnosticKind {
    /// All kinds, in the order of their declaration.
    pub const ALL: [Self; 11] = [
        Self::Loss,
        Self::Damage,
        Self::Record,
        Self::Name,
        Self::Clock,
        Self::Link,
        Self::Rule,
        Self::Operation,
        Self::PajeText,
        Self::File,
        Self::Index,
    ];
}

/// The place of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticLocation {
    /// A file, by its path.
    File(String),
    /// A line of Pajé text.
    Line {
        /// The part of a split trace that has the line. Empty for the root file.
        file: String,
        /// The number of the line, from 1.
        line: u64,
    },
    /// A process of a run, by its name.
    Process(String),
}

/// A finding about a run or a trace.
///
/// ```
/// use tumit_paje::{DiagnosticKind, DiagnosticSeverity, TraceDiagnostic};
///
/// let loss = TraceDiagnostic::error(DiagnosticKind::Loss, "2 records were dropped");
/// assert!(loss.is_error());
/// assert_eq!(loss.at_most_warning().severity, DiagnosticSeverity::Warning);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TraceDiagnostic {
    /// The subject.
    pub kind: DiagnosticKind,
    /// The effect on the trace.
    pub severity: DiagnosticSeverity,
    /// The place, if the finding has a single one. The text contains it, too.
    pub location: Option<DiagnosticLocation>,
    /// The finding as one sentence for the user.
    pub text: String,
}

impl TraceDiagnostic {
    fn new(severity: DiagnosticSeverity, kind: DiagnosticKind, text: impl Into<String>) -> Self {
        Self { kind, severity, location: None, text: text.into() }
    }

    /// Makes an error without a location.
    pub fn error(kind: DiagnosticKind, text: impl Into<String>) -> Self {
        Self::new(DiagnosticSeverity::Error, kind, text)
    }

    /// Makes a warning without a location.
    pub fn warning(kind: DiagnosticKind, text: impl Into<String>) -> Self {
        Self::new(DiagnosticSeverity::Warning, kind, text)
    }

    /// Makes a note without a location.
    pub fn note(kind: DiagnosticKind, text: impl Into<String>) -> Self {
        Self::new(DiagnosticSeverity::Note, kind, text)
    }

    /// Sets the location to a file.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        Self { location: Some(DiagnosticLocation::File(path.display().to_string())), ..self }
    }

    /// Sets the location to a line of Pajé text. `file` is empty for the root file, and `line` is 0
    /// if no line is known.
    #[must_use]
    pub fn at_line(self, file: &str, line: u64) -> Self {
        let location = (line > 0).then(|| DiagnosticLocation::Line { file: file.to_owned(), line });
        Self { location, ..self }
    }

    /// Sets the location to a process.
    #[must_use]
    pub fn of_process(self, name: &str) -> Self {
        Self { location: Some(DiagnosticLocation::Process(name.to_owned())), ..self }
    }

    /// Whether the trace is not intact.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == DiagnosticSeverity::Error
    }

    /// Turns an error into a warning. Data that a running process has not written yet is missing
    /// only for a moment.
    #[must_use]
    pub fn at_most_warning(self) -> Self {
        let severity = if self.is_error() { DiagnosticSeverity::Warning } else { self.severity };
        Self { severity, ..self }
    }
}

impl fmt::Display for TraceDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The texts of diagnostics, for outputs that have texts only.
#[must_use]
pub fn diagnostic_texts(diagnostics: &[TraceDiagnostic]) -> Vec<String> {
    diagnostics.iter().map(|diagnostic| diagnostic.text.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_is_shown_as_its_text() {
        let loss = TraceDiagnostic::error(DiagnosticKind::Loss, "a.tmt: 2 records were dropped");
        let loss = loss.in_file(Path::new("a.tmt"));
        assert_eq!(loss.to_string(), "a.tmt: 2 records were dropped");
        assert_eq!(loss.location, Some(DiagnosticLocation::File("a.tmt".to_owned())));
        assert_eq!(diagnostic_texts(&[loss]), ["a.tmt: 2 records were dropped"]);
    }

    #[test]
    fn only_errors_become_warnings() {
        let file = DiagnosticKind::File;
        let diagnostics = [
            TraceDiagnostic::error(file, "text"),
            TraceDiagnostic::warning(file, "text"),
            TraceDiagnostic::note(file, "text"),
        ];
        let severities = diagnostics.map(|diagnostic| (diagnostic.is_error(), diagnostic.at_most_warning().severity));
        let (warning, note) = (DiagnosticSeverity::Warning, DiagnosticSeverity::Note);
        assert_eq!(severities, [(true, warning), (false, warning), (false, note)]);
    }

    #[test]
    fn a_line_that_is_not_known_is_no_location() {
        let fault = TraceDiagnostic::error(DiagnosticKind::PajeText, "line 3: empty text");
        let line = DiagnosticLocation::Line { file: String::new(), line: 3 };
        assert_eq!(fault.clone().at_line("", 3).location, Some(line));
        assert_eq!(fault.at_line("part", 0).location, None);
    }

    #[test]
    fn lists_of_all_variants_are_in_order_of_declaration() {
        assert!(DiagnosticKind::ALL.iter().enumerate().all(|(index, kind)| *kind as usize == index));
        assert!(DiagnosticSeverity::ALL.iter().enumerate().all(|(index, severity)| *severity as usize == index));
        assert_eq!(DiagnosticKind::ALL.len(), DiagnosticKind::Index as usize + 1);
    }
}
