//! `tumit convert`.

mod entities;
mod paje_text;
mod style;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use tumit_converter::convert::{ConvertError, ConvertOptions, convert, convert_to_text, own_paje_output};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_paje::read::parts_of;
use tumit_paje::write::{PajeStyle, in_style};
use tumit_viewer::tables::TableFormat;

use super::check::is_paje;
use super::exit_status::ExitStatus;
use crate::output_file::OutputFile;
use crate::output_path::keep_inputs;
use crate::progress::ProgressDisplay;
use crate::run_options::{ClockOptions, ConvertChoices, LaunchChoice, ResourceOptions, is_mistake};
use crate::trace_input::TraceInput;
use crate::view_filters::FilterOptions;
use crate::{diagnostics, term};

/// Converts runs to Pajé or other text, repairs Pajé files, and writes both as tables of entities
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit convert run.tmt -o run.paje                    by the rules of the recorded spec, clocks corrected
  tumit convert run.tmt -o - | pj_dump                 to standard output
  tumit convert run.tmt --rules other.tumit -o x.paje  an old run with other rules
  tumit convert run.tmt -o x.paje --unit ms --precision 3 --header old  for a reader that needs these
  tumit convert run.tmt --text-output by-hand -o run.txt  the lines of `output text \"by-hand\"` of the spec
  tumit convert run.tmt -o run.csv                     containers, states, events, variables, links: a row each
  tumit convert run.paje -o run.json                   the same as JSON, an object per line; IN may be any Pajé file
  tumit convert x.paje -o y.paje --filter 'hide value Wait*'  Pajé text in order of time, repaired, filtered
  tumit convert run.paje -o - --pj-dump                the rows of `pj_dump -l 9 -e 1e300`
  tumit convert millis.paje --unit ms -o run.csv       a Pajé file with timestamps in milliseconds

Rows are in the order in which entities end; docs/entities.md describes the columns. The file gets its name only when it is
complete. Dropped, missing and damaged data and repairs are reported on standard error.
Exit status: 0 success, 1 the run has dropped, missing or damaged data (the rest was converted), 2 could not run.")]
pub(crate) struct Args {
    /// The run (a folder NAME.tmt or one of its process files), or a Pajé file
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// Output file, which ends in .paje, .trace, .csv, .json or .jsonl; - is standard output
    #[arg(short, long = "output", alias = "out", value_name = "FILE")]
    out: PathBuf,

    /// Format of the output [default: by the ending of the file; paje for standard output]
    #[arg(long, value_enum, conflicts_with = "pj_dump")]
    format: Option<OutputFormat>,

    /// Writes the rows of `pj_dump -l 9 -e 1e300` with the same digits, in the order in which
    /// entities end
    #[arg(long)]
    pj_dump: bool,

    /// Appends the user's fields to the rows of --pj-dump, as `pj_dump -u` does
    #[arg(long, requires = "pj_dump")]
    user_fields: bool,

    /// Writes the parent of each container and entity type to FILE, as `pj_dump --entity-hierarchy`
    /// does
    #[arg(long, value_name = "FILE", requires = "pj_dump")]
    entity_hierarchy: Option<PathBuf>,

    /// Writes the parent of each type and value to FILE, as `pj_dump --type-hierarchy` does
    #[arg(long, value_name = "FILE", requires = "pj_dump")]
    type_hierarchy: Option<PathBuf>,

    /// Writes timestamps of tables as the time of day in UTC: 2026-11-25T13:18:31.000000042Z; for
    /// runs only
    #[arg(long, conflicts_with = "pj_dump")]
    wall_clock: bool,

    #[command(flatten)]
    launch: LaunchChoice,

    #[command(flatten)]
    dating: ClockOptions,

    /// Uses the rules of this spec instead of the recorded ones
    #[arg(long, value_name = "SPEC")]
    rules: Option<String>,

    /// Writes this text output of the spec instead of the result of its rules; for tables, the
    /// output must be Pajé text
    #[arg(long, value_name = "NAME")]
    text_output: Option<String>,

    #[command(flatten)]
    resources: ResourceOptions,

    #[command(flatten)]
    style: style::PajeStyleOptions,

    #[command(flatten)]
    filters: FilterOptions,
}

impl Args {
    fn convert_choices(&self) -> ConvertChoices<'_> {
        ConvertChoices {
            dating: self.dating,
            resources: self.resources,
            rules: self.rules.as_deref(),
            text_output: self.text_output.as_deref(),
        }
    }
}

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OutputFormat {
    /// Pajé text, or the lines of --text-output
    Paje,
    /// A table of all containers and entities
    Csv,
    /// A JSON object per container or entity, each on its own line
    Json,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let format = format(args)?;
    let rules = args.rules.as_deref().map(Path::new);
    refuse_to_overwrite_inputs(args, &std::iter::once(args.input.as_path()).chain(rules).collect::<Vec<_>>())?;
    let input = &TraceInput::open(&args.input)?;
    // The command that reads the trace reports its errors.
    let parts = parts_of(input.path()).unwrap_or_default();
    refuse_to_overwrite_inputs(args, &parts.iter().filter_map(|part| part.path.as_deref()).collect::<Vec<_>>())?;
    if let Some(table) = table_format(args, format) {
        anyhow::ensure!(
            args.filters.is_empty(),
            "filters need Pajé text as output: write the filtered trace to a .paje file, and convert that to a table"
        );
        return entities::run(args, input, table);
    }
    if args.wall_clock {
        bail!("--wall-clock needs a table as output: name a file that ends in .csv or .json");
    }
    let chain = args.filters.chain(std::slice::from_ref(&args.input))?;
    if is_paje(input.path()) || !chain.filters.is_empty() {
        return paje_text::run(args, input, &chain);
    }
    convert_run(args, input)
}

