//! The stack of states of one type in one container.

use tumit_paje::ValueId;
use tumit_paje::time::GlobalNanos;

use super::entities::{EndedState, Entities, Place};
use super::faults::{Fault, Faults};
use crate::query::Interval;

/// States nested deeper are not shown: each depth costs a lane.
const MAX_DEPTH: usize = 1 << 16;

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Open {
    start: i64,
    value: ValueId,
    detail: u32,
    early: u32,
}

/// States that are open, innermost last.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Stack {
    place: Place,
    open: Vec<Open>,
    /// Pushes beyond the deepest.
    hidden: u64,
    last: i64,
    /// When the container was created,
    born: i64,
    /// and the first date here, if that is earlier.
    first: i64,
    /// States so far that began before date 0.
    early: u32,
}

impl Stack {
    /// Of a container that was created then.
    pub(crate) fn new(place: Place, born: i64) -> Self {
        Self { place, open: Vec::new(), hidden: 0, last: i64::MIN, born, first: born, early: 0 }
    }

    /// The date itself, or the last one if this is earlier.
    #[inline]
    fn order(&mut self, time: i64, faults: &mut Faults) -> i64 {
        if time < self.last {
            faults.count(Fault::StateOrder);
        }
        self.last = self.last.max(time);
        self.last
    }

    /// Where nothing is open, what comes next is not bound by the dates of what was: so `pj_dump` has it.
    pub(crate) fn start_anew(&mut self) {
        if self.open.is_empty() {
            self.last = i64::MIN;
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, time: i64, value: ValueId, detail: u32, faults: &mut Faults, out: &mut impl Entities) {
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
        faults: &mut Faults,
        out: &mut impl Entities,
    ) {
        let start = self.order(time, faults);
        if self.open.len() >= MAX_DEPTH {
            self.hidden += 1;
            out.forget(detail);
            return faults.count(Fault::TooDeep);
        }
        self.begin(start, value, detail, faults);
    }

    #[inline]
    fn begin(&mut self, start: i64, value: ValueId, detail: u32, faults: &mut Faults) {
        if start < self.born {
            faults.count(Fault::LateCreation);
            self.first = self.first.min(start);
        }
        let mut early = 0;
        if start < 0 {
            self.early = self.early.saturating_add(1);
            early = self.early;
        }
        self.open.push(Open { start, value, detail, early });
    }

    #[inline]
    pub(crate) fn pop(&mut self, time: i64, faults: &mut Faults, out: &mut impl Entities) {
        // What ends nothing moves nothing either: its date does not bind what follows.
        if self.open.is_empty() {
            return faults.count(Fault::EmptyPop);
        }
        let end = self.order(time, faults);
        if self.hidden > 0 {
            self.hidden -= 1;
        } else {
            self.end_top(end, out);
        }
    }

    pub(crate) fn reset(&mut self, time: i64, faults: &mut Faults, out: &mut impl Entities) {
        if self.open.is_empty() {
            return;
        }
        let end = self.order(time, faults);
        self.end_all(end, out);
    }

    /// The first date here or that of the container's creation, and the last one.
    pub(crate) fn reach(&self) -> (i64, i64) {
        (self.first, self.last)
    }

    /// Ends all that is open.
    pub(crate) fn end_all(&mut self, end: i64, out: &mut impl Entities) {
        self.hidden = 0;
        while !self.open.is_empty() {
            self.end_top(end, out);
        }
    }

    #[inline]
    fn end_top(&mut self, end: i64, out: &mut impl Entities) {
        if let Some(Open { start, value, detail, early }) = self.open.pop() {
            let life = Interval { from: GlobalNanos(start), to: GlobalNanos(end) };
            out.state(self.place, EndedState { life, depth: self.open.len() as u32, value, detail, early });
        }
    }
}
