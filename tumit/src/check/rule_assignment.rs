//! The rules that apply to each record: the most specific one, and all `also` rules.

use super::action::{RuleUsage, lower_action};
use super::rule_target::{ending_of, second_rule, target_span};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::draft::{EventRef, SpecModel, index};
use crate::expr::ExprScope;
use crate::spec::{Action, RecordId, RuleText};
use crate::syntax::ast::{self, ActionKind, Path, Rule, Target};

/// Maximum number of pairs of an `also` rule and an event on which it acts.
const MAX_ADDED: usize = 1_000_000;

/// A field of a [`RuleChoice`].
type RuleSlot = fn(&mut RuleChoice) -> &mut Option<usize>;

/// The rules of one record, as positions in the list of rules.
#[derive(Clone, Debug, Default)]
struct RuleChoice {
    event: Option<usize>,
    level: Option<usize>,
    default: Option<usize>,
    also_rules: Vec<usize>,
}

impl RuleChoice {
    /// The rules that apply to the record, in the order in which they act.
    fn rules(&self) -> impl Iterator<Item = usize> + '_ {
        self.event.or(self.level).or(self.default).into_iter().chain(self.also_rules.iter().copied())
    }
}

/// The lowered rules, by records.
pub(super) struct LoweredRules {
    /// The actions of every record.
    pub(super) actions: Vec<Vec<Action>>,
    /// The rules from which the actions of every record come, as indexes.
    pub(super) rules_of_record: Vec<Vec<usize>>,
}

/// Lowers the rules that produce containers and entities.
pub(super) fn lower(
    rules: &[&Rule],
    model: &SpecModel,
    usage: &mut RuleUsage,
    diagnostics: &mut Diagnostics,
) -> LoweredRules {
    let per_record = assign(rules, model, diagnostics);
    rules.iter().for_each(|rule| lonely_ignore(rule, diagnostics));
    let actions = lower_each(&per_record, rules, diagnostics, |rule, record, diagnostics| {
        let scope = ExprScope { model, record };
        rule.actions.iter().filter_map(|action| lower_action(&scope, action, usage, diagnostics)).collect()
    });
    LoweredRules { actions, rules_of_record: per_record }
}

/// The rules as written, each with the records on which it acts.
pub(super) fn texts(rules: &[&Rule], per_record: &[Vec<usize>], diagnostics: &Diagnostics) -> Vec<RuleText> {
    let text = |rule: &&Rule| RuleText {
        doc: rule.doc.clone(),
        text: diagnostics.sources.text(rule.span).to_owned(),
        records: Vec::new(),
    };
    let mut texts: Vec<RuleText> = rules.iter().map(text).collect();
    for (record, chosen) in per_record.iter().enumerate() {
        for rule in chosen {
            texts[*rule].records.push(RecordId(index(record)));
        }
    }
    texts
}

/// Lowers the rules of each record with `lower`. A rule with a mistake is lowered for one record
/// only.
pub(super) fn lower_each<T>(
    per_record: &[Vec<usize>],
    rules: &[&Rule],
    diagnostics: &mut Diagnostics,
    mut lower: impl FnMut(&Rule, RecordId, &mut Diagnostics) -> Vec<T>,
) -> Vec<Vec<T>> {
    let mut has_failed = vec![false; rules.len()];
    let mut lowered = Vec::with_capacity(per_record.len());
    for (record, chosen) in per_record.iter().enumerate() {
        let mut actions = Vec::new();
        for rule in chosen {
            if has_failed[*rule] {
                continue;
            }
            let old_count = diagnostics.error_count();
            actions.extend(lower(rules[*rule], RecordId(index(record)), diagnostics));
            has_failed[*rule] = diagnostics.error_count() > old_count;
        }
        lowered.push(actions);
    }
    lowered
}

