//! States and point events with their fields, related containers and source positions.

use std::io;

use smallvec::SmallVec;

use super::emitter::Emitter;
use crate::rules::eval::RecordScope;
use crate::rules::program::ProgramAction;
use crate::rules::rule_value::{RuleValue, Symbols};
use crate::rules::stream_facts::SourceLocation;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ExtraField, ExtraValue, PajeEvent, SourcePosition, TypeId, ValueId};

/// An operation that is sent with a value, fields and a source position.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntityHead {
    Set,
    Push,
    Mark,
}

impl EntityHead {
    #[inline]
    fn event<'a>(
        self,
        EntityCore { time, container, ty, value }: EntityCore,
        extra: &'a [ExtraField<'a>],
        source: Option<SourcePosition<'a>>,
    ) -> PajeEvent<'a> {
        match self {
            Self::Set => PajeEvent::SetState { time, container, ty, value, extra, source },
            Self::Push => PajeEvent::PushState { time, container, ty, value, extra, source },
            Self::Mark => PajeEvent::NewEvent { time, container, ty, value, extra, source },
        }
    }
}

/// The data that every state and point event has.
#[derive(Clone, Copy, Debug)]
struct EntityCore {
    time: GlobalNanos,
    container: ContainerId,
    ty: TypeId,
    value: ValueId,
}

/// A value in a container.
#[derive(Clone, Copy, Debug)]
pub(super) struct InstanceValue {
    pub(super) instance: usize,
    pub(super) ty: TypeId,
    pub(super) value: ValueId,
}

pub(super) type NamedValues<'a> = SmallVec<[(&'a str, RuleValue); 8]>;
/// The additions of an entity to its value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EntityExtras<'a> {
    pub(super) fields: &'a [(&'a str, RuleValue)],
    pub(super) related_containers: &'a [(&'a str, ContainerId)],
}

pub(super) type RelatedContainers<'a> = SmallVec<[(&'a str, ContainerId); 2]>;

impl Emitter<'_> {
    /// Sends a state or point event, with its fields and source position.
    pub(super) fn entity(
        &mut self,
        scope: &RecordScope<'_>,
        action: &ProgramAction,
        head: EntityHead,
        main: InstanceValue,
    ) -> io::Result<()> {
        if let Some(pattern) = &action.collective {
            return self.collective_part(scope, (action, pattern), head, main);
        }
        if action.fields.is_empty() && action.related_targets.is_empty() {
            return self.emit_action(head, main, EntityExtras::default(), scope.source());
        }
        let (fields, related) = self.fields(scope, action)?;
        self.emit_action(head, main, EntityExtras { fields: &fields, related_containers: &related }, scope.source())
    }

    pub(super) fn emit_action(
        &mut self,
        head: EntityHead,
        InstanceValue { instance, ty, value }: InstanceValue,
        extras: EntityExtras<'_>,
        source: Option<SourceLocation>,
    ) -> io::Result<()> {
        let core = EntityCore { time: self.time, container: self.instances.get(instance).id, ty, value };
        self.counts.paje_events += 1;
        let source = source_of(source, self.symbols);
        if extras.fields.is_empty() && extras.related_containers.is_empty() {
            return self.sink.event(&head.event(core, &[], source));
        }
        let mut extra = SinkExtras::new();
        fill(&mut extra, extras, &mut self.scratch, self.symbols);
        self.sink.event(&head.event(core, &extra, source))
    }

    /// Evaluates the fields of an action and finds its related containers.
    pub(super) fn fields<'a>(
        &mut self,
        scope: &RecordScope<'_>,
        action: &'a ProgramAction,
    ) -> io::Result<(NamedValues<'a>, RelatedContainers<'a>)> {
        let mut related = RelatedContainers::new();
        for (name, target) in &action.related_targets {
            if self.is_ambiguous(scope, target) {
                continue;
            }
            let instance = self.locate(scope, target)?;
            related.push((name, self.instances.get(instance).id));
        }
        let mut fields = NamedValues::new();
        for (name, code) in &action.fields {
            fields.push((name, scope.with_corrected_time().eval(code, &mut self.scratch, self.symbols)));
        }
        Ok((fields, related))
    }
}

/// Fields in the form of the sink.
pub(super) type SinkExtras<'a> = SmallVec<[ExtraField<'a>; 8]>;

/// Converts fields and related containers to the form of the sink. Values that are not numbers
/// become text. `extras` must be empty.
pub(super) fn fill<'a>(
    extras: &mut SinkExtras<'a>,
    EntityExtras { fields, related_containers: related }: EntityExtras<'a>,
    scratch: &'a mut String,
    symbols: &'a Symbols,
) {
    let number = |val: &RuleValue| match *val {
        RuleValue::Int(value) => Some(ExtraValue::Integer(value)),
        RuleValue::Float(value) => Some(ExtraValue::Float(value)),
        _ => None,
    };
    if fields.iter().all(|(_, val)| number(val).is_some()) {
        extras.extend(fields.iter().filter_map(|(name, val)| Some(ExtraField { name, value: number(val)? })));
    } else {
        // Text first, because it grows the scratch text from which the fields then borrow.
        let fields: NamedValues<'_> =
            fields.iter().map(|(name, val)| (*name, val.in_scratch(scratch, symbols))).collect();
        let scratch: &'a String = scratch;
        let text = |val: RuleValue| ExtraValue::Text(val.text(scratch, symbols).unwrap_or("?"));
        extras.extend(
            fields.iter().map(|(name, val)| ExtraField { name, value: number(val).unwrap_or_else(|| text(*val)) }),
        );
    }
    extras.extend(related.iter().map(|(name, id)| ExtraField { name, value: ExtraValue::Container(*id) }));
}

pub(super) fn source_of(source: Option<SourceLocation>, symbols: &Symbols) -> Option<SourcePosition<'_>> {
    source.map(|site| SourcePosition { file: symbols.text(site.file), line: site.line })
}
