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

    /// Ends a container and what is open in it, at `time` or the last date there; it begins at the first one.
    fn close(&mut self, time: i64, container: ContainerId) {
        if self.peer {
            return self.close_at(time, container);
        }
        let (from, last) = self.reach(container);
        let end = last.max(time);
        if end > time {
            self.faults.count(Fault::EarlyDestruction);
        }
        self.containers.begin(container, from);
        self.close_at(end, container);
        self.tell_parent(container, from, end);
    }

    /// The first and the last date in a container so far, its creation among them.
    fn reach(&self, container: ContainerId) -> (i64, i64) {
        let created = self.containers.from(container);
        let of_slots = self.containers.slots(container).iter().map(|&(_, slot)| match slot {
            Slot::Stack(stack) => self.stacks[stack as usize].reach(),
            Slot::Variable(variable) => self.variables[variable as usize].reach(),
            Slot::Marks(marks) => self.marks[marks as usize].reach,
        });
        let all = of_slots.chain(self.containers.held(container));
        let (from, to) = all.fold((created, created), |(from, to), (first, last)| (from.min(first), to.max(last)));
        // The root begins with the trace.
        (if container == ContainerId::ROOT { created } else { from }, to)
    }

    fn tell_parent(&mut self, container: ContainerId, from: i64, to: i64) {
        let parent = self.containers.parent(container);
        if parent != container {
            self.containers.hold(parent, from, to);
        }
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
        let alive = self.containers.alive();
        if !self.peer {
            // Containers come behind those that hold them, which must know how early they begin.
            for &container in alive.iter().rev() {
                let (from, to) = self.reach(container);
                self.tell_parent(container, from, to);
            }
        }
        for container in alive {
            self.close(last, container);
        }
    }
}
