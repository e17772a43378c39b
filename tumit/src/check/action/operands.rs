//! The operands of actions: entity types, containers with their keys, and values.

use crate::diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::draft::{KeyModel, SpecModel, index, integer_range, list_candidates};
use crate::expr::ExprScope;
use crate::source_text::SourceSpan;
use crate::spec::{
    ContainerTypeId, EntityTypeId, EntityTypeKind, Expr, Instance, PatternPiece, TextPattern, ValueExpr, ValueId,
};
use crate::syntax::ast::{self, ExprKind, Ident};
use crate::value_type::ValueType;
use tracer_format::schema::Scalar;

/// The entity with this name. If several containers have one, it is the entity of `holder`.
pub(super) fn entity(
    model: &SpecModel,
    name: &Ident,
    holder: Option<ContainerTypeId>,
    diagnostics: &mut Diagnostics,
) -> Option<EntityTypeId> {
    let named = model.entities_named(&name.text);
    let of_holder = named.iter().find(|id| Some(model.spec.entities[id.index()].container) == holder);
    if let Some(id) = of_holder.or(named.first()) {
        return Some(*id);
    }
    if model.containers.contains_key(&name.text) {
        diagnostics.push(
            Diagnostic::error(Code::UnknownEntity, format!("`{}` is a container", name.text))
                .with_location(name.span, "expected a state, event, variable or link"),
        );
        return None;
    }
    let names = model.spec.entities.iter().map(|entity| entity.name.as_str());
    model.report_unknown(Code::UnknownEntity, "state, event, variable or link", name, names, diagnostics);
    None
}

pub(super) fn wrong_verb(
    model: &SpecModel,
    verb: &str,
    span: SourceSpan,
    (name, id): (&Ident, EntityTypeId),
    diagnostics: &mut Diagnostics,
) {
    let name = &name.text;
    let (kind, help) = match model.spec.entities[id.index()].kind {
        EntityTypeKind::State => (
            "a state",
            format!("change states by `set {name} = …`, `push {name} = …`, `pop {name}` and `reset {name}`"),
        ),
        EntityTypeKind::Event => ("an event", format!("write `mark {name} = …`")),
        EntityTypeKind::Variable => {
            ("a variable", format!("write `set {name} = …`, `add {name} = …` or `subtract {name} = …`"))
        }
        EntityTypeKind::Link { .. } => {
            ("a link", format!("write `start {name} key (…) from …` and `end {name} key (…) to …`"))
        }
    };
    diagnostics.push(
        Diagnostic::error(Code::WrongVerb, format!("`{verb}` is not possible for {kind}"))
            .with_location(span, format!("`{name}` is {kind}"))
            .with_label(model.entity_spans[id.index()], "declared here")
            .help(help),
    );
}

/// The instance, if the entity belongs to containers of its type.
pub(super) fn held_by(
    model: &SpecModel,
    (name, id): (&Ident, EntityTypeId),
    (instance, span): (Instance, SourceSpan),
    diagnostics: &mut Diagnostics,
) -> Option<Instance> {
    let holder = model.spec.entities[id.index()].container;
    if holder == instance.ty {
        return Some(instance);
    }
    diagnostics.push(
        Diagnostic::error(
            Code::WrongContainer,
            format!(
                "`{}` belongs to `{}`, not to `{}`",
                name.text,
                model.container_name(holder),
                model.container_name(instance.ty)
            ),
        )
        .with_location(span, format!("has no `{}`", name.text))
        .with_label(model.entity_spans[id.index()], "declared here")
        .help(format!("write `on {}`", model.pattern_of(holder))),
    );
    None
}

/// A container and its keys.
pub(in crate::check) fn instance(
    scope: &ExprScope<'_>,
    ast_instance: &ast::Instance,
    diagnostics: &mut Diagnostics,
) -> Option<Instance> {
    let model = scope.model;
    let name = &ast_instance.name;
    let Some(ty) = model.containers.get(&name.text).copied() else {
        let containers = model.containers.keys().map(String::as_str);
        model.report_unknown(Code::UnknownContainer, "container", name, containers, diagnostics);
        return None;
    };
    let keys = model.path_keys(ty);
    if keys.len() != ast_instance.keys.len() {
        let needs = match keys.len() {
            0 => "none".to_owned(),
            n => n.to_string(),
        };
        let given_types = values_of(scope, &ast_instance.keys, diagnostics);
        let path = if keys.len() > 1 { ", for its whole path" } else { "" };
        diagnostics.push(
            Diagnostic::error(
                Code::KeyCount,
                format!("this key has {given_types}, but the container `{}` needs {needs}", name.text),
            )
            .with_location(ast_instance.span, format!("{} given, {needs} needed{path}", ast_instance.keys.len()))
            .with_label(model.container_spans[ty.index()], "declared here")
            .help(format!("write `{}`", model.pattern_of(ty))),
        );
        return None;
    }
    let lowered = keys.iter().zip(&ast_instance.keys).map(|(key, expr)| key_value(scope, key, expr, diagnostics));
    Some(Instance {
        ty,
        keys: lowered.collect(),
        must_exist: ast_instance.existing_span.is_some(),
        span: Some(ast_instance.span),
    })
}

