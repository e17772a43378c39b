//! The actions of a rule: verbs against the kinds of types, containers against the tree, keys,
//! values and clauses.

mod link;
mod usage;

use crate::diag::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::expr::ExprScope;
use crate::expr::fold::fold;
use crate::model::{KeyModel, SpecModel, index, integer_range, list_candidates};
use crate::source::SourceSpan;
use crate::spec::{
    Action, ActionVerb, ContainerTypeId, EntityNature, EntityTypeId, Expr, Instance, PatternPiece, TextPattern,
    ValueExpr, ValueId, VariableChange,
};
use crate::syntax::ast::{self, ActionKind, AssignVerb, ClauseKind, ExprKind, Ident};
use crate::value_type::ValueType;
use tracer_format::schema::Scalar;
pub(super) use usage::{CreateUse, RuleUsage};

/// Lowers one action. `None` after an error that makes the action useless.
pub(super) fn lower_action(
    scope: &ExprScope<'_>,
    action: &ast::Action,
    usage: &mut RuleUsage,
    diagnostics: &mut Diagnostics,
) -> Option<Action> {
    let verb = match &action.kind {
        ActionKind::Create(container) => instance(scope, container, diagnostics).map(|on| {
            usage.create(on.ty, action, container.span);
            if let Some(span) = container.existing {
                diagnostics.push(
                    Diagnostic::error(
                        Code::MisplacedExisting,
                        "`create` cannot have `existing`, because it creates the container",
                    )
                    .at(span, "not possible here")
                    .help("remove `existing`"),
                );
            }
            ActionVerb::Create { container: on }
        }),
        ActionKind::Destroy(container) => {
            instance(scope, container, diagnostics).map(|container| ActionVerb::Destroy { container })
        }
        ActionKind::Assign { verb, ty, value, on } => assign(scope, action, (*verb, ty, value, on), diagnostics),
        ActionKind::Pop { ty, value, on } => state(scope, "pop", action, (ty, on), diagnostics).map(|(id, on)| {
            let value = value.as_ref().map(|value| value_of(scope, id, value, diagnostics));
            ActionVerb::PopState { ty: id, value, on }
        }),
        ActionKind::Reset { ty, on } => {
            state(scope, "reset", action, (ty, on), diagnostics).map(|(ty, on)| ActionVerb::ResetState { ty, on })
        }
        ActionKind::Start { ty, value, key, at } => link::lower(
            scope,
            link::LinkPart { is_start: true, action, ty, value: value.as_ref(), key, at },
            usage,
            diagnostics,
        ),
        ActionKind::End { ty, value, key, at } => link::lower(
            scope,
            link::LinkPart { is_start: false, action, ty, value: value.as_ref(), key, at },
            usage,
            diagnostics,
        ),
        ActionKind::Ignore => Some(ActionVerb::Ignore),
        ActionKind::Template { span, .. } => {
            diagnostics.push(
                Diagnostic::error(Code::TemplateOutside, "a template line is outside of an output")
                    .at(*span, "not an action")
                    .help("move the rule into `output text \"NAME\" { … }`"),
            );
            None
        }
    };
    // Clauses are checked even when the verb has an error.
    let understood = verb.is_some();
    usage.incomplete |= !understood;
    let verb = verb.unwrap_or(ActionVerb::Ignore);
    let mut lowered = Action { verb, at: None, when: None, with: Vec::new(), related: Vec::new() };
    clauses(scope, action, &mut lowered, diagnostics);
    understood.then_some(lowered)
}

