//! [`ValueTimelines`]: the innermost state of each group at any time, independent of categories.
//!
//! They are kept in memory, so that a change of categories does not read the trace again.

use std::collections::BTreeSet;

use tumit_paje::category::ActivityCategory;
use tumit_viewer::parallel_map::{map_indexes, map_indexes_with};
use tumit_viewer::query::{QueryError, StateEntity, StateLaneId, TimelineSource, ValueId, entity_walk};

use crate::execution::categories::CategoryTable;
use crate::execution::category_timeline::CategoryTimeline;
use crate::execution::units::{StateGroup, UnitSet};

/// Maximum number of states that are kept, over all groups. They take up to 20 bytes each, in all
/// 640 MiB.
const MAX_STATES: u64 = 1 << 25;

/// The number that means that a group has no state.
const NO_STATE: u16 = u16::MAX;

/// The innermost state of a group at any time. Before the first change, the group has no state.
#[derive(Clone, Debug, Default, PartialEq)]
struct ValueTimeline {
    /// Timestamps of the changes, ascending and distinct.
    times: Vec<i64>,
    /// The value from each timestamp on, or [`NO_STATE`].
    values: Vec<u16>,
}

impl ValueTimeline {
    /// Sets the value from a timestamp on. A second call for a timestamp replaces the first.
    fn set(&mut self, time: i64, value: u16) {
        if self.times.last() == Some(&time) {
            self.times.pop();
            self.values.pop();
        }
        if self.values.last().copied().unwrap_or(NO_STATE) != value {
            self.times.push(time);
            self.values.push(value);
        }
    }

    /// The times in which the group has some values.
    fn spans(&self, choice: &BTreeSet<ValueId>) -> Vec<(i64, i64)> {
        let has = |value: u16| value != NO_STATE && choice.contains(&ValueId(value.into()));
        let ends = self.times.iter().skip(1).copied().chain([i64::MAX]);
        let pieces = self.times.iter().zip(&self.values).zip(ends);
        pieces.filter(|((_, value), _)| has(**value)).map(|((from, _), to)| (*from, to)).collect()
    }
}

/// The innermost state of each group at any time.
#[derive(Debug)]
pub(crate) struct ValueTimelines {
    /// The timelines of the groups of each unit.
    by_unit: Vec<Vec<ValueTimeline>>,
}

impl ValueTimelines {
    /// Reads the states of all units. `None` if there are too many of them.
    ///
    /// # Errors
    /// The errors of the source.
    pub(crate) fn read(source: &dyn TimelineSource, units: &UnitSet) -> Result<Option<Self>, QueryError> {
        if source.model().values.len() >= NO_STATE.into() {
            return Ok(None);
        }
        // All states have numbers below the first free one. Counting those of many units takes as
        // long as reading them.
        let has_few_states = u64::from(source.free_numbers().state) <= MAX_STATES;
        if !has_few_states && number_of_states(source, units)? > MAX_STATES {
            return Ok(None);
        }
        let by_unit = map_indexes_with(units.count(), 1, ValueTimeline::default, |scratch, unit| {
            let groups = &units.list()[unit].groups;
            groups.iter().map(|group| value_timeline(source, group, scratch)).collect::<Result<Vec<_>, _>>()
        });
        Ok(Some(Self { by_unit: by_unit.into_iter().collect::<Result<_, QueryError>>()? }))
    }

    /// The categories of the groups of a unit. They are computed in `scratch`.
    pub(crate) fn categories(
        &self,
        unit: usize,
        groups: &[StateGroup],
        categories: &ValueCategories,
        scratch: &mut CategoryTimeline,
    ) -> Vec<CategoryTimeline> {
        let timelines = self.by_unit.get(unit).map_or(&[][..], Vec::as_slice);
        let stateless = categories.stateless_category;
        let category = |value: u16| categories.category(value);
        let of_group = |(timeline, group): (&ValueTimeline, &StateGroup)| {
            scratch.reset(ActivityCategory::Idle);
            scratch.reserve(timeline.times.len() + 2);
            scratch.set(group.life.from.0, stateless);
            let values = timeline.values.iter().map(|value| category(*value));
            scratch.extend(timeline.times.iter().copied().zip(values));
            scratch.set(group.life.to.0, ActivityCategory::Idle);
            scratch.clone()
        };
        timelines.iter().zip(groups).map(of_group).collect()
    }

    /// The start, end and value of each innermost state of a unit with one group, by start.
    /// Adjacent states of a value are one.
    pub(crate) fn states(&self, unit: usize) -> impl Iterator<Item = (i64, i64, ValueId)> {
        let timeline = self.by_unit.get(unit).and_then(|timelines| timelines.first());
        timeline.into_iter().flat_map(|ValueTimeline { times, values }| {
            let pieces = times.iter().zip(values).zip(times.iter().skip(1));
            let with_state = pieces.filter(|((_, value), _)| **value != NO_STATE);
            with_state.map(|((from, value), to)| (*from, *to, ValueId((*value).into())))
        })
    }

    /// The times in which the groups of a unit have some values.
    pub(crate) fn spans(&self, unit: usize, choice: &BTreeSet<ValueId>) -> Vec<(i64, i64)> {
        let timelines = self.by_unit.get(unit).map_or(&[][..], Vec::as_slice);
        timelines.iter().flat_map(|timeline| timeline.spans(choice)).collect()
    }
}

