//! `tumit check`.

use std::io::Write as _;

use anyhow::Context as _;
use tumit::{Code, Spec};

use super::Status;
use crate::{spec_files, term};

/// Checks specs and points at their mistakes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit check app.tumit            one line of summary, or the mistakes with their places
  tumit check specs/*.tumit        several at once
  tumit check -                    from standard input; `use` counts from the current folder
  tumit check --explain T0062      what a code means

Exit status: 0 all specs are right (there may be warnings), 1 one has mistakes, 2 one could not be read.")]
pub(crate) struct Args {
    /// Specs to check; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "explain")]
    files: Vec<String>,

    /// Explains a code such as T0062, instead of checking
    #[arg(long, value_name = "CODE", conflicts_with = "files")]
    explain: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Status> {
    if let Some(code) = &args.explain {
        return explain(code);
    }
    let mut out = term::stdout();
    let (mut mistakes, mut unreadable) = (false, false);
    for file in &args.files {
        match spec_files::compile(file) {
            Ok(Some(spec)) => writeln!(out, "{file}: {}", summary(&spec)).context("cannot write")?,
            Ok(None) => mistakes = true,
            Err(error) => {
                term::error(&error);
                unreadable = true;
            }
        }
    }
    out.flush().context("cannot write")?;
    Ok(match (unreadable, mistakes) {
        (true, _) => Status::CouldNotRun,
        (_, true) => Status::InputHasMistakes,
        _ => Status::Done,
    })
}

fn explain(code: &str) -> anyhow::Result<Status> {
    let found = Code::parse(code).with_context(|| format!("there is no code `{code}`; codes look like T0062"))?;
    let mut out = term::stdout();
    writeln!(out, "{found}: {}", found.explanation()).context("cannot write")?;
    out.flush().context("cannot write")?;
    Ok(Status::Done)
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
