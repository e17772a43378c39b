//! [`RunSummary`]: the contents of a recorded run, in a few lines.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tumit_converter::clock::CorrectionMethod;
use tumit_converter::convert::launches::LaunchSelection;
use tumit_converter::convert::{ConvertError, ConvertOptions};
use tumit_converter::report::loss_diagnostics;
use tumit_converter::run::{Loss, OpenRun, ProcessInRun, StreamInRun};
use tumit_converter::tools::dump::{DumpValue, RecordSelection, list_selected};
use tumit_perspectives::analysis::collectives::CollectiveSet;
use tumit_perspectives::analysis::wait_states::wait_states;
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_preload::attachment::{Attachment, AttachmentOutcome};
use tumit_preload::recorders::Recorder;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{ContainerId, ValueId};
use tumit_viewer::stats::times;
use tumit_viewer::text::time_display::{duration, group_digits};
use tumit_viewer::{IndexChoice, OpenOptions};

use super::counter_limits::{counter_limits, has_only_counters};
use super::program_run::ProgramEnd;

/// Maximum number of bytes of a run that is opened for the summary.
const MAX_BYTES: u64 = 1 << 30;
/// Times are computed for runs with at most this number of records. On an idle machine, this takes
/// at most two seconds.
const MAX_RECORDS: u64 = 2_000_000;
/// Maximum time for this computation, for busy machines.
const MAX_TIME: Duration = Duration::from_secs(5);
/// Maximum number of functions in a line about calls that are not recorded.
const MAX_FUNCTIONS: usize = 3;
/// The name of the communicator of all processes.
const WORLD: &str = "MPI_COMM_WORLD";
/// The name of `std:functions`.
const FUNCTIONS: &str = "functions";
/// The name of the state type of `std:mpi`.
const MPI_TYPE: &str = "MPI";
/// The name of its value outside of all calls.
const APPLICATION: &str = "Application";

/// The contents of a recorded run.
pub(crate) struct RunSummary {
    wall_time: Duration,
    /// The opened run. `None` if it is too large, or has no usable file.
    run: Option<OpenRun>,
    /// Why there is no opened run.
    problem: Option<String>,
    /// The jobs in the folder; `One` if the run is too large.
    jobs: JobFinding,
    /// Shares of time. `None` if the run is too large, or has several jobs.
    shares: Option<TimeShares>,
}

/// Parts of the time of all ranks together, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TimeShares {
    /// `None` if the run has no states of MPI.
    mpi: Option<f64>,
    wait_share: f64,
}

/// The jobs in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobFinding {
    /// One job.
    One,
    /// This number of jobs, one after the other or side by side.
    Several(usize),
    /// This number of processes that do not know of each other.
    Singletons(usize),
}

impl RunSummary {
    /// Reads a run folder.
    pub(crate) fn new(folder: &Path, wall_time: Duration) -> Self {
        let mut summary = Self { wall_time, run: None, problem: None, jobs: JobFinding::One, shares: None };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let bytes: u64 = entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum();
        if bytes > MAX_BYTES {
            return summary;
        }
        match OpenRun::open_launches(folder, LaunchSelection::All) {
            Ok(run) => {
                if records(&run) <= MAX_RECORDS {
                    summary.jobs = job_finding(&run);
                    if summary.jobs == JobFinding::One && !has_only_counters(&run) {
                        summary.shares = time_shares_in_time(folder.to_owned());
                    }
                }
                summary.run = Some(run);
            }
            Err(error) => summary.problem = Some(error.to_string()),
        }
        summary
    }

    /// The lines of the summary. `folder_name` is the name that the user wrote.
    pub(crate) fn lines(&self, folder_name: &str) -> Vec<String> {
        let wall = duration(i64::try_from(self.wall_time.as_nanos()).unwrap_or(i64::MAX));
        let Some(run) = &self.run else {
            let problem = self.problem.clone().unwrap_or_else(|| "the run is large".to_owned());
            return vec![format!("{wall}; {problem}"), format!("next: tumit info {folder_name}")];
        };
        let ranks = run.distinct_processes().filter(|process| is_rank(process)).count();
        let count = match ranks {
            0 => plural(run.distinct_processes().count(), "process", "processes"),
            ranks => plural(ranks, "rank", "ranks"),
        };
        let shares = self.shares.map_or_else(String::new, |shares| {
            let waiting = percent(shares.wait_share);
            match shares.mpi {
                Some(mpi) => format!("; {} of the time of all ranks in MPI, {waiting} waiting", percent(mpi)),
                None => format!("; {waiting} of the time of all threads waiting for other threads"),
            }
        });
        let mut lines = vec![format!("{count}, {wall}, {} records{shares}", group_digits(records(run)))];
        lines.extend(loss_lines(run, folder_name));
        lines.extend(unrecorded_calls(run));
        lines.extend(counter_limits(run));
        lines.extend(self.job_line(run, folder_name));
        let command = if has_only_counters(run) { "stats" } else { "diagnose" };
        lines.push(format!("next: tumit view {folder_name}, or tumit {command} {folder_name}"));
        lines
    }

