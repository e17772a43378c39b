//! Help texts that fit the width of the terminal.
//!
//! The texts after the options (`after_help`) have line breaks in the source. Clap would wrap the
//! long lines again and leave the short ones. This module therefore lays the texts out for the
//! actual width: it fills paragraphs, and it keeps the notes of examples in their column.

use clap::Command;
use unicode_width::UnicodeWidthStr as _;

/// Width if the output is not a terminal and `COLUMNS` is not set.
const USUAL_WIDTH: usize = 100;
/// Minimum width; a smaller width is raised to it.
const MIN_WIDTH: usize = 30;
/// Minimum width of a note in the line of its example. A narrower note goes below the example.
const MIN_NOTE_WIDTH: usize = 24;
/// Columns before an example, before a note below an example, and between an example and its note.
const INDENT: usize = 2;
const DEEP_INDENT: usize = 6;
const SPACE: usize = 3;

/// The command with all help texts laid out for the terminal.
pub(crate) fn in_terminal(command: Command) -> Command {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = terminal.or_else(columns).filter(|&width| width > 0).unwrap_or(USUAL_WIDTH);
    fit_help(command, width.max(MIN_WIDTH))
}

/// The command and its subcommands, with help texts of this width.
fn fit_help(command: Command, width: usize) -> Command {
    let text = command.get_after_help().map(ToString::to_string);
    let command = command.term_width(width).mut_subcommands(|below| fit_help(below, width));
    match text {
        Some(text) => command.after_help(laid_out(&text, width)),
        None => command,
    }
}

/// A part of a help text.
enum HelpPart {
    Blank,
    /// A paragraph, or the heading of examples, which ends with a colon.
    Prose(String),
    /// An example and its note: the cells of an indented line, separated by several blanks.
    Example(Vec<String>),
}

/// The text in lines of at most `width` columns, unless a single word is longer.
fn laid_out(text: &str, width: usize) -> String {
    let pieces = pieces(text);
    let mut lines = Vec::new();
    let mut remainder = pieces.as_slice();
    while let Some(piece) = remainder.first() {
        let mut count = 1;
        match piece {
            HelpPart::Blank => lines.push(String::new()),
            HelpPart::Prose(text) => fill(&mut lines, String::new(), 0, text, width),
            HelpPart::Example(_) => {
                let examples: Vec<&[String]> = remainder.iter().map_while(HelpPart::cells).collect();
                count = examples.len();
                append_examples(&mut lines, &examples, width);
            }
        }
        remainder = &remainder[count..];
    }
    lines.join("\n")
}

impl HelpPart {
    fn cells(&self) -> Option<&[String]> {
        if let Self::Example(cells) = self { Some(cells) } else { None }
    }
}

fn pieces(text: &str) -> Vec<HelpPart> {
    let mut pieces: Vec<HelpPart> = Vec::new();
    for line in text.lines() {
        let words = line.trim();
        let indent = line.len() - line.trim_start().len();
        match pieces.last_mut() {
            _ if words.is_empty() => pieces.push(HelpPart::Blank),
            // A note that continues in the next line.
            Some(HelpPart::Example(cells)) if indent > DEEP_INDENT => match cells.as_mut_slice() {
                [_, .., note] => *note = format!("{note} {words}"),
                _ => cells.push(words.to_owned()),
            },
            _ if indent >= INDENT => {
                let cells = words.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
                pieces.push(HelpPart::Example(cells.map(str::to_owned).collect()));
            }
            Some(HelpPart::Prose(prose)) if !prose.ends_with(':') && !words.starts_with("Exit status:") => {
                *prose = format!("{prose} {words}");
            }
            _ => pieces.push(HelpPart::Prose(words.to_owned())),
        }
    }
    pieces
}

