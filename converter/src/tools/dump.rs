//! The records of a run as they were recorded, in order of time. `tumit dump` prints them.
//!
//! ```
//! # use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};
//! # let folder = tempfile::tempdir()?;
//! # let text = "trace heat; level APP { event step { n: u32 } }";
//! # let spec = tumit::compile_text("heat.tumit", text).0.expect("correct");
//! # let mut file = SyntheticFile::new(&SyntheticProcess::rank(0), &spec.schema());
//! # file.thread(0, 1, "main");
//! # let mut records = SyntheticRecords::default();
//! # records.record(0, 1_000, &5u32.to_le_bytes());
//! # records.record(0, 2_000, &6u32.to_le_bytes());
//! # file.records(0, 0, &records);
//! # file.end();
//! # file.save(folder.path(), "0.tmt");
//! # let path = folder.path();
//! use tumit_converter::convert::{ConvertError, ConvertOptions};
//! use tumit_converter::run::OpenRun;
//! use tumit_converter::tools::dump::list;
//!
//! let mut lines = Vec::new();
//! list::<ConvertError>(&OpenRun::open(path)?, &ConvertOptions::default(), |record| {
//!     lines.push(format!("{} {} {:?}", record.time.0, record.event, record.fields));
//!     Ok(())
//! })?;
//! assert_eq!(lines, [r#"0 step [("n", Integer(5))]"#, r#"1000 step [("n", Integer(6))]"#]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::clock::RunClocks;
use crate::convert::planning::plan::{ConversionPlan, RecordOrigin, plan_of_layouts};
use crate::convert::run_facts::gaps;
use crate::convert::time_order::loser_tree::merge;
use crate::convert::time_order::ordered_item::ItemSelection;
use crate::convert::time_order::ordered_stream::OrderedStream;
use crate::convert::wall_clock;
use crate::convert::{ConvertError, ConvertOptions, corrected_timestamps};
use crate::rules::{RecordScope, RuleValue, Symbols, append_value};
use crate::run::StreamInRun;
use crate::run::{Loss, OpenRun};
use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::{OpenTimeRange, TimeRange};
use tumit_paje::{SourcePosition, TraceDiagnostic};

/// A record with its names.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ListedRecord<'a> {
    /// Its timestamp.
    pub time: GlobalNanos,
    /// The timestamp by the real-time clock, nanoseconds since 1970; `None` if no process of the
    /// run read that clock.
    pub wall_clock: Option<i64>,
    /// Position of its process in the run.
    pub process: usize,
    /// Process id of the operating system.
    pub pid: u64,
    /// Rank in the job. Without a rank, the place of the process in the run.
    pub rank: u64,
    /// Thread id of the operating system.
    pub tid: u64,
    /// Host name.
    pub host: &'a str,
    /// Name of the thread, with an ordinal if several threads of the process have the name.
    pub thread: &'a str,
    /// The label of the thread's streams. Empty if the program gave none.
    pub label: &'a str,
    /// Name of the level.
    pub level: &'a str,
    /// Name of the event, or of the end of a span (`iteration.begin`).
    pub event: &'a str,
    /// The source position, if it was recorded.
    pub source: Option<SourcePosition<'a>>,
    /// The recorder truncated its longest texts, bytes or arrays, because the record was too long.
    pub is_truncated: bool,
    /// Its fields, in order.
    pub fields: &'a [(&'a str, DumpValue<'a>)],
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DumpValue<'a> {
    /// An integer of any type of fields, signed or unsigned.
    Integer(i128),
    /// A 64-bit float.
    Float(f64),
    /// A 32-bit float.
    Single(f32),
    /// True or false.
    Bool(bool),
    /// A timestamp on the run's time line.
    Date(GlobalNanos),
    /// Any other value, as text.
    Text(&'a str),
    /// The elements of a list. No element is a list.
    List(&'a [DumpValue<'a>]),
}

