//! The entities of a list in pages, so that the whole list is never in memory.

use rustc_hash::FxHashSet;
use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::TimeRange;

use super::entities::{EntityId, EntityList};
use super::error::QueryError;

/// Entities per page.
const PAGE: usize = 8192;

/// Visits the entities of a list page by page.
pub(crate) fn visit<T>(
    time_range: TimeRange,
    list: impl Fn(TimeRange, usize) -> Result<EntityList<T>, QueryError>,
    key: impl Fn(&T) -> (EntityId, i64),
    visit: &mut dyn FnMut(&T) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let mut pages = EntityPages::new(time_range, PAGE);
    while let Some(page) = pages.next(&list, &key)? {
        page.iter().try_for_each(&mut *visit)?;
    }
    Ok(())
}

/// The pages of a list, for a caller that takes them one by one. Each page starts at the start of
/// the last entity of the page before.
#[derive(Debug)]
pub(crate) struct EntityPages {
    time_range: TimeRange,
    from: i64,
    limit: usize,
    /// Entities of earlier pages that the next page may contain again. Entities that started before
    /// `from` are not stored: once `from` has moved, earlier pages contained all of them.
    visited_entities: FxHashSet<EntityId>,
    has_advanced: bool,
    is_finished: bool,
}

impl EntityPages {
    /// Creates the pages of a time range, with `size` entities each. A page is larger if as many
    /// entities are open or begin at one timestamp.
    pub(crate) fn new(time_range: TimeRange, size: usize) -> Self {
        let (from, limit) = (time_range.from.0, size.max(1));
        Self {
            time_range,
            from,
            limit,
            visited_entities: FxHashSet::default(),
            has_advanced: false,
            is_finished: false,
        }
    }

    /// Returns the next page, which may contain nothing new, or `None` at the end.
    ///
    /// # Errors
    /// The errors of `list`.
    pub(crate) fn next<T>(
        &mut self,
        list: impl Fn(TimeRange, usize) -> Result<EntityList<T>, QueryError>,
        key: impl Fn(&T) -> (EntityId, i64),
    ) -> Result<Option<Vec<T>>, QueryError> {
        if self.is_finished {
            return Ok(None);
        }
        let EntityList { total, mut items } =
            list(TimeRange { from: GlobalNanos(self.from), ..self.time_range }, self.limit)?;
        self.is_finished = total <= items.len() as u64;
        let Some(last) = items.last().map(|item| key(item).1) else {
            self.is_finished = true;
            return Ok(None);
        };
        let advances = last > self.from;
        let mut repeated_ids = FxHashSet::default();
        items.retain(|item| {
            let (id, start) = key(item);
            if !self.is_finished && (start == last || !advances) {
                repeated_ids.insert(id);
            }
            !(self.visited_entities.contains(&id) || self.has_advanced && start < self.from)
        });
        if advances {
            (self.from, self.has_advanced, self.visited_entities) = (last, true, repeated_ids);
        } else {
            self.visited_entities.extend(repeated_ids);
            self.limit *= 2;
        }
        Ok(Some(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{StateEntity, ValueId};

    #[test]
    fn each_entity_is_visited_once_for_any_page_size() {
        // Many entities that are open at the start, many that begin at one timestamp, then a chain.
        let mut all: Vec<(i64, i64)> = (0..9_000).map(|n| (-n % 50, 200_000)).collect();
        all.extend((0..20_000).map(|n| (100, 101 + n % 7)));
        all.extend((0..30_000).map(|n| (200 + n, 201 + n)));
        all.sort_unstable();
        let list = |time_range: TimeRange, limit: usize| {
            let overlaps = |&(_, life): &(usize, &(i64, i64))| life.0 < time_range.to.0 && life.1 > time_range.from.0;
            let overlapping_states: Vec<StateEntity> = all
                .iter()
                .enumerate()
                .filter(overlaps)
                .map(|(index, life)| StateEntity {
                    id: EntityId::State(index as u32),
                    value: ValueId(0),
                    life: TimeRange { from: GlobalNanos(life.0), to: GlobalNanos(life.1) },
                    depth: 0,
                })
                .collect();
            Ok(EntityList {
                total: overlapping_states.len() as u64,
                items: overlapping_states.into_iter().take(limit).collect(),
            })
        };
        for (from, to) in [(-100, 300_000), (50, 10_000), (100, 101)] {
            let time_range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
            let mut state_ids = Vec::new();
            let mut visit = |state: &StateEntity| {
                state_ids.push(state.id);
                Ok(())
            };
            super::visit(time_range, list, |state| (state.id, state.life.from.0), &mut visit)
                .expect("the lists can be read");
            let expected: Vec<EntityId> = list(time_range, usize::MAX)
                .expect("the list can be read")
                .items
                .iter()
                .map(|state| state.id)
                .collect();
            assert_eq!(state_ids, expected, "{from}..{to}");
        }
    }
}
