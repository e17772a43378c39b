//! The list of phases, as a text or as tables for programs.

use serde_json::{Value, json};
use tumit_profile::container_names::UniqueContainerNames;
use tumit_profile::phases::{Phase, PhaseList};
use tumit_viewer::query::TimelineSource;
use tumit_viewer::text::csv_cell;
use tumit_viewer::text::time_display::{duration, timestamp};

use super::report::time_text;
use crate::text_table;

/// The phases for people: a line for each of them.
pub(super) fn phase_text(source: &dyn TimelineSource, trace: &str, list: &PhaseList) -> String {
    let containers = UniqueContainerNames::new(source);
    let heads = ["Phase", "Start", "Mean", "Longest", "Mean self", "Imbalance", "Containers", "Longest in", "Remark"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    let extent = source.extent();
    let resolution = (extent.to.0.saturating_sub(extent.from.0) / 1000).max(1);
    rows.extend(list.phases.iter().map(|phase| {
        vec![
            format!("{} {}", phase.name, phase.number),
            timestamp(phase.time_range.from, resolution),
            time_text(phase.mean.round() as i128),
            duration(phase.max),
            time_text(phase.mean_self.round() as i128),
            format!("{:.2}", phase.imbalance()),
            phase.containers.to_string(),
            containers.name(phase.longest),
            if phase.is_outlier { "unusual duration" } else { "" }.to_owned(),
        ]
    }));
    let mut text = format!("{trace}, phases\n");
    text_table::append(&mut text, &rows, &[1, 2, 3, 4, 5, 6]);
    text
}

/// The columns of the phases as CSV, and the members of their objects in JSON.
const COLUMNS: [&str; 10] = [
    "value",
    "number",
    "from",
    "to",
    "containers",
    "duration_mean",
    "duration_max",
    "max_in",
    "self_mean",
    "is_outlier",
];

/// The cells of a phase. `unit` is the unit of times, in nanoseconds.
fn cells(phase: &Phase, containers: &UniqueContainerNames, unit: f64) -> [Value; 10] {
    let time = |nanos: f64| json!(nanos / unit);
    [
        json!(phase.name),
        json!(phase.number),
        time(phase.time_range.from.0 as f64),
        time(phase.time_range.to.0 as f64),
        json!(phase.containers),
        time(phase.mean),
        time(phase.max as f64),
        json!(containers.name(phase.longest)),
        time(phase.mean_self),
        json!(phase.is_outlier),
    ]
}

/// A row for each phase, with times in seconds.
pub(super) fn phase_csv(source: &dyn TimelineSource, list: &PhaseList) -> String {
    let containers = UniqueContainerNames::new(source);
    let mut bytes = COLUMNS.join(",").into_bytes();
    bytes.push(b'\n');
    for phase in &list.phases {
        for (index, value) in cells(phase, &containers, 1e9).into_iter().enumerate() {
            if index > 0 {
                bytes.push(b',');
            }
            csv_cell::append(&value.as_str().map_or_else(|| value.to_string(), str::to_owned), &mut bytes);
        }
        bytes.push(b'\n');
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A list of objects, with times in nanoseconds.
pub(super) fn phase_json(source: &dyn TimelineSource, list: &PhaseList) -> String {
    let containers = UniqueContainerNames::new(source);
    let object = |phase: &Phase| -> Value {
        COLUMNS.into_iter().map(str::to_owned).zip(cells(phase, &containers, 1.0)).collect()
    };
    Value::from(list.phases.iter().map(object).collect::<Vec<Value>>()).to_string() + "\n"
}
