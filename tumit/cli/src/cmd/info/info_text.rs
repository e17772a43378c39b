//! The output of `tumit info`, as tables.

use std::collections::BTreeSet;

use tumit_converter::tools::dump::DumpValue;
use tumit_paje::time::GlobalNanos;

use super::run_info::{ProcessInfo, RunInfo, ThreadInfo};
use crate::text_table;

/// The launches of the folder.
fn launches(info: &RunInfo) -> String {
    let mut rows = vec![["launch", "began", "duration", "processes", ""].map(str::to_owned).to_vec()];
    for launch in &info.launches {
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        let duration = launch.duration_ns.map(|nanos| format!("{:.6} s", nanos as f64 * 1e-9));
        rows.push(vec![
            launch.number.to_string(),
            launch.start.clone().unwrap_or_default(),
            duration.unwrap_or_default(),
            launch.processes.to_string(),
            if launch.read { "read here" } else { "" }.to_owned(),
        ]);
    }
    let mut text = String::new();
    text_table::append(&mut text, &rows, &[0, 2, 3]);
    text
}

/// The first lines: the size of the run, its time of day and duration, and its launches.
fn summary(info: &RunInfo) -> String {
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let seconds = info.duration_ns as f64 * 1e-9;
    let mut text = format!(
        "{}: {} records in {seconds:.6} s ({} per second), {}\n",
        info.run,
        info.records,
        rounded_rate(info.records_per_second),
        sizes(info),
    );
    if let Some(start) = &info.start {
        text.push_str(&format!("began {start}\n"));
    }
    if info.launches.len() > 1 {
        text.push_str(&launches(info));
    }
    text
}

/// The summary, the tables with at most `max_rows` rows for processes and for threads, and the
/// diagnostics.
pub(super) fn text(info: &RunInfo, max_rows: usize) -> String {
    let mut text = summary(info);
    append_processes(&mut text, info, max_rows);
    append_threads(&mut text, info, max_rows);
    append_events(&mut text, info);
    append_dropped(&mut text, info, max_rows);
    append_clocks(&mut text, info);
    for line in info.loss_lines.iter().chain(&info.diagnostics) {
        text.push_str(&format!("\n! {line}"));
    }
    if info.losses.is_empty() {
        let is_whole = info.truncated_records == 0 && info.long_names == 0;
        let subject = if is_whole { "Nothing" } else { "No other data" };
        text.push_str(&format!("\n{subject} is dropped, missing or damaged."));
    }
    text.push('\n');
    text
}

fn append_processes(text: &mut String, info: &RunInfo, max_rows: usize) {
    let mut rows = vec![
        ["process", "host", "threads", "records", "incomplete", "spec", "ended", "live"].map(str::to_owned).to_vec(),
    ];
    for process in info.processes.iter().take(max_rows) {
        rows.push(vec![
            process.name.clone(),
            process.host.clone(),
            process.thread_count.to_string(),
            process.records.to_string(),
            loss_text(process),
            process.specs.join(", "),
            end_word(process).to_owned(),
            process.live.as_ref().map_or_else(String::new, |live| format!("{} records", live.records)),
        ]);
    }
    text_table::append(text, &rows, &[2, 3]);
    append_row_count(text, info.processes.len(), max_rows);
}

/// Appends the table of threads. Its columns `stream` and `label` are absent if all their cells are
/// empty.
fn append_threads(text: &mut String, info: &RunInfo, max_rows: usize) {
    let threads =
        || info.processes.iter().flat_map(|process| process.threads.iter().map(move |thread| (process, thread)));
    let has_labels = threads().any(|(_, thread)| !thread.label.is_empty());
    let has_streams = threads().any(|(_, thread)| !stream_of(thread).is_empty());
    let mut rows = vec![["process", "thread", "name", "records", "dropped"].map(str::to_owned).to_vec()];
    let optional = [("stream", has_streams), ("label", has_labels)];
    rows[0].extend(optional.iter().filter(|(_, is_shown)| *is_shown).map(|(head, _)| (*head).into()));
    for (process, thread) in threads().take(max_rows) {
        let mut row = vec![
            process.name.clone(),
            thread.key.clone(),
            thread.name.clone(),
            thread.records.to_string(),
            thread.dropped.to_string(),
        ];
        if has_streams {
            row.push(stream_of(thread).to_owned());
        }
        if has_labels {
            row.push(thread.label.clone());
        }
        rows.push(row);
    }
    text_table::append(text, &rows, &[3, 4]);
    append_row_count(text, threads().count(), max_rows);
}

