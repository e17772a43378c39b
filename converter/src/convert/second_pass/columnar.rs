//! Performs operations that were evaluated by columns. Only their containers remain to be found.
//! Nearly all of these are cached.

use std::io;

use smallvec::SmallVec;

use super::Emitter;
use super::entities::{EntityExtras, EntityHead, InstanceValue};
use super::links::{EndpointPosition, LinkValueRef};
use crate::convert::columnar::ops::OpTemplate;
use crate::convert::columnar::ops::PendingOp;
use crate::convert::first_pass::notes::ActionPosition;
use crate::convert::first_pass::survey::EndpointState;
use crate::rules::eval::RecordScope;
use crate::rules::program::{
    ActionOp, ColumnarAction, ColumnarValue, ContainerTarget, ExprCode, LinkValue, OperationPart, ProgramAction,
    RecordProgram, ValueCode,
};
use crate::rules::stacks::{StackId, StateStack};
use crate::rules::value::RuleValue;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, PlainEvent, PlainKind, TypeId, ValueId, VariableOp};

/// The common data of operations, by act number.
#[derive(Debug, Default)]
pub(crate) struct TemplateTable<'p> {
    /// The data that each operation needs. Small, so that the entries of all streams fit into the
    /// cache.
    known: Vec<TemplateHead>,
    whole: Vec<TemplateBody<'p>>,
}

/// The data that each operation needs.
#[derive(Clone, Copy, Debug)]
struct TemplateHead {
    what: TemplateOp,
    value: ValueSource,
    /// The container or stack that was found last: its number, and the id of the container.
    at: u32,
    container: ContainerId,
    /// The Pajé type of the action.
    ty: TypeId,
    declared: ValueId,
}

/// The data that few operations need.
#[derive(Debug)]
struct TemplateBody<'p> {
    program: &'p RecordProgram,
    arrow: &'p ProgramAction,
    ready: &'p ColumnarAction,
    act: OpTemplate,
}

/// The effect of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TemplateOp {
    /// None, because the act is unknown.
    Nothing,
    Push,
    /// Ends the innermost state.
    Pop,
    /// Ends the states down to the innermost one with this value, and that one.
    PopTo,
    Set,
    Reset,
    Mark,
    Variable(VariableOp),
    /// Creates the container, if it does not exist.
    Create,
    Destroy,
}

/// The source of the value of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueSource {
    /// The action itself declares the value.
    Declared,
    /// The operation contains the number of the value.
    Number,
    /// The operation contains the number of the text that names the value (single pass only).
    Text,
    /// The value has another name (single pass only).
    Name,
}

impl TemplateOp {
    /// Whether the operation changes a stack.
    const fn is_of_stack(self) -> bool {
        matches!(self, Self::Push | Self::Pop | Self::PopTo | Self::Set | Self::Reset)
    }
}

impl TemplateHead {
    const NOTHING: Self = Self {
        what: TemplateOp::Nothing,
        value: ValueSource::Declared,
        at: NOWHERE,
        container: ContainerId::ROOT,
        ty: TypeId::ROOT,
        declared: ValueId(0),
    };

    fn new(op: &ActionOp, ready: &ColumnarAction, is_once: bool) -> Self {
        let (what, ty, code) = match op {
            ActionOp::SetState { ty, value, .. } => (TemplateOp::Set, *ty, Some(value)),
            ActionOp::PushState { ty, value, .. } => (TemplateOp::Push, *ty, Some(value)),
            ActionOp::PopState { ty, value: None, .. } => (TemplateOp::Pop, *ty, None),
            ActionOp::PopState { ty, value, .. } => (TemplateOp::PopTo, *ty, value.as_ref()),
            ActionOp::ResetState { ty, .. } => (TemplateOp::Reset, *ty, None),
            ActionOp::Variable { op, ty, .. } => (TemplateOp::Variable(*op), *ty, None),
            ActionOp::Mark { ty, value, .. } => (TemplateOp::Mark, *ty, Some(value)),
            ActionOp::Destroy { .. } => (TemplateOp::Destroy, TypeId::ROOT, None),
            ActionOp::Create { .. } | ActionOp::Link { .. } | ActionOp::Nothing | ActionOp::Line { .. } => {
                (TemplateOp::Create, TypeId::ROOT, None)
            }
        };
        let (value, declared) = match (code, &ready.value) {
            (Some(ValueCode::Declared(value)), _) => (ValueSource::Declared, *value),
            (_, ColumnarValue::Named(_, OperationPart::Cell(cell))) if is_once && cell.is_name() => {
                (ValueSource::Text, ValueId(0))
            }
            (_, ColumnarValue::Named(..)) if is_once => (ValueSource::Name, ValueId(0)),
            _ => (ValueSource::Number, ValueId(0)),
        };
        Self { what, value, ty, declared, ..Self::NOTHING }
    }
}

