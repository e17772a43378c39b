//! [`Simulation`]: Pajé operations become entities (thesis P14–P39).
//!
//! Every case that the format leaves open is decided here, counted, and told in [`crate::query::Summary::remarks`]:
//!
//! | case | what happens |
//! |---|---|
//! | a date before the last one of the same type in the same container | states and variables: moved up to that one; point events: sorted |
//! | pop or reset of nothing | pop: counted, nothing ends; reset: nothing, as the format says |
//! | set with states on the stack | all of them end, the new one starts at depth 0 |
//! | more than 4,096 nested states | deeper ones are counted, not kept; their pops are recognised |
//! | add to or subtract from a variable never set | starts from 0 |
//! | a variable that leaves the finite numbers | the change is dropped |
//! | a variable set twice at one date | the later value counts |
//! | end of a link before its start | they are paired all the same, dates are kept |
//! | a key used again | after its pair: a new link; before: pairs in order of arrival |
//! | other value at the end of a link than at its start | the start's counts |
//! | half of a link without the other | not kept |
//! | anything in a destroyed container | not kept |
//! | destruction | closes all states, variables and containers inside, not before the last date there |
//! | a second creation or destruction of one container | the first counts |
//! | a type in a container of another type than declared | kept |
//! | what is open at the end | ends at the largest date |

mod containers;
mod faults;
mod links;
mod states;
#[cfg(test)]
mod tests;
mod variables;

use std::io;

use converter::paje::{Color, ContainerId, KeyId, PajeEvent, Sink, TypeId, TypeKind, ValueId, VariableOp};
use converter::time::GlobalNanos;

use crate::query::{ContainerInfo, Interval, TypeInfo};
use crate::store::{Details, Parts, RawMarks, RawValue, Store};
use containers::Containers;
use faults::{Fault, Faults};
use links::{Half, Links};
use states::Stack;
use variables::Variable;

/// A simulation under way; at its end, [`Simulation::into_store`].
#[derive(Debug)]
pub struct Simulation {
    name: String,
    types: Vec<TypeInfo>,
    values: Vec<RawValue>,
    containers: Containers,
    stacks: Vec<Stack>,
    variables: Vec<Variable>,
    marks: Vec<(ContainerId, TypeId, RawMarks)>,
    links: Links,
    details: Details,
    faults: Faults,
    first: i64,
    last: i64,
    /// States, events, links and samples so far: their numbers have 32 bits each.
    taken: u64,
    remarks: Vec<String>,
    /// Whether no fault was told from outside.
    intact: bool,
}

/// The state, variable or events of one type in one container: an index into the list of its kind.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Stack(u32),
    Variable(u32),
    Marks(u32),
}

