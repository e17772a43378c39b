//! `tumit dump`: prints the records of a run, in order of time.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use tumit_converter::convert::wall_clock;
use tumit_converter::report::loss_diagnostics;
use tumit_converter::run::OpenRun;
use tumit_converter::tools::dump::{DumpValue, ListedRecord, list_selected};
use tumit_paje::TraceDiagnostic;

use super::exit_status::ExitStatus;
use crate::record_filters::RecordFilters;
use crate::run_options::RunArguments;
use crate::trace_input::TraceInput;
use crate::{printed_diagnostics, term, text_table};

/// Prints the records of a run, in order of time
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit dump run.tmt --limit 20
  tumit dump run.tmt --event post --process 2     one event of one process (its rank; its pid if no rank matches)
  tumit dump run.tmt --level MPI --interval 1.5..1.6   0.1 seconds of one level
  tumit dump run.tmt --interval 250ms.. --thread main  one thread, from 0.25 seconds on
  tumit dump run.tmt --json | jq .fields           one JSON object per line

Every filter can be repeated: a record is shown if it matches one value of each filter.

The columns are: timestamp in seconds from the start, process, thread, event, fields. Timestamps are those of `tumit convert`: they
depend on the links between all records, which are read first. With `--clock none --causal off` the first records appear at once.
With --json, lists are arrays, timestamps are nanoseconds, pointers (\"0x1f\") and bytes (\"00ff\") are texts in hexadecimal digits,
and floats that JSON cannot represent are \"NaN\", \"inf\" or \"-inf\".
Exit status: 0 success, 1 the run has dropped, missing or damaged data, 2 could not run.")]
pub(crate) struct Args {
    /// The run: a folder NAME.tmt, or one of its process files
    #[arg(value_name = "RUN")]
    input: PathBuf,

    /// Writes a JSON object per record, each on its own line
    #[arg(long)]
    json: bool,

    /// Shows the time of day of each record, in UTC: 2026-11-25T13:18:31.000000042Z
    #[arg(long)]
    wall_clock: bool,

    #[command(flatten)]
    filters: RecordFilters,

    /// Maximum number of records [default: all]
    #[arg(long, short = 'n', alias = "head", value_name = "COUNT")]
    limit: Option<u64>,

    #[command(flatten)]
    run: RunArguments,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let input = TraceInput::open_run(&args.input)?;
    let run = args.run.open(&input)?;
    if args.wall_clock && run.processes.iter().all(|process| process.anchors.is_empty()) {
        bail!("--wall-clock: {} has no time of day, because no process read the real-time clock", args.input.display());
    }
    let options = args.run.options();
    if !args.run.accepts(&input, &options)? {
        return Ok(ExitStatus::InputHasMistakes);
    }
    let mut out = term::stdout();
    let processes: Vec<String> = (0..run.processes.len()).map(|process| run.process_name(process)).collect();
    let width = run.processes.iter().flat_map(|p| &p.streams).map(|s| s.distinct_name().chars().count()).max();
    let process = processes.iter().map(String::len).max().unwrap_or(0).max(11);
    let columns = ColumnWidths {
        processes,
        process,
        thread: width.unwrap_or(0).clamp(6, 24),
        event: event_width(&run),
        wall_clock: args.wall_clock,
    };
    let selection = args.filters.selection(&run)?;
    let mut remaining_records = args.limit.unwrap_or(u64::MAX);
    if remaining_records == 0 {
        return Ok(ExitStatus::Done);
    }
    let listing = list_selected::<anyhow::Error>(&run, &options, &selection, |record| {
        let line = if args.json { json_line(record, &run, args.wall_clock) } else { columns.line(record) };
        writeln!(out, "{line}").context("cannot write")?;
        remaining_records -= 1;
        Ok(if remaining_records == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    out.flush().context("cannot write")?;
    let mut losses = run.losses();
    losses.extend(listing.unreadable_files);
    printed_diagnostics::print(&loss_diagnostics(&losses));
    let (errors, warnings): (Vec<_>, Vec<_>) = listing.diagnostics.into_iter().partition(TraceDiagnostic::is_error);
    printed_diagnostics::print(&errors);
    printed_diagnostics::print(&run.launch_diagnostic());
    printed_diagnostics::print(&run.truncation_diagnostic());
    printed_diagnostics::print(&listing.clocks.diagnostics);
    printed_diagnostics::print(&warnings);
    let is_good = losses.is_empty() && errors.is_empty();
    Ok(if is_good { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}

fn event_width(run: &OpenRun) -> usize {
    let schemas = run.processes.iter().flat_map(|process| &process.providers).map(|provider| &provider.schema);
    schemas.flat_map(|schema| &schema.records).map(|record| record.name.chars().count()).max().unwrap_or(0)
}

struct ColumnWidths {
    /// The displayed name of each process.
    processes: Vec<String>,
    process: usize,
    thread: usize,
    event: usize,
    /// Whether times of day are displayed.
    wall_clock: bool,
}

impl ColumnWidths {
    fn line(&self, record: &ListedRecord<'_>) -> String {
        let process = self.processes.get(record.process).map_or("", String::as_str);
        let time = match record.wall_clock.filter(|_| self.wall_clock) {
            Some(nanos) => wall_clock::text(nanos),
            None => DumpValue::Date(record.time).to_string(),
        };
        let mut line = format!(
            "{time:>15}  {process:<width$}  {:<thread$}  {:<event$} ",
            text_table::printable_name(record.thread),
            record.event,
            width = self.process,
            thread = self.thread,
            event = self.event,
        );
        for (name, value) in record.fields {
            line.push(' ');
            line.push_str(name);
            line.push('=');
            match value {
                DumpValue::Text(text) => line.push_str(&format!("{text:?}")),
                value => line.push_str(&value.to_string()),
            }
        }
        if record.is_truncated {
            line.push_str("  (truncated)");
        }
        if let Some(source) = record.source {
            line.push_str(&format!("  ({}:{})", source.file, source.line));
        }
        line.truncate(line.trim_end().len());
        line
    }
}

fn json_line(record: &ListedRecord<'_>, run: &OpenRun, has_wall_clock: bool) -> String {
    let fields: Map<String, Value> =
        record.fields.iter().map(|(name, value)| ((*name).to_owned(), json_value(*value))).collect();
    let mut object = json!({
        "time_ns": record.time.0,
        "pid": record.pid,
        "tid": record.tid,
        "host": record.host,
        "thread": record.thread,
        "level": record.level,
        "event": record.event,
        "fields": fields,
    });
    if run.processes[record.process].rank.is_some() {
        object["rank"] = json!(record.rank);
    }
    if !record.label.is_empty() {
        object["label"] = json!(record.label);
    }
    if let Some(nanos) = record.wall_clock.filter(|_| has_wall_clock) {
        object["time"] = json!(wall_clock::text(nanos));
    }
    if record.is_truncated {
        object["truncated"] = json!(true);
    }
    if let Some(source) = record.source {
        object["file"] = json!(source.file);
        object["line"] = json!(source.line);
    }
    object.to_string()
}

fn json_value(value: DumpValue<'_>) -> Value {
    match value {
        DumpValue::Integer(value) => i64::try_from(value)
            .map(Value::from)
            .or_else(|_| u64::try_from(value).map(Value::from))
            .unwrap_or(Value::Null),
        DumpValue::Float(value) if value.is_finite() => json!(value),
        DumpValue::Single(value) if value.is_finite() => json!(value),
        DumpValue::List(list) => list.iter().map(|element| json_value(*element)).collect(),
        DumpValue::Bool(value) => json!(value),
        DumpValue::Date(time) => json!(time.0),
        // Numbers that JSON cannot represent (`NaN`, `inf` and `-inf`), and texts.
        other => Value::from(other.to_string()),
    }
}
