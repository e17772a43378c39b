//! Conversion of a run whose spec has typed rules and a Pajé text output (`use "std:paje"`): both
//! become one event stream.
//!
//! A pipe carries the text output to the Pajé reader. The events of the reader are merged with the
//! operations of the typed rules in order of time. The reader knows the types and containers of the
//! rules by name, so that generic containers can be placed below them. At equal times the rules
//! come first: a container must exist when the text names it. Containers of the rules are destroyed
//! after the text.
//!
//! A line of the text names containers of its own process first. A channel carries the process of
//! each line to the reader, because the text does not contain it.

use std::io::{self, PipeReader, Write as _};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::rule_conversion::convert_rules;
use super::text_output::write_text;
use crate::convert::options::{ConvertError, ConvertOptions};
use crate::report::ConversionReport;
use crate::rules::spec_of;
use crate::run::OpenRun;
use tumit_paje::read::PajeReader;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{
    ContainerId, ExtraField, ExtraValue, FieldSet, KeyId, PajeEvent, PajeSink, PajeTypeKind, TraceDiagnostic, TypeId,
    ValueId,
};

/// A text output is Pajé text if its prologue begins with this.
const EVENT_DEF: &str = "%EventDef";

/// The Pajé text output that is merged with the rules, if the spec of the run has both.
pub(crate) fn output_beside_rules(run: &OpenRun, options: &ConvertOptions) -> Option<String> {
    let of_spec = |spec: &tumit::Spec| {
        let has_rules = !spec.containers.is_empty() || spec.actions().next().is_some();
        let paje = spec.outputs.iter().find(|output| output.prologue.trim_start().starts_with(EVENT_DEF));
        paje.filter(|_| has_rules).map(|output| output.name.clone())
    };
    if let Some(spec) = &options.rules {
        return of_spec(spec);
    }
    let schemas = run.processes.iter().flat_map(|process| &process.providers).map(|provider| &provider.schema);
    let mut known: Vec<&tracer_format::Schema> = Vec::new();
    for schema in schemas {
        // Most specs have no such output. They are not compiled for this test.
        if known.contains(&schema) || !schema.sources.iter().any(|source| source.text.contains(EVENT_DEF)) {
            continue;
        }
        known.push(schema);
        if let Some(output) = of_spec(&spec_of(schema, &mut Vec::new())) {
            return Some(output);
        }
    }
    None
}

/// Converts the rules and the text output.
pub(crate) fn convert(
    run: &OpenRun,
    options: &ConvertOptions,
    output: &str,
    sink: &mut dyn PajeSink,
) -> Result<ConversionReport, ConvertError> {
    let labels = entity_names(run, options);
    let text_options = ConvertOptions { output: Some(output.to_owned()), progress: None, ..options.clone() };
    let (text, out) = io::pipe()?;
    std::thread::scope(|scope| {
        let (sender, processes) = channel();
        let writer_thread = scope.spawn(move || {
            let (mut out, mut lines) = (io::BufWriter::new(out), LineProcesses::new(sender));
            let report = write_text(run, &text_options, &mut |text, process| {
                lines.note(text, process);
                out.write_all(text)
            })?;
            out.flush()?;
            Ok::<_, ConvertError>(report)
        });
        let processes = ProcessOfLine { processes, next: None, stream_number: None };
        let mut merged = MergedSink::new((PajeReader::new(text).with_field_announcements(), processes), labels, sink);
        let rules = convert_rules(run, options, &mut merged);
        let diagnostics = merged.diagnostics;
        // Closes the pipe, so that the writing thread ends.
        drop(merged.text);
        let result = writer_thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let mut report = rules?;
        result?;
        let of_output = |diagnostic: TraceDiagnostic| TraceDiagnostic {
            text: format!("text output `{output}`: {diagnostic}"),
            ..diagnostic
        };
        report.text_errors = diagnostics.into_iter().map(of_output).collect();
        Ok(report)
    })
}

/// A line of another process than the line before it.
struct ProcessChange {
    /// Number of the line, from 1.
    line: u64,
    process: Option<usize>,
}

/// Sends the process of each line to the reader of the text. A message arrives before its line,
/// because it is sent before the line is written.
struct LineProcesses {
    /// Lines written.
    lines: u64,
    last: Option<usize>,
    sender: Sender<ProcessChange>,
}

