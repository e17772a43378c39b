//! The text that is being made: lines, columns, and comments at the ends of lines.

use super::token::{is_closer, is_opener};

/// A comment at the end of a line has this many blanks before it.
const BEFORE_COMMENT: usize = 2;

/// Comments of neighbouring lines stand below each other unless the lines' lengths differ by more.
const MAX_SHIFT: usize = 40;

#[derive(Default)]
pub(super) struct Out {
    text: String,
    /// Where the current line starts in the text.
    line_start: usize,
    /// Columns of the current line.
    pub(super) column: usize,
    /// Line ends so far.
    lines: usize,
    comments: Vec<Trailing>,
}

/// A comment at the end of a line, which is not moved to its column yet.
struct Trailing {
    line: usize,
    /// Bytes of the text where its line starts, and where it starts itself.
    line_start: usize,
    at: usize,
    column: usize,
}

impl Out {
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

    /// Goes to a column to the right.
    pub(super) fn pad(&mut self, column: usize) {
        while self.column < column {
            self.text.push(' ');
            self.column += 1;
        }
    }

    /// Begins a line, after a blank one if asked for. At the start of the text there is one already.
    pub(super) fn newline(&mut self, blank: bool, indent: usize) {
        if !self.text.is_empty() {
            self.push(if blank { "\n\n" } else { "\n" });
        }
        self.pad(indent);
    }

    /// A comment at the end of the line: a new one must follow.
    pub(super) fn trailing(&mut self, comment: &str) {
        let (at, line_start) = (self.text.len(), self.line_start);
        self.comments.push(Trailing { line: self.lines, line_start, at, column: self.column });
        self.push(comment);
    }

    /// The text, with comments of neighbouring lines below each other.
    pub(super) fn finish(mut self) -> String {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let mut finished = String::with_capacity(self.text.len() + BEFORE_COMMENT * self.comments.len());
        let mut copied = 0;
        let mut rest = self.comments.as_slice();
        while !rest.is_empty() {
            let (together, column) = self.together(rest);
            for comment in &rest[..together] {
                finished.push_str(&self.text[copied..comment.at]);
                finished.extend(std::iter::repeat_n(' ', column + BEFORE_COMMENT - comment.column));
                copied = comment.at;
            }
            rest = &rest[together..];
        }
        finished.push_str(&self.text[copied..]);
        finished
    }

    /// How many of these comments stand below each other, and the most columns before them.
    fn together(&self, comments: &[Trailing]) -> (usize, usize) {
        let (mut least, mut most, mut count) = (comments[0].column, comments[0].column, 1);
        for pair in comments.windows(2) {
            let (above, below) = (self.code(&pair[0]), self.code(&pair[1]));
            let of_one_block = !above.chars().next_back().is_some_and(|last| is_opener(last.encode_utf8(&mut [0; 4])))
                && !below.chars().next().is_some_and(|first| is_closer(first.encode_utf8(&mut [0; 4])));
            least = least.min(pair[1].column);
            let widest = most.max(pair[1].column);
            if pair[1].line != pair[0].line + 1 || !of_one_block || widest - least > MAX_SHIFT {
                break;
            }
            most = widest;
            count += 1;
        }
        (count, most)
    }

    /// What stands on a comment's line before it.
    fn code(&self, comment: &Trailing) -> &str {
        self.text[comment.line_start..comment.at].trim_start()
    }
}

/// Columns of a text on one line: characters.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}
