//! What `tumit info` says, as tables.

use std::collections::HashSet;

use converter::listing::FieldValue;
use converter::time::GlobalNanos;

use super::{Info, ProcessInfo};
use crate::table;

/// The tables, with at most so many processes and threads.
pub(super) fn text(info: &Info, most: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let seconds = info.duration_ns as f64 * 1e-9;
    let mut text = format!(
        "{}: {} records in {seconds:.6} s ({} per second), {} in files, {:.1} bytes per record ({:.1} in memory)\n",
        info.run,
        info.records,
        rounded(info.records_per_second),
        bytes(info.file_bytes),
        info.bytes_per_record,
        info.memory_bytes_per_record,
    );
    let mut rows =
        vec![["process", "host", "threads", "records", "lost", "spec", "ended", "live"].map(str::to_owned).to_vec()];
    for process in info.processes.iter().take(most) {
        rows.push(vec![
            process.rank.map_or_else(|| format!("pid {}", process.pid), |rank| format!("rank {rank}")),
            process.host.clone(),
            threads_of(process).to_string(),
            process.records.to_string(),
            lost(process),
            process.specs.join(", "),
            ended(process).to_owned(),
            process.live.as_ref().map_or_else(String::new, |live| format!("{} records", live.records)),
        ]);
    }
    table::append(&mut text, &rows, &[2, 3]);
    more(&mut text, info.processes.len(), most);
    let threads = || info.processes.iter().flat_map(|process| process.threads.iter().map(move |one| (process, one)));
    let labelled = threads().any(|(_, thread)| !thread.label.is_empty());
    let mut rows = vec![["thread", "name", "records", "lost"].map(str::to_owned).to_vec()];
    if labelled {
        rows[0].push("label".to_owned());
    }
    for (process, thread) in threads().take(most) {
        let mut row = vec![
            format!("{}/{}", process.rank.unwrap_or(process.pid), thread.tid.unwrap_or(0)),
            thread.name.clone(),
            thread.records.to_string(),
            thread.dropped.to_string(),
        ];
        if labelled {
            row.push(thread.label.clone());
        }
        rows.push(row);
    }
    table::append(&mut text, &rows, &[2, 3]);
    more(&mut text, threads().count(), most);
    let mut rows = vec![["event", "level", "records", "per second", "bytes"].map(str::to_owned).to_vec()];
    for event in &info.events {
        let rate = rounded(event.records_per_second);
        let size = format!("{:.1}", event.memory_bytes_per_record);
        rows.push(vec![event.event.clone(), event.level.clone(), event.records.to_string(), rate, size]);
    }
    table::append(&mut text, &rows, &[2, 3, 4]);
    lost_table(&mut text, info, most);
    let head = ["clock", "kind", "rate", "processes", "dates from", "offset", "drift", "residual"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
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
            format!("{:.0} ns", clock.residual_ns),
        ]);
    }
    table::append(&mut text, &rows, &[2, 3, 5, 6, 7]);
    for line in info.losses.iter().chain(&info.remarks) {
        text.push_str(&format!("\n! {line}"));
    }
    if info.losses.is_empty() {
        text.push_str("\nNothing was lost or damaged.");
    }
    text.push('\n');
    text
}

/// How many threads a process had: one may have several streams of records.
fn threads_of(process: &ProcessInfo) -> usize {
    let known: HashSet<u64> = process.threads.iter().filter_map(|thread| thread.tid).collect();
    known.len() + process.threads.iter().filter(|thread| thread.tid.is_none()).count()
}

/// What threads lost, and why and when; nothing when nothing was.
fn lost_table(text: &mut String, info: &Info, most: usize) {
    if info.lost.is_empty() {
        return;
    }
    let mut rows = vec![["lost by", "name", "records", "size", "from", "to", "because"].map(str::to_owned).to_vec()];
    for lost in info.lost.iter().take(most) {
        rows.push(vec![
            format!("{}/{}", lost.process, lost.tid.unwrap_or(0)),
            lost.thread.clone(),
            lost.records.to_string(),
            bytes(lost.bytes),
            FieldValue::Date(GlobalNanos(lost.first_ns)).to_string(),
            FieldValue::Date(GlobalNanos(lost.last_ns)).to_string(),
            lost.causes.join(", "),
        ]);
    }
    table::append(text, &rows, &[2, 3, 4, 5]);
    more(text, info.lost.len(), most);
}

/// Whether a process ended, in a word.
fn ended(process: &ProcessInfo) -> &'static str {
    match process.state {
        "ended" => "yes",
        "unfinished" => "NO",
        other => other,
    }
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
    if process.missing_records > 0 {
        parts.push(format!("{} missing", process.missing_records));
    }
    if process.missing_blocks > 0 {
        parts.push(format!("{} blocks", process.missing_blocks));
    }
    if process.missing_tables > 0 {
        parts.push(format!("{} tables", process.missing_tables));
    }
    if process.damaged_bytes > 0 {
        parts.push(format!("{} damaged", bytes(process.damaged_bytes)));
    }
    if process.uncounted && process.state != "running" {
        parts.push("not known".to_owned());
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
    use super::more;

    #[test]
    fn what_is_left_out_is_said() {
        let mut text = String::new();
        more(&mut text, 50, 50);
        assert_eq!(text, "");
        more(&mut text, 1000, 50);
        assert_eq!(text, "… and 950 more; --all shows them\n");
    }
}
