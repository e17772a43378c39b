//! [`EntityTypes`]: the Pajé types and values of a trace.

use std::io;

use tumit_paje::{DrawStyle, PajeEvent, PajeSink, PajeTypeKind, TypeId, ValueId};

use crate::model::trace_units::HOST;
use crate::model::{ActionLog, Statistic, TraceUnit, TypeSlot, ValueKey};

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
    /// The type of the host. [`TypeId::ROOT`] if the trace has no host, as for all unused types.
    host: TypeId,
    slots: [TypeId; TypeSlot::ALL.len()],
    statistics: [TypeId; Statistic::ALL.len()],
    host_statistics: [TypeId; Statistic::ALL.len()],
}

impl EntityTypes {
    pub(crate) fn new(log: &ActionLog, is_alog: bool) -> Self {
        let has_processes = log.units.has_processes();
        let mut last = NODE.0 + u32::from(has_processes);
        let mut number = |is_used: bool| -> TypeId {
            last += u32::from(is_used);
            if is_used { TypeId(last) } else { TypeId::ROOT }
        };
        let host = number(log.units.has_host());
        let slots = TypeSlot::ALL.map(|slot| number(log.values.uses(slot) || (slot == TypeSlot::Activity && !is_alog)));
        let statistics = log.statistics.map(&mut number);
        let host_statistics = log.host_statistics.map(number);
        Self { has_processes, is_alog, host, slots, statistics, host_statistics }
    }

    /// The type of the innermost containers.
    pub(crate) fn unit(self) -> TypeId {
        TypeId(NODE.0 + u32::from(self.has_processes))
    }

    pub(crate) fn of_slot(self, slot: TypeSlot) -> TypeId {
        self.slots[slot as usize]
    }

    /// The type of the host of old PICL.
    pub(crate) fn host(self) -> TypeId {
        self.host
    }

    pub(crate) fn of_statistic(self, statistic: Statistic, unit: TraceUnit) -> TypeId {
        let types = if unit.node == HOST { self.host_statistics } else { self.statistics };
        types[statistic as usize]
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
        // The host only starts the program, so it is no node, and no unit of the views.
        if self.host != TypeId::ROOT {
            define(self.host, PajeTypeKind::Container, PROGRAM, "Host")?;
        }
        for slot in TypeSlot::ALL.into_iter().filter(|slot| self.of_slot(*slot) != TypeId::ROOT) {
            let link = |start, end| (PajeTypeKind::Link { start, end }, PROGRAM);
            let (kind, parent) = match slot {
                TypeSlot::Activity | TypeSlot::Task => (PajeTypeKind::State, self.unit()),
                TypeSlot::Mark | TypeSlot::Text | TypeSlot::Record => (PajeTypeKind::Event, self.unit()),
                TypeSlot::Definition => (PajeTypeKind::Event, PROGRAM),
                TypeSlot::Message => link(self.unit(), self.unit()),
                TypeSlot::HostActivity | TypeSlot::HostTask => (PajeTypeKind::State, self.host),
                TypeSlot::HostMark | TypeSlot::HostText | TypeSlot::HostRecord => (PajeTypeKind::Event, self.host),
                TypeSlot::FromHost => link(self.host, self.unit()),
                TypeSlot::ToHost => link(self.unit(), self.host),
            };
            define(self.of_slot(slot), kind, parent, self.name(slot))?;
        }
        for (types, parent) in [(self.statistics, self.unit()), (self.host_statistics, self.host)] {
            for (statistic, ty) in Statistic::ALL.into_iter().zip(types).filter(|(_, ty)| *ty != TypeId::ROOT) {
                define(ty, PajeTypeKind::Variable, parent, statistic.name())?;
            }
        }
        for (index, value) in log.values.values.iter().enumerate() {
            let name = log.values.name(value);
            let (ty, color) = (self.of_slot(value.slot), value.color);
            let category = match value.key {
                ValueKey::Activity(activity) => Some(activity.category()),
                _ => None,
            };
            let (value, style) = (ValueId(index as u32), DrawStyle::NONE);
            sink.event(&PajeEvent::DefineValue { value, ty, name: &name, color, style, category })?;
        }
        Ok(())
    }
}
