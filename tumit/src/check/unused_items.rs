//! Warnings about unused declarations of the root file. Other files can be libraries of several
//! specs.

use std::collections::BTreeSet;

use super::action::RuleUsage;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::draft::{EventRef, SpecModel};
use crate::load::ParsedFile;
use crate::resolve::constants::names_in;
use crate::source_text::FileId;
use crate::spec::{Action, ActionVerb, EntityTypeId, EntityTypeKind, RecordId, ValueExpr};
use crate::syntax::ast::{self, ActionKind, ClauseKind, Count, Item, TreeMember, TypeKind, TypeRef};

/// Warns about unused declarations of the root file. `actions` are those of all rules. Entity types
/// are not checked if the spec has Pajé text.
pub(super) fn check(
    files: &[ParsedFile],
    model: &SpecModel,
    (actions, has_paje_text): (&[&Action], bool),
    usage: &RuleUsage,
    diagnostics: &mut Diagnostics,
) {
    let Some(root) = files.last() else { return };
    if usage.has_error {
        return;
    }
    let names = names_used(files);
    for item in &root.tree.items {
        let (noun, name) = match item {
            Item::Alias(alias) => ("type", &alias.name),
            Item::Enum(item) => ("enum", &item.name),
            Item::Level(level) if level.events.is_empty() => {
                diagnostics.push(
                    Diagnostic::warning(Code::EmptyLevel, format!("level `{}` has no events", level.name.text))
                        .with_location(level.name.span, "has no effect")
                        .help("declare an `event` or `span` in it, or remove it"),
                );
                continue;
            }
            _ => continue,
        };
        if !names.contains(&name.text) {
            diagnostics.push(
                Diagnostic::warning(Code::Unused, format!("{noun} `{}` is never used", name.text))
                    .with_location(name.span, "not used"),
            );
        }
    }
    if !has_paje_text {
        entities(root.file, model, actions, diagnostics);
    }
    events(files, root.file, model, diagnostics);
}

/// All names in types and expressions.
fn names_used(files: &[ParsedFile]) -> BTreeSet<String> {
    let mut names = Vec::new();
    for item in files.iter().flat_map(|loaded| &loaded.tree.items) {
        match item {
            Item::Const(constant) => {
                names_in(&constant.value, &mut names);
                constant.ty.iter().for_each(|ty| names_of_type(ty, &mut names));
            }
            Item::Alias(alias) => names_of_type(&alias.ty, &mut names),
            Item::Level(level) => {
                let fields = level.events.iter().flat_map(|event| event.fields.iter().chain(&event.end_fields));
                fields.for_each(|field| names_of_type(&field.ty, &mut names));
            }
            Item::Paje(members) => names_of_tree(members, &mut names),
            Item::Rule(rule) => names_of_rule(rule, &mut names),
            Item::Output(output) => output.rules.iter().for_each(|rule| names_of_rule(rule, &mut names)),
            Item::Trace(_) | Item::Version(..) | Item::Use(_) | Item::Enum(_) => {}
        }
    }
    names.into_iter().collect()
}

fn names_of_type(ty: &TypeRef, names: &mut Vec<String>) {
    match &ty.kind {
        TypeKind::Named(name) => names.push(name.text.clone()),
        TypeKind::Variable(element) => names_of_type(element, names),
        TypeKind::Fixed(element, count) => {
            names_of_type(element, names);
            if let Count::Named(name) = count {
                names.push(name.text.clone());
            }
        }
    }
}

fn names_of_tree(members: &[TreeMember], names: &mut Vec<String>) {
    for member in members {
        if let TreeMember::Container(container) = member {
            container.keys.iter().for_each(|key| names_of_type(&key.ty, names));
            names_of_tree(&container.members, names);
        }
    }
}

