//! The time and the options of a request in words, and its time ranges with closed ends.

use tumit_viewer::query::{GlobalNanos, TimeRange};
use tumit_viewer::text::time_display;

use crate::execution::Execution;
use crate::order::UnitOrder;
use crate::view::{TimeMode, ViewRequest};

/// A timestamp, precise to about a thousandth of the time range.
fn timestamp(at: i64, range: TimeRange) -> String {
    let nanos = range.to.0.saturating_sub(range.from.0);
    time_display::timestamp(GlobalNanos(at), (nanos / 1000).max(1))
}

/// The present time in words, such as `at 1.538 s`.
pub(crate) fn at_text(request: &ViewRequest) -> String {
    format!("at {}", timestamp(request.time, request.range))
}

/// A time range in words, such as `0.2 s to 0.4 s`.
pub(crate) fn range_text(range: TimeRange) -> String {
    format!("{} to {}", timestamp(range.from.0, range), timestamp(range.to.0, range))
}

/// The time of a request in words: the present time, or the visible time range.
pub(crate) fn time_text(request: &ViewRequest) -> String {
    match request.mode {
        TimeMode::At => at_text(request),
        TimeMode::Range => range_text(request.visible_range()),
        TimeMode::Moving => format!("{}, {}", at_text(request), range_text(request.visible_range())),
    }
}

/// The order of the units in words, unless it is the order of the trace.
pub(crate) fn order_text(order: &UnitOrder) -> String {
    match order {
        UnitOrder::Natural => String::new(),
        UnitOrder::Gray => "in Gray order".to_owned(),
        UnitOrder::Name => "by name".to_owned(),
        UnitOrder::Metric(_) => "by a measure".to_owned(),
        UnitOrder::Names(_) => "in the order of a file".to_owned(),
    }
}

/// The parts of a subtitle that are not empty, separated by semicolons.
pub(crate) fn subtitle(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

/// The first timestamp of a time range, and the first one after it. A time range that ends with the
/// trace contains the last timestamp of the trace.
pub(crate) fn bounds(execution: &Execution, range: TimeRange) -> (i64, i64) {
    let reaches_end = range.to >= execution.extent().to;
    (range.from.0, if reaches_end { range.to.0.saturating_add(1) } else { range.to.0 })
}
