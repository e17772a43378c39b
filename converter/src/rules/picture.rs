//! The second pass: runs the programs and sends Pajé operations, in order of date.

mod containers;
mod found;
mod gaps;

use std::io;

use smallvec::SmallVec;

use super::compile::{Arrow, End, LinkValue, Op, Target, ValueCode};
use super::eval::{Code, Scope};
use super::instances::Instances;
use super::links::Waiting;
use super::model::Model;
use super::survey::{ArrowPlace, OtherEnd, Survey, link_key};
use super::value::{KeyPart, Symbols, Val};
use crate::paje::{ContainerId, Extra, ExtraValue, KeyId, PajeEvent, Sink, Source, TypeId, ValueId};
use crate::report::Counts;
use crate::time::GlobalNanos;
use found::Found;
use gaps::Gaps;

/// The picture being made.
pub(crate) struct Picture<'p> {
    model: &'p Model,
    survey: &'p mut Survey,
    symbols: &'p mut Symbols,
    sink: &'p mut dyn Sink,
    instances: Instances,
    waiting: Waiting<Started>,
    next_key: u64,
    now: GlobalNanos,
    scratch: String,
    gaps: Gaps,
    found: Found,
    pub(crate) counts: Counts,
}

/// A link with one end.
#[derive(Clone, Copy, Debug)]
struct Started {
    key: KeyId,
    value: ValueId,
    time: GlobalNanos,
}

type Given<'a> = SmallVec<[(&'a str, Val); 8]>;
type Related<'a> = SmallVec<[(&'a str, ContainerId); 2]>;

impl<'p> Picture<'p> {
    /// Sends the definitions and creates the containers of which there is exactly one. `has_gaps` says that records are
    /// missing: then values for what nobody knows are defined, too.
    pub(crate) fn begin(
        model: &'p Model,
        survey: &'p mut Survey,
        symbols: &'p mut Symbols,
        sink: &'p mut dyn Sink,
        has_gaps: bool,
    ) -> io::Result<Self> {
        let events = model.define(sink)?;
        let mut picture = Self {
            model,
            survey,
            symbols,
            sink,
            instances: Instances::default(),
            waiting: Waiting::default(),
            next_key: 0,
            now: GlobalNanos(0),
            scratch: String::new(),
            gaps: Gaps::default(),
            found: Found::default(),
            counts: Counts { paje_events: events, ..Counts::default() },
        };
        if has_gaps {
            for ty in model.containers.iter().flat_map(|container| &container.states) {
                picture.unknown_value(*ty)?;
            }
        }
        for (container, kind) in model.containers.iter().enumerate() {
            if kind.single {
                picture.single(container)?;
            }
        }
        Ok(picture)
    }

    /// Runs the arrows of a record that have this date: those without a date of their own, or the one given.
    pub(crate) fn record(
        &mut self,
        scope: &Scope<'_>,
        only: Option<u16>,
        now: i64,
        place: (u32, u64),
    ) -> io::Result<()> {
        self.now = GlobalNanos(now);
        let program = scope.program;
        for (number, arrow) in program.arrows.iter().enumerate() {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            if only.map_or(arrow.at.is_some(), |only| only != number) {
                continue;
            }
            self.scratch.clear();
            if arrow.when.as_ref().is_some_and(|when| !scope.holds(when, &mut self.scratch, self.symbols)) {
                continue;
            }
            self.arrow(scope, arrow, (place.0, place.1, number))?;
        }
        Ok(())
    }

    /// Ends what is open, children first, at `end`.
    pub(crate) fn finish(mut self, end: i64) -> io::Result<Counts> {
        self.now = GlobalNanos(end);
        for top in self.instances.tops().into_iter().rev() {
            self.destroy(top)?;
        }
        self.sink.finish(self.now)?;
        Ok(self.counts)
    }

    fn emit(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.counts.paje_events += 1;
        self.sink.event(event)
    }

