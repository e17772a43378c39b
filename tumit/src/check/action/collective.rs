//! The clause `collective`: the part of a container in a collective operation.

use super::ExprScope;
use super::operands::instance;
use super::usage::{CollectiveUse, RuleUsage};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::spec::{Action, ActionVerb, CollectiveClause, Expr, OperationKind};
use crate::syntax::ast::{self, ClauseKind, Key, WrittenCollective};
use crate::value_type::ValueType;

pub(super) fn lower(
    scope: &ExprScope<'_>,
    action: &ast::Action,
    ast_collective: &WrittenCollective,
    verb: &ActionVerb,
    usage: &mut RuleUsage,
    diagnostics: &mut Diagnostics,
) -> Option<CollectiveClause> {
    let WrittenCollective { kind, head, .. } = *ast_collective;
    let (communicator, communicator_types) = key_values(scope, ast_collective.communicator.as_ref(), diagnostics);
    let (key, key_types) = key_values(scope, ast_collective.key.as_ref(), diagnostics);
    let root = ast_collective.root.as_ref().and_then(|root| instance(scope, root, diagnostics));
    let bytes = ast_collective
        .bytes
        .as_ref()
        .map(|bytes| scope.expect(bytes, ValueType::Integer, "the number of bytes", diagnostics));
    report_misuse(ast_collective, diagnostics);
    let (ActionVerb::SetState { ty, .. } | ActionVerb::PushState { ty, .. }) = verb else {
        // The verb of an action with an error is unknown.
        if *verb != ActionVerb::Ignore {
            diagnostics.push(
                Diagnostic::error(Code::CollectiveMisuse, "only a state can be a part of a collective operation")
                    .with_location(head, "not possible here")
                    .with_label(action.verb, "begins no state")
                    .help("write the clause in the `set` or `push` of the state that lasts as long as the operation"),
            );
        }
        return None;
    };
    let span = ast_collective.key.as_ref().or(ast_collective.communicator.as_ref()).map_or(head, |key| key.span);
    usage.collective((*ty, kind), CollectiveUse { span, communicator: communicator_types, key: key_types });
    let key = ast_collective.key.is_some().then_some(key);
    Some(CollectiveClause { kind, communicator, key, root, bytes })
}

/// Reports the parts of a clause that its kind does not have.
fn report_misuse(ast_collective: &WrittenCollective, diagnostics: &mut Diagnostics) {
    let kind = ast_collective.kind.word();
    if let Some(root) = ast_collective.root.as_ref().filter(|_| !ast_collective.kind.has_root()) {
        diagnostics.push(
            Diagnostic::error(Code::CollectiveMisuse, format!("an operation of kind `{kind}` has no root"))
                .with_location(root.span, "not possible here")
                .with_label(ast_collective.head, "the kind")
                .help("remove the root, or write `one-to-all` or `all-to-one`"),
        );
    }
    if let Some(bytes) = ast_collective.bytes.as_ref().filter(|_| ast_collective.kind == OperationKind::Barrier) {
        diagnostics.push(
            Diagnostic::error(Code::CollectiveMisuse, "a barrier transfers no bytes")
                .with_location(bytes.span, "not possible here")
                .with_label(ast_collective.head, "the kind")
                .help("remove `bytes`, or write `all-to-all`"),
        );
    }
}

fn key_values(scope: &ExprScope<'_>, key: Option<&Key>, diagnostics: &mut Diagnostics) -> (Vec<Expr>, Vec<ValueType>) {
    let (mut values, mut types) = (Vec::new(), Vec::new());
    for expr in key.iter().flat_map(|key| &key.values) {
        let (value, ty) = scope.expr(expr, diagnostics);
        if matches!(ty, ValueType::Float | ValueType::Date | ValueType::List) {
            diagnostics.push(
                Diagnostic::error(Code::WrongType, format!("{} cannot match parts of an operation", ty.name()))
                    .with_location(expr.span, format!("this is {}", ty.name()))
                    .help("write integers, text, enums, pointers or bools that all parts record"),
            );
        }
        types.push(match ty {
            ValueType::Pointer => ValueType::Integer,
            ValueType::Float | ValueType::Date | ValueType::List => ValueType::Any,
            other => other,
        });
        values.push(value);
    }
    (values, types)
}

/// Reports fields that the clause also gives.
pub(super) fn check_fields(action: &ast::Action, target: &Action, diagnostics: &mut Diagnostics) {
    let Some(part) = &target.collective else { return };
    let is_given = |name: &str| match name {
        "operation" | "collective" => true,
        "communicator" => !part.communicator.is_empty(),
        "root" | "is_root" => part.root.is_some(),
        "bytes" => part.bytes.is_some(),
        _ => false,
    };
    for clause in &action.clauses {
        let ClauseKind::With(fields) = &clause.kind else { continue };
        for field in fields.iter().filter(|field| is_given(&field.name.text)) {
            let name = &field.name.text;
            diagnostics.push(
                Diagnostic::error(Code::Duplicate, format!("field `{name}` is set twice"))
                    .with_location(field.name.span, "also a field of the collective operation")
                    .help(format!("remove `{name}`, or give the field another name: `my_{name} = …`")),
            );
        }
    }
}
