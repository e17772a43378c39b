//! [`CriticalPath`]: the longest chain of dependent activities of an execution (G21).
//!
//! The path is computed backward, from the unit that becomes idle last. Of several such units, it
//! is the one that is busy last: the others only wait for it in their last operations. If a receive blocked the unit, the path continues at the sender at the time of
//! the send. If a send waited for its receiver, the path continues at the receiver at the begin of
//! the receive. If a collective operation blocked the unit, the path continues at the unit for
//! which it waited: the root, or the last one to enter. If the unit waited for a lock, the path
//! continues at the unit that released the lock, at the time of the release. Each of these changes
//! may take no time, such as a message that is sent and received at one timestamp. Otherwise the
//! path stays in the unit. The path ends at the start of the trace or of the unit's life. This is
//! the backward replay of Böhme et al., "Scalable critical-path based performance analysis" (IPDPS
//! 2012), without its replay of messages: links and states give the dependences.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::analysis::collectives::CollectiveSet;
//! use tumit_perspectives::analysis::critical_path::CriticalPath;
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let operations = CollectiveSet::new(&execution)?;
//! let path = CriticalPath::new(&execution, &operations, execution.extent())?;
//! // The path is in the first thread until it sends its message, which takes 0.5 s.
//! let times = path.times(&execution)?;
//! assert_eq!((times.by_unit[&0], times.transit), (2_000_000_000, 500_000_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{EntityId, GlobalNanos, QueryError, TimeRange, ValueId};

use crate::analysis::collectives::CollectiveSet;
pub use crate::analysis::dependences::UnitMoment;
use crate::analysis::dependences::{Dependence, DependenceReason, Dependences, DependentEvent};
use crate::analysis::innermost_state::{InnermostState, innermost_of_group};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::units::StateGroup;

/// A part of the critical path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathSegment {
    /// The path is in a unit.
    Unit {
        /// Index of the unit.
        unit: u32,
        /// Start in nanoseconds.
        from: i64,
        /// End in nanoseconds.
        to: i64,
    },
    /// The path follows a message.
    Message {
        /// The link.
        link: EntityId,
        /// Index of the sending unit.
        from_unit: u32,
        /// Index of the receiving unit.
        to_unit: u32,
        /// Timestamp of the send, but at most that of the receive.
        from: i64,
        /// Timestamp of the receive.
        to: i64,
    },
    /// The path changes from a receiver to the sender that waited for it, without taking time. The
    /// time is the begin of the receive.
    Receiver {
        /// The link.
        link: EntityId,
        /// Index of the receiving unit.
        from_unit: u32,
        /// Index of the sending unit.
        to_unit: u32,
        /// The time in nanoseconds.
        time: i64,
    },
    /// The path changes the unit at a collective operation, without taking time.
    Collective {
        /// Index of the unit that the others awaited.
        from_unit: u32,
        /// Index of the unit that waited for it.
        to_unit: u32,
        /// The time in nanoseconds.
        time: i64,
    },
    /// The path changes from the unit that released a lock to the one that waited for it, without
    /// taking time.
    Lock {
        /// Index of the unit that released the lock.
        from_unit: u32,
        /// Index of the unit that waited for it.
        to_unit: u32,
        /// The time of the release in nanoseconds.
        time: i64,
    },
}

/// The longest chain of dependent activities.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CriticalPath {
    /// The parts by time. Each begins where the one before ends.
    pub segments: Vec<PathSegment>,
    /// The end of the path. `None` if no unit is active.
    pub end: Option<UnitMoment>,
}

/// The time of the critical path by purpose, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PathTimes {
    /// Time in each unit.
    pub by_unit: BTreeMap<u32, i64>,
    /// Time per value of the innermost state. `None`: no state.
    pub by_value: BTreeMap<Option<ValueId>, i64>,
    /// Time in units per category: busy, overhead, idle.
    pub by_category: [i64; 3],
    /// Time in messages.
    pub transit: i64,
}

/// The events of each unit by time, for the critical paths of several time ranges.
pub(crate) struct PathEvents<'a> {
    execution: &'a Execution,
    dependences: Dependences<'a>,
    by_unit: Vec<Vec<(i64, DependentEvent)>>,
}

