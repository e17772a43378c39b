//! The output text under construction: lines, columns, and comments at the ends of lines.

use super::token::{is_closer, is_opener};

/// Number of blanks before a comment at the end of a line.
const BEFORE_COMMENT: usize = 2;

/// Comments of neighbouring lines are aligned unless their columns differ by more than this.
const MAX_SHIFT: usize = 40;

#[derive(Default)]
pub(super) struct FormatOutput {
    text: String,
    /// Byte offset of the current line in the text.
    line_start: usize,
    /// Number of columns of the current line.
    pub(super) column: usize,
    /// Number of line ends so far.
    lines: usize,
    comments: Vec<TrailingComment>,
}

/// A comment at the end of a line, before its alignment.
struct TrailingComment {
    line: usize,
    /// Byte offsets of its line and of the comment itself in the text.
    line_start: usize,
    text_offset: usize,
    column: usize,
}

impl FormatOutput {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        match text.rfind('\n') {
            None => self.column += width(text),
            Some(last) => {
                self.lines += text.matches('\n').count();
                self.line_start = self.text.len() - (text.len() - last - 1);
                self.column = width(&text[last + 1..]);
            }
        }
    }

    /// Adds blanks up to a column.
    pub(super) fn pad(&mut self, column: usize) {
        while self.column < column {
            self.text.push(' ');
            self.column += 1;
        }
    }

    /// Begins a line, after a blank line if requested. At the start of the text there is a line
    /// already.
    pub(super) fn newline(&mut self, blank: bool, indent: usize) {
        if !self.text.is_empty() {
            self.push(if blank { "\n\n" } else { "\n" });
        }
        self.pad(indent);
    }

    /// Adds a comment at the end of the line. The caller must begin a new line after it.
    pub(super) fn trailing_comment(&mut self, comment: &str) {
        let (text_offset, line_start) = (self.text.len(), self.line_start);
        self.comments.push(TrailingComment { line: self.lines, line_start, text_offset, column: self.column });
        self.push(comment);
    }

    /// The text, with the comments of neighbouring lines aligned.
    pub(super) fn finish(mut self) -> String {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let mut text = String::with_capacity(self.text.len() + BEFORE_COMMENT * self.comments.len());
        let mut position = 0;
        let mut comments = self.comments.as_slice();
        while !comments.is_empty() {
            let AlignedComments { count, column } = self.aligned_group(comments);
            for comment in &comments[..count] {
                text.push_str(&self.text[position..comment.text_offset]);
                text.extend(std::iter::repeat_n(' ', column + BEFORE_COMMENT - comment.column));
                position = comment.text_offset;
            }
            comments = &comments[count..];
        }
        text.push_str(&self.text[position..]);
        text
    }

    /// The comments from the start of the list that are aligned.
    fn aligned_group(&self, comments: &[TrailingComment]) -> AlignedComments {
        let (mut min_column, mut max_column, mut count) = (comments[0].column, comments[0].column, 1);
        for pair in comments.windows(2) {
            let (above, below) = (self.code(&pair[0]), self.code(&pair[1]));
            let of_one_block = !above.chars().next_back().is_some_and(|last| is_opener(last.encode_utf8(&mut [0; 4])))
                && !below.chars().next().is_some_and(|first| is_closer(first.encode_utf8(&mut [0; 4])));
            min_column = min_column.min(pair[1].column);
            let widened = max_column.max(pair[1].column);
            if pair[1].line != pair[0].line + 1 || !of_one_block || widened - min_column > MAX_SHIFT {
                break;
            }
            max_column = widened;
            count += 1;
        }
        AlignedComments { count, column: max_column }
    }

    /// The text before a comment on its line.
    fn code(&self, comment: &TrailingComment) -> &str {
        self.text[comment.line_start..comment.text_offset].trim_start()
    }
}

/// Comments that are aligned: their number, and the maximum of their columns.
struct AlignedComments {
    count: usize,
    column: usize,
}

/// Number of columns of a text of one line: its characters.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}
