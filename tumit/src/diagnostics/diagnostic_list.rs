//! Diagnostics and their labels, and the list of a compilation.

use super::codes::Code;
use crate::source_text::{SourceMap, SourceSpan};

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The spec cannot be used.
    Error,
    /// The spec can be used, but its effect is probably not the intended one.
    Warning,
}

/// A span with a text about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiagnosticLabel {
    /// The source text that is underlined.
    pub span: SourceSpan,
    /// The text about the span.
    pub text: String,
}

/// An error or warning about a spec, with everything that is printed about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Identifies the kind of mistake. `tumit explain` describes it.
    pub code: Code,
    /// Whether the spec can be used.
    pub severity: Severity,
    /// Description of the problem in one line.
    pub title: String,
    /// The span of the mistake. `None` when no text has it, as for a file that cannot be read.
    pub primary: Option<DiagnosticLabel>,
    /// Other spans that help to understand the mistake.
    pub secondary: Vec<DiagnosticLabel>,
    /// Additional facts.
    pub notes: Vec<String>,
    /// Suggested corrections.
    pub help: Vec<String>,
}

impl Diagnostic {
    pub(crate) fn error(code: Code, title: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            title: title.into(),
            primary: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    pub(crate) fn warning(code: Code, title: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, title) }
    }

    /// Sets the span of the mistake and the text about it.
    pub(crate) fn with_location(mut self, span: SourceSpan, text: impl Into<String>) -> Self {
        self.primary = Some(DiagnosticLabel { span, text: text.into() });
        self
    }

    /// Adds another span.
    pub(crate) fn with_label(mut self, span: SourceSpan, text: impl Into<String>) -> Self {
        self.secondary.push(DiagnosticLabel { span, text: text.into() });
        self
    }

    pub(crate) fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Whether both report the same unknown name at different places.
    fn is_same_name(&self, other: &Self) -> bool {
        let text = |diagnostic: &Self| diagnostic.primary.as_ref().map(|label| label.text.clone());
        let others = |diagnostic: &Self| {
            let labels = diagnostic.secondary.iter().filter(|label| label.text != FURTHER_PLACE);
            labels.cloned().collect::<Vec<_>>()
        };
        self.code.is_unknown_name()
            && (self.code, self.severity, &self.title) == (other.code, other.severity, &other.title)
            && (&self.notes, &self.help) == (&other.notes, &other.help)
            && text(self) == text(other)
            && others(self) == others(other)
    }

    /// Adds the span of another diagnostic for the same name. The first span remains the primary
    /// one.
    fn add_place(&mut self, diagnostic: Self) {
        let Some((first, mut second)) = self.primary.as_mut().zip(diagnostic.primary) else { return };
        if second.span < first.span {
            std::mem::swap(first, &mut second);
        }
        let is_known = first.span == second.span || self.secondary.iter().any(|label| label.span == second.span);
        if !is_known && self.secondary.len() < MAX_PLACES {
            self.secondary.push(DiagnosticLabel { text: FURTHER_PLACE.to_owned(), ..second });
        }
    }

    /// Adds a help text if there is one.
    pub(crate) fn maybe_help(mut self, text: Option<String>) -> Self {
        self.help.extend(text);
        self
    }
}

/// Label of the further spans of an unknown name.
const FURTHER_PLACE: &str = "and here";

/// Maximum number of spans in one diagnostic.
const MAX_PLACES: usize = 20;

/// Maximum number of diagnostics that are kept.
const MAX_KEPT: usize = 500;

/// All diagnostics of a compilation, with the texts that they refer to.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    pub(crate) sources: SourceMap,
    pub(super) list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds a diagnostic. If the list has one about the same name, that one only gets a further
    /// place. A diagnostic that the list contains already is omitted.
    ///
    /// The list keeps at most [`MAX_KEPT`] diagnostics, because a text with more of them is no
    /// spec. The first error is always kept.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if let Some(previous) = self.list.iter_mut().find(|previous| previous.is_same_name(&diagnostic)) {
            return previous.add_place(diagnostic);
        }
        let is_first_error = diagnostic.severity == Severity::Error && !self.has_errors();
        if (self.list.len() < MAX_KEPT || is_first_error) && !self.list.contains(&diagnostic) {
            self.list.push(diagnostic);
        }
    }

    /// Whether further diagnostics are discarded. Searches for suggestions are then useless.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MAX_KEPT && self.has_errors()
    }

    /// Whether any diagnostic is an error. There is then no `Spec`.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.error_count() > 0
    }

    /// Number of errors.
    #[must_use]
    pub fn error_count(&self) -> usize {
        self.list.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    }

    /// Number of warnings.
    #[must_use]
    pub fn warning_count(&self) -> usize {
        self.list.len() - self.error_count()
    }

    /// Number of diagnostics.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no diagnostics.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The diagnostics, in the order of their spans.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// The texts that the diagnostics refer to.
    #[must_use]
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Sorts by span. Diagnostics without a span come first.
    pub(crate) fn sort(&mut self) {
        self.list.sort_by_key(|diagnostic| diagnostic.primary.as_ref().map(|label| label.span));
    }
}
