//! [`Simulation`]: converts Pajé operations to entities, and passes each to an [`EntitySink`] when
//! it has ended.
//!
//! The memory is that of open states, of containers, and of the data that the receiver keeps.
//! Pending endpoints of links go to a file if there are many.
//!
//! The format leaves some cases open. Each of them is decided here, counted, and reported in
//! [`crate::query::TraceSummary::diagnostics`]:
//!
//! - A timestamp before the last one of the same type in the same container: states and variables
//!   move to the last one; point events are sorted.
//! - A pop or reset without a state: a pop is counted and ends no state; a reset has no effect, as
//!   the format defines.
//! - A set with states on the stack: all of them end, and the new state starts at depth 0.
//! - More than 65,536 nested states: deeper ones are counted but not kept. Their pops are
//!   recognised.
//! - Add to or subtract from a variable that was never set: it starts from 0.
//! - A variable that leaves the finite numbers: the change is ignored.
//! - A variable that is set twice at one timestamp: the later value counts.
//! - The end of a link before its start: they are paired, and the timestamps are kept.
//! - A key that is used again: after its pair, a new link; before, pairs in order of arrival.
//! - Another value at the end of a link than at its start: the value of the start counts.
//! - A start of a link without an end: an open link, which lasts until the end of the trace.
//! - An end of a link without a start: not kept.
//! - An operation after the destruction of its container: in Pajé text it is kept, and the
//!   container lasts until then; in a run or with `--pj-dump` it is not kept.
//! - A container that is created in a destroyed one: it and its contents are not kept.
//! - A link that starts or ends at a destroyed container: kept, as in `pj_dump`.
//! - The destruction of a container: ends all states, variables and containers inside, but not
//!   before the last timestamp of any of them.
//! - An operation with a timestamp before the creation of its container: kept. The container then
//!   begins at that timestamp.
//! - A second creation or destruction of a container: the first counts.
//! - A type in a container of another type than declared: kept.
//! - Entities that are open at the end: they end at the largest timestamp.
//!
//! ```
//! use tumit_paje::read;
//! use tumit_viewer::sim::{EntityCounts, Simulation};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let text = format!("{header}{body}");
//! let mut simulation = Simulation::into_entities("example", EntityCounts::default());
//! read::read(text.as_bytes(), &mut simulation)?;
//! assert_eq!((simulation.entities().states, simulation.kinds_of_faults()), (1, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod checkpoint;
pub(crate) mod collector;
mod containers;
pub(crate) mod counter;
mod entity_sink;
mod entity_slot;
mod faults;
pub(crate) mod finish;
mod links;
mod outcome;
mod pending_links;
mod recent_stacks;
mod simulation;
mod slot_lookup;
mod states;
mod store_from_events;
#[cfg(test)]
mod tests;
mod variables;

use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{
    ContainerId, DrawStyle, ExtraField, FieldSet, KeyId, PajeEvent, PajeSink, PajeTypeKind, PlainEvent, PlainKind,
    RgbColor, TypeId, ValueId,
};

use crate::query::{ContainerInfo, RawValue, TimeRange, TimestampExtent, TypeInfo};
pub use checkpoint::CheckpointError;
pub use collector::EntityGatherer;
pub use counter::EntityCounts;
pub use entity_sink::{EndedLink, EndedState, EntityPlace, EntitySink, OpenLinkStart};
pub use faults::{Fault, SimFault};
use links::LinkOperation;
pub(crate) use outcome::SimOutcome;
use pending_links::PendingLinks;
pub use simulation::Simulation;