/// For each of some choices of values, the times in which the groups of a unit have them, read from
/// the trace.
///
/// # Errors
/// The errors of the source.
pub(crate) fn spans(
    source: &dyn TimelineSource,
    units: &UnitSet,
    unit: usize,
    choices: &[&BTreeSet<ValueId>],
) -> Result<Vec<Vec<(i64, i64)>>, QueryError> {
    let groups = units.list().get(unit).map_or(&[][..], |unit| unit.groups.as_slice());
    let mut spans = vec![Vec::new(); choices.len()];
    for group in groups {
        let mut starts: Vec<Option<i64>> = vec![None; choices.len()];
        visit_open_states(source, group, |time, open| {
            for ((choice, start), spans) in choices.iter().zip(&mut starts).zip(&mut spans) {
                let has_value = open.last().is_some_and(|state| choice.contains(&state.value));
                match *start {
                    Some(from) if !has_value => {
                        spans.push((from, time));
                        *start = None;
                    }
                    None if has_value => *start = Some(time),
                    _ => {}
                }
            }
        })?;
    }
    Ok(spans)
}

/// The category of each value of a [`ValueTimeline`].
pub(crate) struct ValueCategories {
    by_value: Vec<ActivityCategory>,
    /// The category of a container without a state.
    stateless_category: ActivityCategory,
}

impl ValueCategories {
    pub(crate) fn new(categories: &CategoryTable, stateless_category: ActivityCategory) -> Self {
        let counted = |value: u16| match categories.category(ValueId(value.into())) {
            ActivityCategory::Ignored => stateless_category,
            counted => counted,
        };
        let values = u16::try_from(categories.count()).unwrap_or(NO_STATE);
        Self { by_value: (0..values).map(counted).collect(), stateless_category }
    }

    /// All values are in the table, because timelines exist only for fewer than [`NO_STATE`].
    fn category(&self, value: u16) -> ActivityCategory {
        self.by_value.get(usize::from(value)).copied().unwrap_or(self.stateless_category)
    }
}

/// Whether the innermost states decide about the categories: no enclosing state counts in place of
/// an ignored one.
pub(crate) fn innermost_states_decide(units: &UnitSet, values: impl Iterator<Item = ActivityCategory>) -> bool {
    let are_nested = units.list().iter().flat_map(|unit| &unit.groups).any(|group| group.depths > 1);
    !are_nested || values.into_iter().all(|category| category != ActivityCategory::Ignored)
}

fn number_of_states(source: &dyn TimelineSource, units: &UnitSet) -> Result<u64, QueryError> {
    let of_group = |group: &StateGroup| {
        let lanes = (0..group.depths).map(|depth| StateLaneId { container: group.container, ty: group.ty, depth });
        lanes.map(|lane| Ok(source.states(lane, group.life, 0)?.total)).sum::<Result<u64, QueryError>>()
    };
    let counts = map_indexes(units.count(), 1, |unit| {
        let groups = units.list()[unit].groups.iter().filter(|group| group.life.from < group.life.to);
        groups.map(of_group).sum::<Result<u64, QueryError>>()
    });
    counts.into_iter().sum()
}

/// The timeline of a group. It is computed in memory that grows seldom, and copied to memory of its
/// size.
fn value_timeline(
    source: &dyn TimelineSource,
    group: &StateGroup,
    timeline: &mut ValueTimeline,
) -> Result<ValueTimeline, QueryError> {
    timeline.times.clear();
    timeline.values.clear();
    visit_open_states(source, group, |time, open: &[EnclosingState]| {
        let value = open.last().and_then(|state| u16::try_from(state.value.0).ok());
        timeline.set(time, value.unwrap_or(NO_STATE));
    })?;
    Ok(timeline.clone())
}

/// A state that is open at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnclosingState {
    end: i64,
    pub(crate) value: ValueId,
}

/// Visits the open states of a group, outermost first, at each change of them. Timestamps ascend.
/// Several changes may have the same timestamp; the last one counts.
///
/// # Errors
/// The errors of the source.
pub(crate) fn visit_open_states(
    source: &dyn TimelineSource,
    group: &StateGroup,
    mut visit: impl FnMut(i64, &[EnclosingState]),
) -> Result<(), QueryError> {
    let life = group.life;
    if life.from >= life.to {
        return Ok(());
    }
    let mut open: Vec<EnclosingState> = Vec::new();
    let mut add = |state: &StateEntity| {
        let (from, to) = (state.life.from.0.max(life.from.0), state.life.to.0.min(life.to.0));
        while let Some(&EnclosingState { end, .. }) = open.last().filter(|outer| outer.end <= from) {
            open.pop();
            visit(end, &open);
        }
        let outer = open.last().map_or(i64::MAX, |outer| outer.end);
        open.push(EnclosingState { end: to.min(outer), value: state.value });
        visit(from, &open);
        Ok(())
    };
    if group.depths == 1 {
        let lane = StateLaneId { container: group.container, ty: group.ty, depth: 0 };
        let mut add_longer = |state: &StateEntity| {
            if state.life.from < state.life.to { add(state) } else { Ok(()) }
        };
        entity_walk::states(source, lane, life, &mut add_longer)?;
    } else {
        entity_walk::nested_states(source, (group.container, group.ty), life, &mut add)?;
    }
    while let Some(EnclosingState { end, .. }) = open.pop() {
        visit(end, &open);
    }
    Ok(())
}
