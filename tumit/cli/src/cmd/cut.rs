//! `tumit cut`: writes a part of a run as a smaller run.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, bail};
use tumit_converter::report::loss_diagnostics;
use tumit_converter::run::keep_symbols;
use tumit_converter::tools::cut::{CutSummary, cut};

use super::exit_status::ExitStatus;
use crate::output_file::OutputFolder;
use crate::output_path::keep_inputs;
use crate::progress::ProgressDisplay;
use crate::record_filters::RecordFilters;
use crate::run_options::RunArguments;
use crate::trace_input::TraceInput;
use crate::{printed_diagnostics, term};

/// Writes a smaller run: the records of a time range, of levels, threads or a launch
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit cut run.tmt -o start.tmt --interval ..2s         the first two seconds
  tumit cut run.tmt -o mpi.tmt --level MPI               one level of all processes
  tumit cut run.tmt -o two.tmt --process 0 --process 1   two ranks, with all their threads
  tumit cut run.tmt -o first.tmt --launch 1              the first launch of a program that was run several times

Every filter can be repeated: a record is kept if it matches one value of each filter. Records, clocks and names do not
change. If only one endpoint of a message is kept, the other one counts as missing. The result reports missing and damaged
records of the run at the same position. Time ranges refer to the timestamps that `tumit convert` and `tumit dump` show. The
result does not contain the begin of states that are open at the start of a time range: these states only end.

Exit status: 0 success, 1 the run has dropped, missing or damaged data (the rest was cut), or a time range was given and clocks
were stepped or contradict each other, 2 could not run.")]
pub(crate) struct Args {
    /// The run: a folder NAME.tmt, or one of its process files
    #[arg(value_name = "RUN")]
    input: PathBuf,

    /// Folder of the smaller run, NAME.tmt; it must be new
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    #[command(flatten)]
    filters: RecordFilters,

    #[command(flatten)]
    run: RunArguments,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    if args.filters.is_empty() && !args.run.launch.is_given() {
        bail!(
            "no filter is given: name the records to keep by `--interval`, `--level`, `--event`, `--process`, `--thread` or `--launch`"
        );
    }
    keep_inputs(&args.output, [args.input.as_path()])?;
    let input = TraceInput::open(&args.input)?;
    let run = args.run.open(&input)?;
    let selection = args.filters.selection(&run)?;
    let mut options = args.run.options();
    if !args.run.accepts(&input, &options)? {
        return Ok(ExitStatus::InputHasMistakes);
    }
    let folder = OutputFolder::create(&args.output)?;
    let bar = ProgressDisplay::new("{human_len} records");
    options.progress = bar.callback();
    let summary = cut(&run, &options, &selection, folder.path())?;
    drop(bar);
    let CutSummary { processes, streams, written_records, left_out, unreadable_records, errors, .. } = summary;
    if processes == 0 {
        bail!("no process or thread of `{}` matches the filters: `tumit info` lists them", args.input.display());
    }
    keep_symbols(folder.path(), [run.symbols()])?;
    folder.finish()?;
    let mut out = term::stdout();
    writeln!(
        out,
        "{}: {written_records} records of {processes} processes and {streams} threads; {left_out} left out",
        args.output.display()
    )
    .and_then(|()| out.flush())
    .context("cannot write")?;
    printed_diagnostics::print(&run.launch_diagnostic().filter(|_| !args.run.launch.is_given()));
    let losses = run.losses();
    printed_diagnostics::print(&loss_diagnostics(&losses));
    printed_diagnostics::print(&errors);
    if unreadable_records > 0 {
        term::note(&format!("tumit: {unreadable_records} records could not be read and are left out"));
    }
    let is_good = losses.is_empty() && unreadable_records == 0 && errors.is_empty();
    Ok(if is_good { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}
