//! Operations that were made from columns: what is left is to find their container, which is nearly always known, and to do them.

use std::io;

use smallvec::SmallVec;

use super::links::{At, Named};
use super::{Entity, Picture};
use crate::convert::columnar::ops::Act;
use crate::convert::columnar::ops::Turn;
use crate::convert::first_pass::survey::OtherEnd;
use crate::rules::eval::Scope;
use crate::rules::program::{Arrow, Code, LinkValue, Op, Part, Program, Ready, ReadyValue, Target, ValueCode};
use crate::rules::stacks::{Stack, StackId};
use crate::rules::value::Val;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, PlainEvent, PlainKind, TypeId, ValueId, VariableOp};

/// What operations have in common, by the numbers that they say.
#[derive(Debug, Default)]
pub(crate) struct Acts<'p> {
    /// What is asked for each operation: small, so that those of all streams are near.
    known: Vec<Known>,
    whole: Vec<Whole<'p>>,
}

/// What is asked for each operation.
#[derive(Clone, Copy, Debug)]
struct Known {
    what: What,
    value: ValueFrom,
    /// The container or stack, as it was found last: its number, and the container's id.
    at: u32,
    container: ContainerId,
    /// What the arrow shows.
    ty: TypeId,
    declared: ValueId,
}

/// The rest of it.
#[derive(Debug)]
struct Whole<'p> {
    program: &'p Program,
    arrow: &'p Arrow,
    ready: &'p Ready,
    act: Act,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Nothing that is known.
    Nothing,
    Push,
    /// The innermost state ends.
    Pop,
    /// States end down to one that has the value.
    PopTo,
    Set,
    Reset,
    Mark,
    Variable(VariableOp),
    /// Its container is created, if there is none.
    Create,
    Destroy,
}

/// Where the value of an operation is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueFrom {
    /// The arrow's own.
    Declared,
    /// The operation says it.
    Number,
    /// The operation says the number of the text that names it: there is one pass.
    Text,
    /// It has another name; there is one pass.
    Name,
}

impl What {
    /// Whether it changes a stack.
    const fn is_of_stack(self) -> bool {
        matches!(self, Self::Push | Self::Pop | Self::PopTo | Self::Set | Self::Reset)
    }
}

impl Known {
    const NOTHING: Self = Self {
        what: What::Nothing,
        value: ValueFrom::Declared,
        at: NOWHERE,
        container: ContainerId::ROOT,
        ty: TypeId::ROOT,
        declared: ValueId(0),
    };

    fn new(op: &Op, ready: &Ready, is_once: bool) -> Self {
        let (what, ty, code) = match op {
            Op::SetState { ty, value, .. } => (What::Set, *ty, Some(value)),
            Op::PushState { ty, value, .. } => (What::Push, *ty, Some(value)),
            Op::PopState { ty, value: None, .. } => (What::Pop, *ty, None),
            Op::PopState { ty, value, .. } => (What::PopTo, *ty, value.as_ref()),
            Op::ResetState { ty, .. } => (What::Reset, *ty, None),
            Op::Variable { op, ty, .. } => (What::Variable(*op), *ty, None),
            Op::Mark { ty, value, .. } => (What::Mark, *ty, Some(value)),
            Op::Destroy { .. } => (What::Destroy, TypeId::ROOT, None),
            Op::Create { .. } | Op::Link { .. } | Op::Nothing | Op::Line { .. } => (What::Create, TypeId::ROOT, None),
        };
        let (value, declared) = match (code, &ready.value) {
            (Some(ValueCode::Declared(value)), _) => (ValueFrom::Declared, *value),
            (_, ReadyValue::Named(_, Part::Cell(cell))) if is_once && cell.is_name() => (ValueFrom::Text, ValueId(0)),
            (_, ReadyValue::Named(..)) if is_once => (ValueFrom::Name, ValueId(0)),
            _ => (ValueFrom::Number, ValueId(0)),
        };
        Self { what, value, ty, declared, ..Self::NOTHING }
    }
}

/// No instance has this number.
const NOWHERE: u32 = u32::MAX;

impl<'p> Picture<'p> {
    /// Operations that say this number are of this kind from now on.
    pub(crate) fn know(&mut self, number: u32, act: Act) {
        let plan = self.plan;
        let Some(program) = plan.programs.get(act.program as usize) else { return };
        let Some(ready) = program.ready.as_ref().and_then(|ready| ready.get(usize::from(act.ready))) else { return };
        let Some(arrow) = program.arrows.get(usize::from(ready.arrow)) else { return };
        let known = Known::new(&arrow.op, ready, self.once.is_some());
        let (Acts { known: all, whole }, number) = (&mut self.acts, number as usize);
        if all.len() <= number {
            all.resize(number + 1, Known::NOTHING);
            whole.resize_with(number + 1, || Whole { program, arrow, ready, act: Act::none() });
        }
        (all[number], whole[number]) = (known, Whole { program, arrow, ready, act });
    }

