//! The second pass: runs the programs and sends Pajé operations in order of time.
//!
//! Actions are evaluated here for each record, or earlier by columns (`ready`). Both ways share the
//! code that performs the operations.

pub(crate) mod ambiguous_references;
pub(crate) mod columnar;
pub(crate) mod container_cache;
mod containers;
pub(crate) mod definitions;
mod ends;
mod entities;
pub(crate) mod event_headers;
pub(crate) mod failures;
mod gaps;
mod links;

use std::borrow::Cow;
use std::io;

use super::columnar::single_records::RecordPlace;
use super::first_pass::notes::ActionPosition;
use super::first_pass::survey::FirstPassResult;
use super::planning::labels::LabelSuffixes;
use super::planning::plan::ConversionPlan;
use crate::report::ConversionCounts;
use crate::rules::containers::ContainerInstances;
use crate::rules::eval::RecordScope;
use crate::rules::model::RuleModel;
use crate::rules::program::{ActionOp, ContainerTarget, ExprCode, ProgramAction, RecordProgram, ValueCode};
use crate::rules::stacks::{StackId, StateStack};
use crate::rules::value::{KeyPart, Symbols};
use crate::rules::value_cache::KnownValues;
use crate::rules::values::ValueTable;
use ambiguous_references::AmbiguousReferences;
use columnar::TemplateTable;
use container_cache::ContainerCache;
pub(crate) use definitions::SinglePassState;
use ends::EndTable;
use entities::{EntityHead, InstanceValue};
use failures::EvaluationFailures;
use gaps::StreamGaps;
use links::OpenLink;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{PajeEvent, PajeSink, PlainEvent, PlainKind, TraceDiagnostic, TypeId, ValueId, VariableOp};
use tumit_spill::endpoint_map::EndpointMap;

/// The state of the second pass.
pub(crate) struct Emitter<'p> {
    pub(crate) plan: &'p ConversionPlan<'p>,
    model: &'p RuleModel,
    survey: &'p mut FirstPassResult,
    symbols: &'p mut Symbols,
    sink: &'p mut dyn PajeSink,
    instances: ContainerInstances,
    waiting: EndpointMap<OpenLink, 4>,
    next_key: u64,
    now: GlobalNanos,
    scratch: String,
    gaps: StreamGaps,
    found: ContainerCache,
    failed: EvaluationFailures,
    ambiguous: AmbiguousReferences,
    /// The values of the model. In a single pass, also the values found so far.
    values: Cow<'p, ValueTable>,
    known: KnownValues,
    templates: TemplateTable<'p>,
    /// Suffixes of labels that would be equal.
    label_suffixes: LabelSuffixes,
    ends: EndTable,
    /// Set in a single pass.
    once: Option<SinglePassState>,
    pub(crate) counts: ConversionCounts,
}

/// The states that a pop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PopTarget {
    Innermost,
    /// All states down to the innermost one with this value, and that one.
    Value(ValueId),
    /// The value cannot be computed.
    NotComputable,
}

/// Diagnostics about omitted actions and values.
#[derive(Debug, Default)]
pub(crate) struct OmissionReport {
    /// Values that could not be computed.
    pub(crate) failed: Vec<TraceDiagnostic>,
    /// Ambiguous references.
    pub(crate) ambiguous: Vec<TraceDiagnostic>,
}