/// A selection of records. A record has to match one item of each list that is not empty.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RecordSelection {
    /// Names of levels, in any case, with the trace's name before it (`heat.MPI`) or without.
    pub levels: Vec<String>,
    /// Names of events, spans (`step`) or ends of spans (`step.begin`).
    pub events: Vec<String>,
    /// Processes by rank, process id or both. See [`OpenRun::processes_named`].
    pub processes: Vec<String>,
    /// Names, labels or ids of threads.
    pub threads: Vec<String>,
    /// A record is selected if one of them contains its timestamp.
    pub times: Vec<OpenTimeRange>,
}

impl RecordSelection {
    /// By stream of the run, in the order of its processes: whether it is selected.
    pub(crate) fn streams_of(&self, run: &OpenRun) -> Vec<bool> {
        let called: BTreeSet<usize> = self.processes.iter().flat_map(|name| run.processes_named(name)).collect();
        let mut streams = Vec::new();
        for (number, process) in run.processes.iter().enumerate() {
            let is_process = self.processes.is_empty() || called.contains(&number);
            let is_thread = |stream: &StreamInRun| {
                self.threads.is_empty() || self.threads.iter().any(|name| stream.is_called(name))
            };
            streams.extend(process.streams.iter().map(|stream| is_process && is_thread(stream)));
        }
        streams
    }

    pub(crate) fn takes_kind(&self, level: &str, event: &str) -> bool {
        let span = event.split('.').next().unwrap_or("");
        let is_level = |name: &String| name.rsplit('.').next().is_some_and(|name| name.eq_ignore_ascii_case(level));
        (self.events.is_empty()
            || self.events.iter().any(|name| name.eq_ignore_ascii_case(event) || name.eq_ignore_ascii_case(span)))
            && (self.levels.is_empty() || self.levels.iter().any(is_level))
    }

    pub(crate) fn takes_time(&self, time: GlobalNanos) -> bool {
        self.times.is_empty() || self.times.iter().any(|range| range.contains(time))
    }

    /// Whether a timestamp from `first` to `last`, both included, can be selected.
    pub(crate) fn takes_some_of(&self, first: GlobalNanos, last: GlobalNanos) -> bool {
        self.times.is_empty() || self.times.iter().any(|range| range.overlaps(first, last))
    }

    /// The earliest start and the latest end of the selected time ranges.
    pub(crate) fn range(&self) -> TimeRange {
        let (first, last) = (GlobalNanos(i64::MIN), GlobalNanos(i64::MAX));
        let from = self.times.iter().map(|range| range.from.unwrap_or(first)).min();
        let to = self.times.iter().map(|range| range.to.unwrap_or(last)).max();
        TimeRange { from: from.unwrap_or(first), to: to.unwrap_or(last) }
    }
}

/// The results of a listing besides the records.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DumpReport {
    /// The clock model.
    pub clocks: RunClocks,
    /// Errors of clocks, samples or the order of links. Then warnings about timestamps from the
    /// order of links.
    pub diagnostics: Vec<TraceDiagnostic>,
    /// Data that was read and could not be decoded.
    pub unreadable_files: Vec<Loss>,
}

