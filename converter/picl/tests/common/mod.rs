//! Collects the entities of a trace.

use std::collections::BTreeMap;
use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ExtraField, ExtraValue, KeyId, PajeEvent, PajeSink, TypeId, ValueId};
use tumit_picl::{PiclFaultKind, PiclReader, PiclStyle, PiclWriter, TraceFormat};

/// The entities of a trace as lines, in order.
#[derive(Debug, Default)]
pub(crate) struct Entities {
    types: BTreeMap<TypeId, String>,
    values: BTreeMap<ValueId, String>,
    containers: BTreeMap<ContainerId, String>,
    open: BTreeMap<(ContainerId, TypeId), Vec<(i64, String)>>,
    starts: BTreeMap<KeyId, (i64, String)>,
    ends: BTreeMap<KeyId, (i64, String)>,
    /// The fields `sent to` of link starts.
    destinations: BTreeMap<KeyId, ContainerId>,
    last: Option<i64>,
    pub(crate) lines: Vec<String>,
    pub(crate) end: i64,
}

fn text_of(extra: &[ExtraField<'_>]) -> String {
    let text = |field: &ExtraField<'_>| match field.value {
        ExtraValue::Text(text) => format!(" {}={text}", field.name),
        ExtraValue::Integer(number) => format!(" {}={number}", field.name),
        ExtraValue::Float(number) => format!(" {}={number}", field.name),
        ExtraValue::Container(_) => String::new(),
    };
    extra.iter().map(text).collect()
}

impl Entities {
    fn pop(&mut self, time: i64, container: ContainerId, ty: TypeId) {
        let (start, text) = self.open.get_mut(&(container, ty)).and_then(Vec::pop).expect("a state is open");
        assert!(start <= time, "{text}");
        let (name, ty) = (&self.containers[&container], &self.types[&ty]);
        self.lines.push(format!("{name} {ty} {text} {start}..{time}"));
    }

    fn link(&mut self, key: KeyId) {
        if let (Some(start), Some(end)) = (self.starts.get(&key), self.ends.get(&key)) {
            self.lines.push(format!("Message {} {} -> {} {}", start.1, start.0, end.1, end.0));
        }
    }

    /// Sorted lines of some kinds.
    pub(crate) fn of(&self, kinds: &[&str]) -> Vec<String> {
        let is_one = |line: &&String| kinds.iter().any(|kind| format!(" {line}").contains(&format!(" {kind} ")));
        let mut lines: Vec<String> = self.lines.iter().filter(is_one).cloned().collect();
        lines.sort();
        lines
    }
}

impl PajeSink for Entities {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        if let Some(GlobalNanos(time)) = event.time() {
            assert!(self.last.is_none_or(|last| last <= time), "{event:?} is earlier than the operation before");
            self.last = Some(time);
        }
        match *event {
            PajeEvent::DefineType { ty, name, .. } => {
                assert!(self.types.insert(ty, name.to_owned()).is_none(), "{name} is defined once");
            }
            PajeEvent::DefineValue { value, ty, name, .. } => {
                assert!(self.types.contains_key(&ty), "the type of {name} is defined");
                assert!(self.values.insert(value, name.to_owned()).is_none(), "{name} is defined once");
            }
            PajeEvent::CreateContainer { container, ty, parent, name, .. } => {
                assert!(self.types.contains_key(&ty));
                let path = self.containers.get(&parent).filter(|parent| *parent != "program");
                let name = path.map_or_else(|| name.to_owned(), |parent| format!("{parent}/{name}"));
                assert!(self.containers.insert(container, name).is_none());
            }
            PajeEvent::PushState { time, container, ty, value, extra, .. } => {
                let text = format!("{}{}", self.values[&value], text_of(extra));
                self.open.entry((container, ty)).or_default().push((time.0, text));
            }
            PajeEvent::PopState { time, container, ty } => self.pop(time.0, container, ty),
            PajeEvent::NewEvent { time, container, ty, value, extra, .. } => {
                let (name, ty, value) = (&self.containers[&container], &self.types[&ty], &self.values[&value]);
                self.lines.push(format!("{name} {ty} {value}{} {}", text_of(extra), time.0));
            }
            PajeEvent::Variable { time, container, ty, value, .. } => {
                let (name, ty) = (&self.containers[&container], &self.types[&ty]);
                self.lines.push(format!("{name} Variable {ty} {value} {}", time.0));
            }
            PajeEvent::StartLink { time, start, key, extra, .. } => {
                let text = format!("{}{}", self.containers[&start], text_of(extra));
                assert!(self.starts.insert(key, (time.0, text)).is_none(), "a link starts once");
                for field in extra {
                    if let ExtraValue::Container(container) = field.value {
                        self.destinations.insert(key, container);
                    }
                }
                self.link(key);
            }
            PajeEvent::EndLink { time, end, key, .. } => {
                let name = self.containers[&end].clone();
                assert!(self.ends.insert(key, (time.0, name)).is_none(), "a link ends once");
                self.link(key);
            }
            ref other => panic!("unexpected {other:?}"),
        }
        Ok(())
    }

    fn keeps_open_links(&self) -> bool {
        true
    }

    fn settle_unpaired_endpoints(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        assert!(self.open.values().all(Vec::is_empty), "all states are popped");
        assert!(self.ends.keys().all(|key| self.starts.contains_key(key)), "all links have a start");
        for (key, (time, text)) in self.starts.iter().filter(|(key, _)| !self.ends.contains_key(key)) {
            let destination = self.destinations.get(key).map_or("unknown", |container| &self.containers[container]);
            self.lines.push(format!("Message {text} {time} -> {destination} never"));
        }
        assert!(self.last.is_none_or(|last| last <= end.0));
        self.end = end.0;
        Ok(())
    }
}

/// Reads a trace. Returns its entities, and the kinds of faults with their first lines.
pub(crate) fn read(text: &[u8], format: TraceFormat) -> (Entities, Vec<(PiclFaultKind, u64)>) {
    let mut entities = Entities::default();
    // Little memory, so that a temporary file is used.
    let reader = PiclReader::new(text, format).with_sort_memory(1 << 10);
    let report = reader.read(&mut entities).expect("the text can be read");
    (entities, report.faults.iter().map(|fault| (fault.kind, fault.line)).collect())
}

/// Reads a trace, and writes it as PICL.
pub(crate) fn rewrite(text: &[u8], format: TraceFormat, style: PiclStyle) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PiclWriter::new(&mut out, style);
    PiclReader::new(text, format).read(&mut writer).expect("the text can be read");
    out
}
