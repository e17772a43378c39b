//! Distinct names of the spec that become the same identifier in generated code.

use std::collections::BTreeMap;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::draft::SpecModel;
use crate::names::{rust_name, rust_type_name};
use crate::source_text::SourceSpan;
use tracer_format::schema::RecordKind;

/// Reports collisions of levels, of events, of parameters of an event, of enums and of their
/// values.
pub(super) fn check(model: &SpecModel, diagnostics: &mut Diagnostics) {
    let spec = &model.spec;
    let levels = spec.levels.iter().zip(&model.level_spans).map(|(level, span)| (level.name.as_str(), *span));
    report(levels.map(|(name, span)| (rust_name(name), name.to_owned(), span)), "levels", diagnostics);
    let absent = spec.first_absent_end();
    let events = spec.records.iter().zip(&model.record_spans).enumerate().flat_map(|(index, (record, span))| {
        let end = match record.layout.kind {
            RecordKind::Event => "",
            RecordKind::Begin => "_begin",
            RecordKind::End if index >= absent => "_end_absent",
            RecordKind::End => "_end",
        };
        let mut names = vec![(rust_name(&format!("{}{end}", record.name)), record.layout.name.clone(), *span)];
        if record.layout.kind == RecordKind::Begin {
            names.push((rust_name(&record.name), record.name.clone(), *span));
        }
        names
    });
    report(events, "events", diagnostics);
    for (record, span) in spec.records.iter().zip(&model.record_spans) {
        let fields = record.layout.fields.iter();
        report(fields.map(|field| (rust_name(&field.name), field.name.clone(), *span)), "parameters", diagnostics);
    }
    let enums = spec.enums.iter().zip(&model.enum_spans);
    report(enums.clone().map(|(e, span)| (rust_type_name(&e.name), e.name.clone(), *span)), "enums", diagnostics);
    for (declared, span) in enums {
        let values = declared.values.iter();
        report(values.map(|value| (rust_type_name(&value.name), value.name.clone(), *span)), "values", diagnostics);
    }
}

fn report(names: impl Iterator<Item = (String, String, SourceSpan)>, noun: &str, diagnostics: &mut Diagnostics) {
    let mut first_uses: BTreeMap<String, (String, SourceSpan)> = BTreeMap::new();
    for (identifier, name, span) in names {
        let Some((previous_use, first)) = first_uses.get(&identifier) else {
            first_uses.insert(identifier, (name, span));
            continue;
        };
        let mut diagnostic = Diagnostic::error(
            Code::CollidingNames,
            format!("{noun} `{previous_use}` and `{name}` become the same name in generated code"),
        )
        .with_location(span, format!("`{identifier}`"));
        if *first != span {
            diagnostic = diagnostic.with_label(*first, format!("also becomes `{identifier}`"));
        }
        diagnostics.push(diagnostic.help("rename one of them"));
    }
}
