//! Performs operations that were evaluated by columns. Only their containers remain to be found.
//! Nearly all of these are cached.

use std::io;

use smallvec::SmallVec;

use super::emitter::Emitter;
use super::entities::{EntityExtras, EntityHead, InstanceValue};
use super::links::{EndpointPosition, LinkValueRef};
use super::states::PopTarget;
use super::template_table::{NOWHERE, TemplateBody, TemplateEffect, TemplateHead, TemplateTable, ValueSource};
use crate::convert::columns::ops::OpTemplate;
use crate::convert::columns::ops::PendingOp;
use crate::convert::first_pass::action_notes::ActionPosition;
use crate::convert::first_pass::survey::EndpointState;
use crate::convert::planning::plan::RecordOrigin;
use crate::rules::eval::RecordScope;
use crate::rules::program::{
    ActionOp, ColumnarAction, ColumnarValue, ContainerTarget, ExprCode, FieldCell, LinkValue, ProgramAction,
};
use crate::rules::rule_value::RuleValue;
use crate::rules::stacks::{StackId, StateStack};
use tumit_paje::time::GlobalNanos;
use tumit_paje::{PlainEvent, PlainKind, TypeId, ValueId};

impl<'p> Emitter<'p> {
    /// Sets the template of operations with this number, from now on.
    pub(crate) fn set_template(&mut self, number: u32, template: OpTemplate) {
        let plan = self.plan;
        let Some(program) = plan.programs.get(template.program as usize) else { return };
        let Some(columnar) =
            program.columnar_actions.as_ref().and_then(|actions| actions.get(usize::from(template.position)))
        else {
            return;
        };
        let Some(action) = program.actions.get(usize::from(columnar.action)) else { return };
        let head = TemplateHead::new(&action.op, columnar, self.single_pass.is_some());
        let (TemplateTable { heads, bodies }, number) = (&mut self.templates, number as usize);
        if heads.len() <= number {
            heads.resize(number + 1, TemplateHead::NOTHING);
            bodies.resize_with(number + 1, || TemplateBody {
                program,
                action,
                columnar_action: columnar,
                template: OpTemplate::none(),
            });
        }
        (heads[number], bodies[number]) = (head, TemplateBody { program, action, columnar_action: columnar, template });
    }

    /// Advances to the time of an operation.
    #[inline(always)]
    fn advance_to(&mut self, timestamp: i64) -> io::Result<()> {
        if timestamp > self.ends.next {
            self.end_before(timestamp)?;
        }
        self.time = GlobalNanos(timestamp);
        Ok(())
    }

    /// Performs an operation that is not wide.
    #[inline(always)]
    pub(crate) fn perform_short(&mut self, op: PendingOp) -> io::Result<()> {
        self.advance_to(op.corrected_time)?;
        let Some(&head) = self.templates.heads.get(op.template as usize) else { return Ok(()) };
        if !head.effect.is_of_stack() {
            return self.perform_without_stack(op, &head);
        }
        let value = match head.value {
            ValueSource::Declared => head.declared_value,
            _ => self.op_value(&head, op)?,
        };
        let stack = StackId(head.stack);
        let stack = match self.instances.stacks.is_of(stack, head.container) {
            true => stack,
            false => match self.find_stack(op)? {
                Some(stack) => stack,
                None => return Ok(()),
            },
        };
        match head.effect {
            TemplateEffect::Push => {
                self.push(stack, value, op.stream);
                self.bare_state(PlainKind::PushState, stack, value)
            }
            TemplateEffect::Pop => self.pop_to(stack, PopTarget::Innermost, op.stream),
            TemplateEffect::Set => {
                self.set(stack, value, op.stream)?;
                self.bare_state(PlainKind::SetState, stack, value)
            }
            TemplateEffect::PopTo => self.pop_to(stack, PopTarget::Value(value), op.stream),
            _ => self.reset(stack, op.stream),
        }
    }

    /// Performs an operation that changes no stack itself.
    fn perform_without_stack(&mut self, op: PendingOp, head: &TemplateHead) -> io::Result<()> {
        if head.effect == TemplateEffect::Nothing {
            return Ok(());
        }
        let value = self.op_value(head, op)?;
        let Some(instance) = self.instance_of(head, op)? else { return Ok(()) };
        match head.effect {
            TemplateEffect::Mark => self.bare_event(instance, head.ty, value),
            TemplateEffect::Variable(change) => {
                let TemplateBody { program, action, .. } = self.templates.bodies[op.template as usize];
                let ActionOp::Variable { value, .. } = &action.op else { return Ok(()) };
                self.variable(instance, head.ty, change, Some(f64::from_bits(op.bits)), program, value)
            }
            TemplateEffect::Destroy => self.destroy(instance),
            _ => Ok(()),
        }
    }