impl Simulation {
    /// An empty one; `name` is the trace's, for titles.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let root = TypeInfo {
            id: TypeId::ROOT,
            kind: TypeKind::Container,
            parent: TypeId::ROOT,
            name: name.to_owned(),
            color: None,
        };
        Self {
            name: name.to_owned(),
            types: vec![root],
            values: Vec::new(),
            containers: Containers::new(name),
            stacks: Vec::new(),
            variables: Vec::new(),
            marks: Vec::new(),
            links: Links::default(),
            details: Details::default(),
            faults: Faults::default(),
            first: i64::MAX,
            last: i64::MIN,
            taken: 0,
            remarks: Vec::new(),
            intact: true,
        }
    }

    /// Adds sentences about what was wrong with the trace before it came here.
    pub fn fault(&mut self, faults: impl IntoIterator<Item = String>) {
        let before = self.remarks.len();
        self.remarks.extend(faults);
        self.intact &= self.remarks.len() == before;
    }

    /// Adds sentences that a user should know, though nothing is wrong.
    pub fn remark(&mut self, remarks: impl IntoIterator<Item = String>) {
        self.remarks.extend(remarks);
    }

    /// Takes the next operation. Cannot fail: what is wrong with it is counted.
    pub fn take(&mut self, event: &PajeEvent<'_>) {
        if let Some(time) = event.time() {
            self.first = self.first.min(time.0);
            self.last = self.last.max(time.0);
        }
        if self.taken >= u64::from(u32::MAX) {
            self.faults.count(Fault::TooMany);
            return;
        }
        match *event {
            PajeEvent::DefineType { ty, kind, parent, name, color } => self.define_type(ty, kind, parent, name, color),
            PajeEvent::DefineValue { value, ty, name, color } => self.define_value(value, ty, name, color),
            PajeEvent::CreateContainer { time, container, ty, parent, name, extra } => {
                if self.types.get(ty.index()).is_none_or(|info| info.kind != TypeKind::Container) {
                    return self.faults.count(Fault::UnknownType);
                }
                let detail = self.details.add(extra, None);
                let info = ContainerInfo {
                    id: container,
                    ty,
                    parent,
                    depth: 0,
                    name: name.to_owned(),
                    life: Interval { from: time, to: time },
                };
                let parent_type = self.types[ty.index()].parent;
                self.containers.create(info, parent_type, detail, &mut self.faults);
            }
            PajeEvent::DestroyContainer { time, container } => self.destroy(time.0, container),
            PajeEvent::SetState { time, container, ty, value, extra, source } => {
                if let Some(at) = self.stack(container, ty, Some(value)) {
                    let detail = self.details.add(extra, source);
                    self.stacks[at].set(time.0, value, detail, &mut self.faults);
                }
            }
            PajeEvent::PushState { time, container, ty, value, extra, source } => {
                if let Some(at) = self.stack(container, ty, Some(value)) {
                    let detail = self.details.add(extra, source);
                    self.stacks[at].push(time.0, value, detail, &mut self.faults);
                }
            }
            PajeEvent::PopState { time, container, ty } => {
                if let Some(at) = self.stack(container, ty, None) {
                    self.stacks[at].pop(time.0, &mut self.faults);
                }
            }
            PajeEvent::ResetState { time, container, ty } => {
                if let Some(at) = self.stack(container, ty, None) {
                    self.stacks[at].reset(time.0, &mut self.faults);
                }
            }
            PajeEvent::Variable { time, container, ty, op, value } => self.variable(time.0, container, ty, op, value),
            PajeEvent::NewEvent { time, container, ty, value, extra, source } => {
                if let Some(at) = self.mark_list(container, ty, value) {
                    let detail = self.details.add(extra, source);
                    let marks = &mut self.marks[at].2;
                    if marks.dates.last().is_some_and(|&last| last > time.0) {
                        self.faults.count(Fault::EventOrder);
                    }
                    marks.push(time.0, value, detail);
                }
            }
            PajeEvent::StartLink { time, container, ty, value, start, key, extra, source } => {
                if self.can_link(container, ty, value, start) {
                    let detail = self.details.add(extra, source);
                    let half = Half { starts: true, time: time.0, value, container: start, detail };
                    self.links.take(container, ty, key, half, &mut self.details, &mut self.faults);
                }
            }
            PajeEvent::EndLink { time, container, ty, value, end, key, extra, source } => {
                if self.can_link(container, ty, value, end) {
                    let detail = self.details.add(extra, source);
                    let half = Half { starts: false, time: time.0, value, container: end, detail };
                    self.links.take(container, ty, key, half, &mut self.details, &mut self.faults);
                }
            }
        }
    }

    fn define_type(&mut self, ty: TypeId, kind: TypeKind, parent: TypeId, name: &str, color: Option<Color>) {
        let count = self.types.len();
        let known = |ty: TypeId| self.types.get(ty.index()).is_some_and(|info| info.kind == TypeKind::Container);
        let ends_known = match kind {
            TypeKind::Link { start, end } => known(start) && known(end),
            _ => true,
        };
        if ty.index() != count || !known(parent) || !ends_known {
            return self.faults.count(Fault::TypeDefinition);
        }
        self.types.push(TypeInfo { id: ty, kind, parent, name: name.to_owned(), color });
    }

    /// A value that comes again gets its new name and colour: files may declare values after their first use.
    fn define_value(&mut self, value: ValueId, ty: TypeId, name: &str, color: Option<Color>) {
        if ty.index() >= self.types.len() || value.index() > self.values.len() {
            return self.faults.count(Fault::ValueDefinition);
        }
        let defined = RawValue { ty, name: name.to_owned(), color };
        match self.values.get_mut(value.index()) {
            Some(earlier) if earlier.ty == ty => *earlier = defined,
            Some(_) => self.faults.count(Fault::ValueDefinition),
            None => self.values.push(defined),
        }
    }

    /// The slot of a type in a container that can take events; else `None`, counted.
    fn slot(&mut self, container: ContainerId, ty: TypeId, new: Slot) -> Option<Slot> {
        if !self.containers.is_alive(container) {
            self.faults.count(Fault::DeadContainer);
            return None;
        }
        let slots = self.containers.slots(container);
        if let Some(&(_, slot)) = slots.iter().find(|(of, _)| *of == ty) {
            return Some(slot);
        }
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
        self.containers.slots_mut(container).push((ty, new));
        match new {
            Slot::Stack(_) => self.stacks.push(Stack::new(container, ty)),
            Slot::Variable(_) => self.variables.push(Variable::new(container, ty)),
            Slot::Marks(_) => self.marks.push((container, ty, RawMarks::default())),
        }
        Some(new)
    }

    fn has_value(&mut self, ty: TypeId, value: ValueId) -> bool {
        let known = self.values.get(value.index()).is_some_and(|info| info.ty == ty);
        if !known {
            self.faults.count(Fault::UnknownValue);
        }
        known
    }

    fn stack(&mut self, container: ContainerId, ty: TypeId, value: Option<ValueId>) -> Option<usize> {
        if value.is_some_and(|value| !self.has_value(ty, value)) {
            return None;
        }
        self.taken += u64::from(value.is_some());
        match self.slot(container, ty, Slot::Stack(self.stacks.len() as u32))? {
            Slot::Stack(at) => Some(at as usize),
            _ => self.wrong_kind(),
        }
    }

    fn mark_list(&mut self, container: ContainerId, ty: TypeId, value: ValueId) -> Option<usize> {
        if !self.has_value(ty, value) {
            return None;
        }
        self.taken += 1;
        match self.slot(container, ty, Slot::Marks(self.marks.len() as u32))? {
            Slot::Marks(at) => Some(at as usize),
            _ => self.wrong_kind(),
        }
    }

    fn variable(&mut self, time: i64, container: ContainerId, ty: TypeId, op: VariableOp, value: f64) {
        self.taken += 1;
        match self.slot(container, ty, Slot::Variable(self.variables.len() as u32)) {
            Some(Slot::Variable(at)) => self.variables[at as usize].change(time, op, value, &mut self.faults),
            Some(_) => _ = self.wrong_kind(),
            None => {}
        }
    }

    fn wrong_kind(&mut self) -> Option<usize> {
        self.faults.count(Fault::UnknownType);
        None
    }

    fn can_link(&mut self, holder: ContainerId, ty: TypeId, value: ValueId, end: ContainerId) -> bool {
        self.taken += 1;
        let is_link = self.types.get(ty.index()).is_some_and(|info| matches!(info.kind, TypeKind::Link { .. }));
        if !is_link {
            self.faults.count(Fault::UnknownType);
        } else if !self.containers.is_alive(holder) || !self.containers.is_known(end) {
            self.faults.count(Fault::DeadContainer);
        } else {
            return self.has_value(ty, value);
        }
        false
    }

    fn destroy(&mut self, time: i64, container: ContainerId) {
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
        for &(_, slot) in self.containers.slots(container) {
            match slot {
                Slot::Stack(stack) => self.stacks[stack as usize].close(end),
                Slot::Variable(variable) => self.variables[variable as usize].end = Some(end),
                Slot::Marks(_) => {}
            }
        }
        self.containers.end(container, end);
    }

    /// Ends the trace: everything that is open ends at `end`, or at the largest date if that is later.
    pub fn end(&mut self, end: GlobalNanos) {
        if self.first > self.last {
            (self.first, self.last) = (end.0.min(0), end.0);
        }
        self.last = self.last.max(end.0);
        let last = self.last;
        self.containers.begin(ContainerId::ROOT, self.first);
        for container in self.containers.alive() {
            self.close(last, container);
        }
        self.faults.count_many(Fault::IncompleteLink, self.links.pending());
    }

    /// Seals everything. Call [`Self::end`] (or [`Sink::finish`]) first.
    #[must_use]
    pub fn into_store(self) -> Store {
        let mut remarks = self.remarks;
        let told = remarks.len();
        remarks.extend(self.faults.sentences());
        let intact = self.intact && remarks.len() == told;
        let (containers, container_details) = self.containers.into_parts();
        Parts {
            name: self.name,
            types: self.types,
            values: self.values,
            containers,
            container_details,
            states: self.stacks.into_iter().map(Stack::into_raw).collect(),
            marks: self.marks,
            variables: self.variables.into_iter().map(|variable| variable.into_raw(self.last)).collect(),
            links: self.links.into_raw(),
            details: self.details,
            extent: if self.first > self.last { (0, 0) } else { (self.first, self.last) },
            remarks,
            intact,
        }
        .seal()
    }
}

impl Sink for Simulation {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.take(event);
        Ok(())
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        self.details.name_key(key.0, text);
        Ok(())
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.end(end);
        Ok(())
    }
}