impl<'a> PathEvents<'a> {
    /// Sorts the events. Takes O(n log n) of the messages, collective operations and waits for
    /// locks.
    ///
    /// # Errors
    /// If the source fails.
    pub(crate) fn new(execution: &'a Execution, collectives: &'a CollectiveSet) -> Result<Self, PerspectiveError> {
        let dependences = Dependences::new(execution, collectives)?;
        let mut by_unit: Vec<Vec<(i64, DependentEvent)>> = vec![Vec::new(); execution.units().count()];
        dependences.visit(|unit, time, event| by_unit[unit as usize].push((time, event)));
        by_unit.iter_mut().for_each(|events| events.sort_by_key(|event| event.0));
        Ok(Self { execution, dependences, by_unit })
    }

    /// The critical path of a time range.
    ///
    /// # Errors
    /// If the trace has no states, or the source fails.
    pub(crate) fn path(&self, range: TimeRange) -> Result<CriticalPath, PerspectiveError> {
        let end = last_active(self.execution, range)?;
        let Some(mut point) = end else { return Ok(CriticalPath::default()) };
        let mut segments = Vec::new();
        let mut search = DependenceSearch { events: self, left: FxHashMap::default() };
        loop {
            let start = self.execution.units().list()[point.unit as usize].life.from.0.max(range.from.0);
            let dependence = search.last_dependence(point, start)?;
            let from = dependence.map_or(start, |dependence| dependence.reached.max(start)).min(point.time);
            if from < point.time {
                segments.push(PathSegment::Unit { unit: point.unit, from, to: point.time });
            }
            let Some(dependence) = dependence.filter(|found| found.source.time >= range.from.0) else { break };
            segments.push(change_segment(&dependence, point.unit));
            point = dependence.source;
        }
        segments.reverse();
        Ok(CriticalPath { segments, end })
    }
}

/// The search for the dependences of one path.
struct DependenceSearch<'a> {
    events: &'a PathEvents<'a>,
    /// For the units that the path has reached, the number of events that are left.
    left: FxHashMap<u32, usize>,
}

impl DependenceSearch<'_> {
    /// The last event until a point before which the unit waited, and the point on which this event
    /// depends.
    ///
    /// The other unit may be at the same time, such as the sender of a message without latency. An
    /// event is examined once: the path only goes back in time, so that an event that does not fit
    /// now does not fit later. Hence the path ends although several units depend on each other at
    /// one time, and all calls together take O(n) of the events.
    fn last_dependence(&mut self, point: UnitMoment, start: i64) -> Result<Option<Dependence>, QueryError> {
        let events = &self.events.by_unit[point.unit as usize];
        let until_point = events.partition_point(|event| event.0 <= point.time);
        let left = self.left.entry(point.unit).or_insert(until_point);
        *left = until_point.min(*left);
        while let Some(&(time, event)) = left.checked_sub(1).and_then(|last| events.get(last)) {
            // A send that began before the start may still wait.
            if time <= start && !matches!(event, DependentEvent::Send(_)) {
                break;
            }
            *left -= 1;
            let dependence = self.events.dependences.of_event(event)?.filter(Dependence::is_wait);
            if dependence.is_some_and(|found| start < found.reached && found.source.time <= point.time) {
                return Ok(dependence);
            }
            if time < start {
                break;
            }
        }
        Ok(None)
    }
}

/// The part of the path at which it changes the unit.
fn change_segment(dependence: &Dependence, unit: u32) -> PathSegment {
    let Dependence { source, reached, reason, .. } = *dependence;
    let (from_unit, to_unit) = (source.unit, unit);
    match reason {
        DependenceReason::Message(link) => {
            PathSegment::Message { link, from_unit, to_unit, from: source.time, to: reached }
        }
        DependenceReason::Receiver(link) => PathSegment::Receiver { link, from_unit, to_unit, time: source.time },
        DependenceReason::Collective => PathSegment::Collective { from_unit, to_unit, time: source.time },
        DependenceReason::Lock => PathSegment::Lock { from_unit, to_unit, time: source.time },
    }
}

impl CriticalPath {
    /// Finds the critical path of a time range. Takes O(n log n) of the messages and states.
    ///
    /// # Errors
    /// If the trace has no states, or the source fails.
    pub fn new(execution: &Execution, collectives: &CollectiveSet, range: TimeRange) -> Result<Self, PerspectiveError> {
        PathEvents::new(execution, collectives)?.path(range)
    }

    /// The length of the path, in nanoseconds.
    pub fn nanos(&self) -> i64 {
        self.segments.iter().map(PathSegment::nanos).sum()
    }