/// No instance has this number.
const NOWHERE: u32 = u32::MAX;

impl<'p> Emitter<'p> {
    /// Sets the act of operations with this number, from now on.
    pub(crate) fn know(&mut self, number: u32, act: OpTemplate) {
        let plan = self.plan;
        let Some(program) = plan.programs.get(act.program as usize) else { return };
        let Some(ready) = program.ready.as_ref().and_then(|ready| ready.get(usize::from(act.ready))) else { return };
        let Some(arrow) = program.arrows.get(usize::from(ready.arrow)) else { return };
        let known = TemplateHead::new(&arrow.op, ready, self.once.is_some());
        let (TemplateTable { known: all, whole }, number) = (&mut self.acts, number as usize);
        if all.len() <= number {
            all.resize(number + 1, TemplateHead::NOTHING);
            whole.resize_with(number + 1, || TemplateBody { program, arrow, ready, act: OpTemplate::none() });
        }
        (all[number], whole[number]) = (known, TemplateBody { program, arrow, ready, act });
    }

    /// Performs an operation that is not wide.
    #[inline(always)]
    pub(crate) fn perform_short(&mut self, turn: PendingOp) -> io::Result<()> {
        if turn.date > self.ends.next {
            self.end_before(turn.date)?;
        }
        self.now = GlobalNanos(turn.date);
        let Some(&known) = self.acts.known.get(turn.act as usize) else { return Ok(()) };
        if !known.what.is_of_stack() {
            return self.ready_beside(turn, &known);
        }
        let value = match known.value {
            ValueSource::Declared => known.declared,
            _ => self.value_said(&known, turn)?,
        };
        let at = StackId(known.at);
        let at = match self.instances.stacks.is_of(at, known.container) {
            true => at,
            false => match self.find_stack(turn)? {
                Some(at) => at,
                None => return Ok(()),
            },
        };
        match known.what {
            TemplateOp::Push => {
                self.push(at, value, turn.stream);
                self.bare_state(PlainKind::PushState, at, value)
            }
            TemplateOp::Pop => self.pop_to(at, Some(None), turn.stream),
            TemplateOp::Set => {
                self.set(at, value, turn.stream)?;
                self.bare_state(PlainKind::SetState, at, value)
            }
            TemplateOp::PopTo => self.pop_to(at, Some(Some(value)), turn.stream),
            _ => self.reset(at, turn.stream),
        }
    }

    /// Performs an operation that changes no stack itself.
    fn ready_beside(&mut self, turn: PendingOp, known: &TemplateHead) -> io::Result<()> {
        if known.what == TemplateOp::Nothing {
            return Ok(());
        }
        let value = self.value_said(known, turn)?;
        let Some(instance) = self.instance_of(known, turn)? else { return Ok(()) };
        match known.what {
            TemplateOp::Mark => self.bare_event(instance, known.ty, value),
            TemplateOp::Variable(op) => {
                let TemplateBody { program, arrow, .. } = self.acts.whole[turn.act as usize];
                let ActionOp::Variable { value, .. } = &arrow.op else { return Ok(()) };
                self.variable(instance, known.ty, op, Some(f64::from_bits(turn.bits)), program, value)
            }
            TemplateOp::Destroy => self.destroy(instance),
            _ => Ok(()),
        }
    }

