//! Profiles as comma-separated values.

use tumit_viewer::query::TimelineSource;
use tumit_viewer::text::csv_cell;

use super::paths::type_name;
use crate::container_names::UniqueContainerNames;
use crate::profile::{NameProfile, Profile};

/// The names of the columns.
const COLUMNS: [&str; 13] = [
    "type",
    "value",
    "calls",
    "total",
    "share",
    "self",
    "self_share",
    "duration_min",
    "duration_mean",
    "duration_median",
    "duration_max",
    "imbalance",
    "most_time_in",
];

/// A row for each name of each state type. Times are in seconds, shares are from 0 to 1.
pub fn csv(source: &dyn TimelineSource, profiles: &[Profile]) -> String {
    let containers = UniqueContainerNames::new(source);
    let mut bytes = COLUMNS.join(",").into_bytes();
    bytes.push(b'\n');
    for profile in profiles {
        let ty = type_name(source, profile.ty);
        for name in &profile.by_name {
            for (index, cell) in cells(&ty, profile, name, &containers).iter().enumerate() {
                if index > 0 {
                    bytes.push(b',');
                }
                csv_cell::append(cell, &mut bytes);
            }
            bytes.push(b'\n');
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn cells(ty: &str, profile: &Profile, name: &NameProfile, containers: &UniqueContainerNames) -> [String; 13] {
    let seconds = |nanos: f64| (nanos / 1e9).to_string();
    let duration = |nanos: Option<i64>| nanos.map_or_else(String::new, |nanos| seconds(nanos as f64));
    let durations = &name.durations;
    [
        ty.to_owned(),
        profile.names.text(name.name).to_owned(),
        name.times.calls.to_string(),
        seconds(name.times.total as f64),
        name.share.to_string(),
        seconds(name.times.self_time as f64),
        name.self_share.to_string(),
        duration(durations.min()),
        durations.mean().map_or_else(String::new, seconds),
        duration(durations.quantile(0.5)),
        duration(durations.max()),
        name.imbalance.ratio().to_string(),
        containers.name(name.imbalance.container),
    ]
}