    fn arrow(&mut self, scope: &Scope<'_>, arrow: &Arrow, place: ArrowPlace) -> io::Result<()> {
        if let Some(on) = arrow.op.target().filter(|on| on.existing)
            && self.existing(scope, on).is_none()
        {
            self.counts.without_container += 1;
            return Ok(());
        }
        match &arrow.op {
            Op::Create { on } => {
                let (_, related) = self.fields(scope, arrow)?;
                self.locate_related(scope, on, &related).map(|_| ())
            }
            Op::Destroy { on } => {
                if let Some(instance) = self.existing(scope, on) {
                    self.destroy(instance)?;
                }
                Ok(())
            }
            Op::SetState { slot, ty, value, on } => {
                let instance = self.locate(scope, on)?;
                let Some(value) = self.value(scope, *ty, value) else { return Ok(()) };
                self.replace(instance, *slot, *ty, value)?;
                self.gaps.is_certain(&mut self.instances, (instance, *slot), place.0);
                self.state(scope, arrow, instance, *ty, value, true)
            }
            Op::PushState { slot, ty, value, on } => {
                let instance = self.locate(scope, on)?;
                let Some(value) = self.value(scope, *ty, value) else { return Ok(()) };
                self.gaps.changes(&mut self.instances, (instance, *slot), place.0);
                self.instances.get_mut(instance).stacks[*slot].values.push(value);
                self.state(scope, arrow, instance, *ty, value, false)
            }
            Op::PopState { slot, ty, value, on } => self.pop_to(scope, (*slot, *ty), value.as_ref(), on, place.0),
            Op::ResetState { slot, ty, on } => {
                let Some(instance) = self.existing(scope, on) else { return Ok(()) };
                while !self.instances.get(instance).stacks[*slot].values.is_empty() {
                    self.pop(instance, *slot, *ty)?;
                }
                self.gaps.is_certain(&mut self.instances, (instance, *slot), place.0);
                Ok(())
            }
            Op::Variable { op, ty, value, on } => {
                let instance = self.locate(scope, on)?;
                // Pajé has no text for infinities and what is no number.
                let number = scope.shown().eval(value, &mut self.scratch, self.symbols).number();
                let Some(value) = number.filter(|value| value.is_finite()) else {
                    self.counts.not_computable += 1;
                    return Ok(());
                };
                let container = self.instances.get(instance).id;
                self.emit(&PajeEvent::Variable { time: self.now, container, ty: *ty, op: *op, value })
            }
            Op::Mark { ty, value, on } => {
                let instance = self.locate(scope, on)?;
                let Some(value) = self.value(scope, *ty, value) else { return Ok(()) };
                self.mark(scope, arrow, instance, *ty, value)
            }
            Op::Link { end, link, value, key, on } => {
                let other = self.survey.other_end(place)?;
                if other == OtherEnd::Missing {
                    return Ok(());
                }
                self.link(scope, arrow, (*end, *link), value.as_ref(), key, on, other)
            }
            Op::Line { .. } | Op::Nothing => Ok(()),
        }
    }

    fn state(
        &mut self,
        scope: &Scope<'_>,
        arrow: &Arrow,
        instance: usize,
        ty: TypeId,
        value: ValueId,
        set: bool,
    ) -> io::Result<()> {
        let make = |time, container, extra, source| match set {
            true => PajeEvent::SetState { time, container, ty, value, extra, source },
            false => PajeEvent::PushState { time, container, ty, value, extra, source },
        };
        if arrow.with.is_empty() && arrow.related.is_empty() {
            self.counts.paje_events += 1;
            let container = self.instances.get(instance).id;
            return self.sink.event(&make(self.now, container, &[], source(scope, self.symbols)));
        }
        let (given, related) = self.fields(scope, arrow)?;
        let (time, container) = (self.now, self.instances.get(instance).id);
        self.counts.paje_events += 1;
        let extra = extras(&given, &related, &mut self.scratch, self.symbols);
        self.sink.event(&make(time, container, &extra[..], source(scope, self.symbols)))
    }

