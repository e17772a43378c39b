//! Ends: of containers with what is open in them, and of the trace.

use converter::paje::ContainerId;
use converter::time::GlobalNanos;

use super::entities::Entities;
use super::faults::Fault;
use super::{Simulation, Slot};

impl<E: Entities> Simulation<E> {
    pub(super) fn destroy(&mut self, time: i64, container: ContainerId) {
        if container == ContainerId::ROOT || !self.containers.is_alive(container) {
            return self.faults.count(Fault::DeadContainer);
        }
        for gone in self.containers.with_descendants(container) {
            self.close(time, gone);
        }
    }

    /// Ends a container and what is open in it, at `time` or the last date there.
    fn close(&mut self, time: i64, container: ContainerId) {
        let mut end = time.max(self.containers.from(container));
        if self.peer {
            return self.close_at(time, container);
        }
        for at in 0..self.containers.slots(container).len() {
            end = match self.containers.slots(container)[at].1 {
                Slot::Stack(stack) => self.stacks[stack as usize].last_date(end),
                Slot::Variable(variable) => self.variables[variable as usize].last_date(end),
                Slot::Marks(_) => end,
            };
        }
        if end > time {
            self.faults.count(Fault::EarlyDestruction);
        }
        self.close_at(end, container);
    }

    fn close_at(&mut self, end: i64, container: ContainerId) {
        for &(ty, slot) in self.containers.slots(container) {
            match slot {
                Slot::Stack(stack) => {
                    self.recent.forget(container, ty);
                    self.stacks[stack as usize].end_all(end, &mut self.entities);
                }
                Slot::Variable(variable) => self.variables[variable as usize].end(end, &mut self.entities),
                Slot::Marks(_) => {}
            }
        }
        self.containers.end(container, end, &mut self.entities);
    }

    /// Ends the trace: everything that is open ends at `end`, or at the largest date if that is later.
    pub fn end(&mut self, end: GlobalNanos) {
        if self.first > self.last {
            (self.first, self.last) = (end.0.min(0), end.0);
        }
        self.last = self.last.max(end.0);
        let last = match self.peer {
            true if self.peer_text => end.0,
            true if self.latest > i64::MIN => self.latest,
            _ => self.last,
        };
        self.close_all(last);
        self.links.count_pending(&mut self.faults);
    }

    /// Ends a picture of a trace that goes on: what is open ends at the largest date so far, and links under way are no fault.
    pub(crate) fn pause(&mut self) {
        if self.first > self.last {
            (self.first, self.last) = (0, 0);
        }
        self.close_all(self.last);
    }

    fn close_all(&mut self, last: i64) {
        self.containers.begin(ContainerId::ROOT, self.first);
        for container in self.containers.alive() {
            self.close(last, container);
        }
    }
}