/// Appends consecutive examples with their notes in one column.
fn append_examples(lines: &mut Vec<String>, examples: &[&[String]], width: usize) {
    let columns = examples.iter().map(|cells| cells.len()).max().unwrap_or(0);
    if columns > 2 {
        return append_table(lines, examples, columns, width);
    }
    let fits = |length: &usize| INDENT + length + SPACE + MIN_NOTE_WIDTH <= width;
    let longest = examples.iter().filter(|cells| cells.len() > 1).map(|cells| cells[0].width()).filter(fits).max();
    let column = longest.map_or(DEEP_INDENT, |longest| INDENT + longest + SPACE);
    for cells in examples {
        let [command, notes @ ..] = *cells else { continue };
        let mut line = format!("{:INDENT$}{command}", "");
        if line.width() > width {
            let from = lines.len();
            fill(lines, " ".repeat(INDENT), DEEP_INDENT, command, width - SPACE);
            let last = lines.len() - 1;
            // The shell joins lines that end with a backslash.
            lines[from..last].iter_mut().for_each(|line| line.push_str(" \\"));
            line = String::new();
        }
        match notes {
            [] if line.is_empty() => {}
            [] => lines.push(line),
            [note, ..] if !line.is_empty() && line.width() + SPACE <= column => {
                fill(lines, format!("{line:column$}"), column, note, width);
            }
            [note, ..] => {
                if !line.is_empty() {
                    lines.push(line);
                }
                fill(lines, " ".repeat(column), column, note, width);
            }
        }
    }
}

/// Appends lines with several cells: in columns, or one cell per line if the columns do not fit.
fn append_table(lines: &mut Vec<String>, rows: &[&[String]], columns: usize, width: usize) {
    let length =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0);
    let lengths: Vec<usize> = (0..columns).map(length).collect();
    let total = INDENT + lengths.iter().sum::<usize>() + SPACE * (columns - 1);
    for row in rows {
        if total <= width {
            let mut line = " ".repeat(INDENT);
            for (cell, length) in row.iter().zip(&lengths) {
                let blanks = (length + SPACE).saturating_sub(cell.width());
                line.push_str(cell);
                line.push_str(&" ".repeat(blanks));
            }
            lines.push(line.trim_end().to_owned());
        } else {
            for (column, cell) in row.iter().enumerate() {
                let indent = if column == 0 { INDENT } else { DEEP_INDENT };
                fill(lines, " ".repeat(indent), DEEP_INDENT, cell, width);
            }
        }
    }
}

/// Appends the words of a text to an incomplete line and to further lines, which are indented by
/// `indent` blanks.
fn fill(lines: &mut Vec<String>, mut line: String, indent: usize, text: &str, width: usize) {
    let mut is_begun = false;
    for word in text.split_whitespace() {
        if is_begun && line.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            is_begun = false;
        }
        if is_begun {
            line.push(' ');
        }
        line.push_str(word);
        is_begun = true;
    }
    lines.push(line);
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use unicode_width::UnicodeWidthStr as _;

    use super::{fit_help, laid_out};

    #[test]
    fn every_help_fits_and_is_filled() {
        for width in [60, 80, 100, 140] {
            let mut command = fit_help(crate::args::Args::command(), width);
            command.build();
            for subcommand in command.get_subcommands_mut() {
                let name = subcommand.get_name().to_owned();
                for text in [subcommand.render_help().to_string(), subcommand.render_long_help().to_string()] {
                    for line in text.lines().filter(|line| line.width() > width) {
                        // Exceptions: the usage, and a word that is longer than the line.
                        let is_word = line.split_whitespace().count() == 1;
                        assert!(is_word || line.starts_with("Usage:"), "tumit {name}, {width} columns: {line}");
                    }
                }
                let after_help = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
                let lines: Vec<&str> = after_help.lines().collect();
                for pair in lines.windows(2) {
                    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
                    let next = pair[1].split(' ').next().unwrap_or_default();
                    let would_fit = pair[0].width() + 1 + next.width() <= width;
                    let is_ragged = is_prose(pair[0]) && is_prose(pair[1]) && next != "Exit" && would_fit;
                    assert!(!is_ragged, "tumit {name}, {width} columns: {pair:?}");
                }
            }
        }
    }

    #[test]
    fn notes_keep_their_column() {
        let text = "Examples:\n  tumit a run.tmt   the first note of all\n  tumit bcd run.tmt --long   another one\n\nOne line\nof prose.\nExit status: 0 done.";
        assert_eq!(
            laid_out(text, 48),
            "Examples:\n  tumit a run.tmt   the first note of all\n  tumit bcd run.tmt --long\n                    another one\n\nOne line of prose.\nExit status: 0 done."
        );
        assert_eq!(
            laid_out("  tumit stats run.paje --filter 'only value' --csv > matrix.csv", 40),
            "  tumit stats run.paje --filter 'only \\\n      value' --csv > matrix.csv"
        );
        assert_eq!(laid_out("  a b   c d   by type\n  e   ff   g", 30), "  a b   c d   by type\n  e     ff    g");
        assert_eq!(laid_out("  a b   c d   by type", 12), "  a b\n      c d\n      by\n      type");
    }
}