fn names_of_rule(rule: &ast::Rule, names: &mut Vec<String>) {
    let mut visit = |exprs: &[ast::Expr]| exprs.iter().for_each(|expr| names_in(expr, names));
    for action in &rule.actions {
        match &action.kind {
            ActionKind::Create(instance) | ActionKind::Destroy(instance) | ActionKind::Reset { instance, .. } => {
                visit(&instance.keys);
            }
            ActionKind::Assign { value, instance: on, .. } => {
                visit(std::slice::from_ref(value));
                visit(&on.keys);
            }
            ActionKind::Pop { value, instance: on, .. } => {
                visit(value.as_slice());
                visit(&on.keys);
            }
            ActionKind::Start { value, key, instance: at, .. } | ActionKind::End { value, key, instance: at, .. } => {
                visit(value.as_slice());
                visit(&key.values);
                visit(&at.keys);
            }
            ActionKind::Template { arguments, .. } => visit(arguments),
            ActionKind::Ignore => {}
        }
        for clause in &action.clauses {
            match &clause.kind {
                ClauseKind::Related(_, whom) => visit(&whom.keys),
                ClauseKind::Collective(part) => {
                    part.communicator.iter().chain(&part.key).for_each(|key| visit(&key.values));
                    part.root.iter().for_each(|root| visit(&root.keys));
                    visit(part.bytes.as_slice());
                }
                ClauseKind::At(expr) | ClauseKind::When(expr) => visit(std::slice::from_ref(expr)),
                ClauseKind::With(fields) => {
                    for field in fields {
                        match &field.value {
                            Some(value) => visit(std::slice::from_ref(value)),
                            None => names_in_field(&field.name.text, &mut visit),
                        }
                    }
                }
            }
        }
    }
}

/// `with { name }` stands for `name = name`.
fn names_in_field(name: &str, visit: &mut impl FnMut(&[ast::Expr])) {
    let ident = ast::Ident { text: name.to_owned(), span: crate::source_text::SourceSpan::default(), raw: false };
    let kind = ast::ExprKind::Path(ast::Path { name: ident, part: None });
    visit(&[ast::Expr { kind, span: crate::source_text::SourceSpan::default() }]);
}

/// The use of one type by rules.
#[derive(Clone, Debug, Default)]
struct TypeUsage {
    is_used: bool,
    set: bool,
    pushed: bool,
    /// Whether a rule pops, resets or sets it.
    has_end: bool,
    is_computed: bool,
    values: BTreeSet<u32>,
    popped: BTreeSet<u32>,
}

impl TypeUsage {
    fn value(&mut self, value: &ValueExpr) {
        match value {
            ValueExpr::Declared(id) => drop(self.values.insert(id.0)),
            ValueExpr::Computed(_) => self.is_computed = true,
        }
    }
}

fn entities(root: FileId, model: &SpecModel, actions: &[&Action], diagnostics: &mut Diagnostics) {
    let mut uses = vec![TypeUsage::default(); model.spec.entities.len()];
    for action in actions {
        count(&action.verb, &mut uses);
    }
    for (index, entity) in model.spec.entities.iter().enumerate() {
        let (uses, span) = (&uses[index], model.entity_spans[index]);
        if span.file != root {
            continue;
        }
        let name = &entity.name;
        if !uses.is_used {
            diagnostics.push(
                Diagnostic::warning(Code::UnusedType, format!("no rule creates anything of type `{name}`"))
                    .with_location(span, "nothing of this type is shown")
                    .help(match entity.kind {
                        EntityTypeKind::State => format!("write `set {name} = …` or `push {name} = …` in a rule"),
                        EntityTypeKind::Event => format!("write `mark {name} = …` in a rule"),
                        EntityTypeKind::Variable => format!("write `set {name} = …` in a rule"),
                        EntityTypeKind::Link { .. } => {
                            format!("write `start {name} key (…) …` and `end {name} key (…) …` in rules")
                        }
                    }),
            );
            continue;
        }
        if entity.kind == EntityTypeKind::State {
            states(EntityTypeId(crate::draft::index(index)), uses, model, diagnostics);
        }
        if uses.is_computed || matches!(entity.kind, EntityTypeKind::Variable) {
            continue;
        }
        for (value, declared) in entity.values.iter().enumerate() {
            let value_id = crate::draft::index(value);
            if !uses.values.contains(&value_id) && !uses.popped.contains(&value_id) {
                let place = model.value_spans[index].get(value).copied().unwrap_or(span);
                diagnostics.push(
                    Diagnostic::warning(
                        Code::UnusedValue,
                        format!("no rule gives `{name}` the value `{}`", declared.name),
                    )
                    .with_location(place, "never shown"),
                );
            }
        }
    }
}

