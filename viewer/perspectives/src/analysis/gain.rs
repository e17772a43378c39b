//! [`GainModel`]: the largest possible gain if some states took less time.
//!
//! The model follows all units forward in time. Of each unit it knows the largest decrease of the
//! current time that is possible: the *gain*. A state that takes less time adds its part. A unit
//! that waited for another one takes its gain. If the trace does not show which of two units
//! determined a time, the larger gain counts.
//!
//! The result is an upper bound, because the duration of each activity decreases by at most the
//! assumed percentage, and all dependences remain. Then no time can decrease by more than this
//! percentage, either. This limits the gain after a wait of unknown cause.
//!
//! If a trace has many such waits, all bounds are about this percentage of the path. A second bound
//! distinguishes the states nevertheless. It has a further assumption: the waits of unknown cause
//! keep their duration, as all other activities do.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::analysis::collectives::CollectiveSet;
//! use tumit_perspectives::analysis::critical_path::CriticalPath;
//! use tumit_perspectives::analysis::gain::{AssumedChange, GainModel};
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let (range, operations) = (execution.extent(), CollectiveSet::new(&execution)?);
//! let path = CriticalPath::new(&execution, &operations, range)?;
//! let model = GainModel::new(&execution, &operations, &path, range)?;
//! let work = execution.model().values.iter().find(|value| value.name == "work");
//! let values = work.map(|value| value.id).into_iter().collect();
//! // Of 4 s, 3 s are work. The messages and barriers limit the gain to a part of it.
//! let gains = model.gains(&[AssumedChange { percent: 50.0, values }])?;
//! assert_eq!(gains[0].largest, 1_500_000_000);
//! assert_eq!(gains[0].with_fixed_waits, 1_500_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeSet;
use std::ops::Range;

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{GlobalNanos, QueryError, TimeRange, ValueId};

use crate::analysis::collectives::CollectiveSet;
use crate::analysis::critical_path::CriticalPath;
use crate::analysis::dependences::{
    Dependence, DependenceReason, DependenceStrength, Dependences, DependentEvent, UnitMoment,
};
use crate::analysis::time_spans::TimeSpans;
use crate::error::PerspectiveError;
use crate::execution::Execution;

/// An assumed change: the states of some values take less time.
#[derive(Clone, Debug)]
pub struct AssumedChange {
    /// The decrease of their duration in percent, from 0 to 100.
    pub percent: f64,
    /// The values.
    pub values: BTreeSet<ValueId>,
}

/// The largest gains of an assumed change, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GainBounds {
    /// The largest gain.
    pub largest: i64,
    /// The largest gain if the waits of unknown cause keep their duration, and so does the time
    /// from the release of a lock until the next unit continues. At most `largest`.
    pub with_fixed_waits: i64,
}

/// The end of a dependent state of a unit.
#[derive(Clone, Copy, Debug)]
struct DependentEnd {
    unit: u32,
    dependence: Dependence,
}

/// The dependences of an execution until the end of its critical path.
#[derive(Debug)]
pub struct GainModel<'a> {
    execution: &'a Execution,
    /// The dependences by their end and unit.
    ends: Vec<DependentEnd>,
    /// The indexes of the dependences by the time of their source.
    by_source: Vec<u32>,
    /// For each unit, the times in which it waits.
    waits: Vec<TimeSpans>,
    /// The start of the time range.
    start: i64,
    /// The end of the critical path.
    end: Option<UnitMoment>,
}

/// The gain of a unit at a time.
#[derive(Clone, Copy, Debug)]
struct UnitGain {
    time: i64,
    gain: f64,
    /// The end of the last dependent state.
    last_end: i64,
}

