//! Checks that the rules selected by the user fit the run. Rules of another program would produce
//! an empty trace without any message.

use std::collections::BTreeMap;

use tracer_format::Schema;
use tracer_format::schema::{FieldInfo, FieldType, RecordType, Scalar};
use tumit::Spec;

use crate::convert::options::ConvertError;
use crate::run::OpenRun;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

/// Maximum number of names in a message.
const MAX_NAMES: usize = 8;

/// Warnings about mismatches between the rules and the run. A new spec for an old run may have
/// more events, so missing events are no error.
///
/// # Errors
/// If the run has no event of the spec.
pub(crate) fn mismatch_warnings(
    rules: &Spec,
    output: Option<&str>,
    run: &OpenRun,
) -> Result<Vec<TraceDiagnostic>, ConvertError> {
    let mut schemas: Vec<&Schema> = Vec::new();
    for provider in run.processes.iter().flat_map(|process| &process.providers) {
        if !schemas.contains(&&provider.schema) {
            schemas.push(&provider.schema);
        }
    }
    let mut record_types: BTreeMap<&str, &RecordType> = BTreeMap::new();
    for kind in schemas.iter().flat_map(|schema| &schema.records) {
        // If two record types have the same name, the second is the absent end.
        record_types.entry(kind.name.as_str()).or_insert(kind);
    }
    let spec = &rules.name;
    if !schemas.is_empty() && !rules.records.iter().any(|record| record_types.contains_key(record.layout.name.as_str()))
    {
        let names: Vec<String> = schemas.iter().map(|schema| format!("`{}`", schema.name)).collect();
        return Err(ConvertError::OtherProgram { spec: spec.clone(), recorded_specs: list_names(&names) });
    }
    let output = output.map(|name| rules.outputs.iter().find(|output| output.name == *name));
    let has_rule = |record: usize| match output {
        None => rules.rules.get(record).is_some_and(|actions| !actions.is_empty()),
        Some(output) => output.and_then(|output| output.rules.get(record)).is_some_and(|lines| !lines.is_empty()),
    };
    let (mut missing_records, mut differing) = (Vec::new(), Vec::new());
    for (_, record) in rules.records.iter().enumerate().filter(|(number, _)| has_rule(*number)) {
        let name = &record.layout.name;
        match record_types.get(name.as_str()) {
            None => missing_records.push(format!("`{name}`")),
            Some(kind) => differing.extend(type_differences(name, &record.layout.fields, &kind.fields)),
        }
    }
    let mut messages = Vec::new();
    if !missing_records.is_empty() {
        messages.push(format!(
            "the spec `{spec}` has rules for events that are not in this run: {}",
            list_names(&missing_records)
        ));
    }
    if !differing.is_empty() {
        let differing = list_names(&differing);
        messages.push(format!(
            "fields have other types in the spec `{spec}` than in this run; the types of the run are used: {differing}"
        ));
    }
    Ok(messages.into_iter().map(|text| TraceDiagnostic::warning(DiagnosticKind::Rule, text)).collect())
}

/// Fields that have the same name in both, and different types.
fn type_differences(event: &str, rules: &[FieldInfo], run: &[FieldInfo]) -> Vec<String> {
    let other = |field: &FieldInfo| {
        let recorded = run.iter().find(|recorded| recorded.name == field.name)?;
        let (in_spec, in_run) = (name_of(field.ty), name_of(recorded.ty));
        (in_spec != in_run).then(|| format!("`{}` of `{event}` ({in_spec}, recorded as {in_run})", field.name))
    };
    rules.iter().filter_map(other).collect()
}

/// The name of a type in specs. All enums count as one type, because their values are found by
/// name.
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

/// Lists the first names and the number of the others.
fn list_names(names: &[String]) -> String {
    let first = names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
