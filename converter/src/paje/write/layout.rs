//! Definitions of events: the reference header, and one further definition for each set of extra fields.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::super::{Extra, ExtraValue, FieldKind as Kind, Operation};

/// The reference header, without what is never used.
pub(super) const HEADER: &str = "\
%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
%EventDef PajeDefineVariableType 1\n% Alias string\n% Type string\n% Name string\n% Color color\n%EndEventDef\n\
%EventDef PajeDefineStateType 2\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
%EventDef PajeDefineEventType 3\n% Alias string\n% Type string\n% Name string\n% Color color\n%EndEventDef\n\
%EventDef PajeDefineLinkType 4\n% Alias string\n% Type string\n% StartContainerType string\n\
% EndContainerType string\n% Name string\n%EndEventDef\n\
%EventDef PajeDefineEntityValue 5\n% Alias string\n% Type string\n% Name string\n% Color color\n%EndEventDef\n\
%EventDef PajeCreateContainer 6\n% Time date\n% Alias string\n% Container string\n% Type string\n% Name string\n\
%EndEventDef\n\
%EventDef PajeDestroyContainer 7\n% Time date\n% Type string\n% Name string\n%EndEventDef\n\
%EventDef PajeSetVariable 8\n% Time date\n% Container string\n% Type string\n% Value double\n%EndEventDef\n\
%EventDef PajeAddVariable 9\n% Time date\n% Container string\n% Type string\n% Value double\n%EndEventDef\n\
%EventDef PajeSubVariable 10\n% Time date\n% Container string\n% Type string\n% Value double\n%EndEventDef\n\
%EventDef PajeSetState 11\n% Time date\n% Container string\n% Type string\n% Value string\n%EndEventDef\n\
%EventDef PajePushState 12\n% Time date\n% Container string\n% Type string\n% Value string\n%EndEventDef\n\
%EventDef PajePopState 13\n% Time date\n% Container string\n% Type string\n%EndEventDef\n\
%EventDef PajeStartLink 15\n% Time date\n% Container string\n% Type string\n% StartContainer string\n\
% Value string\n% Key string\n%EndEventDef\n\
%EventDef PajeEndLink 16\n% Time date\n% Container string\n% Type string\n% EndContainer string\n\
% Value string\n% Key string\n%EndEventDef\n\
%EventDef PajeNewEvent 17\n% Time date\n% Container string\n% Type string\n% Value string\n%EndEventDef\n";

/// The first id of the further definitions.
const FIRST_ID: u32 = 20;
/// Most fields that every reader takes.
const MAX_FIELDS: usize = 19;

impl Operation {
    pub(super) const fn plain_id(self) -> u32 {
        match self {
            Self::CreateContainer => 6,
            Self::SetState => 11,
            Self::PushState => 12,
            Self::ResetState => 14,
            Self::StartLink => 15,
            Self::EndLink => 16,
            Self::NewEvent => 17,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::CreateContainer => "PajeCreateContainer",
            Self::SetState => "PajeSetState",
            Self::PushState => "PajePushState",
            Self::ResetState => "PajeResetState",
            Self::StartLink => "PajeStartLink",
            Self::EndLink => "PajeEndLink",
            Self::NewEvent => "PajeNewEvent",
        }
    }

    const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::CreateContainer => &["Time date", "Alias string", "Container string", "Type string", "Name string"],
            Self::SetState | Self::PushState | Self::NewEvent => {
                &["Time date", "Container string", "Type string", "Value string"]
            }
            Self::ResetState => &["Time date", "Container string", "Type string"],
            Self::StartLink => {
                &["Time date", "Container string", "Type string", "StartContainer string", "Value string", "Key string"]
            }
            Self::EndLink => {
                &["Time date", "Container string", "Type string", "EndContainer string", "Value string", "Key string"]
            }
        }
    }

    /// How many extra fields there is room for.
    pub(super) const fn room(self, source: bool) -> usize {
        MAX_FIELDS - self.fields().len() - if source { 2 } else { 0 }
    }
}

/// The further definitions given out so far. Looking one up hashes the names of the fields: a few nanoseconds each.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    known: FxHashMap<u64, Vec<Layout>>,
    count: u32,
}

#[derive(Debug)]
struct Layout {
    operation: Operation,
    source: bool,
    fields: Vec<(String, Kind)>,
    id: u32,
}

