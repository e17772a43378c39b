//! The contents of a reference, independent of its layout.

use std::collections::HashMap;

use tracer_format::RECORD_HEAD_BYTES;
use tracer_format::schema::{FieldType, RecordKind, RecordType, Scalar};

use super::calls::{ExampleCall, ExampleCalls};
use super::expr;
use crate::codegen::backend::CodegenOptions;
use crate::spec::{
    ContainerTypeId, DeclaredValue, EntityType, EntityTypeKind, Level, LevelId, PatternPiece, RecordDecl, RecordId,
    Spec, SpecShape, SpecStyle, TemplateLine, TextPattern,
};

/// The contents of a reference.
pub(super) struct ReferenceFacts<'a> {
    pub(super) spec: &'a Spec,
    /// Events and spans, by level.
    pub(super) levels: Vec<(&'a Level, Vec<EventFacts<'a>>)>,
}

/// An event or a span.
pub(super) struct EventFacts<'a> {
    pub(super) name: &'a str,
    pub(super) doc: &'a str,
    pub(super) kind: DeclarationKind,
    /// Whether its records contain their position in the source of the program.
    pub(super) has_location: bool,
    pub(super) parameters: Vec<EventParameter<'a>>,
    /// Parameters that a span records at its end.
    pub(super) end_parameters: Vec<EventParameter<'a>>,
    /// The record types with their sizes.
    pub(super) sizes: Vec<(&'static str, String)>,
    /// Rules that act on it, as indexes of the list of rules.
    pub(super) rules: Vec<usize>,
    /// Whether a rule or a line of an output acts on it. Otherwise the default applies.
    pub(super) has_rules: bool,
    /// The calls that record it, in each language.
    pub(super) calls: Vec<ExampleCall>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeclarationKind {
    Event,
    Span,
    AsyncSpan,
}

impl DeclarationKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Span => "span",
            Self::AsyncSpan => "async span",
        }
    }
}

pub(super) struct EventParameter<'a> {
    pub(super) name: &'a str,
    pub(super) type_text: String,
    /// The enum of its values, as an index of [`Spec::enums`].
    pub(super) choices: Option<usize>,
    pub(super) bytes: String,
    pub(super) doc: &'a str,
}

