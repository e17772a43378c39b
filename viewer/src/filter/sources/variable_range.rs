//! Least and largest values of variables, for sources that change them. Each is computed once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::query::{ContainerInfo, GlobalNanos, TimeRange, TimelineSource, TypeId, ValueRange};

/// The computed ranges, by type; `None` without values.
#[derive(Debug, Default)]
pub(crate) struct VariableRanges(Mutex<BTreeMap<TypeId, Option<ValueRange>>>);

impl VariableRanges {
    /// The range of a type, computed at the first request.
    pub(crate) fn of(&self, ty: TypeId, compute: impl FnOnce() -> Option<ValueRange>) -> Option<ValueRange> {
        let cached_range = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&ty).copied();
        cached_range.unwrap_or_else(|| {
            let range = compute();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(ty, range);
            range
        })
    }
}

/// The range of a variable type over some containers and a time range. It costs one query per
/// container.
pub(crate) fn value_range(
    source: &dyn TimelineSource,
    list: &[ContainerInfo],
    ty: TypeId,
    time_range: TimeRange,
) -> Option<ValueRange> {
    let time_range =
        TimeRange { to: GlobalNanos(time_range.to.0.max(time_range.from.0.saturating_add(1))), ..time_range };
    let of = |info: &ContainerInfo| {
        let column = source.series(info.id, ty, time_range, 1).ok()?.into_iter().next()??;
        Some(ValueRange { min: column.min, max: column.max })
    };
    list.iter().filter_map(of).reduce(ValueRange::join)
}
