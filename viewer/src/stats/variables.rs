//! Statistics of variables in a time range: the mean, and the extremes with their timestamps.

use crate::query::{ContainerId, GlobalNanos, QueryError, SeriesColumn, TimeRange, TimelineSource, TypeId};

/// An extreme value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct VariableExtreme {
    /// The smallest or largest number.
    pub value: f64,
    /// The first timestamp in the time range with this value.
    pub timestamp: GlobalNanos,
}

/// Statistics of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct VariableStats {
    /// The mean over the time for which it has a value.
    pub mean: f64,
    /// The smallest value.
    pub min: VariableExtreme,
    /// The largest value.
    pub max: VariableExtreme,
}

/// Statistics of a container's variable in a time range. `None` if it has no value. The extremes
/// are found by bisection, without reading lists of values.
///
/// # Errors
/// As [`TimelineSource::series`].
pub fn variable(
    source: &dyn TimelineSource,
    container: ContainerId,
    ty: TypeId,
    time_range: TimeRange,
) -> Result<Option<VariableStats>, QueryError> {
    let extremes = |time_range| -> Result<Option<SeriesColumn>, QueryError> {
        Ok(source.series(container, ty, time_range, 1)?.pop().flatten())
    };
    let Some(range_extremes) = extremes(time_range)? else { return Ok(None) };
    let first = |holds: &dyn Fn(&SeriesColumn) -> bool| {
        let mut part = time_range;
        while part.to.0.saturating_sub(part.from.0) > 1 {
            let middle = GlobalNanos(part.from.0.midpoint(part.to.0));
            let first_half = TimeRange { to: middle, ..part };
            let is_in_first_half = extremes(first_half)?.is_some_and(|column| holds(&column));
            part = if is_in_first_half { first_half } else { TimeRange { from: middle, ..part } };
        }
        Ok(part.from)
    };
    let min =
        VariableExtreme { value: range_extremes.min, timestamp: first(&|column| column.min <= range_extremes.min)? };
    let max =
        VariableExtreme { value: range_extremes.max, timestamp: first(&|column| column.max >= range_extremes.max)? };
    Ok(Some(VariableStats { mean: range_extremes.mean, min, max }))
}
