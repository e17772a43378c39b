//! G6: the smoothed utilization of each unit, now and its maximum so far, as a polygon.

use tumit_paje::category::ActivityCategory;
use tumit_viewer::parallel_map::{SEARCHES_PER_THREAD, map_indexes};
use tumit_viewer::query::TimeRange;
use tumit_viewer::text::time_display::duration;

use crate::chart::{
    AxisUnit, ChartPaint, ChartPanel, ChartTable, KiviatChart, KiviatSpoke, LegendItem, TableValue, TitledPanel,
    ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::activity::UnitActivity;
use crate::execution::category_timeline::{CategoryPiece, CategoryTimeline, CategoryTimes};
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::moving_window::{RunningMaximum, SmoothingWindow, WindowQuantity, WindowStep};
use crate::views::unit_bundles::{UnitBundle, UnitBundles};
use crate::views::{captions, category_legend};

/// Maximum number of spokes. The ends of more spokes would be closer than about five pixels.
const MAX_SPOKES: usize = 200;

/// The utilization of each unit, smoothed over the time before the time cursor, and its maximum
/// so far.
///
/// The utilization at `t` is the fraction of the time range `[t − width, t)` in which the unit is
/// busy. Near the start of the time range, the width is shorter.
pub(crate) struct KiviatDiagram;

/// The smoothed utilization of a unit, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SmoothedUse {
    now: f64,
    maximum: f64,
}

impl PerspectiveView for KiviatDiagram {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "kiviat",
            number: Some(6),
            title: "Kiviat diagram",
            group: ViewGroup::Utilization,
            summary: "The recent utilization of each unit, and its maximum so far.",
            required_data: "states",
            modes: &[TimeMode::At],
            options: &["order", "width", "count"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let activity = execution.activity()?;
        let bundles = UnitBundles::new(execution, request, MAX_SPOKES)?;
        let window = SmoothingWindow::new(request.range, request.options.width);
        let counts_overhead = request.options.counts_overhead;
        let key = format!("{} {window:?} {counts_overhead}", self.info().name);
        let whole = TimeRange { from: request.range.from, to: execution.extent().to.max(request.range.to) };
        let maxima = execution.derived(&key, || Ok(maxima(activity, window, whole, counts_overhead)))?;
        let uses = map_indexes(maxima.len(), SEARCHES_PER_THREAD, |unit| {
            smoothed_use(activity, unit, window, request.time.0, counts_overhead, &maxima[unit])
        });
        let spokes = bundles.iter(execution).map(|bundle| spoke(&bundle, &uses)).collect();
        let chart = KiviatChart { spokes, units_per_spoke: bundles.size(), unit_lists: bundles.lists() };
        let counted = if counts_overhead { "busy or overhead" } else { "busy" };
        let subtitle = [
            captions::time_caption(request),
            format!("{counted}, mean over the last {}", duration(window.width)),
            "maximum since the start".to_owned(),
            captions::order_caption(request),
        ];
        let note = (bundles.size() > 1).then(|| {
            let size = bundles.size();
            format!("Each spoke shows the smallest, mean and largest value of {size} adjacent units.")
        });
        let item = |paint, label: &str| LegendItem { paint, label: label.to_owned() };
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&subtitle),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Kiviat(chart) }],
            legend: vec![item(ChartPaint::Now, "present"), item(ChartPaint::Maximum, "maximum so far")],
            table: request.table(|| table(execution, &bundles, &uses)),
            notes: [note, category_legend::guess_note(execution)].into_iter().flatten().collect(),
        })
    }
}

fn counts(category: ActivityCategory, counts_overhead: bool) -> bool {
    category == ActivityCategory::Busy || counts_overhead && category == ActivityCategory::Overhead
}

/// The running maximum of the smoothed number of timelines that count, of each unit.
fn maxima(
    activity: &UnitActivity,
    window: SmoothingWindow,
    range: TimeRange,
    counts_overhead: bool,
) -> Vec<RunningMaximum> {
    map_indexes(activity.units(), 1, |unit| {
        let quantity = CountedTimelines { timelines: activity.timelines(unit), counts_overhead };
        window.running_maximum(&quantity, range.to.0)
    })
}