impl<'p> Emitter<'p> {
    /// Sends the definitions and creates the containers of types with exactly one container.
    ///
    /// If records may be missing, values for unknown states are defined as well. `once` is set in a
    /// single pass.
    pub(crate) fn begin(
        plan: &'p ConversionPlan<'p>,
        model: &'p RuleModel,
        survey: &'p mut FirstPassResult,
        symbols: &'p mut Symbols,
        sink: &'p mut dyn PajeSink,
        once: Option<SinglePassState>,
    ) -> io::Result<Self> {
        let events = model.define(sink)?;
        let mut emitter = Self {
            plan,
            model,
            survey,
            symbols,
            sink,
            instances: ContainerInstances::default(),
            waiting: EndpointMap::default(),
            next_key: 0,
            now: GlobalNanos(0),
            scratch: String::new(),
            gaps: StreamGaps::default(),
            found: ContainerCache::default(),
            failed: EvaluationFailures::default(),
            ambiguous: AmbiguousReferences::default(),
            values: Cow::Borrowed(&model.values),
            known: KnownValues::default(),
            templates: TemplateTable::default(),
            label_suffixes: LabelSuffixes::default(),
            ends: EndTable::of(plan),
            once,
            counts: ConversionCounts { paje_events: events, ..ConversionCounts::default() },
        };
        emitter.label_suffixes = LabelSuffixes::of(plan, model, emitter.symbols);
        if plan.run().may_have_gaps() {
            for ty in model.containers.iter().flat_map(|container| &container.states) {
                emitter.unknown_value(*ty)?;
            }
        }
        for (container, kind) in model.containers.iter().enumerate() {
            if kind.single {
                emitter.create_keyless(container)?;
            }
        }
        Ok(emitter)
    }

    /// Runs the actions of a record that are due at `now`. These are the actions without a
    /// timestamp of their own, or the action `only`.
    pub(crate) fn record(
        &mut self,
        scope: &RecordScope<'_>,
        only: Option<u16>,
        now: i64,
        place: RecordPlace,
    ) -> io::Result<()> {
        if now > self.ends.next {
            self.end_before(now)?;
        }
        self.now = GlobalNanos(now);
        self.actions(scope, only, place)
    }

    /// Runs the actions without a timestamp expression, or the given action, at the current time.
    /// Inlined because it runs once for each record; end rules, the other caller, are rare.
    #[inline(always)]
    fn actions(&mut self, scope: &RecordScope<'_>, only: Option<u16>, place: RecordPlace) -> io::Result<()> {
        let RecordPlace { stream, ordinal } = place;
        let program = scope.program;
        for (number, action) in program.actions.iter().enumerate() {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            if only.map_or(action.at.is_some(), |only| only != number) {
                continue;
            }
            self.scratch.clear();
            if action.when.as_ref().is_some_and(|when| !scope.is_true(when, &mut self.scratch, self.symbols)) {
                continue;
            }
            self.action(scope, action, ActionPosition { stream, ordinal, action: number })?;
        }
        Ok(())
    }

    /// Ends all open containers at `end`, children first. Returns the counts and their
    /// explanations, or `None` if a single pass is void.
    pub(crate) fn finish(mut self, end: i64) -> io::Result<Option<(ConversionCounts, OmissionReport)>> {
        if !self.drop_unpaired()? {
            return Ok(None);
        }
        self.end_before(end.saturating_add(1))?;
        self.now = GlobalNanos(end);
        for top in self.instances.tops().into_iter().rev() {
            self.destroy(top)?;
        }
        self.sink.finish(self.now)?;
        let explanations =
            OmissionReport { failed: self.failed.diagnostics(self.symbols), ambiguous: self.ambiguous.diagnostics() };
        Ok(Some((self.counts, explanations)))
    }

    fn emit(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.counts.paje_events += 1;
        self.sink.event(event)
    }

    /// Whether an action is left out because of its container.
    #[inline]
    fn is_omitted(&mut self, scope: &RecordScope<'_>, action: &ProgramAction) -> bool {
        if action.is_by_value
            && let Some(on) = action.op.container()
            && self.is_ambiguous(scope, on)
        {
            return true;
        }
        if let Some(on) = action.op.target().filter(|on| on.existing)
            && self.existing_container(scope, on).is_none()
        {
            self.counts.without_container += 1;
            return true;
        }
        false
    }