/// Visits the records of a run in order of time. Timestamps are those of a conversion with these
/// options.
///
/// # Errors
/// When the run cannot be read, or when `visit` fails.
pub fn list<E: From<ConvertError>>(
    run: &OpenRun,
    options: &ConvertOptions,
    mut visit: impl FnMut(&ListedRecord<'_>) -> Result<(), E>,
) -> Result<DumpReport, E> {
    list_selected(run, options, &RecordSelection::default(), |record| visit(record).map(ControlFlow::Continue))
}

/// Visits the selected records of a run in order of time, until `visit` returns `Break`. Streams
/// and blocks without selected records are not read.
///
/// # Errors
/// When the run cannot be read, or when `visit` fails.
pub fn list_selected<E: From<ConvertError>>(
    run: &OpenRun,
    options: &ConvertOptions,
    selection: &RecordSelection,
    mut visit: impl FnMut(&ListedRecord<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<DumpReport, E> {
    let mut clocks = RunClocks::new(run, options.clock);
    let (mut plan, symbols) = plan_of_layouts(run, &mut clocks).map_err(E::from)?;
    let mut diagnostics = clocks.errors();
    if let Some(timestamps) = corrected_timestamps(run, options).map_err(E::from)? {
        diagnostics = timestamps.errors();
        diagnostics.extend(timestamps.diagnostics);
        plan.timestamp_maps = timestamps.timestamp_maps;
        clocks = timestamps.clocks;
    }
    let plan = plan;
    let start = wall_clock::start_of(run, &clocks);
    let streams = selection.streams_of(run);
    let range = selection.range();
    let mut sources = Vec::new();
    for (stream, file) in plan.files().map_err(ConvertError::from)?.into_iter().enumerate() {
        if streams.get(stream) == Some(&true) {
            let mut reader = plan.reader(stream, file);
            // If the causal pass shifts records, timestamps depend on the position in the stream,
            // so no record is skipped.
            if plan.timestamp_maps[stream].has_lines_only() {
                reader.skip_before(|ticks| {
                    plan.timestamp_maps[stream].correct(plan.raw_timestamp(stream, ticks), 0) < range.from.0
                });
            }
            sources.push(
                OrderedStream::new(&plan, stream, reader, None, ItemSelection::RECORDS).map_err(ConvertError::from)?,
            );
        }
    }
    let kinds =
        plan.programs.iter().map(|kind| selection.takes_kind(symbols.text(kind.level), symbols.text(kind.full_name)));
    let kinds: Vec<bool> = kinds.collect();
    let mut scratch = String::new();
    let result = merge::<_, DumpStop<E>>(&mut sources, |_, source| {
        let Some((item, _)) = source.item() else { return Ok(()) };
        if item.corrected_time > range.to.0 {
            return Err(DumpStop::Enough);
        }
        let kind = plan.program_number(source.stream, item.position.id);
        let is_selected = kind.and_then(|kind| kinds.get(kind)).is_some_and(|is_selected| *is_selected);
        if !is_selected || !selection.takes_time(GlobalNanos(item.corrected_time)) {
            return Ok(());
        }
        match record(&plan, (source, start), &symbols, &mut scratch, &mut visit) {
            Ok(ControlFlow::Continue(())) => Ok(()),
            Ok(ControlFlow::Break(())) => Err(DumpStop::Enough),
            Err(error) => Err(DumpStop::Visitor(error)),
        }
    });
    let mut unreadable_files = Vec::new();
    for source in &sources {
        gaps::add_undecodable(&mut unreadable_files, source.reader());
    }
    match result {
        Ok(()) | Err(DumpStop::Enough) => Ok(DumpReport { clocks, diagnostics, unreadable_files }),
        Err(DumpStop::Visitor(error)) => Err(error),
        Err(DumpStop::Read(error)) => Err(ConvertError::from(error).into()),
    }
}

/// Reasons for the end of the merge.
enum DumpStop<E> {
    Enough,
    Visitor(E),
    Read(crate::run::RunReadError),
}

impl<E> From<crate::run::RunReadError> for DumpStop<E> {
    fn from(error: crate::run::RunReadError) -> Self {
        Self::Read(error)
    }
}

fn record<E>(
    plan: &ConversionPlan<'_>,
    (source, start): (&OrderedStream<'_>, Option<i64>),
    symbols: &Symbols,
    scratch: &mut String,
    visit: &mut impl FnMut(&ListedRecord<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    let Some((item, body)) = source.item() else { return Ok(ControlFlow::Continue(())) };
    let Some(program) = plan.program(source.stream, item.position.id) else { return Ok(ControlFlow::Continue(())) };
    let origin = RecordOrigin { site: item.position.site, ordinal: item.position.ordinal };
    let scope = plan.scope(source.stream, program, item.record_time, origin, body);
    scratch.clear();
    let vals = values(&scope.with_corrected_time(), scratch, symbols);
    let text: &str = scratch;
    let lists: Vec<Vec<DumpValue<'_>>> = vals
        .iter()
        .map(|(_, value)| match value {
            DumpElements::One(_) => Vec::new(),
            DumpElements::List(list) => list.iter().map(|val| field_value(*val, text, symbols)).collect(),
        })
        .collect();
    let fields = vals.iter().zip(&lists).map(|((name, value), list)| match value {
        DumpElements::One(val) => (*name, field_value(*val, text, symbols)),
        DumpElements::List(_) => (*name, DumpValue::List(list)),
    });
    let fields: Vec<(&str, DumpValue<'_>)> = fields.collect();
    let stream = &plan.streams[source.stream];
    let name = symbols.text(stream.thread_name);
    let numbered = (stream.name_ordinal > 0).then(|| format!("{name} (#{})", stream.name_ordinal));
    visit(&ListedRecord {
        time: GlobalNanos(item.corrected_time),
        wall_clock: start.map(|start| start.saturating_add(item.corrected_time)),
        process: stream.process,
        pid: stream.pid,
        rank: stream.rank,
        tid: stream.tid,
        host: symbols.text(stream.host),
        thread: numbered.as_deref().unwrap_or(name),
        label: symbols.text(stream.label),
        level: symbols.text(program.level),
        event: symbols.text(program.full_name),
        source: scope.source().map(|site| SourcePosition { file: symbols.text(site.file), line: site.line }),
        is_truncated: item.position.is_truncated,
        fields: &fields,
    })
}

/// The value of a field, or the values of its elements.
enum DumpElements {
    One(RuleValue),
    List(Vec<RuleValue>),
}

/// The values of all fields. Values that are neither numbers nor timestamps are converted to text.
fn values<'s>(scope: &RecordScope<'s>, scratch: &mut String, symbols: &Symbols) -> Vec<(&'s str, DumpElements)> {
    let plain = |val: RuleValue, scratch: &mut String| match val {
        RuleValue::Date(_)
        | RuleValue::Bool(_)
        | RuleValue::Unsigned(_)
        | RuleValue::Single(_)
        | RuleValue::Float(_)
        | RuleValue::Int(_) => val,
        other => other.in_scratch(scratch, symbols),
    };
    let mut vals = Vec::new();
    for action in &scope.program.actions {
        for (name, code) in &action.fields {
            let value = match scope.elements(code, scratch, symbols) {
                Some(list) => DumpElements::List(list.into_iter().map(|val| plain(val, scratch)).collect()),
                None => DumpElements::One(plain(scope.eval(code, scratch, symbols), scratch)),
            };
            vals.push((name.as_str(), value));
        }
    }
    vals
}

fn field_value<'a>(val: RuleValue, scratch: &'a str, symbols: &'a Symbols) -> DumpValue<'a> {
    match val {
        RuleValue::Date(nanos) => DumpValue::Date(GlobalNanos(nanos)),
        RuleValue::Bool(value) => DumpValue::Bool(value),
        RuleValue::Float(value) => DumpValue::Float(value),
        RuleValue::Single(value) => DumpValue::Single(value),
        val => match val.integer() {
            Some(value) => DumpValue::Integer(value),
            None => DumpValue::Text(val.text(scratch, symbols).unwrap_or("?")),
        },
    }
}

impl std::fmt::Display for DumpValue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Single(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Date(time) => {
                let mut text = String::new();
                append_value(RuleValue::Date(time.0), "", &Symbols::default(), &mut text);
                f.write_str(&text)
            }
            Self::Text(text) => f.write_str(text),
            Self::List(list) => {
                f.write_str("[")?;
                for (number, element) in list.iter().enumerate() {
                    f.write_str(if number > 0 { ", " } else { "" })?;
                    match element {
                        // Quotes distinguish one text with a comma from two texts.
                        Self::Text(text) => write!(f, "{text:?}")?,
                        element => write!(f, "{element}")?,
                    }
                }
                f.write_str("]")
            }
        }
    }
}
