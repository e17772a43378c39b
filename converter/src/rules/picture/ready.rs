//! Operations that were made from columns: what is left is to find their container, which is nearly always known, and to do them.

use std::io;

use smallvec::SmallVec;

use super::super::compile::{Arrow, LinkValue, Op, Program, Target, ValueCode};
use super::super::eval::{Code, Scope};
use super::super::ready::{Ready, ReadyValue};
use super::super::survey::OtherEnd;
use super::super::value::Val;
use super::links::{At, Named};
use super::{Entity, Picture};
use crate::made::Turn;
use crate::paje::{ContainerId, PlainEvent, PlainKind, TypeId, ValueId};
use crate::ready::Act;
use crate::time::GlobalNanos;

/// What operations have in common, by the numbers that they say.
#[derive(Debug, Default)]
pub(super) struct Acts<'p> {
    known: Vec<Option<Known<'p>>>,
    acts: Vec<Act>,
}

/// What is asked for each operation, apart from the rest.
#[derive(Clone, Copy, Debug)]
struct Known<'p> {
    arrow: &'p Arrow,
    /// Its container, as it was found last.
    instance: u32,
    id: ContainerId,
    program: &'p Program,
    ready: &'p Ready,
    /// Its operations say names of values, which are looked up here: there is one pass.
    is_named: bool,
}

/// Who an operation is of: stream, program, arrow.
type Of<'p> = (u32, &'p Program, &'p Arrow);

/// No instance has this number.
const NOWHERE: u32 = u32::MAX;

impl<'p> Picture<'p> {
    /// Operations that say this number are of this kind from now on.
    pub(crate) fn know(&mut self, number: u32, act: Act) {
        let plan = self.plan;
        let Some(program) = plan.programs.get(act.program as usize) else { return };
        let Some(ready) = program.ready.as_ref().and_then(|ready| ready.get(usize::from(act.ready))) else { return };
        let Some(arrow) = program.arrows.get(usize::from(ready.arrow)) else { return };
        let is_named = self.once.is_some() && matches!(ready.value, ReadyValue::Named(..));
        let known = Some(Known { arrow, instance: NOWHERE, id: ContainerId::ROOT, program, ready, is_named });
        let (Acts { known: all, acts }, number) = (&mut self.acts, number as usize);
        if all.len() <= number {
            all.resize(number + 1, None);
            acts.resize_with(number + 1, Act::none);
        }
        (all[number], acts[number]) = (known, act);
    }

    /// Does an operation; `words` are those of a wide one.
    #[inline]
    pub(crate) fn ready(&mut self, turn: Turn, words: Option<&[u64]>) -> io::Result<()> {
        self.now = GlobalNanos(turn.date);
        let Some(Some(known)) = self.acts.known.get(turn.act as usize) else { return Ok(()) };
        let (arrow, stream) = (known.arrow, turn.stream);
        if let Some(words) = words {
            let known = *known;
            return self.wide(turn, &known, words);
        }
        let known = *known;
        let bits = if known.is_named { self.bits_of(&known, stream, turn.bits)? } else { turn.bits };
        let instance = match self.instances.is_living(known.instance as usize, known.id) {
            true => known.instance as usize,
            false => {
                let Some(instance) = self.find(turn.act, (stream, known.program, arrow))? else { return Ok(()) };
                instance
            }
        };
        let value = |code: &ValueCode| value_of(code, bits);
        match &arrow.op {
            Op::PushState { slot, ty, value: code, .. } => {
                self.push((instance, *slot), value(code), stream);
                self.bare(PlainKind::PushState, (instance, *ty, value(code)))
            }
            Op::PopState { slot, ty, value: code, .. } => {
                self.pop_to((instance, *slot), *ty, Some(code.as_ref().map(value)), stream)
            }
            Op::SetState { slot, ty, value: code, .. } => {
                self.set((instance, *slot), *ty, value(code), stream)?;
                self.bare(PlainKind::SetState, (instance, *ty, value(code)))
            }
            Op::Variable { op, ty, .. } => self.variable(instance, *ty, *op, Some(f64::from_bits(turn.bits))),
            Op::Mark { ty, value: code, .. } => self.bare(PlainKind::NewEvent, (instance, *ty, value(code))),
            Op::ResetState { slot, ty, .. } => self.reset((instance, *slot), *ty, stream),
            Op::Destroy { .. } => self.destroy(instance),
            Op::Create { .. } | Op::Link { .. } | Op::Nothing | Op::Line { .. } => Ok(()),
        }
    }

