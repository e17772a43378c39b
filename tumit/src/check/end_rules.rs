//! Rules for the ends of threads and processes: `rule thread.end` and `rule process.end`.

use super::action::{RuleUsage, lower_action};
use super::rule_target::{EndKind, ending_of, second_rule, target_span};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::draft::SpecModel;
use crate::expr::ExprScope;
use crate::spec::{Action, EndRules};
use crate::syntax::ast::{self, ActionKind, ClauseKind, Rule};

/// Lowers the rules for ends. For each kind of end: one rule, then all `also` rules in the order of
/// the text.
pub(super) fn lower(
    rules: &[&Rule],
    model: &SpecModel,
    usage: &mut RuleUsage,
    diagnostics: &mut Diagnostics,
) -> EndRules {
    let mut lower_one = |ending: EndKind| {
        let of_ending = || rules.iter().filter(move |rule| ending_of(rule, model) == Some(ending));
        let mut plain_rules = of_ending().filter(|rule| !rule.is_additional);
        let first = plain_rules.next();
        if let (Some(first), Some(second)) = (first, plain_rules.next()) {
            diagnostics.push(second_rule(second, first));
        }
        let chosen = first.into_iter().chain(of_ending().filter(|rule| rule.is_additional));
        chosen.flat_map(|rule| actions(rule, model, usage, diagnostics)).collect()
    };
    EndRules { thread: lower_one(EndKind::Thread), process: lower_one(EndKind::Process) }
}

fn actions(rule: &Rule, model: &SpecModel, usage: &mut RuleUsage, diagnostics: &mut Diagnostics) -> Vec<Action> {
    let scope = ExprScope::of_ends(model);
    let mut lowered = Vec::new();
    for action in &rule.actions {
        match impossible_action(action) {
            Some(diagnostic) => {
                usage.has_error = true;
                diagnostics.push(diagnostic);
            }
            None => lowered.extend(lower_action(&scope, action, usage, diagnostics)),
        }
    }
    lowered
}

/// The error of an action that is not allowed in a rule for ends.
fn impossible_action(action: &ast::Action) -> Option<Diagnostic> {
    if matches!(action.kind, ActionKind::Start { .. } | ActionKind::End { .. }) {
        let title = "links cannot start or end at the end of a thread or process";
        return Some(
            Diagnostic::error(Code::EndRule, title)
                .with_location(action.verb, "not possible here")
                .help("start and end links in rules of events"),
        );
    }
    let clause = action.clauses.iter().find(|clause| matches!(clause.kind, ClauseKind::At(_)))?;
    Some(
        Diagnostic::error(Code::EndRule, "the end of a thread or process has no other timestamp")
            .with_location(clause.span, "not possible here")
            .help("remove `at`: the actions happen when the thread or process ends"),
    )
}

/// Reports rules for ends in text outputs: text outputs consist of records only.
pub(super) fn report_in_output(rules: &[&Rule], model: &SpecModel, diagnostics: &mut Diagnostics) {
    for rule in rules.iter().filter(|rule| ending_of(rule, model).is_some()) {
        diagnostics.push(
            Diagnostic::error(Code::EndRule, "a text output has no lines for the ends of threads and processes")
                .with_location(target_span(&rule.target), "has no record")
                .help("write lines for events"),
        );
    }
}
