//! Warnings about patterns of categories that match no value. Only the root file is checked,
//! because other files can be libraries of several specs.

use std::collections::BTreeSet;

use crate::diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::draft::{SpecModel, list_candidates};
use crate::load::ParsedFile;
use crate::spec::{Action, ActionVerb, CategoryStatement, EntityTypeId, ValueExpr, pattern_fits};

/// Checks the patterns of all category statements. `actions` are those of all rules, and `rules`
/// the lists of actions of the records.
pub(super) fn check(
    files: &[ParsedFile],
    model: &SpecModel,
    (actions, rules): (&[&Action], &[Vec<Action>]),
    diagnostics: &mut Diagnostics,
) {
    let Some(root) = files.last() else { return };
    let computed = computed_types(actions);
    for (statement, spans) in model.spec.categories.iter().zip(&model.pattern_spans) {
        let Some(names) = possible_names(model, rules, &computed, statement) else { continue };
        for (pattern, span) in statement.patterns.iter().zip(spans) {
            if span.file != root.file || pattern == "*" || names.iter().any(|name| pattern_fits(pattern, name)) {
                continue;
            }
            let names: Vec<&str> = names.iter().copied().collect();
            diagnostics.push(
                Diagnostic::warning(Code::UselessCategory, format!("no state has a value `{pattern}`"))
                    .with_location(*span, "matches neither the name nor the label of a value")
                    .maybe_help(did_you_mean(pattern, names.iter().copied()).or_else(|| list_candidates(&names))),
            );
        }
    }
}

/// The state types to which rules give values that records determine.
fn computed_types(actions: &[&Action]) -> BTreeSet<EntityTypeId> {
    let computed_types = actions.iter().filter_map(|action| match &action.verb {
        ActionVerb::SetState { ty, value: ValueExpr::Computed(_), .. }
        | ActionVerb::PushState { ty, value: ValueExpr::Computed(_), .. } => Some(*ty),
        _ => None,
    });
    computed_types.collect()
}

/// The names of all values to which a statement can apply. `None` if records determine some of
/// them.
fn possible_names<'s>(
    model: &'s SpecModel,
    rules: &[Vec<Action>],
    computed_types: &BTreeSet<EntityTypeId>,
    statement: &CategoryStatement,
) -> Option<BTreeSet<&'s str>> {
    let spec = &model.spec;
    let mut names = BTreeSet::new();
    for (entity, id) in spec.entities.iter().zip(0..) {
        if spec.concerns(statement, entity) {
            if computed_types.contains(&EntityTypeId(id)) {
                return None;
            }
            names.extend(entity.values.iter().flat_map(|value| [value.name.as_str(), value.label.as_str()]));
        }
    }
    // Spans without rules are values of the state type `Span`.
    if statement.type_pattern.as_ref().is_none_or(|of| ["span", "Span"].iter().any(|name| pattern_fits(of, name))) {
        let has_no_rule = |record: usize| rules.get(record).is_none_or(Vec::is_empty);
        let default_spans =
            spec.spans.iter().filter(|span| has_no_rule(span.begin.index()) && has_no_rule(span.end.index()));
        names.extend(default_spans.map(|span| span.name.as_str()));
    }
    Some(names)
}
