//! `tumit check`: reports the mistakes of specs and Pajé files.

mod check_json;
mod finding_counts;
mod older_spec;
mod paje_check;
mod picl_check;

use finding_counts::finding_count;
pub(super) use paje_check::is_paje;
pub(super) use picl_check::picl_format;

use std::io::Write as _;

use anyhow::Context as _;
use clap::ValueHint;
use tumit::{Diagnostics, Spec};

use super::exit_status::ExitStatus;
use crate::option_values::time_unit::TimeUnitChoice;
use crate::trace_input::TraceInput;
use crate::{spec_files, term};

/// Checks specs and traces (Pajé, PICL, Alog), and reports their mistakes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit check app.tumit            a summary in one line, or the mistakes with their positions
  tumit check specs/*.tumit        several files
  tumit check -                    a spec or a Pajé file from standard input; paths of `use` start at the current folder
  tumit check --json app.tumit     for editors: one JSON object per line; docs/check-json.md describes the fields
  tumit check new.tumit --since run.tmt    are the traces of the older spec still shown?
  tumit explain T0062              explains a code
  tumit check run.paje             a Pajé file of any tool: each kind of mistake with its first line
  tumit check --strict run.paje    stops at the first line that some readers cannot read

Exit status: 0 all files are correct (warnings are possible), 1 a file has mistakes, 2 a file could not be read.")]
pub(crate) struct Args {
    /// Specs, Pajé files and PICL traces to check, compressed or not; `-` is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<String>,

    /// Writes the findings as JSON to standard output: an object per finding, then one per file,
    /// each on its own line
    #[arg(long)]
    json: bool,

    /// For traces: ends at the first problem; a construct that other readers reject is a problem,
    /// too
    #[arg(long)]
    strict: bool,

    /// For Pajé files: the unit of their timestamps, because the text does not name it [default: s,
    /// with a warning if that is doubtful]
    #[arg(long, value_enum)]
    unit: Option<TimeUnitChoice>,

    /// Also reports all parts of this older spec, or of a run with an older spec, that the rules of
    /// the new spec no longer show
    #[arg(long, value_name = "SPEC|RUN", value_hint = ValueHint::AnyPath)]
    since: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let mut out = term::stdout();
    let (mut mistakes, mut unreadable) = (false, false);
    for file in &args.files {
        let input = match TraceInput::open_any(file.as_ref()) {
            Ok(input) => input,
            Err(error) => {
                if args.json {
                    let line = check_json::unreadable_file_line(file, &format!("{error:#}"))?;
                    out.write_all(line.as_bytes()).context("cannot write")?;
                } else {
                    term::error(&error);
                }
                unreadable = true;
                continue;
            }
        };
        if picl_format(input.path()).is_some() || is_paje(input.path()) || (input.is_copy() && paje_name(file)) {
            let severity = check_paje(file, &input, args, &mut out)?;
            mistakes |= severity == ExitStatus::InputHasMistakes;
            unreadable |= severity == ExitStatus::CouldNotRun;
            continue;
        }
        let compiled = compile(input.spec_path(file), args.since.as_deref());
        let severity = if args.json { as_json(file, compiled, &mut out)? } else { as_text(file, compiled, &mut out)? };
        mistakes |= severity == ExitStatus::InputHasMistakes;
        unreadable |= severity == ExitStatus::CouldNotRun;
    }
    out.flush().context("cannot write")?;
    Ok(match (unreadable, mistakes) {
        (true, _) => ExitStatus::CouldNotRun,
        (_, true) => ExitStatus::InputHasMistakes,
        _ => ExitStatus::Done,
    })
}

/// Whether the name is that of Pajé text, compressed or not.
fn paje_name(file: &str) -> bool {
    let name = [".gz", ".zst", ".bz2", ".xz"].iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file);
    name.ends_with(".paje") || name.ends_with(".trace")
}

fn check_paje(
    file: &str,
    input: &TraceInput,
    args: &Args,
    out: &mut impl std::io::Write,
) -> anyhow::Result<ExitStatus> {
    let report = match picl_format(input.path()) {
        Some(format) => picl_check::check((file, input.path()), format, args.strict),
        None => paje_check::check((file, input.path()), args.unit, args.strict),
    };
    let (text, status) = match report {
        Ok(report) if args.json => (check_json::paje_lines(file, &report)?, report.status(args.strict)),
        Ok(report) => (report.text(file), report.status(args.strict)),
        Err(error) if args.json => {
            (check_json::unreadable_file_line(file, &format!("{error:#}"))?, ExitStatus::CouldNotRun)
        }
        Err(error) => {
            term::error(&error);
            return Ok(ExitStatus::CouldNotRun);
        }
    };
    out.write_all(text.as_bytes()).context("cannot write")?;
    Ok(status)
}

type CheckResult = anyhow::Result<(Option<Spec>, Diagnostics)>;

fn compile(file: &str, older_path: Option<&str>) -> CheckResult {
    let result = spec_files::compile_quietly(file, None)?;
    let (Some(older_path), Some(spec)) = (older_path, &result.0) else { return Ok(result) };
    spec_files::compile_quietly(file, Some(&older_spec::read_older_spec(older_path, &spec.name)?))
}

fn as_text(file: &str, result: CheckResult, out: &mut impl std::io::Write) -> anyhow::Result<ExitStatus> {
    match result {
        Ok((spec, diagnostics)) => {
            spec_files::print_diagnostics(&diagnostics);
            let Some(spec) = spec else { return Ok(ExitStatus::InputHasMistakes) };
            writeln!(out, "{file}: {}", summary(&spec)).context("cannot write")?;
            Ok(ExitStatus::Done)
        }
        Err(error) => {
            term::error(&error);
            Ok(ExitStatus::CouldNotRun)
        }
    }
}

fn as_json(file: &str, result: CheckResult, out: &mut impl std::io::Write) -> anyhow::Result<ExitStatus> {
    let (lines, status) = match result {
        Ok((spec, diagnostics)) => {
            let status = if spec.is_some() { ExitStatus::Done } else { ExitStatus::InputHasMistakes };
            (check_json::lines(file, spec.as_ref(), &diagnostics)?, status)
        }
        Err(error) => (check_json::unreadable_file_line(file, &format!("{error:#}"))?, ExitStatus::CouldNotRun),
    };
    out.write_all(lines.as_bytes()).context("cannot write")?;
    Ok(status)
}

/// A summary of the contents of a spec in one line.
fn summary(spec: &Spec) -> String {
    let events = spec.events();
    let ruled = spec.rules.iter().filter(|actions| !actions.is_empty()).count();
    let mut parts = vec![finding_count(events, "event")];
    if !spec.spans.is_empty() {
        parts.push(finding_count(spec.spans.len(), "span"));
    }
    parts.push(finding_count(spec.levels.len(), "level"));
    parts.push(finding_count(spec.containers.len() + spec.entities.len(), "type"));
    parts.push(format!("rules for {ruled} of {}", finding_count(spec.first_absent_end(), "kind")) + " of record");
    if !spec.outputs.is_empty() {
        parts.push(finding_count(spec.outputs.len(), "text output"));
    }
    format!("`{}` is correct: {}", spec.name, parts.join(", "))
}