    /// The time of the path by unit, value and category.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn times(&self, execution: &Execution) -> Result<PathTimes, PerspectiveError> {
        let activity = execution.activity()?;
        let mut times = PathTimes::default();
        for segment in &self.segments {
            match *segment {
                PathSegment::Unit { unit, from, to } => {
                    *times.by_unit.entry(unit).or_default() += to - from;
                    let range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
                    let fractions = activity.fractions(unit as usize, range);
                    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "rounded times")]
                    for (sum, fraction) in times.by_category.iter_mut().zip(fractions) {
                        *sum += (fraction * (to - from) as f64).round() as i64;
                    }
                    add_value_times(execution, unit, range, &mut times.by_value)?;
                }
                PathSegment::Message { .. } => times.transit += segment.nanos(),
                PathSegment::Receiver { .. } | PathSegment::Collective { .. } | PathSegment::Lock { .. } => {}
            }
        }
        Ok(times)
    }
}

impl PathSegment {
    /// Duration in nanoseconds.
    pub fn nanos(&self) -> i64 {
        match *self {
            Self::Unit { from, to, .. } | Self::Message { from, to, .. } => to - from,
            Self::Receiver { .. } | Self::Collective { .. } | Self::Lock { .. } => 0,
        }
    }
}

/// The end of the last activity of the unit that becomes idle last. Of several such units, the one
/// that is busy last: the others only wait for it in their last operations.
fn last_active(execution: &Execution, range: TimeRange) -> Result<Option<UnitMoment>, PerspectiveError> {
    let activity = execution.activity()?;
    // The ends of the last time that is not idle and of the last busy time, and the unit.
    let mut last: Option<(i64, i64, u32)> = None;
    for (unit, index) in (0..activity.units()).zip(0_u32..) {
        let (mut active, mut busy) = (i64::MIN, i64::MIN);
        for timeline in activity.timelines(unit) {
            for piece in timeline.pieces(range).filter(|piece| piece.category != ActivityCategory::Idle) {
                active = active.max(piece.to);
                busy = if piece.category == ActivityCategory::Busy { busy.max(piece.to) } else { busy };
            }
        }
        if active > i64::MIN && last.is_none_or(|last| (active, busy) > (last.0, last.1)) {
            last = Some((active, busy, index));
        }
    }
    Ok(last.map(|(time, _, unit)| UnitMoment { unit, time }))
}

/// Adds the time of each innermost value of a unit in a time range, and the time without a state.
/// Of several groups, those count that determine the category of the unit.
fn add_value_times(
    execution: &Execution,
    unit: u32,
    range: TimeRange,
    by_value: &mut BTreeMap<Option<ValueId>, i64>,
) -> Result<(), PerspectiveError> {
    let groups = &execution.units().list()[unit as usize].groups;
    let activity = execution.activity()?;
    if groups.len() < 2 {
        return Ok(add_group_times(execution, groups.first(), range, 1, by_value)?);
    }
    if activity.timelines(unit as usize).len() > 1 {
        let count = i64::try_from(groups.len()).unwrap_or(i64::MAX);
        return Ok(groups
            .iter()
            .try_for_each(|group| add_group_times(execution, Some(group), range, count, by_value))?);
    }
    for piece in activity.timeline(unit as usize).pieces(range) {
        let mut from = piece.from;
        while from < piece.to {
            let mut longest: Option<(&StateGroup, InnermostState)> = None;
            for group in groups {
                let state = innermost_of_group(execution, group, from)?;
                let state = state.filter(|state| state.category == piece.category);
                longest = state.map(|state| (group, state)).into_iter().chain(longest).max_by_key(|(_, s)| s.life.to);
            }
            let (group, to) = longest.map_or((None, piece.to), |(group, state)| (Some(group), state.life.to.0));
            let to = to.min(piece.to);
            let part = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
            add_group_times(execution, group, part, 1, by_value)?;
            from = to;
        }
    }
    Ok(())
}

/// Adds the time of each innermost value of a group in a time range, divided by `parts`, and the
/// time without a state.
fn add_group_times(
    execution: &Execution,
    group: Option<&StateGroup>,
    range: TimeRange,
    parts: i64,
    by_value: &mut BTreeMap<Option<ValueId>, i64>,
) -> Result<(), QueryError> {
    let mut without_state = range.to.0 - range.from.0;
    if let Some(group) = group {
        for time in execution.source().nested_times(group.container, group.ty, range)? {
            let nanos = i64::try_from(time.self_time).unwrap_or(i64::MAX);
            *by_value.entry(Some(time.value)).or_default() += nanos / parts;
            without_state -= nanos;
        }
    }
    if without_state > 0 {
        *by_value.entry(None).or_default() += without_state / parts;
    }
    Ok(())
}