impl<'a> GainModel<'a> {
    /// Finds the dependences in a time range. Takes O(n log n) of the messages and the parts of
    /// collective operations.
    ///
    /// # Errors
    /// If the trace has no states, or the source fails.
    pub fn new(
        execution: &'a Execution,
        collectives: &CollectiveSet,
        path: &CriticalPath,
        range: TimeRange,
    ) -> Result<Self, PerspectiveError> {
        let (start, end) = (range.from.0, path.end);
        let last = end.map_or(i64::MIN, |end| end.time);
        let dependences = Dependences::new(execution, collectives)?;
        let mut events = Vec::new();
        // The last send of each unit until the start may still wait.
        let mut sends: Vec<Option<DependentEvent>> = vec![None; execution.units().count()];
        dependences.visit(|unit, time, event| {
            if start < time && time <= last {
                events.push((unit, event));
            } else if time <= start && matches!(event, DependentEvent::Send(_)) {
                sends[unit as usize] = Some(event);
            }
        });
        let sends = (0_u32..).zip(sends).filter_map(|(unit, event)| Some((unit, event?)));
        let mut ends = Vec::new();
        for (unit, event) in events.into_iter().chain(sends) {
            let dependence = dependences.of_event(event)?.filter(|found| start < found.end && found.end <= last);
            ends.extend(dependence.map(|dependence| DependentEnd { unit, dependence }));
        }
        ends.sort_by_key(|end| (end.dependence.end, end.unit));
        let mut by_source: Vec<u32> = (0..u32::try_from(ends.len()).unwrap_or(u32::MAX)).collect();
        by_source.sort_by_key(|index| ends[*index as usize].dependence.source.time);
        let time_range = TimeRange { from: range.from, to: GlobalNanos(last.max(start)) };
        let waits =
            waits(execution, &dependences, &collectives.unmatched_values.iter().copied().collect(), time_range)?;
        Ok(Self { execution, ends, by_source, waits, start, end })
    }

    /// For each of some assumed changes, upper bounds of the time by which the critical path ends
    /// earlier.
    ///
    /// # Errors
    /// If the source fails.
    pub fn gains(&self, changes: &[AssumedChange]) -> Result<Vec<GainBounds>, QueryError> {
        // States that are not in memory are read once.
        let at_once = if self.execution.has_values_in_memory() { 1 } else { changes.len().max(1) };
        let mut gains = Vec::with_capacity(changes.len());
        for chunk in changes.chunks(at_once) {
            let choices: Vec<&BTreeSet<ValueId>> = chunk.iter().map(|change| &change.values).collect();
            let mut states: Vec<Vec<TimeSpans>> = vec![Vec::new(); chunk.len()];
            for unit in 0..self.execution.units().count() {
                let spans = self.execution.value_spans(unit, &choices)?;
                states.iter_mut().zip(spans).for_each(|(all, spans)| all.push(TimeSpans::new(spans)));
            }
            gains.extend(chunk.iter().zip(&states).map(|(change, states)| GainBounds {
                largest: self.gain(change.percent, states, false),
                with_fixed_waits: self.gain(change.percent, states, true),
            }));
        }
        Ok(gains)
    }

    /// The gain if a unit needs `percent` less time for some of its states. `has_fixed_waits`: the
    /// waits of unknown cause keep their duration.
    #[expect(clippy::cast_possible_truncation, reason = "a bound is rounded")]
    fn gain(&self, percent: f64, states: &[TimeSpans], has_fixed_waits: bool) -> i64 {
        let Some(end) = self.end else { return 0 };
        if states.iter().all(|spans| spans.nanos(self.start, end.time) == 0) {
            return 0;
        }
        let mut pass = GainPass::new(self, states, percent / 100.0, has_fixed_waits);
        let mut sources = self.by_source.iter().copied().peekable();
        let mut next = 0;
        while let Some(first) = self.ends.get(next) {
            let time = first.dependence.end;
            // At equal times, a state ends before the next one begins.
            while let Some(index) = sources.next_if(|index| self.source(*index).time < time) {
                pass.note_source(index);
            }
            let together = self.ends[next..].iter().take_while(|end| end.dependence.end == time).count();
            pass.end_states_together(next..next + together);
            next += together;
        }
        pass.advance(end.unit, end.time);
        pass.units[end.unit as usize].gain.round() as i64
    }

    fn source(&self, index: u32) -> UnitMoment {
        self.ends[index as usize].dependence.source
    }
}

/// The times in which each unit waits: those without activity, the states that look like
/// collective operations, but do not match, and the waits for locks of unknown release.
fn waits(
    execution: &Execution,
    dependences: &Dependences<'_>,
    unmatched_values: &BTreeSet<ValueId>,
    range: TimeRange,
) -> Result<Vec<TimeSpans>, PerspectiveError> {
    let activity = execution.activity()?;
    let mut waits_of_units = Vec::with_capacity(activity.units());
    let mut of_locks: Vec<Vec<(i64, i64)>> = vec![Vec::new(); activity.units()];
    dependences.waits_without_release().for_each(|(unit, from, to)| of_locks[unit as usize].push((from, to)));
    for (unit, mut spans) in of_locks.into_iter().enumerate() {
        let timeline = activity.timeline(unit);
        let idle = timeline.pieces(range).filter(|piece| piece.category == ActivityCategory::Idle);
        spans.extend(idle.map(|piece| (piece.from, piece.to)));
        if !unmatched_values.is_empty() {
            spans.extend(execution.value_spans(unit, &[unmatched_values])?.into_iter().flatten());
        }
        waits_of_units.push(TimeSpans::new(spans));
    }
    Ok(waits_of_units)
}