    /// Does an operation that is not wide.
    #[inline(always)]
    pub(crate) fn ready(&mut self, turn: Turn) -> io::Result<()> {
        if turn.date > self.ends.next {
            self.end_before(turn.date)?;
        }
        self.now = GlobalNanos(turn.date);
        let Some(&known) = self.acts.known.get(turn.act as usize) else { return Ok(()) };
        if !known.what.is_of_stack() {
            return self.ready_beside(turn, &known);
        }
        let value = match known.value {
            ValueFrom::Declared => known.declared,
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
            What::Push => {
                self.push(at, value, turn.stream);
                self.bare_state(PlainKind::PushState, at, value)
            }
            What::Pop => self.pop_to(at, Some(None), turn.stream),
            What::Set => {
                self.set(at, value, turn.stream)?;
                self.bare_state(PlainKind::SetState, at, value)
            }
            What::PopTo => self.pop_to(at, Some(Some(value)), turn.stream),
            _ => self.reset(at, turn.stream),
        }
    }

    /// The same for one that changes no stack by itself.
    fn ready_beside(&mut self, turn: Turn, known: &Known) -> io::Result<()> {
        if known.what == What::Nothing {
            return Ok(());
        }
        let value = self.value_said(known, turn)?;
        let Some(instance) = self.instance_of(known, turn)? else { return Ok(()) };
        match known.what {
            What::Mark => self.bare_event(instance, known.ty, value),
            What::Variable(op) => {
                let Whole { program, arrow, .. } = self.acts.whole[turn.act as usize];
                let Op::Variable { value, .. } = &arrow.op else { return Ok(()) };
                self.variable(instance, (known.ty, op, Some(f64::from_bits(turn.bits))), program, value)
            }
            What::Destroy => self.destroy(instance),
            _ => Ok(()),
        }
    }

    /// The value of an operation. Where it need not be known, and is not, it is that of no value.
    #[inline]
    fn value_said(&mut self, known: &Known, turn: Turn) -> io::Result<ValueId> {
        match known.value {
            ValueFrom::Declared => Ok(known.declared),
            ValueFrom::Number => Ok(number_said(turn.bits)),
            ValueFrom::Text => match self.known.of_text(known.ty, number_said(turn.bits).0) {
                Some(value) => Ok(value),
                None => self.value_named(turn.act, turn.stream, turn.bits),
            },
            ValueFrom::Name => self.value_named(turn.act, turn.stream, turn.bits),
        }
    }

    /// The value that an operation names by this word, which may be met now.
    fn value_named(&mut self, act: u32, stream: u32, word: u64) -> io::Result<ValueId> {
        let Whole { program, arrow, ready, .. } = self.acts.whole[act as usize];
        let ReadyValue::Named(ty, part) = &ready.value else { return Ok(number_said(word)) };
        let plan = self.plan;
        let scope = || plan.scope(stream as usize, program, 0, (0, 0), &[]);
        let is_met = !matches!(arrow.op, Op::PopState { .. });
        Ok(self.named((*ty, part), is_met, scope, word)?.unwrap_or(ValueId(u32::MAX)))
    }

    /// The stack of an operation; `None` when there is no container and the operation does not create it: then all is done.
    #[cold]
    fn find_stack(&mut self, turn: Turn) -> io::Result<Option<StackId>> {
        let Some(instance) = self.find(turn)? else { return Ok(None) };
        let Some(slot) = slot(&self.acts.whole[turn.act as usize].arrow.op) else { return Ok(None) };
        let at = self.instances.stack(instance, slot);
        self.acts.known[turn.act as usize].at = at.0;
        Ok(Some(at))
    }

    /// The container of an operation; `None` as for [`Self::find_stack`].
    #[inline]
    fn instance_of(&mut self, known: &Known, turn: Turn) -> io::Result<Option<usize>> {
        match self.instances.is_living(known.at as usize, known.container) {
            true => Ok(Some(known.at as usize)),
            false => self.find(turn),
        }
    }

    /// Sends a state that has nothing beside its value.
    #[inline]
    fn bare_state(&mut self, kind: PlainKind, at: StackId, value: ValueId) -> io::Result<()> {
        let Stack { container, ty, .. } = self.instances.stacks[at];
        self.counts.paje_events += 1;
        self.sink.plain(PlainEvent { kind, time: self.now, container, ty, value })
    }