impl<'a> ReferenceFacts<'a> {
    pub(super) fn new(spec: &'a Spec, options: &CodegenOptions) -> Self {
        let calls = ExampleCalls::new(spec, options);
        let index = RecordIndex::new(spec);
        let mut levels: Vec<(&Level, Vec<EventFacts<'_>>)> =
            spec.levels.iter().map(|level| (level, Vec::new())).collect();
        for position in 0..spec.records.len() {
            let (record, id) = (&spec.records[position], RecordId(u32::try_from(position).unwrap_or(u32::MAX)));
            // The ends of spans are listed together with their begins.
            if record.layout.kind == RecordKind::End {
                continue;
            }
            let LevelId(level) = record.level;
            if let Some((_, events)) = levels.get_mut(level as usize) {
                events.push(event(spec, id, &index, &calls));
            }
        }
        Self { spec, levels }
    }

    /// Container types directly inside `parent`.
    pub(super) fn container_types_in(&self, parent: Option<ContainerTypeId>) -> Vec<ContainerTypeId> {
        let ids =
            (0..self.spec.containers.len()).map(|index| ContainerTypeId(u32::try_from(index).unwrap_or(u32::MAX)));
        ids.filter(|id| self.spec.containers[id.index()].parent == parent).collect()
    }

    /// States, events, variables and links that a container declares.
    pub(super) fn entities(&self, container: ContainerTypeId) -> impl Iterator<Item = (usize, &'a EntityType)> {
        let all = self.spec.entities.iter().enumerate();
        all.filter(move |(_, entity)| entity.container == container)
    }

    /// `node → disk, node`
    pub(super) fn ends(&self, entity: &EntityType) -> Option<[Vec<&'a str>; 2]> {
        let EntityTypeKind::Link { from, to } = &entity.kind else { return None };
        let spec = self.spec;
        let names = |ids: &[ContainerTypeId]| {
            ids.iter().filter_map(|id| spec.containers.get(id.index())).map(|c| c.name.as_str()).collect()
        };
        Some([names(from), names(to)])
    }
}

/// Rules by record. A lookup takes constant time, because specs have thousands of events.
struct RecordIndex {
    rules: HashMap<RecordId, Vec<usize>>,
}

impl RecordIndex {
    fn new(spec: &Spec) -> Self {
        let mut rules: HashMap<RecordId, Vec<usize>> = HashMap::new();
        for (index, rule) in spec.rule_texts.iter().enumerate() {
            for record in &rule.records {
                rules.entry(*record).or_default().push(index);
            }
        }
        Self { rules }
    }
}

fn event<'a>(spec: &'a Spec, id: RecordId, index: &RecordIndex, calls: &ExampleCalls) -> EventFacts<'a> {
    let record = &spec.records[id.index()];
    let span = spec.span_of(id);
    let absent = span.and_then(|span| span.absent_end);
    let records: Vec<RecordId> = std::iter::once(id).chain(span.map(|span| span.end)).chain(absent).collect();
    let parts = if span.is_some() { ["begin", "end", "absent end"] } else { [""; 3] };
    let layouts = records.iter().filter_map(|record| spec.records.get(record.index()));
    let sizes = parts.into_iter().zip(layouts.map(|record| size(&record.layout))).collect();
    let end = absent.and(span).and_then(|span| spec.records.get(span.end.index()));
    let in_both = usize::from(span.is_some_and(|span| span.is_async));
    let end_parameters = end.map(|end| parameters(spec, end).skip(in_both).collect()).unwrap_or_default();
    let mut rules: Vec<usize> =
        records.iter().filter_map(|record| index.rules.get(record)).flatten().copied().collect();
    rules.sort_unstable();
    rules.dedup();
    EventFacts {
        name: &record.name,
        doc: &record.doc,
        kind: match span {
            None => DeclarationKind::Event,
            Some(span) if span.is_async => DeclarationKind::AsyncSpan,
            Some(_) => DeclarationKind::Span,
        },
        has_location: record.layout.has_location,
        parameters: parameters(spec, record).collect(),
        end_parameters,
        sizes,
        rules,
        has_rules: spec.has_rules(id),
        calls: calls.of(spec, &records),
    }
}

fn parameters<'a>(spec: &'a Spec, record: &'a RecordDecl) -> impl Iterator<Item = EventParameter<'a>> {
    record.layout.fields.iter().enumerate().map(|(index, field)| {
        let text = record.fields.get(index);
        EventParameter {
            name: &field.name,
            type_text: text.map_or_else(|| type_notation(spec, field.ty), |text| text.type_text.clone()),
            choices: choices(field.ty),
            bytes: bytes(field.ty),
            doc: text.map_or("", |text| text.doc.as_str()),
        }
    })
}

/// `14 bytes`, `at least 16 bytes`.
fn size(record: &RecordType) -> String {
    let site = if record.has_location { 4 } else { 0 };
    let least: usize = record.fields.iter().map(|field| field.ty.bytes().unwrap_or(2)).sum();
    let varies = record.fields.iter().any(|field| field.ty.bytes().is_none());
    format!("{}{} bytes", if varies { "at least " } else { "" }, RECORD_HEAD_BYTES + site + least)
}

fn bytes(ty: FieldType) -> String {
    match (ty.bytes(), ty) {
        (Some(bytes), _) => bytes.to_string(),
        (None, FieldType::Variable(scalar)) => match scalar.bytes() {
            Some(1) | None => "2 + count".to_owned(),
            Some(each) => format!("2 + {each} × count"),
        },
        (None, _) => "2 + length".to_owned(),
    }
}

fn choices(ty: FieldType) -> Option<usize> {
    let (FieldType::One(scalar) | FieldType::Fixed(scalar, _) | FieldType::Variable(scalar)) = ty;
    match scalar {
        Scalar::Enum { index, .. } => Some(index as usize),
        _ => None,
    }
}

