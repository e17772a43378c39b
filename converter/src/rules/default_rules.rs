//! Default rules for records without rules: a span is a state, an event is a mark, on the thread
//! that recorded it.
//!
//! The defaults are actions added to the spec itself, so that only one mechanism runs rules.

use tracer_format::schema::RecordKind;
use tumit::Spec;
use tumit::spec::{
    Action, ActionVerb, Builtin, ContainerType, ContainerTypeId, DeclaredValue, EntityType, EntityTypeId,
    EntityTypeKind, Expr, Instance, PatternPiece, RecordId, SpecStyle, TextPattern, ValueExpr, ValueFormat, ValueId,
};

/// Placeholder in the label of the default process container, which
/// [`crate::run::OpenRun::process_name`] replaces. It contains a blank, which no name in a spec can
/// contain.
pub(crate) const PROCESS_NAME: &str = "process name";

/// Adds rules for the records of `spec` that have none. They appear in the container marked
/// `= stream`. Without such a container, they appear in an implicit tree of processes and threads.
/// Processes are identified by rank if the job has ranks.
pub(crate) fn with_default_rules(spec: &Spec, is_ranked: bool) -> Spec {
    let mut spec = spec.clone();
    spec.rules.resize(spec.records.len(), Vec::new());
    let is_bare = |number: &usize| !spec.has_rules(RecordId(id(*number))) && !is_drawn_by_text(&spec, *number);
    let records: Vec<usize> = (0..spec.records.len()).filter(is_bare).collect();
    if records.is_empty() {
        return spec;
    }
    let container = stream_container(&mut spec, is_ranked);
    let state = entity(container.ty, "span", "Span", EntityTypeKind::State);
    let event = entity(container.ty, "event", "Event", EntityTypeKind::Event);
    let mut entities = vec![state, event];
    let types = [0, 1].map(|number| EntityTypeId(id(spec.entities.len() + number)));
    let parts: Vec<bool> = records.iter().map(|number| is_async(&spec, *number)).collect();
    let link = parts.contains(&true).then(|| continuation(&spec, container.ty)).flatten();
    let link_type = EntityTypeId(id(spec.entities.len() + entities.len()));
    let has_link = link.is_some();
    entities.extend(link);
    for (number, is_part) in records.into_iter().zip(parts) {
        let record = &spec.records[number];
        let span = record.layout.kind != RecordKind::Event;
        let kind = usize::from(!span);
        let value = value_named(&mut entities[kind], &record.name);
        let fields =
            record.layout.fields.iter().enumerate().map(|(index, field)| (field.name.clone(), Expr::Field(id(index))));
        let fields = fields.collect();
        let (ty, value) = (types[kind], ValueExpr::Declared(value));
        let instance = container.clone();
        let container = container.clone();
        let verb = match record.layout.kind {
            RecordKind::Event => ActionVerb::Mark { ty, value, instance: container },
            RecordKind::Begin => ActionVerb::PushState { ty, value, instance: container },
            RecordKind::End => ActionVerb::PopState { ty, value: Some(value), instance: container },
        };
        let mut actions = vec![action(verb, fields)];
        // A state has the fields of its begin. The fields of its end are on a mark.
        if let Some(fields) = end_fields(&spec, number) {
            let value = ValueExpr::Declared(value_named(&mut entities[1], &spec.records[number].name));
            let verb = ActionVerb::Mark { ty: types[1], value, instance: instance.clone() };
            actions.push(action(verb, fields));
        }
        if is_part && has_link {
            let verb = part(link_type, &record.name, record.layout.kind, &instance);
            actions.push(action(verb, Vec::new()));
        }
        spec.rules[number] = actions;
    }
    let assigned = entities[0].values.iter().map(|value| spec.assigned_category(&entities[0], &[&value.name]));
    let assigned: Vec<_> = assigned.collect();
    for (value, category) in entities[0].values.iter_mut().zip(assigned) {
        value.category = category;
    }
    spec.entities.extend(entities);
    spec
}

/// An action at the timestamp of its record, without a condition.
fn action(verb: ActionVerb, fields: Vec<(String, Expr)>) -> Action {
    Action { verb, timestamp: None, condition: None, fields, related_instances: Vec::new(), collective: None }
}

/// The parameters of the end of a span, if the record is an end that has parameters.
fn end_fields(spec: &Spec, record: usize) -> Option<Vec<(String, Expr)>> {
    let record = RecordId(id(record));
    let span = spec.span_of(record).filter(|span| span.end == record && span.absent_end.is_some())?;
    let fields = spec.records[record.index()].layout.fields.iter().enumerate().skip(usize::from(span.is_async));
    Some(fields.map(|(index, field)| (field.name.clone(), Expr::Field(id(index)))).collect())
}

/// Whether a Pajé text output has lines for a record type.
fn is_drawn_by_text(spec: &Spec, record: usize) -> bool {
    let paje = spec.outputs.iter().filter(|output| output.prologue.trim_start().starts_with("%EventDef"));
    paje.into_iter().any(|output| output.rules.get(record).is_some_and(|lines| !lines.is_empty()))
}

