//! The spec under construction: `resolve` fills it, and the checks read it.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::source_text::SourceSpan;
use crate::spec::{ContainerTypeId, EntityTypeId, Expr, LevelId, RecordId, Spec};
use crate::syntax::ast::{self, Ident};
use crate::value_type::ValueType;

/// An event or a span, by name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EventRef {
    Event(RecordId),
    Span { begin: RecordId, end: RecordId },
}

/// A key of a container.
#[derive(Clone, Debug)]
pub(crate) struct KeyModel {
    pub(crate) name: String,
    /// The scalar type, as declared.
    pub(crate) ty: tracer_format::schema::Scalar,
    pub(crate) span: SourceSpan,
}

/// The spec under construction, with the data that only the checks need.
#[derive(Debug, Default)]
pub(crate) struct SpecModel {
    pub(crate) spec: Spec,
    pub(crate) levels: BTreeMap<String, LevelId>,
    pub(crate) events: BTreeMap<String, EventRef>,
    pub(crate) enums: BTreeMap<String, u32>,
    pub(crate) aliases: BTreeMap<String, ast::TypeRef>,
    pub(crate) constants: BTreeMap<String, (Expr, ValueType)>,
    pub(crate) containers: BTreeMap<String, ContainerTypeId>,
    /// Span of the version, or of the name of the trace when there is no version.
    pub(crate) version_span: SourceSpan,
    pub(crate) level_spans: Vec<SourceSpan>,
    pub(crate) enum_spans: Vec<SourceSpan>,
    /// Spans of the names of records.
    pub(crate) record_spans: Vec<SourceSpan>,
    pub(crate) container_spans: Vec<SourceSpan>,
    pub(crate) entity_spans: Vec<SourceSpan>,
    /// Entities by name. A name has several entities when several containers declare it.
    pub(crate) entity_names: BTreeMap<String, Vec<EntityTypeId>>,
    /// Spans of the values of each entity.
    pub(crate) value_spans: Vec<Vec<SourceSpan>>,
    /// Spans of the patterns of each category statement.
    pub(crate) pattern_spans: Vec<Vec<SourceSpan>>,
    /// Keys that each container declares itself, without those of its parents.
    pub(crate) keys: Vec<Vec<KeyModel>>,
    /// Holes of the label of each container: name and span.
    pub(crate) holes: Vec<Vec<(String, SourceSpan)>>,
    /// Whether each container has a label of its own.
    pub(crate) labelled: Vec<bool>,
    /// Names declared in pieces of the text that could not be parsed.
    pub(crate) unparsed: BTreeSet<String>,
}

impl SpecModel {
    /// The full name of a record type.
    pub(crate) fn record_name(&self, record: RecordId) -> &str {
        self.spec.records.get(record.index()).map_or("", |record| record.layout.name.as_str())
    }

    /// Reports that no `noun` has this name, unless the declaration of the name could not be
    /// parsed.
    pub(crate) fn report_unknown<'a>(
        &self,
        code: Code,
        noun: &str,
        name: &Ident,
        candidates: impl IntoIterator<Item = &'a str>,
        diagnostics: &mut Diagnostics,
    ) {
        if self.unparsed.contains(&name.text) || diagnostics.is_full() {
            return;
        }
        let candidates: Vec<&str> = candidates.into_iter().collect();
        let help = did_you_mean(&name.text, candidates.iter().copied()).or_else(|| list_candidates(&candidates));
        diagnostics.push(
            Diagnostic::error(code, format!("there is no {noun} `{}`", name.text))
                .with_location(name.span, "not declared")
                .maybe_help(help),
        );
    }

    pub(crate) fn container_name(&self, id: ContainerTypeId) -> &str {
        self.spec.containers.get(id.index()).map_or("", |container| container.name.as_str())
    }

    /// All keys of the path of a container, outermost first.
    pub(crate) fn path_keys(&self, id: ContainerTypeId) -> Vec<&KeyModel> {
        let path = self.spec.path(id);
        path.into_iter().filter_map(|container| self.keys.get(container.index())).flatten().collect()
    }

    /// The notation of an instance of a container, `NAME[KEY, …]`.
    pub(crate) fn pattern_of(&self, id: ContainerTypeId) -> String {
        let keys: Vec<&str> = self.path_keys(id).into_iter().map(|key| key.name.as_str()).collect();
        let name = self.container_name(id);
        if keys.is_empty() { name.to_owned() } else { format!("{name}[{}]", keys.join(", ")) }
    }

    /// Entities with this name. There are several when several containers declare the name.
    pub(crate) fn entities_named(&self, name: &str) -> &[EntityTypeId] {
        self.entity_names.get(name).map_or(&[], Vec::as_slice)
    }
}

/// "there are `a`, `b`", when there are few candidates.
pub(crate) fn list_candidates(candidates: &[&str]) -> Option<String> {
    let quoted: Vec<String> = candidates.iter().map(|name| format!("`{name}`")).collect();
    match quoted.len() {
        0 => None,
        1 => Some(format!("there is only {}", quoted[0])),
        2..=8 => Some(format!("there are {}", quoted.join(", "))),
        _ => None,
    }
}

/// The smallest and the largest number of an integer type. `None` for other types.
pub(crate) fn integer_range(ty: tracer_format::schema::Scalar) -> Option<(i128, i128)> {
    use tracer_format::schema::Scalar;
    Some(match ty {
        Scalar::U8 => (0, u8::MAX.into()),
        Scalar::U16 => (0, u16::MAX.into()),
        Scalar::U32 => (0, u32::MAX.into()),
        Scalar::U64 => (0, u64::MAX.into()),
        Scalar::I8 => (i8::MIN.into(), i8::MAX.into()),
        Scalar::I16 => (i16::MIN.into(), i16::MAX.into()),
        Scalar::I32 => (i32::MIN.into(), i32::MAX.into()),
        Scalar::I64 => (i64::MIN.into(), i64::MAX.into()),
        _ => return None,
    })
}

/// A position as an index of an arena.
pub(crate) fn index(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
