//! `tumit info`: shows the contents of a run.

mod changed_names;
mod info_text;
mod run_info;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use tumit_converter::clock::RunClocks;
use tumit_converter::convert::ConvertOptions;
use tumit_converter::convert::launches::Launch;
use tumit_converter::convert::wall_clock;
use tumit_converter::report::loss_diagnostics;
use tumit_converter::run::{Loss, OpenRun, truncation_diagnostic};
use tumit_converter::run::{ProcessInRun, StreamInRun};
use tumit_converter::tools::info::{self, DroppedRange};
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

use run_info::{ClockInfo, DropInfo, EventInfo, LaunchInfo, LiveInfo, ProcessInfo, RunInfo, ThreadInfo};

use super::exit_status::ExitStatus;
use crate::run_options::LaunchChoice;
use crate::term;
use crate::trace_input::TraceInput;

/// Shows the contents of a run: processes, threads, events, rates, dropped records, clocks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit info run.tmt
  tumit info run.tmt --all                     with all threads and processes
  tumit info run.tmt --json | jq .events

Exit status: 0 success, 1 the run has dropped, missing or damaged data, 2 could not run.")]
pub(crate) struct Args {
    /// The run: a folder NAME.tmt, or one of its process files
    #[arg(value_name = "RUN")]
    input: PathBuf,

    /// Writes all contents as one JSON object
    #[arg(long)]
    json: bool,

    /// Shows all processes and threads, instead of the first of each
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    launch: LaunchChoice,
}

/// Maximum number of rows in a table of processes or threads, without `--all`.
const ROWS: usize = 50;

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let input = TraceInput::open_run(&args.input)?;
    let mut run = OpenRun::open_launches(input.path(), args.launch.launches())?;
    if let Some(title) = input.title() {
        run.path = title.into();
    }
    let info = gather(&run)?;
    let mut out = term::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &info).context("cannot write")?;
        writeln!(out).context("cannot write")?;
    } else {
        out.write_all(info_text::text(&info, if args.all { usize::MAX } else { ROWS }).as_bytes())
            .context("cannot write")?;
    }
    out.flush().context("cannot write")?;
    Ok(if info.losses.is_empty() { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}

fn gather(run: &OpenRun) -> anyhow::Result<RunInfo> {
    let census = info::count(run, &ConvertOptions::default())?;
    let end = census.end.0;
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let per_second = |count: u64| if end > 0 { count as f64 / (end as f64 * 1e-9) } else { 0.0 };
    let events = census.kinds.iter().map(|kind| EventInfo {
        level: kind.level.clone(),
        event: kind.event.clone(),
        records: kind.records,
        records_per_second: per_second(kind.records),
        memory_bytes_per_record: ratio(kind.bytes, kind.records),
    });
    let streams = || run.processes.iter().flat_map(|process| &process.streams);
    let stored: u64 = streams().map(StreamInRun::stored_bytes).sum();
    let in_files = streams().flat_map(|stream| &stream.blocks).filter(|block| !block.live);
    let in_files: u64 = in_files.map(|block| u64::from(block.header.records)).sum();
    let losses: Vec<Loss> = run.losses().into_iter().chain(census.unreadable_files.iter().cloned()).collect();
    let start_ns = wall_clock::start_of(run, &census.clocks);
    let missing_names = changed_names::missing_name_errors(run);
    Ok(RunInfo {
        run: run.path.display().to_string(),
        records: census.records,
        duration_ns: end,
        records_per_second: per_second(census.records),
        // A sorted file contains several processes.
        file_bytes: run
            .processes
            .iter()
            .filter(|process| process.part.is_none_or(|part| part == 0))
            .map(|p| p.file_bytes)
            .sum(),
        bytes_per_record: (in_files > 0).then(|| ratio(stored, in_files)),
        memory_bytes_per_record: ratio(census.bytes, census.records),
        undecodable_records: census.undecodable,
        truncated_records: census.truncated_records,
        long_names: run.processes.iter().map(changed_names::long_names).sum(),
        start: start_ns.map(wall_clock::text),
        start_ns,
        launches: run.launches.iter().map(launch_info).collect(),
        processes: by_rank(run).into_iter().map(|process| process_info(run, process)).collect(),
        events: events.collect(),
        dropped: census.losses.iter().map(|range| drop_info(run, range)).collect(),
        losses: losses.iter().map(Loss::diagnostic).chain(missing_names.iter().cloned()).collect(),
        loss_lines: loss_diagnostics(&losses).into_iter().chain(missing_names).collect(),
        diagnostics: run
            .launch_diagnostic()
            .into_iter()
            .chain(run.rank_diagnostic())
            .chain(changed_names::truncated_name_warnings(run))
            .chain(truncation_diagnostic(census.truncated_records))
            .chain(private_live_message(run))
            .chain(census.clocks.errors())
            .chain(census.clocks.diagnostics.iter().cloned())
            .collect(),
        clocks: clock_infos(&census.clocks),
    })
}

fn launch_info(launch: &Launch) -> LaunchInfo {
    LaunchInfo {
        number: launch.number,
        start: launch.time.map(|time| wall_clock::text(time.start)),
        start_ns: launch.time.map(|time| time.start),
        duration_ns: launch.time.map(|time| time.end.saturating_sub(time.start)),
        processes: launch.processes,
        read: launch.is_read,
    }
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn ratio(total: u64, count: u64) -> f64 {
    if count > 0 { total as f64 / count as f64 } else { 0.0 }
}

fn drop_info(run: &OpenRun, range: &DroppedRange) -> DropInfo {
    let process = &run.processes[range.process];
    let stream = &process.streams[range.stream];
    DropInfo {
        process: process.rank.unwrap_or(process.pid),
        name: run.process_name(range.process),
        key: stream.thread_key(),
        tid: stream.tid,
        thread: stream.distinct_name(),
        records: range.records,
        bytes: range.bytes,
        causes: range.causes(),
        first_ns: range.first.0,
        last_ns: range.last.0,
    }
}

/// A message about processes that could not create their live file.
fn private_live_message(run: &OpenRun) -> Option<TraceDiagnostic> {
    let count = run.processes.iter().filter(|process| process.buffers == Some(2)).count();
    let buffers =
        if count == 1 { "the buffers of 1 process".to_owned() } else { format!("the buffers of {count} processes") };
    let text = format!(
        "{buffers} were private, because no live file could be created: the last second of a killed process is missing"
    );
    (count > 0).then(|| TraceDiagnostic::warning(DiagnosticKind::Loss, text))
}

/// The state of a process, with the information of this machine.
fn state(process: &ProcessInRun) -> &'static str {
    if process.has_ended {
        return if process.repair.is_some_and(|repaired| repaired.has_no_end) { "repaired" } else { "ended" };
    }
    if process.is_running() { "running" } else { "unfinished" }
}

fn process_info(run: &OpenRun, index: usize) -> ProcessInfo {
    let process = &run.processes[index];
    let mut streams: Vec<&StreamInRun> = process.streams.iter().collect();
    streams.sort_by_cached_key(|stream| (natural_order_key(&stream.distinct_name()), stream.tid, stream.number));
    let threads = streams.into_iter().map(|stream| ThreadInfo {
        stream: stream.number,
        tid: stream.tid,
        signal: stream.signal,
        overwrites: stream.overwrites,
        name: stream.distinct_name(),
        key: stream.thread_key(),
        label: stream.label.clone(),
        records: stream.records(),
        dropped: stream.dropped,
    });
    ProcessInfo {
        file: process.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        name: run.process_name(index),
        rank: process.rank,
        pid: process.pid,
        host: process.host.clone(),
        command: process.command.clone(),
        writer: process.writer.clone(),
        specs: spec_names(process),
        records: process.streams.iter().map(StreamInRun::records).sum(),
        dropped: process.dropped_records(),
        missing_blocks: process.streams.iter().fold(0, |sum: u64, stream| sum.saturating_add(stream.missing_blocks)),
        missing_records: process.missing_records(),
        missing_tables: process.missing_blocks,
        uncounted: process.has_missing_buffers(),
        damaged_bytes: process.damaged_bytes(),
        ended: process.has_ended,
        state: state(process),
        buffers: process.buffers.and_then(|buffers| match buffers {
            0 => Some("private"),
            1 => Some("mapped"),
            2 => Some("private, as no live file could be made"),
            _ => None,
        }),
        live: process.live.as_ref().map(|live| LiveInfo {
            file: live.path.display().to_string(),
            records: live.records,
            bytes: live.bytes,
            errors: live.faults.iter().map(|fault| fault.reason.to_string()).collect(),
        }),
        parent: run.parent_of(process).map(|parent| parent.pid),
        job: process.job.clone(),
        thread_count: process.threads(),
        threads: threads.collect(),
    }
}

/// The names of the specs of a process. A process can have many specs of one name, such as those of
/// the callsites of `tracing`.
fn spec_names(process: &ProcessInRun) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for provider in &process.providers {
        if !names.contains(&provider.schema.name) {
            names.push(provider.schema.name.clone());
        }
    }
    names
}