/// Whether a record is an end of an `async` span.
fn is_async(spec: &Spec, record: usize) -> bool {
    spec.span_of(RecordId(id(record))).is_some_and(|span| span.is_async)
}

/// The type of the links between the parts of `async` spans. The parent of the thread container
/// holds these links.
fn continuation(spec: &Spec, thread: ContainerTypeId) -> Option<EntityType> {
    let holder = spec.containers.get(thread.index())?.parent?;
    let ends = || vec![thread];
    let mut link = entity(holder, "continuation", "Continuation", EntityTypeKind::Link { from: ends(), to: ends() });
    link.is_partial = true;
    Some(link)
}

/// A part of an `async` span ends where a link to the next part starts. `task` is its first field.
fn part(ty: EntityTypeId, name: &str, kind: RecordKind, instance: &Instance) -> ActionVerb {
    let key = vec![
        Expr::Text(TextPattern(vec![PatternPiece::Text(name.to_owned())])),
        Expr::Builtin(Builtin::Pid),
        Expr::Field(0),
    ];
    match kind {
        RecordKind::End => ActionVerb::StartLink { ty, value: None, key, from: instance.clone() },
        _ => ActionVerb::EndLink { ty, value: None, key, to: instance.clone() },
    }
}

fn stream_container(spec: &mut Spec, is_ranked: bool) -> Instance {
    let marked = spec.containers.iter().position(|container| container.stream.is_some());
    if let Some(index) = marked {
        let keys = spec.containers[index].stream.clone().unwrap_or_default();
        return Instance { ty: ContainerTypeId(id(index)), keys, must_exist: false, span: None };
    }
    let name = |name: &str| PatternPiece::Name(name.to_owned(), ValueFormat::default());
    let (keys, values) = if is_ranked {
        (vec!["rank"], vec![Builtin::Rank])
    } else {
        (vec!["host", "pid"], vec![Builtin::Host, Builtin::Pid])
    };
    let process = ContainerTypeId(id(spec.containers.len()));
    spec.containers.push(container("Process", None, keys, vec![name(PROCESS_NAME)]));
    let mut thread = container("Thread", Some(process), vec!["tid"], vec![name("thread_name")]);
    thread.stream = Some(Vec::new());
    let ty = ContainerTypeId(id(spec.containers.len()));
    spec.containers.push(thread);
    let keys = values.into_iter().chain([Builtin::Tid]).map(Expr::Builtin).collect();
    Instance { ty, keys, must_exist: false, span: None }
}

fn container(
    name: &str,
    parent: Option<ContainerTypeId>,
    keys: Vec<&str>,
    pattern: Vec<PatternPiece>,
) -> ContainerType {
    ContainerType {
        name: name.to_owned(),
        doc: String::new(),
        parent,
        keys: keys.into_iter().map(str::to_owned).collect(),
        pattern: TextPattern(pattern),
        stream: None,
    }
}

fn entity(container: ContainerTypeId, name: &str, label: &str, kind: EntityTypeKind) -> EntityType {
    EntityType {
        name: name.to_owned(),
        label: label.to_owned(),
        doc: String::new(),
        kind,
        container,
        values: Vec::new(),
        color: None,
        style: SpecStyle::default(),
        is_partial: false,
    }
}

/// The value with this name. It is added if it is new, because both ends of a span use one value.
fn value_named(entity: &mut EntityType, name: &str) -> ValueId {
    let index = entity.values.iter().position(|value| value.name == name).unwrap_or_else(|| {
        let (name, label) = (name.to_owned(), name.to_owned());
        let (doc, style) = (String::new(), SpecStyle::default());
        entity.values.push(DeclaredValue { name, doc, label, color: None, style, category: None });
        entity.values.len() - 1
    });
    ValueId(id(index))
}

fn id(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_ends_are_fields_of_a_mark() {
        let text = "trace t; level L { span wait { request: u32 } end { source: i32, bytes: u64 } \
                    span part async end { polls: u8 } span plain { n: u8 } }";
        let (spec, _) = tumit::compile_text("t.tumit", text);
        let completed = with_default_rules(&spec.expect("the spec is correct"), false);
        let marks = |record: usize| -> Vec<String> {
            let marks = completed.rules[record].iter().filter(|action| matches!(action.verb, ActionVerb::Mark { .. }));
            marks.map(|mark| mark.fields.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")).collect()
        };
        let names: Vec<&str> = completed.records.iter().map(|record| record.layout.name.as_str()).collect();
        let ends =
            ["wait.begin", "wait.end", "part.begin", "part.end", "plain.begin", "plain.end", "wait.end", "part.end"];
        assert_eq!(names, ends);
        let expected: [&[&str]; 8] = [&[], &["source bytes"], &[], &["polls"], &[], &[], &[], &[]];
        assert_eq!((0..8).map(marks).collect::<Vec<_>>(), expected);
        assert!(completed.rules.iter().all(|actions| !actions.is_empty()), "an absent end also ends its state");
    }
}
