//! Walks over all entities of a list in pages, so that no list is ever whole in memory.

use rustc_hash::FxHashSet;

use super::{
    ContainerId, EntityId, GlobalNanos, Interval, Lane, Link, Listed, Mark, QueryError, Sample, State, TimelineSource,
    TypeId,
};

/// Entities per page.
const PAGE: usize = 8192;

/// All time there is.
pub(crate) const EVER: Interval = Interval { from: GlobalNanos(i64::MIN), to: GlobalNanos(i64::MAX) };

/// Visits the states of a lane that overlap an interval, by start. The cost is that of listing them.
///
/// # Errors
/// As [`TimelineSource::states`], and what `visit` gives.
pub fn states(
    source: &dyn TimelineSource,
    lane: Lane,
    interval: Interval,
    mut visit: impl FnMut(&State) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let key = |state: &State| (state.id, state.life.from.0);
    pages(interval, |part, limit| source.states(lane, part, limit), key, &mut visit)
}

/// Visits point events in an interval, by date.
///
/// # Errors
/// As [`TimelineSource::events`], and what `visit` gives.
pub fn events(
    source: &dyn TimelineSource,
    (container, ty): (ContainerId, TypeId),
    interval: Interval,
    mut visit: impl FnMut(&Mark) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let key = |mark: &Mark| (mark.id, mark.time.0);
    pages(interval, |part, limit| source.events(container, ty, part, limit), key, &mut visit)
}

/// Visits the links of a type that overlap an interval, by the earlier of their dates.
///
/// # Errors
/// As [`TimelineSource::links`], and what `visit` gives.
pub fn links(
    source: &dyn TimelineSource,
    ty: TypeId,
    interval: Interval,
    mut visit: impl FnMut(&Link) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let key = |link: &Link| (link.id, link.start_time.0.min(link.end_time.0));
    pages(interval, |part, limit| source.links(ty, part, limit), key, &mut visit)
}

/// Visits the values of a variable that overlap an interval, by start.
///
/// # Errors
/// As [`TimelineSource::samples`], and what `visit` gives.
pub fn samples(
    source: &dyn TimelineSource,
    (container, ty): (ContainerId, TypeId),
    interval: Interval,
    mut visit: impl FnMut(&Sample) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let key = |sample: &Sample| (sample.id, sample.life.from.0);
    pages(interval, |part, limit| source.samples(container, ty, part, limit), key, &mut visit)
}

/// Page by page.
pub(crate) fn pages<T>(
    interval: Interval,
    ask: impl Fn(Interval, usize) -> Result<Listed<T>, QueryError>,
    key: impl Fn(&T) -> (EntityId, i64),
    visit: &mut dyn FnMut(&T) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let mut pages = Pages::new(interval, PAGE);
    while let Some(page) = pages.next(&ask, &key)? {
        page.iter().try_for_each(&mut *visit)?;
    }
    Ok(())
}

/// The pages of a list, for who takes one when it needs it: each is asked for from the start of the last entity of the one before.
#[derive(Debug)]
pub(crate) struct Pages {
    interval: Interval,
    from: i64,
    limit: usize,
    /// Those that were there already and that the next page may bring again: what started before `from` was, once `from` has moved.
    seen: FxHashSet<EntityId>,
    moved: bool,
    ended: bool,
}

impl Pages {
    /// Of an interval, of so many entities each; of more where as many are open, or begin, at one date.
    pub(crate) fn new(interval: Interval, size: usize) -> Self {
        let (from, limit) = (interval.from.0, size.max(1));
        Self { interval, from, limit, seen: FxHashSet::default(), moved: false, ended: false }
    }

    /// The next page, which may have nothing new in it; none at the end.
    ///
    /// # Errors
    /// What `ask` gives.
    pub(crate) fn next<T>(
        &mut self,
        ask: impl Fn(Interval, usize) -> Result<Listed<T>, QueryError>,
        key: impl Fn(&T) -> (EntityId, i64),
    ) -> Result<Option<Vec<T>>, QueryError> {
        if self.ended {
            return Ok(None);
        }
        let Listed { total, mut items } = ask(Interval { from: GlobalNanos(self.from), ..self.interval }, self.limit)?;
        self.ended = total <= items.len() as u64;
        let Some(last) = items.last().map(|item| key(item).1) else {
            self.ended = true;
            return Ok(None);
        };
        let advances = last > self.from;
        let mut again = FxHashSet::default();
        items.retain(|item| {
            let (id, start) = key(item);
            if !self.ended && (start == last || !advances) {
                again.insert(id);
            }
            !(self.seen.contains(&id) || self.moved && start < self.from)
        });
        if advances {
            (self.from, self.moved, self.seen) = (last, true, again);
        } else {
            self.seen.extend(again);
            self.limit *= 2;
        }
        Ok(Some(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::ValueId;

    #[test]
    fn each_is_visited_once_however_pages_are_cut() {
        // Many that are open at the start, many that begin at one date, then a chain.
        let mut all: Vec<(i64, i64)> = (0..9_000).map(|n| (-n % 50, 200_000)).collect();
        all.extend((0..20_000).map(|n| (100, 101 + n % 7)));
        all.extend((0..30_000).map(|n| (200 + n, 201 + n)));
        all.sort_unstable();
        let list = |part: Interval, limit: usize| {
            let inside = |&(_, life): &(usize, &(i64, i64))| life.0 < part.to.0 && life.1 > part.from.0;
            let found: Vec<State> = all
                .iter()
                .enumerate()
                .filter(inside)
                .map(|(at, life)| State {
                    id: EntityId::State(at as u32),
                    value: ValueId(0),
                    life: Interval { from: GlobalNanos(life.0), to: GlobalNanos(life.1) },
                    depth: 0,
                })
                .collect();
            Ok(Listed { total: found.len() as u64, items: found.into_iter().take(limit).collect() })
        };
        for (from, to) in [(-100, 300_000), (50, 10_000), (100, 101)] {
            let part = Interval { from: GlobalNanos(from), to: GlobalNanos(to) };
            let mut found = Vec::new();
            let mut visit = |state: &State| {
                found.push(state.id);
                Ok(())
            };
            pages(part, list, |state| (state.id, state.life.from.0), &mut visit).expect("lists do not fail");
            let expected: Vec<EntityId> =
                list(part, usize::MAX).expect("it does not fail").items.iter().map(|state| state.id).collect();
            assert_eq!(found, expected, "{from}..{to}");
        }
    }
}
