//! `tumit merge`: joins runs into one.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use indexmap::IndexMap;
use tumit_converter::convert::ConvertError;
use tumit_converter::convert::launches::LaunchSelection;
use tumit_converter::report::loss_diagnostics;
use tumit_converter::run::ProcessInRun;
use tumit_converter::run::output_permissions;
use tumit_converter::run::{Loss, OpenRun, keep_symbols};
use tumit_converter::tools::join;
use tumit_converter::tools::sort::sort;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

use super::exit_status::ExitStatus;
use crate::output_file::OutputFolder;
use crate::output_path::keep_inputs;
use crate::progress::ProgressDisplay;
use crate::run_options::{ClockOptions, ResourceOptions, StrictOption, options};
use crate::trace_input::TraceInput;
use crate::{printed_diagnostics, term};

/// Joins runs into one, such as the parts of a job that were recorded into several folders
#[derive(Debug, clap::Args)]
#[command(mut_arg("clock", |arg| arg.requires("sort")), mut_arg("causal", |arg| arg.requires("sort")))]
#[command(mut_arg("threads", |arg| arg.requires("sort")), mut_arg("memory", |arg| arg.requires("sort")))]
#[command(after_help = "\
Each node of a cluster may record into a separate folder on its own disk. The joined processes are one run: messages between
them are paired and their clocks are corrected. The given runs do not change. All launches of a run folder are joined into one
launch; `tumit cut --launch N` extracts one launch before.

The live file of a killed process is found in the folder that TUMIT_LIVE named. If the file was moved, name it as another RUN.

