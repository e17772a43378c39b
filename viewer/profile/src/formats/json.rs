//! Profiles as JSON.

use serde_json::{Value, json};
use tumit_viewer::query::TimelineSource;
use tumit_viewer::stats::json_number;

use super::paths::type_name;
use crate::call_tree::ROOT;
use crate::container_names::UniqueContainerNames;
use crate::profile::{NameProfile, Profile};

pub(super) use tumit_viewer::stats::json_number as number;

/// A document with the profile of each state type: its values, and the nodes of its call tree, each
/// with the id of its caller. Times are in nanoseconds, shares are from 0 to 1.
pub fn json(source: &dyn TimelineSource, trace_name: &str, profiles: &[Profile]) -> String {
    let names = UniqueContainerNames::new(source);
    let profiles: Vec<Value> = profiles.iter().map(|profile| profile_value(source, profile, &names)).collect();
    json!({ "trace": trace_name, "profiles": profiles }).to_string() + "\n"
}

fn profile_value(source: &dyn TimelineSource, profile: &Profile, containers: &UniqueContainerNames) -> Value {
    let rows: Vec<Value> = profile.by_name.iter().map(|name| name_value(profile, name, containers)).collect();
    json!({
        "type": type_name(source, profile.ty),
        "from": profile.time_range.from.0,
        "to": profile.time_range.to.0,
        "containers": profile.containers,
        "existence": json_number(profile.existence_nanos),
        "values": rows,
        "calls": call_values(profile),
    })
}

fn name_value(profile: &Profile, name: &NameProfile, containers: &UniqueContainerNames) -> Value {
    json!({
        "value": profile.names.text(name.name),
        "calls": name.times.calls,
        "total": json_number(name.times.total),
        "self": json_number(name.times.self_time),
        "share": name.share,
        "self_share": name.self_share,
        "duration_min": name.durations.min(),
        "duration_mean": name.durations.mean(),
        "duration_median": name.durations.quantile(0.5),
        "duration_max": name.durations.max(),
        "imbalance": name.imbalance.ratio(),
        "most_time_in": containers.name(name.imbalance.container),
    })
}

/// The nodes of the call tree, each after its caller. They are a list, because readers may limit
/// the depth of documents.
fn call_values(profile: &Profile) -> Vec<Value> {
    let nodes = profile.tree.nodes();
    let callees = profile.tree.sorted_callees();
    let (mut values, mut pending) = (Vec::new(), vec![(ROOT as u32, Value::Null)]);
    while let Some((index, caller)) = pending.pop() {
        let id = values.len();
        pending.extend(
            callees[index as usize]
                .iter()
                .rev()
                .map(|&callee| (callee, if index == 0 { Value::Null } else { id.into() })),
        );
        let node = nodes[index as usize];
        if index != 0 {
            values.push(json!({
                "id": id,
                "caller": caller,
                "value": profile.names.text(node.name),
                "calls": node.calls,
                "total": json_number(node.total),
                "self": json_number(node.self_time),
            }));
        }
    }
    values
}
