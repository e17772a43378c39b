//! Checks beyond names and types: rules against the tree of types, labels, links, outputs.

mod action;
mod collision;
mod end_rules;
mod label;
mod output;
mod paje_text;
mod rule_assignment;
mod rule_target;
mod unused_categories;
mod unused_items;

use crate::diagnostics::Diagnostics;
use crate::draft::SpecModel;
use crate::load::ParsedFile;
use crate::spec::Action;
use crate::syntax::ast::{self, Item};

/// Checks all rules, and lowers them into the spec.
pub(crate) fn check(files: &[ParsedFile], model: &mut SpecModel, diagnostics: &mut Diagnostics) {
    let items = || files.iter().flat_map(|loaded| &loaded.tree.items);
    let rules: Vec<&ast::Rule> = items()
        .filter_map(|item| match item {
            Item::Rule(rule) => Some(rule),
            _ => None,
        })
        .collect();
    let mut usage = action::RuleUsage::default();
    let lowered = rule_assignment::lower(&rules, model, &mut usage, diagnostics);
    model.spec.rule_texts = rule_assignment::texts(&rules, &lowered.rules_of_record, diagnostics);
    let lowered = lowered.actions;
    model.spec.end_rules = end_rules::lower(&rules, model, &mut usage, diagnostics);
    usage.has_error |= diagnostics.has_errors();
    usage.check(model, diagnostics);
    usage.check_collectives(model, diagnostics);
    label::check(model, &usage, diagnostics);
    let of_ends = [&model.spec.end_rules.thread, &model.spec.end_rules.process];
    let actions: Vec<&Action> = lowered.iter().flatten().chain(of_ends.into_iter().flatten()).collect();
    let (outputs, placed) = output::lower(items(), model, diagnostics);
    // Lines of Pajé text can name any entity type and value.
    let has_paje_text = placed.iter().any(paje_text::LocatedOutput::is_paje);
    unused_items::check(files, model, (&actions, has_paje_text), &usage, diagnostics);
    if !has_paje_text && !usage.has_error {
        unused_categories::check(files, model, (&actions, &lowered), diagnostics);
    }
    collision::check(model, diagnostics);
    model.spec.rules = lowered;
    model.spec.outputs = outputs;
    if !diagnostics.has_errors() {
        paje_text::check(&placed, model, diagnostics);
    }
}
