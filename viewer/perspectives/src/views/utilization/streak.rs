//! G27: how long each unit has been busy or idle without a break.

use tumit_paje::category::ActivityCategory::{self, Busy, Idle, Overhead};
use tumit_viewer::parallel_map::{SEARCHES_PER_THREAD, map_indexes};
use tumit_viewer::query::TimeRange;

use crate::chart::{
    AxisUnit, Bar, BarChart, BarPart, ChartAxis, ChartPaint, ChartPanel, ChartTable, LegendItem, TableValue,
    TitledPanel, ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::category_timeline::CategoryTimeline;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::unit_bundles::{UnitBundle, UnitBundles};
use crate::views::{captions, category_legend};

/// Maximum number of bars. More bars would be thinner than about three pixels on usual screens.
const MAX_BARS: usize = 256;

/// The length of the current run of each unit: busy (above 0) or idle (below 0).
///
/// A run is a sequence of busy times, or of idle times, with nothing but overhead between them. Its
/// length is the sum of these times, so overhead neither extends nor ends it. With the option
/// `count=busy+overhead`, overhead counts as busy. Runs begin in the time range.
pub(crate) struct UnitStreaks;

/// The runs of a unit until a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct UnitRuns {
    /// The kind of the current run: [`Busy`] or [`Idle`].
    kind: Option<ActivityCategory>,
    /// Its length in nanoseconds.
    nanos: i64,
    /// The length of the longest busy run so far.
    longest_busy: i64,
    /// The length of the longest idle run so far.
    longest_idle: i64,
}

impl PerspectiveView for UnitStreaks {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "streak",
            number: Some(27),
            title: "Streaks",
            group: ViewGroup::Utilization,
            summary: "How long each unit has been busy, or idle, without a break.",
            required_data: "states",
            modes: &[TimeMode::At],
            options: &["order", "count"],
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "times are drawn")]
    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let activity = execution.activity()?;
        // After the trace, no run continues.
        let time = request.time.min(execution.extent().to).max(request.range.from);
        let past = TimeRange { from: request.range.from, to: time };
        let bundles = UnitBundles::new(execution, request, MAX_BARS)?;
        let counts_overhead = request.options.counts_overhead;
        let of_unit = |unit: usize| UnitRuns::new(&activity.timeline(unit), past, time.0, counts_overhead);
        let runs = map_indexes(activity.units(), SEARCHES_PER_THREAD, of_unit);
        let largest = runs.iter().map(|run| run.nanos.max(run.longest_busy)).max().unwrap_or(0);
        let bars = bundles.iter(execution).map(|bundle| bar(&bundle, &runs));
        let chart = BarChart {
            axis: ChartAxis::new("length of the run", AxisUnit::Nanos, largest as f64),
            arrangement: captions::unit_type(execution).to_owned(),
            bars: bars.collect(),
            unit_lists: bundles.lists(),
            counts: None,
        };
        let overhead = if counts_overhead { "overhead counts as busy" } else { "overhead does not end a run" };
        let subtitle = [captions::time_caption(request), overhead.to_owned(), captions::order_caption(request)];
        let notes = [bundles.note(execution, "Each bar is the mean of"), category_legend::guess_note(execution)];
        let item =
            |category, label: &str| LegendItem { paint: ChartPaint::Category(category), label: label.to_owned() };
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&subtitle),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Bars(chart) }],
            legend: vec![
                item(Busy, "busy"),
                item(Idle, "idle"),
                LegendItem { paint: ChartPaint::Maximum, label: "longest busy run so far".to_owned() },
            ],
            table: request.table(|| table(execution, &bundles, &runs)),
            notes: notes.into_iter().flatten().collect(),
        })
    }
}

impl UnitRuns {
    fn new(timeline: &CategoryTimeline, past: TimeRange, time: i64, counts_overhead: bool) -> Self {
        let kind = |category| match category {
            Busy | Idle => Some(category),
            Overhead if counts_overhead => Some(Busy),
            _ => None,
        };
        let mut runs = Self::default();
        for piece in timeline.pieces(past) {
            runs.continue_with(kind(piece.category), piece.to.saturating_sub(piece.from));
        }
        // A run that begins at the time cursor has length 0.
        runs.continue_with(kind(timeline.at(time)), 0);
        runs
    }

    fn continue_with(&mut self, kind: Option<ActivityCategory>, nanos: i64) {
        let Some(kind) = kind else { return };
        if self.kind != Some(kind) {
            (self.kind, self.nanos) = (Some(kind), 0);
        }
        self.nanos = self.nanos.saturating_add(nanos);
        let longest = if kind == Busy { &mut self.longest_busy } else { &mut self.longest_idle };
        *longest = self.nanos.max(*longest);
    }

    /// The length of the current run if it is of a kind, otherwise 0.
    fn length(&self, kind: ActivityCategory) -> i64 {
        if self.kind == Some(kind) { self.nanos } else { 0 }
    }
}

/// The mean busy run and the mean idle run of some units.
#[expect(clippy::cast_precision_loss, reason = "means are rounded")]
fn bar(bundle: &UnitBundle<'_>, runs: &[UnitRuns]) -> Bar {
    let mean = |kind: ActivityCategory| {
        let sum: i128 = bundle.members.iter().map(|unit| i128::from(runs[*unit].length(kind))).sum();
        sum as f64 / bundle.members.len() as f64
    };
    let signed = [(Busy, mean(Busy)), (Idle, -mean(Idle))];
    let parts = signed.into_iter().filter(|(_, value)| *value != 0.0);
    let parts = parts.map(|(category, value)| BarPart { paint: ChartPaint::Category(category), value });
    let longest = bundle.members.iter().map(|unit| runs[*unit].longest_busy).max().unwrap_or(0);
    Bar {
        label: bundle.label.clone(),
        unit: bundle.unit,
        base: 0.0,
        parts: parts.collect(),
        maximum: Some(longest as f64),
    }
}

#[expect(clippy::cast_precision_loss, reason = "CSV has times as decimal numbers")]
fn table(execution: &Execution, bundles: &UnitBundles, runs: &[UnitRuns]) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("unit", AxisUnit::Count),
        ("run", AxisUnit::Count),
        ("length", AxisUnit::Nanos),
        ("longest busy run", AxisUnit::Nanos),
        ("longest idle run", AxisUnit::Nanos),
    ]);
    table.rows.extend(bundles.order().iter().map(|unit| {
        let run = runs[*unit];
        let kind = run.kind.map_or(TableValue::Absent, |kind| kind.word().into());
        let lengths = [run.nanos, run.longest_busy, run.longest_idle];
        let mut row = vec![TableValue::Text(execution.units().list()[*unit].name.clone()), kind];
        row.extend(lengths.map(|nanos| TableValue::Number(nanos as f64)));
        row
    }));
    table
}