    fn job_line(&self, run: &OpenRun, folder_name: &str) -> Option<String> {
        match self.jobs {
            JobFinding::One => None,
            JobFinding::Several(jobs) => {
                let select = if run.launches.len() > 1 {
                    format!("`tumit view {folder_name} --launch 1` selects one; ")
                } else {
                    String::new()
                };
                Some(format!(
                    "the run contains {jobs} jobs, because the command started MPI {jobs} times: {select}record each of them on its own for a clear picture"
                ))
            }
            JobFinding::Singletons(count) => Some(format!(
                "each of the {count} processes is alone in its MPI_COMM_WORLD: the launcher probably belongs to another MPI library than the program"
            )),
        }
    }
}

/// Reports that no process has recorded anything, with the most probable reason.
pub(crate) fn no_rank_text(end: &ProgramEnd, attachment: &Attachment) -> String {
    let obstacle = attachment.programs.iter().find(|program| program.outcome.is_obstacle());
    let has_no_mpi = attachment.programs.iter().any(|program| program.outcome == AttachmentOutcome::NoMpiYet);
    let use_of = |recorder: &Recorder| match recorder {
        Recorder::Mpi => "called MPI_Init in a shared library",
        Recorder::OpenMp => "used an OpenMP runtime with an interface for recorders",
        Recorder::Threads => "created a thread",
        Recorder::Io => "used a file",
        Recorder::Functions => "called a function that was compiled with -finstrument-functions or -fxray-instrument",
        Recorder::Counters => "ran longer than the interval of samples (--counter-interval)",
    };
    let uses: Vec<&str> = attachment.recorders.iter().map(use_of).collect();
    let unseen = match uses.split_last() {
        Some((last, first_names)) if !first_names.is_empty() => {
            format!("no program {} or {last}", first_names.join(", "))
        }
        _ => format!("no program {}", uses.concat()),
    };
    let reason = match (end, obstacle) {
        (_, Some(program)) => format!("`{}` cannot be recorded, see above", program.name),
        (ProgramEnd::Exit(0), None) if has_no_mpi => unseen,
        (ProgramEnd::Exit(0), None) => {
            format!("{unseen}; or its environment lacked LD_PRELOAD (see --dry-run)")
        }
        (ProgramEnd::Exit(code), None) => format!("{unseen}; the command ended with status {code}"),
        (ProgramEnd::Signal(signal), None) => format!("{unseen}; signal {signal} ended the command"),
        (ProgramEnd::NotStarted(_), None) => "the command did not start".to_owned(),
    };
    format!("nothing was recorded: {reason}")
}

/// Reports calls of functions that are not recorded because of a limit, with the functions that
/// were called most.
fn unrecorded_calls(run: &OpenRun) -> Vec<String> {
    let has_functions =
        |process: &ProcessInRun| process.providers.iter().any(|provider| provider.schema.name == FUNCTIONS);
    if !run.processes.iter().any(has_functions) {
        return Vec::new();
    }
    let mut options = ConvertOptions::default();
    (options.clock, options.has_causal_pass) = (CorrectionMethod::None, false);
    let mut selection = RecordSelection::default();
    selection.events.push("unrecorded_calls".to_owned());
    let mut calls: BTreeMap<String, BTreeMap<String, i128>> = BTreeMap::new();
    let listed = list_selected::<ConvertError>(run, &options, &selection, |record| {
        let text = |name: &str| record.fields.iter().find(|field| field.0 == name).map(|field| field.1.to_string());
        if let (Some(reason), Some(function), Some(count)) = (text("reason"), text("function"), text("calls")) {
            let counts = calls.entry(reason).or_default();
            *counts.entry(function).or_default() += count.parse::<i128>().unwrap_or(0);
        }
        Ok(ControlFlow::Continue(()))
    });
    if listed.is_err() {
        return Vec::new();
    }
    calls.into_iter().map(|(reason, counts)| unrecorded_text(&reason, counts)).collect()
}

