//! `tumit dump`.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, bail};
use converter::listing::{FieldValue, Listed, Selection, list_selected};
use converter::pipeline::Options;
use converter::run::Run;
use converter::time::GlobalNanos;
use serde_json::{Map, Value, json};
use tumit::diag::did_you_mean;

use super::Status;
use super::convert::Clock;
use crate::term;

/// Prints the records of a run, in order of time
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit dump run.tmt --limit 20
  tumit dump run.tmt --event post --process 2     one kind of event of one process (rank, or pid without ranks)
  tumit dump run.tmt --level MPI --time 1.5..1.6   a tenth of a second of one level
  tumit dump run.tmt --time 250ms.. --thread main  from a quarter of a second on
  tumit dump run.tmt --json | jq .fields           one JSON object per line

Every filter can be given several times: a record is shown when it fits one value of each filter.

The columns are: date in seconds from the start, process, thread, event, fields.
Exit status: 0 done, 1 the run has losses or damage, 2 could not run.")]
pub(crate) struct Args {
    /// The run: a folder NAME.tmt, or one process file of it
    #[arg(value_name = "RUN")]
    input: PathBuf,

    /// One JSON object per record and line
    #[arg(long)]
    json: bool,

    /// Only records of this event or span
    #[arg(long, value_name = "NAME")]
    event: Vec<String>,

    /// Only records of threads with this name or thread id
    #[arg(long, value_name = "NAME")]
    thread: Vec<String>,

    /// Only records of the process with this rank (or pid, when processes have no ranks)
    #[arg(long, value_name = "RANK")]
    process: Vec<u64>,

    /// Only records of this level
    #[arg(long, value_name = "LEVEL")]
    level: Vec<String>,

    /// Only records dated in this interval: FROM..TO, FROM.. or ..TO, in seconds or with ns, us, ms, s, min behind
    #[arg(long, value_name = "INTERVAL", value_parser = interval)]
    time: Vec<(GlobalNanos, GlobalNanos)>,

    /// At most so many records
    #[arg(long, short = 'n', alias = "head", value_name = "COUNT")]
    limit: Option<u64>,