/// The rules of every record, in the order in which they act.
pub(super) fn assign(rules: &[&Rule], model: &SpecModel, diagnostics: &mut Diagnostics) -> Vec<Vec<usize>> {
    let mut choices = vec![RuleChoice::default(); model.spec.records.len()];
    let is_event = |record: usize| model.spec.records[record].layout.kind == tracer_format::schema::RecordKind::Event;
    let mut of_level: Vec<Vec<usize>> = vec![Vec::new(); model.spec.levels.len()];
    for record in (0..choices.len()).filter(|record| is_event(*record)) {
        of_level[model.spec.records[record].level.index()].push(record);
    }
    let mut added_count = 0;
    let of_records = rules.iter().enumerate().filter(|(_, rule)| ending_of(rule, model).is_none());
    for (number, rule) in of_records {
        // The records of the rule, and the field of their [`RuleChoice`] that it takes.
        let (records, slot): (Vec<usize>, RuleSlot) = match &rule.target {
            Target::Event(path) => {
                let record = event_of(path, model, diagnostics);
                (record.into_iter().map(RecordId::index).collect(), |choice| &mut choice.event)
            }
            Target::Level(name) => {
                let Some(level) = model.levels.get(&name.text).copied() else {
                    let levels = model.levels.keys().map(String::as_str);
                    model.report_unknown(Code::UnknownLevel, "level", name, levels, diagnostics);
                    continue;
                };
                (of_level[level.index()].clone(), |choice| &mut choice.level)
            }
            Target::Default(_) => {
                ((0..choices.len()).filter(|record| is_event(*record)).collect(), |choice| &mut choice.default)
            }
        };
        if records.is_empty() {
            empty(rule, diagnostics);
        }
        if rule.is_additional {
            added_count += records.len();
        }
        if added_count > MAX_ADDED {
            diagnostics.push(too_many(rule));
            break;
        }
        for record in records {
            let choice = &mut choices[record];
            if rule.is_additional {
                choice.also_rules.push(number);
            } else if let Some(first) = *slot(choice) {
                diagnostics.push(second_rule(rule, rules[first]));
                break;
            } else {
                *slot(choice) = Some(number);
            }
        }
    }
    report_shadowed_rules(&choices, rules, diagnostics);
    half_spans(&choices, rules, model, diagnostics);
    choices.iter().map(|choice| choice.rules().collect()).collect()
}

/// The error of too many pairs of an `also` rule and an event. The number of pairs determines the
/// memory needed.
fn too_many(rule: &Rule) -> Diagnostic {
    Diagnostic::error(Code::TooMany, "the `also` rules of the spec act on too many events")
        .with_location(
            target_span(&rule.target),
            format!("with this one, more than {MAX_ADDED} times one rule for one event"),
        )
        .help("write fewer `also rule level` and `also rule default`, each with more actions")
}

/// Reports a rule for a level or for defaults that has no events. An unknown name is already
/// reported.
fn empty(rule: &Rule, diagnostics: &mut Diagnostics) {
    let reason = match &rule.target {
        Target::Event(_) => return,
        Target::Level(name) => format!("level `{}` has no events", name.text),
        Target::Default(_) => "the spec has no events".to_owned(),
    };
    diagnostics.push(
        Diagnostic::warning(Code::UselessRule, "the rule never acts")
            .with_location(target_span(&rule.target), reason)
            .note("rules for levels and the default act on events, not on spans"),
    );
}

/// Reports rules for levels and for defaults that more specific rules replace for all of their
/// events.
fn report_shadowed_rules(choices: &[RuleChoice], rules: &[&Rule], diagnostics: &mut Diagnostics) {
    let mut acts = vec![false; rules.len()];
    let mut applies = vec![false; rules.len()];
    for choice in choices {
        choice.rules().for_each(|rule| acts[rule] = true);
        choice.level.into_iter().chain(choice.default).for_each(|rule| applies[rule] = true);
    }
    for (rule, _) in rules.iter().zip(applies.iter().zip(&acts)).filter(|(_, (applies, acts))| **applies && !**acts) {
        diagnostics.push(
            Diagnostic::warning(Code::UselessRule, "the rule never acts")
                .with_location(target_span(&rule.target), "each of its events has a more specific rule")
                .help("write `also rule …` to add to these"),
        );
    }
}

