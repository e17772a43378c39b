//! Levels, events and spans: one record type per event, two per span, three per span with
//! parameters of its end.

use std::collections::BTreeMap;

use tracer_format::FIRST_RESERVED_ID;
use tracer_format::schema::{FieldInfo, RecordKind, RecordType};

use super::declared_names::{check_name, duplicate};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::draft::{EventRef, SpecModel, index};
use crate::record_layout::{self, MAX_FIXED_BYTES};
use crate::spec::{self, FieldText, LevelId, RecordDecl, RecordId};
use crate::syntax::ast;

/// Maximum number of parameters of an event: the limit that every compiler of C99 accepts.
pub(crate) const MAX_FIELDS: usize = 127;
/// The parameter that `async` adds to both ends of a span.
const TASK: &str = "task";
/// Maximum number of record types of a spec. Ids start at 1 and are less than the reserved ones.
const MAX_RECORDS: usize = FIRST_RESERVED_ID as usize - 1;

impl SpecModel {
    pub(super) fn level(&mut self, level: &ast::Level, diagnostics: &mut Diagnostics) {
        check_name(&level.name, diagnostics);
        let level_id = self.levels.get(&level.name.text).copied();
        let id = level_id.unwrap_or_else(|| {
            let id = LevelId(index(self.spec.levels.len()));
            self.levels.insert(level.name.text.clone(), id);
            self.level_spans.push(level.name.span);
            self.spec.levels.push(spec::Level {
                name: level.name.text.clone(),
                doc: level.doc.clone(),
                is_enabled: level.is_enabled,
            });
            id
        });
        if level_id.is_some() {
            duplicate("level", &level.name, self.level_spans[id.index()], diagnostics);
        }
        for event in &level.events {
            self.event(event, id, diagnostics);
        }
    }

    fn event(&mut self, event: &ast::Event, level: LevelId, diagnostics: &mut Diagnostics) {
        check_name(&event.name, diagnostics);
        let fields = self.fields(event, &event.fields, diagnostics);
        let noun = if event.is_span { "span" } else { "event" };
        if let Some(EventRef::Event(first) | EventRef::Span { begin: first, .. }) = self.events.get(&event.name.text) {
            return duplicate(noun, &event.name, self.record_spans[first.index()], diagnostics);
        }
        if self.spec.records.len() + self.spec.absent_ends.len() + 3 > MAX_RECORDS {
            let counted = "a span counts twice, and three times with `end { … }`";
            diagnostics.push(
                Diagnostic::error(Code::TooMany, "the spec has too many events")
                    .with_location(event.name.span, format!("at most {MAX_RECORDS} are possible; {counted}")),
            );
            return;
        }
        let name = &event.name.text;
        let reference = if event.is_span {
            let at_end = self.fields(event, &event.end_fields, diagnostics);
            let begin = self.record(event, level, (format!("{name}.begin"), RecordKind::Begin), fields);
            let end = self.record(event, level, (format!("{name}.end"), RecordKind::End), at_end);
            if !event.end_fields.is_empty() {
                self.spec.absent_ends.push(index(self.spec.spans.len()));
            }
            let is_async = event.is_async.is_some();
            self.spec.spans.push(spec::SpanType { name: name.clone(), begin, end, absent_end: None, is_async });
            self.check_size(end, diagnostics);
            EventRef::Span { begin, end }
        } else {
            EventRef::Event(self.record(event, level, (name.clone(), RecordKind::Event), fields))
        };
        let (EventRef::Event(first) | EventRef::Span { begin: first, .. }) = reference;
        self.check_size(first, diagnostics);
        self.events.insert(name.clone(), reference);
    }

