//! G3: the fraction of time that each unit is busy, overhead and idle.

use tumit_viewer::parallel_map::{SEARCHES_PER_THREAD, map_indexes};

use crate::chart::{AxisUnit, Bar, BarChart, ChartAxis, ChartPanel, ChartTable, TableValue, TitledPanel, ViewChart};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::activity::UnitActivity;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::unit_bundles::{UnitBundle, UnitBundles};
use crate::views::{captions, category_legend};

/// Maximum number of bars. More bars would be thinner than about three pixels on usual screens.
const MAX_BARS: usize = 256;

/// The fraction of time that each unit spends in each category.
pub(crate) struct UtilizationSummary;

impl PerspectiveView for UtilizationSummary {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "utilization-summary",
            number: Some(3),
            title: "Utilization summary",
            group: ViewGroup::Utilization,
            summary: "The fraction of time that each unit is busy, overhead and idle.",
            required_data: "states",
            modes: &[TimeMode::Range, TimeMode::Moving],
            options: &["order", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let (activity, range) = (execution.activity()?, request.visible_range());
        let bundles = UnitBundles::new(execution, request, MAX_BARS)?;
        let fractions = map_indexes(activity.units(), SEARCHES_PER_THREAD, |unit| activity.fractions(unit, range));
        let bars = bundles.iter(execution).map(|bundle| bar(&bundle, &fractions)).collect();
        let chart = BarChart {
            axis: ChartAxis::new("time", AxisUnit::Percent, 100.0),
            arrangement: captions::unit_type(execution).to_owned(),
            bars,
            unit_lists: bundles.lists(),
            counts: None,
        };
        let notes = [bundles.note(execution, "Each bar is the mean of"), category_legend::guess_note(execution)];
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[captions::range_caption(request), captions::order_caption(request)]),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Bars(chart) }],
            legend: category_legend::legend(),
            table: request.table(|| table(execution, activity, request, &bundles, &fractions)),
            notes: notes.into_iter().flatten().collect(),
        })
    }
}

/// The mean of some units.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn bar(bundle: &UnitBundle<'_>, fractions: &[[f64; 3]]) -> Bar {
    let percent = |category: usize| {
        let sum: f64 = bundle.members.iter().map(|unit| fractions[*unit][category]).sum();
        100.0 * sum / bundle.members.len() as f64
    };
    let parts = category_legend::bar_parts([percent(0), percent(1), percent(2)]);
    Bar { label: bundle.label.clone(), unit: bundle.unit, base: 0.0, parts, maximum: None }
}

/// The time of each unit per category.
fn table(
    execution: &Execution,
    activity: &UnitActivity,
    request: &ViewRequest,
    bundles: &UnitBundles,
    fractions: &[[f64; 3]],
) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("unit", AxisUnit::Count),
        ("busy", AxisUnit::Nanos),
        ("overhead", AxisUnit::Nanos),
        ("idle", AxisUnit::Nanos),
        ("busy, %", AxisUnit::Percent),
        ("overhead, %", AxisUnit::Percent),
        ("idle, %", AxisUnit::Percent),
    ]);
    let range = request.visible_range();
    table.rows.extend(bundles.order().iter().map(|unit| {
        let times = activity.mean_times(*unit, range);
        let percent = fractions[*unit].map(|fraction| 100.0 * fraction);
        let mut row = vec![TableValue::Text(execution.units().list()[*unit].name.clone())];
        row.extend(times.into_iter().chain(percent).map(TableValue::Number));
        row
    }));
    table
}
