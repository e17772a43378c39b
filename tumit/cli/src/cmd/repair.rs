//! `tumit repair`: repairs incomplete and damaged runs.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tracer_format::PREAMBLE_BYTES;
use tumit_converter::convert::launches::LaunchSelection;
use tumit_converter::run::ProcessInRun;
use tumit_converter::run::active_recorders;
use tumit_converter::run::{Loss, OpenRun};
use tumit_converter::tools::repair::{self, FileRepair};

use super::exit_status::ExitStatus;
use crate::output_file::OutputFile;
use crate::term;

/// Repairs runs that a killed process or a full disk left incomplete or damaged
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The contents of live files (NAME.live) are moved into the files of their processes, which get an end. Damaged bytes are left out
and counted. Names and undamaged blocks do not change. All launches of the folder are repaired. Reading needs no repair: repair
a run before it is archived, moved or sent.

Examples:
  tumit repair run.tmt --dry-run         shows the repairs, and does not make them
  tumit repair run.tmt                   in place; live files are removed after their contents are written
  tumit repair run.tmt -o whole.tmt      a repaired copy, also of a run that is still being recorded

Exit status: 0 success or nothing to repair, 1 data could not be repaired, 2 could not run.")]
pub(crate) struct Args {
    /// The run: a folder NAME.tmt, or one of its process files
    #[arg(value_name = "RUN")]
    input: PathBuf,

    /// Writes a repaired copy into this folder, and does not change the run
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// Shows the repairs, and does not make them
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Repairs even if live files are missing, if there is only a live file, or if processes on
    /// other machines may still run
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    if args.input.as_os_str() == "-" {
        bail!("standard input cannot be repaired: write it to a file NAME.tmt first");
    }
    let run = OpenRun::open_launches(&args.input, LaunchSelection::All)?;
    if let Some(process) = run.processes.iter().find(|p| p.part.is_some() && !p.damage.is_empty()) {
        bail!(
            "{}: a sorted file cannot be repaired: sort its original run again (`tumit merge --sort`), or copy its \
             undamaged records (`tumit cut`)",
            process.path.display()
        );
    }
    let repairs: Vec<Option<FileRepair>> = run.processes.iter().map(FileRepair::of).collect();
    let mut out = term::stdout();
    let has_empty = remove_empty(args, &run, &mut out)?;
    if !has_empty && repairs.iter().all(Option::is_none) && (args.output.is_none() || args.dry_run) {
        let message =
            if run.losses().iter().any(is_gone) { "nothing that can be repaired" } else { "nothing to repair" };
        writeln!(out, "{}: {message}", args.input.display())?;
    }
    if let Some(folder) = args.output.as_ref().filter(|_| !args.dry_run) {
        prepare(folder)?;
    }
    for (process, repair) in run.processes.iter().zip(&repairs) {
        refuse(args, process, repair.as_ref())?;
    }
    for process in run.processes.iter().filter(|process| is_astray(process) && args.output.is_none()) {
        match stray_file_message(process) {
            message if args.dry_run => term::note(&format!("tumit: {message}")),
            _ if args.force => {}
            message => bail!(message),
        }
    }
    let mut damaged_live = false;
    for (process, repair) in run.processes.iter().zip(&repairs) {
        let Some(repair) = repair else {
            copy(args, process)?;
            continue;
        };
        if !args.dry_run {
            apply(args, process, repair)?;
        }
        damaged_live |= repair.live_is_damaged;
        writeln!(out, "{}: {}", repair.file.display(), change_list(repair, args)).context("cannot write")?;
    }
    out.flush().context("cannot write")?;
    let mut unusable = damaged_live;
    for loss in run.losses() {
        if matches!(loss, Loss::Unreadable { .. } | Loss::Copy { .. } | Loss::Live { .. }) {
            term::note(&format!("tumit: {loss}"));
            unusable = true;
        } else if is_gone(&loss) {
            term::note(&format!("tumit: {loss}; this cannot be repaired"));
            unusable = true;
        }
    }
    Ok(if unusable { ExitStatus::InputHasMistakes } else { ExitStatus::Done })
}

/// Removes live files of processes that ended before they recorded anything.
///
/// Returns whether there are any.
fn remove_empty(args: &Args, run: &OpenRun, out: &mut impl Write) -> anyhow::Result<bool> {
    let mut has_damage = false;
    for live in run.empty_live.iter().filter(|_| args.output.is_none()) {
        // The process may be about to start recording.
        if active_recorders::user_of(&[live.as_path()]).is_some() {
            continue;
        }
        has_damage = true;
        if !args.dry_run {
            fs::remove_file(live).with_context(|| format!("cannot remove `{}`", live.display()))?;
        }
        writeln!(out, "{}: is removed, because its process ended before its first record", live.display())
            .context("cannot write")?;
    }
    Ok(has_damage)
}

/// Whether data of a file is missing. It can neither be repaired nor removed.
fn is_gone(loss: &Loss) -> bool {
    matches!(
        loss,
        Loss::MissingBlocks { .. }
            | Loss::MissingPart { .. }
            | Loss::MissingRecords { .. }
            | Loss::MissingTables { .. }
            | Loss::NotDescribed { .. }
    )
}

/// Whether there is only a live file, without any sign of the process's file in the same folder.
/// That file is nearly always in another folder.
fn is_astray(process: &ProcessInRun) -> bool {
    process.live_alone && !process.path.with_extension("tmt").exists()
}