fn states(id: EntityTypeId, uses: &TypeUsage, model: &SpecModel, diagnostics: &mut Diagnostics) {
    let entity = &model.spec.entities[id.index()];
    let (name, span) = (&entity.name, model.entity_spans[id.index()]);
    if uses.pushed && !uses.has_end {
        diagnostics.push(
            Diagnostic::warning(Code::PushedForever, format!("states of `{name}` are pushed but never end"))
                .with_location(span, "their depth grows without limit")
                .help(format!("write `pop {name}` at the end of such a state, or `set {name} = …` instead of `push`")),
        );
    }
    if !uses.pushed && !uses.set {
        diagnostics.push(
            Diagnostic::warning(Code::NeverBegun, format!("states of `{name}` end but never begin"))
                .with_location(span, "no rule sets or pushes one"),
        );
    } else if !uses.is_computed {
        for value in uses.popped.difference(&uses.values) {
            let declared = &entity.values[*value as usize].name;
            let place = model.value_spans[id.index()].get(*value as usize).copied().unwrap_or(span);
            diagnostics.push(
                Diagnostic::warning(
                    Code::NeverBegun,
                    format!("`pop {name} {declared}` ends a state that never begins"),
                )
                .with_location(place, "no rule sets or pushes it"),
            );
        }
    }
}

fn count(verb: &ActionVerb, uses: &mut [TypeUsage]) {
    let (ty, value) = match verb {
        ActionVerb::SetState { ty, value, .. } => {
            uses[ty.index()].set = true;
            uses[ty.index()].has_end = true;
            (ty, Some(value))
        }
        ActionVerb::PushState { ty, value, .. } => {
            uses[ty.index()].pushed = true;
            (ty, Some(value))
        }
        ActionVerb::PopState { ty, value, .. } => {
            let uses = &mut uses[ty.index()];
            uses.has_end = true;
            if let Some(ValueExpr::Declared(id)) = value {
                uses.popped.insert(id.0);
            }
            (ty, None)
        }
        ActionVerb::ResetState { ty, .. } => {
            uses[ty.index()].has_end = true;
            (ty, None)
        }
        ActionVerb::Variable { ty, .. } => (ty, None),
        ActionVerb::Mark { ty, value, .. } => (ty, Some(value)),
        ActionVerb::StartLink { ty, value, .. } | ActionVerb::EndLink { ty, value, .. } => {
            // A link without a value has the value of its type.
            (ty, value.as_ref())
        }
        ActionVerb::Create { .. } | ActionVerb::Destroy { .. } | ActionVerb::Ignore => return,
    };
    let uses = &mut uses[ty.index()];
    uses.is_used = true;
    value.into_iter().for_each(|value| uses.value(value));
}

/// Reports events without rules in a spec with rules. They appear outside the tree of the spec.
fn events(files: &[ParsedFile], root: FileId, model: &SpecModel, diagnostics: &mut Diagnostics) {
    let items = || files.iter().flat_map(|loaded| &loaded.tree.items);
    let ruled = model.spec.rule_texts.iter().flat_map(|rule| &rule.records).copied().collect::<BTreeSet<RecordId>>();
    let has_stream = model.spec.containers.iter().any(|container| container.stream.is_some());
    if ruled.is_empty() || has_stream {
        return;
    }
    let in_outputs = items().any(|item| matches!(item, Item::Output(_)));
    for (name, reference) in &model.events {
        let EventRef::Event(record) = reference else { continue };
        let span = model.record_spans[record.index()];
        if ruled.contains(record) || in_outputs || span.file != root {
            continue;
        }
        diagnostics.push(
            Diagnostic::warning(Code::NoRule, format!("event `{name}` has no rule"))
                .with_location(span, "shown on its thread, outside the tree of this spec")
                .help(format!("write `rule {name} -> …;`, or `rule {name} -> ignore;`")),
        );
    }
}
