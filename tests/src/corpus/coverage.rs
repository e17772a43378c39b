//! The language features that the cases record. They are determined from the compiled specs, so
//! that no feature counts by its name alone.

use std::collections::BTreeSet;

use tracer_format::FieldType;
use tracer_format::schema::{RecordKind, Scalar};
use tumit::Spec;
use tumit::spec::{Enum, RecordDecl};

use super::CorpusCase;

/// All scalar types; for enums, a narrow and a wide one.
const SCALARS: [Scalar; 18] = [
    Scalar::U8,
    Scalar::U16,
    Scalar::U32,
    Scalar::U64,
    Scalar::I8,
    Scalar::I16,
    Scalar::I32,
    Scalar::I64,
    Scalar::F32,
    Scalar::F64,
    Scalar::Bool,
    Scalar::Date,
    Scalar::Pointer,
    Scalar::Enum { index: 0, is_wide: false },
    Scalar::Enum { index: 0, is_wide: true },
    Scalar::Interned,
    Scalar::String,
    Scalar::Bytes,
];

/// All features besides types.
const FEATURES: [&str; 41] = [
    "a constant",
    "a constant as a length",
    "a fixed array with a literal length",
    "a level by default off",
    "a level by default on",
    "a level left out by the generator",
    "a level without events",
    "a name of 63 letters",
    "a name of another type",
    "a name of an array",
    "a record of 32 KiB",
    "a rule",
    "a span",
    "a span, async",
    "a span, async and located",
    "a span, located",
    "a span with parameters of its end",
    "a span with parameters",
    "a span without parameters",
    "a spec with a version",
    "a text output",
    "an enum of 256 values",
    "an enum of 257 values",
    "an enum of one value",
    "an enum with numbers",
    "an event",
    "an event, located",
    "an event with 127 parameters",
    "an event with parameters",
    "an event without parameters",
    "documentation of a field",
    "documentation of a value",
    "documentation of an event",
    "keywords of C as names",
    "keywords of C++ as names",
    "keywords of Fortran as names",
    "keywords of Rust as names",
    "keywords of Tumit as names",
    "several environments",
    "several files",
    "several specs in one program",
];

/// All features that must occur in some case.
#[must_use]
pub fn required_features() -> BTreeSet<String> {
    let mut features: BTreeSet<String> = FEATURES.iter().map(|&feature| feature.to_owned()).collect();
    for scalar in SCALARS {
        features.insert(ty(FieldType::One(scalar)));
        // Arrays cannot contain counted types.
        if scalar.bytes().is_some() {
            features.insert(ty(FieldType::Fixed(scalar, 2)));
            features.insert(ty(FieldType::Variable(scalar)));
        }
    }
    features
}

/// Compiles the specs of a case, and lists the features that they use.
#[must_use]
pub fn covered_features(case: &CorpusCase) -> BTreeSet<String> {
    let specs = case.compile();
    let mut features = BTreeSet::new();
    let mut add = |feature: &str, holds: bool| {
        if holds {
            features.insert(feature.to_owned());
        }
    };
    add("several environments", case.environments.len() > 1);
    add("several specs in one program", specs.len() > 1);
    add("a level left out by the generator", !case.off.is_empty());
    for spec in &specs {
        spec_features(spec, &mut add);
    }
    for spec in &specs {
        spec.records.iter().for_each(|record| record_features(spec, record, &mut features));
    }
    features
}

