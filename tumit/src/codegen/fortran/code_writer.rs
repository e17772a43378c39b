//! Lines of generated Fortran: indented, and continued where they would exceed the limit of the
//! language.

/// Maximum number of columns. Longer lines are continued, and comments wrapped. Fortran's limit is
/// 132, which leaves room for a long name.
const WIDTH: usize = 100;

/// Text under construction, line by line.
#[derive(Debug, Default)]
pub(super) struct CodeWriter {
    text: String,
    depth: usize,
}

impl CodeWriter {
    /// Writes a line at the current depth. An empty line has no blanks.
    pub(super) fn line(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(&"  ".repeat(self.depth));
            self.text.push_str(text);
        }
        self.text.push('\n');
    }

    /// Writes complete lines, indented to the current depth.
    pub(super) fn lines(&mut self, text: &str) {
        for line in text.lines() {
            self.line(line);
        }
    }

    /// Calls `write_body` with the depth increased by one level.
    pub(super) fn indent(&mut self, write_body: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write_body(self);
        self.depth -= 1;
    }

    /// Writes a line with a short comment after it, if the comment fits.
    pub(super) fn line_with_comment(&mut self, text: &str, note: &str) {
        let fits = 2 * self.depth + text.chars().count() + 4 + note.chars().count() <= WIDTH;
        if note.is_empty() || !fits { self.line(text) } else { self.line(&format!("{text}  ! {note}")) }
    }

    /// Writes `head`, the items with commas between them, and `tail`. The line is continued before
    /// an item that would exceed the width. Each item must fit on a line of its own.
    pub(super) fn list(&mut self, head: &str, items: &[String], tail: &str) {
        self.separated_items(head, items, ", ", tail);
    }

    /// Writes `head`, and the items with an operator between them. Lines are continued as for a
    /// list.
    pub(super) fn joined_items(&mut self, head: &str, items: &[String], operator: &str) {
        self.separated_items(head, items, operator, "");
    }

    fn separated_items(&mut self, head: &str, items: &[String], separator: &str, tail: &str) {
        let mut line = head.to_owned();
        for (number, item) in items.iter().enumerate() {
            let last = number + 1 == items.len();
            let item = format!("{item}{}", if last { tail } else { separator });
            if 2 * self.depth + line.chars().count() + item.chars().count() > WIDTH {
                self.line(&format!("{} &", line.trim_end()));
                line = "    ".to_owned();
            }
            line.push_str(&item);
        }
        if items.is_empty() {
            line.push_str(tail);
        }
        self.line(&line);
    }

    /// Writes documentation in the form that Doxygen and FORD read: `!>` opens it, `!!` continues
    /// it. An empty text yields nothing.
    pub(super) fn doc(&mut self, text: &str) {
        self.comment("!>", "!!", text.trim());
    }

    /// Writes a comment, wrapped to several lines.
    pub(super) fn comment(&mut self, first: &str, continuation: &str, text: &str) {
        let room = WIDTH - 2 * self.depth - continuation.len() - 1;
        let wrapped = text.lines().flat_map(|line| wrap(line.trim_end(), room));
        for (number, line) in wrapped.enumerate() {
            let mark = if number == 0 { first } else { continuation };
            self.line(format!("{mark} {line}").trim_end());
        }
    }

    /// The complete text.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// Splits a line between words. A word longer than a line is split at any character.
fn wrap(line: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in line.split(' ') {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > room {
            lines.push(String::new());
            length = 0;
        }
        let Some(last) = lines.last_mut() else { break };
        if length > 0 {
            last.push(' ');
            length += 1;
        }
        last.push_str(word);
        length += letters;
        while length > room {
            let Some(last) = lines.last_mut() else { break };
            let remainder: String = last.chars().skip(room).collect();
            let cut = last.char_indices().nth(room).map_or(last.len(), |(offset, _)| offset);
            last.truncate(cut);
            length = remainder.chars().count();
            lines.push(remainder);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_continued_between_items() {
        let mut writer = CodeWriter::default();
        let items: Vec<_> = (0..9).map(|number| format!("an_item_of_some_length_{number}")).collect();
        writer.indent(|writer| writer.list("call it(", &items, ")"));
        let text = writer.finish();
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().all(|line| line.len() <= WIDTH + 1), "{text}");
        assert_eq!(text.matches(", &\n").count(), 2);
        assert!(text.ends_with("length_8)\n"));
    }

    #[test]
    fn comments_are_wrapped_between_words_and_inside_endless_ones() {
        let mut writer = CodeWriter::default();
        writer.doc(&format!("{} end\n\nsecond {}", "word ".repeat(30).trim(), "é".repeat(250)));
        let text = writer.finish();
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.starts_with("!> word") && text.contains("\n!!\n!! second\n"), "{text}");
        assert_eq!(text.matches('é').count(), 250);
    }

    #[test]
    fn nothing_is_no_comment() {
        let mut writer = CodeWriter::default();
        writer.doc("  \n");
        assert_eq!(writer.finish(), "");
    }
}
