//! `tumit fmt`: gives specs the standard form.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use clap::ValueHint;
use similar::{ChangeTag, TextDiff};

use super::exit_status::ExitStatus;
use crate::output_file::OutputFile;
use crate::{spec_files, term};

/// Formats specs
///
/// Comments, texts and numbers do not change. Blanks, line ends and commas at the ends of lists get
/// the same form in all specs. There are no options for style.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit fmt app.tumit              rewrites the file, unless it is already formatted
  tumit fmt specs/*.tumit          several files; folders are not searched
  tumit fmt --check app.tumit      shows the changes, and does not make them
  tumit fmt - < app.tumit          from standard input to standard output, for editors

A file with syntax errors is not changed. Mistakes in names, types and rules do not matter.

Exit status: 0 success, 1 a file has syntax errors (or, with --check, is not formatted), 2 a file could not be read or written.")]
pub(crate) struct Args {
    /// Specs to format; `-` is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<String>,

    /// Shows the changes as a unified diff, and does not make them
    #[arg(long)]
    check: bool,
}

/// The result for a file.
enum FormatOutcome {
    Done,
    HasMistakes,
    WouldChange,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let mut out = term::stdout();
    let (mut mistakes, mut unreadable, mut changed) = (false, false, 0);
    for file in &args.files {
        match format(file, args.check, &mut out) {
            Ok(FormatOutcome::Done) => {}
            Ok(FormatOutcome::HasMistakes) => mistakes = true,
            Ok(FormatOutcome::WouldChange) => changed += 1,
            Err(error) if term::is_broken_pipe(&error) => return Err(error),
            Err(error) => {
                term::error(&error);
                unreadable = true;
            }
        }
    }
    out.flush().context("cannot write")?;
    if changed > 0 {
        let (files, are) = if changed == 1 { ("file", "is") } else { ("files", "are") };
        term::note(&format!("{changed} {files} of {} {are} not formatted; `tumit fmt` formats them", args.files.len()));
    }
    Ok(match (unreadable, mistakes || changed > 0) {
        (true, _) => ExitStatus::CouldNotRun,
        (_, true) => ExitStatus::InputHasMistakes,
        _ => ExitStatus::Done,
    })
}

fn format(file: &str, check: bool, out: &mut impl Write) -> anyhow::Result<FormatOutcome> {
    let is_standard_input = file == "-";
    if !is_standard_input && Path::new(file).is_dir() {
        bail!("`{file}` is a folder; name the files in it, such as `{}/*.tumit`", file.trim_end_matches('/'));
    }
    let text = spec_files::text(file)?;
    let name = if is_standard_input { "<standard input>" } else { file };
    let formatted_text = match tumit::fmt::format(name, &text) {
        Ok(formatted) => formatted,
        Err(diagnostics) => {
            spec_files::print_diagnostics(&diagnostics);
            return Ok(FormatOutcome::HasMistakes);
        }
    };
    let changes = formatted_text != text;
    if check {
        if changes {
            show(name, &text, &formatted_text, out).context("cannot write")?;
            return Ok(FormatOutcome::WouldChange);
        }
    } else if is_standard_input {
        out.write_all(formatted_text.as_bytes()).context("cannot write")?;
    } else if changes {
        rewrite(Path::new(file), &formatted_text)?;
    }
    Ok(FormatOutcome::Done)
}

/// Replaces the contents of a file atomically, with the same permissions. A link remains a link.
fn rewrite(path: &Path, text: &str) -> anyhow::Result<()> {
    let target = fs::canonicalize(path).with_context(|| format!("cannot find `{}`", path.display()))?;
    let permissions = fs::metadata(&target).with_context(|| format!("cannot read `{}`", path.display()))?.permissions();
    if permissions.readonly() {
        bail!("`{}` is write-protected: change its permissions", path.display());
    }
    let mut file = OutputFile::create(&target)?;
    (&file).write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))?;
    file.set_permissions(permissions);
    file.finish()
}

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const BLUE: &str = "\x1b[36m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// Prints a unified diff, with colours on a terminal.
fn show(name: &str, old_text: &str, new_text: &str, out: &mut impl Write) -> io::Result<()> {
    let color = term::is_stdout_colored();
    let mut line = |style: &str, text: &str| {
        if color { writeln!(out, "{style}{text}{PLAIN}") } else { writeln!(out, "{text}") }
    };
    line(BOLD, &format!("--- {name}"))?;
    line(BOLD, &format!("+++ {name} (formatted)"))?;
    let diff = TextDiff::from_lines(old_text, new_text);
    for hunk in diff.unified_diff().iter_hunks() {
        line(BLUE, &hunk.header().to_string())?;
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ('-', RED),
                ChangeTag::Insert => ('+', GREEN),
                ChangeTag::Equal => (' ', ""),
            };
            let text = change.value();
            line(style, &format!("{sign}{}", text.strip_suffix('\n').unwrap_or(text)))?;
            if !text.ends_with('\n') {
                line("", "\\ No newline at end of file")?;
            }
        }
    }
    Ok(())
}