    fn action(&mut self, scope: &RecordScope<'_>, action: &ProgramAction, place: ActionPosition) -> io::Result<()> {
        if self.once.is_some() {
            self.meet_values(scope, action)?;
        }
        if self.is_omitted(scope, action) {
            return Ok(());
        }
        match &action.op {
            ActionOp::Create { on } => {
                let (_, related) = self.fields(scope, action)?;
                self.locate_related(scope, on, &related).map(|_| ())
            }
            ActionOp::Destroy { on } => {
                if let Some(instance) = self.existing_container(scope, on) {
                    self.destroy(instance)?;
                }
                Ok(())
            }
            ActionOp::SetState { slot, ty, value, on } => {
                let instance = self.locate(scope, on)?;
                let Some(value) = self.value(scope, *ty, value) else { return Ok(()) };
                self.set(self.instances.stack(instance, *slot), value, place.stream)?;
                self.entity(scope, action, EntityHead::Set, InstanceValue { instance, ty: *ty, value })
            }
            ActionOp::PushState { slot, ty, value, on } => {
                let instance = self.locate(scope, on)?;
                let Some(value) = self.value(scope, *ty, value) else { return Ok(()) };
                self.push(self.instances.stack(instance, *slot), value, place.stream);
                self.entity(scope, action, EntityHead::Push, InstanceValue { instance, ty: *ty, value })
            }
            ActionOp::PopState { slot, ty, value, on } => {
                let Some(instance) = self.existing_container(scope, on) else {
                    self.pop_nowhere(place.stream);
                    return Ok(());
                };
                let target = match value {
                    Some(value) => self.value(scope, *ty, value).map_or(PopTarget::NotComputable, PopTarget::Value),
                    None => PopTarget::Innermost,
                };
                self.pop_to(self.instances.stack(instance, *slot), target, place.stream)
            }
            ActionOp::ResetState { slot, on, .. } => {
                let Some(instance) = self.existing_container(scope, on) else { return Ok(()) };
                self.reset(self.instances.stack(instance, *slot), place.stream)
            }
            ActionOp::Variable { op, ty, value, on } => {
                let instance = self.locate(scope, on)?;
                let number = scope.with_corrected_time().eval(value, &mut self.scratch, self.symbols).number();
                self.variable(instance, *ty, *op, number, scope.program, value)
            }
            ActionOp::Mark { ty, value, on } => {
                let instance = self.locate(scope, on)?;
                let Some(value) = self.value(scope, *ty, value) else { return Ok(()) };
                self.entity(scope, action, EntityHead::Mark, InstanceValue { instance, ty: *ty, value })
            }
            ActionOp::Link { .. } => self.link_action(scope, action, place),
            ActionOp::Line { .. } | ActionOp::Nothing => Ok(()),
        }
    }

    /// Whether a target names a process or thread by values that several have. If so, it is
    /// counted.
    #[inline(never)]
    fn is_ambiguous(&mut self, scope: &RecordScope<'_>, on: &ContainerTarget) -> bool {
        let Some(reference) = &on.by_value else { return false };
        let Some(referent) = on.ambiguous_referent(scope, &mut self.scratch, self.symbols) else { return false };
        let values = referent.values(scope, &mut self.scratch, self.symbols);
        self.counts.ambiguous += 1;
        self.ambiguous.add(reference, referent, &values, self.symbols);
        true
    }

    /// Makes `value` the only open state of a stack.
    fn set(&mut self, at: StackId, value: ValueId, stream: u32) -> io::Result<()> {
        self.replace(at, value)?;
        self.gaps.is_certain(&mut self.instances.stacks, at, stream);
        Ok(())
    }

    /// Opens a further state on a stack.
    #[inline]
    fn push(&mut self, at: StackId, value: ValueId, stream: u32) {
        self.gaps.changes(&mut self.instances.stacks, at, stream);
        self.instances.stacks[at].values.push(value);
    }