    /// The value of an operation. A pop of an unknown value gets an invalid value, because it need
    /// not exist.
    #[inline]
    fn op_value(&mut self, head: &TemplateHead, op: PendingOp) -> io::Result<ValueId> {
        match head.value {
            ValueSource::Declared => Ok(head.declared_value),
            ValueSource::Number => Ok(value_id(op.bits)),
            ValueSource::Text => match self.known_values.of_text(head.ty, value_id(op.bits).0) {
                Some(value) => Ok(value),
                None => self.value_named(op.template, op.stream, op.bits),
            },
            ValueSource::Name => self.value_named(op.template, op.stream, op.bits),
        }
    }

    /// The value that an operation names with this word. In a single pass it may be new.
    fn value_named(&mut self, template: u32, stream: u32, word: u64) -> io::Result<ValueId> {
        let TemplateBody { program, action, columnar_action: columnar, .. } = self.templates.bodies[template as usize];
        let ColumnarValue::Named(ty, part) = &columnar.value else { return Ok(value_id(word)) };
        let plan = self.plan;
        let scope = || plan.scope(stream as usize, program, 0, RecordOrigin::default(), &[]);
        let is_met = !matches!(action.op, ActionOp::PopState { .. });
        Ok(self.value_by_word((*ty, part), is_met, scope, word)?.unwrap_or(ValueId(u32::MAX)))
    }

    /// The stack of an operation. `None` if there is no container and the operation does not create
    /// it. Nothing remains to be done then.
    #[cold]
    fn find_stack(&mut self, op: PendingOp) -> io::Result<Option<StackId>> {
        let Some(instance) = self.find(op)? else { return Ok(None) };
        let Some(slot) = slot(&self.templates.bodies[op.template as usize].action.op) else { return Ok(None) };
        let stack = self.instances.stack(instance, slot);
        self.templates.heads[op.template as usize].stack = stack.0;
        Ok(Some(stack))
    }

    /// The container of an operation. `None` as for [`Self::find_stack`].
    #[inline]
    fn instance_of(&mut self, head: &TemplateHead, op: PendingOp) -> io::Result<Option<usize>> {
        match self.instances.is_living(head.stack as usize, head.container) {
            true => Ok(Some(head.stack as usize)),
            false => self.find(op),
        }
    }

    /// Sends a state without fields and source position.
    #[inline]
    fn bare_state(&mut self, kind: PlainKind, stack: StackId, value: ValueId) -> io::Result<()> {
        let StateStack { container, ty, .. } = self.instances.stacks[stack];
        self.counts.paje_events += 1;
        self.sink.plain_event(PlainEvent { kind, time: self.time, container, ty, value })
    }

    /// Sends a point event without fields and source position.
    fn bare_event(&mut self, instance: usize, ty: TypeId, value: ValueId) -> io::Result<()> {
        let (kind, time, container) = (PlainKind::NewEvent, self.time, self.instances.get(instance).id);
        self.counts.paje_events += 1;
        self.sink.plain_event(PlainEvent { kind, time, container, ty, value })
    }

    /// The container of an operation, which may be created. `None` as for [`Self::find_stack`].
    #[cold]
    fn find(&mut self, op: PendingOp) -> io::Result<Option<usize>> {
        let number = op.template as usize;
        let TemplateBody { program, action, ref mut template, .. } = self.templates.bodies[number];
        let Some(target) = action.op.container() else { return Ok(None) };
        let body = std::mem::take(&mut template.body);
        let plan = self.plan;
        let scope = plan.scope(op.stream as usize, program, 0, RecordOrigin::default(), &body);
        self.scratch.clear();
        let instance = self.find_in(&scope, target, &action.op)?;
        self.templates.bodies[number].template.body = body;
        if let Some(instance) = instance {
            let head = &mut self.templates.heads[number];
            head.stack = u32::try_from(instance).unwrap_or(NOWHERE);
            head.container = self.instances.get(instance).id;
        }
        Ok(instance)
    }

    /// The container of the start of a link that never ends, if it exists.
    #[cold]
    fn existing_container_of(&mut self, head: &TemplateHead, op: PendingOp) -> Option<usize> {
        if self.instances.is_living(head.stack as usize, head.container) {
            return Some(head.stack as usize);
        }
        let number = op.template as usize;
        let TemplateBody { program, action, ref mut template, .. } = self.templates.bodies[number];
        let ActionOp::Link { link, target, .. } = &action.op else { return None };
        let body = std::mem::take(&mut template.body);
        let plan = self.plan;
        let scope = plan.scope(op.stream as usize, program, 0, RecordOrigin::default(), &body);
        self.scratch.clear();
        let instance = self.existing_container(&scope, target);
        self.templates.bodies[number].template.body = body;
        if instance.is_none() {
            self.skip(*link);
        }
        instance
    }