    /// The value of an operation. A pop of an unknown value gets an invalid value, because it need
    /// not exist.
    #[inline]
    fn value_said(&mut self, known: &TemplateHead, turn: PendingOp) -> io::Result<ValueId> {
        match known.value {
            ValueSource::Declared => Ok(known.declared),
            ValueSource::Number => Ok(number_said(turn.bits)),
            ValueSource::Text => match self.known.of_text(known.ty, number_said(turn.bits).0) {
                Some(value) => Ok(value),
                None => self.value_named(turn.act, turn.stream, turn.bits),
            },
            ValueSource::Name => self.value_named(turn.act, turn.stream, turn.bits),
        }
    }

    /// The value that an operation names with this word. In a single pass it may be new.
    fn value_named(&mut self, act: u32, stream: u32, word: u64) -> io::Result<ValueId> {
        let TemplateBody { program, arrow, ready, .. } = self.acts.whole[act as usize];
        let ColumnarValue::Named(ty, part) = &ready.value else { return Ok(number_said(word)) };
        let plan = self.plan;
        let scope = || plan.scope(stream as usize, program, 0, (0, 0), &[]);
        let is_met = !matches!(arrow.op, ActionOp::PopState { .. });
        Ok(self.value_by_word((*ty, part), is_met, scope, word)?.unwrap_or(ValueId(u32::MAX)))
    }

    /// The stack of an operation. `None` if there is no container and the operation does not create
    /// it. Nothing remains to be done then.
    #[cold]
    fn find_stack(&mut self, turn: PendingOp) -> io::Result<Option<StackId>> {
        let Some(instance) = self.find(turn)? else { return Ok(None) };
        let Some(slot) = slot(&self.acts.whole[turn.act as usize].arrow.op) else { return Ok(None) };
        let at = self.instances.stack(instance, slot);
        self.acts.known[turn.act as usize].at = at.0;
        Ok(Some(at))
    }

    /// The container of an operation. `None` as for [`Self::find_stack`].
    #[inline]
    fn instance_of(&mut self, known: &TemplateHead, turn: PendingOp) -> io::Result<Option<usize>> {
        match self.instances.is_living(known.at as usize, known.container) {
            true => Ok(Some(known.at as usize)),
            false => self.find(turn),
        }
    }

    /// Sends a state without fields and source position.
    #[inline]
    fn bare_state(&mut self, kind: PlainKind, at: StackId, value: ValueId) -> io::Result<()> {
        let StateStack { container, ty, .. } = self.instances.stacks[at];
        self.counts.paje_events += 1;
        self.sink.plain_event(PlainEvent { kind, time: self.now, container, ty, value })
    }

    /// Sends a point event without fields and source position.
    fn bare_event(&mut self, instance: usize, ty: TypeId, value: ValueId) -> io::Result<()> {
        let (kind, time, container) = (PlainKind::NewEvent, self.now, self.instances.get(instance).id);
        self.counts.paje_events += 1;
        self.sink.plain_event(PlainEvent { kind, time, container, ty, value })
    }

    /// The container of an operation, which may be created. `None` as for [`Self::find_stack`].
    #[cold]
    fn find(&mut self, turn: PendingOp) -> io::Result<Option<usize>> {
        let number = turn.act as usize;
        let TemplateBody { program, arrow, ref mut act, .. } = self.acts.whole[number];
        let Some(on) = arrow.op.container() else { return Ok(None) };
        let body = std::mem::take(&mut act.body);
        let plan = self.plan;
        let scope = plan.scope(turn.stream as usize, program, 0, (0, 0), &body);
        self.scratch.clear();
        let instance = self.find_in(&scope, on, &arrow.op)?;
        self.acts.whole[number].act.body = body;
        if let Some(instance) = instance {
            let known = &mut self.acts.known[number];
            known.at = u32::try_from(instance).unwrap_or(NOWHERE);
            known.container = self.instances.get(instance).id;
        }
        Ok(instance)
    }

    fn find_in(&mut self, scope: &RecordScope<'_>, on: &ContainerTarget, op: &ActionOp) -> io::Result<Option<usize>> {
        if self.is_ambiguous(scope, on) {
            return Ok(None);
        }
        let existing = self.existing_container(scope, on);
        match op {
            _ if existing.is_some() => Ok(existing),
            _ if on.existing && op.target().is_some() => {
                self.counts.without_container += 1;
                Ok(None)
            }
            ActionOp::PopState { .. } => {
                self.pop_nowhere(u32::try_from(scope.stream.number).unwrap_or(u32::MAX));
                Ok(None)
            }
            ActionOp::Destroy { .. } | ActionOp::ResetState { .. } => Ok(None),
            _ => self.locate(scope, on).map(Some),
        }
    }

