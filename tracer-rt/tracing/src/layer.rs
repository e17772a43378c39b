//! The layer: records the spans and events that the registry passes to it.

use std::fmt::Debug;
use std::sync::Arc;

use tracer_rt::InternedText;
use tracer_rt::runtime_specs::source_position;
use tracing_core::field::Visit;
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Field, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::callsite::{Callsite, CallsiteKind};
use crate::span_record::{RecordedSpan, SpanCache, SpanEntry};
use crate::tokio_tasks::{self, EnteredPart, Task, TokioFields};
use crate::value_encoding::{EncodedType, FieldEncoder, MAX_RECORD_BYTES, Signature};

/// A layer of `tracing_subscriber` that records all spans and events it gets into the run of the
/// process. [`crate::layer`] makes one.
///
/// A process has one run. If a program adds several of these layers, each span is recorded several
/// times.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RecorderLayer;

/// A recorded span.
#[derive(Debug)]
enum SpanKind {
    Program(RecordedSpan),
    Task(Arc<Task>),
    Resource(InternedText),
}

type LayerSpan = SpanEntry<SpanKind>;

/// The data of a span in the registry.
#[derive(Debug)]
struct SpanSlot(Arc<LayerSpan>);

thread_local! {
    static SPANS: SpanCache<SpanKind> = const { SpanCache::new() };
}

/// Runs `work` with the data of a recorded span.
#[inline]
fn with_span<S>(id: &Id, context: &Context<'_, S>, work: impl FnOnce(&Arc<LayerSpan>))
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let search = || Some(Arc::clone(&context.span(id)?.extensions().get::<SpanSlot>()?.0));
    let mut work = Some(work);
    let cached = SPANS.try_with(|spans| {
        if let Some(work) = work.take() {
            spans.with(id, search, work);
        }
    });
    // The cache is destroyed before other thread-local variables of the program.
    if let (Err(_), Some(work)) = (cached, work)
        && let Some(span) = search()
    {
        work(&span);
    }
}

impl<S> Layer<S> for RecorderLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let callsite = Callsite::of(attributes.metadata());
        let fields = || {
            let mut fields = TokioFields::default();
            attributes.record(&mut fields);
            fields
        };
        let kind = match callsite.kind {
            CallsiteKind::Task => Some(SpanKind::Task(Arc::new(Task::spawn(&fields())))),
            CallsiteKind::Resource => tokio_tasks::resource(&fields()).map(SpanKind::Resource),
            CallsiteKind::Internal => None,
            _ => RecordedSpan::new(callsite, attributes).map(SpanKind::Program),
        };
        if let (Some(kind), Some(span)) = (kind, context.span(id)) {
            span.extensions_mut().replace(SpanSlot(Arc::new(SpanEntry::new(id, kind))));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let mut changed = None;
        with_span(id, &context, |entry| {
            if let SpanKind::Program(span) = &entry.data {
                changed = Some((Arc::clone(entry), span.with_new_fields(values)));
            }
        });
        if let (Some((entry, new)), Some(span)) = (changed, context.span(id)) {
            span.extensions_mut().replace(SpanSlot(Arc::new(SpanEntry::new(id, SpanKind::Program(new)))));
            entry.expire();
        }
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, context: Context<'_, S>) {
        let mut cause = None;
        with_span(follows, &context, |entry| cause = Some(Arc::clone(entry)));
        with_span(id, &context, |entry| {
            if let (SpanKind::Program(span), Some(SpanKind::Program(cause))) =
                (&entry.data, cause.as_ref().map(|cause| &cause.data))
            {
                span.progress.follow(&cause.progress);
            }
        });
    }

    #[inline]
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        with_span(id, &context, |entry| match &entry.data {
            SpanKind::Program(span) => span.enter(),
            SpanKind::Task(task) => {
                tokio_tasks::enter(EnteredPart::Task(Arc::clone(task)));
                task.begin_poll();
            }
            SpanKind::Resource(name) => tokio_tasks::enter(EnteredPart::Resource(*name)),
        });
    }

    #[inline]
    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        with_span(id, &context, |entry| match &entry.data {
            SpanKind::Program(span) => span.exit(),
            SpanKind::Task(task) => {
                task.end_poll();
                tokio_tasks::leave();
            }
            SpanKind::Resource(_) => tokio_tasks::leave(),
        });
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let callsite = Callsite::of(event.metadata());
        match callsite.kind {
            CallsiteKind::Log => record_log(callsite, event),
            CallsiteKind::Waker => {
                let fields = tokio_fields(event);
                if fields.id != 0 {
                    with_span(&Id::from_u64(fields.id), &context, |entry| {
                        if let SpanKind::Task(task) = &entry.data {
                            task.waker_operation(&fields);
                        }
                    });
                }
            }
            CallsiteKind::ResourcePoll => {
                if !tokio_fields(event).is_ready {
                    tokio_tasks::wait_for_resource();
                }
            }
            CallsiteKind::Internal => {}
            _ => record_event(callsite, event),
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        with_span(&id, &context, |entry| {
            if let SpanKind::Task(task) = &entry.data {
                task.end();
            }
            entry.expire();
        });
    }
}

fn tokio_fields(event: &Event<'_>) -> TokioFields {
    let mut fields = TokioFields::default();
    event.record(&mut fields);
    fields
}

fn record_event(callsite: &'static Callsite, event: &Event<'_>) {
    if callsite.is_off() {
        return;
    }
    let mut encoder = FieldEncoder::new(&callsite.site.to_le_bytes());
    event.record(&mut encoder);
    encoder.finish();
    if let Some(types) = callsite.records_for(encoder.signature) {
        types[0].record(&encoder.bytes);
    }
    encoder.release();
}

/// Records an event of the crate `log`. Target and source position are fields of the event.
fn record_log(callsite: &'static Callsite, event: &Event<'_>) {
    if callsite.is_off() {
        return;
    }
    let mut record = LogRecord::default();
    event.record(&mut record);
    let site = if record.file.is_empty() { 0 } else { source_position(&record.file, record.line) };
    let mut encoded = Vec::with_capacity(10 + record.message.len());
    encoded.extend(site.to_le_bytes());
    encoded.extend(InternedText::new(&record.target).number().to_le_bytes());
    let mut length = record.message.len().min(MAX_RECORD_BYTES);
    while !record.message.is_char_boundary(length) {
        length -= 1;
    }
    encoded.extend((length as u16).to_le_bytes());
    encoded.extend(&record.message.as_bytes()[..length]);
    let signature = Signature::default().with(0, EncodedType::Interned).with(1, EncodedType::Text);
    if let Some(types) = callsite.records_for(signature) {
        types[0].record(&encoded);
    }
}

/// The fields of an event of the crate `log`.
#[derive(Debug, Default)]
struct LogRecord {
    message: String,
    target: String,
    file: String,
    line: u32,
}

impl Visit for LogRecord {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "log.line" {
            self.line = u32::try_from(value).unwrap_or(0);
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "log.target" => value.clone_into(&mut self.target),
            "log.file" => value.clone_into(&mut self.file),
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}
