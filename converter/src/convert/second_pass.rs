//! The second pass: runs the programs and sends Pajé operations, in order of date.
//!
//! Arrows are evaluated here, record by record, or before, in columns (`ready`); what their operations do is the same code.

pub(crate) mod ambiguous_ids;
pub(crate) mod columnar;
pub(crate) mod container_cache;
mod containers;
pub(crate) mod definitions;
mod ends;
pub(crate) mod event_headers;
pub(crate) mod failures;
mod gaps;
mod links;

use std::borrow::Cow;
use std::io;

use smallvec::SmallVec;

use super::first_pass::notes::ArrowPlace;
use super::first_pass::survey::Survey;
use super::labels::LabelSuffixes;
use super::plan::Plan;
use crate::report::Counts;
use crate::rules::containers::Instances;
use crate::rules::eval::Scope;
use crate::rules::model::Model;
use crate::rules::program::{Arrow, Code, Op, Program, Target, ValueCode};
use crate::rules::stacks::{Stack, StackId};
use crate::rules::value::{KeyPart, Sym, Symbols, Val};
use crate::rules::value_cache::KnownValues;
use crate::rules::values::Values;
use ambiguous_ids::Ambiguous;
use columnar::Acts;
use container_cache::Found;
pub(crate) use definitions::Once;
use ends::Ends;
use failures::Failed;
use gaps::Gaps;
use links::Started;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{
    ContainerId, Extra, ExtraValue, PajeEvent, PlainEvent, PlainKind, Sink, Source, TypeId, ValueId, VariableOp,
};
use tumit_spill::endpoint_map::Waiting;

/// The picture being made.
pub(crate) struct Picture<'p> {
    pub(crate) plan: &'p Plan<'p>,
    model: &'p Model,
    survey: &'p mut Survey,
    symbols: &'p mut Symbols,
    sink: &'p mut dyn Sink,
    instances: Instances,
    waiting: Waiting<Started, 4>,
    next_key: u64,
    now: GlobalNanos,
    scratch: String,
    gaps: Gaps,
    found: Found,
    failed: Failed,
    ambiguous: Ambiguous,
    /// Those of the model, and in one pass those that were met since.
    values: Cow<'p, Values>,
    known: KnownValues,
    acts: Acts<'p>,
    /// Suffixes of labels that would be equal.
    label_suffixes: LabelSuffixes,
    ends: Ends,
    /// Set where there is one pass.
    once: Option<Once>,
    pub(crate) counts: Counts,
}

/// Explanations of omitted actions and values: one sentence each.
#[derive(Debug, Default)]
pub(crate) struct Explanations {
    /// Values that could not be computed.
    pub(crate) failed: Vec<String>,
    /// Ambiguous references.
    pub(crate) ambiguous: Vec<String>,
}

/// What is sent with a value, fields and a source position.
#[derive(Clone, Copy, Debug)]
enum Entity {
    Set,
    Push,
    Mark,
}

impl Entity {
    #[inline]
    fn event<'a>(
        self,
        (time, container, ty, value): (GlobalNanos, ContainerId, TypeId, ValueId),
        extra: &'a [Extra<'a>],
        source: Option<Source<'a>>,
    ) -> PajeEvent<'a> {
        match self {
            Self::Set => PajeEvent::SetState { time, container, ty, value, extra, source },
            Self::Push => PajeEvent::PushState { time, container, ty, value, extra, source },
            Self::Mark => PajeEvent::NewEvent { time, container, ty, value, extra, source },
        }
    }
}

