//! The begins and ends of states next to a time. States of one lane do not overlap, so that few of
//! them are read.

use tumit_perspectives::execution::Execution;
use tumit_viewer::query::{GlobalNanos, QueryError, StateEntity, StateLaneId, TimeRange, TimelineSource};

/// Number of states read per query. Most boundaries are found by one query, which then takes little
/// time.
const STATES_PER_QUERY: usize = 512;

/// The first begin or end of a state of a unit after `time` and not after `bound`.
pub(super) fn first_after(execution: &Execution, time: i64, bound: i64) -> Result<Option<i64>, QueryError> {
    let mut first = None;
    for lane in lanes(execution) {
        first = first_of_lane(execution.source(), lane, time, first.unwrap_or(bound))?.or(first);
    }
    Ok(first)
}

/// The last begin or end of a state of a unit before `time` and not before `bound`.
pub(super) fn last_before(execution: &Execution, time: i64, bound: i64) -> Result<Option<i64>, QueryError> {
    let mut last = None;
    for lane in lanes(execution) {
        last = last_of_lane(execution.source(), lane, time, last.unwrap_or(bound))?.or(last);
    }
    Ok(last)
}

/// The lanes that determine the categories of the units.
fn lanes(execution: &Execution) -> impl Iterator<Item = StateLaneId> {
    let groups = execution.units().list().iter().flat_map(|unit| &unit.groups);
    groups.flat_map(|group| {
        (0..group.depths).map(|depth| StateLaneId { container: group.container, ty: group.ty, depth })
    })
}

fn boundaries(states: &[StateEntity]) -> impl Iterator<Item = i64> {
    states.iter().flat_map(|state| [state.life.from.0, state.life.to.0])
}

fn first_of_lane(
    source: &dyn TimelineSource,
    lane: StateLaneId,
    time: i64,
    bound: i64,
) -> Result<Option<i64>, QueryError> {
    if bound <= time {
        return Ok(None);
    }
    let range = TimeRange { from: GlobalNanos(time), to: GlobalNanos(bound.saturating_add(1)) };
    // The state at the time, and the next one. Several states without duration may begin at it.
    let mut limit = 2;
    loop {
        let states = source.states(lane, range, limit)?.items;
        let first = boundaries(&states).filter(|boundary| (time + 1..=bound).contains(boundary)).min();
        if first.is_some() || states.len() < limit {
            return Ok(first);
        }
        limit *= 8;
    }
}

/// Searches in time ranges that end at `time` and grow, because states are listed by their begin.
fn last_of_lane(
    source: &dyn TimelineSource,
    lane: StateLaneId,
    time: i64,
    bound: i64,
) -> Result<Option<i64>, QueryError> {
    let bound = bound.max(source.extent().from.0);
    if bound >= time {
        return Ok(None);
    }
    let mut reach = (time.saturating_sub(bound) / 1024).max(1);
    loop {
        let from = time.saturating_sub(reach).max(bound);
        let limit = if time - from > 1 { STATES_PER_QUERY } else { usize::MAX };
        let range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(time) };
        let states = source.states(lane, range, limit)?.items;
        if states.len() == limit {
            reach = (time - from) / 2;
            continue;
        }
        // A boundary before `from` need not be the last one: a state may end within the rest.
        let last = boundaries(&states).filter(|boundary| (from..time).contains(boundary)).max();
        if last.is_some() || from == bound {
            return Ok(last);
        }
        reach = reach.saturating_mul(4);
    }
}
