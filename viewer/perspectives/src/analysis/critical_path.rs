//! [`CriticalPath`]: the longest chain of dependent activities of an execution (G21).
//!
//! The path is found backward. It starts at the unit that is busy last, at the end of its last time
//! that is not idle: the others only wait for it in their last operations. If a receive blocked the
//! unit, the path continues at the sender at the time of the send. If a collective operation
//! blocked it, the path continues at the unit for which it waited: the root, or the last one to
//! enter. Otherwise it stays in the unit. The path ends at the start of the trace or of the unit's
//! life. This is the backward replay of Böhme et al., "Scalable critical-path based performance
//! analysis" (IPDPS 2012), without its replay of messages: links and states give the dependences.
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

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{EntityId, GlobalNanos, QueryError, TimeRange, ValueId};

use crate::analysis::collectives::CollectiveSet;
use crate::analysis::innermost_state::innermost_state;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::UnitMessage;

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
        /// Timestamp of the send.
        from: i64,
        /// Timestamp of the receive.
        to: i64,
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
}

/// The longest chain of dependent activities.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CriticalPath {
    /// The parts by time. Each begins where the one before ends.
    pub segments: Vec<PathSegment>,
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

/// A unit at a time.
#[derive(Clone, Copy)]
struct PathPoint {
    unit: u32,
    time: i64,
}

/// An event before which a unit may have been blocked.
#[derive(Clone, Copy)]
enum BlockingEvent {
    Receive(usize),
    Collective { operation: usize, part: usize },
}

/// The blocking events of each unit by time.
struct EventsByUnit<'a> {
    messages: Vec<&'a UnitMessage>,
    collectives: &'a CollectiveSet,
    by_unit: Vec<Vec<(i64, BlockingEvent)>>,
}