fn unrecorded_text(reason: &str, counts: BTreeMap<String, i128>) -> String {
    let mut counts: Vec<(String, i128)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    let total: i128 = counts.iter().map(|(_, calls)| calls).sum();
    let total = group_digits(u64::try_from(total).unwrap_or(u64::MAX));
    let functions: Vec<String> = counts.iter().take(MAX_FUNCTIONS).map(|(name, _)| format!("`{name}`")).collect();
    let others = if counts.len() > MAX_FUNCTIONS { ", …" } else { "" };
    let (limit, option) = match reason {
        "rate" => ("the functions were called too often", "--function-rate"),
        "depth" => ("they are in too many other calls", "--function-depth"),
        "functions" => ("the process has too many functions", "--functions selects some"),
        _ => ("they were too short", "--function-minimum"),
    };
    format!("{total} calls were not recorded, because {limit} ({option}): {}{others}", functions.join(", "))
}

fn is_rank(process: &ProcessInRun) -> bool {
    process.rank.is_some() && process.parent_id.is_none()
}

fn records(run: &OpenRun) -> u64 {
    run.processes.iter().flat_map(|process| &process.streams).map(StreamInRun::records).sum()
}

fn plural(count: usize, singular: &str, plural_noun: &str) -> String {
    if count == 1 { format!("1 {singular}") } else { format!("{} {plural_noun}", group_digits(count as u64)) }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Reports dropped records, processes without a regular end, and other losses.
fn loss_lines(run: &OpenRun, folder_name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let dropped: u64 = run.processes.iter().map(ProcessInRun::dropped_records).sum();
    if dropped > 0 {
        let count = group_digits(dropped);
        lines.push(format!("{count} records were dropped, because the memory was full: --memory 64M makes it larger"));
    }
    let is_end = |loss: &&Loss| matches!(loss, Loss::NotEnded { .. } | Loss::LiveAlone { .. });
    let losses = run.losses();
    let unended = losses.iter().filter(is_end).count();
    if unended > 0 {
        let count = plural(unended, "process was", "processes were");
        lines.push(format!(
            "{count} killed: the records until then are in live files, and `tumit repair {folder_name}` joins them to the run"
        ));
    }
    if losses.iter().any(|loss| matches!(loss, Loss::MissingRanks { .. })) {
        lines.push("ranks have no file: is the run folder on a file system that all nodes share?".to_owned());
    }
    let other_losses = losses.iter().filter(|loss| !is_end(loss) && !matches!(loss, Loss::Dropped { .. }));
    let other_losses: Vec<Loss> = other_losses.cloned().collect();
    if let Some(first) = loss_diagnostics(&other_losses).first() {
        let summary = if other_losses.len() > 1 {
            format!(" (`tumit info {folder_name}` lists {} more)", other_losses.len() - 1)
        } else {
            String::new()
        };
        lines.push(format!("{first}{summary}"));
    }
    lines
}

/// Finds out whether the folder has several jobs. The recorder gives a launch id to each job of
/// Open MPI and Slurm. With other launchers, jobs have equal ids, but their ranks occur repeatedly
/// at different times. Ranks that occur repeatedly at one time belong to spawned processes.
fn job_finding(run: &OpenRun) -> JobFinding {
    let ranks = || run.distinct_processes().filter(|process| is_rank(process));
    let count = ranks().count();
    let is_alone = |process: &ProcessInRun| process.rank == Some(0) && process.ranks == Some(1);
    if count > 1 && (ranks().all(is_alone) || size_of_world(run) == Some(1)) {
        return JobFinding::Singletons(count);
    }
    let mut by_rank: BTreeMap<Option<u64>, Vec<(u64, u64)>> = BTreeMap::new();
    for process in ranks() {
        let times = process.anchors.iter().map(|anchor| anchor.real_nanos);
        if let (Some(first), Some(last)) = (times.clone().min(), times.max()) {
            by_rank.entry(process.rank).or_default().push((first, last));
        }
    }
    let consecutive = by_rank.into_values().map(consecutive_ranges).max().unwrap_or(1);
    match run.launches.len().max(consecutive) {
        0 | 1 => JobFinding::One,
        several => JobFinding::Several(several),
    }
}

/// The number of processes in `MPI_COMM_WORLD`, by the first collective operation on it. The number
/// in the description of a process is that of the launcher, which may belong to another library.
fn size_of_world(run: &OpenRun) -> Option<i128> {
    let mut options = ConvertOptions::default();
    (options.clock, options.has_causal_pass) = (CorrectionMethod::None, false);
    let mut selection = RecordSelection::default();
    selection.events.push("collective".to_owned());
    let mut size = None;
    let listed = list_selected::<ConvertError>(run, &options, &selection, |record| {
        let is_world = record.fields.contains(&("communicator", DumpValue::Text(WORLD)));
        size = record.fields.iter().filter(|_| is_world).find_map(|field| match field {
            ("size", DumpValue::Integer(size)) => Some(*size),
            _ => None,
        });
        Ok(if size.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    size.filter(|_| listed.is_ok())
}

/// Number of ranges after joining those that overlap.
fn consecutive_ranges(mut ranges: Vec<(u64, u64)>) -> usize {
    ranges.sort_unstable();
    let mut count = 0;
    let mut end = 0;
    for (first, last) in ranges {
        if first > end || count == 0 {
            count += 1;
        }
        end = end.max(last);
    }
    count
}

/// Computes the shares of time on another thread. `None` if they are not known in time. The end of
/// this process then ends the computation.
fn time_shares_in_time(folder: PathBuf) -> Option<TimeShares> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(time_shares(&folder).ok()));
    receiver.recv_timeout(MAX_TIME).ok().flatten()
}

/// Computes the shares of time in MPI and in waits, of the time of all ranks.
#[expect(clippy::cast_precision_loss, reason = "shares are rounded")]
fn time_shares(folder: &Path) -> anyhow::Result<TimeShares> {
    let mut options = OpenOptions::default();
    options.index = IndexChoice::None;
    let source = tumit_viewer::open(folder, &options)?;
    let extent = source.extent();
    let mut settings = ExecutionSettings::default();
    // A program with its own events may have several types of states.
    if source.model().types.iter().any(|ty| ty.name == MPI_TYPE) {
        settings.units.states = Some(NamePattern::new(MPI_TYPE));
    }
    let execution = Execution::new(Arc::clone(&source), settings)?;
    let collectives = CollectiveSet::new(&execution)?;
    let waits = wait_states(&execution, &collectives, extent)?;
    let waiting: i128 = waits.iter().map(|wait| i128::from(wait.nanos())).sum();
    let types = execution.units().state_types.iter().map(|ty| &execution.model().types[ty.index()]);
    let Some(mpi) = types.into_iter().find(|ty| ty.name == MPI_TYPE) else {
        let units = i128::try_from(execution.units().count())?;
        let whole = (units * i128::from(extent.to.0 - extent.from.0)).max(1) as f64;
        return Ok(TimeShares { mpi: None, wait_share: waiting as f64 / whole });
    };
    let containers = source.containers();
    let ranks: Vec<ContainerId> = containers.iter().filter(|info| info.ty == mpi.parent).map(|info| info.id).collect();
    let times = times(source.as_ref(), &ranks, mpi.id, extent)?;
    let is_call = |value: ValueId| execution.model().values[value.index()].name != APPLICATION;
    let in_mpi: i128 = times.values.iter().filter(|times| is_call(times.value)).map(|times| times.self_nanos).sum();
    let existence_nanos = times.existence_nanos.max(1) as f64;
    Ok(TimeShares { mpi: Some(in_mpi as f64 / existence_nanos), wait_share: waiting as f64 / existence_nanos })
}

#[cfg(test)]
mod tests {
    use super::consecutive_ranges;

    #[test]
    fn overlapping_ranges_are_one() {
        for (ranges, count) in [
            (vec![], 0),
            (vec![(1, 2)], 1),
            (vec![(1, 5), (2, 3), (4, 6)], 1),
            (vec![(7, 9), (1, 5), (2, 3)], 2),
            (vec![(1, 1), (2, 2), (3, 3)], 3),
        ] {
            assert_eq!(consecutive_ranges(ranges.clone()), count, "{ranges:?}");
        }
    }
}
