//! Use of links and containers by all rules together.

use std::collections::BTreeMap;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::draft::SpecModel;
use crate::source_text::SourceSpan;
use crate::spec::{ContainerTypeId, EntityTypeId, OperationKind};
use crate::syntax::ast::{Action, ClauseKind};
use crate::value_type::ValueType;

/// A `create`, as written.
#[derive(Debug)]
pub(crate) struct CreateUse {
    pub(crate) container: ContainerTypeId,
    pub(crate) fields: Vec<String>,
    pub(crate) span: SourceSpan,
}

/// A `start` or an `end` of a link, as written.
#[derive(Debug)]
pub(super) struct EndpointUse {
    pub(super) is_start: bool,
    pub(super) verb: SourceSpan,
    pub(super) key: SourceSpan,
    pub(super) kinds: Vec<ValueType>,
}

/// A part of a collective operation, as written.
#[derive(Debug)]
pub(super) struct CollectiveUse {
    pub(super) span: SourceSpan,
    pub(super) communicator: Vec<ValueType>,
    pub(super) key: Vec<ValueType>,
}

/// Data collected from all rules.
#[derive(Debug, Default)]
pub(crate) struct RuleUsage {
    pub(crate) creates: Vec<CreateUse>,
    links: Vec<(EntityTypeId, EndpointUse)>,
    /// By state type and kind.
    collectives: BTreeMap<(EntityTypeId, OperationKind), Vec<CollectiveUse>>,
    /// Whether an action has an error. Checks for missing actions are then skipped.
    pub(crate) has_error: bool,
}

impl RuleUsage {
    pub(super) fn create(&mut self, container: ContainerTypeId, action: &Action, span: SourceSpan) {
        let mut fields = Vec::new();
        for clause in &action.clauses {
            if let ClauseKind::With(clause_values) = &clause.kind {
                fields.extend(clause_values.iter().map(|field| field.name.text.clone()));
            }
        }
        self.creates.push(CreateUse { container, fields, span });
    }

    pub(super) fn link(&mut self, id: EntityTypeId, end: EndpointUse) {
        self.links.push((id, end));
    }

    pub(super) fn collective(&mut self, operation: (EntityTypeId, OperationKind), part: CollectiveUse) {
        self.collectives.entry(operation).or_default().push(part);
    }

    /// Reports parts of collective operations with different keys.
    pub(crate) fn check_collectives(&self, model: &SpecModel, diagnostics: &mut Diagnostics) {
        for ((id, kind), parts) in &self.collectives {
            let Some((first, later_parts)) = parts.split_first() else { continue };
            let differs = |collective_use: &&CollectiveUse| {
                !are_compatible(&first.communicator, &collective_use.communicator)
                    || !are_compatible(&first.key, &collective_use.key)
            };
            for collective_use in later_parts.iter().filter(differs) {
                let (kind, state) = (kind.word(), &model.spec.entities[id.index()].name);
                diagnostics.push(
                    Diagnostic::error(
                        Code::CollectiveKeyMismatch,
                        format!("keys of `collective {kind}` of state `{state}` differ"),
                    )
                    .with_location(collective_use.span, collective_use.shape())
                    .with_label(first.span, first.shape())
                    .note("parts belong to one operation if their communicators and keys are equal"),
                );
            }
        }
    }

    /// Reports links with different keys, and links that start and never end.
    pub(crate) fn check(&self, model: &SpecModel, diagnostics: &mut Diagnostics) {
        let mut of_entity: Vec<Vec<&EndpointUse>> = vec![Vec::new(); model.spec.entities.len()];
        self.links.iter().for_each(|(id, end)| of_entity[id.index()].push(end));
        for (index, entity) in model.spec.entities.iter().enumerate() {
            let ends = || of_entity[index].iter().copied();
            let Some(first) = ends().next() else { continue };
            for other in ends().filter(|other| !are_compatible(&first.kinds, &other.kinds)) {
                let (has, needs) = (other.kinds.len(), first.kinds.len());
                let title = if has == needs {
                    format!("keys of link `{}` differ", entity.name)
                } else {
                    let values = if has == 1 { "1 value".to_owned() } else { format!("{has} values") };
                    format!("this key has {values}, but the first key of link `{}` has {needs}", entity.name)
                };
                diagnostics.push(
                    Diagnostic::error(Code::LinkKeyMismatch, title)
                        .with_location(other.key, shape(&other.kinds))
                        .with_label(first.key, shape(&first.kinds))
                        .note("a start and an end are one link if their keys are equal"),
                );
            }
            if self.has_error || ends().any(|end| end.is_start != first.is_start) {
                continue;
            }
            let (does, never) = if first.is_start { ("started", "ended") } else { ("ended", "started") };
            let help = if first.is_start { "end" } else { "start" };
            diagnostics.push(
                Diagnostic::warning(Code::OpenLink, format!("link `{}` is {does} but never {never}", entity.name))
                    .with_location(first.verb, format!("{does} here"))
                    .with_label(model.entity_spans[index], "no link of this type is drawn")
                    .help(format!("add `{help} {} key (…) …` to the rule of the other side", entity.name)),
            );
        }
    }
}

impl CollectiveUse {
    fn shape(&self) -> String {
        let part = |noun: &str, kinds: &[ValueType]| match kinds {
            [] => format!("no {noun}"),
            _ => format!("the {noun} is {}", names(kinds)),
        };
        format!("{}, {}", part("communicator", &self.communicator), part("key", &self.key))
    }
}

fn are_compatible(a: &[ValueType], b: &[ValueType]) -> bool {
    let same = |a: &ValueType, b: &ValueType| {
        a == b || *a == ValueType::Any || *b == ValueType::Any || is_text(*a) && is_text(*b)
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

fn is_text(ty: ValueType) -> bool {
    matches!(ty, ValueType::Text | ValueType::Enum(_))
}

fn shape(kinds: &[ValueType]) -> String {
    format!("this key is {}", names(kinds))
}

fn names(kinds: &[ValueType]) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    names.join(" and ")
}
