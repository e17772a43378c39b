//! The target of a rule: records, or the ends of threads or processes.
//!
//! `rule thread.end` and `rule process.end` react to ends. An event or span of the spec with the
//! name `thread` or `process` takes precedence.

use crate::diagnostics::{Code, Diagnostic};
use crate::draft::SpecModel;
use crate::source_text::SourceSpan;
use crate::syntax::ast::{Path, Rule, Target};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndKind {
    Thread,
    Process,
}

/// The kind of end to which a rule reacts; `None` for rules of records.
pub(super) fn ending_of(rule: &Rule, model: &SpecModel) -> Option<EndKind> {
    let Target::Event(path) = &rule.target else { return None };
    let is_end = path.part.as_ref().is_some_and(|part| part.text == "end");
    if !is_end || model.events.contains_key(&path.name.text) {
        return None;
    }
    match path.name.text.as_str() {
        "thread" => Some(EndKind::Thread),
        "process" => Some(EndKind::Process),
        _ => None,
    }
}

/// The error of a second rule for a target.
pub(super) fn second_rule(second: &Rule, first: &Rule) -> Diagnostic {
    let target = match &second.target {
        Target::Event(Path { name, part: Some(part) }) => format!("`{}.{}`", name.text, part.text),
        Target::Event(path) => format!("`{}`", path.name.text),
        Target::Level(name) => format!("level `{}`", name.text),
        Target::Default(_) => "`default`".to_owned(),
    };
    Diagnostic::error(Code::SecondRule, format!("there are two rules for {target}"))
        .with_location(target_span(&second.target), "the second rule")
        .with_label(target_span(&first.target), "the first rule")
        .help("write `also rule …` to add to the first, or join their actions")
}

pub(super) fn target_span(target: &Target) -> SourceSpan {
    match target {
        Target::Event(Path { name, part }) => part.as_ref().map_or(name.span, |part| name.span.joined_with(part.span)),
        Target::Level(name) => name.span,
        Target::Default(span) => *span,
    }
}
