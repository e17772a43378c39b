//! The profile as a text: tables of values and call trees.

use tumit_profile::call_tree::{CallNode, CallTree, ROOT};
use tumit_profile::container_names::UniqueContainerNames;
use tumit_profile::profile::{NameProfile, Profile};
use tumit_viewer::query::{TimeRange, TimelineSource};
use tumit_viewer::text::time_display::{duration, group_digits, timestamp};

use crate::text_table::{self, printable_name};

/// The texts and limits of a report.
pub(super) struct ReportSettings<'a> {
    /// The name of the trace.
    pub(super) trace: &'a str,
    /// The smallest share of the time in a line of a tree, from 0 to 1.
    pub(super) min_share: f64,
}

/// Maximum depth of the lines of a tree. The indentation of deeper lines leaves no room for names.
pub(super) const MAX_DEPTH: u32 = 50;

/// The report of some profiles. `tree` returns the tree to show, with its direction.
pub(super) fn report(
    source: &dyn TimelineSource,
    profiles: &[Profile],
    settings: &ReportSettings<'_>,
    tree: impl Fn(&Profile) -> Option<(CallTree, &'static str)>,
) -> String {
    let containers = UniqueContainerNames::new(source);
    let model = source.model();
    let Some(first) = profiles.first() else { return format!("{}: the trace has no states\n", settings.trace) };
    let TimeRange { from, to } = first.time_range;
    let resolution = (to.0.saturating_sub(from.0) / 1000).max(1);
    let mut text = format!("{}, {} to {}\n", settings.trace, timestamp(from, resolution), timestamp(to, resolution));
    for profile in profiles {
        let ty = model.types.get(profile.ty.index()).map_or("", |info| info.name.as_str());
        let noun = if profile.containers == 1 { "container" } else { "containers" };
        let heading = format!("{} of {} {noun}", printable_name(ty), group_digits(profile.containers as u64));
        if profile.by_name.is_empty() {
            text.push_str(&format!("\n{heading}: no states in this time range\n"));
            continue;
        }
        text.push_str(&format!("\n{heading}\n"));
        append_values(&mut text, profile, &containers);
        if let Some((tree, direction)) = tree(profile) {
            append_tree(&mut text, profile, &tree, direction, settings.min_share);
        }
    }
    text
}

/// The text of a sum of times. The sum over many containers can exceed 64 bits of nanoseconds.
pub(super) fn time_text(nanos: i128) -> String {
    match i64::try_from(nanos) {
        Ok(nanos) => duration(nanos),
        Err(_) => format!("{} d", group_digits(u64::try_from(nanos / 86_400_000_000_000).unwrap_or(u64::MAX))),
    }
}

pub(super) fn share_text(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The table of the values.
fn append_values(text: &mut String, profile: &Profile, containers: &UniqueContainerNames) {
    let heads = [
        "Value",
        "Calls",
        "Total",
        "Share",
        "Self",
        "Self share",
        "Shortest",
        "Mean",
        "Median",
        "Longest",
        "Imbalance",
        "Most time in",
    ];
    // With one container, there is no imbalance.
    let columns = if profile.containers > 1 { heads.len() } else { heads.len() - 2 };
    let cells = |name: &NameProfile| {
        let time = |nanos: Option<i64>| nanos.map_or_else(String::new, duration);
        let durations = &name.durations;
        let cells = [
            profile.names.text(name.name).to_owned(),
            group_digits(name.times.calls),
            time_text(name.times.total),
            share_text(name.share),
            time_text(name.times.self_time),
            share_text(name.self_share),
            time(durations.min()),
            durations.mean().map_or_else(String::new, |nanos| time_text(nanos.round() as i128)),
            time(durations.quantile(0.5)),
            time(durations.max()),
            format!("{:.2}", name.imbalance.ratio()),
            containers.name(name.imbalance.container),
        ];
        cells[..columns].to_vec()
    };
    let mut rows = vec![heads[..columns].iter().map(|&head| head.to_owned()).collect::<Vec<String>>()];
    rows.extend(profile.by_name.iter().map(cells));
    let right: Vec<usize> = (1..columns.min(heads.len() - 1)).collect();
    text_table::append(text, &rows, &right);
}

/// The lines of a tree that have enough time. Other callees of a line are counted in one line.
fn append_tree(text: &mut String, profile: &Profile, tree: &CallTree, direction: &str, min_share: f64) {
    let callees = tree.sorted_callees();
    let whole = tree.nodes()[ROOT].total.max(1) as f64;
    let time_head = if direction == "top-down" { "Total" } else { "Self of the value" };
    let mut rows =
        vec![["Share", time_head, "Self", "Calls", &format!("Calls, {direction}")].map(str::to_owned).to_vec()];
    if direction != "top-down" {
        rows[0].remove(2);
    }
    let row = |node: CallNode, line: String| {
        let mut cells = vec![
            share_text(node.total as f64 / whole),
            time_text(node.total),
            time_text(node.self_time),
            group_digits(node.calls),
            line,
        ];
        if direction != "top-down" {
            cells.remove(2);
        }
        cells
    };
    let mut pending = vec![(ROOT, String::new())];
    while let Some((index, indent)) = pending.pop() {
        let node = tree.nodes()[index];
        if index != ROOT {
            rows.push(row(node, format!("{indent}{}", profile.names.text(node.name))));
        }
        let inner_indent = if index == ROOT { String::new() } else { format!("{indent}  ") };
        let is_shown = |callee: &&u32| {
            let callee = tree.nodes()[**callee as usize];
            callee.depth <= MAX_DEPTH
                && callee.total as f64 / whole >= min_share
                && (min_share <= 0.0 || callee.total > 0)
        };
        let shown: Vec<u32> = callees[index].iter().filter(is_shown).copied().collect();
        pending.extend(shown.into_iter().rev().map(|callee| (callee as usize, inner_indent.clone())));
    }
    let right: Vec<usize> = (0..rows[0].len() - 1).collect();
    let hidden = tree.nodes().len() - rows.len();
    text_table::append_whole(text, &rows, &right);
    append_hidden_count(text, hidden, &share_text(min_share));
}

/// A line with the number of lines that are left out.
pub(super) fn append_hidden_count(text: &mut String, hidden: usize, min_share: &str) {
    if hidden > 0 {
        let (noun, verb) = if hidden == 1 { ("line", "is") } else { ("lines", "are") };
        let count = group_digits(hidden as u64);
        text.push_str(&format!(
            "{count} {noun} with less than {min_share} (--min-share), or more than {MAX_DEPTH} levels deep, {verb} left out\n"
        ));
    }
}
