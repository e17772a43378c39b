//! [`ViewChart`]: the contents of a view, independent of its drawing.
//!
//! A view computes a chart from an execution. A chart is drawn as an image, printed as a table, or
//! sent to the page. There is one kind of panel for each of about a dozen components, and each view
//! configures one or several of them.
//!
//! ```
//! use tumit_perspectives::chart::{AxisUnit, ChartAxis, ChartPanel, ChartTable};
//! use tumit_perspectives::chart::{TitledPanel, ViewChart};
//!
//! // Axes of percent end at 100.
//! assert_eq!(ChartAxis::new("utilization", AxisUnit::Percent, 40.0).maximum, 100.0);
//!
//! let mut table = ChartTable::new(&[("unit", AxisUnit::Count), ("busy", AxisUnit::Percent)]);
//! table.rows.push(vec!["thread 1".into(), 40.0.into()]);
//! let panel = TitledPanel { title: String::new(), panel: ChartPanel::Table(table.clone()) };
//! let title = "Busy threads".to_owned();
//! let chart = ViewChart { title, panels: vec![panel], table, ..ViewChart::default() };
//! assert_eq!(chart.table.rows.len(), 1);
//! ```

mod chart_table;

use serde::Serialize;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{EntityId, RgbColor, TimeRange};

use crate::unit_lists::UnitLists;

pub use chart_table::{AxisUnit, ChartTable, ChartTableColumn, TableValue};

/// The contents of a view.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ViewChart {
    /// The title, such as `Kiviat diagram`.
    pub title: String,
    /// The time and the options that it shows, such as `at 1.5 s, smoothed over 10 ms`.
    pub subtitle: String,
    /// The panels, from left to right.
    pub panels: Vec<TitledPanel>,
    /// The meaning of the paints.
    pub legend: Vec<LegendItem>,
    /// The numbers of the view.
    pub table: ChartTable,
    /// Sentences for the user about data that the view does not show.
    pub notes: Vec<String>,
}

/// A panel with its title.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TitledPanel {
    /// The title. Empty if the view has a single panel.
    pub title: String,
    /// The contents.
    pub panel: ChartPanel,
}

/// A paint with its meaning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LegendItem {
    /// The paint.
    pub paint: ChartPaint,
    /// Its meaning.
    pub label: String,
}

/// The contents of a panel.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ChartPanel {
    /// Numbers over time.
    Levels(LevelChart),
    /// Bars, one per unit, task or number.
    Bars(BarChart),
    /// One spoke per unit.
    Kiviat(KiviatChart),
    /// One cell per pair of units.
    Matrix(MatrixChart),
    /// Units as nodes, messages as edges.
    Network(NetworkChart),
    /// One point per message.
    Scatter(ScatterChart),
    /// A grid of units or tasks.
    Grid(StatusGrid),
    /// A curve in a plane of two quantities.
    Portrait(PortraitChart),
    /// Marks in a plane of two quantities.
    Marks(MarkChart),
    /// Rows of text.
    Table(ChartTable),
}

/// A colour with a meaning. The theme determines the colour itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "paint", content = "value", rename_all = "lowercase")]
pub enum ChartPaint {
    /// A category of activity.
    Category(ActivityCategory),
    /// One of several series, from 0.
    Series(u8),
    /// A task, by its number.
    Task(u32),
    /// A size, from 0 (smallest) to 1 (largest).
    Size(f32),
    /// The present value.
    Now,
    /// The largest value so far.
    Maximum,
    /// Something that is emphasised, such as the critical path.
    Emphasis,
    /// Something of less importance.
    Faint,
    /// No data.
    Absent,
    /// A task that has not begun.
    Pending,
    /// A colour of the trace.
    Fixed(#[serde(serialize_with = "as_hex")] RgbColor),
}

fn as_hex<S: serde::Serializer>(color: &RgbColor, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue))
}

/// A quantity on an axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChartAxis {
    /// The name of the quantity, such as `pending messages`.
    pub label: String,
    /// Its unit of measurement.
    #[serde(rename = "unit")]
    pub axis_unit: AxisUnit,
    /// The largest value of the axis, at least the largest value of the data. The smallest is 0,
    /// or `-largest` if the data has negative values.
    #[serde(rename = "largest")]
    pub maximum: f64,
}

/// Numbers over time, in columns of equal width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelChart {
    /// Start of the time range in nanoseconds.
    pub from: i64,
    /// End of the time range in nanoseconds.
    pub to: i64,
    /// The time cursor, if the view has one.
    pub cursor: Option<i64>,
    /// The axis of the values.
    pub axis: ChartAxis,
    /// Whether the series are stacked on each other.
    pub stacked: bool,
    /// The series, from the lowest to the highest.
    pub series: Vec<LevelSeries>,
}

