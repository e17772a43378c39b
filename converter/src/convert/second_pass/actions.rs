//! Runs the actions of a record.

use std::io;

use super::emitter::Emitter;
use super::entities::{EntityHead, InstanceValue};
use super::states::PopTarget;
use crate::convert::columns::single_records::RecordPlace;
use crate::convert::first_pass::action_notes::ActionPosition;
use crate::rules::eval::RecordScope;
use crate::rules::program::{ActionOp, ContainerTarget, ExprCode, ProgramAction, RecordProgram, ValueCode};
use crate::rules::rule_value::KeyPart;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{PajeEvent, TypeId, ValueId, VariableOp};

impl Emitter<'_> {
    /// Runs the actions of a record that are due at `now`. These are the actions without a
    /// timestamp of their own, or the action `single_action`.
    pub(crate) fn record(
        &mut self,
        scope: &RecordScope<'_>,
        single_action: Option<u16>,
        now: i64,
        position: RecordPlace,
    ) -> io::Result<()> {
        if now > self.ends.next {
            self.end_before(now)?;
        }
        self.time = GlobalNanos(now);
        self.actions(scope, single_action, position)
    }

    /// Runs the actions without a timestamp expression, or the given action, at the current time.
    /// Inlined because it runs once for each record; end rules, the other caller, are rare.
    #[inline(always)]
    pub(super) fn actions(
        &mut self,
        scope: &RecordScope<'_>,
        single_action: Option<u16>,
        position: RecordPlace,
    ) -> io::Result<()> {
        let RecordPlace { stream, ordinal } = position;
        let program = scope.program;
        for (number, action) in program.actions.iter().enumerate() {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            if single_action.map_or(action.timestamp.is_some(), |only| only != number) {
                continue;
            }
            self.scratch.clear();
            if action.condition.as_ref().is_some_and(|when| !scope.is_true(when, &mut self.scratch, self.symbols)) {
                continue;
            }
            self.action(scope, action, ActionPosition { stream, ordinal, action: number })?;
        }
        Ok(())
    }

    /// Whether an action is left out because of its container.
    #[inline]
    pub(super) fn is_omitted(&mut self, scope: &RecordScope<'_>, action: &ProgramAction) -> bool {
        if action.is_by_value
            && let Some(container) = action.op.container()
            && self.is_ambiguous(scope, container)
        {
            return true;
        }
        if let Some(container) = action.op.target().filter(|container| container.must_exist)
            && self.existing_container(scope, container).is_none()
        {
            self.counts.without_container += 1;
            return true;
        }
        false
    }

    pub(super) fn action(
        &mut self,
        scope: &RecordScope<'_>,
        action: &ProgramAction,
        position: ActionPosition,
    ) -> io::Result<()> {
        if self.single_pass.is_some() {
            self.meet_values(scope, action)?;
        }
        if self.is_omitted(scope, action) {
            return Ok(());
        }
        match &action.op {
            ActionOp::Create { target: container } => {
                let (_, related) = self.fields(scope, action)?;
                self.locate_related(scope, container, &related).map(|_| ())
            }
            ActionOp::Destroy { target: container } => {
                if let Some(instance) = self.existing_container(scope, container) {
                    self.destroy(instance)?;
                }
                Ok(())
            }
            ActionOp::SetState { slot, ty, value, target: container } => {
                let instance = self.locate(scope, container)?;
                let Some(value) = self.value(scope, *ty, value) else { return Ok(()) };
                self.set(self.instances.stack(instance, *slot), value, position.stream)?;
                self.entity(scope, action, EntityHead::Set, InstanceValue { instance, ty: *ty, value })
            }
            ActionOp::PushState { slot, ty, value, target: container } => {
                let instance = self.locate(scope, container)?;
                let Some(value) = self.value(scope, *ty, value) else { return Ok(()) };
                self.push(self.instances.stack(instance, *slot), value, position.stream);
                self.entity(scope, action, EntityHead::Push, InstanceValue { instance, ty: *ty, value })
            }
            ActionOp::PopState { slot, ty, value, target: container } => {
                let Some(instance) = self.existing_container(scope, container) else {
                    self.pop_nowhere(position.stream);
                    return Ok(());
                };
                let target = match value {
                    Some(value) => self.value(scope, *ty, value).map_or(PopTarget::NotComputable, PopTarget::Value),
                    None => PopTarget::Innermost,
                };
                self.pop_to(self.instances.stack(instance, *slot), target, position.stream)
            }
            ActionOp::ResetState { slot, target: container, .. } => {
                let Some(instance) = self.existing_container(scope, container) else { return Ok(()) };
                self.reset(self.instances.stack(instance, *slot), position.stream)
            }
            ActionOp::Variable { op, ty, value, target: container } => {
                let instance = self.locate(scope, container)?;
                let number = scope.with_corrected_time().eval(value, &mut self.scratch, self.symbols).number();
                self.variable(instance, *ty, *op, number, scope.program, value)
            }
            ActionOp::Mark { ty, value, target: container } => {
                let instance = self.locate(scope, container)?;
                let Some(value) = self.value(scope, *ty, value) else { return Ok(()) };
                self.entity(scope, action, EntityHead::Mark, InstanceValue { instance, ty: *ty, value })
            }
            ActionOp::Link { .. } => self.link_action(scope, action, position),
            ActionOp::Line { .. } | ActionOp::Nothing => Ok(()),
        }
    }

    /// Whether a target names a process or thread by values that several have. If so, it is
    /// counted.
    #[inline(never)]
    pub(super) fn is_ambiguous(&mut self, scope: &RecordScope<'_>, container: &ContainerTarget) -> bool {
        let Some(reference) = &container.by_value else { return false };
        let Some(referent) = container.ambiguous_referent(scope, &mut self.scratch, self.symbols) else { return false };
        let values = referent.values(scope, &mut self.scratch, self.symbols);
        self.counts.ambiguous += 1;
        self.ambiguous.add(reference, referent, &values, self.symbols);
        true
    }

    pub(super) fn variable(
        &mut self,
        instance: usize,
        ty: TypeId,
        op: VariableOp,
        number: Option<f64>,
        program: &RecordProgram,
        code: &ExprCode,
    ) -> io::Result<()> {
        // Pajé has no text for infinities and NaN.
        let Some(value) = number.filter(|value| value.is_finite()) else {
            self.note_failure(program, code);
            return Ok(());
        };
        let container = self.instances.get(instance).id;
        self.emit(&PajeEvent::Variable { time: self.time, container, ty, op, value })
    }

    /// The value of a state or event. `None` if it cannot be computed.
    pub(super) fn value(&mut self, scope: &RecordScope<'_>, ty: TypeId, value: &ValueCode) -> Option<ValueId> {
        match value {
            ValueCode::Declared(value) => Some(*value),
            ValueCode::Computed(code) => {
                let name = scope.key(code, &mut self.scratch, self.symbols);
                if name == KeyPart::None {
                    self.note_failure(scope.program, code);
                    return None;
                }
                self.known_values.value(&self.values, ty, name)
            }
        }
    }
}
