//! G23: the time cursor, and the fraction of the trace until then.

use tumit_viewer::query::GlobalNanos;
use tumit_viewer::text::time_display::{duration, timestamp};

use crate::chart::{
    AxisUnit, Bar, BarChart, BarPart, ChartAxis, ChartPaint, ChartPanel, ChartTable, TableValue, TitledPanel, ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;

/// The time cursor as digits, and a bar for the fraction of the trace until then.
pub(crate) struct ExecutionClock;

impl PerspectiveView for ExecutionClock {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "clock",
            number: Some(23),
            title: "Clock",
            group: ViewGroup::Execution,
            summary: "The time cursor, and the percentage of the trace until then.",
            required_data: "",
            modes: &[TimeMode::At],
            options: &[],
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "times are drawn")]
    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let (extent, time) = (execution.extent(), request.time.0);
        let whole = extent.to.0.saturating_sub(extent.from.0).max(0);
        let done = time.saturating_sub(extent.from.0).clamp(0, whole);
        let percent = match whole {
            0 => {
                if time < extent.from.0 {
                    0.0
                } else {
                    100.0
                }
            }
            _ => 100.0 * done as f64 / whole as f64,
        };
        let precision = (whole / 100_000).max(1);
        let digits = timestamp(GlobalNanos(time), precision);
        let text = |label: &str, value: String| vec![TableValue::from(label), TableValue::Text(value)];
        let mut clock = ChartTable::new(&[("", AxisUnit::Count), ("", AxisUnit::Count)]);
        clock.rows = vec![
            text("time", digits.clone()),
            text("since the start", duration(done)),
            text("until the end", duration(whole - done)),
        ];
        let part = BarPart { paint: ChartPaint::Now, value: percent };
        let bar = BarChart {
            axis: ChartAxis::new("trace", AxisUnit::Percent, 100.0),
            arrangement: String::new(),
            bars: vec![Bar { label: digits, parts: vec![part], ..Bar::default() }],
            ..BarChart::default()
        };
        let mut table = ChartTable::new(&[
            ("time", AxisUnit::Nanos),
            ("since the start", AxisUnit::Nanos),
            ("until the end", AxisUnit::Nanos),
            ("trace, %", AxisUnit::Percent),
        ]);
        let numbers = [time as f64, done as f64, (whole - done) as f64, percent];
        table.rows = vec![numbers.map(TableValue::Number).to_vec()];
        let panels = [ChartPanel::Table(clock), ChartPanel::Bars(bar)];
        let panels = panels.into_iter().map(|panel| TitledPanel { title: String::new(), panel });
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::time_caption(request),
            panels: panels.collect(),
            legend: Vec::new(),
            table,
            notes: Vec::new(),
        })
    }
}