/// The present smoothed utilization, and its exact maximum since the start of the window.
#[expect(clippy::cast_precision_loss, reason = "a fraction is rounded")]
fn smoothed_use(
    activity: &UnitActivity,
    unit: usize,
    window: SmoothingWindow,
    time: i64,
    counts_overhead: bool,
    maxima: &RunningMaximum,
) -> SmoothedUse {
    let timelines = activity.timelines(unit);
    let parts = timelines.len().max(1) as f64;
    let range = window.at(time);
    let now = if range.from < range.to {
        let times = activity.times(unit, range);
        let counted = times[0] + if counts_overhead { times[1] } else { 0 };
        counted as f64 / (range.to.0.saturating_sub(range.from.0)) as f64
    } else {
        timelines.iter().filter(|timeline| counts(timeline.at(time), counts_overhead)).count() as f64
    };
    // The mean is monotonic between the times of the running maximum, so its maximum is at one of
    // them or at the present.
    let maximum = if time >= window.start { now.max(maxima.at(time)) } else { now };
    SmoothedUse { now: now / parts, maximum: maximum / parts }
}

/// The number of timelines of a unit whose category counts.
struct CountedTimelines<'a> {
    timelines: &'a [CategoryTimeline],
    counts_overhead: bool,
}

impl WindowQuantity for CountedTimelines<'_> {
    fn changes(&self) -> usize {
        self.timelines.iter().map(CategoryTimeline::changes).sum()
    }

    fn limit(&self) -> i64 {
        i64::try_from(self.timelines.len()).unwrap_or(i64::MAX)
    }

    fn integral(&self, range: TimeRange) -> i128 {
        let counted = |[busy, overhead, _]: CategoryTimes| busy + if self.counts_overhead { overhead } else { 0 };
        self.timelines.iter().map(|timeline| counted(timeline.times(range))).sum()
    }

    fn steps(&self, range: TimeRange) -> Vec<WindowStep> {
        let value = |piece: &CategoryPiece| i64::from(counts(piece.category, self.counts_overhead));
        if let [timeline] = self.timelines {
            return timeline.pieces(range).map(|piece| WindowStep { from: piece.from, value: value(&piece) }).collect();
        }
        let mut deltas: Vec<(i64, i64)> = vec![(range.from.0, 0)];
        for timeline in self.timelines {
            let pieces = timeline.pieces(range);
            deltas.extend(pieces.flat_map(|piece| [(piece.from, value(&piece)), (piece.to, -value(&piece))]));
        }
        deltas.sort_unstable();
        let mut value = 0;
        let steps = deltas.chunk_by(|a, b| a.0 == b.0).filter_map(|changes| {
            value += changes.iter().map(|change| change.1).sum::<i64>();
            (changes[0].0 < range.to.0).then_some(WindowStep { from: changes[0].0, value })
        });
        steps.collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn spoke(bundle: &UnitBundle<'_>, uses: &[SmoothedUse]) -> KiviatSpoke {
    let (mut min, mut sum, mut max, mut maximum) = (f64::INFINITY, 0.0, 0.0_f64, 0.0_f64);
    for &unit in bundle.members {
        let SmoothedUse { now, maximum: largest } = uses[unit];
        (min, sum) = (min.min(now), sum + now);
        (max, maximum) = (max.max(now), maximum.max(largest));
    }
    let mean = (sum / bundle.members.len() as f64).clamp(min, max);
    KiviatSpoke { label: bundle.label.clone(), unit: bundle.unit, now: [min, mean, max], maximum }
}

fn table(execution: &Execution, bundles: &UnitBundles, uses: &[SmoothedUse]) -> ChartTable {
    let columns = [("unit", AxisUnit::Count), ("now, %", AxisUnit::Percent), ("maximum, %", AxisUnit::Percent)];
    let mut table = ChartTable::new(&columns);
    table.rows.extend(bundles.order().iter().map(|unit| {
        let name = TableValue::Text(execution.units().list()[*unit].name.clone());
        vec![name, TableValue::Number(100.0 * uses[*unit].now), TableValue::Number(100.0 * uses[*unit].maximum)]
    }));
    table
}
