//! The table of a card: the tables of its panels below each other.

use crate::chart::{AxisUnit, ChartTable, ChartTableColumn, TableValue};

/// The table of a card with one panel is that of the panel. Otherwise the first column has the
/// title of the panel, and columns with equal headings and units are one.
pub(super) fn merge_tables(mut panels: Vec<(String, ChartTable)>) -> ChartTable {
    if panels.len() == 1 {
        return panels.pop().map(|(_, table)| table).unwrap_or_default();
    }
    let mut columns: Vec<ChartTableColumn> =
        vec![ChartTableColumn { heading: "panel".to_owned(), axis_unit: AxisUnit::Count }];
    for column in panels.iter().flat_map(|(_, table)| &table.columns) {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    let mut merged = ChartTable { columns, ..ChartTable::default() };
    for (title, table) in panels {
        let places: Vec<usize> = table
            .columns
            .iter()
            .map(|column| merged.columns.iter().position(|known| known == column).unwrap_or(0))
            .collect();
        for cells in table.rows {
            let mut row = vec![TableValue::Absent; merged.columns.len()];
            row[0] = title.as_str().into();
            for (place, cell) in places.iter().zip(cells) {
                row[*place] = cell;
            }
            merged.rows.push(row);
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::merge_tables;
    use crate::chart::{AxisUnit, ChartTable, TableValue};

    #[test]
    fn tables_share_equal_columns() {
        let table = |columns: &[(&str, AxisUnit)], numbers: &[f64]| {
            let mut table = ChartTable::new(columns);
            table.rows.push(numbers.iter().map(|number| (*number).into()).collect());
            table
        };
        let busy = table(&[("from", AxisUnit::Nanos), ("busy", AxisUnit::Count)], &[1.0, 2.0]);
        let sizes = table(&[("from", AxisUnit::Nanos), ("size", AxisUnit::Bytes)], &[3.0, 4.0]);
        assert_eq!(merge_tables(vec![(String::new(), busy.clone())]), busy);
        let all = merge_tables(vec![("a".to_owned(), busy), ("b".to_owned(), sizes)]);
        let headings: Vec<&str> = all.columns.iter().map(|column| column.heading.as_str()).collect();
        assert_eq!(headings, ["panel", "from", "busy", "size"]);
        assert_eq!(all.rows[1], ["b".into(), 3.0.into(), TableValue::Absent, 4.0.into()]);
    }
}