/// The positions of the processes by rank, then by process id and ordinal. Those without a rank
/// come last.
fn by_rank(run: &OpenRun) -> Vec<usize> {
    let mut places: Vec<usize> = (0..run.processes.len()).collect();
    places.sort_by_cached_key(|&process| {
        let rank = run.processes[process].rank;
        (rank.is_none(), rank, natural_order_key(&run.process_key(process)))
    });
    places
}

/// A name in pieces with natural order: numbers compare by value, so `worker 9` precedes `worker
/// 10`.
fn natural_order_key(name: &str) -> Vec<(u128, String)> {
    let mut pieces = Vec::new();
    let mut remainder = name;
    while !remainder.is_empty() {
        let text = remainder.find(|c: char| c.is_ascii_digit()).unwrap_or(remainder.len());
        let digits =
            remainder[text..].find(|c: char| !c.is_ascii_digit()).map_or(remainder.len(), |length| text + length);
        // The text is compared first. Numbers that are too long to compare count as equal, and the
        // thread id decides.
        pieces.push((0, remainder[..text].to_owned()));
        pieces.push((remainder[text..digits].parse().unwrap_or(0), String::new()));
        remainder = &remainder[digits..];
    }
    pieces
}

fn clock_infos(clocks: &RunClocks) -> Vec<ClockInfo> {
    let info = |domain: &tumit_converter::clock::ClockDomain| ClockInfo {
        name: domain.name.clone(),
        kind: domain.kind,
        hz: domain.hz,
        processes: domain.processes,
        status: domain.status.name(),
        offset_ns: domain.offset_nanos,
        drift_ppm: domain.drift_ppm,
        bursts: domain.bursts,
        residual_ns: domain.residual_nanos,
    };
    clocks.domains.iter().map(info).collect()
}

#[cfg(test)]
mod tests {
    use super::natural_order_key;

    #[test]
    fn names_are_sorted_as_people_do() {
        let mut names = ["worker 10", "worker 9", "main", "worker", "node 2 x", "node 10 a", "node 2 a", "", "7"];
        names.sort_by_cached_key(|name| natural_order_key(name));
        assert_eq!(names, ["", "7", "main", "node 2 a", "node 2 x", "node 10 a", "worker", "worker 9", "worker 10"]);
    }
}
