//! The time and the options of a request in words, for the subtitles of charts.

use rustc_hash::FxHashSet;
use tumit_viewer::query::{GlobalNanos, TimeRange};
use tumit_viewer::text::time_display::timestamp;

use crate::execution::Execution;
use crate::execution::order::UnitOrder;
use crate::options::ViewOptions;
use crate::view::{TimeMode, ViewRequest};

/// A timestamp, precise to about a thousandth of a time range.
fn timestamp_in(time: i64, range: TimeRange) -> String {
    let nanos = range.to.0.saturating_sub(range.from.0);
    timestamp(GlobalNanos(time), (nanos / 1000).max(1))
}

/// The time cursor, such as `at 1.538 s`.
pub(crate) fn time_caption(request: &ViewRequest) -> String {
    format!("at {}", timestamp_in(request.time.0, request.range))
}

/// The time range that a view shows, such as `0.2 s to 0.4 s`.
pub(crate) fn range_caption(request: &ViewRequest) -> String {
    let range = request.visible_range();
    let text = format!("{} to {}", timestamp_in(range.from.0, range), timestamp_in(range.to.0, range));
    match request.mode {
        TimeMode::Moving => format!("at {}, {text}", timestamp_in(request.time.0, range)),
        TimeMode::At | TimeMode::Range => text,
    }
}

/// The time cursor in the mode `at`, otherwise the time range.
pub(crate) fn mode_caption(request: &ViewRequest) -> String {
    if request.mode == TimeMode::At { time_caption(request) } else { range_caption(request) }
}

/// The order of the units. Empty for the order of the trace.
pub(crate) fn order_caption(request: &ViewRequest) -> String {
    let order = &request.options.order;
    if *order == UnitOrder::Natural { String::new() } else { order.description() }
}

/// A note about names in the file of an order that no unit has.
pub(crate) fn unknown_names_note(execution: &Execution, options: &ViewOptions) -> Option<String> {
    let UnitOrder::Names(names) = &options.order else { return None };
    unknown_note(execution, "order", names.iter().map(String::as_str))
}

/// A note about names in a file that no unit has. `file` names the purpose of the file.
pub(crate) fn unknown_note<'a>(
    execution: &Execution,
    file: &str,
    names: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let containers = execution.source().containers();
    // Units that are not chosen are known, too.
    let mut known: FxHashSet<&str> = containers.iter().map(|info| info.name.as_str()).collect();
    known.extend(execution.units().list().iter().map(|unit| unit.name.as_str()));
    let mut unknown = names.filter(|name| !known.contains(name));
    let first = unknown.next()?;
    Some(match unknown.count() {
        0 => format!("The file of the {file} names `{first}`, which is no unit."),
        more => format!("The file of the {file} has {} names of no unit, such as `{first}`.", more + 1),
    })
}

/// The container type of the units, such as `Thread`.
pub(crate) fn unit_type(execution: &Execution) -> &str {
    let ty = execution.model().types.get(execution.units().ty.index());
    ty.map_or("unit", |ty| ty.name.as_str())
}

/// The number of chosen units, such as `2 of 4 units`. Empty if all are chosen.
pub(crate) fn choice_caption(execution: &Execution) -> String {
    let units = execution.units();
    if !units.is_restricted() {
        return String::new();
    }
    format!("{} of {} units", units.count(), units.level_count())
}

/// Joins the parts of a subtitle that are not empty by semicolons.
pub(crate) fn subtitle(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}
