//! Variables over an interval: mean, and the extremes with where they are.

use crate::query::{ContainerId, GlobalNanos, Interval, QueryError, SeriesColumn, TimelineSource, TypeId};

/// An extreme value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extreme {
    /// The value.
    pub value: f64,
    /// The first date in the interval at which it is reached.
    pub at: GlobalNanos,
}

/// What a variable comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariableStats {
    /// Over the time for which it has a value.
    pub mean: f64,
    /// The least value.
    pub min: Extreme,
    /// The largest value.
    pub max: Extreme,
}

/// A variable of a container over an interval; none where it has no value. A search by halving, so that no list of values is read.
///
/// # Errors
/// As [`TimelineSource::series`].
pub fn variable(
    source: &dyn TimelineSource,
    container: ContainerId,
    ty: TypeId,
    interval: Interval,
) -> Result<Option<VariableStats>, QueryError> {
    let whole = |interval| -> Result<Option<SeriesColumn>, QueryError> {
        Ok(source.series(container, ty, interval, 1)?.pop().flatten())
    };
    let Some(all) = whole(interval)? else { return Ok(None) };
    let first = |holds: &dyn Fn(&SeriesColumn) -> bool| {
        let mut part = interval;
        while part.to.0.saturating_sub(part.from.0) > 1 {
            let middle = GlobalNanos(part.from.0.midpoint(part.to.0));
            let left = Interval { to: middle, ..part };
            let found = whole(left)?.is_some_and(|column| holds(&column));
            part = if found { left } else { Interval { from: middle, ..part } };
        }
        Ok(part.from)
    };
    let min = Extreme { value: all.min, at: first(&|column| column.min <= all.min)? };
    let max = Extreme { value: all.max, at: first(&|column| column.max >= all.max)? };
    Ok(Some(VariableStats { mean: all.mean, min, max }))
}
