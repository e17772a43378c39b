//! The spec of a callsite: its records and their rules.
//!
//! A run contains these specs, so that readers need no other source. The types of the tree are
//! those of `std:tracing`, which the converter therefore shares between all specs of a run.

use std::fmt::Write as _;

use tracer_rt::format::schema::{
    FieldInfo, FieldType, LevelInfo, RecordKind, RecordType, SCHEMA_VERSION, Scalar, Schema, SourceText,
};
use tracing_core::Metadata;

use crate::spec_names::{SpecNames, quoted};
use crate::value_encoding::{EncodedType, Signature};

/// The tree of `std:tracing`.
const TREE: &str = r#"paje {
    container program "Program" {
        container process[rank: u64] "Rank {rank}" {
            container thread[tid: u64] "Thread {tid}" {
                state tracing_span "Span" #0072b2
                event tracing_event "Event" #8a949e {
                    error  "ERROR"                #d62728 shape diamond,
                    warn   "WARN"                 #e69f00 shape diamond,
                    info   "INFO"                 #009e73,
                    debug  "DEBUG"                #56b4e9,
                    trace  "TRACE"                #b3bac2,
                    fields "New fields of a span" #8a949e size 0.6,
                }
            }
            link continuation "Continuation" #8a949e from thread to thread
            link follows "Follows from" #cc79a7 from thread to thread
        }
    }
}
"#;

/// The records of a callsite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordSet {
    /// An event.
    Event,
    /// Begin and end of a span, and its begin after an earlier end.
    Span,
    /// New values of fields of a span.
    NewFields,
}

/// Number of the begin of a span, among the record types of its spec.
pub(crate) const SPAN_BEGIN: usize = 0;
/// Number of its end.
pub(crate) const SPAN_END: usize = 1;
/// Number of a begin after an earlier end.
pub(crate) const SPAN_RESUME: usize = 2;

/// The schema of a callsite. Its fields have the types of `signature`, and `names` are the names of
/// all fields.
pub(crate) fn schema(metadata: &Metadata<'_>, records: RecordSet, names: &[&str], signature: Signature) -> Schema {
    let mut spec_names = SpecNames::default();
    let fields: Vec<FieldInfo> = signature
        .fields()
        .filter_map(|(index, ty)| names.get(index).map(|name| (name, ty)))
        .map(|(name, ty)| FieldInfo { name: spec_names.name(name), ty: FieldType::One(scalar(ty)) })
        .collect();
    let name = record_name(metadata, records);
    let types = record_types(&name, records, &fields);
    let level = metadata.level().as_str();
    let text = spec_text(metadata, records, &name, &fields);
    Schema {
        version: SCHEMA_VERSION,
        name: "tracing".into(),
        spec_version: 1,
        levels: vec![LevelInfo { name: level.into(), is_enabled: true }],
        enums: Vec::new(),
        records: types,
        sources: vec![SourceText { path: format!("{name}.tumit"), text }],
    }
}

/// The name of the event or span in its spec: that of the program, or module and line of an event
/// without a name.
fn record_name(metadata: &Metadata<'_>, records: RecordSet) -> String {
    let name = match metadata.line() {
        Some(line) if metadata.name().starts_with("event ") => format!("{}_{line}", metadata.target()),
        _ => metadata.name().to_owned(),
    };
    let mut name = SpecNames::default().name(&name.replace("::", "_"));
    if records == RecordSet::NewFields {
        name.push_str("_f");
    }
    name
}

fn record_types(name: &str, records: RecordSet, fields: &[FieldInfo]) -> Vec<RecordType> {
    let of = |name: String, kind: RecordKind, own: &[(&str, Scalar)]| {
        let own = own.iter().map(|(name, scalar)| FieldInfo { name: (*name).into(), ty: FieldType::One(*scalar) });
        let fields = if kind == RecordKind::End { &[] } else { fields };
        RecordType { name, level: 0, kind, has_location: true, fields: own.chain(fields.iter().cloned()).collect() }
    };
    let span = ("span", Scalar::U64);
    match records {
        RecordSet::Event => vec![of(name.into(), RecordKind::Event, &[])],
        RecordSet::NewFields => vec![of(name.into(), RecordKind::Event, &[span])],
        RecordSet::Span => vec![
            of(format!("{name}.begin"), RecordKind::Begin, &[span]),
            of(format!("{name}.end"), RecordKind::End, &[]),
            of(
                format!("{name}_r"),
                RecordKind::Event,
                &[span, ("previous_thread", Scalar::U64), ("previous_exit", Scalar::Date)],
            ),
        ],
    }
}

const fn scalar(ty: EncodedType) -> Scalar {
    match ty {
        EncodedType::I64 => Scalar::I64,
        EncodedType::U64 => Scalar::U64,
        EncodedType::F64 => Scalar::F64,
        EncodedType::Bool => Scalar::Bool,
        EncodedType::Text => Scalar::String,
        EncodedType::Bytes => Scalar::Bytes,
        EncodedType::Interned => Scalar::Interned,
    }
}

fn spec_text(metadata: &Metadata<'_>, records: RecordSet, name: &str, fields: &[FieldInfo]) -> String {
    let (mut declared, mut shown) = (String::new(), String::new());
    for field in fields {
        let ty = match field.ty {
            FieldType::One(scalar) => format!("{scalar:?}").to_lowercase(),
            _ => unreachable!("the encoder makes no arrays"),
        };
        let name = &field.name;
        // Writing to a string cannot fail.
        let _ = write!(declared, "`{name}`: {ty}, ");
        let _ = write!(shown, ", `{name}`");
    }
    let (target, title) = (quoted(metadata.target()), quoted(metadata.name()));
    let level = metadata.level().as_str();
    let value = level.to_ascii_lowercase();
    let on = "on thread[rank, tid]";
    let (declarations, rules) = match records {
        RecordSet::Event => (
            format!("event {name} located {{ {declared} }}"),
            format!("rule {name} -> mark tracing_event = {value} {on} with {{ target = {target}{shown} }};\n"),
        ),
        RecordSet::NewFields => (
            format!("event {name} located {{ span: u64, {declared} }}"),
            format!("rule {name} -> mark tracing_event = fields {on} with {{ span_name = {title}, span{shown} }};\n"),
        ),
        RecordSet::Span => (
            format!(
                "span {name} located {{ span: u64, {declared} }} \
                 event {name}_r located {{ span: u64, previous_thread: u64, previous_exit: date, {declared} }}"
            ),
            format!(
                "rule {name}.begin -> push tracing_span = {title} {on} with {{ target = {target}, span{shown} }};\n\
                 rule {name}.end -> pop tracing_span {on};\n\
                 rule {name}_r -> start continuation key (rank, span) from thread[rank, previous_thread] at previous_exit\n\
                 -> end continuation key (rank, span) to thread[rank, tid]\n\
                 -> push tracing_span = {title} {on} with {{ target = {target}, span{shown} }};\n"
            ),
        ),
    };
    format!("trace tracing;\nversion 1;\nlevel {level} {{ {declarations} }}\n{TREE}{rules}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_that_of_the_standard_spec() {
        let standard = tumit::load::standard("std:tracing").expect("a standard spec");
        assert!(standard.contains(TREE));
    }
}
