//! Text outputs: template rules, their `@` signs and arguments.

use std::collections::{BTreeMap, BTreeSet};

use super::action::condition;
use super::end_rules::report_in_output;
use super::paje_text::LocatedOutput;
use super::rule_assignment::{assign, lower_each};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::draft::{SpecModel, index};
use crate::expr::ExprScope;
use crate::source_text::SourceSpan;
use crate::spec::{TemplateLine, TextOutput};
use crate::syntax::ast::{Action, ActionKind, ClauseKind, Item, Rule};
use crate::value_type::ValueType;

/// Lowers all outputs. Also returns their lines with the spans of the templates.
pub(super) fn lower<'a>(
    items: impl Iterator<Item = &'a Item>,
    model: &SpecModel,
    diagnostics: &mut Diagnostics,
) -> (Vec<TextOutput>, Vec<LocatedOutput<'a>>) {
    let mut names: BTreeMap<&str, SourceSpan> = BTreeMap::new();
    let (mut outputs, mut placed) = (Vec::new(), Vec::new());
    for item in items {
        let Item::Output(output) = item else { continue };
        if let Some(first) = names.insert(&output.name, output.span) {
            diagnostics.push(
                Diagnostic::error(Code::Duplicate, format!("output `{}` is declared twice", output.name))
                    .with_location(output.span, "declared again")
                    .with_label(first, "first declared here"),
            );
        }
        let rules: Vec<&Rule> = output.rules.iter().collect();
        report_in_output(&rules, model, diagnostics);
        let per_record = assign(&rules, model, diagnostics);
        let (mut lines, mut spans) = (Vec::new(), BTreeSet::new());
        let lowered = lower_each(&per_record, &rules, diagnostics, |rule, record, diagnostics| {
            let scope = ExprScope { model, record };
            let mut lower = |action: &Action| {
                let lowered = line(&scope, action, diagnostics)?;
                // The constants of a rule are the same for each of its records.
                if let ActionKind::Template { span, .. } = &action.kind
                    && spans.insert(*span)
                {
                    lines.push((*span, lowered.clone()));
                }
                Some(lowered)
            };
            rule.actions.iter().filter_map(&mut lower).collect()
        });
        if rules.is_empty() {
            diagnostics.push(
                Diagnostic::warning(Code::EmptyOutput, format!("output `{}` has no rules", output.name))
                    .with_location(output.span, "no record writes a line")
                    .help("add `rule EVENT -> \"text with @\" parameters;`"),
            );
        }
        placed.push(LocatedOutput { name: &output.name, span: output.span, prologue: &output.prologue, lines });
        let (name, doc) = (output.name.clone(), output.doc.clone());
        outputs.push(TextOutput { name, doc, prologue: output.prologue.clone(), rules: lowered });
    }
    (outputs, placed)
}

fn line(scope: &ExprScope<'_>, action: &Action, diagnostics: &mut Diagnostics) -> Option<TemplateLine> {
    let ActionKind::Template { is_unique, text, arguments, span } = &action.kind else {
        diagnostics.push(
            Diagnostic::error(Code::TemplateOutside, "an output contains template lines, not actions")
                .with_location(action.verb, "an action")
                .help("write `-> \"text with @\" parameters`, or move the rule out of the output"),
        );
        return None;
    };
    let pieces = pieces(text);
    let holes = pieces.len() - 1;
    let mut lowered = Vec::new();
    let mut timestamp = None;
    for (position, argument) in arguments.iter().enumerate() {
        let (value, ty) = scope.expr(argument, diagnostics);
        if ty == ValueType::Date && timestamp.is_none() {
            timestamp = Some(index(position));
        }
        lowered.push(value);
    }
    if holes != arguments.len() {
        let count = |n: usize, noun: &str| match n {
            0 => format!("no {noun}"),
            1 => format!("1 {noun}"),
            _ if noun == "`@`" => format!("{n} {noun}"),
            _ => format!("{n} {noun}s"),
        };
        let mut diagnostic = Diagnostic::error(
            Code::TemplateCount,
            format!("the template has {} but {}", count(holes, "`@`"), count(arguments.len(), "parameter")),
        )
        .with_location(*span, format!("{} here", count(holes, "`@`")));
        if let (Some(first), Some(last)) = (arguments.first(), arguments.last()) {
            diagnostic = diagnostic
                .with_label(first.span.joined_with(last.span), format!("{} here", count(arguments.len(), "parameter")));
        }
        diagnostics.push(diagnostic.help("each `@` is replaced by the next parameter; `@@` gives an `@`"));
        return None;
    }
    let condition = action.clauses.iter().find_map(|clause| match &clause.kind {
        ClauseKind::When(expr) => Some(condition(scope, expr, diagnostics)),
        _ => None,
    });
    Some(TemplateLine { is_unique: *is_unique, condition, text: pieces, arguments: lowered, timestamp })
}

/// The pieces of text between the `@` signs, with each `@@` replaced by `@`.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let doubled = letter == '@' && letters.next_if_eq(&'@').is_some();
        if letter == '@' && !doubled {
            pieces.push(String::new());
        } else if let Some(piece) = pieces.last_mut() {
            piece.push(letter);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn at_signs_cut_the_text() {
        assert_eq!(pieces("12 @ T@.@ A"), ["12 ", " T", ".", " A"]);
        assert_eq!(pieces("a@@b"), ["a@b"]);
        assert_eq!(pieces("@@@"), ["@", ""]);
        assert_eq!(pieces(""), [""]);
    }
}
