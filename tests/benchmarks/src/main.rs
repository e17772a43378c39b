//! Compares the costs of Tumit and other recorders. `cargo run --release` in this folder prints a
//! table of costs. `-- --smoke` checks within seconds that every program runs. `-- --loss` prints
//! the dropped events of each recorder, by rate and load. `docs/recording-costs.md` contains the
//! figures of both tables and explains them.
//!
//! Every tool records the same events: one with two 64-bit integers, and a span with its begin and
//! end. Each measurement runs in a separate process. The tools take turns, and the best burst of
//! each tool counts.

mod disturbance;
mod loss;
mod programs;
mod recorder;
mod task;
mod recorders;

use std::path::Path;
use std::process::Command;

use programs::{KilledRun, Programs};
use recorders::Tool;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|word| word == "child") {
        return task::run(&arguments[1], &arguments[2..]);
    }
    let smoke = arguments.iter().any(|word| word == "--smoke");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let programs = Programs::build(folder.path());
    if arguments.iter().any(|word| word == "--loss") {
        loss::measure(&programs, smoke);
        return println!("\n{}", machine());
    }
    let mut rows: Vec<Row> = Tool::ALL.into_iter().map(Row::new).collect();
    let (turns, rounds) = if smoke { (1, 2) } else { (5, 20) };
    for _ in 0..turns {
        for row in &mut rows {
            for (task, best) in [("pair", &mut row.pair), ("span", &mut row.span)] {
                *best = least(*best, programs.nanos(row.tool, task, rounds));
            }
        }
    }
    let events = if smoke { 20_000 } else { 200_000 };
    for row in &mut rows {
        row.instructions = programs.instructions(row.tool);
        row.regular = programs.bytes(row.tool, "regular", events);
        row.irregular = programs.bytes(row.tool, "irregular", events);
        row.killed = programs.kill(row.tool, if smoke { 300 } else { 1500 });
    }
    print(&rows);
    println!("\n{} events for bytes; a killed program had recorded 100,000 events a second.", events);
    println!("{}", machine());
}

/// The measurements of a tool. `None` stands for a value that cannot be measured.
struct Row {
    tool: Tool,
    /// Nanoseconds per event, and per span with its two ends.
    pair: Option<f64>,
    span: Option<f64>,
    /// Instructions of the recording thread per event.
    instructions: Option<f64>,
    /// Bytes on disk per event.
    regular: Option<f64>,
    irregular: Option<f64>,
    killed: Option<KilledRun>,
}

impl Row {
    fn new(tool: Tool) -> Self {
        Self { tool, pair: None, span: None, instructions: None, regular: None, irregular: None, killed: None }
    }
}

fn least(before: Option<f64>, now: Option<f64>) -> Option<f64> {
    match (before, now) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn print(rows: &[Row]) {
    println!(
        "| recorder | ns per event | of the limit | ns per span | instructions per event | bytes per event, regular | irregular | missing after SIGKILL |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let limit = |tool: Tool| {
        let limit = if tool.is_c() { Tool::LimitC } else { Tool::Limit };
        rows.iter().find(|row| row.tool == limit).and_then(|row| row.pair)
    };
    let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
    for row in rows {
        let ratio = row.pair.zip(limit(row.tool)).map(|(tool, limit)| format!("{:.2}", tool / limit));
        let killed = row.killed.map_or_else(
            || "-".to_owned(),
            |run| format!("{} of {}", run.recorded.saturating_sub(run.readable), run.recorded),
        );
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {killed} |",
            row.tool.title(),
            cell(row.pair),
            ratio.unwrap_or_else(|| "-".to_owned()),
            cell(row.span),
            cell(row.instructions),
            cell(row.regular),
            cell(row.irregular),
        );
    }
}

/// Processor, system, clock source and load of the machine.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).unwrap_or_default();
    let processor = read("/proc/cpuinfo");
    let model = processor.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(" : ?");
    let release = Command::new("uname").arg("-sr").output().map(|output| output.stdout).unwrap_or_default();
    let release = String::from_utf8_lossy(&release).trim().to_owned();
    let load = read("/proc/loadavg");
    format!(
        "{}, {} cores, {release}, clock {}, load {}",
        model.trim_start_matches([' ', '\t', ':']).trim(),
        std::thread::available_parallelism().map_or(0, usize::from),
        read("/sys/devices/system/clocksource/clocksource0/current_clocksource").trim(),
        load.split(' ').next().unwrap_or("?"),
    )
}
