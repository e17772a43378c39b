//! `tumit info`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use converter::clock::Clocks;
use converter::input::{Process, Stream};
use converter::listing::list;
use converter::pipeline::Options;
use converter::run::Run;
use serde::Serialize;

use super::Status;
use crate::{table, term};

/// Shows what a run holds: processes, threads, events, rates, losses, clocks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit info run.tmt
  tumit info run.tmt --all                     every thread and process, however many
  tumit info run.tmt --json | jq .events

Exit status: 0 done, 1 the run has losses or damage, 2 could not run.")]
pub(crate) struct Args {
    /// The run: a folder NAME.tmt, or one process file of it
    #[arg(value_name = "RUN")]
    input: PathBuf,

    /// As one JSON object, which holds everything
    #[arg(long)]
    json: bool,

    /// Shows all processes and threads, not only the first of each
    #[arg(long)]
    all: bool,
}

/// Rows of a table of processes or threads unless all are asked for.
const ROWS: usize = 50;

/// All that is shown.
#[derive(Debug, Serialize)]
struct Info {
    run: String,
    records: u64,
    duration_ns: i64,
    records_per_second: f64,
    file_bytes: u64,
    bytes_per_record: f64,
    processes: Vec<ProcessInfo>,
    events: Vec<EventInfo>,
    clocks: Vec<ClockInfo>,
    losses: Vec<String>,
    remarks: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ProcessInfo {
    file: String,
    rank: Option<u64>,
    pid: u64,
    host: String,
    command: String,
    writer: String,
    specs: Vec<String>,
    records: u64,
    dropped: u64,
    missing_blocks: u64,
    damaged_bytes: u64,
    ended: bool,
    threads: Vec<ThreadInfo>,
}

#[derive(Debug, Serialize)]
struct ThreadInfo {
    tid: Option<u64>,
    name: String,
    records: u64,
    dropped: u64,
}

#[derive(Debug, Default, Serialize)]
struct EventInfo {
    level: String,
    event: String,
    records: u64,
    records_per_second: f64,
}

#[derive(Debug, Serialize)]
struct ClockInfo {
    name: String,
    kind: &'static str,
    hz: u64,
    processes: usize,
    status: &'static str,
    offset_ns: f64,
    drift_ppm: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Status> {
    let recorded = Run::open(&args.input)?;
    let info = gather(&recorded)?;
    let mut out = term::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &info).context("cannot write")?;
        writeln!(out).context("cannot write")?;
    } else {
        out.write_all(shown(&info, if args.all { usize::MAX } else { ROWS }).as_bytes()).context("cannot write")?;
    }
    out.flush().context("cannot write")?;
    Ok(if info.losses.is_empty() { Status::Done } else { Status::InputHasMistakes })
}

fn gather(run: &Run) -> anyhow::Result<Info> {
    let mut events: BTreeMap<String, EventInfo> = BTreeMap::new();
    let (mut records, mut end) = (0u64, 0);
    let clocks = list::<anyhow::Error>(run, &Options::default(), |record| {
        records += 1;
        end = record.time.0;
        if let Some(known) = events.get_mut(record.event) {
            known.records += 1;
        } else {
            let (level, event) = (record.level.to_owned(), record.event.to_owned());
            events.insert(record.event.to_owned(), EventInfo { level, event, records: 1, records_per_second: 0.0 });
        }
        Ok(())
    })?;
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let rate = |count: u64| if end > 0 { count as f64 / (end as f64 * 1e-9) } else { 0.0 };
    let mut events: Vec<EventInfo> = events.into_values().collect();
    for event in &mut events {
        event.records_per_second = rate(event.records);
    }
    events.sort_by_key(|event| std::cmp::Reverse(event.records));
    let file_bytes: u64 = run.processes.iter().map(|process| process.file_bytes).sum();
    let stored: u64 = run.processes.iter().flat_map(|p| &p.streams).map(Stream::stored_bytes).sum();
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let bytes_per_record = if records > 0 { stored as f64 / records as f64 } else { 0.0 };
    Ok(Info {
        run: run.path.display().to_string(),
        records,
        duration_ns: end,
        records_per_second: rate(records),
        file_bytes,
        bytes_per_record,
        processes: run.processes.iter().map(process_info).collect(),
        events,
        losses: run.losses().iter().map(ToString::to_string).collect(),
        remarks: clocks.remarks.clone(),
        clocks: clock_infos(&clocks),
    })
}

fn process_info(process: &Process) -> ProcessInfo {
    let mut streams: Vec<&Stream> = process.streams.iter().collect();
    streams.sort_by_cached_key(|stream| (natural(&stream.name), stream.tid, stream.number));
    let threads = streams.into_iter().map(|stream| ThreadInfo {
        tid: stream.tid,
        name: stream.name.clone(),
        records: stream.records(),
        dropped: stream.dropped,
    });
    ProcessInfo {
        file: process.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        rank: process.rank,
        pid: process.pid,
        host: process.host.clone(),
        command: process.command.clone(),
        writer: process.writer.clone(),
        specs: process.providers.iter().map(|provider| provider.schema.name.clone()).collect(),
        records: process.streams.iter().map(Stream::records).sum(),
        dropped: process.dropped(),
        missing_blocks: process.streams.iter().map(|stream| stream.missing_blocks).sum(),
        damaged_bytes: process.damaged_bytes(),
        ended: process.ended,
        threads: threads.collect(),
    }
}

