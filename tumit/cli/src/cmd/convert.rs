//! `tumit convert`: converts runs and Pajé files to Pajé, other text or tables.

mod args;
mod entity_tables;
mod messages;
mod paje_style;
mod paje_text;
mod picl_text;
mod text_style;

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use tumit_converter::convert::{ConvertError, ConvertOptions, convert, convert_to_text, own_paje_output};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_paje::read::parts_of;
use tumit_viewer::tables::TableFormat;

pub(crate) use args::Args;
use args::OutputFormat;
use messages::with_output_name;
use text_style::{OutputChanges, TextStyle};

use super::check::{is_paje, picl_format};
use super::exit_status::ExitStatus;
use crate::output_file::OutputFile;
use crate::output_path::keep_inputs;
use crate::progress::ProgressDisplay;
use crate::run_options::is_mistake;
use crate::trace_input::TraceInput;
use crate::{printed_diagnostics, term};

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
        return entity_tables::run(args, input, table);
    }
    if args.wall_clock {
        bail!("--wall-clock needs a table as output: name a file that ends in .csv or .json");
    }
    let chain = args.filters.chain(std::slice::from_ref(&args.input))?;
    if let Some(picl) = picl_format(input.path()).filter(|_| chain.filters.is_empty()) {
        return picl_text::run(args, input, picl, TextStyle::new(args.style, format)?);
    }
    if is_paje(input.path()) || !chain.filters.is_empty() {
        return paje_text::run(args, input, &chain, format);
    }
    convert_run(args, input, format)
}

/// The format of the table of entities. `None` for Pajé text or another text.
fn table_format(args: &Args, format: OutputFormat) -> Option<TableFormat> {
    match format {
        _ if args.user_fields => Some(TableFormat::PjDumpWithFields),
        _ if args.pj_dump => Some(TableFormat::PjDump),
        OutputFormat::Csv => Some(TableFormat::Csv),
        OutputFormat::Json => Some(TableFormat::Json),
        OutputFormat::Paje | OutputFormat::Picl | OutputFormat::PiclOld | OutputFormat::PiclVerbose => None,
    }
}

/// Converts a run to text, without filters.
fn convert_run(args: &Args, input: &TraceInput, format: OutputFormat) -> anyhow::Result<ExitStatus> {
    let Some(mut options) = args.convert_choices().options()? else { return Ok(ExitStatus::InputHasMistakes) };
    let run = OpenRun::open_launches(input.path(), args.launch.launches())?;
    if options.output.is_none() && options.rules.is_none() {
        options.output = own_paje_output(&run);
    }
    if let Some(output) = &options.output {
        anyhow::ensure!(format.picl().is_none(), "PICL needs rules; the spec defines the lines of `{output}`");
        args.style
            .refuse_all(&format!("needs Pajé text from rules as output; the spec defines the lines of `{output}`"))?;
    }
    let style = TextStyle::new(args.style, format)?;
    if !args.strict.accepts_run(input, &options, args.launch.launches())? {
        return Ok(ExitStatus::InputHasMistakes);
    }
    let bar = ProgressDisplay::new("{human_len} records");
    options.progress = bar.callback();
    let result = if args.out.as_os_str() == "-" {
        write(&run, &options, style, &mut term::stdout())
    } else {
        let file = OutputFile::create(&args.out)?;
        match write(&run, &options, style, &mut &file) {
            Ok(written) => file.finish().map(|()| Ok(written))?,
            Err(error) => Err(error),
        }
    };
    drop(bar);
    let (report, changes) = match result {
        Ok(written) => written,
        Err(error) if is_mistake(&error) => {
            term::error(&error.into());
            return Ok(ExitStatus::InputHasMistakes);
        }
        Err(error) => return Err(with_output_name(error, &args.out)),
    };
    printed_diagnostics::print(&report.all_diagnostics());
    // The report has the number of links without an end.
    changes.print(0);
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

/// Writes a run. Returns the report, and the differences between the run and the output.
fn write(
    run: &OpenRun,
    options: &ConvertOptions,
    style: TextStyle,
    out: &mut dyn Write,
) -> Result<(ConversionReport, OutputChanges), ConvertError> {
    if options.output.is_some() {
        let mut buffered = std::io::BufWriter::with_capacity(1 << 16, out);
        let report = convert_to_text(run, options, &mut buffered)?;
        buffered.flush()?;
        return Ok((report, OutputChanges::Texts(0)));
    }
    style.write(out, |sink| convert(run, options, sink))
}

/// The format of the output: the requested one, or that of the ending of the file.
fn format(args: &Args) -> anyhow::Result<OutputFormat> {
    let extension = args.out.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    match (args.format, extension) {
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
        (None, "picl") if !args.pj_dump => Ok(OutputFormat::Picl),
        _ if args.pj_dump || args.out.as_os_str() == "-" => Ok(OutputFormat::Paje),
        _ => bail!(
            "the ending of `{}` gives no format: expected .paje, .trace, .picl, .csv, .json or .jsonl (or - for standard \
             output); or name the format with --format",
            args.out.display()
        ),
    }
}
