//! Renders diagnostics as text, with the lines of the spec that they refer to.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::diagnostic_list::{Diagnostic, DiagnosticLabel, Diagnostics, Severity};
use crate::source_text::{FileId, SourceMap};

/// Maximum number of diagnostics in the output. The others are only counted, because a longer list
/// has no use.
const MAX_DRAWN: usize = 50;

impl Diagnostics {
    /// Renders the diagnostics with the lines that they refer to, and a last line that counts them.
    ///
    /// The result is empty when there are no diagnostics.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        render(self, color)
    }
}

fn render(diagnostics: &Diagnostics, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for diagnostic in diagnostics.list.iter().take(MAX_DRAWN) {
        out.push_str(&renderer.render(&[group(&diagnostics.sources, diagnostic)]));
        out.push_str("\n\n");
    }
    let hidden = diagnostics.len().saturating_sub(MAX_DRAWN);
    if hidden > 0 {
        out.push_str(&format!("… and {hidden} more\n\n"));
    }
    if !diagnostics.is_empty() {
        out.push_str(&summary(diagnostics));
        out.push('\n');
    }
    out
}

fn summary(diagnostics: &Diagnostics) -> String {
    let count = |n: usize, noun: &str| match n {
        0 => None,
        1 => Some(format!("1 {noun}")),
        _ => Some(format!("{n} {noun}s")),
    };
    let parts = [count(diagnostics.error_count(), "error"), count(diagnostics.warning_count(), "warning")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn group<'a>(sources: &'a SourceMap, diagnostic: &'a Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(diagnostic.title.as_str()).id(diagnostic.code.to_string());
    let mut elements = Vec::new();
    if let Some(primary) = &diagnostic.primary {
        elements.push(snippet(sources, primary.span.file, Some(primary), &diagnostic.secondary));
        let mut other_files: Vec<FileId> = diagnostic.secondary.iter().map(|label| label.span.file).collect();
        other_files.sort_unstable();
        other_files.dedup();
        for file in other_files.into_iter().filter(|file| *file != primary.span.file) {
            elements.push(snippet(sources, file, None, &diagnostic.secondary));
        }
    }
    let mut group = Group::with_title(title).elements(elements);
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    group
}

fn snippet<'a>(
    sources: &'a SourceMap,
    file: FileId,
    primary: Option<&'a DiagnosticLabel>,
    secondary: &'a [DiagnosticLabel],
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let (path, text) = sources.get(file).map_or(("", ""), |source| (source.path.as_str(), source.text.as_str()));
    let annotation = |kind: AnnotationKind, label: &'a DiagnosticLabel| {
        kind.span(drawable_range(text, label.span.range())).label(label.text.as_str())
    };
    Snippet::source(text)
        .path(path)
        .annotations(primary.map(|label| annotation(AnnotationKind::Primary, label)))
        .annotations(
            secondary
                .iter()
                .filter(|label| label.span.file == file)
                .map(|label| annotation(AnnotationKind::Context, label)),
        )
}

/// The range, limited to the text and to character boundaries.
fn drawable_range(text: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let clamp = |offset: usize| {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let start = clamp(range.start);
    start..clamp(range.end).max(start)
}
