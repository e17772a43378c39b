//! Operations that were made from columns: what is left is to find their container, which is nearly always known, and to do them.

use std::io;

use smallvec::SmallVec;

use super::super::compile::{Arrow, LinkValue, Op, Program, Target, ValueCode};
use super::super::eval::{Code, Scope};
use super::super::ready::Ready;
use super::super::survey::OtherEnd;
use super::super::value::Val;
use super::{Entity, Named, Picture};
use crate::paje::{ContainerId, ValueId};
use crate::ready::{Act, Turn};
use crate::time::GlobalNanos;

/// What operations have in common, by the numbers that they say.
#[derive(Debug, Default)]
pub(super) struct Acts<'p>(Vec<Option<Known<'p>>>);

#[derive(Clone, Debug)]
struct Known<'p> {
    act: Act,
    program: &'p Program,
    arrow: &'p Arrow,
    ready: &'p Ready,
    /// Its container, as it was found last.
    at: Option<(usize, ContainerId)>,
}

/// Who an operation is of: stream, program, arrow.
type Of<'p> = (u32, &'p Program, &'p Arrow);

impl<'p> Picture<'p> {
    /// Operations that say this number are of this kind from now on.
    pub(crate) fn know(&mut self, number: u32, act: Act) {
        let plan = self.plan;
        let Some(program) = plan.programs.get(act.program as usize) else { return };
        let Some(ready) = program.ready.as_ref().and_then(|ready| ready.get(usize::from(act.ready))) else { return };
        let Some(arrow) = program.arrows.get(usize::from(ready.arrow)) else { return };
        let at = number as usize;
        self.acts.0.resize_with(self.acts.0.len().max(at + 1), || None);
        self.acts.0[at] = Some(Known { act, program, arrow, ready, at: None });
    }

    /// Does an operation; `words` are those of a wide one.
    #[inline]
    pub(crate) fn ready(&mut self, turn: &Turn, words: &[u64]) -> io::Result<()> {
        self.now = GlobalNanos(turn.date);
        let Some(known) = self.acts.0.get(turn.act as usize).and_then(Option::as_ref) else { return Ok(()) };
        let (arrow, ready, program, stream) = (known.arrow, known.ready, known.program, turn.stream);
        // What of a link is not shown creates nothing.
        let other = match (&arrow.op, words.first()) {
            (Op::Link { .. }, Some(ordinal)) => self.survey.other_end((stream, *ordinal, ready.arrow))?,
            _ => OtherEnd::Somewhere,
        };
        if other == OtherEnd::Missing {
            return Ok(());
        }
        let living = known.at.filter(|(instance, id)| self.instances.is_living(*instance, *id));
        let instance = match living {
            Some((instance, _)) => Some(instance),
            None => self.find(turn.act, (stream, program, arrow))?,
        };
        let Some(instance) = instance else { return Ok(()) };
        let value = |code: &ValueCode, bits: u64| match code {
            ValueCode::Declared(value) => *value,
            ValueCode::Computed(_) => ValueId(u32::try_from(bits).unwrap_or(u32::MAX)),
        };
        match &arrow.op {
            Op::PushState { slot, ty, value: code, .. } if ready.wide.is_none() => {
                let value = value(code, turn.bits);
                self.push((instance, *slot), value, stream);
                self.tell(Entity::Push, (instance, *ty, value), (&[], &[]), None)
            }
            Op::PopState { slot, ty, value: code, .. } => {
                let wanted = code.as_ref().map(|code| value(code, turn.bits));
                self.pop_to((instance, *slot), *ty, Some(wanted), stream)
            }
            Op::SetState { slot, ty, value: code, .. } if ready.wide.is_none() => {
                let value = value(code, turn.bits);
                self.set((instance, *slot), *ty, value, stream)?;
                self.tell(Entity::Set, (instance, *ty, value), (&[], &[]), None)
            }
            Op::Variable { op, ty, .. } => self.variable(instance, *ty, *op, Some(f64::from_bits(turn.bits))),
            Op::Mark { ty, value: code, .. } if ready.wide.is_none() => {
                self.tell(Entity::Mark, (instance, *ty, value(code, turn.bits)), (&[], &[]), None)
            }
            Op::ResetState { slot, ty, .. } => self.reset((instance, *slot), *ty, stream),
            Op::Destroy { .. } => self.destroy(instance),
            Op::Create { .. } | Op::Nothing | Op::Line { .. } => Ok(()),
            Op::Link { .. } | Op::PushState { .. } | Op::SetState { .. } | Op::Mark { .. } => {
                self.wide((turn.act, stream), (program, arrow, ready), (instance, other), words)
            }
        }
    }

    /// The container of an operation, which may be created. `None` when there is none and the operation does not create it: then all is
    /// done.
    #[cold]
    fn find(&mut self, act: u32, (stream, program, arrow): Of<'p>) -> io::Result<Option<usize>> {
        let Some(on) = target(&arrow.op) else { return Ok(None) };
        let Some(known) = self.acts.0.get_mut(act as usize).and_then(Option::as_mut) else { return Ok(None) };
        let body = std::mem::take(&mut known.act.body);
        let plan = self.plan;
        let scope = plan.scope(stream as usize, program, 0, (0, 0), &body);
        self.scratch.clear();
        let instance = self.find_in(&scope, on, &arrow.op)?;
        let at = instance.map(|instance| (instance, self.instances.get(instance).id));
        if let Some(known) = self.acts.0.get_mut(act as usize).and_then(Option::as_mut) {
            (known.act.body, known.at) = (body, at);
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
    fn wide(
        &mut self,
        (act, stream): (u32, u32),
        (program, arrow, ready): (&'p Program, &'p Arrow, &'p Ready),
        (instance, other): (usize, OtherEnd),
        words: &[u64],
    ) -> io::Result<()> {
        let (Some(wide), Some((ordinal, mut words))) = (&ready.wide, words.split_first()) else { return Ok(()) };
        let mut next = || {
            let word = words.split_off_first().copied();
            word.unwrap_or_default()
        };
        let site = if wide.site { u32::try_from(next()).unwrap_or(0) } else { 0 };
        let plan = self.plan;
        let scope = plan.scope(stream as usize, program, 0, (site, *ordinal), &[]);
        let bits = if wide.value { next() } else { 0 };
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
        let value = |code: &ValueCode| match code {
            ValueCode::Declared(value) => *value,
            ValueCode::Computed(_) => ValueId(u32::try_from(bits).unwrap_or(u32::MAX)),
        };
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
                let Some(known) = self.acts.0.get(act as usize).and_then(Option::as_ref) else { return Ok(()) };
                let key = known.act.key.with_words(keys);
                let value = match value {
                    Some(LinkValue::Declared(number)) => Some(Named::Declared(*number)),
                    _ => None,
                };
                let Some(paired) = self.pair((*end, *link), (instance, on.container()), key, value, other) else {
                    return Ok(());
                };
                self.link(paired, instance, (&given, &[]), scope.source())
            }
            _ => Ok(()),
        }
    }
}

fn target(op: &Op) -> Option<&Target> {
    match op {
        Op::Create { on } | Op::Link { on, .. } => Some(on),
        op => op.target(),
    }
}
