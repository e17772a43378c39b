//! The spec that a schema carries.

use tracer_format::Schema;
use tracer_format::schema::{EnumInfo, EnumValueInfo, RecordKind};
use tumit::Spec;
use tumit::spec::{Enum, EnumValue, FieldText, Level, LevelId, RecordDecl, SourceFile};
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

/// The spec of a schema. Its source texts are compiled again, so that an old run uses the current
/// meaning of the rules. If they do not compile, the spec has only the layouts of the schema.
pub(crate) fn spec_of(schema: &Schema, diagnostics: &mut Vec<TraceDiagnostic>) -> Spec {
    if schema.sources.is_empty() {
        return layouts(schema);
    }
    let sources: Vec<SourceFile> =
        schema.sources.iter().map(|s| SourceFile { path: s.path.clone(), text: s.text.clone() }).collect();
    let (spec, of_spec) = tumit::compile_sources(&sources);
    spec.unwrap_or_else(|| {
        let mistakes = of_spec.render(false);
        let first = mistakes.lines().next().unwrap_or("").trim().to_owned();
        let text =
            format!("the spec `{}` of this run does not compile, so its rules are not used: {first}", schema.name);
        diagnostics.push(TraceDiagnostic::warning(DiagnosticKind::Rule, text));
        layouts(schema)
    })
}

/// A spec with the record layouts of a schema and without rules.
pub(crate) fn layouts(schema: &Schema) -> Spec {
    let text = String::new;
    let levels = schema.levels.iter();
    let levels = levels.map(|l| Level { name: l.name.clone(), doc: text(), is_enabled: l.is_enabled }).collect();
    let enums = schema.enums.iter();
    let values = |e: &EnumInfo| {
        let value = |v: &EnumValueInfo| EnumValue { name: v.name.clone(), doc: String::new(), number: v.number };
        e.values.iter().map(value).collect()
    };
    let enums = enums.map(|e| Enum { name: e.name.clone(), doc: text(), values: values(e) }).collect();
    let records = schema.records.iter().map(|layout| {
        let ending = match layout.kind {
            RecordKind::Event => "",
            RecordKind::Begin => ".begin",
            RecordKind::End => ".end",
        };
        let name = layout.name.strip_suffix(ending).unwrap_or(&layout.name).to_owned();
        let fields = vec![FieldText::default(); layout.fields.len()];
        RecordDecl { name, doc: text(), level: LevelId(layout.level), layout: layout.clone(), fields }
    });
    Spec { name: schema.name.clone(), levels, enums, records: records.collect(), ..Spec::default() }
}
