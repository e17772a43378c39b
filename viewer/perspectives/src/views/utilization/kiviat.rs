//! G6: the smoothed utilisation of each unit, now and at most, as a polygon.

use tumit_viewer::query::{GlobalNanos, TimeRange};
use tumit_viewer::text::time_display::duration;

use crate::chart::{
    AxisUnit, ChartPaint, ChartPanel, ChartTable, KiviatChart, KiviatSpoke, LegendItem, TableValue, TitledPanel,
    ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::activity::UnitActivity;
use crate::execution::category_timeline::{CategoryPiece, CategoryTimeline, number};
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::moving_window::{MovingWindow, WindowStep};
use crate::views::unit_bundles::{UnitBundle, UnitBundles};
use crate::views::{captions, category_legend};

/// Maximum number of spokes.
const MAX_SPOKES: usize = 200;

/// The utilisation of each unit, smoothed over the time before the present time, and its maximum
/// so far.
///
/// The utilisation at `t` is the fraction of the time range `[t − width, t)` in which the unit is
/// busy. Near the start of the time range, the width is shorter.
pub(crate) struct KiviatDiagram;

/// The smoothed utilisation of a unit, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SmoothedUse {
    now: f64,
    maximum: f64,
}

impl PerspectiveView for KiviatDiagram {
    fn info(&self) -> ViewInfo {
        ViewInfo {
            name: "kiviat",
            number: Some(6),
            title: "Kiviat diagram",
            group: ViewGroup::Utilization,
            summary: "The recent utilization of each unit, and its maximum so far.",
            needs: "states",
            modes: &[TimeMode::At],
            options: &["order", "width", "count"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let activity = execution.activity()?;
        let bundles = UnitBundles::new(execution, request, MAX_SPOKES)?;
        let window = MovingWindow::new(request.range, request.options.width);
        let counts_overhead = request.options.counts_overhead;
        let of_unit = |unit: usize| smoothed_use(activity, unit, window, request.time, counts_overhead);
        let uses: Vec<SmoothedUse> = (0..activity.units()).map(of_unit).collect();
        let spokes = bundles.iter(execution).map(|bundle| spoke(&bundle, &uses)).collect();
        let chart = KiviatChart { spokes, units: bundles.size(), unit_lists: bundles.lists() };
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
            table: table(execution, &bundles, &uses),
            notes: [note, category_legend::guess_note(execution)].into_iter().flatten().collect(),
        })
    }
}

/// The present smoothed utilisation, and its exact maximum since the start of the window.
#[expect(clippy::cast_precision_loss, reason = "a fraction is rounded")]
fn smoothed_use(
    activity: &UnitActivity,
    unit: usize,
    window: MovingWindow,
    time: i64,
    counts_overhead: bool,
) -> SmoothedUse {
    let timelines = activity.timelines(unit);
    let parts = timelines.len().max(1) as f64;
    let counts = |category| matches!(number(category), Some(0)) || counts_overhead && number(category) == Some(1);
    let range = window.at(time);
    let now = if range.from < range.to {
        let times = activity.times(unit, range);
        let counted = times[0] + if counts_overhead { times[1] } else { 0 };
        counted as f64 / (range.to.0.saturating_sub(range.from.0)) as f64
    } else {
        timelines.iter().filter(|timeline| counts(timeline.at(time))).count() as f64
    };
    let mut maximum = now;
    if time > window.start {
        // With a width of 0, the value at the present time counts too.
        let until = if window.width == 0 { time.saturating_add(1) } else { time };
        let past = TimeRange { from: GlobalNanos(window.start), to: GlobalNanos(until) };
        let steps = steps(timelines, past, |piece| counts(piece.category));
        let limit = i64::try_from(timelines.len()).unwrap_or(i64::MAX);
        maximum = maximum.max(window.largest_mean(&steps, time, limit));
    }
    SmoothedUse { now: now / parts, maximum: maximum / parts }
}

/// The number of timelines whose category counts, in a time range.
fn steps(timelines: &[CategoryTimeline], range: TimeRange, counts: impl Fn(&CategoryPiece) -> bool) -> Vec<WindowStep> {
    let mut deltas: Vec<(i64, i64)> = vec![(range.from.0, 0)];
    for timeline in timelines {
        for piece in timeline.pieces(range).filter(|piece| counts(piece)) {
            deltas.extend([(piece.from, 1), (piece.to, -1)]);
        }
    }
    deltas.sort_unstable();
    let mut value = 0;
    let steps = deltas.chunk_by(|one, next| one.0 == next.0).filter_map(|changes| {
        value += changes.iter().map(|change| change.1).sum::<i64>();
        (changes[0].0 < range.to.0).then_some(WindowStep { from: changes[0].0, value })
    });
    steps.collect()
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

/// The utilisation of each unit.
fn table(execution: &Execution, bundles: &UnitBundles, uses: &[SmoothedUse]) -> ChartTable {
    let columns = [("unit", AxisUnit::Count), ("now, %", AxisUnit::Percent), ("maximum, %", AxisUnit::Percent)];
    let mut table = ChartTable::new(&columns);
    table.rows.extend(bundles.order().iter().map(|unit| {
        let name = TableValue::Text(execution.units().list()[*unit].name.clone());
        vec![name, TableValue::Number(100.0 * uses[*unit].now), TableValue::Number(100.0 * uses[*unit].maximum)]
    }));
    table
}
