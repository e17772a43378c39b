//! Statistics of a time range: time and number of states per container, communication, collective
//! operations, and variables.
//!
//! All queries use the interface [`TimelineSource`](crate::query::TimelineSource), so that filters
//! and groups are respected. [`table`] formats the results as rows for a command or a page.
//!
//! ```
//! use tumit_viewer::query::TimelineSource;
//! use tumit_viewer::stats::{RowGrouping, table, to_csv};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let rows = table(&store, store.extent(), RowGrouping::Container, None)?;
//! assert_eq!(rows[0].container.as_deref(), Some("main"));
//! assert_eq!((rows[0].time, rows[0].self_time), (Some(2.0), Some(2.0)));
//! assert!(to_csv(&rows).starts_with("kind,type,container,"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod collective;
mod durations;
mod links;
mod operation_groups;
mod recorded_operations;
mod state_times;
mod statistics_rows;
mod statistics_table;
mod tasks;
mod variables;

pub use durations::Durations;
use durations::durations;
use links::{LinkTrafficKey, link_traffic};
pub use links::{number, size_field};
pub use recorded_operations::RecordedOperations;
pub(crate) use state_times::nested_times;
use state_times::times_of;
pub use state_times::{StateTimes, ValueTime, existence_nanos, times};
pub use statistics_rows::{DATES, RowGrouping, StatsRow, time_of_day, to_csv, to_csv_with};
pub use statistics_table::table;
use tasks::{ContinuationTypes, tasks_of};
pub use tasks::{LongestTask, TaskGroup, TasksByValue, tasks_by_value};
pub use variables::{VariableExtreme, VariableStats, variable};

use serde::{Serialize as _, Serializer};
use serde_json::Value;

/// Converts a number for JSON, which has no integers above 64 bits. Larger ones become the nearest
/// floating-point number.
pub fn json_number(nanos: i128) -> Value {
    i64::try_from(nanos).map_or_else(|_wide| Value::from(nanos as f64), Value::from)
}

/// As [`json_number`], for a serde field.
#[expect(clippy::ref_option, reason = "serde passes a reference")]
pub(crate) fn as_number<S: Serializer>(nanos: &Option<i128>, serializer: S) -> Result<S::Ok, S::Error> {
    nanos.map(json_number).serialize(serializer)
}
