//! [`CommandContext`]: the commands that reproduce the numbers of a report.

use std::path::Path;

use tumit_perspectives::analysis::diagnosis_tables::DiagnosisSection;
use tumit_perspectives::execution::categories::CategoryRule;
use tumit_viewer::query::{GlobalNanos, OpenTimeRange, TimeRange};

use crate::option_values::category_option::category_text;
use crate::run_options::RunOptions;
use crate::view_filters::FilterOptions;

/// The trace and the options on which the numbers of a report depend.
pub(super) struct CommandContext {
    path: String,
    /// `--interval` of the report.
    interval: Option<OpenTimeRange>,
    /// Its part within the trace. Views show a longer time range with idle times.
    range: Option<OpenTimeRange>,
    /// The options for reading the trace, and the filters.
    trace: Vec<String>,
    /// The units, categories and tasks.
    execution: Vec<String>,
    /// The phases and the assumed changes.
    report: Vec<String>,
}

/// The options of a report.
pub(super) struct ReportOptions<'a> {
    pub(super) path: &'a Path,
    pub(super) interval: Option<OpenTimeRange>,
    /// The examined time range.
    pub(super) range: TimeRange,
    pub(super) run: &'a RunOptions,
    pub(super) filters: &'a FilterOptions,
    pub(super) categories: &'a [CategoryRule],
    pub(super) options: &'a [(String, String)],
    pub(super) phase: Option<&'a str>,
    /// The assumed changes.
    pub(super) what_ifs: Vec<String>,
}

impl CommandContext {
    pub(super) fn new(options: &ReportOptions<'_>) -> Self {
        let option = |name: &str, value: String| [name.to_owned(), value];
        let mut trace = options.run.arguments();
        trace.extend(options.filters.arguments());
        let mut execution = Vec::new();
        options.categories.iter().for_each(|rule| execution.extend(option("--category", category_text(rule))));
        for (name, value) in options.options {
            execution.extend(option("--option", format!("{name}={value}")));
        }
        let mut report = Vec::new();
        options.phase.iter().for_each(|phase| report.extend(option("--phase", (*phase).to_owned())));
        options.what_ifs.iter().for_each(|what_if| report.extend(option("--what-if", what_if.clone())));
        let range = options.interval.map(|_| OpenTimeRange::from(options.range));
        Self { path: path_text(options.path), interval: options.interval, range, trace, execution, report }
    }

    /// The command that prints a section of the report as a table.
    pub(super) fn section(&self, section: DiagnosisSection) -> String {
        let words = ["diagnose", &self.path, "--section", section.word(), "--format", "csv"];
        let report = match section {
            DiagnosisSection::Phases | DiagnosisSection::WhatIf => self.report.as_slice(),
            _ => &[],
        };
        self.command(&words, self.interval, &[&self.execution, report])
    }

    /// The command that reports another time range.
    pub(super) fn report_of(&self, interval: OpenTimeRange) -> String {
        self.command(&["diagnose", &self.path], Some(interval), &[&self.execution])
    }

    /// The command that prints the table of a view.
    pub(super) fn table(&self, view: &str) -> String {
        let words = ["view", &self.path, "--perspective", view, "-o", "-", "--format", "csv"];
        self.command(&words, self.range, &[&self.execution])
    }

    /// The command that draws a view into a file.
    pub(super) fn image(&self, view: &str, option: Option<&str>, file: &str) -> String {
        let mut words = vec!["view", &self.path, "--perspective", view];
        option.iter().for_each(|option| words.extend(["--option", option]));
        words.extend(["-o", file]);
        self.command(&words, self.range, &[&self.execution])
    }

    /// The command that draws a time range of the trace into a file.
    pub(super) fn diagram(&self, interval: OpenTimeRange, file: &str) -> String {
        self.command(&["view", &self.path, "-o", file], Some(interval), &[])
    }

    fn command(&self, words: &[&str], interval: Option<OpenTimeRange>, options: &[&[String]]) -> String {
        let mut command = "tumit".to_owned();
        let mut add = |word: &str| {
            command.push(' ');
            command.push_str(&shell_word(word));
        };
        words.iter().for_each(|word| add(word));
        if let Some(interval) = interval {
            add("--interval");
            add(&interval_text(interval));
        }
        self.trace.iter().chain(options.iter().copied().flatten()).for_each(|word| add(word));
        command
    }
}

/// The path of the trace. A name that begins with `-` would be an option.
fn path_text(path: &Path) -> String {
    let text = path.display().to_string();
    if text.starts_with('-') && text != "-" { format!("./{text}") } else { text }
}

/// A time range as `--interval` reads it. Each time is in the largest unit that does not exceed it:
/// `4.625001s`, not `4625001us`.
fn interval_text(interval: OpenTimeRange) -> String {
    let time = |time: Option<GlobalNanos>| time.map(|GlobalNanos(nanos)| time_text(nanos)).unwrap_or_default();
    format!("{}..{}", time(interval.from), time(interval.to))
}

fn time_text(nanos: i64) -> String {
    let size = nanos.unsigned_abs();
    let units = [(1_000_000_000, "s", 9), (1_000_000, "ms", 6), (1_000, "us", 3), (1, "ns", 0)];
    let unit = units.into_iter().find(|unit| size >= unit.0).filter(|_| size > 0);
    let (unit, name, digits) = unit.unwrap_or(units[0]);
    let sign = if nanos < 0 { "-" } else { "" };
    let decimals = format!("{:0digits$}", size % unit);
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{decimals}{name}", size / unit)
}

/// A word as the shell reads it.
fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./:=,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{shell_word, time_text};

    #[test]
    fn times_have_a_readable_unit() {
        for (nanos, expected) in [
            (0, "0s"),
            (4_625_001_000, "4.625001s"),
            (4_630_000_000, "4.63s"),
            (-1_500_000, "-1.5ms"),
            (20_000, "20us"),
            (999, "999ns"),
            (60_000_000_001, "60.000000001s"),
        ] {
            assert_eq!(time_text(nanos), expected);
            assert_eq!(tumit_paje::time_text::parse(expected), Ok(nanos));
        }
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        for (word, expected) in
            [("a/b.tmt", "a/b.tmt"), ("wait*", "'wait*'"), ("it's", r"'it'\''s'"), ("", "''"), ("a b", "'a b'")]
        {
            assert_eq!(shell_word(word), expected);
        }
    }
}