/// One series of numbers over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelSeries {
    /// Its name.
    pub label: String,
    /// Its paint.
    pub paint: ChartPaint,
    /// The mean in each column.
    pub means: Vec<f64>,
    /// The smallest and largest value in each column. Empty for stacked series.
    pub extremes: Vec<LevelExtremes>,
}

/// The smallest and the largest value of a column. In JSON, they are an array.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "[f64; 2]")]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct LevelExtremes {
    pub minimum: f64,
    pub maximum: f64,
}

impl From<LevelExtremes> for [f64; 2] {
    fn from(extremes: LevelExtremes) -> Self {
        [extremes.minimum, extremes.maximum]
    }
}

/// Bars, one per unit, task or number.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BarChart {
    /// The quantity along the bars.
    pub axis: ChartAxis,
    /// The name of the quantity that the bars are arranged by, such as `rank`.
    pub arrangement: String,
    /// The bars.
    pub bars: Vec<Bar>,
    /// The units of each bar. Empty if bars stand for no units.
    #[serde(skip)]
    pub unit_lists: UnitLists,
    /// The numbers of units that the bars stand for.
    #[serde(skip)]
    pub counts: Option<CountBars>,
}

/// Bars for numbers of units in a category, from 0 units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountBars {
    /// The category.
    pub category: ActivityCategory,
    /// The number of adjacent numbers that share a bar.
    pub numbers_per_bar: usize,
}

/// A bar.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// The index of the unit that it shows.
    pub unit: Option<u32>,
    /// The value at which the first part begins. 0 except for floating bars.
    pub base: f64,
    /// Its parts, stacked. A negative part extends below 0.
    pub parts: Vec<BarPart>,
    /// The largest value so far.
    pub maximum: Option<f64>,
}

/// A part of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct BarPart {
    pub paint: ChartPaint,
    pub value: f64,
}

/// One spoke per unit, with values from 0 at the hub to 1 at the rim.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KiviatChart {
    /// The spokes, clockwise from the top.
    pub spokes: Vec<KiviatSpoke>,
    /// The number of units per spoke. 1 if each unit has a spoke.
    pub units_per_spoke: usize,
    /// The units of each spoke.
    #[serde(skip)]
    pub unit_lists: UnitLists,
}

/// A spoke. It stands for one unit, or for several adjacent ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KiviatSpoke {
    /// The name of the unit, or of the first and last one.
    pub label: String,
    /// The index of the unit, if the spoke stands for one.
    pub unit: Option<u32>,
    /// The smallest, mean and largest present value of its units.
    pub now: [f64; 3],
    /// The largest value so far.
    pub maximum: f64,
}

/// One cell per row and column, such as the messages from a unit to another one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MatrixChart {
    /// The role of the unit of a row, such as `sender`.
    pub row_heading: String,
    /// The role of the unit of a column, such as `receiver`.
    pub column_heading: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// If columns are equal parts of a time range: this range. Labels of times then replace the
    /// names of columns.
    #[serde(skip)]
    pub times: Option<TimeRange>,
    /// If a row or column stands for several adjacent units, their number.
    pub units_per_cell: usize,
    /// The quantity of the cells.
    pub axis: ChartAxis,
    /// The cells that are not 0.
    pub cells: Vec<ChartMatrixCell>,
    /// The units of each row, and of each column. Empty if rows stand for no units.
    #[serde(skip)]
    pub unit_lists: UnitLists,
}

/// A cell of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct ChartMatrixCell {
    pub row: u32,
    pub column: u32,
    pub value: f64,
    /// `None`: by its value, on a scale of the values of the chart.
    pub paint: Option<ChartPaint>,
}

/// Units as nodes, messages as edges.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NetworkChart {
    /// The nodes.
    pub nodes: Vec<NetworkNode>,
    /// The edges.
    pub edges: Vec<NetworkEdge>,
    /// The quantity of the edges.
    pub axis: ChartAxis,
    /// The units of each node.
    #[serde(skip)]
    pub unit_lists: UnitLists,
}

/// A unit in a network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkNode {
    /// The name of the unit.
    pub label: String,
    /// The index of the unit.
    pub unit: u32,
    /// Position from 0 (left) to 1.
    pub x: f32,
    /// Position from 0 (top) to 1.
    pub y: f32,
    /// Its status.
    pub paint: ChartPaint,
}