    fn mark(
        &mut self,
        scope: &Scope<'_>,
        arrow: &Arrow,
        instance: usize,
        ty: TypeId,
        value: ValueId,
    ) -> io::Result<()> {
        let (given, related) = self.fields(scope, arrow)?;
        let (time, container) = (self.now, self.instances.get(instance).id);
        self.counts.paje_events += 1;
        let extra = extras(&given, &related, &mut self.scratch, self.symbols);
        let source = source(scope, self.symbols);
        self.sink.event(&PajeEvent::NewEvent { time, container, ty, value, extra: &extra[..], source })
    }

    fn pop_to(
        &mut self,
        scope: &Scope<'_>,
        (slot, ty): (usize, TypeId),
        value: Option<&ValueCode>,
        on: &Target,
        stream: u32,
    ) -> io::Result<()> {
        let Some(instance) = self.existing(scope, on) else {
            // Its container may have been made by a record that is lost.
            self.counts.pops_of_nothing += u64::from(!self.gaps.has(stream));
            return Ok(());
        };
        let wanted = match value {
            Some(value) => self.value(scope, ty, value).map(Some),
            None => Some(None),
        };
        let stack = &self.instances.get(instance).stacks[slot];
        let known = &stack.values[stack.floor()..];
        let keep = match wanted {
            Some(None) => known.len().checked_sub(1),
            Some(Some(wanted)) => known.iter().rposition(|open| *open == wanted),
            None => None,
        };
        let Some(keep) = keep.map(|keep| keep + stack.floor()) else {
            // It may end what lost records began: then what is below is not known either.
            if wanted.is_some() && self.gaps.may_hide(stack, stream) {
                return self.forget(instance, slot, ty);
            }
            self.counts.pops_of_nothing += 1;
            return Ok(());
        };
        self.gaps.changes(&mut self.instances, (instance, slot), stream);
        while self.instances.get(instance).stacks[slot].values.len() > keep {
            self.pop(instance, slot, ty)?;
        }
        Ok(())
    }

    fn pop(&mut self, instance: usize, slot: usize, ty: TypeId) -> io::Result<()> {
        let instance = self.instances.get_mut(instance);
        let stack = &mut instance.stacks[slot];
        stack.values.pop();
        stack.is_unknown &= !stack.values.is_empty();
        let container = instance.id;
        self.emit(&PajeEvent::PopState { time: self.now, container, ty })
    }

