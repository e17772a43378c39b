//! The numbers of a chart as the rows of a table on the page, sorted by a column.

use std::cmp::Ordering;

use serde::Deserialize;
use serde_json::{Value, json};
use tumit_perspectives::chart::{ChartTable, TableValue};
use tumit_perspectives::draw::table_column::TableColumnText;
use tumit_perspectives::execution::order::natural_order;

/// Maximum number of rows of an answer. A browser becomes slow with longer tables.
const MAX_ROWS: usize = 10_000;

/// The rows of a table that the page shows.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct TableRequest {
    rows: usize,
    /// The column by which the rows are sorted, and whether the largest value is first.
    #[serde(default)]
    sort: Option<(usize, bool)>,
}

/// The columns, the first rows as text, and the number of all rows.
pub(super) fn table_json(mut table: ChartTable, request: TableRequest) -> Value {
    if let Some((column, is_descending)) = request.sort.filter(|(column, _)| *column < table.columns.len()) {
        table.rows.sort_by(|a, b| compare(a.get(column), b.get(column), is_descending));
    }
    let (rows, row_count) = (request.rows.min(MAX_ROWS), table.rows.len());
    let rows = &table.rows[..rows.min(row_count)];
    let columns: Vec<TableColumnText> =
        (0..table.columns.len()).map(|index| TableColumnText::new(&table, index, rows)).collect();
    let cells: Vec<Vec<&str>> =
        (0..rows.len()).map(|row| columns.iter().map(|column| column.cells[row].as_str()).collect()).collect();
    let heads: Vec<Value> =
        columns.iter().map(|column| json!({ "heading": column.heading, "is_number": column.is_number })).collect();
    json!({ "columns": heads, "rows": cells, "all": row_count })
}

/// Compares two cells. Cells without a value are last in both directions.
fn compare(a: Option<&TableValue>, b: Option<&TableValue>, is_descending: bool) -> Ordering {
    let order = match (a, b) {
        (Some(TableValue::Number(a)), Some(TableValue::Number(b))) => a.total_cmp(b),
        (Some(TableValue::Text(a)), Some(TableValue::Text(b))) => natural_order(a, b),
        _ => return rank(a).cmp(&rank(b)),
    };
    if is_descending { order.reverse() } else { order }
}

fn rank(cell: Option<&TableValue>) -> u8 {
    match cell {
        Some(TableValue::Number(_)) => 0,
        Some(TableValue::Text(_)) => 1,
        Some(TableValue::Absent) | None => 2,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tumit_perspectives::chart::{AxisUnit, ChartTable};

    use super::{TableRequest, table_json};

    #[test]
    fn rows_are_sorted_by_a_column() {
        let mut table = ChartTable::new(&[("unit", AxisUnit::Count), ("busy, s", AxisUnit::Nanos)]);
        for (name, nanos) in [("rank 2", Some(3e9)), ("rank 10", None), ("rank 1", Some(5e9))] {
            table.rows.push(vec![name.into(), nanos.into()]);
        }
        let rows = |sort| table_json(table.clone(), TableRequest { rows: 2, sort })["rows"].clone();
        assert_eq!(rows(None), json!([["rank 2", "3.000"], ["rank 10", "–"]]));
        assert_eq!(rows(Some((0, true))), json!([["rank 10", "–"], ["rank 2", "3.000"]]));
        assert_eq!(rows(Some((1, true))), json!([["rank 1", "5.000"], ["rank 2", "3.000"]]));
        assert_eq!(rows(Some((1, false)))[0], json!(["rank 2", "3.000"]));
        assert_eq!(rows(Some((7, false))), rows(None));
        let answer = table_json(table, TableRequest { rows: 1, sort: None });
        assert_eq!((&answer["all"], &answer["columns"][1]["is_number"]), (&json!(3), &json!(true)));
    }
}