/// A connection in a network, by the positions of its nodes in the list.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NetworkEdge {
    /// The node at its start.
    pub from: u32,
    /// The node at its end.
    pub to: u32,
    /// Its paint.
    pub paint: ChartPaint,
    /// Its value, such as the number of pending messages.
    pub value: f64,
    /// How far the line bends to its left, as a fraction of its length. A curve avoids nodes on the
    /// straight line.
    pub bend: f32,
    /// Whether the line is dashed, which distinguishes it without colours.
    pub is_dashed: bool,
}

/// One point per message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScatterChart {
    /// Start of the time range in nanoseconds.
    pub from: i64,
    /// End of the time range in nanoseconds.
    pub to: i64,
    /// The time cursor, if the view has one.
    pub cursor: Option<i64>,
    /// The quantity on the vertical axis.
    pub axis: ChartAxis,
    /// The names on the vertical axis, if the values are indexes of names.
    pub categories: Vec<String>,
    /// The points.
    pub points: Vec<ScatterPoint>,
}

/// A point of a scatter chart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScatterPoint {
    /// Its timestamp in nanoseconds.
    pub time: i64,
    /// Its value.
    pub value: f64,
    /// Its paint.
    pub paint: ChartPaint,
    /// The link.
    #[serde(skip)]
    pub entity: Option<EntityId>,
}

/// A grid of units or tasks, row by row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StatusGrid {
    /// The number of columns.
    pub columns: usize,
    /// The cells, row by row.
    pub cells: Vec<StatusCell>,
    /// The units of each cell. Empty if cells stand for no units.
    #[serde(skip)]
    pub unit_lists: UnitLists,
}

/// A cell of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatusCell {
    /// The name of the unit or task.
    pub label: String,
    /// The index of the unit.
    pub unit: Option<u32>,
    /// Its paint.
    pub paint: ChartPaint,
    /// Its status in words.
    pub status: String,
}

/// A curve in a plane of two quantities.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PortraitChart {
    /// The horizontal axis.
    #[serde(rename = "horizontal")]
    pub horizontal_axis: ChartAxis,
    /// The vertical axis.
    #[serde(rename = "vertical")]
    pub vertical_axis: ChartAxis,
    /// The points by time.
    pub points: Vec<PortraitPoint>,
    /// The index of the present point.
    pub cursor: Option<usize>,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct PortraitPoint {
    pub time: i64,
    pub x: f64,
    pub y: f64,
    pub paint: ChartPaint,
}

/// Marks in a plane of two quantities, such as events by two of their fields, or the elements of an
/// array by their positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MarkChart {
    /// The form of the marks.
    pub form: MarkForm,
    /// The horizontal axis. Bars and cells have positions on it.
    #[serde(rename = "horizontal")]
    pub horizontal_axis: MarkAxis,
    /// The vertical axis, from the bottom. That of cells is from the top, and has positions.
    #[serde(rename = "vertical")]
    pub vertical_axis: MarkAxis,
    /// The marks. Later ones cover earlier ones.
    pub marks: Vec<PanelMark>,
}

/// The form of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MarkForm {
    /// A disc at the two values.
    #[default]
    Discs,
    /// A bar at a position, as high as the vertical value.
    Bars,
    /// A square at two positions.
    Cells,
}

/// An axis of marks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MarkAxis {
    /// The quantity, and the largest value or position.
    pub axis: ChartAxis,
    /// The smallest value or position.
    #[serde(rename = "least")]
    pub minimum: f64,
    /// The names of the positions from 0, if the values are indexes of names.
    pub names: Vec<String>,
}

/// A mark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PanelMark {
    /// Its horizontal value. It may be between two positions.
    pub x: f64,
    /// Its vertical value.
    pub y: f64,
    /// Its paint.
    pub paint: ChartPaint,
    /// A short text inside it.
    pub text: String,
    /// Its description, which the pointer shows.
    pub title: String,
}

impl ChartAxis {
    /// An axis from 0 to `maximum`. It ends at 100 or above for percent, and at 1 if `maximum` is
    /// 0.
    pub fn new(label: impl Into<String>, axis_unit: AxisUnit, maximum: f64) -> Self {
        let maximum = match axis_unit {
            AxisUnit::Percent => maximum.max(100.0),
            _ => maximum,
        };
        Self::up_to(label, axis_unit, maximum)
    }

    /// An axis from 0 to `maximum`, also for percent. It ends at 1 if `maximum` is 0.
    pub fn up_to(label: impl Into<String>, axis_unit: AxisUnit, maximum: f64) -> Self {
        Self { label: label.into(), axis_unit, maximum: if maximum > 0.0 { maximum } else { 1.0 } }
    }
}