Examples:
  tumit merge node1.tmt node2.tmt -o job.tmt
  tumit merge /scratch/*/job-4711.tmt -o job-4711.tmt
  tumit dump job.tmt --json                            all records in one stream, in order of time
  tumit merge job.tmt -o sorted.tmt --sort             one file in order of time, clocks corrected

With --sort the joined run is one file with blocks in order of time: a reader that keeps a megabyte of records in memory sees all
records in order. Timestamps are those of the corrected time line, so the run needs no clock samples. Processes and threads do
not change.

Exit status: 0 success, 1 the runs have dropped, missing or damaged data (the rest was joined), 2 could not run.")]
pub(crate) struct Args {
    /// The runs: folders NAME.tmt, or process files
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    inputs: Vec<PathBuf>,

    /// Folder of the joined run, NAME.tmt; it must be new
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// Writes one file in order of time, with corrected timestamps
    #[arg(long)]
    sort: bool,

    #[command(flatten, next_help_heading = "With --sort")]
    clock_options: ClockOptions,

    #[command(flatten, next_help_heading = "With --sort")]
    resources: ResourceOptions,

    #[command(flatten)]
    strict: StrictOption,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    keep_inputs(&args.output, args.inputs.iter().map(PathBuf::as_path))?;
    let inputs: Vec<TraceInput> = args.inputs.iter().map(|input| TraceInput::open(input)).collect::<Result<_, _>>()?;
    let mut runs = Vec::new();
    for input in &inputs {
        if !args.strict.accepts_run(input, &options(args.clock_options, args.resources), LaunchSelection::All)? {
            return Ok(ExitStatus::InputHasMistakes);
        }
        runs.push(OpenRun::open_launches(input.path(), LaunchSelection::All)?);
    }
    OpenRun::adopt_live_files(&mut runs)?;
    check_distinct_processes(&runs)?;
    let folder = OutputFolder::create(&args.output)?;
    // The result does not have the unreadable pieces of the inputs.
    let mut reported: Vec<TraceDiagnostic> = runs.iter().flat_map(|run| run.unreadable_files.iter().cloned()).collect();
    let is_changed = join::mark_as_merged(&mut runs);
    if args.sort {
        reported.extend(write_sorted(args, runs, folder.path())?);
    } else {
        // A sorted file contains several processes.
        let mut files: IndexMap<&Path, Vec<&ProcessInRun>> = IndexMap::new();
        for process in runs.iter().flat_map(|run| &run.processes) {
            files.entry(&process.path).or_default().push(process);
        }
        for processes in files.values() {
            copy(processes, is_changed, folder.path())?;
        }
        keep_symbols(folder.path(), runs.iter().map(OpenRun::symbols))?;
    }
    folder.finish()?;
    let merged_run = OpenRun::open_launches(&args.output, LaunchSelection::All)?;
    let mut out = term::stdout();
    let records: u64 =
        merged_run.processes.iter().flat_map(|p| &p.streams).map(tumit_converter::run::StreamInRun::records).sum();
    let count = merged_run.processes.len();
    writeln!(out, "{}: {count} processes, {records} records", args.output.display())
        .and_then(|()| out.flush())
        .context("cannot write")?;
    let mut errors = loss_diagnostics(&merged_run.losses());
    errors.extend(reported);
    printed_diagnostics::print(&errors);
    Ok(if errors.is_empty() { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}

/// Rejects a process that occurs twice.
fn check_distinct_processes(runs: &[OpenRun]) -> anyhow::Result<()> {
    let mut distinct: Vec<&ProcessInRun> = Vec::new();
    for process in runs.iter().flat_map(|run| &run.processes) {
        if let Some(other) = distinct.iter().find(|other| other.id == process.id && process.id != [0; 16]) {
            let other: &ProcessInRun = other;
            if let Some((live, complete)) =
                [(process, other), (other, process)].into_iter().find(|(live, _)| live.live_alone)
            {
                bail!(
                    "`{}` is the live file of a process whose file `{}` is already complete: leave the live file out",
                    live.path.display(),
                    complete.path.display()
                );
            }
            let other = other.path.as_path();
            bail!(
                "`{}` and `{}` are files of the same process: leave one out; `tumit info` shows which has more records",
                other.display(),
                process.path.display()
            );
        }
        distinct.push(process);
    }
    Ok(())
}

/// Writes all processes into one file, in order of their timestamps. Prints warnings and notes, and
/// returns the errors.
fn write_sorted(args: &Args, runs: Vec<OpenRun>, folder: &Path) -> anyhow::Result<Vec<TraceDiagnostic>> {
    let run = OpenRun::join(runs);
    let path = folder.join("sorted.tmt");
    let file = output_permissions::create_new(&path).with_context(|| format!("cannot write `{}`", path.display()))?;
    let mut options = options(args.clock_options, args.resources);
    let bar = ProgressDisplay::new("{human_len} records");
    options.progress = bar.callback();
    let out = BufWriter::with_capacity(1 << 20, file);
    let summary = sort(&run, &options, out).map_err(|error| match error {
        ConvertError::Write(source) => anyhow::Error::new(source).context(format!("cannot write `{}`", path.display())),
        other => other.into(),
    })?;
    drop(bar);
    let (clock_errors, other_errors): (Vec<_>, Vec<_>) =
        summary.diagnostics.into_iter().partition(TraceDiagnostic::is_error);
    printed_diagnostics::print(&other_errors);
    // The result itself records the dropped records of a process and its missing blocks.
    let is_absent_in_result = |loss: &Loss| {
        use Loss::{Dropped, MissingBlocks, MissingPart, MissingRecords, NotEnded, Unreadable};
        !matches!(
            loss,
            Dropped { .. }
                | MissingBlocks { .. }
                | MissingPart { .. }
                | MissingRecords { .. }
                | NotEnded { .. }
                | Unreadable { .. }
        )
    };
    let losses: Vec<Loss> = run.losses().into_iter().filter(is_absent_in_result).collect();
    let mut errors = loss_diagnostics(&losses);
    errors.extend(clock_errors);
    if summary.unreadable_records > 0 {
        let text = format!("{} records could not be decoded and are left out", summary.unreadable_records);
        errors.push(TraceDiagnostic::error(DiagnosticKind::Damage, text));
    }
    Ok(errors)
}

/// Copies the file of `processes`: several if it is a sorted file. The copy includes the contents
/// of the live file. If `is_changed`, the ids of the merged run are added.
fn copy(processes: &[&ProcessInRun], is_changed: bool, folder: &Path) -> anyhow::Result<()> {
    let source = &processes[0].path;
    // The name of a copied pipe is meaningless.
    let stem = source.file_stem().filter(|_| source.extension().is_some());
    let stem = stem.map_or_else(|| "process".into(), |stem| stem.to_string_lossy());
    let target = (1u32..)
        .map(|number| folder.join(if number == 1 { format!("{stem}.tmt") } else { format!("{stem}-{number}.tmt") }))
        .find(|path| !path.exists())
        .context("no name is left")?;
    let context = || format!("cannot write `{}`", target.display());
    if !is_changed && processes[0].live.is_none() {
        fs::copy(source, &target).with_context(context)?;
        return Ok(());
    }
    let mut file = BufWriter::with_capacity(1 << 20, output_permissions::create_new(&target).with_context(context)?);
    join::copy_with_merged_run(processes, &mut file).with_context(|| format!("cannot copy `{}`", source.display()))?;
    file.flush().with_context(context)
}