/// `set`, `push`, `add`, `subtract`, `mark`.
fn assign(
    scope: &ExprScope<'_>,
    action: &ast::Action,
    (verb, ty, value, on): (AssignVerb, &Ident, &ast::Expr, &ast::Instance),
    diagnostics: &mut Diagnostics,
) -> Option<ActionVerb> {
    let model = scope.model;
    let on_instance = instance(scope, on, diagnostics);
    let id = entity(model, ty, on_instance.as_ref().map(|on| on.ty), diagnostics)?;
    let nature = &model.spec.entities[id.index()].nature;
    let fits = match verb {
        AssignVerb::Set => matches!(nature, EntityNature::State | EntityNature::Variable),
        AssignVerb::Push => *nature == EntityNature::State,
        AssignVerb::Add | AssignVerb::Subtract => *nature == EntityNature::Variable,
        AssignVerb::Mark => *nature == EntityNature::Event,
    };
    if !fits {
        wrong_verb(model, verb_name(verb), action.verb, (ty, id), diagnostics);
        return None;
    }
    let on = held_by(model, (ty, id), (on_instance?, on.span), diagnostics)?;
    if *nature == EntityNature::Variable {
        let (lowered, found) = scope.expr(value, diagnostics);
        if !found.is_number() {
            diagnostics.push(
                Diagnostic::error(Code::WrongType, format!("variable `{}` needs a number", ty.text))
                    .at(value.span, format!("this is {}", found.name())),
            );
        }
        let op = match verb {
            AssignVerb::Add => VariableChange::Add,
            AssignVerb::Subtract => VariableChange::Subtract,
            _ => VariableChange::Set,
        };
        return Some(ActionVerb::Variable { op, ty: id, value: lowered, on });
    }
    let value = value_of(scope, id, value, diagnostics);
    Some(match verb {
        AssignVerb::Mark => ActionVerb::Mark { ty: id, value, on },
        AssignVerb::Push => ActionVerb::PushState { ty: id, value, on },
        _ => ActionVerb::SetState { ty: id, value, on },
    })
}

/// `pop` and `reset`.
fn state(
    scope: &ExprScope<'_>,
    verb: &str,
    action: &ast::Action,
    (ty, on): (&Ident, &ast::Instance),
    diagnostics: &mut Diagnostics,
) -> Option<(EntityTypeId, Instance)> {
    let on_instance = instance(scope, on, diagnostics);
    let id = entity(scope.model, ty, on_instance.as_ref().map(|on| on.ty), diagnostics)?;
    if scope.model.spec.entities[id.index()].nature != EntityNature::State {
        wrong_verb(scope.model, verb, action.verb, (ty, id), diagnostics);
        return None;
    }
    Some((id, held_by(scope.model, (ty, id), (on_instance?, on.span), diagnostics)?))
}

fn verb_name(verb: AssignVerb) -> &'static str {
    match verb {
        AssignVerb::Set => "set",
        AssignVerb::Push => "push",
        AssignVerb::Add => "add",
        AssignVerb::Subtract => "subtract",
        AssignVerb::Mark => "mark",
    }
}

/// The entity with this name. If several containers have one, it is the entity of `holder`.
fn entity(
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
                .at(name.span, "expected a state, event, variable or link"),
        );
        return None;
    }
    let all = model.spec.entities.iter().map(|entity| entity.name.as_str());
    model.report_unknown(Code::UnknownEntity, "state, event, variable or link", name, all, diagnostics);
    None
}

fn wrong_verb(
    model: &SpecModel,
    verb: &str,
    at: SourceSpan,
    (name, id): (&Ident, EntityTypeId),
    diagnostics: &mut Diagnostics,
) {
    let name = &name.text;
    let (nature, help) = match model.spec.entities[id.index()].nature {
        EntityNature::State => (
            "a state",
            format!("change states by `set {name} = …`, `push {name} = …`, `pop {name}` and `reset {name}`"),
        ),
        EntityNature::Event => ("an event", format!("write `mark {name} = …`")),
        EntityNature::Variable => {
            ("a variable", format!("write `set {name} = …`, `add {name} = …` or `subtract {name} = …`"))
        }
        EntityNature::Link { .. } => {
            ("a link", format!("write `start {name} key (…) from …` and `end {name} key (…) to …`"))
        }
    };
    diagnostics.push(
        Diagnostic::error(Code::WrongVerb, format!("`{verb}` is not possible for {nature}"))
            .at(at, format!("`{name}` is {nature}"))
            .with_label(model.entity_spans[id.index()], "declared here")
            .help(help),
    );
}