impl<'a> EventsByUnit<'a> {
    fn new(execution: &'a Execution, collectives: &'a CollectiveSet) -> Result<Self, PerspectiveError> {
        let mut by_unit: Vec<Vec<(i64, BlockingEvent)>> = vec![Vec::new(); execution.units().count()];
        let messages: Vec<&UnitMessage> = match execution.messages() {
            Ok(messages) => messages.list().iter().collect(),
            Err(PerspectiveError::NoData { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        for (index, message) in messages.iter().enumerate() {
            by_unit[message.to as usize].push((message.received, BlockingEvent::Receive(index)));
        }
        for (index, operation) in collectives.list.iter().enumerate() {
            for (part, part_index) in operation.parts.iter().zip(0..) {
                let event = BlockingEvent::Collective { operation: index, part: part_index };
                by_unit[part.unit as usize].push((part.leave, event));
            }
        }
        by_unit.iter_mut().for_each(|events| events.sort_by_key(|event| event.0));
        Ok(Self { messages, collectives, by_unit })
    }

    /// The last event until a point that blocked the unit, and the point that this event depends
    /// on.
    fn last_dependence(
        &self,
        execution: &Execution,
        point: PathPoint,
        start: i64,
    ) -> Result<Option<Dependence>, QueryError> {
        let events = &self.by_unit[point.unit as usize];
        let end = events.partition_point(|event| event.0 <= point.time);
        for &(time, event) in events[..end].iter().rev() {
            if time <= start {
                break;
            }
            let dependence = match event {
                BlockingEvent::Receive(index) => self.receive_dependence(execution, index)?,
                BlockingEvent::Collective { operation, part } => self.collective_dependence(operation, part),
            };
            if dependence.is_some_and(|dependence| dependence.source.time < point.time) {
                return Ok(dependence);
            }
        }
        Ok(None)
    }

    /// The dependence of a receive: the sender, if the receiver waited for the send.
    fn receive_dependence(&self, execution: &Execution, index: usize) -> Result<Option<Dependence>, QueryError> {
        let message = self.messages[index];
        if message.sent >= message.received {
            return Ok(None);
        }
        let receive = innermost_state(execution, message.to as usize, message.received.saturating_sub(1))?;
        let is_blocked = match receive {
            Some(state) => state.category != ActivityCategory::Busy && message.sent > state.life.from.0,
            // A unit without a state waits.
            None => true,
        };
        let source = PathPoint { unit: message.from, time: message.sent };
        let segment = PathSegment::Message {
            link: message.id,
            from_unit: message.from,
            to_unit: message.to,
            from: message.sent,
            to: message.received,
        };
        Ok(is_blocked.then_some(Dependence { source, reached: message.received, segment }))
    }

    /// The dependence of a part of a collective operation: the last part for which it waited. If
    /// the root is unknown, the others can only have waited for the last unit.
    fn collective_dependence(&self, operation: usize, part: usize) -> Option<Dependence> {
        let operation = &self.collectives.list[operation];
        let part_of_unit = operation.parts.get(part)?;
        let awaited = match operation.kind.has_root() && operation.root().is_none() {
            true => operation
                .last_entered()
                .filter(|last| last.unit != part_of_unit.unit && last.enter > part_of_unit.enter)?,
            false => operation.awaited_by(part_of_unit)?,
        };
        // Otherwise the clocks are wrong.
        (awaited.enter < part_of_unit.leave).then_some(Dependence {
            source: PathPoint { unit: awaited.unit, time: awaited.enter },
            reached: awaited.enter,
            segment: PathSegment::Collective {
                from_unit: awaited.unit,
                to_unit: part_of_unit.unit,
                time: awaited.enter,
            },
        })
    }
}

#[derive(Clone, Copy)]
struct Dependence {
    source: PathPoint,
    /// The time at which the unit continues.
    reached: i64,
    segment: PathSegment,
}

impl CriticalPath {
    /// Finds the critical path of a time range. Takes O(n log n) of the messages and states.
    ///
    /// # Errors
    /// If the trace has no states, or the source fails.
    pub fn new(execution: &Execution, collectives: &CollectiveSet, range: TimeRange) -> Result<Self, PerspectiveError> {
        let events = EventsByUnit::new(execution, collectives)?;
        let Some(mut point) = last_active(execution, range)? else { return Ok(Self::default()) };
        let mut segments = Vec::new();
        loop {
            let start = execution.units().list()[point.unit as usize].life.from.0.max(range.from.0);
            let dependence = events.last_dependence(execution, point, start)?;
            let from = dependence.map_or(start, |dependence| dependence.reached.max(start)).min(point.time);
            if from < point.time {
                segments.push(PathSegment::Unit { unit: point.unit, from, to: point.time });
            }
            let Some(Dependence { source, segment, .. }) = dependence else { break };
            if source.time < range.from.0 {
                break;
            }
            segments.push(segment);
            point = source;
        }
        segments.reverse();
        Ok(Self { segments })
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
                PathSegment::Collective { .. } => {}
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
            Self::Collective { .. } => 0,
        }
    }
}

/// The end of the last activity of the unit that is busy last. If no unit is busy, that of the unit
/// whose last time that is not idle ends latest.
fn last_active(execution: &Execution, range: TimeRange) -> Result<Option<PathPoint>, PerspectiveError> {
    let activity = execution.activity()?;
    // The ends of the last busy time and of the last time that is not idle, and the unit.
    let mut last: Option<(i64, i64, u32)> = None;
    for (unit, index) in (0..activity.units()).zip(0_u32..) {
        let (mut busy, mut active) = (i64::MIN, i64::MIN);
        for timeline in activity.timelines(unit) {
            for piece in timeline.pieces(range).filter(|piece| piece.category != ActivityCategory::Idle) {
                active = active.max(piece.to);
                busy = if piece.category == ActivityCategory::Busy { busy.max(piece.to) } else { busy };
            }
        }
        if active > i64::MIN && last.is_none_or(|last| (busy, active) > (last.0, last.1)) {
            last = Some((busy, active, index));
        }
    }
    Ok(last.map(|(_, time, unit)| PathPoint { unit, time }))
}

/// Adds the time of each innermost value of a unit in a time range, and the time without a state.
fn add_value_times(
    execution: &Execution,
    unit: u32,
    range: TimeRange,
    by_value: &mut BTreeMap<Option<ValueId>, i64>,
) -> Result<(), QueryError> {
    let unit = &execution.units().list()[unit as usize];
    let mut without_state = range.to.0 - range.from.0;
    // Of several groups, the first one describes the unit.
    if let Some(group) = unit.groups.first() {
        for time in execution.source().nested_times(group.container, group.ty, range)? {
            let nanos = i64::try_from(time.self_time).unwrap_or(i64::MAX);
            *by_value.entry(Some(time.value)).or_default() += nanos;
            without_state -= nanos;
        }
    }
    if without_state > 0 {
        *by_value.entry(None).or_default() += without_state;
    }
    Ok(())
}
