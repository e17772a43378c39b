//! The actions of a rule: verbs against the kinds of types, containers against the tree, keys,
//! values and clauses.

mod collective;
mod link;
mod operands;
mod usage;

pub(super) use operands::instance;
use operands::{entity, held_by, value_of, wrong_verb};

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::expr::ExprScope;
use crate::expr::constant_folding::fold;
use crate::source_text::SourceSpan;
use crate::spec::{Action, ActionVerb, EntityTypeId, EntityTypeKind, Expr, Instance, VariableChange};
use crate::syntax::ast::{self, ActionKind, AssignVerb, ClauseKind, ExprKind, Ident};
use crate::value_type::ValueType;
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
            if let Some(span) = container.existing_span {
                diagnostics.push(
                    Diagnostic::error(
                        Code::MisplacedExisting,
                        "`create` cannot have `existing`, because it creates the container",
                    )
                    .with_location(span, "not possible here")
                    .help("remove `existing`"),
                );
            }
            ActionVerb::Create { container: on }
        }),
        ActionKind::Destroy(container) => {
            instance(scope, container, diagnostics).map(|container| ActionVerb::Destroy { container })
        }
        ActionKind::Assign { verb, ty, value, instance } => {
            assign(scope, action, (*verb, ty, value, instance), diagnostics)
        }
        ActionKind::Pop { ty, value, instance: on } => {
            state(scope, "pop", action, (ty, on), diagnostics).map(|(id, on)| {
                let value = value.as_ref().map(|value| value_of(scope, id, value, diagnostics));
                ActionVerb::PopState { ty: id, value, instance: on }
            })
        }
        ActionKind::Reset { ty, instance: on } => state(scope, "reset", action, (ty, on), diagnostics)
            .map(|(ty, on)| ActionVerb::ResetState { ty, instance: on }),
        ActionKind::Start { ty, value, key, instance: at } | ActionKind::End { ty, value, key, instance: at } => {
            let is_start = matches!(action.kind, ActionKind::Start { .. });
            let endpoint = link::WrittenEndpoint { is_start, action, ty, value: value.as_ref(), key, instance: at };
            link::lower(scope, endpoint, usage, diagnostics)
        }
        ActionKind::Ignore => Some(ActionVerb::Ignore),
        ActionKind::Template { span, .. } => {
            report_template(*span, diagnostics);
            None
        }
    };
    // Clauses are checked even when the verb has an error.
    let understood = verb.is_some();
    usage.has_error |= !understood;
    let verb = verb.unwrap_or(ActionVerb::Ignore);
    let mut lowered = Action {
        verb,
        timestamp: None,
        condition: None,
        fields: Vec::new(),
        related_instances: Vec::new(),
        collective: None,
    };
    clauses(scope, action, &mut lowered, usage, diagnostics);
    collective::check_fields(action, &lowered, diagnostics);
    understood.then_some(lowered)
}