/// The instance, if the entity belongs to containers of its type.
fn held_by(
    model: &SpecModel,
    (name, id): (&Ident, EntityTypeId),
    (on, span): (Instance, SourceSpan),
    diagnostics: &mut Diagnostics,
) -> Option<Instance> {
    let holder = model.spec.entities[id.index()].container;
    if holder == on.ty {
        return Some(on);
    }
    diagnostics.push(
        Diagnostic::error(
            Code::WrongContainer,
            format!(
                "`{}` belongs to `{}`, not to `{}`",
                name.text,
                model.container_name(holder),
                model.container_name(on.ty)
            ),
        )
        .at(span, format!("has no `{}`", name.text))
        .with_label(model.entity_spans[id.index()], "declared here")
        .help(format!("write `on {}`", model.pattern_of(holder))),
    );
    None
}

/// A container and its keys.
pub(super) fn instance(
    scope: &ExprScope<'_>,
    written: &ast::Instance,
    diagnostics: &mut Diagnostics,
) -> Option<Instance> {
    let model = scope.model;
    let name = &written.name;
    let Some(ty) = model.containers.get(&name.text).copied() else {
        let containers = model.containers.keys().map(String::as_str);
        model.report_unknown(Code::UnknownContainer, "container", name, containers, diagnostics);
        return None;
    };
    let keys = model.path_keys(ty);
    if keys.len() != written.keys.len() {
        let needs = match keys.len() {
            0 => "none".to_owned(),
            n => n.to_string(),
        };
        let given_types = values_of(scope, &written.keys, diagnostics);
        let path = if keys.len() > 1 { ", for its whole path" } else { "" };
        diagnostics.push(
            Diagnostic::error(
                Code::KeyCount,
                format!("this key has {given_types}, but the container `{}` needs {needs}", name.text),
            )
            .at(written.span, format!("{} given, {needs} needed{path}", written.keys.len()))
            .with_label(model.container_spans[ty.index()], "declared here")
            .help(format!("write `{}`", model.pattern_of(ty))),
        );
        return None;
    }
    let lowered = keys.iter().zip(&written.keys).map(|(key, expr)| key_value(scope, key, expr, diagnostics));
    Some(Instance { ty, keys: lowered.collect(), existing: written.existing.is_some(), span: Some(written.span) })
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
                .at(expr.span, format!("this is {}", ty.name()))
                .with_label(key.span, "declared here"),
        );
    }
    if let (Expr::Integer(value), Some((least, most))) = (&value, integer_range(key.ty))
        && !(least..=most).contains(&i128::from(*value))
    {
        diagnostics.push(
            Diagnostic::error(Code::OutOfRange, format!("{value} is out of range for key `{}`", key.name))
                .at(expr.span, format!("expected {least} to {most}"))
                .with_label(key.span, "declared here"),
        );
    }
    value
}

