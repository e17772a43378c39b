//! Whether rules that the user chose fit a run: those of another program would make an empty picture without a word.

use std::collections::BTreeMap;

use tracer_format::Schema;
use tracer_format::schema::{Field, FieldType, RecordType, Scalar};
use tumit::Spec;

use super::options::ConvertError;
use crate::run::Run;

/// So many names are told.
const MOST: usize = 8;

/// What of the rules does not fit the run; a sentence each. A new spec for an old run has more events, and is right.
///
/// # Errors
/// When no event of the spec is in the run.
pub(crate) fn fit(rules: &Spec, output: Option<&str>, run: &Run) -> Result<Vec<String>, ConvertError> {
    let mut schemas: Vec<&Schema> = Vec::new();
    for provider in run.processes.iter().flat_map(|process| &process.providers) {
        if !schemas.contains(&&provider.schema) {
            schemas.push(&provider.schema);
        }
    }
    let mut known: BTreeMap<&str, &RecordType> = BTreeMap::new();
    for kind in schemas.iter().flat_map(|schema| &schema.records) {
        // If two record types have the same name, the second is the absent end.
        known.entry(kind.name.as_str()).or_insert(kind);
    }
    let spec = &rules.name;
    if !schemas.is_empty() && !rules.records.iter().any(|record| known.contains_key(record.layout.name.as_str())) {
        let names: Vec<String> = schemas.iter().map(|schema| format!("`{}`", schema.name)).collect();
        return Err(ConvertError::OtherProgram { spec: spec.clone(), recorded: listed(&names) });
    }
    let output = output.map(|name| rules.outputs.iter().find(|output| output.name == *name));
    let has_rule = |at: usize| match output {
        None => rules.rules.get(at).is_some_and(|actions| !actions.is_empty()),
        Some(output) => output.and_then(|output| output.rules.get(at)).is_some_and(|lines| !lines.is_empty()),
    };
    let (mut missing, mut differing) = (Vec::new(), Vec::new());
    for (_, record) in rules.records.iter().enumerate().filter(|(at, _)| has_rule(*at)) {
        let name = &record.layout.name;
        match known.get(name.as_str()) {
            None => missing.push(format!("`{name}`")),
            Some(kind) => differing.extend(differences(name, &record.layout.fields, &kind.fields)),
        }
    }
    let mut told = Vec::new();
    if !missing.is_empty() {
        told.push(format!("the spec `{spec}` has rules for events that this run does not have: {}", listed(&missing)));
    }
    if !differing.is_empty() {
        let differing = listed(&differing);
        told.push(format!(
            "fields have other types in the spec `{spec}` than in this run, whose types count: {differing}"
        ));
    }
    Ok(told)
}

/// Fields that have the same name and another type.
fn differences(event: &str, rules: &[Field], run: &[Field]) -> Vec<String> {
    let other = |field: &Field| {
        let recorded = run.iter().find(|recorded| recorded.name == field.name)?;
        let (ours, theirs) = (name_of(field.ty), name_of(recorded.ty));
        (ours != theirs).then(|| format!("`{}` of `{event}` ({ours}, recorded as {theirs})", field.name))
    };
    rules.iter().filter_map(other).collect()
}

/// A type as specs have it; all enums are one type, as their values are found by name.
fn name_of(ty: FieldType) -> String {
    let scalar = |scalar: Scalar| match scalar {
        Scalar::Enum { .. } => "enum".to_owned(),
        scalar => format!("{scalar:?}").to_lowercase(),
    };
    match ty {
        FieldType::One(one) => scalar(one),
        FieldType::Fixed(one, count) => format!("[{}; {count}]", scalar(one)),
        FieldType::Variable(one) => format!("[{}]", scalar(one)),
    }
}

/// The first of these, and how many more there are.
fn listed(names: &[String]) -> String {
    let first = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
