//! Requests of views, and readers of the tables of their charts.

use tumit_perspectives::chart::{TableValue, ViewChart};
use tumit_perspectives::error::PerspectiveError;
use tumit_perspectives::execution::Execution;
use tumit_perspectives::gallery;
use tumit_perspectives::options::{ParsedOptions, ViewOptions};
use tumit_perspectives::view::{TimeMode, ViewRequest};
use tumit_viewer::query::{GlobalNanos, TimeRange};

use crate::unit_program::{END, SECOND, seconds};

/// A request of a whole program at a second, with one column per second.
pub(crate) fn at(second: i64) -> ViewRequest {
    ViewRequest {
        mode: TimeMode::At,
        range: seconds(0, END),
        time: GlobalNanos(second * SECOND),
        columns: END as u32,
        options: ViewOptions::default(),
        needs_table: true,
    }
}

/// A request of a time range, with one column per second.
pub(crate) fn during(range: TimeRange) -> ViewRequest {
    let nanos = range.to.0 - range.from.0;
    let columns = u32::try_from(nanos / SECOND).unwrap().max(1);
    ViewRequest { mode: TimeMode::Range, range, columns, ..at(0) }
}

/// The request with options of the form `NAME=VALUE`.
pub(crate) fn with_options(view: &str, request: &ViewRequest, options: &[&str]) -> ViewRequest {
    let known = gallery::view(view).unwrap().info().options;
    let pairs = options.iter().map(|option| option.split_once('=').unwrap());
    let pairs: Vec<(String, String)> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    ViewRequest { options: ParsedOptions::parse(view, known, &pairs).unwrap().view, ..request.clone() }
}

/// The chart of a view.
pub(crate) fn chart(view: &str, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
    gallery::view(view).unwrap().chart(execution, request)
}

/// The column of numbers with a heading.
pub(crate) fn numbers(chart: &ViewChart, heading: &str) -> Vec<f64> {
    let number = |value: &TableValue| match value {
        TableValue::Number(number) => *number,
        other => panic!("{other:?} is no number"),
    };
    column(chart, heading).iter().map(number).collect()
}

/// The column of texts with a heading.
pub(crate) fn texts(chart: &ViewChart, heading: &str) -> Vec<String> {
    let text = |value: &TableValue| match value {
        TableValue::Text(text) => text.clone(),
        _ => String::new(),
    };
    column(chart, heading).iter().map(text).collect()
}

fn column(chart: &ViewChart, heading: &str) -> Vec<TableValue> {
    let place = chart.table.columns.iter().position(|column| column.heading == heading);
    let place = place.unwrap_or_else(|| panic!("no column is called {heading}"));
    chart.table.rows.iter().map(|row| row[place].clone()).collect()
}