impl<E: EntitySink> Simulation<E> {
    /// Processes the next operation. Its errors are counted. With very many pending endpoints of
    /// links, some [`EntitySink`] use files. [`PajeSink::event`] also reports failures of these
    /// files.
    pub fn process(&mut self, event: &PajeEvent<'_>) {
        if let Some(time) = event.time() {
            self.advance_to(time.0);
        }
        if self.is_full() {
            return;
        }
        match *event {
            PajeEvent::DefineType { ty, kind, parent, name, color, style } => {
                self.define_type(ty, kind, parent, name, (color, style));
            }
            PajeEvent::DefineValue { value, ty, name, color, style, category } => {
                self.define_value(
                    value,
                    RawValue { ty, name: name.to_owned(), color, style, category, is_collective: false },
                );
            }
            PajeEvent::CreateContainer { time, container, ty, parent, name, extra } => {
                self.create(time, container, ty, parent, name, extra);
            }
            PajeEvent::DestroyContainer { time, container } => self.destroy(time.0, container),
            PajeEvent::SetState { time, container, ty, value, extra, source } => {
                if let Some(index) = self.stack_of_new_state(container, ty, value) {
                    let detail = self.state_detail(value, extra, source);
                    self.stacks[index].set(time.0, value, detail, &mut self.faults, &mut self.entities);
                }
            }
            PajeEvent::PushState { time, container, ty, value, extra, source } => {
                if let Some(index) = self.stack_of_new_state(container, ty, value) {
                    let detail = self.state_detail(value, extra, source);
                    self.stacks[index].push(time.0, value, detail, &mut self.faults, &mut self.entities);
                }
            }
            PajeEvent::PopState { time, container, ty } => {
                if let Some(index) = self.stack(container, ty, None) {
                    self.stacks[index].pop(time.0, &mut self.faults, &mut self.entities);
                }
            }
            PajeEvent::ResetState { time, container, ty } => {
                if let Some(index) = self.stack(container, ty, None) {
                    self.stacks[index].reset(time.0, &mut self.faults, &mut self.entities);
                }
            }
            PajeEvent::Variable { time, container, ty, op, value } => self.variable(time.0, container, ty, op, value),
            PajeEvent::NewEvent { time, container, ty, value, extra, source } => {
                if let Some(index) = self.mark_list(container, ty, value) {
                    let detail = self.detail(extra, source);
                    self.point_event(index, time, value, detail);
                }
            }
            PajeEvent::StartLink { time, container, ty, value, start, key, extra, source } => {
                let (starts, time, holder, end) = (true, time.0, container, start);
                self.link_endpoint(&LinkOperation { starts, time, holder, ty, value, end, key, extra, source });
            }
            PajeEvent::EndLink { time, container, ty, value, end, key, extra, source } => {
                let (starts, time, holder) = (false, time.0, container);
                self.link_endpoint(&LinkOperation { starts, time, holder, ty, value, end, key, extra, source });
            }
        }
    }

    /// As [`Self::process`], optimised for most operations.
    #[inline]
    fn process_plain(&mut self, event: PlainEvent) {
        let PlainEvent { kind, time, container, ty, value } = event;
        let value_of_state = match kind {
            PlainKind::SetState | PlainKind::PushState => Some(value),
            PlainKind::PopState => None,
            PlainKind::ResetState | PlainKind::NewEvent => return self.process(&event.event()),
        };
        self.advance_to(time.0);
        if self.is_full() {
            return;
        }
        let Some(index) = self.stack(container, ty, value_of_state) else { return };
        let (stack, faults, out) = (&mut self.stacks[index], &mut self.faults, &mut self.entities);
        match kind {
            PlainKind::SetState => stack.set(time.0, value, 0, faults, out),
            PlainKind::PushState => stack.push(time.0, value, 0, faults, out),
            _ => stack.pop(time.0, faults, out),
        }
    }

    /// The stack on which an operation begins a state.
    #[inline]
    fn stack_of_new_state(&mut self, container: ContainerId, ty: TypeId, value: ValueId) -> Option<usize> {
        let index = self.stack(container, ty, Some(value))?;
        if self.has_pj_dump_text {
            self.stacks[index].restart();
        }
        Some(index)
    }

    /// Adds a point event to the list at this index.
    #[inline]
    fn point_event(&mut self, index: usize, time: GlobalNanos, value: ValueId, detail: u32) {
        let marks = &mut self.marks[index];
        if marks.last > time.0 {
            self.faults.count(Fault::EventOrder);
        }
        if time.0 < marks.creation_time {
            self.faults.count(Fault::LateCreation);
        }
        marks.last = time.0;
        marks.extent = marks.extent.join(TimestampExtent::instant(time.0));
        self.entities.event(marks.place, time, value, detail);
    }

