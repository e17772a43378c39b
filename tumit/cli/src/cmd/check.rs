//! `tumit check`.

mod json;

use std::io::Write as _;

use anyhow::Context as _;
use clap::ValueHint;
use tumit::Spec;

use super::Status;
use crate::{spec_files, term};

/// Checks specs and points at their mistakes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit check app.tumit            one line of summary, or the mistakes with their places
  tumit check specs/*.tumit        several at once
  tumit check -                    from standard input; `use` counts from the current folder
  tumit check --json app.tumit     for editors: one JSON object per line; docs/check-json.md has their fields
  tumit explain T0062              what a code means

Exit status: 0 all specs are right (there may be warnings), 1 one has mistakes, 2 one could not be read.")]
pub(crate) struct Args {
    /// Specs to check; `-` is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<String>,

    /// Writes what was found as JSON to standard output: an object per finding, then one per file, each on its line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Status> {
    let mut out = term::stdout();
    let (mut mistakes, mut unreadable) = (false, false);
    for file in &args.files {
        let found = if args.json { as_json(file, &mut out)? } else { as_text(file, &mut out)? };
        mistakes |= found == Status::InputHasMistakes;
        unreadable |= found == Status::CouldNotRun;
    }
    out.flush().context("cannot write")?;
    Ok(match (unreadable, mistakes) {
        (true, _) => Status::CouldNotRun,
        (_, true) => Status::InputHasMistakes,
        _ => Status::Done,
    })
}

fn as_text(file: &str, out: &mut impl std::io::Write) -> anyhow::Result<Status> {
    match spec_files::compile(file) {
        Ok(Some(spec)) => {
            writeln!(out, "{file}: {}", summary(&spec)).context("cannot write")?;
            Ok(Status::Done)
        }
        Ok(None) => Ok(Status::InputHasMistakes),
        Err(error) => {
            term::error(&error);
            Ok(Status::CouldNotRun)
        }
    }
}

fn as_json(file: &str, out: &mut impl std::io::Write) -> anyhow::Result<Status> {
    let (lines, status) = match spec_files::compile_quietly(file) {
        Ok((spec, diagnostics)) => {
            let status = if spec.is_some() { Status::Done } else { Status::InputHasMistakes };
            (json::lines(file, spec.as_ref(), &diagnostics)?, status)
        }
        Err(error) => (json::unreadable(file, &format!("{error:#}"))?, Status::CouldNotRun),
    };
    out.write_all(lines.as_bytes()).context("cannot write")?;
    Ok(status)
}

/// One line that says what a spec holds.
fn summary(spec: &Spec) -> String {
    let events = spec.records.len() - 2 * spec.spans.len();
    let ruled = spec.rules.iter().filter(|actions| !actions.is_empty()).count();
    let mut parts = vec![count(events, "event")];
    if !spec.spans.is_empty() {
        parts.push(count(spec.spans.len(), "span"));
    }
    parts.push(count(spec.levels.len(), "level"));
    parts.push(count(spec.containers.len() + spec.entities.len(), "type"));
    parts.push(format!("rules for {ruled} of {}", count(spec.records.len(), "kind")) + " of record");
    if !spec.outputs.is_empty() {
        parts.push(count(spec.outputs.len(), "text output"));
    }
    format!("`{}` is right: {}", spec.name, parts.join(", "))
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
