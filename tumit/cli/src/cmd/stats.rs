//! `tumit stats`: shows statistics of a trace.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use tumit_viewer::query::{GlobalNanos, OpenTimeRange, TimeRange};
use tumit_viewer::scene::number;
use tumit_viewer::stats::{self, RowGrouping, StatsRow};
use tumit_viewer::text::time_display::{duration, group_digits, timestamp};

use super::exit_status::ExitStatus;
use crate::option_values::time_range_option::{self, time_range};
use crate::printed_diagnostics::PrintedDiagnostics;
use crate::run_options::{RunOptions, index_choice};
use crate::view_filters::FilterOptions;
use crate::{term, text_table};

/// Shows statistics of a trace: time and share per state, durations, messages, collective
/// operations, variables
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit stats run.tmt                                        each value of each type, all containers together
  tumit stats run.paje --by container --interval 0.2..0.4    each container separately, in a time range
  tumit stats run.tmt --clock none --causal off              timestamps without clock correction
  tumit stats run.paje --filter 'only type Message' --by container --csv > matrix.csv
  tumit stats run.paje --filter 'group Node 1, Node 2 into Front' --by container
  tumit stats run.paje --filter 'count computing of Activity per Node into state Working' --filter 'only type Working'

Expressions of --filter (names may contain * and ?; quote names that contain keywords: \"...\"; docs/filters.md has images):
  hide type TYPE, ...                     only type TYPE, ...              by type
  hide value VALUE, ... of TYPE           only value VALUE, ...            by value
  hide container NAME, ...                only container Node 1/*       by name or path, with their contents
  only where Bytes > 4096 of Message      hide where to ~ Node 3* of ...   by a field: = != < <= > >= ~ (matches) !~
  only where from = A, B or not (to = C and Bytes < 9)                     not before and before or; lists with commas
  only where involves Node 4                                               links with an endpoint in it
  only duration >= 10us of Activity       cut 0.2..0.4                     by duration; a time range
  group Node 1, Node 2 into Front         reuse Thread                     one row for several; rows of ended threads
  count VALUE, ... of TYPE per Node into [state] NAME                      count over time, as a curve or state
  sum|mean|min|max of Load per Node       sum Bytes of Message per Node    of variables; of a field
  count sent of Message per Node          sum received Bytes of ...        of links that start or end in it
  sort Thread by time Wait* descending    order Node 3, Node 1             order of rows
  best 5 Node by mean of Load             keep Node with max of Load > 8   also least; by name, start, time, number, ...
  color #d62728 Wait* of Activity         bright Wait*                     colours; all others grey
  shape diamond Step of Milestone         size 0.5 Wait* of Activity       marks of events; their size or width

Time is total time: it includes nested states, and counts a value that is nested in itself once. Self time counts a state only
while it is the innermost one; the sum of self shares is at most 100 %. Tasks are states that links join, from the end of one to
the begin of the next, such as the polls of an async function. Durations of tasks are latencies, from the first poll to the end of
the last one; active time is the time in polls. The median and the 99 % are durations that occur; of an even number of durations,
the median is the lower one of the middle two. Shares refer to the lifetime of the containers within the time range.
Collective operations are those that fields of states describe (docs/entities.md). An operation with a part in the time range
counts with all its parts. A part waits until the last container enters; in a one-to-all operation until the root enters, and in an
all-to-one operation only the root waits. With --by type, all states of an operation's kind and communicator are one row.
Exit status: 0 success, 1 the trace has dropped, missing or damaged data, or errors (the rest was counted), 2 could not run.")]
pub(crate) struct Args {
    /// A run folder (NAME.tmt), or a Pajé, PICL or Alog file
    path: PathBuf,

    #[arg(long = "interval", value_name = "RANGE", value_parser = time_range, allow_hyphen_values = true, help = time_range_option::HELP)]
    time_range: Option<OpenTimeRange>,

    /// Grouping of the rows
    #[arg(long, value_enum, default_value_t = RowChoice::Value)]
    by: RowChoice,

    /// Field of links with their size [default: bytes, size, length or volume, if they have one]
    #[arg(long, value_name = "NAME")]
    field: Option<String>,

    /// Prints comma-separated values, with timestamps and durations in seconds
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Prints a JSON object per row, with the column names of --csv
    #[arg(long)]
    json: bool,

    /// Keeps an index of the trace in this file, so that it opens at once the next time; `none`
    /// reads the trace into memory [default: automatic for large traces, see `tumit index --help`]
    #[arg(long, value_name = "PATH|none")]
    index: Option<PathBuf>,

    /// Shows timestamps as the time of day, in UTC; for runs only
    #[arg(long)]
    wall_clock: bool,

    #[command(flatten)]
    run: RunOptions,

    #[command(flatten)]
    filters: FilterOptions,
}

/// The message about a trace without rows and without duration.
const EMPTY: &str = "the trace is empty: it has no states, events, links or variables";

/// The grouping of rows.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum RowChoice {
    /// A row per value of each type, for all containers together
    Value,
    /// A row per value and container; links: a row per pair of containers
    Container,
    /// A row per type
    Type,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let chain = args.filters.chain(std::slice::from_ref(&args.path))?;
    let opened = args.run.open(&args.path, index_choice(args.index.as_ref()), tumit_viewer::open)?;
    let Some(source) = opened else { return Ok(ExitStatus::InputHasMistakes) };
    let summary = source.summary();
    let wall_clock = summary.wall_clock.filter(|_| args.wall_clock);
    if args.wall_clock && wall_clock.is_none() {
        bail!("--wall-clock: {} is not a run, and only runs have the time of day", args.path.display());
    }
    let mut printed = PrintedDiagnostics::of(&summary);
    let source = args.filters.apply(&chain, source)?;
    let extent = source.extent();
    let mut time_range = args.time_range.map_or(Ok(extent), |range| range.intersection(extent))?;
    // A trace without duration counts as its first nanosecond.
    time_range.to = time_range.to.max(GlobalNanos(time_range.from.0.saturating_add(1)));
    let grouping = match args.by {
        RowChoice::Value => RowGrouping::Value,
        RowChoice::Container => RowGrouping::Container,
        RowChoice::Type => RowGrouping::Type,
    };
    let rows = stats::table(source.as_ref(), time_range, grouping, args.field.as_deref())?;
    let is_whole = chain.filters.is_empty() && args.time_range.is_none();
    let is_empty = rows.is_empty() && is_moment(extent) && is_whole;
    if is_empty && (args.csv || args.json) {
        term::note(&format!("tumit: {}: {EMPTY}", summary.name));
    }
    let text = if args.csv {
        stats::to_csv_with(&rows, wall_clock)
    } else if args.json {
        let mut text = String::new();
        for row in &rows {
            let mut value = serde_json::to_value(row).context("a row cannot be written")?;
            for column in stats::DATES {
                if let (Some(seconds), Some(start)) = (value[column].as_f64(), wall_clock) {
                    value[column] = stats::time_of_day(seconds, start).into();
                }
            }
            text.push_str(&value.to_string());
            text.push('\n');
        }
        text
    } else {
        let title = match is_empty {
            true => format!("{}: {EMPTY}", summary.name),
            false => format!("{}, {}", summary.name, time_range_text(time_range, is_moment(extent), wall_clock)),
        };
        text_tables(&title, &rows, wall_clock)
    };
    let mut out = term::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    printed.print_new(&source.summary());
    Ok(if summary.is_intact() { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}

/// Whether a trace has no duration. Its extent may have its only nanosecond.
fn is_moment(extent: TimeRange) -> bool {
    extent.to.0.saturating_sub(extent.from.0) <= 1
}

/// The counted time range, or its only timestamp.
fn time_range_text(time_range: TimeRange, is_moment: bool, wall_clock: Option<i64>) -> String {
    let resolution = (time_range.to.0.saturating_sub(time_range.from.0) / 1000).max(1);
    let written = |time: GlobalNanos| match wall_clock {
        Some(start) => tumit_converter::convert::wall_clock::text(start.saturating_add(time.0)),
        None => timestamp(time, resolution),
    };
    match is_moment {
        true => format!("at {}", written(time_range.from)),
        false => format!("{} to {}", written(time_range.from), written(time_range.to)),
    }
}

/// The tables of the rows of each kind, with their headings.
const TABLES: [(&str, &[&str]); 6] = [
    (
        "state",
        &[
            "State",
            "Container",
            "Value",
            "Count",
            "Time",
            "Share",
            "Self",
            "Self share",
            "Mean",
            "Median",
            "99 %",
            "Longest",
        ],
    ),
    ("task", &["Task", "Container", "Value", "Count", "Active", "Shortest", "Mean", "Median", "99 %", "Longest"]),
    (
        "collective",
        &[
            "Collective",
            "Container",
            "Value",
            "Kind",
            "Communicator",
            "Operations",
            "Parts",
            "Size",
            "Wait",
            "Mean wait",
            "Longest wait",
            "at",
            "in",
        ],
    ),
    ("event", &["Event", "Container", "Value", "Count"]),
    ("link", &["Link", "From", "To", "Value", "Count", "Size", "Shortest", "Mean", "Median", "99 %", "Longest"]),
    ("variable", &["Variable", "Container", "Mean", "Least", "at", "in", "Largest", "at", "in"]),
];

/// A table for each kind of rows.
fn text_tables(title: &str, rows: &[StatsRow], wall_clock: Option<i64>) -> String {
    let mut text = format!("{title}\n");
    let rows_of = |kind: &str| rows.iter().filter(|row| row.kind == kind).cloned().collect::<Vec<StatsRow>>();
    for (kind, heads) in TABLES {
        let rows = rows_of(kind);
        if rows.is_empty() {
            continue;
        }
        let mut lines = vec![heads.iter().map(|&head| head.to_owned()).collect::<Vec<String>>()];
        lines.extend(rows.iter().map(|row| cells(row, wall_clock)));
        // Empty columns are left out. Numbers are aligned right.
        let filled: Vec<usize> =
            (0..heads.len()).filter(|&column| lines.iter().skip(1).any(|row| !row[column].is_empty())).collect();
        let lines: Vec<Vec<String>> =
            lines.into_iter().map(|row| filled.iter().map(|&column| row[column].clone()).collect()).collect();
        let words = [heads[0], "Container", "Value", "Kind", "Communicator", "From", "To", "in"];
        let right: Vec<usize> = (0..filled.len()).filter(|&column| !words.contains(&heads[filled[column]])).collect();
        text_table::append(&mut text, &lines, &right);
    }
    text
}

/// The cells of a row in its table.
#[expect(clippy::cast_possible_truncation, reason = "back to the nanoseconds that they came from")]
fn cells(row: &StatsRow, wall_clock: Option<i64>) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    // The sum over many containers can exceed 64 bits of nanoseconds.
    let seconds_text = |s: f64| {
        if s < 9e9 {
            duration((s * 1e9).round() as i64)
        } else {
            format!("{} d", group_digits((s / 86_400.0).round() as u64))
        }
    };
    let duration_text = |seconds: Option<f64>| seconds.map_or_else(String::new, seconds_text);
    let timestamp_text = |s: f64| match wall_clock {
        Some(start) => stats::time_of_day(s, start),
        None => timestamp(GlobalNanos((s * 1e9).round() as i64), 1000),
    };
    let time_text = |seconds: Option<f64>| seconds.map_or_else(String::new, timestamp_text);
    let value = |value: Option<f64>| value.map_or_else(String::new, number);
    let count = row.count.map_or_else(String::new, group_digits);
    let duration_cells =
        [row.duration_mean, row.duration_median, row.duration_p99, row.duration_max].map(duration_text);
    match row.kind {
        "state" => {
            let share = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{:.1} %", share * 100.0));
            let mut cells = vec![row.ty.clone(), text(&row.container), text(&row.value), count];
            cells.extend([
                duration_text(row.time),
                share(row.share),
                duration_text(row.self_time),
                share(row.self_share),
            ]);
            cells.extend(duration_cells);
            cells
        }
        "task" => {
            let mut cells =
                vec![row.ty.clone(), text(&row.container), text(&row.value), count, duration_text(row.time)];
            cells.push(duration_text(row.duration_min));
            cells.extend(duration_cells);
            cells
        }
        "collective" => {
            collective_cells(row, [row.wait, row.wait_mean, row.wait_max].map(duration_text), time_text(row.max_at))
        }
        "event" => vec![row.ty.clone(), text(&row.container), text(&row.value), count],
        "link" => {
            let size = value(row.size);
            let ends = [text(&row.container), text(&row.to), text(&row.value)];
            let mut cells = vec![row.ty.clone()];
            cells.extend(ends);
            cells.extend([count, size, duration_text(row.duration_min)]);
            cells.extend(duration_cells);
            cells
        }
        _ => {
            let mut cells = vec![row.ty.clone(), text(&row.container), value(row.mean)];
            cells.extend([value(row.min), time_text(row.min_at), text(&row.min_in)]);
            cells.extend([value(row.max), time_text(row.max_at), text(&row.max_in)]);
            cells
        }
    }
}

/// The cells of a row of collective operations.
fn collective_cells(row: &StatsRow, waits: [String; 3], longest_at: String) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let count = |count: Option<u64>| count.map_or_else(String::new, group_digits);
    let mut cells = vec![row.ty.clone(), text(&row.container), text(&row.value)];
    cells.extend([row.operation.unwrap_or_default().to_owned(), text(&row.communicator)]);
    cells.extend([count(row.count), count(row.parts), row.size.map_or_else(String::new, number)]);
    cells.extend(waits);
    cells.extend([longest_at, text(&row.max_in)]);
    cells
}