/// The format of the table of entities. `None` for Pajé text or another text.
fn table_format(args: &Args, format: OutputFormat) -> Option<TableFormat> {
    match format {
        _ if args.user_fields => Some(TableFormat::PjDumpWithFields),
        _ if args.pj_dump => Some(TableFormat::PjDump),
        OutputFormat::Csv => Some(TableFormat::Csv),
        OutputFormat::Json => Some(TableFormat::Json),
        OutputFormat::Paje => None,
    }
}

/// Converts a run to text, without filters.
fn convert_run(args: &Args, input: &TraceInput) -> anyhow::Result<ExitStatus> {
    let Some(mut options) = args.convert_choices().options()? else { return Ok(ExitStatus::InputHasMistakes) };
    let recorded = OpenRun::open_launches(input.path(), args.launch.launches())?;
    if options.output.is_none() && options.rules.is_none() {
        options.output = own_paje_output(&recorded);
    }
    if let Some(output) = &options.output {
        args.style
            .refuse_all(&format!("needs Pajé text from rules as output; the spec defines the lines of `{output}`"))?;
    }
    let style = args.style.text_style();
    let bar = ProgressDisplay::new("{human_len} records");
    options.progress = bar.callback();
    let result = if args.out.as_os_str() == "-" {
        write(&recorded, &options, style, &mut term::stdout())
    } else {
        let file = OutputFile::create(&args.out)?;
        match write(&recorded, &options, style, &mut &file) {
            Ok(written) => file.finish().map(|()| Ok(written))?,
            Err(error) => Err(error),
        }
    };
    drop(bar);
    let (report, changed) = match result {
        Ok(written) => written,
        Err(error) if is_mistake(&error) => {
            term::error(&error.into());
            return Ok(ExitStatus::InputHasMistakes);
        }
        Err(error) => return Err(with_output_name(error, &args.out)),
    };
    diagnostics::print(&report.all_diagnostics());
    note_changed_texts(changed);
    Ok(if report.is_clean() { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}

/// Refuses outputs that would replace an input.
fn refuse_to_overwrite_inputs(args: &Args, inputs: &[&Path]) -> anyhow::Result<()> {
    let tables = [&args.entity_hierarchy, &args.type_hierarchy].into_iter().flatten();
    for target in tables.chain(Some(&args.out).filter(|out| out.as_os_str() != "-")) {
        keep_inputs(target, inputs.iter().copied())?;
    }
    Ok(())
}

/// Adds the name of the file that could not be written.
fn with_output_name(error: ConvertError, out: &Path) -> anyhow::Error {
    match error {
        ConvertError::Write(source) if out.as_os_str() == "-" => {
            anyhow::Error::new(source).context("cannot write to standard output")
        }
        ConvertError::Write(source) => anyhow::Error::new(source).context(format!("cannot write `{}`", out.display())),
        error => error.into(),
    }
}

/// Warns about texts that Pajé cannot represent unchanged.
fn note_changed_texts(count: u64) {
    if count > 0 {
        let texts = if count == 1 { "text was" } else { "texts were" };
        term::note(&format!(
            "tumit: {count} {texts} changed, because Pajé has no escapes: `\"` is written as `'`, `,` as `;`, a control \
             character as a blank, and long texts are truncated"
        ));
    }
}

/// Writes a run. Returns the report and the number of changed texts.
fn write(
    run: &OpenRun,
    options: &ConvertOptions,
    style: PajeStyle,
    out: &mut dyn Write,
) -> Result<(ConversionReport, u64), ConvertError> {
    if options.output.is_some() {
        let mut buffered = std::io::BufWriter::with_capacity(1 << 16, out);
        let report = convert_to_text(run, options, &mut buffered)?;
        buffered.flush()?;
        return Ok((report, 0));
    }
    let mut sink = in_style(out, style);
    let report = convert(run, options, &mut *sink)?;
    Ok((report, sink.changed_texts()))
}

/// The format of the output: the requested one, or that of the ending of the file.
fn format(args: &Args) -> anyhow::Result<OutputFormat> {
    let ending = args.out.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    match (args.format, ending) {
        (Some(format), _) => Ok(format),
        // A text output can have any ending.
        (None, "paje" | "trace") if args.pj_dump => bail!(
            "--pj-dump writes rows, but the name `{}` is that of a Pajé file: name it .csv or .txt",
            args.out.display()
        ),
        (None, _) if args.text_output.is_some() => Ok(OutputFormat::Paje),
        (None, "csv") => Ok(OutputFormat::Csv),
        (None, "json" | "jsonl" | "ndjson") => Ok(OutputFormat::Json),
        (None, "paje" | "trace") => Ok(OutputFormat::Paje),
        _ if args.pj_dump || args.out.as_os_str() == "-" => Ok(OutputFormat::Paje),
        _ => bail!(
            "the ending of `{}` gives no format: expected .paje, .trace, .csv, .json or .jsonl (or - for standard \
             output); or name the format with --format",
            args.out.display()
        ),
    }
}
