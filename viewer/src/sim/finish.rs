//! Ends containers with their open entities, and the trace.

use std::cmp::Reverse;

use tumit_paje::ContainerId;
use tumit_paje::time::GlobalNanos;

use super::containers::ContainerDestruction;
use super::entity_sink::EntitySink;
use super::entity_slot::EntitySlot;
use super::faults::Fault;
use super::simulation::Simulation;
use crate::query::{TimestampExtent, nanos_range};

impl<E: EntitySink> Simulation<E> {
    /// Destroys a container and all containers below it.
    ///
    /// In Pajé text, later lines may refer to a destroyed container, so it is closed at the end of
    /// the trace. In a run, and in `pj_dump` mode, it is closed at once. Line 0 means that the
    /// operations are not from a text.
    pub(crate) fn destroy(&mut self, time: i64, container: ContainerId) {
        if container == ContainerId::ROOT || !self.containers.is_alive(container) {
            return self.faults.count(Fault::DeadContainer);
        }
        let destruction = ContainerDestruction { line: self.faults.line, time };
        for destroyed in self.containers.with_descendants(container) {
            self.containers.destroy(destroyed, destruction);
            if self.mimics_pj_dump {
                self.close(time, destroyed);
            } else if self.faults.line == 0 {
                self.set_time_range(time, destroyed);
                self.close(self.containers.end_of(destroyed), destroyed);
            } else {
                self.forget_stacks(destroyed);
            }
        }
    }

    /// Sets the time range of a container that is not closed. It lasts from its creation to its
    /// destruction, or to `last`, and is extended to all timestamps in it.
    fn set_time_range(&mut self, last: i64, container: ContainerId) {
        let TimestampExtent { first: from, last: latest } = self.container_extent(container);
        let destruction = self.containers.destruction(container);
        let end = destruction.map_or(last, |destruction| destruction.time);
        if let Some(ContainerDestruction { line, time }) = destruction
            && latest > end
        {
            self.faults.count_at(Fault::EarlyDestruction, (line, time));
        }
        let end = end.max(latest);
        self.containers.set_life(container, nanos_range(from, end));
        let parent = self.containers.parent(container);
        if parent != container {
            self.containers.extend_content(parent, TimestampExtent { first: from, last: end });
        }
    }

    /// The extent of a container and its contents so far, including its creation.
    fn container_extent(&self, container: ContainerId) -> TimestampExtent {
        let creation = self.containers.from(container);
        let of_slots = self.containers.slots(container).iter().map(|&(_, slot)| match slot {
            EntitySlot::Stack(stack) => self.stacks[stack as usize].extent(),
            EntitySlot::Variable(variable) => self.variables[variable as usize].extent(),
            EntitySlot::Marks(marks) => self.marks[marks as usize].extent,
        });
        let content = self.containers.content_extent(container);
        let extent = of_slots.fold(TimestampExtent::instant(creation).join(content), TimestampExtent::join);
        // The root begins with the trace.
        if container == ContainerId::ROOT { TimestampExtent { first: creation, ..extent } } else { extent }
    }

    /// Removes the container's stacks from the cache of recent stacks. Later operations on them
    /// then take the checked path.
    fn forget_stacks(&mut self, container: ContainerId) {
        for &(ty, slot) in self.containers.slots(container) {
            if matches!(slot, EntitySlot::Stack(_)) {
                self.recent.remove(container, ty);
            }
        }
    }

    /// Ends a container and its open entities.
    fn close(&mut self, end: i64, container: ContainerId) {
        self.forget_stacks(container);
        for &(_, slot) in self.containers.slots(container) {
            match slot {
                EntitySlot::Stack(stack) => self.stacks[stack as usize].end_all(end, &mut self.entities),
                EntitySlot::Variable(variable) => self.variables[variable as usize].end(end, &mut self.entities),
                EntitySlot::Marks(_) => {}
            }
        }
        self.containers.close(container, end, &mut self.entities);
    }

    /// Ends the trace. All open entities end at `end`, or at the largest timestamp if that is
    /// later.
    pub fn end(&mut self, end: GlobalNanos) {
        if self.first > self.last {
            (self.first, self.last) = (end.0.min(0), end.0);
        }
        self.last = self.last.max(end.0);
        let last = match self.mimics_pj_dump {
            true if self.has_pj_dump_text => end.0,
            true if self.last_timestamp > i64::MIN => self.last_timestamp,
            _ => self.last,
        };
        self.close_all(last);
        self.links.end(Some(&mut self.faults), &mut self.entities, &self.value_types);
    }

    /// Ends a preview of a trace that continues. Open entities end at the largest timestamp so far.
    /// Links that have started are open links. Incomplete links are not reported.
    pub(crate) fn pause(&mut self) {
        if self.first > self.last {
            (self.first, self.last) = (0, 0);
        }
        self.close_all(self.last);
        self.links.end(None, &mut self.entities, &self.value_types);
    }

    fn close_all(&mut self, last: i64) {
        self.containers.set_life(ContainerId::ROOT, nanos_range(self.first, last));
        let containers = self.containers.open_containers();
        // A parent comes before its children, and lasts at least as long. So children are settled
        // first.
        if !self.mimics_pj_dump {
            containers.iter().rev().for_each(|&container| self.set_time_range(last, container));
        }
        // Destroyed containers are closed in the order of their destruction, inner ones first.
        let (mut destroyed, alive): (Vec<ContainerId>, Vec<ContainerId>) =
            containers.into_iter().partition(|&container| !self.containers.is_alive(container));
        destroyed.sort_by_cached_key(|&container| {
            (self.containers.destruction(container).map(|destruction| destruction.line), Reverse(container))
        });
        for container in destroyed.into_iter().chain(alive) {
            let end = if self.mimics_pj_dump { last } else { self.containers.end_of(container) };
            self.close(end, container);
        }
    }
}
