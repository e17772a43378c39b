//! `tumit merge`.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use converter::input::Process;
use converter::repair;
use converter::run::Run;

use super::Status;
use crate::output_file::OutputFolder;
use crate::term;

/// Joins runs into one: the parts of a job that were recorded into several folders
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each node of a cluster may have recorded into a folder of its own, on its own disk. Joined, their processes are
one run: messages between them are paired and clocks are brought together. The given runs stay as they are.

Examples:
  tumit merge node1.tmt node2.tmt -o job.tmt
  tumit merge /scratch/*/job-4711.tmt -o job-4711.tmt
  tumit dump job.tmt --json                            all records in one stream, in order of date

Exit status: 0 done, 1 something is missing or damaged (the rest was joined), 2 could not run.")]
pub(crate) struct Args {
    /// The runs: folders NAME.tmt, or process files
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    inputs: Vec<PathBuf>,

    /// The folder of the joined run, NAME.tmt; it must be new
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Status> {
    let mut runs = Vec::new();
    for input in &args.inputs {
        runs.push(Run::open(input)?);
    }
    let folder = OutputFolder::create(&args.output)?;
    let mut known: Vec<([u8; 16], &Path)> = Vec::new();
    for process in runs.iter().flat_map(|run| &run.processes) {
        if let Some((_, other)) = known.iter().find(|(id, _)| *id == process.id && process.id != [0; 16]) {
            bail!(
                "`{}` and `{}` are of one process: leave one out, or see with `tumit info` which has more",
                other.display(),
                process.path.display()
            );
        }
        known.push((process.id, &process.path));
        take(process, folder.path())?;
    }
    folder.finish()?;
    let joined = Run::open(&args.output)?;
    let mut out = term::stdout();
    let records: u64 = joined.processes.iter().flat_map(|p| &p.streams).map(converter::input::Stream::records).sum();
    let count = joined.processes.len();
    writeln!(out, "{}: {count} processes, {records} records", args.output.display())
        .and_then(|()| out.flush())
        .context("cannot write")?;
    // What could not be read of the parts is not in the whole.
    let mut losses: Vec<String> = joined.losses().iter().map(ToString::to_string).collect();
    losses.extend(runs.iter().flat_map(|run| run.unreadable.iter().cloned()));
    for loss in &losses {
        term::note(&format!("tumit: {loss}"));
    }
    Ok(if losses.is_empty() { Status::Done } else { Status::InputHasMistakes })
}

/// Copies a process's file; what is in its live file goes into the copy.
fn take(process: &Process, folder: &Path) -> anyhow::Result<()> {
    let stem = process.path.file_stem().map_or_else(|| "process".into(), |stem| stem.to_string_lossy());
    let target = (1u32..)
        .map(|number| folder.join(if number == 1 { format!("{stem}.tmt") } else { format!("{stem}-{number}.tmt") }))
        .find(|path| !path.exists())
        .context("no name is left")?;
    let written = || format!("cannot write `{}`", target.display());
    if process.live.is_none() {
        fs::copy(&process.path, &target).with_context(written)?;
        return Ok(());
    }
    let mut file = BufWriter::with_capacity(1 << 20, File::create_new(&target).with_context(written)?);
    repair::write(process, &mut file).with_context(|| format!("cannot copy `{}`", process.path.display()))?;
    file.flush().with_context(written)
}