impl LineProcesses {
    const fn new(sender: Sender<ProcessChange>) -> Self {
        Self { lines: 0, last: None, sender }
    }

    /// Notes lines before they are written.
    fn note(&mut self, text: &[u8], process: Option<usize>) {
        if text.is_empty() {
            return;
        }
        if process != self.last {
            self.last = process;
            // A reader that has stopped needs no messages.
            let _ = self.sender.send(ProcessChange { line: self.lines + 1, process });
        }
        self.lines += memchr::memchr_iter(b'\n', text).count() as u64;
    }
}

/// The process of the line that is read.
struct ProcessOfLine {
    processes: Receiver<ProcessChange>,
    next: Option<ProcessChange>,
    stream_number: Option<usize>,
}

impl ProcessOfLine {
    /// The process of a line. Lines are asked for in order.
    fn of(&mut self, line: u64) -> Option<u32> {
        loop {
            self.next = self.next.take().or_else(|| self.processes.try_recv().ok());
            match self.next.take_if(|change| change.line <= line) {
                Some(change) => self.stream_number = change.process,
                None => return self.stream_number.and_then(|process| u32::try_from(process).ok()),
            }
        }
    }
}

/// The label of each entity type in the event stream, and its name in the spec: "Activity", `act`.
fn entity_names(run: &OpenRun, options: &ConvertOptions) -> Vec<(String, String)> {
    let of_spec = |spec: &tumit::Spec| -> Vec<(String, String)> {
        spec.entities.iter().map(|entity| (entity.label.clone(), entity.name.clone())).collect()
    };
    match &options.rules {
        Some(spec) => of_spec(spec),
        None => {
            let providers = run.processes.first().into_iter().flat_map(|process| &process.providers);
            providers.flat_map(|provider| of_spec(&spec_of(&provider.schema, &mut Vec::new()))).collect()
        }
    }
}

/// Maps the numbers of one side to those of the merged stream.
#[derive(Debug)]
struct NumberMap {
    types: Vec<TypeId>,
    containers: Vec<ContainerId>,
    values: Vec<ValueId>,
    /// The number that is added to twice each link key, so that the keys of the two sides differ.
    key: u64,
}

impl NumberMap {
    fn new(key: u64) -> Self {
        Self { types: vec![TypeId::ROOT], containers: vec![ContainerId::ROOT], values: Vec::new(), key }
    }

    fn ty(&self, ty: TypeId) -> TypeId {
        self.types.get(ty.index()).copied().unwrap_or(TypeId(u32::MAX))
    }

    fn container(&self, container: ContainerId) -> ContainerId {
        self.containers.get(container.index()).copied().unwrap_or(ContainerId(u32::MAX))
    }

    fn value(&self, value: ValueId) -> ValueId {
        self.values.get(value.index()).copied().unwrap_or(ValueId(u32::MAX))
    }

    fn key(&self, key: KeyId) -> KeyId {
        KeyId(key.0.wrapping_mul(2).wrapping_add(self.key))
    }

    fn merged_fields<'a>(&self, extra: &[ExtraField<'a>]) -> Vec<ExtraField<'a>> {
        let map = |extra: &ExtraField<'a>| ExtraField {
            name: extra.name,
            value: match extra.value {
                ExtraValue::Container(container) => ExtraValue::Container(self.container(container)),
                value => value,
            },
        };
        extra.iter().map(map).collect()
    }
}

fn put<T: Copy>(list: &mut Vec<T>, index: usize, thing: T, nothing: T) {
    if list.len() <= index {
        list.resize(index + 1, nothing);
    }
    list[index] = thing;
}

/// The next free numbers of the merged stream.
#[derive(Debug)]
struct NextNumbers {
    ty: u32,
    container: u32,
    value: u32,
}

