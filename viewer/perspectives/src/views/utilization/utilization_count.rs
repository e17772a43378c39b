//! G1: the number of busy, overhead and idle units over time.

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::TimeRange;

use crate::chart::{
    AxisUnit, ChartAxis, ChartPaint, ChartPanel, ChartTable, LevelChart, LevelSeries, TitledPanel, ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::{captions, category_legend};

/// The number of units per category over time, stacked.
pub(crate) struct UtilizationCount;

impl PerspectiveView for UtilizationCount {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "utilization-count",
            number: Some(1),
            title: "Utilization count",
            group: ViewGroup::Utilization,
            summary: "The number of busy, overhead and idle units over time.",
            required_data: "states",
            modes: &[TimeMode::Range, TimeMode::Moving],
            options: &["width"],
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of units are drawn")]
    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let activity = execution.activity()?;
        let range = request.visible_range();
        let columns: Vec<TimeRange> = range.columns(request.columns.max(1)).collect();
        let edges = columns.first().map(|column| column.from.0).into_iter();
        let edges: Vec<i64> = edges.chain(columns.iter().map(|column| column.to.0)).collect();
        let key = format!("{} {range:?} {}", self.info().name, columns.len());
        let means = execution.derived(&key, || Ok(activity.mean_counts(&edges)))?;
        let series = ActivityCategory::COUNTED.into_iter().enumerate().map(|(index, category)| LevelSeries {
            label: category.word().to_owned(),
            paint: ChartPaint::Category(category),
            means: means.iter().map(|mean| mean[index]).collect(),
            extremes: Vec::new(),
        });
        let chart = LevelChart {
            from: range.from.0,
            to: range.to.0,
            cursor: (range.from.0..=range.to.0).contains(&request.time.0).then_some(request.time.0),
            axis: ChartAxis::new(
                format!("units ({})", captions::unit_type(execution)),
                AxisUnit::Count,
                activity.units() as f64,
            ),
            stacked: true,
            series: series.collect(),
        };
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::range_caption(request),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Levels(chart) }],
            legend: category_legend::legend(),
            table: table(&columns, &means),
            notes: category_legend::guess_note(execution).into_iter().collect(),
        })
    }
}

/// The mean numbers of units in each column of time.
#[expect(clippy::cast_precision_loss, reason = "CSV has times as decimal numbers")]
fn table(columns: &[TimeRange], means: &[[f64; 3]]) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("from", AxisUnit::Nanos),
        ("to", AxisUnit::Nanos),
        ("busy", AxisUnit::Count),
        ("overhead", AxisUnit::Count),
        ("idle", AxisUnit::Count),
    ]);
    let row = |(column, mean): (&TimeRange, &[f64; 3])| {
        let numbers = [column.from.0 as f64, column.to.0 as f64, mean[0], mean[1], mean[2]];
        numbers.map(Into::into).to_vec()
    };
    table.rows = columns.iter().zip(means).map(row).collect();
    table
}
