//! The stack of states of one type in one container.

use converter::paje::{ContainerId, TypeId, ValueId};

use super::faults::{Fault, Faults};
use crate::store::{RawLane, RawStates};

/// Nesting beyond this is a fault of the trace (pops missing), and would cost a lane each.
const MAX_DEPTH: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Open {
    start: i64,
    value: ValueId,
    detail: u32,
}

/// States that are open, innermost last, and the lanes of those that have ended.
#[derive(Debug)]
pub(super) struct Stack {
    container: ContainerId,
    ty: TypeId,
    open: Vec<Open>,
    /// Pushes beyond the deepest lane.
    hidden: u64,
    last: i64,
    lanes: Vec<RawLane>,
}

impl Stack {
    pub(super) fn new(container: ContainerId, ty: TypeId) -> Self {
        Self { container, ty, open: Vec::new(), hidden: 0, last: i64::MIN, lanes: Vec::new() }
    }

    /// The date itself, or the last one if this is earlier.
    fn order(&mut self, time: i64, faults: &mut Faults) -> i64 {
        if time < self.last {
            faults.count(Fault::StateOrder);
        }
        self.last = self.last.max(time);
        self.last
    }

    pub(super) fn set(&mut self, time: i64, value: ValueId, detail: u32, faults: &mut Faults) {
        let start = self.order(time, faults);
        self.end_all(start);
        self.open.push(Open { start, value, detail });
    }

    pub(super) fn push(&mut self, time: i64, value: ValueId, detail: u32, faults: &mut Faults) {
        let start = self.order(time, faults);
        if self.open.len() >= MAX_DEPTH {
            self.hidden += 1;
            return faults.count(Fault::TooDeep);
        }
        self.open.push(Open { start, value, detail });
    }

    pub(super) fn pop(&mut self, time: i64, faults: &mut Faults) {
        let end = self.order(time, faults);
        if self.hidden > 0 {
            self.hidden -= 1;
        } else if self.open.is_empty() {
            faults.count(Fault::EmptyPop);
        } else {
            self.end_top(end);
        }
    }

    pub(super) fn reset(&mut self, time: i64, faults: &mut Faults) {
        let end = self.order(time, faults);
        self.end_all(end);
    }

    /// The later of a date and the last one here.
    pub(super) fn last_date(&self, time: i64) -> i64 {
        self.last.max(time)
    }

    /// The container has ended.
    pub(super) fn close(&mut self, time: i64) {
        self.end_all(time);
    }

    fn end_all(&mut self, end: i64) {
        self.hidden = 0;
        while !self.open.is_empty() {
            self.end_top(end);
        }
    }

    fn end_top(&mut self, end: i64) {
        if let Some(Open { start, value, detail }) = self.open.pop() {
            let depth = self.open.len();
            if self.lanes.len() <= depth {
                self.lanes.resize_with(depth + 1, RawLane::default);
            }
            self.lanes[depth].push(start, end, value, detail);
        }
    }

    pub(super) fn into_raw(self) -> RawStates {
        RawStates { container: self.container, ty: self.ty, lanes: self.lanes }
    }
}