    /// Ends all states of a stack.
    fn reset(&mut self, at: StackId, stream: u32) -> io::Result<()> {
        while !self.instances.stacks[at].values.is_empty() {
            self.pop(at)?;
        }
        self.gaps.is_certain(&mut self.instances.stacks, at, stream);
        Ok(())
    }

    fn variable(
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
            self.fail(program, code);
            return Ok(());
        };
        let container = self.instances.get(instance).id;
        self.emit(&PajeEvent::Variable { time: self.now, container, ty, op, value })
    }

    /// Notes a value that cannot be computed.
    #[cold]
    fn fail(&mut self, program: &RecordProgram, code: &ExprCode) {
        self.counts.not_computable += 1;
        self.failed.add(program, code);
    }

    /// Counts a pop without a container. The container may belong to a missing record.
    fn pop_nowhere(&mut self, stream: u32) {
        self.counts.pops_of_nothing += u64::from(!self.gaps.has(stream));
    }

    /// Ends the innermost state, or all states down to that with a value.
    #[inline]
    fn pop_to(&mut self, at: StackId, target: PopTarget, stream: u32) -> io::Result<()> {
        let stack = &self.instances.stacks[at];
        // Nearly all pops take this path.
        if target == PopTarget::Innermost && !stack.is_unknown && !stack.values.is_empty() {
            self.gaps.changes(&mut self.instances.stacks, at, stream);
            return self.pop(at);
        }
        self.pop_down(at, target, stream)
    }

    fn pop_down(&mut self, at: StackId, target: PopTarget, stream: u32) -> io::Result<()> {
        let stack = &self.instances.stacks[at];
        let open = &stack.values[stack.floor()..];
        let keep = match target {
            PopTarget::Innermost => open.len().checked_sub(1),
            PopTarget::Value(value) => open.iter().rposition(|other| *other == value),
            PopTarget::NotComputable => None,
        };
        let Some(keep) = keep.map(|keep| keep + stack.floor()) else {
            // The pop may end a state of missing records. The states below are then unknown as
            // well.
            if target != PopTarget::NotComputable && self.gaps.may_hide(stack, stream) {
                return self.set_unknown(at);
            }
            self.counts.pops_of_nothing += 1;
            return Ok(());
        };
        self.gaps.changes(&mut self.instances.stacks, at, stream);
        while self.instances.stacks[at].values.len() > keep {
            self.pop(at)?;
        }
        Ok(())
    }

    #[inline]
    fn pop(&mut self, at: StackId) -> io::Result<()> {
        let stack = &mut self.instances.stacks[at];
        stack.values.pop();
        stack.is_unknown &= !stack.values.is_empty();
        let StateStack { container, ty, .. } = *stack;
        self.counts.paje_events += 1;
        let (kind, time, value) = (PlainKind::PopState, self.now, ValueId(0));
        self.sink.plain_event(PlainEvent { kind, time, container, ty, value })
    }

    /// Makes a value the only one of a stack. All values but the outermost are popped first,
    /// because readers differ in the effect of a set on the values below the top.
    fn replace(&mut self, at: StackId, value: ValueId) -> io::Result<()> {
        while self.instances.stacks[at].values.len() > 1 {
            self.pop(at)?;
        }
        let stack = &mut self.instances.stacks[at];
        stack.values.clear();
        stack.values.push(value);
        stack.is_unknown = false;
        Ok(())
    }
}

impl Emitter<'_> {
    /// The value of a state or event. `None` if it cannot be computed.
    fn value(&mut self, scope: &RecordScope<'_>, ty: TypeId, value: &ValueCode) -> Option<ValueId> {
        match value {
            ValueCode::Declared(value) => Some(*value),
            ValueCode::Computed(code) => {
                let name = scope.key(code, &mut self.scratch, self.symbols);
                if name == KeyPart::None {
                    self.fail(scope.program, code);
                    return None;
                }
                self.known.value(&self.values, ty, name)
            }
        }
    }
}