    /// How clocks of different hosts are brought together
    #[arg(long, value_enum, default_value_t)]
    clock: Clock,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Status> {
    let recorded = Run::open(&args.input)?;
    let mut options = Options::default();
    options.clock = args.clock.into();
    let mut out = term::stdout();
    let ranked = recorded.processes.iter().all(|process| process.rank.is_some());
    let width = recorded.processes.iter().flat_map(|p| &p.streams).map(|s| s.name.chars().count()).max();
    let columns = Columns { ranked, thread: width.unwrap_or(0).clamp(6, 24), event: event_width(&recorded) };
    let selection = selection(args, &recorded)?;
    let mut left = args.limit.unwrap_or(u64::MAX);
    if left == 0 {
        return Ok(Status::Done);
    }
    let clocks = list_selected::<anyhow::Error>(&recorded, &options, &selection, |record| {
        let line = if args.json { json_line(record, &recorded) } else { columns.line(record) };
        writeln!(out, "{line}").context("cannot write")?;
        left -= 1;
        Ok(if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    out.flush().context("cannot write")?;
    let losses = recorded.losses();
    for loss in &losses {
        term::note(&format!("tumit: {loss}"));
    }
    for remark in &clocks.remarks {
        term::note(&format!("tumit: {remark}"));
    }
    Ok(if losses.is_empty() { Status::Done } else { Status::InputHasMistakes })
}

/// The filters as the library takes them. A level or event that no spec of the run has is a mistake, not an empty result.
fn selection(args: &Args, run: &Run) -> anyhow::Result<Selection> {
    let schemas = || run.processes.iter().flat_map(|process| &process.providers).map(|provider| &provider.schema);
    let levels: BTreeSet<&str> = schemas().flat_map(|schema| &schema.levels).map(|level| level.name.as_str()).collect();
    let events: BTreeSet<&str> = schemas().flat_map(|schema| &schema.records).map(|kind| kind.name.as_str()).collect();
    for name in &args.level {
        let own = name.rsplit('.').next().unwrap_or(name);
        if !levels.iter().any(|level| level.eq_ignore_ascii_case(own)) {
            bail!("no spec of this run has a level `{name}`{}", instead(own, &levels));
        }
    }
    let spans = events.iter().filter_map(|event| event.split_once('.')).map(|(span, _)| span);
    let events: BTreeSet<&str> = events.iter().copied().chain(spans).collect();
    if let Some(name) = args.event.iter().find(|name| !events.contains(name.as_str())) {
        bail!("no spec of this run has an event `{name}`{}", instead(name, &events));
    }
    let mut selection = Selection::default();
    selection.levels.clone_from(&args.level);
    selection.events.clone_from(&args.event);
    selection.processes.clone_from(&args.process);
    selection.threads.clone_from(&args.thread);
    selection.times.clone_from(&args.time);
    Ok(selection)
}

/// What may have been meant.
fn instead(wrong: &str, known: &BTreeSet<&str>) -> String {
    did_you_mean(wrong, known.iter().copied()).map_or_else(String::new, |help| format!("; {help}"))
}

/// Reads `FROM..TO`, where either may be left out.
fn interval(text: &str) -> Result<(GlobalNanos, GlobalNanos), String> {
    let Some((from, to)) = text.split_once("..") else {
        return Err("write FROM..TO, as in 1.5..1.6 or 250ms..".to_owned());
    };
    let from = if from.trim().is_empty() { GlobalNanos(i64::MIN) } else { date(from)? };
    let to = if to.trim().is_empty() { GlobalNanos(i64::MAX) } else { date(to)? };
    if from > to { Err("it ends before it starts".to_owned()) } else { Ok((from, to)) }
}

/// Reads a date: digits, perhaps with a point, perhaps with a unit. Exact to the nanosecond.
fn date(text: &str) -> Result<GlobalNanos, String> {
    let text = text.trim();
    let number = text.trim_end_matches(char::is_alphabetic);
    let power = match &text[number.len()..] {
        "ns" => 0,
        "us" | "µs" => 3,
        "ms" => 6,
        "" | "s" => 9,
        "min" => return date(number).and_then(|GlobalNanos(nanos)| scaled(nanos, 60, text)),
        unit => return Err(format!("`{unit}` is no unit: write ns, us, ms, s or min")),
    };
    let number = number.trim_end();
    let (negative, digits) = number.strip_prefix('-').map_or((false, number), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let wrong = || format!("`{text}` is no date: write 1.5, 250ms or 1000ns");
    if whole.len() + fraction.len() == 0 || !(whole.bytes().chain(fraction.bytes())).all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let fraction = &fraction[..fraction.len().min(power)];
    let padded = format!("{whole}{fraction:0<power$}");
    let nanos: i64 = padded.parse().ok().ok_or_else(|| format!("`{text}` is too large"))?;
    Ok(GlobalNanos(if negative { -nanos } else { nanos }))
}

fn scaled(nanos: i64, by: i64, text: &str) -> Result<GlobalNanos, String> {
    nanos.checked_mul(by).map(GlobalNanos).ok_or_else(|| format!("`{text}` is too large"))
}

fn event_width(run: &Run) -> usize {
    let schemas = run.processes.iter().flat_map(|process| &process.providers).map(|provider| &provider.schema);
    schemas.flat_map(|schema| &schema.records).map(|record| record.name.chars().count()).max().unwrap_or(0)
}

/// Widths of the columns.
struct Columns {
    ranked: bool,
    thread: usize,
    event: usize,
}

impl Columns {
    fn line(&self, record: &Listed<'_>) -> String {
        let process = if self.ranked { format!("rank {}", record.rank) } else { format!("pid {}", record.pid) };
        let mut line = format!(
            "{:>15}  {process:<11}  {:<thread$}  {:<event$} ",
            FieldValue::Date(record.time).to_string(),
            record.thread,
            record.event,
            thread = self.thread,
            event = self.event,
        );
        for (name, value) in record.fields {
            line.push(' ');
            line.push_str(name);
            line.push('=');
            match value {
                FieldValue::Text(text) => line.push_str(&format!("{text:?}")),
                value => line.push_str(&value.to_string()),
            }
        }
        if let Some((file, number)) = record.source {
            line.push_str(&format!("  ({file}:{number})"));
        }
        line.truncate(line.trim_end().len());
        line
    }
}

fn json_line(record: &Listed<'_>, run: &Run) -> String {
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
    if let Some((file, line)) = record.source {
        object["file"] = json!(file);
        object["line"] = json!(line);
    }
    object.to_string()
}

fn json_value(value: FieldValue<'_>) -> Value {
    match value {
        FieldValue::Integer(value) => i64::try_from(value)
            .map(Value::from)
            .or_else(|_| u64::try_from(value).map(Value::from))
            .unwrap_or(Value::Null),
        FieldValue::Float(value) => json!(value),
        FieldValue::Single(value) => json!(value),
        FieldValue::Bool(value) => json!(value),
        FieldValue::Date(time) => json!(time.0),
        other => Value::from(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{GlobalNanos, interval};

    #[test]
    fn intervals_are_exact() {
        let read = |text: &str| interval(text).map(|(from, to)| (from.0, to.0));
        assert_eq!(read("1.5..1.6"), Ok((1_500_000_000, 1_600_000_000)));
        assert_eq!(read("250ms.."), Ok((250_000_000, i64::MAX)));
        assert_eq!(read("..0.000000001"), Ok((i64::MIN, 1)));
        assert_eq!(read("7ns..2.5us"), Ok((7, 2500)));
        assert_eq!(read("-1..2min"), Ok((-1_000_000_000, 120_000_000_000)));
        for wrong in ["1", "2..1", "x..", "1h..2h", "..", "1.2.3..", "99999999999999.."] {
            assert_eq!(interval(wrong).is_err(), wrong != "..", "{wrong}");
        }
        assert_eq!(interval(".."), Ok((GlobalNanos(i64::MIN), GlobalNanos(i64::MAX))));
    }
}
