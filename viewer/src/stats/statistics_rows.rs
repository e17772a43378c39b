//! [`StatsRow`]: a row of the table of all statistics, and the table as CSV.

use serde::Serialize;
use serde_json::Value;

use crate::text::csv_cell;

/// Which entities one row of the table sums up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowGrouping {
    /// One row per value of each type, over all containers.
    #[default]
    Value,
    /// One row per value and container. For links, one per pair of containers.
    Container,
    /// One row per type, over all values and containers.
    Type,
}

/// A row. Timestamps and durations are in seconds. Fields that do not apply are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StatsRow {
    /// `state`, `task`, `collective`, `event`, `link` or `variable`.
    pub kind: &'static str,
    /// Name of the type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Path of the container. For links, of the start container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Path of the end container of links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Name of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Number of states, events or links that overlap the time range, or of collective operations
    /// with a part that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Total time in states within the time range. Nested states of the same value count once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Share of the lifetime of the containers within the time range, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Self time: a state of the value is the innermost state of its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_time: Option<f64>,
    /// Self time as a share of the same lifetime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_share: Option<f64>,
    /// Shortest whole duration of states or links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_min: Option<f64>,
    /// Mean whole duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_mean: Option<f64>,
    /// Median whole duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_median: Option<f64>,
    /// 99th percentile of the whole durations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_p99: Option<f64>,
    /// Longest whole duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_max: Option<f64>,
    /// Sum of the links' size field, or of the bytes of the parts of collective operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Time-weighted mean of a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Smallest value of a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The first timestamp of the smallest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_at: Option<f64>,
    /// The container with the smallest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_in: Option<String>,
    /// Largest value of a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The first timestamp of the largest value, or the begin of the longest wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_at: Option<f64>,
    /// The container with the largest value, or with the longest wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in: Option<String>,
    /// Kind of collective operations, such as `all-to-one`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<&'static str>,
    /// Their communicator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub communicator: Option<String>,
    /// Number of their parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<u64>,
    /// Total time that parts wait for the entry of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<f64>,
    /// Mean wait of a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean: Option<f64>,
    /// Longest wait of a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_max: Option<f64>,
}

/// Names of the columns, in the order of [`StatsRow`].
const COLUMNS: [&str; 29] = [
    "kind",
    "type",
    "container",
    "to",
    "value",
    "count",
    "time",
    "share",
    "self_time",
    "self_share",
    "duration_min",
    "duration_mean",
    "duration_median",
    "duration_p99",
    "duration_max",
    "size",
    "mean",
    "min",
    "min_at",
    "min_in",
    "max",
    "max_at",
    "max_in",
    "operation",
    "communicator",
    "parts",
    "wait",
    "wait_mean",
    "wait_max",
];

/// Formats the rows as comma-separated values (RFC 4180, with LF), with a header line.
#[must_use]
pub fn to_csv(rows: &[StatsRow]) -> String {
    to_csv_with(rows, None)
}

/// As [`to_csv`], with timestamps as times of day. `wall_clock` is the wall clock at trace time 0,
/// in nanoseconds since 1970.
#[must_use]
pub fn to_csv_with(rows: &[StatsRow], wall_clock: Option<i64>) -> String {
    let mut text = COLUMNS.join(",");
    text.push('\n');
    for row in rows {
        // A row has only texts and numbers, so the conversion cannot fail.
        let value = serde_json::to_value(row).unwrap_or_default();
        let cells = COLUMNS.map(|column| match &value[column] {
            Value::Null => String::new(),
            Value::String(text) => {
                let mut cell = Vec::new();
                csv_cell::append(text, &mut cell);
                String::from_utf8(cell).unwrap_or_default()
            }
            Value::Number(seconds) if DATES.contains(&column) && wall_clock.is_some() => {
                time_of_day(seconds.as_f64().unwrap_or_default(), wall_clock.unwrap_or_default())
            }
            other => other.to_string(),
        });
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// The columns with timestamps.
pub const DATES: [&str; 2] = ["min_at", "max_at"];

/// The time of day of a timestamp in seconds, in UTC in ISO 8601.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the seconds were computed from nanoseconds")]
pub fn time_of_day(seconds: f64, wall_clock: i64) -> String {
    tumit_converter::convert::wall_clock::text(wall_clock.saturating_add((seconds * 1e9).round() as i64))
}