/// Reports `ignore` together with other actions.
fn lonely_ignore(rule: &Rule, diagnostics: &mut Diagnostics) {
    let ignore = rule.actions.iter().find(|action| matches!(action.kind, ActionKind::Ignore));
    if let Some(ignore) = ignore.filter(|_| rule.actions.len() > 1 || rule.is_additional) {
        let label = if rule.is_additional { "`also` adds to another rule" } else { "not alone" };
        diagnostics.push(
            Diagnostic::error(Code::IgnoreAlone, "`ignore` must be the only action of its rule")
                .with_location(ignore.verb, label)
                .help("remove `ignore`, or the other actions"),
        );
    }
}

/// The record type that a rule names.
fn event_of(path: &Path, model: &SpecModel, diagnostics: &mut Diagnostics) -> Option<RecordId> {
    let name = &path.name;
    let Some(reference) = model.events.get(&name.text) else {
        let events = model.events.keys().map(String::as_str);
        if model.levels.contains_key(&name.text) {
            diagnostics.push(
                Diagnostic::error(Code::UnknownEvent, format!("`{}` is a level, not an event", name.text))
                    .with_location(name.span, "a level")
                    .help(match &path.part {
                        Some(part) => format!("events are named without their level: `rule {}`", part.text),
                        None => format!("write `rule level {}`", name.text),
                    }),
            );
        } else {
            model.report_unknown(Code::UnknownEvent, "event", name, events, diagnostics);
        }
        return None;
    };
    match (reference, path.part.as_ref()) {
        (EventRef::Event(record), None) => Some(*record),
        (EventRef::Span { begin, .. }, Some(part)) if part.text == "begin" => Some(*begin),
        (EventRef::Span { end, .. }, Some(part)) if part.text == "end" => Some(*end),
        (EventRef::Span { .. }, part) => {
            let span = part.map_or(name.span, |part| part.span);
            diagnostics.push(
                Diagnostic::error(Code::WhichEnd, format!("`{}` is a span: it has a begin and an end", name.text))
                    .with_location(span, "expected one of its ends")
                    .help(format!("write `rule {0}.begin` or `rule {0}.end`", name.text)),
            );
            None
        }
        (EventRef::Event(record), Some(part)) => {
            diagnostics.push(
                Diagnostic::error(Code::WhichEnd, format!("`{}` is an event, not a span", name.text))
                    .with_location(part.span, "events have no parts")
                    .with_label(model.record_spans[record.index()], "declared here")
                    .help(format!("write `rule {}`", name.text)),
            );
            None
        }
    }
}

/// Warns about spans with a rule for only one end.
fn half_spans(choices: &[RuleChoice], rules: &[&Rule], model: &SpecModel, diagnostics: &mut Diagnostics) {
    let is_output = rules.iter().any(|rule| rule.actions.iter().any(|a| matches!(a.kind, ActionKind::Template { .. })));
    if is_output {
        return;
    }
    for span in &model.spec.spans {
        let rule_of = |record: RecordId| choices[record.index()].event.map(|rule| rules[rule]);
        let (rule, with, without) = match (rule_of(span.begin), rule_of(span.end)) {
            (Some(rule), None) if choices[span.end.index()].also_rules.is_empty() => (rule, "begin", "end"),
            (None, Some(rule)) if choices[span.begin.index()].also_rules.is_empty() => (rule, "end", "begin"),
            _ => continue,
        };
        if !pushes_or_pops(rule) {
            continue;
        }
        diagnostics.push(
            Diagnostic::warning(
                Code::HalfSpan,
                format!("`{0}.{with}` has a rule, but `{0}.{without}` has none", span.name),
            )
            .with_location(target_span(&rule.target), format!("no action at the {without} of the span"))
            .help(format!("add `rule {}.{without} -> …;`", span.name)),
        );
    }
}

fn pushes_or_pops(rule: &Rule) -> bool {
    rule.actions.iter().any(|action| {
        matches!(action.kind, ActionKind::Pop { .. } | ActionKind::Assign { verb: ast::AssignVerb::Push, .. })
    })
}
