//! G4: the fraction of units that are busy, overhead and idle.

use tumit_paje::category::ActivityCategory;

use crate::chart::{AxisUnit, Bar, BarChart, ChartAxis, ChartPanel, ChartTable, TableValue, TitledPanel, ViewChart};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::{captions, category_legend};

/// The fraction of units per category, as a single bar.
pub(crate) struct UtilizationMeter;

impl PerspectiveView for UtilizationMeter {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "utilization-meter",
            number: Some(4),
            title: "Utilization meter",
            group: ViewGroup::Utilization,
            summary: "The percentages of busy, overhead and idle units.",
            required_data: "states",
            modes: &[TimeMode::At, TimeMode::Range, TimeMode::Moving],
            options: &["width"],
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "percentages are rounded")]
    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let activity = execution.activity()?;
        let range = request.visible_range();
        let numbers = match request.mode {
            TimeMode::At => activity.counts_at(request.time.0),
            TimeMode::Range | TimeMode::Moving => activity.mean_counts(&[range.from.0, range.to.0])[0],
        };
        let units = activity.units().max(1) as f64;
        let percent = numbers.map(|number| 100.0 * number / units);
        let parts = category_legend::bar_parts(percent);
        let mut table = ChartTable::new(&[
            ("category", AxisUnit::Count),
            ("units", AxisUnit::Count),
            ("units, %", AxisUnit::Percent),
        ]);
        let rows = ActivityCategory::COUNTED.into_iter().zip(numbers).zip(percent);
        table.rows = rows
            .map(|((category, number), percent)| {
                vec![category.word().into(), TableValue::Number(number), TableValue::Number(percent)]
            })
            .collect();
        let label = format!("{} × {}", activity.units(), captions::unit_type(execution));
        let chart = BarChart {
            axis: ChartAxis::new("units", AxisUnit::Percent, 100.0),
            arrangement: String::new(),
            bars: vec![Bar { label, parts, ..Bar::default() }],
            ..BarChart::default()
        };
        let mean = (request.mode != TimeMode::At).then(|| "mean over the time range".to_owned());
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[captions::mode_caption(request), mean.unwrap_or_default()]),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Bars(chart) }],
            legend: category_legend::legend(),
            table,
            notes: category_legend::guess_note(execution).into_iter().collect(),
        })
    }
}