    /// Sends a point event that has nothing beside its value.
    fn bare_event(&mut self, instance: usize, ty: TypeId, value: ValueId) -> io::Result<()> {
        let (kind, time, container) = (PlainKind::NewEvent, self.now, self.instances.get(instance).id);
        self.counts.paje_events += 1;
        self.sink.plain(PlainEvent { kind, time, container, ty, value })
    }

    /// The container of an operation, which may be created. `None` when there is none and the operation does not create it: then all is
    /// done.
    #[cold]
    fn find(&mut self, turn: Turn) -> io::Result<Option<usize>> {
        let number = turn.act as usize;
        let Whole { program, arrow, ref mut act, .. } = self.acts.whole[number];
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

    fn find_in(&mut self, scope: &Scope<'_>, on: &Target, op: &Op) -> io::Result<Option<usize>> {
        if self.is_ambiguous(scope, on) {
            return Ok(None);
        }
        let existing = self.existing(scope, on);
        match op {
            _ if existing.is_some() => Ok(existing),
            _ if on.existing && op.target().is_some() => {
                self.counts.without_container += 1;
                Ok(None)
            }
            Op::PopState { .. } => {
                self.pop_nowhere(u32::try_from(scope.stream.number).unwrap_or(u32::MAX));
                Ok(None)
            }
            Op::Destroy { .. } | Op::ResetState { .. } => Ok(None),
            _ => self.locate(scope, on).map(Some),
        }
    }

    /// An end of a link, or a state or point event with fields or a source position.
    pub(crate) fn wide(&mut self, turn: Turn, mut words: &[u64]) -> io::Result<()> {
        if turn.date > self.ends.next {
            self.end_before(turn.date)?;
        }
        self.now = GlobalNanos(turn.date);
        let Some(known) = &self.acts.known.get(turn.act as usize).copied() else { return Ok(()) };
        let Whole { arrow, program, ready, .. } = self.acts.whole[turn.act as usize];
        let (stream, ordinal) = (turn.stream, turn.bits);
        let Some(wide) = &ready.wide else { return Ok(()) };
        let mut next = || {
            let word = words.split_off_first().copied();
            word.unwrap_or_default()
        };
        // What of a link is not shown creates nothing.
        let other = match &arrow.op {
            Op::Link { link, .. } => {
                let other = self.survey.other_end((stream, ordinal, ready.arrow))?;
                if other == OtherEnd::Missing {
                    self.skip(*link);
                    return Ok(());
                }
                other
            }
            _ => OtherEnd::Somewhere,
        };
        let site = if wide.site { u32::try_from(next()).unwrap_or(0) } else { 0 };
        let value = self.value_said(known, Turn { bits: if wide.value { next() } else { 0 }, ..turn })?;
        let containers = self.counts.containers;
        let Some(instance) = self.instance_of(known, turn)? else { return Ok(()) };
        let plan = self.plan;
        let scope = plan.scope(stream as usize, program, 0, (site, ordinal), &[]);
        let (keys, words) = words.split_at(wide.keys.len().min(words.len()));
        let mut cells = wide.fields.iter().zip(words);
        self.scratch.clear();
        let mut given: SmallVec<[(&str, Val); 4]> = SmallVec::new();
        for (name, code) in &arrow.with {
            let val = match code {
                Code::Field(_) => cells.next().map_or(Val::None, |(cell, word)| cell.val(*word)),
                code => scope.shown().eval(code, &mut self.scratch, self.symbols),
            };
            given.push((name, val));
        }
        match &arrow.op {
            Op::SetState { slot, ty, .. } => {
                self.set(self.instances.stack(instance, *slot), value, stream)?;
                self.tell(Entity::Set, (instance, *ty, value), (&given, &[]), scope.source())
            }
            Op::PushState { slot, ty, .. } => {
                self.push(self.instances.stack(instance, *slot), value, stream);
                self.tell(Entity::Push, (instance, *ty, value), (&given, &[]), scope.source())
            }
            Op::Mark { ty, .. } => self.tell(Entity::Mark, (instance, *ty, value), (&given, &[]), scope.source()),
            Op::Link { end, link, value, on, .. } => {
                let is_first = self.counts.containers > containers;
                let at = At { instance, container: on.container(), is_first };
                let key = self.acts.whole[turn.act as usize].act.key.with_words(keys);
                let value = match value {
                    Some(LinkValue::Declared(number)) => Some(Named::Declared(*number)),
                    _ => None,
                };
                let Some(paired) = self.pair((*end, *link), at, key, value, other)? else {
                    return Ok(());
                };
                self.link(paired, instance, (&given, &[]), scope.source())
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
fn slot(op: &Op) -> Option<usize> {
    match op {
        Op::SetState { slot, .. } | Op::PushState { slot, .. } => Some(*slot),
        Op::PopState { slot, .. } | Op::ResetState { slot, .. } => Some(*slot),
        _ => None,
    }
}