    /// Performs a link endpoint, or a state or point event with fields or a source position.
    pub(crate) fn perform_wide(&mut self, turn: PendingOp, mut words: &[u64]) -> io::Result<()> {
        if turn.date > self.ends.next {
            self.end_before(turn.date)?;
        }
        self.now = GlobalNanos(turn.date);
        let Some(known) = &self.acts.known.get(turn.act as usize).copied() else { return Ok(()) };
        let TemplateBody { arrow, program, ready, .. } = self.acts.whole[turn.act as usize];
        let (stream, ordinal) = (turn.stream, turn.bits);
        let Some(wide) = &ready.wide else { return Ok(()) };
        let mut next = || {
            let word = words.split_off_first().copied();
            word.unwrap_or_default()
        };
        // An endpoint that is not sent creates no container.
        let other = match &arrow.op {
            ActionOp::Link { link, .. } => {
                let other = self.survey.partner(ActionPosition { stream, ordinal, action: ready.arrow })?;
                if other == EndpointState::Missing {
                    self.skip(*link);
                    return Ok(());
                }
                other
            }
            _ => EndpointState::Somewhere,
        };
        let site = if wide.site { u32::try_from(next()).unwrap_or(0) } else { 0 };
        let value = self.value_said(known, PendingOp { bits: if wide.value { next() } else { 0 }, ..turn })?;
        let containers = self.counts.containers;
        let Some(instance) = self.instance_of(known, turn)? else { return Ok(()) };
        let plan = self.plan;
        let scope = plan.scope(stream as usize, program, 0, (site, ordinal), &[]);
        let (keys, words) = words.split_at(wide.keys.len().min(words.len()));
        let mut cells = wide.fields.iter().zip(words);
        self.scratch.clear();
        let mut given: SmallVec<[(&str, RuleValue); 4]> = SmallVec::new();
        for (name, code) in &arrow.with {
            let val = match code {
                ExprCode::Field(_) => cells.next().map_or(RuleValue::None, |(cell, word)| cell.val(*word)),
                code => scope.with_corrected_time().eval(code, &mut self.scratch, self.symbols),
            };
            given.push((name, val));
        }
        let extras = EntityExtras { given: &given, related: &[] };
        match &arrow.op {
            ActionOp::SetState { slot, ty, .. } => {
                self.set(self.instances.stack(instance, *slot), value, stream)?;
                self.emit_action(EntityHead::Set, InstanceValue { instance, ty: *ty, value }, extras, scope.source())
            }
            ActionOp::PushState { slot, ty, .. } => {
                self.push(self.instances.stack(instance, *slot), value, stream);
                self.emit_action(EntityHead::Push, InstanceValue { instance, ty: *ty, value }, extras, scope.source())
            }
            ActionOp::Mark { ty, .. } => {
                self.emit_action(EntityHead::Mark, InstanceValue { instance, ty: *ty, value }, extras, scope.source())
            }
            ActionOp::Link { end, link, value, on, .. } => {
                let is_first = self.counts.containers > containers;
                let at = EndpointPosition { instance, container: on.container(), is_first };
                let key = self.acts.whole[turn.act as usize].act.key.with_words(keys);
                let value = match value {
                    Some(LinkValue::Declared(number)) => Some(LinkValueRef::Declared(*number)),
                    _ => None,
                };
                let Some(paired) = self.pair((*end, *link), at, key, value, other)? else {
                    return Ok(());
                };
                self.link(paired, instance, extras, scope.source())
            }
            _ => Ok(()),
        }
    }
}

#[inline]
fn number_said(bits: u64) -> ValueId {
    ValueId(u32::try_from(bits).unwrap_or(u32::MAX))
}

/// The slot of the stack that an operation changes.
fn slot(op: &ActionOp) -> Option<usize> {
    match op {
        ActionOp::SetState { slot, .. } | ActionOp::PushState { slot, .. } => Some(*slot),
        ActionOp::PopState { slot, .. } | ActionOp::ResetState { slot, .. } => Some(*slot),
        _ => None,
    }
}