    fn record(
        &mut self,
        event: &ast::Event,
        level: LevelId,
        (name, kind): (String, RecordKind),
        fields: Vec<(FieldInfo, FieldText)>,
    ) -> RecordId {
        let (fields, texts) = fields.into_iter().unzip();
        let id = RecordId(index(self.spec.records.len()));
        self.record_spans.push(event.name.span);
        self.spec.records.push(RecordDecl {
            name: event.name.text.clone(),
            doc: event.doc.clone(),
            level,
            layout: RecordType { name, level: level.0, kind, has_location: event.has_location, fields },
            fields: texts,
        });
        id
    }

    /// Adds the record types of ends without parameters. They come last, so that a search by name
    /// finds the end with its parameters.
    pub(super) fn absent_ends(&mut self) {
        for place in 0..self.spec.absent_ends.len() {
            let Some(span) = self.spec.spans.get_mut(self.spec.absent_ends[place] as usize) else { continue };
            let mut record = self.spec.records[span.end.index()].clone();
            record.layout.fields.truncate(usize::from(span.is_async));
            record.fields.truncate(usize::from(span.is_async));
            span.absent_end = Some(RecordId(index(self.spec.records.len())));
            self.record_spans.push(self.record_spans[span.end.index()]);
            self.spec.records.push(record);
        }
    }

    /// The parameters of one record type of an event, from one of its lists.
    fn fields(
        &self,
        event: &ast::Event,
        ast_fields: &[ast::Field],
        diagnostics: &mut Diagnostics,
    ) -> Vec<(FieldInfo, FieldText)> {
        let mut first_spans = BTreeMap::new();
        let mut fields = Vec::new();
        if event.is_async.is_some() {
            let ty = tracer_format::FieldType::One(tracer_format::schema::Scalar::U64);
            let doc = "Identifies the parts of one execution of the span.".to_owned();
            fields.push((FieldInfo { name: TASK.to_owned(), ty }, FieldText { doc, type_text: "u64".to_owned() }));
        }
        for field in ast_fields {
            check_name(&field.name, diagnostics);
            if let Some(mark) = event.is_async
                && field.name.text == TASK
            {
                diagnostics.push(
                    Diagnostic::error(Code::TaskTaken, format!("`{TASK}` is declared automatically"))
                        .with_location(field.name.span, "a second parameter of this name")
                        .with_label(mark, "`async` adds it")
                        .help("remove it, or rename it"),
                );
                continue;
            }
            if let Some(first) = first_spans.insert(&field.name.text, field.name.span) {
                duplicate("parameter", &field.name, first, diagnostics);
                continue;
            }
            // A field of unknown type stays, so that rules that use it cause no further errors.
            let ty = self.field_type(&field.ty, diagnostics);
            let ty = ty.unwrap_or(tracer_format::FieldType::One(tracer_format::schema::Scalar::U64));
            let type_text = super::types::type_text(&field.ty);
            fields.push((
                FieldInfo { name: field.name.text.clone(), ty },
                FieldText { doc: field.doc.clone(), type_text },
            ));
        }
        if fields.len() > MAX_FIELDS {
            diagnostics.push(
                Diagnostic::error(Code::TooMany, format!("`{}` has {} parameters", event.name.text, fields.len()))
                    .with_location(event.name.span, format!("at most {MAX_FIELDS} are possible"))
                    .help("record several values of one type as an array"),
            );
        }
        fields
    }

    fn check_size(&self, record: RecordId, diagnostics: &mut Diagnostics) {
        let layout = &self.spec.records[record.index()].layout;
        let bytes = record_layout::fixed_bytes(layout);
        if bytes <= MAX_FIXED_BYTES {
            return;
        }
        let largest = layout.fields.iter().max_by_key(|field| record_layout::field_bytes(field.ty));
        let largest = largest.map_or("", |field| field.name.as_str());
        diagnostics.push(
            Diagnostic::error(Code::TooLarge, format!("a record of `{}` has {bytes} bytes", layout.name))
                .with_location(
                    self.record_spans[record.index()],
                    format!("at most {MAX_FIXED_BYTES} bytes of fixed size are possible"),
                )
                .help(format!("declare `{largest}` as an array of variable length, `[T]`, or record fewer elements")),
        );
    }
}
