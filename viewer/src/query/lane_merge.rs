//! Merges the states of several lanes by start, such as all nesting depths of a container and type,
//! or all lanes of several containers.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::TimeRange;

use super::entity_pages::EntityPages;
use super::{EntityList, QueryError, StateEntity, StateLaneId};

/// Maximum number of states in memory, over all lanes.
const STATES_IN_MEMORY: usize = 1 << 16;

/// Whether states without duration are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstantStates {
    Included,
    Excluded,
}

/// Visits the states of some lanes that overlap the time range of their lane, by their start within
/// this time range. Of equal starts, the earlier start before the time range comes first, then the
/// state of the earlier lane. `list` returns the states of a lane.
///
/// # Errors
/// Those of `list` and `visit`.
pub(crate) fn visit_lanes(
    list: impl Fn(StateLaneId, TimeRange, usize) -> Result<EntityList<StateEntity>, QueryError>,
    lanes: impl ExactSizeIterator<Item = (StateLaneId, TimeRange)>,
    instants: InstantStates,
    mut visit: impl FnMut(&StateEntity, TimeRange) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let size = (STATES_IN_MEMORY / lanes.len().max(1)).max(16);
    let mut lanes: Vec<LaneCursor> =
        lanes.map(|(lane, time_range)| LaneCursor::new(lane, time_range, size, instants)).collect();
    let mut next = BinaryHeap::with_capacity(lanes.len());
    for (number, lane) in lanes.iter_mut().enumerate() {
        lane.fill(&list)?;
        next.extend(lane.next_start().map(|(within, start)| Reverse((within, start, number))));
    }
    while let Some(mut first) = next.peek_mut() {
        let Reverse((.., number)) = *first;
        let lane = &mut lanes[number];
        if let Some(state) = lane.page.pop_front() {
            visit(&state, lane.time_range)?;
        }
        lane.fill(&list)?;
        match lane.next_start() {
            Some((within, start)) => *first = Reverse((within, start, number)),
            None => drop(PeekMut::pop(first)),
        }
    }
    Ok(())
}

/// Reads the states of one lane, by start.
struct LaneCursor {
    lane: StateLaneId,
    time_range: TimeRange,
    instants: InstantStates,
    pages: EntityPages,
    page: VecDeque<StateEntity>,
}

impl LaneCursor {
    fn new(lane: StateLaneId, time_range: TimeRange, size: usize, instants: InstantStates) -> Self {
        Self { lane, time_range, instants, pages: EntityPages::new(time_range, size), page: VecDeque::new() }
    }

    /// The start of the next state within the time range, and its start.
    fn next_start(&self) -> Option<(GlobalNanos, GlobalNanos)> {
        let start = self.page.front()?.life.from;
        Some((start.max(self.time_range.from), start))
    }

    /// Reads pages until the next state is in memory, or the lane ends.
    fn fill(
        &mut self,
        list: impl Fn(StateLaneId, TimeRange, usize) -> Result<EntityList<StateEntity>, QueryError>,
    ) -> Result<(), QueryError> {
        while self.page.is_empty() {
            let list_page = |time_range, limit| list(self.lane, time_range, limit);
            let Some(page) = self.pages.next(list_page, |state: &StateEntity| (state.id, state.life.from.0))? else {
                return Ok(());
            };
            self.page = page.into();
            if self.instants == InstantStates::Excluded {
                self.page.retain(|state| state.life.from < state.life.to);
            }
        }
        Ok(())
    }
}