fn append_events(text: &mut String, info: &RunInfo) {
    let mut rows = vec![["event", "level", "records", "per second", "bytes"].map(str::to_owned).to_vec()];
    for event in &info.events {
        let rate = rounded_rate(event.records_per_second);
        let size = format!("{:.1}", event.memory_bytes_per_record);
        rows.push(vec![event.event.clone(), event.level.clone(), event.records.to_string(), rate, size]);
    }
    text_table::append(text, &rows, &[2, 3, 4]);
}

fn append_clocks(text: &mut String, info: &RunInfo) {
    let head = ["clock", "kind", "rate", "processes", "corrected by", "offset", "drift", "residual"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let names: Vec<&str> = info.clocks.iter().map(|clock| clock.name.as_str()).collect();
    for (clock, name) in info.clocks.iter().zip(short_clocks(&names)) {
        rows.push(vec![
            name,
            clock.kind.to_owned(),
            frequency(clock.hz),
            clock.processes.to_string(),
            clock.status.to_owned(),
            format!("{:+.9} s", clock.offset_ns * 1e-9),
            format!("{:+.3} ppm", clock.drift_ppm),
            format!("{:.0} ns", clock.residual_ns),
        ]);
    }
    text_table::append(text, &rows, &[2, 3, 5, 6, 7]);
}

/// The names of the clocks with the boot ids in them truncated to eight digits, because a table has
/// little room. The names stay unchanged if short ones would be equal. `--json` has the full names.
fn short_clocks(names: &[&str]) -> Vec<String> {
    let is_id = |word: &str| {
        let lengths: Vec<usize> = word.split('-').map(str::len).collect();
        lengths == [8, 4, 4, 4, 12] && word.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
    };
    let short = |word: &str| if is_id(word) { format!("{}…", &word[..8]) } else { word.to_owned() };
    let all: Vec<String> = names.iter().map(|name| name.split(' ').map(short).collect::<Vec<_>>().join(" ")).collect();
    let distinct = |names: &mut dyn Iterator<Item = &str>| names.collect::<BTreeSet<_>>().len();
    if distinct(&mut all.iter().map(String::as_str)) < distinct(&mut names.iter().copied()) {
        return names.iter().map(|name| (*name).to_owned()).collect();
    }
    all
}

/// The kind of a stream, or an empty text for ordinary records. A thread has a row for each of its
/// streams.
fn stream_of(thread: &ThreadInfo) -> &'static str {
    match (thread.signal, thread.overwrites) {
        (false, false) => "",
        (true, false) => "signal handlers",
        (false, true) => "overwritten",
        (true, true) => "signal handlers, overwritten",
    }
}

/// The sizes of files and records. The files do not include records that are only in live files.
fn sizes(info: &RunInfo) -> String {
    let live: u64 = info.processes.iter().filter_map(|process| process.live.as_ref()).map(|live| live.bytes).sum();
    let mut text = format!("{} in files", bytes(info.file_bytes));
    if live > 0 {
        text.push_str(&format!(" and {} in live files", bytes(live)));
    }
    let in_memory = info.memory_bytes_per_record;
    text.push_str(&match info.bytes_per_record {
        Some(size) => format!(", {size:.1} bytes per record ({in_memory:.1} in memory)"),
        None => format!(", {in_memory:.1} bytes per record in memory"),
    });
    text
}