impl Layouts {
    /// The id for an operation with these extra fields, and the text of its definition when it is new.
    pub(super) fn id(&mut self, operation: Operation, extra: &[Extra<'_>], source: bool) -> (u32, Option<String>) {
        let extra = &extra[..extra.len().min(operation.room(source))];
        let same = |layout: &Layout| {
            layout.operation == operation
                && layout.source == source
                && layout.fields.len() == extra.len()
                && layout
                    .fields
                    .iter()
                    .zip(extra)
                    .all(|((name, kind), field)| *kind == kind_of(field.value) && name == field.name)
        };
        let bucket = self.known.entry(hash(operation, extra, source)).or_default();
        if let Some(layout) = bucket.iter().find(|layout| same(layout)) {
            return (layout.id, None);
        }
        let id = FIRST_ID + self.count;
        self.count += 1;
        let fields: Vec<(String, Kind)> =
            extra.iter().map(|field| (field.name.to_owned(), kind_of(field.value))).collect();
        let text = definition(operation, id, &fields, source);
        bucket.push(Layout { operation, source, fields, id });
        (id, Some(text))
    }
}

fn hash(operation: Operation, extra: &[Extra<'_>], source: bool) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    (operation, source, extra.len()).hash(&mut hasher);
    for field in extra {
        (field.name, kind_of(field.value)).hash(&mut hasher);
    }
    hasher.finish()
}

fn kind_of(value: ExtraValue<'_>) -> Kind {
    match value {
        ExtraValue::Text(_) => Kind::Text,
        ExtraValue::Integer(_) => Kind::Integer,
        ExtraValue::Float(_) => Kind::Float,
        ExtraValue::Container(_) => Kind::Container,
    }
}

fn definition(operation: Operation, id: u32, fields: &[(String, Kind)], source: bool) -> String {
    let mut text = format!("%EventDef {} {id}\n", operation.name());
    for field in operation.fields() {
        let _ = writeln!(text, "% {field}");
    }
    let mut taken: Vec<String> = Vec::new();
    for (name, kind) in fields {
        let (mut name, ty) = match kind {
            Kind::Text => (plain_name(name), "string"),
            Kind::Integer => (plain_name(name), "int"),
            Kind::Float => (plain_name(name), "double"),
            Kind::Container => (relation_name(name, ""), "string"),
        };
        let mut number = 2;
        while taken.contains(&name) {
            name = if *kind == Kind::Container {
                relation_name(&name[..name.len() - "Container".len()], &number.to_string())
            } else {
                format!("{name}_{number}")
            };
            number += 1;
        }
        let _ = writeln!(text, "% {name} {ty}");
        taken.push(name);
    }
    if source {
        if operation == Operation::ResetState {
            text.push_str("%EndEventDef\n");
            return text;
        }
        text.push_str("% File string\n% Line int\n");
    }
    text.push_str("%EndEventDef\n");
    text
}

/// Words of a definition that mean something.
const KNOWN: [&str; 37] = [
    "Time",
    "Name",
    "Alias",
    "Type",
    "Container",
    "Value",
    "Color",
    "StartContainerType",
    "EndContainerType",
    "StartContainer",
    "EndContainer",
    "Key",
    "File",
    "Line",
    "Filename",
    "ContainerType",
    "EntityType",
    "SourceContainerType",
    "DestContainerType",
    "SourceContainer",
    "DestContainer",
    "NewName",
    "NewType",
    "NewValue",
    "NewContainer",
    "NewContainerType",
    "FileName",
    "LineNumber",
    "Shape",
    "Height",
    "Width",
    "int",
    "hex",
    "date",
    "double",
    "string",
    "color",
];

/// A field's name as one word that means nothing else in a Pajé file.
fn plain_name(name: &str) -> String {
    let mut clean: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if clean.is_empty() || clean.starts_with(|c: char| c.is_ascii_digit()) {
        clean.insert(0, '_');
    }
    if KNOWN.contains(&clean.as_str()) || clean.ends_with("Container") {
        clean.push('_');
    }
    clean
}

/// `waits for` becomes `WaitsForContainer`, by which readers know a reference.
fn relation_name(how: &str, number: &str) -> String {
    let mut name = String::new();
    for word in how.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    let name = format!("{name}{number}Container");
    let means_another = KNOWN.contains(&name.as_str()) || name.starts_with(|c: char| c.is_ascii_digit());
    if means_another { format!("Related{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields() {
        assert_eq!(plain_name("bytes"), "bytes");
        assert_eq!(plain_name("Value"), "Value_");
        assert_eq!(plain_name("FooContainer"), "FooContainer_");
        assert_eq!(plain_name("größe 1"), "gr__e_1");
        assert_eq!(relation_name("waits for", ""), "WaitsForContainer");
        assert_eq!(relation_name("owned by", "2"), "OwnedBy2Container");
        assert_eq!(relation_name("", ""), "RelatedContainer");
        assert_eq!(relation_name("start", ""), "RelatedStartContainer");
        assert_eq!(relation_name("", "2"), "Related2Container");
    }

    #[test]
    fn a_layout_is_defined_once() {
        let mut layouts = Layouts::default();
        let field = |name, value| Extra { name, value };
        let extra = [field("n", ExtraValue::Integer(1)), field("n", ExtraValue::Text("x"))];
        let (id, text) = layouts.id(Operation::PushState, &extra, true);
        assert_eq!(id, 20);
        let text = text.unwrap();
        assert!(text.contains("% n int\n% n_2 string\n% File string\n% Line int\n%EndEventDef"), "{text}");
        let (again, text) = layouts.id(Operation::PushState, &extra, true);
        assert_eq!((again, text), (20, None));
        assert_eq!(layouts.id(Operation::PushState, &extra[..1], true).0, 21);
    }
}
