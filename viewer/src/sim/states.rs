//! The stack of states of one type in one container.

use tumit_paje::ValueId;
use tumit_paje::time::GlobalNanos;

use super::entity_sink::{EndedState, EntityPlace, EntitySink};
use super::faults::{Fault, FaultCounts};
use crate::query::{TimeRange, TimestampExtent};

/// Maximum nesting depth of states. Deeper states are dropped, because each depth costs a lane.
const MAX_DEPTH: usize = 1 << 16;

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct OpenState {
    start: i64,
    value: ValueId,
    detail: u32,
    early_position: u32,
}

/// The open states, innermost last.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct OpenStates {
    place: EntityPlace,
    states: Vec<OpenState>,
    /// Number of open pushes beyond the maximum depth.
    hidden_pushes: u64,
    last: i64,
    /// The creation of the container.
    creation_time: i64,
    /// The first timestamp here, or `born` if that is earlier.
    first: i64,
    /// Number of states so far that began before timestamp 0.
    early_count: u32,
}

impl OpenStates {
    /// An empty stack of a container that was created at `creation_time`.
    pub(crate) fn new(place: EntityPlace, creation_time: i64) -> Self {
        Self {
            place,
            states: Vec::new(),
            hidden_pushes: 0,
            last: i64::MIN,
            creation_time,
            first: creation_time,
            early_count: 0,
        }
    }

    /// The later of a timestamp and the last one. Counts a timestamp that is out of order.
    #[inline]
    fn order(&mut self, time: i64, faults: &mut FaultCounts) -> i64 {
        if time < self.last {
            faults.count(Fault::StateOrder);
        }
        self.last = self.last.max(time);
        self.last
    }

    /// Removes the lower bound of the next timestamp if no state is open, as `pj_dump` does.
    pub(crate) fn restart(&mut self) {
        if self.states.is_empty() {
            self.last = i64::MIN;
        }
    }

    #[inline]
    pub(crate) fn set(
        &mut self,
        time: i64,
        value: ValueId,
        detail: u32,
        faults: &mut FaultCounts,
        out: &mut impl EntitySink,
    ) {
        let start = self.order(time, faults);
        self.end_all(start, out);
        self.begin(start, value, detail, faults);
    }

    #[inline]
    pub(crate) fn push(
        &mut self,
        time: i64,
        value: ValueId,
        detail: u32,
        faults: &mut FaultCounts,
        out: &mut impl EntitySink,
    ) {
        let start = self.order(time, faults);
        if self.states.len() >= MAX_DEPTH {
            self.hidden_pushes += 1;
            out.free_detail(detail);
            return faults.count(Fault::TooDeep);
        }
        self.begin(start, value, detail, faults);
    }

    #[inline]
    fn begin(&mut self, start: i64, value: ValueId, detail: u32, faults: &mut FaultCounts) {
        if start < self.creation_time {
            faults.count(Fault::LateCreation);
            self.first = self.first.min(start);
        }
        let mut early_position = 0;
        if start < 0 {
            self.early_count = self.early_count.saturating_add(1);
            early_position = self.early_count;
        }
        self.states.push(OpenState { start, value, detail, early_position });
    }

    #[inline]
    pub(crate) fn pop(&mut self, time: i64, faults: &mut FaultCounts, out: &mut impl EntitySink) {
        // A pop without effect is ignored. Its timestamp does not affect later operations.
        if self.states.is_empty() {
            return faults.count(Fault::EmptyPop);
        }
        let end = self.order(time, faults);
        if self.hidden_pushes > 0 {
            self.hidden_pushes -= 1;
        } else {
            self.end_top(end, out);
        }
    }

    pub(crate) fn reset(&mut self, time: i64, faults: &mut FaultCounts, out: &mut impl EntitySink) {
        if self.states.is_empty() {
            return;
        }
        let end = self.order(time, faults);
        self.end_all(end, out);
    }

    /// From the first timestamp here, or the container's creation if that is earlier, to the last
    /// timestamp.
    pub(crate) fn extent(&self) -> TimestampExtent {
        TimestampExtent { first: self.first, last: self.last }
    }

    pub(crate) fn end_all(&mut self, end: i64, out: &mut impl EntitySink) {
        self.hidden_pushes = 0;
        while !self.states.is_empty() {
            self.end_top(end, out);
        }
    }

    #[inline]
    fn end_top(&mut self, end: i64, out: &mut impl EntitySink) {
        if let Some(OpenState { start, value, detail, early_position }) = self.states.pop() {
            let life = TimeRange { from: GlobalNanos(start), to: GlobalNanos(end) };
            out.state(self.place, EndedState { life, depth: self.states.len() as u32, value, detail, early_position });
        }
    }
}