/// Sends an operation of one side to the sink, with the numbers of the merged stream.
fn send(
    numbers: &mut NumberMap,
    next: &mut NextNumbers,
    event: &PajeEvent<'_>,
    sink: &mut dyn PajeSink,
) -> io::Result<()> {
    let mut event = *event;
    let extra_of = match event {
        PajeEvent::CreateContainer { extra, .. }
        | PajeEvent::SetState { extra, .. }
        | PajeEvent::PushState { extra, .. }
        | PajeEvent::NewEvent { extra, .. }
        | PajeEvent::StartLink { extra, .. }
        | PajeEvent::EndLink { extra, .. } => extra,
        _ => &[],
    };
    let extras = numbers.merged_fields(extra_of);
    match &mut event {
        PajeEvent::DefineType { ty, kind, parent, .. } => {
            *parent = numbers.ty(*parent);
            if let PajeTypeKind::Link { start, end } = kind {
                (*start, *end) = (numbers.ty(*start), numbers.ty(*end));
            }
            put(&mut numbers.types, ty.index(), TypeId(next.ty), TypeId(u32::MAX));
            *ty = TypeId(next.ty);
            next.ty += 1;
        }
        PajeEvent::DefineValue { value, ty, .. } => {
            *ty = numbers.ty(*ty);
            if numbers.value(*value).0 == u32::MAX {
                put(&mut numbers.values, value.index(), ValueId(next.value), ValueId(u32::MAX));
                next.value += 1;
            }
            *value = numbers.value(*value);
        }
        PajeEvent::CreateContainer { container, ty, parent, extra, .. } => {
            (*ty, *parent) = (numbers.ty(*ty), numbers.container(*parent));
            put(&mut numbers.containers, container.index(), ContainerId(next.container), ContainerId(u32::MAX));
            *container = ContainerId(next.container);
            next.container += 1;
            *extra = &extras;
        }
        PajeEvent::DestroyContainer { container, .. } => *container = numbers.container(*container),
        PajeEvent::PopState { container, ty, .. }
        | PajeEvent::ResetState { container, ty, .. }
        | PajeEvent::Variable { container, ty, .. } => {
            (*container, *ty) = (numbers.container(*container), numbers.ty(*ty));
        }
        PajeEvent::SetState { container, ty, value, extra, .. }
        | PajeEvent::PushState { container, ty, value, extra, .. }
        | PajeEvent::NewEvent { container, ty, value, extra, .. } => {
            (*container, *ty) = (numbers.container(*container), numbers.ty(*ty));
            (*value, *extra) = (numbers.value(*value), &extras);
        }
        PajeEvent::StartLink { container, ty, value, start: end, key, extra, .. }
        | PajeEvent::EndLink { container, ty, value, end, key, extra, .. } => {
            (*container, *ty) = (numbers.container(*container), numbers.ty(*ty));
            (*value, *extra) = (numbers.value(*value), &extras);
            (*end, *key) = (numbers.container(*end), numbers.key(*key));
        }
    }
    sink.event(&event)
}

/// Sink for the events of the text reader.
struct TextEventSink<'a> {
    numbers: &'a mut NumberMap,
    next: &'a mut NextNumbers,
    sink: &'a mut dyn PajeSink,
    end: &'a mut i64,
}

impl PajeSink for TextEventSink<'_> {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        send(self.numbers, self.next, event, self.sink)
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        self.sink.name_key(self.numbers.key(key), text)
    }

    fn announce(&mut self, shape: &FieldSet<'_>) -> io::Result<()> {
        self.sink.announce(shape)
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        *self.end = (*self.end).max(end.0);
        Ok(())
    }
}

/// Sink for the operations of the rules. Passes them on, with the events of the text in between.
struct MergedSink<'a> {
    text: Option<PajeReader<PipeReader>>,
    processes: ProcessOfLine,
    /// Whether the reader waits: its next line is later than the operations that were passed on so
    /// far.
    waits: bool,
    labels: Vec<(String, String)>,
    of_rules: NumberMap,
    of_text: NumberMap,
    /// By number in the merged stream: the reader's numbers of the types and containers of the
    /// rules.
    types: Vec<TypeId>,
    containers: Vec<ContainerId>,
    next: NextNumbers,
    sink: &'a mut dyn PajeSink,
    diagnostics: Vec<TraceDiagnostic>,
}

impl<'a> MergedSink<'a> {
    fn new(
        (text, processes): (PajeReader<PipeReader>, ProcessOfLine),
        labels: Vec<(String, String)>,
        sink: &'a mut dyn PajeSink,
    ) -> Self {
        let next = NextNumbers { ty: 1, container: 1, value: 0 };
        let (of_rules, of_text) = (NumberMap::new(0), NumberMap::new(1));
        let (types, containers) = (vec![TypeId::ROOT], vec![ContainerId::ROOT]);
        let diagnostics = Vec::new();
        let text = Some(text);
        Self { text, processes, waits: false, labels, of_rules, of_text, types, containers, next, sink, diagnostics }
    }