type Given<'a> = SmallVec<[(&'a str, Val); 8]>;
/// What an entity has beside its value: fields, and related containers.
type Beside<'a> = (&'a [(&'a str, Val)], &'a [(&'a str, ContainerId)]);
type Related<'a> = SmallVec<[(&'a str, ContainerId); 2]>;

impl<'p> Picture<'p> {
    /// Sends the definitions and creates the containers of which there is exactly one. `has_gaps` says that records are
    /// missing: then values for what nobody knows are defined, too. `once` says that no other pass was before this one.
    pub(crate) fn begin(
        plan: &'p Plan<'p>,
        model: &'p Model,
        survey: &'p mut Survey,
        symbols: &'p mut Symbols,
        sink: &'p mut dyn Sink,
        (has_gaps, once): (bool, Option<Once>),
    ) -> io::Result<Self> {
        let events = model.define(sink)?;
        let mut picture = Self {
            plan,
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
            failed: Failed::default(),
            ambiguous: Ambiguous::default(),
            values: Cow::Borrowed(&model.values),
            known: KnownValues::default(),
            acts: Acts::default(),
            label_suffixes: LabelSuffixes::default(),
            ends: Ends::of(plan),
            once,
            counts: Counts { paje_events: events, ..Counts::default() },
        };
        picture.label_suffixes = LabelSuffixes::of(plan, model, picture.symbols);
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
        if now > self.ends.next {
            self.end_before(now)?;
        }
        self.now = GlobalNanos(now);
        self.arrows(scope, only, place)
    }

    /// Runs the actions without a timestamp expression, or the given action, at the current time.
    /// Inlined because it runs once for each record; end rules, the other caller, are rare.
    #[inline(always)]
    fn arrows(&mut self, scope: &Scope<'_>, only: Option<u16>, place: (u32, u64)) -> io::Result<()> {
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

    /// Ends all open containers at `end`, children first. Returns the counts and their explanations;
    /// `None` if the picture is void.
    pub(crate) fn finish(mut self, end: i64) -> io::Result<Option<(Counts, Explanations)>> {
        if !self.settle()? {
            return Ok(None);
        }
        self.end_before(end.saturating_add(1))?;
        self.now = GlobalNanos(end);
        for top in self.instances.tops().into_iter().rev() {
            self.destroy(top)?;
        }
        self.sink.finish(self.now)?;
        let explanations =
            Explanations { failed: self.failed.told(self.symbols), ambiguous: self.ambiguous.sentences() };
        Ok(Some((self.counts, explanations)))
    }

    fn emit(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.counts.paje_events += 1;
        self.sink.event(event)
    }

    fn arrow(&mut self, scope: &Scope<'_>, arrow: &Arrow, place: ArrowPlace) -> io::Result<()> {
        if self.once.is_some() {
            self.meet_values(scope, arrow)?;
        }
        if arrow.is_by_value
            && let Some(on) = arrow.op.container()
            && self.is_ambiguous(scope, on)
        {
            return Ok(());
        }
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
                self.set(self.instances.stack(instance, *slot), value, place.0)?;
                self.entity(scope, arrow, Entity::Set, (instance, *ty, value))
            }
            Op::PushState { slot, ty, value, on } => {
                let instance = self.locate(scope, on)?;
                let Some(value) = self.value(scope, *ty, value) else { return Ok(()) };
                self.push(self.instances.stack(instance, *slot), value, place.0);
                self.entity(scope, arrow, Entity::Push, (instance, *ty, value))
            }
            Op::PopState { slot, ty, value, on } => {
                let Some(instance) = self.existing(scope, on) else {
                    self.pop_nowhere(place.0);
                    return Ok(());
                };
                let wanted = match value {
                    Some(value) => self.value(scope, *ty, value).map(Some),
                    None => Some(None),
                };
                self.pop_to(self.instances.stack(instance, *slot), wanted, place.0)
            }
            Op::ResetState { slot, on, .. } => {
                let Some(instance) = self.existing(scope, on) else { return Ok(()) };
                self.reset(self.instances.stack(instance, *slot), place.0)
            }
            Op::Variable { op, ty, value, on } => {
                let instance = self.locate(scope, on)?;
                let number = scope.shown().eval(value, &mut self.scratch, self.symbols).number();
                self.variable(instance, (*ty, *op, number), scope.program, value)
            }
            Op::Mark { ty, value, on } => {
                let instance = self.locate(scope, on)?;
                let Some(value) = self.value(scope, *ty, value) else { return Ok(()) };
                self.entity(scope, arrow, Entity::Mark, (instance, *ty, value))
            }
            Op::Link { .. } => self.link_arrow(scope, arrow, place),
            Op::Line { .. } | Op::Nothing => Ok(()),
        }
    }

    /// Whether a target names a process or thread by values that several have. If so, it is
    /// counted.
    #[inline(never)]
    fn is_ambiguous(&mut self, scope: &Scope<'_>, on: &Target) -> bool {
        let Some(reference) = &on.by_value else { return false };
        let Some(referent) = on.ambiguous_referent(scope, &mut self.scratch, self.symbols) else { return false };
        let values = referent.values(scope, &mut self.scratch, self.symbols);
        self.counts.ambiguous += 1;
        self.ambiguous.add(reference, referent, &values, self.symbols);
        true
    }

    /// Sends a state or point event, with its fields and source position.
    fn entity(
        &mut self,
        scope: &Scope<'_>,
        arrow: &Arrow,
        what: Entity,
        (instance, ty, value): (usize, TypeId, ValueId),
    ) -> io::Result<()> {
        if arrow.with.is_empty() && arrow.related.is_empty() {
            return self.tell(what, (instance, ty, value), (&[], &[]), scope.source());
        }
        let (given, related) = self.fields(scope, arrow)?;
        self.tell(what, (instance, ty, value), (&given, &related), scope.source())
    }

    fn tell(
        &mut self,
        what: Entity,
        (instance, ty, value): (usize, TypeId, ValueId),
        (given, related): Beside<'_>,
        source: Option<(Sym, u32)>,
    ) -> io::Result<()> {
        let (time, container) = (self.now, self.instances.get(instance).id);
        self.counts.paje_events += 1;
        let source = source_of(source, self.symbols);
        if given.is_empty() && related.is_empty() {
            return self.sink.event(&what.event((time, container, ty, value), &[], source));
        }
        let mut extra = Extras::new();
        fill(&mut extra, (given, related), &mut self.scratch, self.symbols);
        self.sink.event(&what.event((time, container, ty, value), &extra, source))
    }

    /// A stack gets one value alone.
    fn set(&mut self, at: StackId, value: ValueId, stream: u32) -> io::Result<()> {
        self.replace(at, value)?;
        self.gaps.is_certain(&mut self.instances.stacks, at, stream);
        Ok(())
    }

    /// A stack gets a further value.
    #[inline]
    fn push(&mut self, at: StackId, value: ValueId, stream: u32) {
        self.gaps.changes(&mut self.instances.stacks, at, stream);
        self.instances.stacks[at].values.push(value);
    }

    /// All values of a stack end.
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
        (ty, op, number): (TypeId, VariableOp, Option<f64>),
        program: &Program,
        code: &Code,
    ) -> io::Result<()> {
        // Pajé has no text for infinities and what is no number.
        let Some(value) = number.filter(|value| value.is_finite()) else {
            self.fail(program, code);
            return Ok(());
        };
        let container = self.instances.get(instance).id;
        self.emit(&PajeEvent::Variable { time: self.now, container, ty, op, value })
    }

    /// A value cannot be computed.
    #[cold]
    fn fail(&mut self, program: &Program, code: &Code) {
        self.counts.not_computable += 1;
        self.failed.add(program, code);
    }

    /// There is no container to pop from: it may have been made by a record that is lost.
    fn pop_nowhere(&mut self, stream: u32) {
        self.counts.pops_of_nothing += u64::from(!self.gaps.has(stream));
    }

    /// The innermost value ends, or those down to the one that is wanted; `None` when that is not known.
    #[inline]
    fn pop_to(&mut self, at: StackId, wanted: Option<Option<ValueId>>, stream: u32) -> io::Result<()> {
        let stack = &self.instances.stacks[at];
        // Nearly always.
        if wanted == Some(None) && !stack.is_unknown && !stack.values.is_empty() {
            self.gaps.changes(&mut self.instances.stacks, at, stream);
            return self.pop(at);
        }
        self.pop_down(at, wanted, stream)
    }

    fn pop_down(&mut self, at: StackId, wanted: Option<Option<ValueId>>, stream: u32) -> io::Result<()> {
        let stack = &self.instances.stacks[at];
        let known = &stack.values[stack.floor()..];
        let keep = match wanted {
            Some(None) => known.len().checked_sub(1),
            Some(Some(wanted)) => known.iter().rposition(|open| *open == wanted),
            None => None,
        };
        let Some(keep) = keep.map(|keep| keep + stack.floor()) else {
            // It may end what lost records began: then what is below is not known either.
            if wanted.is_some() && self.gaps.may_hide(stack, stream) {
                return self.forget(at);
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
        let Stack { container, ty, .. } = *stack;
        self.counts.paje_events += 1;
        let (kind, time, value) = (PlainKind::PopState, self.now, ValueId(0));
        self.sink.plain(PlainEvent { kind, time, container, ty, value })
    }

    /// Makes a value the only one of a stack. Readers differ in what a new state does to those below the top, so these are
    /// popped before.
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

impl Picture<'_> {
    /// The value of a state or event; `None` when it cannot be computed.
    fn value(&mut self, scope: &Scope<'_>, ty: TypeId, value: &ValueCode) -> Option<ValueId> {
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

    /// Evaluates an arrow's fields and finds its related containers.
    fn fields<'a>(&mut self, scope: &Scope<'_>, arrow: &'a Arrow) -> io::Result<(Given<'a>, Related<'a>)> {
        let mut related = Related::new();
        for (how, whom) in &arrow.related {
            if self.is_ambiguous(scope, whom) {
                continue;
            }
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

/// Fields as the sink takes them.
type Extras<'a> = SmallVec<[Extra<'a>; 8]>;

/// Fills in fields as the sink takes them: those given, then related containers. Values that are no numbers become text. `extras` are empty.
fn fill<'a>(extras: &mut Extras<'a>, (given, related): Beside<'a>, scratch: &'a mut String, symbols: &'a Symbols) {
    let number = |val: &Val| match *val {
        Val::Int(value) => Some(ExtraValue::Integer(value)),
        Val::Float(value) => Some(ExtraValue::Float(value)),
        _ => None,
    };
    if given.iter().all(|(_, val)| number(val).is_some()) {
        extras.extend(given.iter().filter_map(|(name, val)| Some(Extra { name, value: number(val)? })));
    } else {
        // Text first, as it grows the scratch text from which the fields then borrow.
        let given: Given<'_> = given.iter().map(|(name, val)| (*name, val.in_scratch(scratch, symbols))).collect();
        let scratch: &'a String = scratch;
        let text = |val: Val| ExtraValue::Text(val.text(scratch, symbols).unwrap_or("?"));
        extras.extend(given.iter().map(|(name, val)| Extra { name, value: number(val).unwrap_or_else(|| text(*val)) }));
    }
    extras.extend(related.iter().map(|(name, id)| Extra { name, value: ExtraValue::Container(*id) }));
}

fn source_of(source: Option<(Sym, u32)>, symbols: &Symbols) -> Option<Source<'_>> {
    source.map(|(file, line)| Source { file: symbols.text(file), line })
}