/// A frequency in hertz. It is exact below 1 GHz, and rounded to kilohertz above.
#[expect(clippy::cast_precision_loss, reason = "for display")]
fn frequency(hz: u64) -> String {
    match hz {
        0..1_000 => format!("{hz} Hz"),
        1_000..1_000_000 => format!("{:.3} kHz", hz as f64 * 1e-3),
        1_000_000..1_000_000_000 => format!("{:.6} MHz", hz as f64 * 1e-6),
        _ => format!("{:.6} GHz", hz as f64 * 1e-9),
    }
}

/// Appends the table of dropped records of threads, with causes and times, if there are any.
fn append_dropped(text: &mut String, info: &RunInfo, max_rows: usize) {
    if info.dropped.is_empty() {
        return;
    }
    let head = ["process", "thread", "name", "dropped", "size", "first", "last", "cause"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for range in info.dropped.iter().take(max_rows) {
        rows.push(vec![
            range.name.clone(),
            range.key.clone(),
            range.thread.clone(),
            range.records.to_string(),
            bytes(range.bytes),
            DumpValue::Date(GlobalNanos(range.first_ns)).to_string(),
            DumpValue::Date(GlobalNanos(range.last_ns)).to_string(),
            range.causes.join(", "),
        ]);
    }
    text_table::append(text, &rows, &[3, 4, 5, 6]);
    append_row_count(text, info.dropped.len(), max_rows);
}

/// Whether a process ended, in one word.
fn end_word(process: &ProcessInfo) -> &'static str {
    match process.state {
        "ended" => "yes",
        "unfinished" => "NO",
        other => other,
    }
}

/// Appends the number of rows beyond `max_rows`.
fn append_row_count(text: &mut String, count: usize, max_rows: usize) {
    if count > max_rows {
        text.push_str(&format!("… and {} more; --all shows them\n", count - max_rows));
    }
}

fn loss_text(process: &ProcessInfo) -> String {
    let mut parts = Vec::new();
    if process.dropped > 0 {
        parts.push(format!("{} dropped", process.dropped));
    }
    if process.missing_records > 0 {
        parts.push(format!("{} missing", process.missing_records));
    }
    if process.missing_blocks > 0 {
        parts.push(format!("{} blocks missing", process.missing_blocks));
    }
    if process.missing_tables > 0 {
        parts.push(format!("{} tables missing", process.missing_tables));
    }
    if process.damaged_bytes > 0 {
        parts.push(format!("{} damaged", bytes(process.damaged_bytes)));
    }
    if process.uncounted && process.state != "running" {
        parts.push("unknown".to_owned());
    }
    if parts.is_empty() { "0".to_owned() } else { parts.join(", ") }
}

fn rounded_rate(rate: f64) -> String {
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
    use super::{append_row_count, frequency, short_clocks};

    #[test]
    fn boot_ids_of_clocks_are_short_if_names_stay_distinct() {
        let [one, other] = ["f403e296-081b-4a7a-9b12-0fe216369171", "f403e296-081b-4a7a-9b12-0fe216369172"];
        let in_zone = format!("{one} time:[4026531834] of process 12");
        assert_eq!(short_clocks(&[one, &in_zone]), ["f403e296…", "f403e296… time:[4026531834] of process 12"]);
        assert_eq!(short_clocks(&[one, other, "node-1"]), [one, other, "node-1"]);
        assert_eq!(short_clocks(&["a-b", "x  y", one, one]), ["a-b", "x  y", "f403e296…", "f403e296…"]);
    }

    #[test]
    fn rates_have_a_unit_of_their_size() {
        let texts = [1, 999, 1_000, 32_768, 24_000_000, 999_999_999, 2_500_010_000].map(frequency);
        let expected = ["1 Hz", "999 Hz", "1.000 kHz", "32.768 kHz", "24.000000 MHz", "999.999999 MHz", "2.500010 GHz"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn the_number_of_omitted_rows_is_printed() {
        let mut text = String::new();
        append_row_count(&mut text, 50, 50);
        assert_eq!(text, "");
        append_row_count(&mut text, 1000, 50);
        assert_eq!(text, "… and 950 more; --all shows them\n");
    }
}
