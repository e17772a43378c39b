//! [`CommunicationMeterView`] (G11): the pending messages or bytes in percent of their maximum.

use crate::chart::{
    AxisUnit, Bar, BarChart, BarPart, ChartAxis, ChartPaint, ChartPanel, ChartTable, LegendItem, TableValue,
    TitledPanel, ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;
use crate::views::measured_messages::{MeasuredMessages, signed_number};

/// The pending messages or bytes in percent of the largest number in the time range.
pub(crate) struct CommunicationMeterView;

impl PerspectiveView for CommunicationMeterView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "communication-meter",
            number: Some(11),
            title: "Communication meter",
            group: ViewGroup::Communication,
            summary: "Pending messages or bytes in percent of the largest number in the time range.",
            required_data: "links between units",
            modes: &[TimeMode::At, TimeMode::Range, TimeMode::Moving],
            options: &["measure", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let measured = MeasuredMessages::new(execution, request, true)?;
        let (steps, component) = (measured.messages.pending(), measured.component());
        let (now, so_far) = if request.mode == TimeMode::At {
            let now = signed_number(steps.at(request.time.0)[component]);
            (now, signed_number(steps.maximum(request.range_until_time())[component]).max(now))
        } else {
            let range = request.visible_range();
            (steps.mean(range)[component], signed_number(steps.maximum(range)[component]))
        };
        let largest = signed_number(steps.maximum(request.range)[component]).max(so_far);
        let percent = |value: f64| if largest > 0.0 { 100.0 * value / largest } else { 0.0 };
        let (now_word, maximum_word) = match request.mode {
            TimeMode::At => ("now", "maximum since the start"),
            TimeMode::Range | TimeMode::Moving => ("mean over the time range", "maximum in the time range"),
        };
        let bar = Bar {
            label: format!("pending {}", measured.word()),
            parts: vec![BarPart { paint: ChartPaint::Now, value: percent(now) }],
            maximum: Some(percent(so_far)),
            ..Bar::default()
        };
        let axis = ChartAxis::new("percent of the maximum", AxisUnit::Percent, 100.0);
        let axis_unit = measured.axis_unit();
        let mut table = ChartTable::new(&[
            (now_word, axis_unit),
            (maximum_word, axis_unit),
            ("maximum", axis_unit),
            ("percent of the maximum", AxisUnit::Percent),
        ]);
        table.rows.push([now, so_far, largest, percent(now)].map(TableValue::Number).to_vec());
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[
                captions::mode_caption(request),
                format!("pending {}", measured.word()),
                maximum_word.to_owned(),
            ]),
            panels: vec![TitledPanel {
                title: String::new(),
                panel: ChartPanel::Bars(BarChart {
                    axis,
                    arrangement: String::new(),
                    bars: vec![bar],
                    ..BarChart::default()
                }),
            }],
            legend: vec![
                LegendItem { paint: ChartPaint::Now, label: now_word.to_owned() },
                LegendItem { paint: ChartPaint::Maximum, label: maximum_word.to_owned() },
            ],
            table,
            notes: measured.notes(),
        })
    }
}