/// The dependences between units at one time, by their places in a list.
struct UnitsAtOneTime {
    /// For each unit, those that depend on it.
    followers: Vec<Vec<usize>>,
    /// For each unit, the number of dependences on others that were not followed yet.
    predecessors: Vec<usize>,
}

/// The forward pass for one assumed change.
struct GainPass<'a> {
    model: &'a GainModel<'a>,
    /// For each unit, the times of the states that take less time.
    states: &'a [TimeSpans],
    /// The decrease, from 0 to 1.
    decrease: f64,
    /// Whether the waits of unknown cause keep their duration.
    has_fixed_waits: bool,
    units: Vec<UnitGain>,
    /// The gain at the source of each dependence.
    sources: Vec<f64>,
}

impl<'a> GainPass<'a> {
    fn new(model: &'a GainModel<'a>, states: &'a [TimeSpans], decrease: f64, has_fixed_waits: bool) -> Self {
        let start = UnitGain { time: model.start, gain: 0.0, last_end: i64::MIN };
        let (units, sources) = (vec![start; states.len()], vec![0.0; model.ends.len()]);
        Self { model, states, decrease, has_fixed_waits, units, sources }
    }

    /// The largest gain that is possible at a time.
    #[expect(clippy::cast_precision_loss, reason = "gains are rounded")]
    fn limit(&self, time: i64) -> f64 {
        self.decrease * time.saturating_sub(self.model.start).max(0) as f64
    }

    #[expect(clippy::cast_precision_loss, reason = "gains are rounded")]
    fn decrease_of(&self, nanos: i64) -> f64 {
        self.decrease * nanos as f64
    }

    /// Follows a unit to a time. Waits of unknown cause may disappear.
    #[expect(clippy::cast_precision_loss, reason = "gains are rounded")]
    fn advance(&mut self, unit: u32, time: i64) {
        let index = unit as usize;
        let UnitGain { time: mut present, mut gain, last_end } = self.units[index];
        if time <= present {
            return;
        }
        let waits = (!self.has_fixed_waits).then(|| self.model.waits[index].parts(present, time));
        for (from, to) in waits.into_iter().flatten() {
            gain += self.decrease_of(self.states[index].nanos(present, from));
            gain = (gain + (to - from) as f64).min(self.limit(to));
            present = to;
        }
        gain += self.decrease_of(self.states[index].nanos(present, time));
        self.units[index] = UnitGain { time, gain: gain.min(self.limit(time)), last_end };
    }

    fn note_source(&mut self, index: u32) {
        let UnitMoment { unit, time } = self.model.source(index);
        self.advance(unit, time);
        self.sources[index as usize] = self.units[unit as usize].gain;
    }

    /// Follows all units to the ends of their dependent states at one time. A unit whose time does
    /// not precede the end, such as the sender of a message without latency, is followed before the
    /// unit that depends on it.
    fn end_states_together(&mut self, indexes: Range<usize>) {
        let ends = &self.model.ends;
        let mut of_units: Vec<(u32, Range<usize>)> = Vec::new();
        for index in indexes {
            match of_units.last_mut().filter(|(unit, _)| *unit == ends[index].unit) {
                Some((_, of_unit)) => of_unit.end = index + 1,
                None => of_units.push((ends[index].unit, index..index + 1)),
            }
        }
        let UnitsAtOneTime { mut followers, mut predecessors } = self.order_at_one_time(&of_units);
        let mut next: Vec<usize> = (0..of_units.len()).filter(|place| predecessors[*place] == 0).collect();
        while let Some(place) = next.pop() {
            let (unit, of_unit) = of_units[place].clone();
            self.note_sources_at_end(of_unit.clone(), &BTreeSet::new());
            self.end_states(unit, of_unit);
            for follower in std::mem::take(&mut followers[place]) {
                predecessors[follower] -= 1;
                next.extend((predecessors[follower] == 0).then_some(follower));
            }
        }
        let in_cycles = of_units.into_iter().zip(predecessors).filter(|(_, predecessors)| *predecessors > 0);
        self.end_cycle(&in_cycles.map(|(of_unit, _)| of_unit).collect::<Vec<_>>());
    }

