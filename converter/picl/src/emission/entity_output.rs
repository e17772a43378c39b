//! [`EntityOutput`]: sends operations, and creates the containers of units.

use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, PajeEvent, PajeSink};

use super::definitions::{EntityTypes, PROGRAM};
use super::node_containers::NodeContainers;
use crate::model::{ActionLog, StateFields, TraceUnit, TypeSlot};
use crate::picl_faults::StrictFault;

/// The reason why an action was not sent.
#[derive(Debug)]
pub(crate) enum EmitError {
    /// The sink or a temporary file failed.
    Io(io::Error),
    /// A fault in strict mode.
    Strict(StrictFault),
}

impl From<io::Error> for EmitError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<StrictFault> for EmitError {
    fn from(fault: StrictFault) -> Self {
        Self::Strict(fault)
    }
}

/// The container of the program.
pub(super) const PROGRAM_CONTAINER: ContainerId = ContainerId(1);

/// The receiver of operations, and the names and containers that it knows.
pub(super) struct EntityOutput<'a> {
    pub(super) sink: &'a mut dyn PajeSink,
    pub(super) types: EntityTypes,
    pub(super) log: &'a mut ActionLog,
    containers: NodeContainers,
    /// The number of the unit to which the records of each unit belong.
    canonical: Vec<u32>,
    /// The containers that were created, by number of the unit.
    unit_containers: Vec<Option<ContainerId>>,
    pub(super) time: i64,
    pub(super) sent_count: u64,
}

impl<'a> EntityOutput<'a> {
    /// Sends the definitions, and creates the container of the program.
    pub(super) fn new(
        log: &'a mut ActionLog,
        containers: NodeContainers,
        types: EntityTypes,
        sink: &'a mut dyn PajeSink,
    ) -> Result<Self, EmitError> {
        let (start, _) = log.extent.unwrap_or_default();
        types.define(log, sink)?;
        sink.event(&PajeEvent::CreateContainer {
            time: GlobalNanos(start),
            container: PROGRAM_CONTAINER,
            ty: PROGRAM,
            parent: ContainerId::ROOT,
            name: "program",
            extra: &[],
        })?;
        let canonical = log.units.canonical();
        let unit_containers = vec![None; canonical.len()];
        Ok(Self { sink, types, log, containers, canonical, unit_containers, time: start, sent_count: 0 })
    }

    pub(super) fn emit(&mut self, event: &PajeEvent<'_>) -> Result<(), EmitError> {
        self.sent_count += 1;
        Ok(self.sink.event(event)?)
    }

    pub(super) fn unit(&self, number: u32) -> TraceUnit {
        self.log.units.units.get(number as usize).copied().unwrap_or(TraceUnit::PROGRAM)
    }

    /// The number of the unit to which the records of a unit belong.
    pub(super) fn canonical_number(&self, number: u32) -> u32 {
        self.canonical.get(number as usize).copied().unwrap_or(number)
    }

    /// The number of a unit with records, by its own process or that of its node.
    pub(super) fn number_of(&self, unit: TraceUnit) -> Option<u32> {
        let units = &self.log.units;
        let of = |unit| units.find(units.canonical_unit(unit));
        let number = of(unit).or_else(|| of(TraceUnit::of_node(unit.node)))?;
        Some(self.canonical_number(number))
    }

    /// The container of a unit, if it was created.
    pub(super) fn container_of_unit(&self, unit: u32) -> Option<ContainerId> {
        self.unit_containers.get(unit as usize).copied().flatten()
    }

    /// The container of a unit. The first action creates it, or a collective operation with this
    /// root.
    pub(super) fn container_of(&mut self, unit: u32) -> Result<ContainerId, EmitError> {
        if let Some(container) = self.container_of_unit(unit) {
            return Ok(container);
        }
        let time = GlobalNanos(self.time);
        let (created, container) = self.containers.open(self.unit(unit), self.types, PROGRAM_CONTAINER);
        for new in created {
            let (container, ty, parent, name, extra) = (new.container, new.ty, new.parent, &*new.name, &[][..]);
            self.emit(&PajeEvent::CreateContainer { time, container, ty, parent, name, extra })?;
        }
        if let Some(opened) = self.unit_containers.get_mut(unit as usize) {
            *opened = Some(container);
        }
        Ok(container)
    }

    /// The name of a unit in messages.
    pub(super) fn unit_name(&self, unit: u32) -> String {
        self.containers.unit_name(self.unit(unit), self.types.has_processes)
    }

    pub(super) fn name_of(&self, value: u32) -> String {
        self.log.values.values.get(value as usize).map_or_else(String::new, |value| self.log.values.name(value))
    }

    pub(super) fn slot_of(&self, value: u32) -> TypeSlot {
        self.log.values.values.get(value as usize).map_or(TypeSlot::Activity, |value| value.slot)
    }

    /// The fields of a state from the words of its action.
    pub(super) fn fields_of(&self, [offset, length, has_fields]: [i64; 3]) -> Result<StateFields, EmitError> {
        if has_fields != 1 {
            return Ok(StateFields::default());
        }
        let mut bytes = vec![0; length as usize];
        self.log.texts.read_exact_at(&mut bytes, offset.cast_unsigned())?;
        Ok(StateFields::of_bytes(&bytes).unwrap_or_default())
    }
}