/// The type as the language spells it.
fn type_notation(spec: &Spec, ty: FieldType) -> String {
    let name = |scalar: Scalar| match scalar {
        Scalar::Enum { index, .. } => {
            spec.enums.get(index as usize).map_or("enum", |item| item.name.as_str()).to_owned()
        }
        _ => format!("{scalar:?}").to_lowercase(),
    };
    match ty {
        FieldType::One(scalar) => name(scalar),
        FieldType::Fixed(scalar, count) => format!("[{}; {count}]", name(scalar)),
        FieldType::Variable(scalar) => format!("[{}]", name(scalar)),
    }
}

/// `node[node]`, `program`.
pub(super) fn container_name(name: &str, keys: &[String]) -> String {
    if keys.is_empty() { name.to_owned() } else { format!("{name}[{}]", keys.join(", ")) }
}

/// `"Node {node}"` as it is written.
pub(super) fn pattern(pattern: &TextPattern) -> String {
    let pieces = pattern.0.iter().map(|piece| match piece {
        PatternPiece::Text(text) => text.replace('{', "{{").replace('}', "}}"),
        PatternPiece::Name(name, format) => expr::hole(name, format),
        _ => "{…}".to_owned(),
    });
    pieces.collect()
}

pub(super) fn kind_name(kind: &EntityTypeKind) -> &'static str {
    match kind {
        EntityTypeKind::State => "state",
        EntityTypeKind::Event => "event",
        EntityTypeKind::Variable => "variable",
        EntityTypeKind::Link { .. } => "link",
    }
}

/// The style of an entity: `triangle`, `size 2`.
pub(super) fn style_texts(style: &SpecStyle) -> Vec<String> {
    let shape = style.shape.map(|shape| shape_name(shape).to_owned());
    shape.into_iter().chain(style.size.map(|size| format!("size {size}"))).collect()
}

/// The style and the category of a value: `size 2`, `idle`.
pub(super) fn value_texts(value: &DeclaredValue) -> Vec<String> {
    let category = value.category.map(|category| category.word().to_owned());
    style_texts(&value.style).into_iter().chain(category).collect()
}

pub(super) fn shape_name(shape: SpecShape) -> &'static str {
    match shape {
        SpecShape::Triangle => "triangle",
        SpecShape::Diamond => "diamond",
        SpecShape::Circle => "circle",
        SpecShape::Square => "square",
        SpecShape::Line => "line",
    }
}

/// A description of the default for a record without rules.
pub(super) fn default_display(kind: DeclarationKind) -> &'static str {
    match kind {
        DeclarationKind::Event => "It has no rule: it is shown as a mark on the thread that recorded it.",
        DeclarationKind::Span => "It has no rule: it is shown as a state of the thread that recorded it.",
        DeclarationKind::AsyncSpan => {
            "It has no rule: each of its parts is shown as a state of the thread that ran it."
        }
    }
}

/// A rule without the indentation of its file.
pub(super) fn rule_text(text: &str) -> String {
    let rest = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indent = rest.map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0);
    // In a rule in the first column, the `->` are aligned. Only the indentation beyond that is
    // removed.
    let arrow = text.lines().next().and_then(|first| first.find("->")).unwrap_or(4);
    let extra = indent.saturating_sub(arrow);
    let line =
        |line: &str| line.get(extra..).filter(|_| line.starts_with(&" ".repeat(extra))).unwrap_or(line).to_owned();
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    std::iter::once(first).chain(lines.map(line)).collect::<Vec<_>>().join("\n")
}

/// A line of a text output: its template, and its parameters as in the spec.
pub(super) fn line(line: &TemplateLine, spec: &Spec, record: &RecordDecl) -> [String; 2] {
    let arguments: Vec<_> = line.arguments.iter().map(|argument| expr::text(argument, spec, Some(record))).collect();
    let when = line.condition.as_ref().map(|when| format!("when {}", expr::text(when, spec, Some(record))));
    let once = if line.is_unique { "once " } else { "" };
    let parts = std::iter::once(arguments.join(", ")).chain(when).filter(|part| !part.is_empty());
    [format!("{once}\"{}\"", line.text.join("@").escape_debug()), parts.collect::<Vec<_>>().join(" ")]
}