fn spec_features(spec: &Spec, add: &mut impl FnMut(&str, bool)) {
    add("a constant", !spec.constants.is_empty());
    add("a name of another type", spec.aliases.iter().any(|alias| !alias.text.starts_with('[')));
    add("a name of an array", spec.aliases.iter().any(|alias| alias.text.starts_with('[')));
    add("a level by default off", spec.levels.iter().any(|level| !level.is_enabled));
    add("a level by default on", spec.levels.iter().any(|level| level.is_enabled));
    let used: BTreeSet<usize> = spec.records.iter().map(|record| record.level.index()).collect();
    add("a level without events", used.len() < spec.levels.len());
    add("a rule", spec.rules.iter().any(|actions| !actions.is_empty()));
    add("a spec with a version", spec.version != 0);
    add("a text output", !spec.outputs.is_empty());
    add("several files", spec.sources.len() > 1);
    let any = |holds: fn(&Enum) -> bool| spec.enums.iter().any(holds);
    add("an enum of one value", any(|item| item.values.len() == 1));
    add("an enum of 256 values", any(|item| item.values.len() == 256));
    add("an enum of 257 values", any(|item| item.values.len() == 257));
    add(
        "an enum with numbers",
        any(|item| item.values.iter().enumerate().any(|(index, v)| usize::from(v.number) != index)),
    );
    add("documentation of a value", any(|item| item.values.iter().any(|value| !value.doc.is_empty())));
    let names: Vec<&str> = spec.records.iter().map(|record| record.name.as_str()).collect();
    let fields = || spec.records.iter().flat_map(|record| record.layout.fields.iter().map(|field| field.name.as_str()));
    let is_name_and_field = |keyword: fn(&str) -> bool| names.iter().any(|name| keyword(name)) && fields().any(keyword);
    add(
        "keywords of Rust as names",
        is_name_and_field(|name| ["async", "fn", "loop", "match", "self", "type"].contains(&name)),
    );
    add(
        "keywords of C as names",
        is_name_and_field(|name| ["default", "for", "int", "struct", "while"].contains(&name)),
    );
    add(
        "keywords of C++ as names",
        is_name_and_field(|name| ["class", "delete", "namespace", "template", "this"].contains(&name)),
    );
    add(
        "keywords of Fortran as names",
        is_name_and_field(|name| ["call", "end", "module", "program", "subroutine"].contains(&name)),
    );
    add(
        "keywords of Tumit as names",
        is_name_and_field(|name| ["event", "level", "off", "rule", "span", "trace"].contains(&name)),
    );
    add("a name of 63 letters", names.iter().any(|name| name.len() == 63) && fields().any(|name| name.len() == 63));
    for span in &spec.spans {
        let begin = &spec.records[span.begin.index()];
        add("a span, async", span.is_async);
        add("a span with parameters of its end", span.absent_end.is_some());
        add("a span, async and located", span.is_async && begin.layout.has_location);
    }
}

fn record_features(spec: &Spec, record: &RecordDecl, features: &mut BTreeSet<String>) {
    let mut add = |feature: &str, holds: bool| {
        if holds {
            features.insert(feature.to_owned());
        }
    };
    let layout = &record.layout;
    let kind = if layout.kind == RecordKind::Event { "an event" } else { "a span" };
    add(kind, true);
    add(&format!("{kind}, located"), layout.has_location);
    if layout.kind != RecordKind::End {
        add(&format!("{kind} with parameters"), !layout.fields.is_empty());
        add(&format!("{kind} without parameters"), layout.fields.is_empty());
    }
    add("an event with 127 parameters", layout.fields.len() == 127);
    let body = layout.fixed_body_bytes().unwrap_or(0);
    add("a record of 32 KiB", body + tracer_format::RECORD_HEAD_BYTES == 32 * 1024);
    add("documentation of an event", !record.doc.is_empty());
    add("documentation of a field", record.fields.iter().any(|field| !field.doc.is_empty()));
    for field in &record.fields {
        let length = field.type_text.rsplit_once(';').map_or("", |(_, length)| length.trim().trim_end_matches(']'));
        let literal = length.starts_with(|first: char| first.is_ascii_digit());
        add("a fixed array with a literal length", literal);
        add("a constant as a length", !length.is_empty() && !literal && !spec.constants.is_empty());
    }
    for field in &layout.fields {
        add(&ty(field.ty), true);
    }
}

/// The name of a type, without its length or enum.
fn ty(ty: FieldType) -> String {
    let name = |scalar| match scalar {
        Scalar::Enum { is_wide, .. } => format!("{} enum", if is_wide { "wide" } else { "narrow" }),
        scalar => format!("{scalar:?}"),
    };
    match ty {
        FieldType::One(scalar) => name(scalar),
        FieldType::Fixed(scalar, _) => format!("fixed array of {}", name(scalar)),
        FieldType::Variable(scalar) => format!("variable array of {}", name(scalar)),
    }
}
