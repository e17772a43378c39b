//! Reductions over groups of rows, compared with step functions that are computed from lists.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tumit_test_support::random_trace::plans;
use tumit_test_support::trace_model::{END, ModelSample, ModelState, ModelTrace};

use super::{check_filter, is_alive, query_range, steps};

/// The operations, and a filter for each.
const FILTERS: [(&str, &str); 14] = [
    ("count", "count work, wait of Activity per Node into Reduced"),
    ("state", "count work, wait of Activity per Node into state Reduced"),
    ("sum", "sum of Load per Node into Reduced"),
    ("mean", "mean of Load per Node into Reduced"),
    ("min", "min of Load per Node into Reduced"),
    ("max", "max of Load per Node into Reduced"),
    ("links", "count of Message per Node into Reduced"),
    ("bytes", "sum Bytes of Message per Node into Reduced"),
    ("sent", "count sent of Message per Node into Reduced"),
    ("received", "count received of Message per Node into Reduced"),
    ("sent bytes", "sum sent Bytes of Message per Node into Reduced"),
    ("received bytes", "sum received Bytes of Message per Node into Reduced"),
    ("events", "count work of Mark per Node into Reduced"),
    ("event state", "count work of Mark per Node into state Reduced"),
];

/// A time range, and the value of an entity in it.
type ValuePiece = ((i64, i64), f64);

/// The entities of some containers that an operation reduces.
fn pieces(world: &ModelTrace, operation: &str, below: &BTreeSet<String>) -> Vec<ValuePiece> {
    match operation {
        "count" | "state" => {
            let states = world.states.iter().filter(|state| state.ty == "Activity" && below.contains(&state.container));
            states.filter(|state| state.value != "idle").map(|state| (state.life, 1.0)).collect()
        }
        "links" | "bytes" => {
            let links = world.links.iter();
            let links = links.filter(|link| below.contains(&link.ends.0) || below.contains(&link.ends.1));
            links.map(|link| (link.life, link.bytes as f64)).collect()
        }
        "sent" | "sent bytes" => {
            let links = world.links.iter().filter(|link| below.contains(&link.ends.0));
            links.map(|link| (link.life, link.bytes as f64)).collect()
        }
        "received" | "received bytes" => {
            let links = world.links.iter().filter(|link| below.contains(&link.ends.1));
            links.map(|link| (link.life, link.bytes as f64)).collect()
        }
        // For events: the number of events so far.
        "events" | "event state" => {
            let events = world.events.iter().filter(|event| below.contains(&event.container) && event.value == "work");
            events.map(|event| ((event.timestamp, END), 1.0)).collect()
        }
        _ => {
            let samples =
                world.samples.iter().filter(|sample| sample.ty == "Load" && below.contains(&sample.container));
            samples.map(|sample| (sample.life, sample.value)).collect()
        }
    }
}

/// The result of an operation at a timestamp.
fn reduced_value(operation: &str, pieces: &[ValuePiece], time: i64) -> Option<f64> {
    let values: Vec<f64> = pieces.iter().filter(|piece| is_alive(piece.0, time)).map(|piece| piece.1).collect();
    match operation {
        "count" | "state" | "links" | "sent" | "received" | "events" | "event state" => Some(values.len() as f64),
        "bytes" | "sent bytes" | "received bytes" => Some(values.iter().sum()),
        _ if values.is_empty() => None,
        "mean" => Some(values.iter().sum::<f64>() / values.len() as f64),
        "min" => Some(values.iter().copied().fold(f64::INFINITY, f64::min)),
        "max" => Some(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        _ => Some(values.iter().sum()),
    }
}

/// Adds the results of an operation for a node.
fn add_reduction(world: &mut ModelTrace, operation: &str, node: &str) {
    let pieces = pieces(world, operation, &world.below(node));
    let timestamps = pieces.iter().flat_map(|piece| [piece.0.0, piece.0.1]);
    for (life, value) in steps(timestamps, (0, END), |time| reduced_value(operation, &pieces, time)) {
        let (container, ty) = (node.to_owned(), "Reduced".to_owned());
        if operation.ends_with("state") {
            world.states.push(ModelState { container, ty, depth: 0, life, value: value.to_string() });
        } else {
            world.samples.push(ModelSample { container, ty, life, value });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn reductions_equal_changed_lists(plans in plans(), query in query_range()) {
        for (operation, filter) in FILTERS {
            check_filter(&plans, query, filter, |world| {
                for node in ["node 0", "node 1"] {
                    add_reduction(world, operation, node);
                }
            })?;
        }
    }
}
