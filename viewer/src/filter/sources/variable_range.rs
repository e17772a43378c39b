//! Least and largest values of variables, for sources in which they are not those of the source within; each computed once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::query::{ContainerInfo, GlobalNanos, Interval, TimelineSource, TypeId};

/// Least and largest value.
pub(crate) type Range = Option<(f64, f64)>;

/// What was computed, by type.
#[derive(Debug, Default)]
pub(crate) struct Ranges(Mutex<BTreeMap<TypeId, Range>>);

impl Ranges {
    /// The range of a type, computed when it is asked for first.
    pub(crate) fn of(&self, ty: TypeId, compute: impl FnOnce() -> Range) -> Range {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&ty).copied();
        known.unwrap_or_else(|| {
            let range = compute();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(ty, range);
            range
        })
    }
}

/// The range of a variable type over some containers and an interval. A query per container.
pub(crate) fn over(source: &dyn TimelineSource, list: &[ContainerInfo], ty: TypeId, interval: Interval) -> Range {
    let interval = Interval { to: GlobalNanos(interval.to.0.max(interval.from.0.saturating_add(1))), ..interval };
    let of = |info: &ContainerInfo| {
        let column = source.series(info.id, ty, interval, 1).ok()?.into_iter().next()??;
        Some((column.min, column.max))
    };
    list.iter().filter_map(of).reduce(join)
}

/// What holds both.
pub(crate) fn join(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0.min(b.0), a.1.max(b.1))
}
