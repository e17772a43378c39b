//! `start` and `end` of links.

use super::ExprScope;
use super::operands::{entity, instance, value_of, wrong_verb};
use super::usage::{EndpointUse, RuleUsage};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::spec::{ActionVerb, ContainerTypeId, EntityTypeId, EntityTypeKind};
use crate::syntax::ast::{self, Expr, Ident, Key};
use crate::value_type::ValueType;

/// A `start` or an `end`, as written.
#[derive(Clone, Copy)]
pub(super) struct WrittenEndpoint<'a> {
    pub(super) is_start: bool,
    pub(super) action: &'a ast::Action,
    pub(super) ty: &'a Ident,
    pub(super) value: Option<&'a Expr>,
    pub(super) key: &'a Key,
    pub(super) instance: &'a ast::Instance,
}

pub(super) fn lower(
    scope: &ExprScope<'_>,
    part: WrittenEndpoint<'_>,
    usage: &mut RuleUsage,
    diagnostics: &mut Diagnostics,
) -> Option<ActionVerb> {
    let model = scope.model;
    let instance_id = instance(scope, part.instance, diagnostics);
    let id =
        find_link_type(scope, part.ty, part.is_start, instance_id.as_ref().map(|instance| instance.ty), diagnostics)?;
    let EntityTypeKind::Link { from, to } = &model.spec.entities[id.index()].kind else {
        let verb = if part.is_start { "start" } else { "end" };
        wrong_verb(model, verb, part.action.verb, (part.ty, id), diagnostics);
        return None;
    };
    let mut kinds = Vec::new();
    let mut key = Vec::new();
    for expr in &part.key.values {
        let (value, ty) = scope.expr(expr, diagnostics);
        if matches!(ty, ValueType::Float | ValueType::Date | ValueType::List) {
            diagnostics.push(
                Diagnostic::error(Code::WrongType, format!("{} cannot match links", ty.name()))
                    .with_location(expr.span, format!("this is {}", ty.name()))
                    .help("keys are integers, text, enums, pointers or bools that both sides record"),
            );
        }
        kinds.push(match ty {
            ValueType::Pointer => ValueType::Integer,
            ValueType::Float | ValueType::Date | ValueType::List => ValueType::Any,
            other => other,
        });
        key.push(value);
    }
    if let Some(span) = part.instance.existing_span {
        diagnostics.push(
            Diagnostic::error(Code::MisplacedExisting, "`existing` is not possible for links")
                .with_location(span, "not possible here")
                .note("links are paired before it is known which containers exist")
                .help("remove `existing`"),
        );
    }
    let instance = instance_id?;
    let (ends, word) = if part.is_start { (from, "from") } else { (to, "to") };
    if !ends.contains(&instance.ty) {
        let names: Vec<String> = ends.iter().map(|end| format!("`{word} {}`", model.pattern_of(*end))).collect();
        let verb = if part.is_start { "starts" } else { "ends" };
        diagnostics.push(
            Diagnostic::error(
                Code::WrongContainer,
                format!("link `{}` never {verb} in a `{}`", part.ty.text, model.container_name(instance.ty)),
            )
            .with_location(part.instance.span, format!("not where `{}` {verb}", part.ty.text))
            .with_label(model.entity_spans[id.index()], "declared here")
            .help(format!("write {}, or also declare this end", names.join(" or "))),
        );
        return None;
    }
    usage.link(id, EndpointUse { is_start: part.is_start, verb: part.action.verb, key: part.key.span, kinds });
    let value = part.value.map(|value| value_of(scope, id, value, diagnostics));
    Some(if part.is_start {
        ActionVerb::StartLink { ty: id, value, key, from: instance }
    } else {
        ActionVerb::EndLink { ty: id, value, key, to: instance }
    })
}

/// The link type with this name. If there are several, the one that allows an endpoint in
/// `container`.
fn find_link_type(
    scope: &ExprScope<'_>,
    name: &Ident,
    is_start: bool,
    container: Option<ContainerTypeId>,
    diagnostics: &mut Diagnostics,
) -> Option<EntityTypeId> {
    let model = scope.model;
    let fitting = model.entities_named(&name.text).iter().copied().find(|id| {
        let EntityTypeKind::Link { from, to } = &model.spec.entities[id.index()].kind else { return false };
        container.is_some_and(|container| if is_start { from } else { to }.contains(&container))
    });
    fitting.or_else(|| entity(model, name, None, diagnostics))
}
