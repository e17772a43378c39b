//! [`UnitCategories`]: the events of PICL that give each time of a unit its category.
//!
//! A node of PICL computes outside of its events. So an event `idle` or `user overhead` covers each
//! time with another category that no other event has. Such an event ends before another one
//! begins, and begins again after it.

use rustc_hash::FxHashMap;

use crate::node_activity::Activity;

/// An event that begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CategoryChange {
    pub(super) time: i64,
    pub(super) activity: Activity,
    pub(super) begins: bool,
}

/// The event that the category of a state needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CategoryEvent {
    /// None: the node computes, or an event of its own has the category.
    Nothing,
    /// An event for the category.
    Event(Activity),
    /// That of the enclosing state.
    Enclosing,
}

/// The open states of a unit.
#[derive(Debug, Default)]
struct UnitCategory {
    states: Vec<CategoryEvent>,
    /// The event that is written and has not ended.
    open_activity: Option<Activity>,
    /// The event that begins when the time advances, and the time of the last change.
    next_activity: Option<Activity>,
    change_time: i64,
}

/// The open events of all units.
#[derive(Debug, Default)]
pub(super) struct UnitCategories {
    units: FxHashMap<u32, UnitCategory>,
}

impl UnitCategories {
    /// Begins a unit. It is idle until its first state.
    pub(super) fn start(&mut self, unit: u32, time: i64) {
        self.units.entry(unit).or_insert_with(|| UnitCategory {
            next_activity: Some(Activity::Idle),
            change_time: time,
            ..UnitCategory::default()
        });
    }

    /// Settles the time before a record of a unit. Returns the event that begins before it.
    pub(super) fn advance(&mut self, unit: u32, time: i64) -> Option<CategoryChange> {
        let state = self.units.get_mut(&unit)?;
        if state.open_activity == state.next_activity || state.change_time >= time {
            return None;
        }
        state.open_activity = state.next_activity;
        state.open_activity.map(|activity| CategoryChange { time: state.change_time, activity, begins: true })
    }

    /// Begins a state. Returns the event that ends before it. `has_event` states whether the state
    /// has an event of its own, before which the event of a category ends.
    pub(super) fn begin(
        &mut self,
        unit: u32,
        time: i64,
        event: CategoryEvent,
        has_event: bool,
    ) -> Option<CategoryChange> {
        self.units.entry(unit).or_default().states.push(event);
        self.change(unit, time, has_event)
    }

    /// Ends the innermost state. Returns the event that ends before the end of the state.
    pub(super) fn end(&mut self, unit: u32, time: i64, has_event: bool) -> Option<CategoryChange> {
        self.units.entry(unit).or_default().states.pop();
        self.change(unit, time, has_event)
    }

    /// Ends a unit. Returns the event that ends before it.
    pub(super) fn finish(&mut self, unit: u32, time: i64) -> Option<CategoryChange> {
        let state = self.units.remove(&unit)?;
        state.open_activity.map(|activity| CategoryChange { time, activity, begins: false })
    }

    fn change(&mut self, unit: u32, time: i64, always_ends: bool) -> Option<CategoryChange> {
        let state = self.units.get_mut(&unit)?;
        let innermost = state.states.iter().rev().find(|event| **event != CategoryEvent::Enclosing);
        state.next_activity = match innermost {
            Some(CategoryEvent::Event(activity)) => Some(*activity),
            Some(_) => None,
            // Time without a state is idle, as in the views.
            None => Some(Activity::Idle),
        };
        if state.open_activity == state.next_activity && !always_ends {
            return None;
        }
        state.change_time = time;
        state.open_activity.take().map(|activity| CategoryChange { time, activity, begins: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Activity::{Idle, UserOverhead};

    fn change(time: i64, activity: Activity, begins: bool) -> Option<CategoryChange> {
        Some(CategoryChange { time, activity, begins })
    }

    #[test]
    fn events_cover_the_times_of_their_category() {
        let mut units = UnitCategories::default();
        units.start(0, -5);
        assert_eq!(units.advance(0, 0), change(-5, Idle, true));
        assert_eq!(units.begin(0, 0, CategoryEvent::Event(UserOverhead), false), change(0, Idle, false));
        assert_eq!(units.end(0, 0, false), None);
        // Overhead from 0, an event of its own from 2 to 4, busy from 6 to 7.
        assert_eq!(units.begin(0, 0, CategoryEvent::Event(UserOverhead), false), None);
        assert_eq!(units.advance(0, 2), change(0, UserOverhead, true));
        assert_eq!(units.begin(0, 2, CategoryEvent::Nothing, true), change(2, UserOverhead, false));
        assert_eq!(units.advance(0, 4), None);
        assert_eq!(units.end(0, 4, true), None);
        assert_eq!(units.advance(0, 6), change(4, UserOverhead, true));
        assert_eq!(units.begin(0, 6, CategoryEvent::Nothing, false), change(6, UserOverhead, false));
        assert_eq!(units.end(0, 7, false), None);
        assert_eq!(units.advance(0, 9), change(7, UserOverhead, true));
        assert_eq!(units.end(0, 9, false), change(9, UserOverhead, false));
        // Without a state, it is idle.
        assert_eq!(units.advance(0, 10), change(9, Idle, true));
        assert_eq!(units.finish(0, 10), change(10, Idle, false));
    }

    #[test]
    fn states_that_do_not_count_have_the_category_of_the_enclosing_state() {
        let mut units = UnitCategories::default();
        units.begin(0, 0, CategoryEvent::Event(UserOverhead), false);
        assert_eq!(units.advance(0, 5), change(0, UserOverhead, true));
        assert_eq!(units.begin(0, 5, CategoryEvent::Enclosing, false), None);
        assert_eq!(units.end(0, 6, false), None);
        assert_eq!(units.end(0, 7, false), change(7, UserOverhead, false));
        assert_eq!(units.finish(0, 7), None);
    }
}
