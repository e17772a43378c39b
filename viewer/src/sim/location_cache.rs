//! Where an operation belongs: the states, events or variable of its type in its container, of which it is the first perhaps.

use tumit_paje::{ContainerId, TypeId, TypeKind, ValueId, VariableOp};

use super::entities::{Entities, Place};
use super::faults::Fault;
use super::states::Stack;
use super::variables::Variable;
use super::{Marks, Simulation, Slot};
use crate::query::TypeInfo;

/// The stacks that were found last, by container and type: nearly always it is one of them again. Only those of living containers.
#[derive(Clone, Debug)]
pub(crate) struct RecentStacks(Box<[(ContainerId, TypeId, u32); RECENT]>);

/// How many places there are for them.
const RECENT: usize = 1 << 11;
/// No stack has this number.
const NO_STACK: u32 = u32::MAX;

impl Default for RecentStacks {
    fn default() -> Self {
        Self::new()
    }
}

impl RecentStacks {
    pub(crate) fn new() -> Self {
        Self(Box::new([(ContainerId::ROOT, TypeId::ROOT, NO_STACK); RECENT]))
    }

    /// Containers with the types that they have come one after the other.
    #[inline]
    const fn place(container: ContainerId, ty: TypeId) -> usize {
        (container.0.wrapping_mul(5).wrapping_add(ty.0)) as usize % RECENT
    }

    #[inline]
    fn get(&self, container: ContainerId, ty: TypeId) -> Option<usize> {
        let (its_container, its_type, stack) = self.0[Self::place(container, ty)];
        (its_container == container && its_type == ty && stack != NO_STACK).then_some(stack as usize)
    }

    fn note(&mut self, container: ContainerId, ty: TypeId, stack: u32) {
        self.0[Self::place(container, ty)] = (container, ty, stack);
    }

    /// This container has ended.
    pub(crate) fn forget(&mut self, container: ContainerId, ty: TypeId) {
        let place = &mut self.0[Self::place(container, ty)];
        if place.0 == container {
            place.2 = NO_STACK;
        }
    }
}

impl<E: Entities> Simulation<E> {
    /// The slot of a type in a container that can take events; else `None`, counted.
    fn slot(&mut self, container: ContainerId, ty: TypeId, new: Slot) -> Option<Slot> {
        if !self.containers.is_open(container) {
            self.faults.count(Fault::DeadContainer);
            return None;
        }
        self.containers.slot(container, ty).or_else(|| self.new_slot(container, ty, new))
    }

    #[cold]
    fn new_slot(&mut self, container: ContainerId, ty: TypeId, new: Slot) -> Option<Slot> {
        let kind = match new {
            Slot::Stack(_) => TypeKind::State,
            Slot::Variable(_) => TypeKind::Variable,
            Slot::Marks(_) => TypeKind::Event,
        };
        let Some(info) = self.types.get(ty.index()).filter(|info| info.kind == kind) else {
            self.faults.count(Fault::UnknownType);
            return None;
        };
        if info.parent != self.containers.type_of(container) {
            self.faults.count(Fault::ForeignType);
        }
        self.containers.add_slot(container, ty, new);
        // The root begins with the first date; and `pj_dump` has no container begin earlier than it says.
        let is_moved = !self.peer && container != ContainerId::ROOT;
        let born = if is_moved { self.containers.from(container) } else { i64::MIN };
        let place = |number| Place { number, container, ty };
        match new {
            Slot::Stack(number) => self.stacks.push(Stack::new(place(number), born)),
            Slot::Variable(number) => self.variables.push(Variable::new(place(number), born)),
            Slot::Marks(number) => {
                self.marks.push(Marks { place: place(number), last: i64::MIN, born, reach: (born, i64::MIN) });
            }
        }
        Some(new)
    }

    #[inline(always)]
    pub(crate) fn has_value(&mut self, ty: TypeId, value: ValueId) -> bool {
        let known = self.value_types.get(value.index()) == Some(&ty);
        if !known {
            self.faults.count(Fault::UnknownValue);
        }
        known
    }

    #[inline(always)]
    pub(crate) fn stack(&mut self, container: ContainerId, ty: TypeId, value: Option<ValueId>) -> Option<usize> {
        if value.is_some_and(|value| !self.has_value(ty, value)) {
            return None;
        }
        self.taken += u64::from(value.is_some());
        match self.recent.get(container, ty) {
            Some(stack) => Some(stack),
            None => self.find_stack(container, ty),
        }
    }

    #[cold]
    fn find_stack(&mut self, container: ContainerId, ty: TypeId) -> Option<usize> {
        match self.slot(container, ty, Slot::Stack(self.stacks.len() as u32))? {
            Slot::Stack(at) => {
                if self.containers.is_alive(container) {
                    self.recent.note(container, ty, at);
                }
                Some(at as usize)
            }
            _ => self.wrong_kind(),
        }
    }

    pub(crate) fn mark_list(&mut self, container: ContainerId, ty: TypeId, value: ValueId) -> Option<usize> {
        if !self.has_value(ty, value) {
            return None;
        }
        self.taken += 1;
        match self.slot(container, ty, Slot::Marks(self.marks.len() as u32))? {
            Slot::Marks(at) => Some(at as usize),
            _ => self.wrong_kind(),
        }
    }

    pub(crate) fn variable(&mut self, time: i64, container: ContainerId, ty: TypeId, op: VariableOp, value: f64) {
        self.taken += 1;
        // A Pajé file has 0 for what is no number.
        let value = match self.peer {
            true if !value.is_finite() && !self.peer_text => 0.0,
            true => f64::from(value as f32),
            false => value,
        };
        match self.slot(container, ty, Slot::Variable(self.variables.len() as u32)) {
            Some(Slot::Variable(at)) => {
                self.variables[at as usize].change(time, (op, value), self.peer, &mut self.faults, &mut self.entities);
            }
            Some(_) => _ = self.wrong_kind(),
            None => {}
        }
    }

    fn wrong_kind(&mut self) -> Option<usize> {
        self.faults.count(Fault::UnknownType);
        None
    }

    pub(crate) fn can_link(
        &mut self,
        starts: bool,
        holder: ContainerId,
        ty: TypeId,
        value: ValueId,
        end: ContainerId,
    ) -> bool {
        self.taken += 1;
        let Some(&TypeInfo { kind: TypeKind::Link { start, end: destination }, parent, .. }) =
            self.types.get(ty.index())
        else {
            self.faults.count(Fault::UnknownType);
            return false;
        };
        if !self.containers.is_open(holder) || !self.containers.is_known(end) {
            self.faults.count(Fault::DeadContainer);
            return false;
        }
        let destruction = self.containers.destruction(end);
        if destruction.is_some_and(|it| self.peer || self.faults.line == 0 || it.time < self.latest) {
            self.faults.count(Fault::DeadLinkEnd);
        }
        let expected = if starts { start } else { destination };
        if self.containers.type_of(end) != expected || self.containers.type_of(holder) != parent {
            self.faults.count(Fault::ForeignType);
        }
        self.has_value(ty, value)
    }
}
