//! The time and options of a request in words, for the subtitles of charts.

use tumit_viewer::query::{GlobalNanos, TimeRange};
use tumit_viewer::text::time_display::{duration, timestamp};

use crate::execution::Execution;
use crate::order::UnitOrder;
use crate::view::{TimeMode, ViewRequest};

/// A time, as precise as a time range needs.
fn time(time: i64, range: TimeRange) -> String {
    let nanos = range.to.0.saturating_sub(range.from.0);
    timestamp(GlobalNanos(time), (nanos / 2000).max(1))
}

/// The present time, such as `at 1.538 s`.
pub(crate) fn instant(request: &ViewRequest) -> String {
    format!("at {}", time(request.time, request.range))
}

/// The time range that a view shows, such as `0.2 s to 0.4 s`.
pub(crate) fn period(request: &ViewRequest) -> String {
    let range = request.visible_range();
    let text = format!("{} to {}", time(range.from.0, range), time(range.to.0, range));
    match (request.mode, request.options.width) {
        (TimeMode::Moving, Some(width)) => {
            format!("{text} ({} ± {})", time(request.time, range), duration(width))
        }
        _ => text,
    }
}

/// The present time in the mode `at`, otherwise the time range.
pub(crate) fn shown_time(request: &ViewRequest) -> String {
    if request.mode == TimeMode::At { instant(request) } else { period(request) }
}

/// The order of the units, if it is not the natural one.
pub(crate) fn order(request: &ViewRequest) -> Option<String> {
    let order = &request.options.order;
    (*order != UnitOrder::Natural).then(|| order.description())
}

/// The container type of the units, such as `Thread`.
pub(crate) fn unit_type(execution: &Execution) -> &str {
    let ty = execution.model().types.get(execution.units().ty.index());
    ty.map_or("unit", |ty| ty.name.as_str())
}

/// Joins the parts of a subtitle.
pub(crate) fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