    /// The number of the value that an operation names; no value has that of one that need not be known.
    #[inline]
    fn bits_of(&mut self, known: &Known<'p>, stream: u32, word: u64) -> io::Result<u64> {
        let ReadyValue::Named(ty, part) = &known.ready.value else { return Ok(word) };
        let plan = self.plan;
        let scope = || plan.scope(stream as usize, known.program, 0, (0, 0), &[]);
        let is_met = !matches!(known.arrow.op, Op::PopState { .. });
        Ok(self.named((*ty, part), is_met, scope, word)?.map_or(u64::MAX, |value| value.0.into()))
    }

    /// Sends a state or point event that has nothing beside its value.
    #[inline]
    fn bare(&mut self, kind: PlainKind, (instance, ty, value): (usize, TypeId, ValueId)) -> io::Result<()> {
        let (time, container) = (self.now, self.instances.get(instance).id);
        self.counts.paje_events += 1;
        self.sink.plain(PlainEvent { kind, time, container, ty, value })
    }

    /// The container of an operation, which may be created. `None` when there is none and the operation does not create it: then all is
    /// done.
    #[cold]
    fn find(&mut self, act: u32, (stream, program, arrow): Of<'p>) -> io::Result<Option<usize>> {
        let Some(on) = target(&arrow.op) else { return Ok(None) };
        let body = std::mem::take(&mut self.acts.acts[act as usize].body);
        let plan = self.plan;
        let scope = plan.scope(stream as usize, program, 0, (0, 0), &body);
        self.scratch.clear();
        let instance = self.find_in(&scope, on, &arrow.op)?;
        self.acts.acts[act as usize].body = body;
        if let (Some(instance), Some(known)) = (instance, &mut self.acts.known[act as usize]) {
            known.instance = u32::try_from(instance).unwrap_or(NOWHERE);
            known.id = self.instances.get(instance).id;
        }
        Ok(instance)
    }

    fn find_in(&mut self, scope: &Scope<'_>, on: &Target, op: &Op) -> io::Result<Option<usize>> {
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
    fn wide(&mut self, turn: Turn, known: &Known<'p>, mut words: &[u64]) -> io::Result<()> {
        let (Known { arrow, program, ready, .. }, stream, ordinal) = (*known, turn.stream, turn.bits);
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
        let mut bits = if wide.value { next() } else { 0 };
        if known.is_named {
            bits = self.bits_of(known, stream, bits)?;
        }
        let containers = self.counts.containers;
        let instance = match self.instances.is_living(known.instance as usize, known.id) {
            true => known.instance as usize,
            false => match self.find(turn.act, (stream, program, arrow))? {
                Some(instance) => instance,
                None => return Ok(()),
            },
        };
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
        let value = |code: &ValueCode| value_of(code, bits);
        match &arrow.op {
            Op::SetState { slot, ty, value: code, .. } => {
                self.set((instance, *slot), *ty, value(code), stream)?;
                self.tell(Entity::Set, (instance, *ty, value(code)), (&given, &[]), scope.source())
            }
            Op::PushState { slot, ty, value: code, .. } => {
                self.push((instance, *slot), value(code), stream);
                self.tell(Entity::Push, (instance, *ty, value(code)), (&given, &[]), scope.source())
            }
            Op::Mark { ty, value: code, .. } => {
                self.tell(Entity::Mark, (instance, *ty, value(code)), (&given, &[]), scope.source())
            }
            Op::Link { end, link, value, on, .. } => {
                let is_first = self.counts.containers > containers;
                let at = At { instance, container: on.container(), is_first };
                let key = self.acts.acts[turn.act as usize].key.with_words(keys);
                let value = match value {
                    Some(LinkValue::Declared(number)) => Some(Named::Declared(*number)),
                    _ => None,
                };
                let Some(paired) = self.pair((*end, *link), at, key, value, other) else {
                    return Ok(());
                };
                self.link(paired, instance, (&given, &[]), scope.source())
            }
            _ => Ok(()),
        }
    }
}

#[inline]
fn value_of(code: &ValueCode, bits: u64) -> ValueId {
    match code {
        ValueCode::Declared(value) => *value,
        ValueCode::Computed(_) => ValueId(u32::try_from(bits).unwrap_or(u32::MAX)),
    }
}

fn target(op: &Op) -> Option<&Target> {
    match op {
        Op::Create { on } | Op::Link { on, .. } => Some(on),
        op => op.target(),
    }
}
