//! Visits the states of all nesting depths of a container and type together, by start.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use tumit_paje::time_range::TimeRange;
use tumit_paje::{ContainerId, TypeId};

use super::entity_pages::EntityPages;
use super::{QueryError, StateEntity, StateLaneId, TimelineSource};

/// Maximum number of states in memory, over all depths.
const STATES_IN_MEMORY: usize = 1 << 16;

/// Visits the states of a type in a container that overlap a time range and have a duration, by
/// start. At equal starts, outer states come first.
///
/// # Errors
/// As [`TimelineSource::states`], and the errors of `visit`.
pub fn visit(
    source: &dyn TimelineSource,
    (container, ty): (ContainerId, TypeId),
    range: TimeRange,
    mut visit: impl FnMut(&StateEntity) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let depths = source.depths(container, ty);
    let size = (STATES_IN_MEMORY / depths.max(1) as usize).max(16);
    let mut lanes: Vec<LaneCursor<'_>> =
        (0..depths).map(|depth| LaneCursor::new(source, StateLaneId { container, ty, depth }, range, size)).collect();
    let mut next = BinaryHeap::with_capacity(lanes.len());
    for (depth, lane) in lanes.iter_mut().enumerate() {
        lane.fill()?;
        next.extend(lane.page.front().map(|state| Reverse((state.life.from, depth))));
    }
    while let Some(mut first) = next.peek_mut() {
        let Reverse((_, depth)) = *first;
        let lane = &mut lanes[depth];
        if let Some(state) = lane.page.pop_front() {
            visit(&state)?;
        }
        lane.fill()?;
        match lane.page.front() {
            Some(state) => *first = Reverse((state.life.from, depth)),
            None => drop(PeekMut::pop(first)),
        }
    }
    Ok(())
}

/// Reads the states of one depth that have a duration, by start.
struct LaneCursor<'a> {
    source: &'a dyn TimelineSource,
    lane: StateLaneId,
    pages: EntityPages,
    page: VecDeque<StateEntity>,
}

impl<'a> LaneCursor<'a> {
    fn new(source: &'a dyn TimelineSource, lane: StateLaneId, range: TimeRange, size: usize) -> Self {
        Self { source, lane, pages: EntityPages::new(range, size), page: VecDeque::new() }
    }

    /// Reads pages until the next state is in memory, or the lane ends.
    fn fill(&mut self) -> Result<(), QueryError> {
        while self.page.is_empty() {
            let list_page = |part, limit| self.source.states(self.lane, part, limit);
            let Some(page) = self.pages.next(list_page, |state: &StateEntity| (state.id, state.life.from.0))? else {
                return Ok(());
            };
            self.page = page.into_iter().filter(|state| state.life.from < state.life.to).collect();
        }
        Ok(())
    }
}
