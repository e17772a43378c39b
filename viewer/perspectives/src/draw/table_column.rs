//! [`TableColumnText`]: a column of a table as text, with one unit and equal decimals.
//!
//! ```
//! use tumit_perspectives::chart::{AxisUnit, ChartTable};
//! use tumit_perspectives::draw::table_column::TableColumnText;
//!
//! let mut table = ChartTable::new(&[("unit", AxisUnit::Count)]);
//! table.rows.push(vec!["thread 1".into()]);
//! let column = TableColumnText::new(&table, 0, &table.rows);
//! assert_eq!((column.heading.as_str(), column.cells), ("unit", vec!["thread 1".to_owned()]));
//! ```

use super::axis_numbers::{NumberUnit, decimal};
use crate::chart::{AxisUnit, ChartTable, TableValue};

/// The texts of a column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TableColumnText {
    /// The heading with the unit of measurement of the numbers.
    pub heading: String,
    /// Whether the column has numbers, which are aligned at the right.
    pub is_number: bool,
    /// The cells.
    pub cells: Vec<String>,
}

impl TableColumnText {
    /// The texts of some rows of a column. The unit is that of the whole column.
    ///
    /// # Panics
    /// If the table has no such column.
    #[must_use]
    pub fn new(table: &ChartTable, column: usize, rows: &[Vec<TableValue>]) -> Self {
        let info = &table.columns[column];
        let numbers = || {
            table.rows.iter().filter_map(move |row| match row.get(column) {
                Some(TableValue::Number(number)) => Some(*number),
                _ => None,
            })
        };
        let is_number = numbers().next().is_some();
        let largest = numbers().fold(0.0_f64, |largest, number| largest.max(number.abs()));
        let number_unit = column_unit(info.axis_unit, largest, numbers());
        let decimals = decimals(info.axis_unit, number_unit, numbers().all(|number| number.fract() == 0.0));
        let text = |value: Option<&TableValue>| match value {
            Some(TableValue::Text(text)) => text.clone(),
            Some(TableValue::Number(number)) => decimal(number / number_unit.size, decimals),
            Some(TableValue::Absent) | None => {
                if is_number {
                    "–".to_owned()
                } else {
                    String::new()
                }
            }
        };
        let cells = rows.iter().map(|row| text(row.get(column))).collect();
        let heading = if is_number {
            number_unit.heading(bare_heading(&info.heading, info.axis_unit))
        } else {
            info.heading.clone()
        };
        Self { heading, is_number, cells }
    }
}

/// The smallest part of a unit that three decimals show with two digits.
const LEAST_PART: f64 = 0.01;
/// In the unit of a column, the largest number is at most this, so that it has few digits.
const LARGEST_NUMBER: f64 = 1e6;

/// The unit of the largest number. If most numbers would be about 0 in it, as beside the sum of
/// many rows, that of their median, unless the largest number would have too many digits.
fn column_unit(axis_unit: AxisUnit, maximum: f64, numbers: impl Iterator<Item = f64>) -> NumberUnit {
    let number_unit = NumberUnit::new(axis_unit, maximum);
    let mut positive: Vec<f64> = numbers.map(f64::abs).filter(|number| *number > 0.0).collect();
    if number_unit.size == 1.0 || positive.is_empty() {
        return number_unit;
    }
    let middle = positive.len() / 2;
    let (_, median, _) = positive.select_nth_unstable_by(middle, f64::total_cmp);
    if *median < LEAST_PART * number_unit.size {
        NumberUnit::new(axis_unit, median.max(maximum / LARGEST_NUMBER))
    } else {
        number_unit
    }
}

/// The decimals of the numbers of a column.
fn decimals(axis_unit: AxisUnit, number_unit: NumberUnit, is_whole: bool) -> usize {
    match axis_unit {
        AxisUnit::Count => {
            if is_whole {
                0
            } else {
                2
            }
        }
        AxisUnit::Bytes => {
            if number_unit.size == 1.0 && is_whole {
                0
            } else {
                2
            }
        }
        AxisUnit::Percent => 1,
        AxisUnit::Nanos => {
            if number_unit.size == 1.0 {
                0
            } else {
                3
            }
        }
    }
}

/// A heading without the unit at its end.
fn bare_heading(heading: &str, axis_unit: AxisUnit) -> &str {
    let ends: &[&str] = match axis_unit {
        AxisUnit::Count => &[],
        AxisUnit::Bytes => &[", B", ", bytes"],
        AxisUnit::Percent => &[", %"],
        AxisUnit::Nanos => &[", s", ", ns"],
    };
    ends.iter().find_map(|end| heading.strip_suffix(end)).unwrap_or(heading)
}

#[cfg(test)]
mod tests {
    use super::TableColumnText;
    use crate::chart::{AxisUnit, ChartTable, TableValue};

    #[test]
    fn the_unit_shows_most_numbers() {
        let mut table = ChartTable::new(&[("busy, s", AxisUnit::Nanos)]);
        table.rows = [[4e13], [4e8], [3e8]].map(|row| row.map(TableValue::Number).to_vec()).to_vec();
        let column = TableColumnText::new(&table, 0, &table.rows);
        assert_eq!((column.heading.as_str(), column.cells[1].as_str()), ("busy, ms", "400.000"));
        // In microseconds, the sum would have ten digits before its decimals.
        table.rows = [[5e12], [2e4], [3e4]].map(|row| row.map(TableValue::Number).to_vec()).to_vec();
        let column = TableColumnText::new(&table, 0, &table.rows);
        assert_eq!((column.heading.as_str(), column.cells[1].as_str()), ("busy, ms", "0.020"));
    }

    #[test]
    fn a_column_has_one_unit() {
        let mut table = ChartTable::new(&[("rank", AxisUnit::Count), ("busy, s", AxisUnit::Nanos)]);
        table.rows.push(vec!["r 0".into(), 1_500_000.0.into()]);
        table.rows.push(vec!["r 1".into(), 20_000.0.into()]);
        table.rows.push(vec!["r 2".into(), TableValue::Absent]);
        let column = TableColumnText::new(&table, 1, &table.rows);
        assert_eq!(column.heading, "busy, ms");
        assert_eq!(column.cells, ["1.500", "0.020", "–"]);
        assert!(!TableColumnText::new(&table, 0, &table.rows).is_number);
    }
}