    fn find_in(
        &mut self,
        scope: &RecordScope<'_>,
        target: &ContainerTarget,
        op: &ActionOp,
    ) -> io::Result<Option<usize>> {
        if self.is_ambiguous(scope, target) {
            return Ok(None);
        }
        let existing = self.existing_container(scope, target);
        match op {
            _ if existing.is_some() => Ok(existing),
            _ if target.must_exist && op.target().is_some() => {
                self.counts.without_container += 1;
                Ok(None)
            }
            ActionOp::PopState { .. } => {
                self.pop_nowhere(u32::try_from(scope.stream.number).unwrap_or(u32::MAX));
                Ok(None)
            }
            ActionOp::Destroy { .. } | ActionOp::ResetState { .. } => Ok(None),
            _ => self.locate(scope, target).map(Some),
        }
    }

    /// Performs a link endpoint, or a state or point event with fields or a source position.
    pub(crate) fn perform_wide(&mut self, op: PendingOp, mut words: &[u64]) -> io::Result<()> {
        self.advance_to(op.corrected_time)?;
        let Some(head) = &self.templates.heads.get(op.template as usize).copied() else { return Ok(()) };
        let TemplateBody { action, program, columnar_action: columnar, .. } =
            self.templates.bodies[op.template as usize];
        let Some(wide_words) = &columnar.wide_words else { return Ok(()) };
        let mut next = || {
            let word = words.split_off_first().copied();
            word.unwrap_or_default()
        };
        // An endpoint that is not sent creates no container.
        let Some(other) = self.other_endpoint(op, action, columnar)? else { return Ok(()) };
        let site = if wide_words.site { u32::try_from(next()).unwrap_or(0) } else { 0 };
        let value = self.op_value(head, PendingOp { bits: if wide_words.value { next() } else { 0 }, ..op })?;
        let containers = self.counts.containers;
        let endpoint = if other == EndpointState::Missing {
            self.existing_container_of(head, op)
        } else {
            self.instance_of(head, op)?
        };
        let Some(instance) = endpoint else { return Ok(()) };
        let stream = op.stream;
        let plan = self.plan;
        let scope = plan.scope(stream as usize, program, 0, RecordOrigin { site, ordinal: op.bits }, &[]);
        let (keys, words) = words.split_at(wide_words.keys.len().min(words.len()));
        self.scratch.clear();
        let fields = self.with_fields(action, &scope, wide_words.fields.iter().zip(words));
        let extras = EntityExtras { fields: &fields, related_containers: &[] };
        match &action.op {
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
            ActionOp::Link { end, link, value, target, .. } => {
                let is_first = self.counts.containers > containers;
                let position = EndpointPosition { instance, container: target.container(), is_first };
                let key = self.templates.bodies[op.template as usize].template.key.with_words(keys);
                let value = match value {
                    Some(LinkValue::Declared(number)) => Some(LinkValueRef::Declared(*number)),
                    _ => None,
                };
                if other == EndpointState::Missing {
                    return self.send_open_link((*link, instance), value, extras, scope.source());
                }
                let Some(paired) = self.pair_endpoint((*end, *link), position, key, value, other)? else {
                    return Ok(());
                };
                self.link(paired, instance, extras, scope.source())
            }
            _ => Ok(()),
        }
    }

    /// The state of the other endpoint of a link. `None` if the endpoint is not sent.
    #[inline]
    fn other_endpoint(
        &mut self,
        op: PendingOp,
        action: &ProgramAction,
        columnar_action: &ColumnarAction,
    ) -> io::Result<Option<EndpointState>> {
        let ActionOp::Link { end, link, .. } = &action.op else { return Ok(Some(EndpointState::InOnlyType)) };
        let position = ActionPosition { stream: op.stream, ordinal: op.bits, action: columnar_action.action };
        let other = self.survey.partner(position)?;
        if other == EndpointState::Missing && !self.is_kept_open(*end, *link) {
            self.skip(*link);
            return Ok(None);
        }
        Ok(Some(other))
    }

    /// The fields of an action: from the words of an operation, or computed.
    #[inline]
    fn with_fields<'a, 'w>(
        &mut self,
        action: &'a ProgramAction,
        scope: &RecordScope<'_>,
        mut words: impl Iterator<Item = (&'w FieldCell, &'w u64)>,
    ) -> SmallVec<[(&'a str, RuleValue); 4]> {
        let mut fields: SmallVec<[(&str, RuleValue); 4]> = SmallVec::new();
        for (name, code) in &action.fields {
            let value = match code {
                ExprCode::Field(_) => words.next().map_or(RuleValue::None, |(cell, word)| cell.val(*word)),
                code => scope.with_corrected_time().eval(code, &mut self.scratch, self.symbols),
            };
            fields.push((name, value));
        }
        fields
    }
}

#[inline]
fn value_id(bits: u64) -> ValueId {
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