/// The message for such a live file. A run from it alone could no longer be joined with the rest,
/// and the live file would be removed.
fn stray_file_message(process: &ProcessInRun) -> String {
    let main_file = process.path.with_extension("tmt");
    format!(
        "{}: the process's file `{}` is not in the same folder. If that file is in another run, `tumit repair` of that run finds \
         this live file, or reports where to move it. `--force` makes a run of the live file alone",
        process.path.display(),
        main_file.file_name().unwrap_or_default().display()
    )
}

/// Creates the folder of a copy, which must be new or empty.
fn prepare(folder: &Path) -> anyhow::Result<()> {
    if !folder.exists() {
        let created = fs::create_dir_all(folder).and_then(|()| {
            fs::set_permissions(folder, tumit_converter::run::output_permissions::permissions_of_folder())
        });
        created.with_context(|| format!("cannot create `{}`", folder.display()))?;
    }
    let mut entries = fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    if entries.next().is_some() {
        bail!("`{}` is not empty: name a new folder", folder.display());
    }
    Ok(())
}

/// Rejects the repair of files to which a process still writes, and of files with their last
/// records in another place.
fn refuse(args: &Args, process: &ProcessInRun, repair: Option<&FileRepair>) -> anyhow::Result<()> {
    let Some(repair) = repair.filter(|repair| repair.has_no_end) else { return Ok(()) };
    let empty = |path: &Path| fs::metadata(path).map_or(true, |data| data.len() < PREAMBLE_BYTES as u64);
    if process.live_alone && args.output.is_none() && !empty(&repair.file) {
        bail!(
            "`{}` would be replaced, but it is not empty and cannot be read: move it to another place",
            repair.file.display()
        );
    }
    let live = repair.live.as_deref();
    let files: Vec<&Path> = std::iter::once(process.path.as_path()).chain(live).collect();
    if args.output.is_none() {
        if let Some(pid) = active_recorders::user_of(&files) {
            bail!(
                "{}: process {pid} is still recording into this file: wait for its end, or write a repaired copy (`-o FOLDER`)",
                process.path.display()
            );
        }
        let host = active_recorders::host();
        if !args.force && !process.host.is_empty() && process.host != host {
            bail!(
                "{}: its process ran on `{}`, not on this machine (`{host}`): add `--force` if the process has ended",
                process.path.display(),
                process.host
            );
        }
    }
    if let Some(missing_file) = repair.live_is_missing.as_ref().filter(|_| !args.force) {
        bail!(
            "{}: its last records are in `{}`, which does not exist: move that file here as `{}`, or add `--force` to repair without it",
            process.path.display(),
            missing_file.display(),
            process.path.with_extension("live").file_name().unwrap_or_default().display()
        );
    }
    Ok(())
}

/// Copies a file that needs no repair.
fn copy(args: &Args, process: &ProcessInRun) -> anyhow::Result<()> {
    let Some(target) = args.output.as_ref().and_then(|folder| Some(folder.join(process.path.file_name()?))) else {
        return Ok(());
    };
    if !args.dry_run {
        fs::copy(&process.path, &target).with_context(|| format!("cannot write `{}`", target.display()))?;
    }
    Ok(())
}

fn apply(args: &Args, process: &ProcessInRun, repair: &FileRepair) -> anyhow::Result<()> {
    let target = match (&args.output, repair.file.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => repair.file.clone(),
    };
    if !repair.needs_rewrite() {
        copy(args, process)?;
    } else {
        let mut file = OutputFile::create(&target)?;
        if let Ok(data) = fs::metadata(&process.path) {
            file.set_permissions(data.permissions());
        }
        let mut buffered = BufWriter::with_capacity(1 << 20, &file);
        repair::write(process, &mut buffered).with_context(|| format!("cannot repair `{}`", process.path.display()))?;
        buffered.flush().with_context(|| format!("cannot write `{}`", target.display()))?;
        drop(buffered);
        file.finish()?;
    }
    let Some(live) = repair.live.as_ref().filter(|_| args.output.is_none()) else { return Ok(()) };
    // The live file is removed only after the file is on the disk, because it is the only other
    // place with the records.
    let result = fs::File::open(&target).and_then(|file| file.sync_all());
    result.with_context(|| format!("cannot write `{}` to the disk", target.display()))?;
    if repair.live_is_damaged {
        fs::rename(live, damaged_file_name(live)).with_context(|| format!("cannot rename `{}`", live.display()))
    } else {
        fs::remove_file(live).with_context(|| format!("cannot remove `{}`", live.display()))
    }
}

/// The new name of a live file with unusable parts.
fn damaged_file_name(live: &Path) -> PathBuf {
    live.with_extension("live.damaged")
}

/// The list of changes that are made, or would be made.
fn change_list(repair: &FileRepair, args: &Args) -> String {
    let plural = |count: u64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if repair.has_no_end {
        parts.push("gets an end".to_owned());
    }
    if repair.live_blocks > 0 {
        parts.push(format!("{} from its live file", plural(repair.live_records, "record")));
    }
    if repair.damaged_pieces > 0 {
        parts.push(format!(
            "{} left out ({})",
            plural(repair.damaged_bytes, "damaged byte"),
            plural(repair.damaged_pieces as u64, "piece")
        ));
    }
    if let Some(live) = repair.live.as_ref().filter(|_| args.output.is_none()) {
        parts.push(match repair.live_is_damaged {
            true => format!("`{}` is kept as `{}`", live.display(), damaged_file_name(live).display()),
            false => format!("`{}` is removed", live.display()),
        });
    }
    parts.join(", ")
}
