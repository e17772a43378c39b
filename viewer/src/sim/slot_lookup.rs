//! Finds the place of an operation: the states, events or variable of a type in a container. The
//! first operation creates it.

use tumit_paje::{ContainerId, PajeTypeKind, TypeId, ValueId, VariableOp};

use super::entity_sink::{EntityPlace, EntitySink};
use super::entity_slot::{EntitySlot, MarkList};
use super::faults::Fault;
use super::simulation::Simulation;
use super::states::OpenStates;
use super::variables::VariableState;
use crate::query::{TimestampExtent, TypeInfo};

impl<E: EntitySink> Simulation<E> {
    /// The slot of a type in a container that accepts operations. Otherwise `None`, and the
    /// diagnostic is counted.
    fn slot(&mut self, container: ContainerId, ty: TypeId, new: EntitySlot) -> Option<EntitySlot> {
        if !self.containers.is_open(container) {
            self.faults.count(Fault::DeadContainer);
            return None;
        }
        self.containers.slot(container, ty).or_else(|| self.new_slot(container, ty, new))
    }

    #[cold]
    fn new_slot(&mut self, container: ContainerId, ty: TypeId, new: EntitySlot) -> Option<EntitySlot> {
        let kind = match new {
            EntitySlot::Stack(_) => PajeTypeKind::State,
            EntitySlot::Variable(_) => PajeTypeKind::Variable,
            EntitySlot::Marks(_) => PajeTypeKind::Event,
        };
        let Some(info) = self.types.get(ty.index()).filter(|info| info.kind == kind) else {
            self.faults.count(Fault::UnknownType);
            return None;
        };
        if info.parent != self.containers.type_of(container) {
            self.faults.count(Fault::ForeignType);
        }
        self.containers.add_slot(container, ty, new);
        // The start of a container is moved if an entity in it begins before its creation. Two
        // cases are excluded: the root, which begins with the first timestamp, and the `pj_dump`
        // mode, in which containers begin with their creation.
        let is_moved = !self.mimics_pj_dump && container != ContainerId::ROOT;
        let creation_time = if is_moved { self.containers.from(container) } else { i64::MIN };
        let place = |number| EntityPlace { number, container, ty };
        match new {
            EntitySlot::Stack(number) => self.stacks.push(OpenStates::new(place(number), creation_time)),
            EntitySlot::Variable(number) => self.variables.push(VariableState::new(place(number), creation_time)),
            EntitySlot::Marks(number) => {
                let extent = TimestampExtent { first: creation_time, last: i64::MIN };
                self.marks.push(MarkList { place: place(number), last: i64::MIN, creation_time, extent });
            }
        }
        Some(new)
    }

    #[inline(always)]
    pub(crate) fn has_value(&mut self, ty: TypeId, value: ValueId) -> bool {
        let is_defined = self.value_types.get(value.index()) == Some(&ty);
        if !is_defined {
            self.faults.count(Fault::UnknownValue);
        }
        is_defined
    }

    #[inline(always)]
    pub(crate) fn stack(&mut self, container: ContainerId, ty: TypeId, value: Option<ValueId>) -> Option<usize> {
        if value.is_some_and(|value| !self.has_value(ty, value)) {
            return None;
        }
        self.entity_count += u64::from(value.is_some());
        match self.recent.get(container, ty) {
            Some(stack) => Some(stack),
            None => self.find_stack(container, ty),
        }
    }

    #[cold]
    fn find_stack(&mut self, container: ContainerId, ty: TypeId) -> Option<usize> {
        match self.slot(container, ty, EntitySlot::Stack(self.stacks.len() as u32))? {
            EntitySlot::Stack(index) => {
                if self.containers.is_alive(container) {
                    self.recent.note(container, ty, index);
                }
                Some(index as usize)
            }
            _ => self.wrong_kind(),
        }
    }

    pub(crate) fn mark_list(&mut self, container: ContainerId, ty: TypeId, value: ValueId) -> Option<usize> {
        if !self.has_value(ty, value) {
            return None;
        }
        self.entity_count += 1;
        match self.slot(container, ty, EntitySlot::Marks(self.marks.len() as u32))? {
            EntitySlot::Marks(index) => Some(index as usize),
            _ => self.wrong_kind(),
        }
    }

    pub(crate) fn variable(&mut self, time: i64, container: ContainerId, ty: TypeId, op: VariableOp, value: f64) {
        self.entity_count += 1;
        // A Pajé file contains 0 for a value that is not a number.
        let value = match self.mimics_pj_dump {
            true if !value.is_finite() && !self.has_pj_dump_text => 0.0,
            true => f64::from(value as f32),
            false => value,
        };
        match self.slot(container, ty, EntitySlot::Variable(self.variables.len() as u32)) {
            Some(EntitySlot::Variable(index)) => {
                self.variables[index as usize].change(
                    time,
                    (op, value),
                    self.mimics_pj_dump,
                    &mut self.faults,
                    &mut self.entities,
                );
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
        self.entity_count += 1;
        let Some(&TypeInfo { kind: PajeTypeKind::Link { start, end: destination }, parent, .. }) =
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
        if destruction.is_some_and(|destruction| {
            self.mimics_pj_dump || self.faults.line == 0 || destruction.time < self.last_timestamp
        }) {
            self.faults.count(Fault::DeadLinkEnd);
        }
        let expected = if starts { start } else { destination };
        if self.containers.type_of(end) != expected || self.containers.type_of(holder) != parent {
            self.faults.count(Fault::ForeignType);
        }
        self.has_value(ty, value)
    }
}