    /// Passes on the events of the text before a time.
    fn pull(&mut self, before: i64) -> io::Result<()> {
        let Some(text) = &mut self.text else { return Ok(()) };
        let mut end = 0;
        loop {
            if !self.waits && !text.advance().map_err(io::Error::other)? {
                return Ok(());
            }
            self.waits = text.timestamp().is_some_and(|timestamp| timestamp >= before);
            if self.waits {
                return Ok(());
            }
            let process = self.processes.of(text.number());
            text.names().set_process(process);
            let (numbers, next) = (&mut self.of_text, &mut self.next);
            let mut sink = TextEventSink { numbers, next, sink: self.sink, end: &mut end };
            text.take_current(&mut sink).map_err(io::Error::other)?;
        }
    }

    /// Makes the types and containers of the rules known to the text reader.
    fn introduce(&mut self, event: &PajeEvent<'_>) {
        let Some(text) = &mut self.text else { return };
        let mut names = text.names();
        match *event {
            PajeEvent::DefineType { ty, kind, name, .. } => {
                let merged_type = self.of_rules.ty(ty);
                let aliases = self.labels.iter().filter(|(label, _)| label == name).map(|(_, alias)| alias.as_str());
                if let Some(known) = names.add_type(name, aliases, kind) {
                    put(&mut self.of_text.types, known.index(), merged_type, TypeId(u32::MAX));
                    put(&mut self.types, merged_type.index(), known, TypeId(u32::MAX));
                }
            }
            PajeEvent::DefineValue { value, ty, name, .. } => {
                let (merged, ty) = (self.of_rules.value(value), self.of_rules.ty(ty));
                let ty = self.types.get(ty.index()).copied().filter(|ty| ty.0 != u32::MAX);
                if let Some(known) = ty.and_then(|ty| names.add_value(ty, name)) {
                    put(&mut self.of_text.values, known.index(), merged, ValueId(u32::MAX));
                }
            }
            PajeEvent::CreateContainer { container, ty, parent, name, .. } => {
                let (merged, ty) = (self.of_rules.container(container), self.of_rules.ty(ty));
                let parent = self.of_rules.container(parent);
                let ty = self.types.get(ty.index()).copied().unwrap_or(TypeId::ROOT);
                let parent = self.containers.get(parent.index()).copied().unwrap_or(ContainerId::ROOT);
                if let Some(known) = names.add_container(name, ty, parent) {
                    put(&mut self.of_text.containers, known.index(), merged, ContainerId(u32::MAX));
                    put(&mut self.containers, merged.index(), known, ContainerId(u32::MAX));
                }
            }
            PajeEvent::DestroyContainer { container, .. } => {
                let merged = self.of_rules.container(container);
                if let Some(&known) = self.containers.get(merged.index()).filter(|known| known.0 != u32::MAX) {
                    names.end_container(known);
                }
            }
            _ => {}
        }
    }
}

impl PajeSink for MergedSink<'_> {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        let offset = i64::from(matches!(event, PajeEvent::DestroyContainer { .. }));
        if let Some(time) = event.time() {
            self.pull(time.0.saturating_add(offset))?;
        }
        send(&mut self.of_rules, &mut self.next, event, self.sink)?;
        self.introduce(event);
        Ok(())
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        self.sink.name_key(self.of_rules.key(key), text)
    }

    fn own_container(&mut self, container: ContainerId, process: u32, label: &str) -> io::Result<()> {
        let merged_container = self.of_rules.container(container);
        if let Some(&known) = self.containers.get(merged_container.index()).filter(|known| known.0 != u32::MAX)
            && let Some(text) = &mut self.text
        {
            text.names().own_container(known, process, label);
        }
        self.sink.own_container(merged_container, process, label)
    }

    fn announce(&mut self, shape: &FieldSet<'_>) -> io::Result<()> {
        self.sink.announce(shape)
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.pull(i64::MAX)?;
        let mut end = end.0;
        if let Some(text) = self.text.take() {
            let (numbers, next) = (&mut self.of_text, &mut self.next);
            let mut sink = TextEventSink { numbers, next, sink: self.sink, end: &mut end };
            let report = text.finish(&mut sink).map_err(io::Error::other)?;
            self.diagnostics = report.errors();
        }
        self.sink.finish(GlobalNanos(end))
    }
}
