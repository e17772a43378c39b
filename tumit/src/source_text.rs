//! The texts of a compilation, and positions in them.
//!
//! ```
//! let text = "trace a;\nlevel APP { event tick { n: u9 } }\n";
//! let (_, diagnostics) = tumit::compile_text("a.tumit", text);
//! let error = diagnostics.iter().next().expect("an error");
//! let label = error.primary.as_ref().expect("the span of the error");
//! assert_eq!(diagnostics.sources().text(label.span), "u9");
//! assert_eq!(diagnostics.sources().position(label.span).to_string(), "2:29");
//! ```

use std::fmt;
use std::ops::Range;

/// A file of the spec, by its position in the [`SourceMap`]; 0 is the root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceSpan {
    /// The file to which the offsets belong.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl SourceSpan {
    /// The span of these bytes.
    pub(crate) fn new(file: FileId, range: Range<usize>) -> Self {
        let small = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { file, start: small(range.start), end: small(range.end) }
    }

    /// A span from the start of `self` to the end of `end_span`.
    pub(crate) fn joined_with(self, end_span: Self) -> Self {
        Self { end: end_span.end.max(self.end), ..self }
    }

    /// The span as a range of byte offsets.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// All texts of a compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFileText>,
}

/// A file of a compilation with its contents.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceFileText {
    /// Path, as printed in diagnostics.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Line and column, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LineColumn {
    /// Counted from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl SourceMap {
    pub(crate) fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(SourceFileText { path: path.into(), text: text.into() });
        id
    }

    /// Looks up a file. `None` if the id is from another compilation.
    #[must_use]
    pub fn get(&self, file: FileId) -> Option<&SourceFileText> {
        self.files.get(file.0 as usize)
    }

    /// All files, the root first.
    pub fn iter(&self) -> impl Iterator<Item = &SourceFileText> {
        self.files.iter()
    }

    /// The text of a span. Empty when the span lies outside the texts.
    #[must_use]
    pub fn text(&self, span: SourceSpan) -> &str {
        self.get(span.file).and_then(|file| file.text.get(span.range())).unwrap_or_default()
    }

    /// Line and column of the start of a span.
    #[must_use]
    pub fn position(&self, span: SourceSpan) -> LineColumn {
        let Some(before) = self.get(span.file).and_then(|file| file.text.get(..span.start as usize)) else {
            return LineColumn { line: 1, column: 1 };
        };
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        LineColumn { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let mut map = SourceMap::default();
        let file = map.add("a", "é\nàb");
        assert_eq!(map.position(SourceSpan::new(file, 0..1)), LineColumn { line: 1, column: 1 });
        assert_eq!(map.position(SourceSpan::new(file, 5..6)), LineColumn { line: 2, column: 2 });
        assert_eq!(map.text(SourceSpan::new(file, 5..6)), "b");
        assert_eq!(map.text(SourceSpan::new(FileId(7), 5..6)), "");
    }
}