    fn create(
        &mut self,
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        parent: ContainerId,
        name: &str,
        extra: &[ExtraField<'_>],
    ) {
        if self.types.get(ty.index()).is_none_or(|info| info.kind != PajeTypeKind::Container) {
            return self.faults.count(Fault::UnknownType);
        }
        let detail = self.detail(extra, None);
        let life = TimeRange { from: time, to: time };
        let info = ContainerInfo { id: container, ty, parent, depth: 0, name: name.to_owned(), life };
        let parent_type = self.types[ty.index()].parent;
        self.containers.create(info, parent_type, detail, &mut self.faults, &mut self.entities);
    }

    fn define_type(
        &mut self,
        ty: TypeId,
        kind: PajeTypeKind,
        parent: TypeId,
        name: &str,
        (color, style): (Option<RgbColor>, DrawStyle),
    ) {
        let count = self.types.len();
        let is_container =
            |ty: TypeId| self.types.get(ty.index()).is_some_and(|info| info.kind == PajeTypeKind::Container);
        let has_valid_ends = match kind {
            PajeTypeKind::Link { start, end } => is_container(start) && is_container(end),
            _ => true,
        };
        if ty.index() != count || !is_container(parent) || !has_valid_ends {
            return self.faults.count(Fault::TypeDefinition);
        }
        self.types.push(TypeInfo { id: ty, kind, parent, name: name.to_owned(), color, style });
        self.entities.define_type(&self.types[count]);
    }

    /// A repeated definition of a value replaces its name and style, because files may declare
    /// values after their first use.
    fn define_value(&mut self, value: ValueId, raw_value: RawValue) {
        let ty = raw_value.ty;
        if ty.index() >= self.types.len() || value.index() > self.values.len() {
            return self.faults.count(Fault::ValueDefinition);
        }
        self.entities.define_value(value, &raw_value.name);
        match self.values.get_mut(value.index()) {
            Some(earlier) if earlier.ty == ty => {
                *earlier = RawValue { is_collective: earlier.is_collective, ..raw_value };
            }
            Some(_) => self.faults.count(Fault::ValueDefinition),
            None => {
                self.values.push(raw_value);
                self.value_types.push(ty);
            }
        }
    }
}

impl<E: EntitySink> PajeSink for Simulation<E> {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.process(event);
        self.links.check_storage()?;
        self.entities.flush()
    }

    #[inline]
    fn at_line(&mut self, line: u64) {
        self.faults.line = line;
    }

    fn name_part(&mut self, name: &str) {
        self.faults.parts.push(name.to_owned());
    }

    fn plain_event(&mut self, event: PlainEvent) -> io::Result<()> {
        self.process_plain(event);
        self.entities.flush()
    }

    fn announce(&mut self, shape: &FieldSet<'_>) -> io::Result<()> {
        self.entities.announce(shape);
        Ok(())
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        self.entities.name_key(key.0, text);
        Ok(())
    }

    fn can_restart(&self) -> bool {
        self.entities.can_restart()
    }

    fn restart(&mut self) -> io::Result<()> {
        self.entities.restart()?;
        let fresh = Simulation::into_entities(&self.name, EntityCounts::default());
        // Its name, the external diagnostics and the mode of `pj_dump` are kept.
        let Simulation { types, values, value_types, containers, stacks, recent, variables, marks, faults, .. } = fresh;
        (self.first, self.last, self.last_timestamp, self.entity_count) =
            (fresh.first, fresh.last, fresh.last_timestamp, fresh.entity_count);
        (self.types, self.values, self.value_types, self.containers) = (types, values, value_types, containers);
        (self.stacks, self.recent, self.variables, self.marks) = (stacks, recent, variables, marks);
        (self.links, self.faults) = (PendingLinks::new(self.entities.overflow()), faults);
        self.entities.define_type(&self.types[0]);
        self.entities.create(self.containers.root());
        Ok(())
    }

    fn keeps_open_links(&self) -> bool {
        self.entities.keeps_open_links()
    }

    fn settle_unpaired_endpoints(&mut self) -> io::Result<()> {
        self.entity_count -= self.links.settle_unpaired_endpoints(&mut self.entities, &self.value_types)?;
        self.entities.flush()
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.end(end);
        self.links.check_storage()?;
        self.entities.finish()
    }
}