    /// Makes a value the only one of a stack. Readers differ in what a new state does to those below the top, so these are
    /// popped before.
    fn replace(&mut self, instance: usize, slot: usize, ty: TypeId, value: ValueId) -> io::Result<()> {
        while self.instances.get(instance).stacks[slot].values.len() > 1 {
            self.pop(instance, slot, ty)?;
        }
        let stack = &mut self.instances.get_mut(instance).stacks[slot];
        stack.values.clear();
        stack.values.push(value);
        stack.is_unknown = false;
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one verb")]
    fn link(
        &mut self,
        scope: &Scope<'_>,
        arrow: &Arrow,
        (end, link): (End, usize),
        value: Option<&LinkValue>,
        key: &[Code],
        on: &Target,
        other: OtherEnd,
    ) -> io::Result<()> {
        let instance = self.locate(scope, on)?;
        let model = self.model;
        let here = on.container();
        let variant = match (&model.links[link].variants[..], other) {
            ([_], _) => Some(0),
            (_, OtherEnd::In(other)) if end == End::Start => model.variant(link, here, other),
            (_, OtherEnd::In(other)) => model.variant(link, other, here),
            _ => None,
        };
        let Some(variant) = variant.map(|variant| &model.links[link].variants[variant]) else { return Ok(()) };
        let Some(holder) = self.ancestor(instance, model.links[link].holder) else { return Ok(()) };
        let mut link_key = link_key(scope, link, key, on, model, &mut self.scratch, self.symbols);
        link_key.1.push(KeyPart::Int(variant.ty.0.into()));
        let ty = variant.ty;
        let started = if let Some(started) = self.waiting.take(&link_key, end) {
            self.instances.get_mut(holder).open_links -= 1;
            // Dates do not decrease: what waits is the earlier end.
            self.counts.reversed_links += u64::from(end == End::Start && started.time < self.now);
            started
        } else {
            let value = match value {
                Some(LinkValue::Declared(number)) => variant.values.get(*number).copied(),
                Some(LinkValue::Computed(code)) => {
                    let name = scope.key(code, &mut self.scratch, self.symbols);
                    model.value(ty, name)
                }
                None => None,
            };
            let Some(value) = value.or(variant.values.last().copied()) else { return Ok(()) };
            let started = Started { key: KeyId(self.next_key), value, time: self.now };
            self.next_key += 1;
            self.waiting.wait(link_key, end, started);
            self.instances.get_mut(holder).open_links += 1;
            started
        };
        let (given, related) = self.fields(scope, arrow)?;
        let (time, container, at) = (self.now, self.instances.get(holder).id, self.instances.get(instance).id);
        self.counts.paje_events += 1;
        {
            let extra = extras(&given, &related, &mut self.scratch, self.symbols);
            let (extra, source) = (&extra[..], source(scope, self.symbols));
            let Started { key, value, .. } = started;
            self.sink.event(&match end {
                End::Start => PajeEvent::StartLink { time, container, ty, value, start: at, key, extra, source },
                End::Finish => PajeEvent::EndLink { time, container, ty, value, end: at, key, extra, source },
            })?;
        }
        let held = self.instances.get(holder);
        if held.doomed && held.open_links == 0 { self.destroy(holder) } else { Ok(()) }
    }
}

impl Picture<'_> {
    /// The value of a state or event; `None` when it cannot be computed.
    fn value(&mut self, scope: &Scope<'_>, ty: TypeId, value: &ValueCode) -> Option<ValueId> {
        match value {
            ValueCode::Declared(value) => Some(*value),
            ValueCode::Computed(code) => {
                let name = scope.key(code, &mut self.scratch, self.symbols);
                if name == KeyPart::None {
                    self.counts.not_computable += 1;
                    return None;
                }
                self.found.value(self.model, ty, name)
            }
        }
    }

    /// Evaluates an arrow's fields and finds its related containers.
    fn fields<'a>(&mut self, scope: &Scope<'_>, arrow: &'a Arrow) -> io::Result<(Given<'a>, Related<'a>)> {
        let mut related = Related::new();
        for (how, whom) in &arrow.related {
            let instance = self.locate(scope, whom)?;
            related.push((how, self.instances.get(instance).id));
        }
        let mut given = Given::new();
        for (name, code) in &arrow.with {
            given.push((name, scope.shown().eval(code, &mut self.scratch, self.symbols)));
        }
        Ok((given, related))
    }
}

/// Fields as the sink takes them: those given, then related containers. Values that are no numbers become text.
fn extras<'a>(
    given: &[(&'a str, Val)],
    related: &[(&'a str, ContainerId)],
    scratch: &'a mut String,
    symbols: &'a Symbols,
) -> SmallVec<[Extra<'a>; 8]> {
    // Text first, as it grows the scratch text from which the fields then borrow.
    let given: SmallVec<[(&str, Val); 8]> =
        given.iter().map(|(name, val)| (*name, val.in_scratch(scratch, symbols))).collect();
    let scratch: &'a String = scratch;
    let mut extras: SmallVec<[Extra<'_>; 8]> = SmallVec::new();
    for (name, val) in given {
        let value = match val {
            Val::Int(value) => ExtraValue::Integer(value),
            Val::Float(value) => ExtraValue::Float(value),
            val => ExtraValue::Text(val.text(scratch, symbols).unwrap_or("?")),
        };
        extras.push(Extra { name, value });
    }
    extras.extend(related.iter().map(|(name, id)| Extra { name, value: ExtraValue::Container(*id) }));
    extras
}

fn source<'a>(scope: &Scope<'_>, symbols: &'a Symbols) -> Option<Source<'a>> {
    scope.source().map(|(file, line)| Source { file: symbols.text(file), line })
}
