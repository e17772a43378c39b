//! [`ChartTable`]: a table of numbers with their units of measurement, and of texts.

use serde::Serialize;

/// The unit of measurement of a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AxisUnit {
    /// A number of things.
    #[default]
    Count,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanos,
    /// Percent, from 0 to 100.
    Percent,
}

/// A table of numbers and texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChartTable {
    /// The columns.
    pub columns: Vec<ChartTableColumn>,
    /// The rows. Each has a cell per column.
    pub rows: Vec<Vec<TableValue>>,
    /// If the rows are in order of time, the index of the present row. An image without room for
    /// all rows shows the rows around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub present_row: Option<usize>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChartTableColumn {
    /// The heading, with the unit of measurement, such as `busy, s`.
    pub heading: String,
    /// The unit of measurement of its numbers, by which they are formatted for people. CSV has the
    /// bare numbers, and times in seconds.
    #[serde(rename = "unit")]
    pub axis_unit: AxisUnit,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TableValue {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// No value.
    Absent,
}

impl ChartTable {
    /// Creates an empty table.
    pub fn new(columns: &[(&str, AxisUnit)]) -> Self {
        let column = |(heading, axis_unit): &(&str, AxisUnit)| ChartTableColumn {
            heading: (*heading).to_owned(),
            axis_unit: *axis_unit,
        };
        Self { columns: columns.iter().map(column).collect(), ..Self::default() }
    }
}

impl From<&str> for TableValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<f64> for TableValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Option<f64>> for TableValue {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Self::Absent, Self::Number)
    }
}
