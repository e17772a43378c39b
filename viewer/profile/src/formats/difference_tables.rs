//! The comparison of two profiles for other tools.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use tumit_viewer::stats::json_number;
use tumit_viewer::text::csv_cell;

use super::folded::stack_name;
use super::paths::stack_self_times;
use crate::call_tree::{CallNode, NameTimes};
use crate::difference::ProfileDifference;

/// A row for each name of each state type, with the times of both traces in seconds. Each
/// comparison has the name of its state type.
pub fn difference_csv(differences: &[(String, ProfileDifference)]) -> String {
    let mut bytes = b"type,value,calls_before,calls_after,total_before,total_after,self_before,self_after\n".to_vec();
    for (ty, difference) in differences {
        for row in &difference.by_name {
            csv_cell::append(ty, &mut bytes);
            bytes.push(b',');
            csv_cell::append(difference.text(row.name), &mut bytes);
            let pair = |number: &dyn Fn(NameTimes) -> String| format!(",{},{}", number(row.before), number(row.after));
            let cells = [
                pair(&|times| times.calls.to_string()),
                pair(&|times| (times.total as f64 / 1e9).to_string()),
                pair(&|times| (times.self_time as f64 / 1e9).to_string()),
            ];
            bytes.extend(cells.concat().into_bytes());
            bytes.push(b'\n');
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A document with the values of each comparison, and the nodes of both call trees. Times are in
/// nanoseconds.
pub fn difference_json(names: [&str; 2], differences: &[(String, ProfileDifference)]) -> String {
    let times = |times: NameTimes| json!({ "calls": times.calls, "total": json_number(times.total), "self": json_number(times.self_time) });
    let node_times = |node: &CallNode| json!({ "calls": node.calls, "total": json_number(node.total), "self": json_number(node.self_time) });
    let comparison = |(ty, difference): &(String, ProfileDifference)| {
        let rows: Vec<Value> = difference
            .by_name
            .iter()
            .map(|row| json!({ "value": difference.text(row.name), "before": times(row.before), "after": times(row.after) }))
            .collect();
        let pairs = difference.tree_before.nodes().iter().zip(difference.tree_after.nodes()).enumerate().skip(1);
        let calls: Vec<Value> = pairs
            .map(|(index, (before, after))| {
                json!({
                    "id": index - 1,
                    "caller": before.caller.checked_sub(1),
                    "value": difference.text(before.name),
                    "before": node_times(before),
                    "after": node_times(after),
                })
            })
            .collect();
        json!({ "type": ty, "values": rows, "calls": calls })
    };
    let comparisons: Vec<Value> = differences.iter().map(comparison).collect();
    json!({ "before": names[0], "after": names[1], "profiles": comparisons }).to_string() + "\n"
}

/// A line for each path of calls with self time in one of the traces: the names, separated by `;`,
/// and the self times in nanoseconds, as `difffolded.pl` writes them. Stacks have at most 1,000
/// names.
pub fn difference_folded(differences: &[(String, ProfileDifference)]) -> String {
    let mut lines = Vec::new();
    for (_, difference) in differences {
        let [before, after] = [&difference.tree_before, &difference.tree_after].map(stack_self_times);
        let nodes: BTreeSet<usize> = before.keys().chain(after.keys()).copied().collect();
        for node in nodes {
            let path = difference.tree_before.path(node);
            let names: Vec<String> = path.into_iter().map(|name| stack_name(difference.text(name))).collect();
            let nanos = |times: &FxHashMap<usize, i128>| times.get(&node).copied().unwrap_or_default();
            lines.push(format!("{} {} {}", names.join(";"), nanos(&before), nanos(&after)));
        }
    }
    lines.sort_unstable();
    lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}");
        text
    })
}
