//! [`SortView`]: the moving elements of a parallel sort, and its disorder over time.

use tumit_perspectives::chart::{
    AxisUnit, ChartAxis, ChartPaint, ChartPanel, ChartTable, LegendItem, LevelChart, LevelSeries, MarkAxis, MarkChart,
    MarkForm, PanelMark, TitledPanel, ViewChart,
};
use tumit_perspectives::error::PerspectiveError;
use tumit_perspectives::execution::Execution;
use tumit_perspectives::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};

use crate::placements::{ElementPlace, Placements};

/// The array of a parallel sort at the time cursor, and the number of pairs in the wrong order
/// over time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortView;

impl PerspectiveView for SortView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "parallel-sort",
            number: None,
            title: "Parallel sort",
            group: ViewGroup::User,
            summary: "The array at the time cursor, and the disorder that is left.",
            required_data: "events `Placement` with the fields element, position, value and thread",
            modes: &[TimeMode::At],
            options: &[],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        // All charts of the trace share the events.
        let placements = execution.derived("sort", || Placements::read(execution))?;
        let array = placements.array_at(request.time.0);
        let disorder = placements.disorder_at(request.time.0);
        let legend = [(ChartPaint::Now, "at rest"), (ChartPaint::Emphasis, "in the newest exchange")];
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: format!("{disorder} pairs are in the wrong order"),
            panels: vec![
                TitledPanel { title: "Array".to_owned(), panel: array_panel(&placements, &array, request.time.0) },
                TitledPanel { title: "Disorder".to_owned(), panel: disorder_panel(&placements, request) },
            ],
            legend: legend.map(|(paint, label)| LegendItem { paint, label: label.to_owned() }).to_vec(),
            table: table(&array),
            notes: Vec::new(),
        })
    }
}

/// A bar per element.
fn array_panel(placements: &Placements, array: &[ElementPlace], time: i64) -> ChartPanel {
    let newest = placements.newest_exchange(time);
    let mark = |placement: &ElementPlace| PanelMark {
        x: placement.position,
        y: placement.value,
        paint: if newest.contains(&placement.element) { ChartPaint::Emphasis } else { ChartPaint::Now },
        text: String::new(),
        title: format!("element {} with the value {}", placement.element, placement.value),
    };
    let (last, largest) = placements.extent();
    let axis = |label: &str, largest: f64| MarkAxis {
        axis: ChartAxis::up_to(label, AxisUnit::Count, largest),
        ..MarkAxis::default()
    };
    ChartPanel::Marks(MarkChart {
        form: MarkForm::Bars,
        horizontal_axis: axis("position", last),
        vertical_axis: axis("value", largest),
        marks: array.iter().map(mark).collect(),
    })
}

/// The number of pairs in the wrong order over the time range.
fn disorder_panel(placements: &Placements, request: &ViewRequest) -> ChartPanel {
    let range = request.range;
    let columns = range.columns(request.columns.max(1));
    let means: Vec<f64> = columns.map(|column| f64::from(placements.disorder_at(column.from.0))).collect();
    let largest = means.iter().copied().fold(0.0, f64::max);
    ChartPanel::Levels(LevelChart {
        from: range.from.0,
        to: range.to.0,
        cursor: Some(request.time.0),
        axis: ChartAxis::new("pairs in the wrong order", AxisUnit::Count, largest),
        stacked: false,
        series: vec![LevelSeries {
            label: "disorder".to_owned(),
            paint: ChartPaint::Series(0),
            means,
            extremes: Vec::new(),
        }],
    })
}

/// A row per element.
fn table(array: &[ElementPlace]) -> ChartTable {
    let mut table = ChartTable::new(&[("position", AxisUnit::Count), ("value", AxisUnit::Count)]);
    table.rows = array.iter().map(|placement| vec![placement.position.into(), placement.value.into()]).collect();
    table
}