    /// The dependences between units whose states end at one time.
    fn order_at_one_time(&self, of_units: &[(u32, Range<usize>)]) -> UnitsAtOneTime {
        let (mut followers, mut predecessors) = (vec![Vec::new(); of_units.len()], vec![0; of_units.len()]);
        for (follower, (unit, of_unit)) in of_units.iter().enumerate() {
            for source in of_unit.clone().filter_map(|index| self.source_at_end(index)).filter(|source| source != unit)
            {
                // The list is sorted by unit.
                if let Ok(place) = of_units.binary_search_by_key(&source, |(unit, _)| *unit) {
                    followers[place].push(follower);
                    predecessors[follower] += 1;
                }
            }
        }
        UnitsAtOneTime { followers, predecessors }
    }

    /// The other unit of a dependent state, if its time does not precede the end of the state.
    fn source_at_end(&self, index: usize) -> Option<u32> {
        let Dependence { source, end, .. } = self.model.ends[index].dependence;
        (source.time >= end).then_some(source.unit)
    }

    /// Notes the gains of the other units of some dependent states, except for those of `omitted`.
    fn note_sources_at_end(&mut self, indexes: Range<usize>, omitted: &BTreeSet<u32>) {
        for index in indexes {
            if self.source_at_end(index).is_some_and(|source| !omitted.contains(&source)) {
                self.note_source(u32::try_from(index).unwrap_or(u32::MAX));
            }
        }
    }

    /// Follows units that depend on each other at one time, such as those that exchange several
    /// messages without latency. The order of their messages is unknown. None of the units gains
    /// more than the largest gain that one of them has from its own work or from other units.
    fn end_cycle(&mut self, of_units: &[(u32, Range<usize>)]) {
        let units: BTreeSet<u32> = of_units.iter().map(|(unit, _)| *unit).collect();
        let mut largest = 0.0_f64;
        for (unit, of_unit) in of_units {
            let UnitGain { time, gain, .. } = self.units[*unit as usize];
            let end = self.model.ends[of_unit.start].dependence.end;
            let own = gain + self.decrease_of(self.states[*unit as usize].nanos(time, end));
            self.note_sources_at_end(of_unit.clone(), &units);
            self.end_states(*unit, of_unit.clone());
            largest = largest.max(own).max(self.units[*unit as usize].gain);
        }
        units.iter().for_each(|unit| self.units[*unit as usize].gain = largest);
    }

    /// Follows a unit to the end of the states with some dependences, which end at one time.
    fn end_states(&mut self, unit: u32, indexes: Range<usize>) {
        let ends = &self.model.ends[indexes.clone()];
        let Some(DependentEnd { dependence: first, .. }) = ends.first() else { return };
        let end = first.end;
        let start = ends.iter().map(|end| end.dependence.start).min().unwrap_or(end);
        self.advance(unit, start.min(end));
        let UnitGain { time: present, gain, last_end } = self.units[unit as usize];
        // After another dependence, the work of the unit itself may determine the end.
        let is_certain = |Dependence { source, strength, .. }: &Dependence| {
            *strength == DependenceStrength::Certain && last_end <= source.time
        };
        let is_certain = ends.iter().all(|end| is_certain(&end.dependence));
        let own_gain = gain + self.decrease_of(self.states[unit as usize].nanos(present, end));
        let other_gains = indexes.map(|index| self.gain_through(unit, index));
        let largest = other_gains.fold(if is_certain { 0.0 } else { own_gain }, f64::max);
        let gain = largest.min(self.limit(end));
        self.units[unit as usize] = UnitGain { time: end.max(present), gain, last_end: end };
    }

    /// The gain at the end of a dependent state, if the other unit determined it. Between the point
    /// of the other unit and this end, both units may be in states that take less time.
    #[expect(clippy::cast_precision_loss, reason = "gains are rounded")]
    fn gain_through(&self, unit: u32, index: usize) -> f64 {
        let Dependence { source, start, end, reason, strength, .. } = self.model.ends[index].dependence;
        if strength == DependenceStrength::Unknown && !self.has_fixed_waits {
            return self.limit(end);
        }
        let own = self.states[unit as usize].nanos(source.time.max(start), end);
        let other_end = self.states[source.unit as usize].end_at(source.time).unwrap_or(source.time).min(end);
        let other = other_end.saturating_sub(source.time).max(0);
        let between = end.saturating_sub(source.time).max(0) as f64;
        if reason == DependenceReason::Lock && !self.has_fixed_waits {
            // A unit that finds the lock free needs no time to wake.
            return self.sources[index] + between;
        }
        self.sources[index] + self.decrease * between.min(own.saturating_add(other) as f64)
    }
}