/// The value of a state, event or link: declared and given by its name, or computed.
fn value_of(scope: &ExprScope<'_>, id: EntityTypeId, expr: &ast::Expr, diagnostics: &mut Diagnostics) -> ValueExpr {
    let entity = &scope.model.spec.entities[id.index()];
    let declared = |name: &str| entity.values.iter().position(|value| value.name == name).map(|at| ValueId(index(at)));
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
    let nature = match entity.nature {
        EntityNature::State => "state",
        EntityNature::Event => "event",
        EntityNature::Variable => "variable",
        EntityNature::Link { .. } => "link",
    };
    let help = did_you_mean(&name.text, values.iter().chain(&parameters).copied())
        .or_else(|| list_candidates(&values))
        .unwrap_or_else(|| {
            format!("declare it: `{nature} {} … {{ {} }}`, or write it as text, `\"{1}\"`", entity.name, name.text)
        });
    Diagnostic::error(Code::UnknownValue, format!("`{}` has no value `{}`", entity.name, name.text))
        .at(
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

/// Lowers the clauses into `lowered`, and checks their order.
fn clauses(scope: &ExprScope<'_>, action: &ast::Action, lowered: &mut Action, diagnostics: &mut Diagnostics) {
    let mut last_position = 0;
    for clause in &action.clauses {
        let position = match clause.kind {
            ClauseKind::Related(..) => 1,
            ClauseKind::At(_) => 2,
            ClauseKind::When(_) => 3,
            ClauseKind::With(_) => 4,
        };
        if position < last_position || (position == last_position && position > 1) {
            let title =
                if position == last_position { "a clause occurs twice" } else { "clauses are in the wrong order" };
            diagnostics.push(
                Diagnostic::error(Code::ClauseOrder, title)
                    .at(
                        clause.span,
                        if position == last_position { "the second one" } else { "must precede other clauses" },
                    )
                    .help("write related containers, then `at DATE`, `when CONDITION`, `with { … }`"),
            );
        }
        last_position = last_position.max(position);
        match &clause.kind {
            ClauseKind::Related(how, container) => {
                check_fields_used(action, lowered, clause.span, diagnostics);
                lowered.related.extend(instance(scope, container, diagnostics).map(|found| (how.clone(), found)));
            }
            ClauseKind::At(expr) => {
                lowered.at = Some(scope.expect(expr, ValueType::Date, "the expression after `at`", diagnostics));
            }
            ClauseKind::When(expr) => {
                lowered.when = Some(condition(scope, expr, diagnostics));
            }
            ClauseKind::With(fields) => {
                check_fields_used(action, lowered, clause.span, diagnostics);
                lower_with_clause(scope, fields, lowered, diagnostics);
            }
        }
    }
}

/// The expression after `when`.
pub(super) fn condition(scope: &ExprScope<'_>, expr: &ast::Expr, diagnostics: &mut Diagnostics) -> Expr {
    let condition = scope.expect(expr, ValueType::Bool, "the expression after `when`", diagnostics);
    if let Ok(Expr::Bool(value)) = fold(&condition, &scope.model.spec) {
        diagnostics.push(
            Diagnostic::warning(Code::ConstantCondition, format!("the condition is always {value}"))
                .at(expr.span, "does not depend on the record")
                .help(if value { "remove the condition" } else { "remove the action" }),
        );
    }
    condition
}

fn lower_with_clause(
    scope: &ExprScope<'_>,
    fields: &[ast::WithField],
    lowered: &mut Action,
    diagnostics: &mut Diagnostics,
) {
    for field in fields {
        if lowered.with.iter().any(|(name, _)| *name == field.name.text) {
            diagnostics.push(
                Diagnostic::error(Code::Duplicate, format!("field `{}` is set twice", field.name.text))
                    .at(field.name.span, "set again"),
            );
            continue;
        }
        let (value, _) = match &field.value {
            Some(value) => scope.expr(value, diagnostics),
            None => {
                let path = ast::Path { name: field.name.clone(), part: None };
                scope.expr(&ast::Expr { kind: ExprKind::Path(path), span: field.name.span }, diagnostics)
            }
        };
        lowered.with.push((field.name.text.clone(), value));
    }
}

/// Reports fields and relations of actions that create nothing to which these could belong.
fn check_fields_used(action: &ast::Action, lowered: &Action, clause: SourceSpan, diagnostics: &mut Diagnostics) {
    let action_name = match lowered.verb {
        ActionVerb::Destroy { .. } => "`destroy`",
        ActionVerb::PopState { .. } => "`pop`",
        ActionVerb::ResetState { .. } => "`reset`",
        ActionVerb::Variable { .. } => "a change of a variable",
        _ => return,
    };
    diagnostics.push(
        Diagnostic::error(Code::UselessClause, format!("{action_name} cannot have fields or relations"))
            .at(clause, "would not be shown")
            .with_label(action.verb, "this action")
            .help("write fields and relations in the action that begins the state, event, link or container"),
    );
}