/// Describes the types of a key: `3 integers`, or `2 values` if they differ. Reports errors in the
/// values.
fn values_of(scope: &ExprScope<'_>, values: &[ast::Expr], diagnostics: &mut Diagnostics) -> String {
    let types: Vec<ValueType> = values.iter().map(|value| scope.expr(value, diagnostics).1).collect();
    let of_all = |is: fn(ValueType) -> bool| !types.is_empty() && types.iter().all(|ty| is(*ty));
    let noun = if of_all(|ty| ty == ValueType::Integer) {
        "integer"
    } else if of_all(|ty| ty == ValueType::Text) {
        "text"
    } else {
        "value"
    };
    match types.len() {
        0 => "no value".to_owned(),
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

fn key_value(scope: &ExprScope<'_>, key: &KeyModel, expr: &ast::Expr, diagnostics: &mut Diagnostics) -> Expr {
    let (value, ty) = scope.expr(expr, diagnostics);
    let fits = match key.ty {
        Scalar::Interned | Scalar::String => matches!(ty, ValueType::Text | ValueType::Enum(_) | ValueType::Any),
        Scalar::Enum { index, .. } => matches!(ty, ValueType::Any | ValueType::Text) || ty == ValueType::Enum(index),
        _ => matches!(ty, ValueType::Integer | ValueType::Pointer | ValueType::Any),
    };
    if !fits {
        let needs = if integer_range(key.ty).is_some() { "an integer" } else { "text" };
        diagnostics.push(
            Diagnostic::error(Code::WrongType, format!("key `{}` is {needs}", key.name))
                .with_location(expr.span, format!("this is {}", ty.name()))
                .with_label(key.span, "declared here"),
        );
    }
    if let (Expr::Integer(value), Some((minimum, maximum))) = (&value, integer_range(key.ty))
        && !(minimum..=maximum).contains(&i128::from(*value))
    {
        diagnostics.push(
            Diagnostic::error(Code::OutOfRange, format!("{value} is out of range for key `{}`", key.name))
                .with_location(expr.span, format!("expected {minimum} to {maximum}"))
                .with_label(key.span, "declared here"),
        );
    }
    value
}

/// The value of a state, event or link: declared and given by its name, or computed.
pub(super) fn value_of(
    scope: &ExprScope<'_>,
    id: EntityTypeId,
    expr: &ast::Expr,
    diagnostics: &mut Diagnostics,
) -> ValueExpr {
    let entity = &scope.model.spec.entities[id.index()];
    let declared =
        |name: &str| entity.values.iter().position(|value| value.name == name).map(|position| ValueId(index(position)));
    if let ExprKind::Path(ast::Path { name, part: None }) = &expr.kind {
        if let Some(value) = declared(&name.text) {
            return ValueExpr::Declared(value);
        }
        let is_known = scope.parameters().contains(&name.text.as_str())
            || scope.model.constants.contains_key(&name.text)
            || crate::expr::is_builtin(&name.text);
        if !is_known {
            if !scope.model.unparsed.contains(&name.text) && !diagnostics.is_full() {
                diagnostics.push(unknown_value(scope, id, name));
            }
            return ValueExpr::Computed(Expr::Integer(0));
        }
    }
    let (lowered, _) = scope.expr(expr, diagnostics);
    if let Expr::Text(TextPattern(pieces)) = &lowered
        && let [PatternPiece::Text(text)] = pieces.as_slice()
        && let Some(value) = declared(text)
    {
        return ValueExpr::Declared(value);
    }
    ValueExpr::Computed(lowered)
}

fn unknown_value(scope: &ExprScope<'_>, id: EntityTypeId, name: &Ident) -> Diagnostic {
    let model = scope.model;
    let entity = &model.spec.entities[id.index()];
    let values: Vec<&str> = entity.values.iter().map(|value| value.name.as_str()).collect();
    let parameters = scope.parameters();
    let kind = match entity.kind {
        EntityTypeKind::State => "state",
        EntityTypeKind::Event => "event",
        EntityTypeKind::Variable => "variable",
        EntityTypeKind::Link { .. } => "link",
    };
    let help = did_you_mean(&name.text, values.iter().chain(&parameters).copied())
        .or_else(|| list_candidates(&values))
        .unwrap_or_else(|| {
            format!("declare it: `{kind} {} … {{ {} }}`, or write it as text, `\"{1}\"`", entity.name, name.text)
        });
    Diagnostic::error(Code::UnknownValue, format!("`{}` has no value `{}`", entity.name, name.text))
        .with_location(
            name.span,
            if scope.is_of_ends() {
                "no declared value".to_owned()
            } else {
                format!("neither a value nor a parameter of `{}`", model.record_name(scope.record))
            },
        )
        .with_label(model.entity_spans[id.index()], "declared here")
        .help(help)
}