fn report_template(span: SourceSpan, diagnostics: &mut Diagnostics) {
    diagnostics.push(
        Diagnostic::error(Code::TemplateOutside, "a template line is outside of an output")
            .with_location(span, "not an action")
            .help("move the rule into `output text \"NAME\" { … }`"),
    );
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
    let kind = &model.spec.entities[id.index()].kind;
    let fits = match verb {
        AssignVerb::Set => matches!(kind, EntityTypeKind::State | EntityTypeKind::Variable),
        AssignVerb::Push => *kind == EntityTypeKind::State,
        AssignVerb::Add | AssignVerb::Subtract => *kind == EntityTypeKind::Variable,
        AssignVerb::Mark => *kind == EntityTypeKind::Event,
    };
    if !fits {
        wrong_verb(model, verb_name(verb), action.verb, (ty, id), diagnostics);
        return None;
    }
    let instance = held_by(model, (ty, id), (on_instance?, on.span), diagnostics)?;
    if *kind == EntityTypeKind::Variable {
        let (lowered, value_type) = scope.expr(value, diagnostics);
        if !value_type.is_number() {
            diagnostics.push(
                Diagnostic::error(Code::WrongType, format!("variable `{}` needs a number", ty.text))
                    .with_location(value.span, format!("this is {}", value_type.name())),
            );
        }
        let op = match verb {
            AssignVerb::Add => VariableChange::Add,
            AssignVerb::Subtract => VariableChange::Subtract,
            _ => VariableChange::Set,
        };
        return Some(ActionVerb::Variable { op, ty: id, value: lowered, instance });
    }
    let value = value_of(scope, id, value, diagnostics);
    Some(match verb {
        AssignVerb::Mark => ActionVerb::Mark { ty: id, value, instance },
        AssignVerb::Push => ActionVerb::PushState { ty: id, value, instance },
        _ => ActionVerb::SetState { ty: id, value, instance },
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
    if scope.model.spec.entities[id.index()].kind != EntityTypeKind::State {
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

/// Lowers the clauses into `target`, and checks their order.
fn clauses(
    scope: &ExprScope<'_>,
    action: &ast::Action,
    target: &mut Action,
    usage: &mut RuleUsage,
    diagnostics: &mut Diagnostics,
) {
    let mut last_position = 0;
    for clause in &action.clauses {
        let position = match clause.kind {
            ClauseKind::Related(..) => 1,
            ClauseKind::Collective(_) => 2,
            ClauseKind::At(_) => 3,
            ClauseKind::When(_) => 4,
            ClauseKind::With(_) => 5,
        };
        if position < last_position || (position == last_position && position > 1) {
            let title =
                if position == last_position { "a clause occurs twice" } else { "clauses are in the wrong order" };
            diagnostics.push(
                Diagnostic::error(Code::ClauseOrder, title)
                    .with_location(
                        clause.span,
                        if position == last_position { "the second one" } else { "must precede other clauses" },
                    )
                    .help(
                        "write related containers, then `collective KIND`, `at DATE`, `when CONDITION`, `with { … }`",
                    ),
            );
        }
        last_position = last_position.max(position);
        match &clause.kind {
            ClauseKind::Related(how, container) => {
                check_fields_used(action, target, clause.span, diagnostics);
                target.related_instances.extend(
                    instance(scope, container, diagnostics).map(|container_instance| (how.clone(), container_instance)),
                );
            }
            ClauseKind::Collective(written) => {
                target.collective = collective::lower(scope, action, written, &target.verb, usage, diagnostics);
            }
            ClauseKind::At(expr) => {
                target.timestamp = Some(scope.expect(expr, ValueType::Date, "the expression after `at`", diagnostics));
            }
            ClauseKind::When(expr) => {
                target.condition = Some(condition(scope, expr, diagnostics));
            }
            ClauseKind::With(fields) => {
                check_fields_used(action, target, clause.span, diagnostics);
                lower_with_clause(scope, fields, target, diagnostics);
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
                .with_location(expr.span, "does not depend on the record")
                .help(if value { "remove the condition" } else { "remove the action" }),
        );
    }
    condition
}

fn lower_with_clause(
    scope: &ExprScope<'_>,
    fields: &[ast::WithField],
    target: &mut Action,
    diagnostics: &mut Diagnostics,
) {
    for field in fields {
        if target.fields.iter().any(|(name, _)| *name == field.name.text) {
            diagnostics.push(
                Diagnostic::error(Code::Duplicate, format!("field `{}` is set twice", field.name.text))
                    .with_location(field.name.span, "set again"),
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
        target.fields.push((field.name.text.clone(), value));
    }
}

/// Reports fields and relations of actions that create nothing to which these could belong.
fn check_fields_used(action: &ast::Action, target: &Action, clause: SourceSpan, diagnostics: &mut Diagnostics) {
    let action_name = match target.verb {
        ActionVerb::Destroy { .. } => "`destroy`",
        ActionVerb::PopState { .. } => "`pop`",
        ActionVerb::ResetState { .. } => "`reset`",
        ActionVerb::Variable { .. } => "a change of a variable",
        _ => return,
    };
    diagnostics.push(
        Diagnostic::error(Code::UselessClause, format!("{action_name} cannot have fields or relations"))
            .with_location(clause, "would not be shown")
            .with_label(action.verb, "this action")
            .help("write fields and relations in the action that begins the state, event, link or container"),
    );
}
