//! The comparison of two traces as a text: tables of values and of calls.

use tumit_profile::call_tree::{CallTree, NameTimes, ROOT};
use tumit_profile::difference::ProfileDifference;
use tumit_viewer::text::time_display::group_digits;

use super::report::{MAX_DEPTH, share_text, time_text};
use crate::text_table::{self, printable_name};

/// The report of the comparisons of some state types.
pub(super) fn difference_report(
    names: [&str; 2],
    differences: &[(String, ProfileDifference)],
    min_share: f64,
    has_trees: impl Fn(&ProfileDifference) -> bool,
) -> String {
    let mut text = format!("{} (before) and {} (after)\n", names[0], names[1]);
    for (ty, difference) in differences {
        text.push_str(&format!("\n{}\n", printable_name(ty)));
        append_values(&mut text, difference);
        if has_trees(difference) {
            append_tree(&mut text, difference, min_share);
        }
    }
    text
}

/// A change of a time, with its sign.
fn change_text(nanos: i128) -> String {
    match nanos {
        0 => "0".to_owned(),
        1.. => format!("+{}", time_text(nanos)),
        _ => format!("−{}", time_text(-nanos)),
    }
}

/// A change relative to the first time.
fn relative_text(before: i128, after: i128) -> String {
    match (before, after) {
        (0, 0) => String::new(),
        (0, _) => "new".to_owned(),
        (_, 0) => "gone".to_owned(),
        _ => format!("{:+.1} %", (after - before) as f64 / before as f64 * 100.0).replace('-', "−"),
    }
}

fn append_values(text: &mut String, difference: &ProfileDifference) {
    let heads = [
        "Value",
        "Self before",
        "Self after",
        "Change",
        "",
        "Total before",
        "Total after",
        "Calls before",
        "Calls after",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for row in &difference.by_name {
        let pair = |text: &dyn Fn(NameTimes) -> String| [text(row.before), text(row.after)];
        let mut cells = vec![difference.text(row.name).to_owned()];
        cells.extend(pair(&|times| time_text(times.self_time)));
        cells.push(change_text(row.self_change()));
        cells.push(relative_text(row.before.self_time, row.after.self_time));
        cells.extend(pair(&|times| time_text(times.total)));
        cells.extend(pair(&|times| group_digits(times.calls)));
        rows.push(cells);
    }
    let right: Vec<usize> = (1..heads.len()).collect();
    text_table::append(text, &rows, &right);
}

/// The share of the whole time that a node has in the trace where it is larger.
fn larger_share([before, after]: [&CallTree; 2], node: usize) -> f64 {
    let share = |tree: &CallTree| tree.nodes()[node].total as f64 / tree.nodes()[ROOT].total.max(1) as f64;
    share(before).max(share(after))
}

fn append_tree(text: &mut String, difference: &ProfileDifference, min_share: f64) {
    let trees = [&difference.tree_before, &difference.tree_after];
    let callees = trees[1].sorted_callees();
    let mut rows = vec![
        ["Before", "After", "Change", "", "Calls before", "Calls after", "Calls, top-down"].map(str::to_owned).to_vec(),
    ];
    let mut pending = vec![ROOT];
    while let Some(index) = pending.pop() {
        let [before, after] = trees.map(|tree| tree.nodes()[index]);
        if index != ROOT {
            rows.push(vec![
                time_text(before.total),
                time_text(after.total),
                change_text(after.total - before.total),
                relative_text(before.total, after.total),
                group_digits(before.calls),
                group_digits(after.calls),
                format!("{}{}", "  ".repeat(after.depth.saturating_sub(1) as usize), difference.text(after.name)),
            ]);
        }
        let shown = callees[index].iter().rev().map(|&callee| callee as usize);
        let is_shown =
            |callee: &usize| trees[1].nodes()[*callee].depth <= MAX_DEPTH && larger_share(trees, *callee) >= min_share;
        pending.extend(shown.filter(is_shown));
    }
    let hidden = trees[1].nodes().len() - rows.len();
    let right: Vec<usize> = (0..rows[0].len() - 1).collect();
    text_table::append_whole(text, &rows, &right);
    super::report::append_hidden_count(text, hidden, share_text(min_share).as_str());
}