/// A name in pieces that compare as people sort: numbers by value, `worker 9` before `worker 10`.
fn natural(name: &str) -> Vec<(u128, String)> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest[text..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |length| text + length);
        // The text first decides; numbers too long to compare are equal, and the thread id decides.
        pieces.push((0, rest[..text].to_owned()));
        pieces.push((rest[text..digits].parse().unwrap_or(0), String::new()));
        rest = &rest[digits..];
    }
    pieces
}

fn clock_infos(clocks: &Clocks) -> Vec<ClockInfo> {
    let info = |domain: &converter::clock::Domain| ClockInfo {
        name: domain.name.clone(),
        kind: domain.kind,
        hz: domain.hz,
        processes: domain.processes,
        status: domain.status.name(),
        offset_ns: domain.offset_nanos,
        drift_ppm: domain.drift_ppm,
    };
    clocks.domains.iter().map(info).collect()
}

/// The tables, with at most so many processes and threads.
fn shown(info: &Info, most: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let seconds = info.duration_ns as f64 * 1e-9;
    let mut text = format!(
        "{}: {} records in {seconds:.6} s ({} per second), {} in files, {:.1} bytes per record\n",
        info.run,
        info.records,
        rounded(info.records_per_second),
        bytes(info.file_bytes),
        info.bytes_per_record,
    );
    let mut rows = vec![["process", "host", "threads", "records", "lost", "spec", "ended"].map(str::to_owned).to_vec()];
    for process in info.processes.iter().take(most) {
        rows.push(vec![
            process.rank.map_or_else(|| format!("pid {}", process.pid), |rank| format!("rank {rank}")),
            process.host.clone(),
            process.threads.len().to_string(),
            process.records.to_string(),
            lost(process),
            process.specs.join(", "),
            if process.ended { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    table::append(&mut text, &rows, &[2, 3]);
    more(&mut text, info.processes.len(), most);
    let mut rows = vec![["thread", "name", "records", "lost"].map(str::to_owned).to_vec()];
    let threads = || info.processes.iter().flat_map(|process| process.threads.iter().map(move |one| (process, one)));
    for (process, thread) in threads().take(most) {
        rows.push(vec![
            format!("{}/{}", process.rank.unwrap_or(process.pid), thread.tid.unwrap_or(0)),
            thread.name.clone(),
            thread.records.to_string(),
            thread.dropped.to_string(),
        ]);
    }
    table::append(&mut text, &rows, &[2, 3]);
    more(&mut text, threads().count(), most);
    let mut rows = vec![["event", "level", "records", "per second"].map(str::to_owned).to_vec()];
    for event in &info.events {
        let rate = rounded(event.records_per_second);
        rows.push(vec![event.event.clone(), event.level.clone(), event.records.to_string(), rate]);
    }
    table::append(&mut text, &rows, &[2, 3]);
    let mut rows =
        vec![["clock", "kind", "rate", "processes", "dates from", "offset", "drift"].map(str::to_owned).to_vec()];
    for clock in &info.clocks {
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        let rate = format!("{:.6} GHz", clock.hz as f64 * 1e-9);
        rows.push(vec![
            clock.name.clone(),
            clock.kind.to_owned(),
            rate,
            clock.processes.to_string(),
            clock.status.to_owned(),
            format!("{:+.9} s", clock.offset_ns * 1e-9),
            format!("{:+.3} ppm", clock.drift_ppm),
        ]);
    }
    table::append(&mut text, &rows, &[2, 3, 5, 6]);
    for line in info.losses.iter().chain(&info.remarks) {
        text.push_str(&format!("\n! {line}"));
    }
    if info.losses.is_empty() {
        text.push_str("\nNothing was lost or damaged.");
    }
    text.push('\n');
    text
}

/// Says how many rows of a table were left out.
fn more(text: &mut String, count: usize, most: usize) {
    if count > most {
        text.push_str(&format!("… and {} more; --all shows them\n", count - most));
    }
}

fn lost(process: &ProcessInfo) -> String {
    let mut parts = Vec::new();
    if process.dropped > 0 {
        parts.push(format!("{} records", process.dropped));
    }
    if process.missing_blocks > 0 {
        parts.push(format!("{} blocks", process.missing_blocks));
    }
    if process.damaged_bytes > 0 {
        parts.push(format!("{} damaged", bytes(process.damaged_bytes)));
    }
    if parts.is_empty() { "0".to_owned() } else { parts.join(", ") }
}

fn rounded(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.2}") } else { format!("{rate:.0}") }
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} B"),
        10_000..10_000_000 => format!("{:.1} kB", count as f64 * 1e-3),
        _ => format!("{:.1} MB", count as f64 * 1e-6),
    }
}

#[cfg(test)]
mod tests {
    use super::{more, natural};

    #[test]
    fn names_are_sorted_as_people_do() {
        let mut names = ["worker 10", "worker 9", "main", "worker", "node 2 x", "node 10 a", "node 2 a", "", "7"];
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, ["", "7", "main", "node 2 a", "node 2 x", "node 10 a", "worker", "worker 9", "worker 10"]);
    }

    #[test]
    fn what_is_left_out_is_said() {
        let mut text = String::new();
        more(&mut text, 50, 50);
        assert_eq!(text, "");
        more(&mut text, 1000, 50);
        assert_eq!(text, "… and 950 more; --all shows them\n");
    }
}
