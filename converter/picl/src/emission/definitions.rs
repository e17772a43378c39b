//! [`EntityTypes`]: the Pajé types and values of a trace.

use std::io;

use tumit_paje::{DrawStyle, PajeEvent, PajeSink, PajeTypeKind, TypeId, ValueId};

use crate::model::{ActionLog, Statistic, TypeSlot};

/// The type of the container of the whole trace.
pub(crate) const PROGRAM: TypeId = TypeId(1);
/// The type of nodes. The type of processes has the next number.
pub(crate) const NODE: TypeId = TypeId(2);

/// The types that a trace uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntityTypes {
    /// Whether processes are below nodes.
    pub(crate) has_processes: bool,
    is_alog: bool,
    /// [`TypeId::ROOT`] for unused types.
    slots: [TypeId; TypeSlot::ALL.len()],
    statistics: [TypeId; Statistic::ALL.len()],
}

impl EntityTypes {
    pub(crate) fn new(log: &ActionLog, is_alog: bool) -> Self {
        let has_processes = log.units.has_processes();
        let mut last = NODE.0 + u32::from(has_processes);
        let mut number = |is_used: bool| {
            last += u32::from(is_used);
            if is_used { TypeId(last) } else { TypeId::ROOT }
        };
        let slots = TypeSlot::ALL.map(|slot| number(log.values.uses(slot) || (slot == TypeSlot::Activity && !is_alog)));
        let statistics = log.statistics.map(number);
        Self { has_processes, is_alog, slots, statistics }
    }

    /// The type of the innermost containers.
    pub(crate) fn unit(self) -> TypeId {
        TypeId(NODE.0 + u32::from(self.has_processes))
    }

    pub(crate) fn of_slot(self, slot: TypeSlot) -> TypeId {
        self.slots[slot as usize]
    }

    pub(crate) fn of_statistic(self, statistic: Statistic) -> TypeId {
        self.statistics[statistic as usize]
    }

    /// The name of the type of a slot. Two names differ for Alog.
    fn name(self, slot: TypeSlot) -> &'static str {
        match slot {
            TypeSlot::Activity if self.is_alog => "State",
            TypeSlot::Mark if self.is_alog => "Event",
            slot => slot.name(),
        }
    }

    /// Sends all types and values that the trace uses.
    pub(crate) fn define(self, log: &ActionLog, sink: &mut dyn PajeSink) -> io::Result<()> {
        let mut define = |ty, kind, parent, name| {
            sink.event(&PajeEvent::DefineType { ty, kind, parent, name, color: None, style: DrawStyle::NONE })
        };
        define(PROGRAM, PajeTypeKind::Container, TypeId::ROOT, "Program")?;
        define(NODE, PajeTypeKind::Container, PROGRAM, if self.is_alog { "Process" } else { "Node" })?;
        if self.has_processes {
            define(self.unit(), PajeTypeKind::Container, NODE, "Process")?;
        }
        for slot in TypeSlot::ALL.into_iter().filter(|slot| self.of_slot(*slot) != TypeId::ROOT) {
            let (kind, parent) = match slot {
                TypeSlot::Activity | TypeSlot::Task => (PajeTypeKind::State, self.unit()),
                TypeSlot::Mark | TypeSlot::Text | TypeSlot::Record => (PajeTypeKind::Event, self.unit()),
                TypeSlot::Definition => (PajeTypeKind::Event, PROGRAM),
                TypeSlot::Message => (PajeTypeKind::Link { start: self.unit(), end: self.unit() }, PROGRAM),
            };
            define(self.of_slot(slot), kind, parent, self.name(slot))?;
        }
        for statistic in Statistic::ALL.into_iter().filter(|statistic| log.statistics[*statistic as usize]) {
            define(self.of_statistic(statistic), PajeTypeKind::Variable, self.unit(), statistic.name())?;
        }
        for (index, value) in log.values.values.iter().enumerate() {
            let name = log.values.name(value);
            let (ty, color) = (self.of_slot(value.slot), value.color);
            let value = ValueId(index as u32);
            sink.event(&PajeEvent::DefineValue {
                value,
                ty,
                name: &name,
                color,
                style: DrawStyle::NONE,
                category: None,
            })?;
        }
        Ok(())
    }
}
