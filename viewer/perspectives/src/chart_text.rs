//! A chart as text: its table as CSV, and all of it as JSON.

use serde::Serialize as _;
use tumit_viewer::text::csv_cell;

use crate::chart::{AxisUnit, ChartTable, TableValue, ViewChart};

const NANOS_PER_SECOND: f64 = 1e9;

/// The table of a chart as comma-separated values: one line of headings, then one line per row.
/// Numbers have full precision. Times are in seconds.
///
/// ```
/// use tumit_perspectives::chart::{AxisUnit, ChartTable};
/// use tumit_perspectives::chart_text::csv;
///
/// let mut table = ChartTable::new(&[("rank", AxisUnit::Count), ("busy, s", AxisUnit::Nanos)]);
/// table.rows.push(vec!["rank 0".into(), 1_500_000.0.into()]);
/// table.rows.push(vec!["rank 1".into(), (-0.0).into()]);
/// assert_eq!(csv(&table), "rank,\"busy, s\"\nrank 0,0.0015\nrank 1,0\n");
/// ```
#[must_use]
pub fn csv(table: &ChartTable) -> String {
    let mut out = Vec::new();
    for (index, column) in table.columns.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        csv_cell::append(&column.heading, &mut out);
    }
    out.push(b'\n');
    for row in &table.rows {
        for (index, column) in table.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match row.get(index) {
                Some(TableValue::Text(text)) => csv_cell::append(text, &mut out),
                Some(TableValue::Number(number)) => {
                    out.extend_from_slice(plain_number(*number, column.axis_unit).as_bytes());
                }
                Some(TableValue::Absent) | None => {}
            }
        }
        out.push(b'\n');
    }
    // All parts are text.
    String::from_utf8_lossy(&out).into_owned()
}

/// A number with full precision.
fn plain_number(number: f64, axis_unit: AxisUnit) -> String {
    let number = if axis_unit == AxisUnit::Nanos { number / NANOS_PER_SECOND } else { number };
    // A sum of no numbers is -0.
    (number + 0.0).to_string()
}

/// The whole chart as JSON, on one line.
///
/// # Errors
/// If the chart contains a value that JSON cannot represent.
pub fn json(chart: &ViewChart) -> Result<String, serde_json::Error> {
    let mut out = Vec::new();
    chart.serialize(&mut serde_json::Serializer::new(&mut out))?;
    out.push(b'\n');
    Ok(String::from_utf8_lossy(&out).into_owned())
}
