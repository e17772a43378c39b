//! Definitions of events: the reference header, and one further definition for each set of extra
//! fields.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use crate::{EventOperation, ExtraField, ExtraFieldKind as Kind, ExtraValue};

/// The form of the definitions of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeaderStyle {
    /// The names of the current format, which all known readers accept, and a further definition
    /// for each set of extra fields.
    #[default]
    Reference,
    /// The field names of the first version of the format. `pj_dump` reads them with `-n`.
    Old,
    /// One definition for each event, with only the fields of the format. Extra fields and source
    /// positions are left out.
    Basic,
}

/// A definition: the event's id and name, and its fields in order.
type DefinitionRow = (u32, &'static str, &'static [&'static str]);

const ALIAS: &str = "Alias string";
const NAME: &str = "Name string";
const TYPE: &str = "Type string";
const TIME: &str = "Time date";
const CONTAINER: &str = "Container string";
const VALUE: &str = "Value string";
const KEY: &str = "Key string";
const COLOR: &str = "Color color";

const VARIABLE: &[&str] = &[TIME, CONTAINER, TYPE, "Value double"];
const VALUED: &[&str] = &[TIME, CONTAINER, TYPE, VALUE];

/// The definitions of the reference header, by id.
const PLAIN: [DefinitionRow; 18] = [
    (0, "PajeDefineContainerType", &[ALIAS, TYPE, NAME]),
    (1, "PajeDefineVariableType", &[ALIAS, TYPE, NAME, COLOR]),
    (2, "PajeDefineStateType", &[ALIAS, TYPE, NAME]),
    (3, "PajeDefineEventType", &[ALIAS, TYPE, NAME, COLOR]),
    (4, "PajeDefineLinkType", &[ALIAS, TYPE, "StartContainerType string", "EndContainerType string", NAME]),
    (5, "PajeDefineEntityValue", &[ALIAS, TYPE, NAME, COLOR]),
    (6, "PajeCreateContainer", &[TIME, ALIAS, CONTAINER, TYPE, NAME]),
    (7, "PajeDestroyContainer", &[TIME, TYPE, NAME]),
    (8, "PajeSetVariable", VARIABLE),
    (9, "PajeAddVariable", VARIABLE),
    (10, "PajeSubVariable", VARIABLE),
    (11, "PajeSetState", VALUED),
    (12, "PajePushState", VALUED),
    (13, "PajePopState", &[TIME, CONTAINER, TYPE]),
    (RESET_STATE, "PajeResetState", &[TIME, CONTAINER, TYPE]),
    (15, "PajeStartLink", &[TIME, CONTAINER, TYPE, "StartContainer string", VALUE, KEY]),
    (16, "PajeEndLink", &[TIME, CONTAINER, TYPE, "EndContainer string", VALUE, KEY]),
    (17, "PajeNewEvent", VALUED),
];

/// Not all readers know this event, so it is defined only at its first use.
const RESET_STATE: u32 = 14;

/// The name of a field in the first version of the format.
fn old_field(event: &str, field: &'static str) -> &'static str {
    let is_tree = event.starts_with("PajeDefine") && event != "PajeDefineEntityValue";
    let is_container = matches!(event, "PajeCreateContainer" | "PajeDestroyContainer");
    match field {
        TYPE if is_container => field,
        TYPE if is_tree => "ContainerType string",
        TYPE => "EntityType string",
        "StartContainerType string" => "SourceContainerType string",
        "EndContainerType string" => "DestContainerType string",
        "StartContainer string" => "SourceContainer string",
        "EndContainer string" => "DestContainer string",
        _ => field,
    }
}

impl HeaderStyle {
    /// A definition without its last line.
    fn begin(self, name: &str, id: u32, fields: &[&'static str]) -> String {
        let mut text = format!("%EventDef {name} {id}\n");
        for &field in fields {
            let field = if self == Self::Old { old_field(name, field) } else { field };
            let _ = writeln!(text, "% {field}");
        }
        text
    }

    /// The header of a file.
    pub(super) fn text(self) -> String {
        let used = PLAIN.iter().filter(|(id, ..)| *id != RESET_STATE);
        used.map(|(id, name, fields)| self.begin(name, *id, fields) + END).collect()
    }
}

const END: &str = "%EndEventDef\n";

/// The first id of further definitions.
const FIRST_ID: u32 = 20;
/// Maximum number of fields that every reader accepts.
const MAX_FIELDS: usize = 19;

impl EventOperation {
    pub(super) const fn plain_id(self) -> u32 {
        match self {
            Self::CreateContainer => 6,
            Self::SetState => 11,
            Self::PushState => 12,
            Self::ResetState => RESET_STATE,
            Self::StartLink => 15,
            Self::EndLink => 16,
            Self::NewEvent => 17,
        }
    }

    const fn standard_definition(self) -> &'static DefinitionRow {
        &PLAIN[self.plain_id() as usize]
    }

    /// Maximum number of extra fields.
    pub(super) const fn room(self, source: bool) -> usize {
        const fn definition_index(id: u32) -> usize {
            MAX_FIELDS - PLAIN[id as usize].2.len()
        }
        // Constants, because this runs for each event with fields.
        let room = match self {
            Self::CreateContainer => const { definition_index(6) },
            Self::SetState | Self::PushState | Self::NewEvent => const { definition_index(11) },
            Self::ResetState => const { definition_index(RESET_STATE) },
            Self::StartLink | Self::EndLink => const { definition_index(15) },
        };
        room - if source { 2 } else { 0 }
    }
}

/// The definitions written so far, in addition to those of the header. A lookup hashes the names of
/// the fields, which takes a few nanoseconds each.
#[derive(Debug, Default)]
pub(super) struct ExtraDefinitions {
    pub(super) header: HeaderStyle,
    extra_definitions: FxHashMap<u64, Vec<ExtraDefinition>>,
    /// Variants of definitions with the fields `Shape`, `Size` and `Category`.
    styled: Vec<StyledDefinition>,
    count: u32,
}

/// A definition of types or values with a shape, size or category.
#[derive(Debug)]
struct StyledDefinition {
    /// The id of the definition without these fields.
    plain_id: u32,
    fields: StyleFields,
    id: u32,
}

/// The fields of a definition in addition to those of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StyleFields {
    pub(super) has_shape: bool,
    pub(super) has_size: bool,
    pub(super) has_category: bool,
}

pub(super) struct UsedDefinition {
    pub(super) id: u32,
    /// The text of the definition, if it is new.
    pub(super) text: Option<String>,
}

#[derive(Debug)]
struct ExtraDefinition {
    operation: EventOperation,
    source: bool,
    fields: Vec<(String, Kind)>,
    id: u32,
}

impl ExtraDefinitions {
    pub(super) fn new(header: HeaderStyle) -> Self {
        Self { header, ..Self::default() }
    }

    /// The definition for types or values with these fields.
    /// Each set of fields has its own definition, because a field cannot be empty.
    pub(super) fn styled_definition(&mut self, plain_id: u32, fields: StyleFields) -> UsedDefinition {
        if fields == StyleFields::default() {
            return UsedDefinition { id: plain_id, text: None };
        }
        let has_same_fields = |styled: &&StyledDefinition| (styled.plain_id, styled.fields) == (plain_id, fields);
        if let Some(styled) = self.styled.iter().find(has_same_fields) {
            return UsedDefinition { id: styled.id, text: None };
        }
        let id = FIRST_ID + self.count;
        self.count += 1;
        self.styled.push(StyledDefinition { plain_id, fields, id });
        let (_, name, plain_fields) = PLAIN[plain_id as usize];
        let StyleFields { has_shape, has_size, has_category } = fields;
        let style_fields = [(has_shape, "Shape string"), (has_size, "Size double"), (has_category, "Category string")];
        let style_fields = style_fields.into_iter().filter(|(has, _)| *has).map(|(_, field)| field);
        let fields: Vec<&str> = plain_fields.iter().copied().chain(style_fields).collect();
        UsedDefinition { id, text: Some(self.header.begin(name, id, &fields) + END) }
    }

    /// The definition for an operation with these extra fields.
    pub(super) fn id(&mut self, operation: EventOperation, extra: &[ExtraField<'_>], source: bool) -> UsedDefinition {
        let extra = &extra[..extra.len().min(operation.room(source))];
        let has_same_fields = |layout: &ExtraDefinition| {
            layout.operation == operation
                && layout.source == source
                && layout.fields.len() == extra.len()
                && layout
                    .fields
                    .iter()
                    .zip(extra)
                    .all(|((name, kind), field)| *kind == kind_of(field.value) && name == field.name)
        };
        let bucket = self.extra_definitions.entry(hash(operation, extra, source)).or_default();
        if let Some(layout) = bucket.iter().find(|layout| has_same_fields(layout)) {
            return UsedDefinition { id: layout.id, text: None };
        }
        let id = FIRST_ID + self.count;
        self.count += 1;
        let fields: Vec<(String, Kind)> =
            extra.iter().map(|field| (field.name.to_owned(), kind_of(field.value))).collect();
        let text = definition(self.header, operation, id, &fields, source);
        bucket.push(ExtraDefinition { operation, source, fields, id });
        UsedDefinition { id, text: Some(text) }
    }
}

fn hash(operation: EventOperation, extra: &[ExtraField<'_>], source: bool) -> u64 {
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

fn definition(
    header: HeaderStyle,
    operation: EventOperation,
    id: u32,
    fields: &[(String, Kind)],
    source: bool,
) -> String {
    let (_, name, plain) = operation.standard_definition();
    let mut text = header.begin(name, id, plain);
    let mut used_names: Vec<String> = Vec::new();
    for (name, kind) in fields {
        let (mut name, ty) = match kind {
            Kind::Text => (plain_name(name), "string"),
            Kind::Integer => (plain_name(name), "int"),
            Kind::Float => (plain_name(name), "double"),
            Kind::Container => (relation_name(name, ""), "string"),
        };
        let mut number = 2;
        while used_names.contains(&name) {
            name = if *kind == Kind::Container {
                relation_name(&name[..name.len() - "Container".len()], &number.to_string())
            } else {
                format!("{name}_{number}")
            };
            number += 1;
        }
        let _ = writeln!(text, "% {name} {ty}");
        used_names.push(name);
    }
    if source && operation != EventOperation::ResetState {
        text.push_str("% File string\n% Line int\n");
    }
    text + END
}

/// Words with a meaning in definitions.
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

/// A field name as one word without another meaning in a Pajé file.
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

/// Converts `waits for` to `WaitsForContainer`. Readers recognise references by this form.
fn relation_name(relation: &str, number: &str) -> String {
    let mut name = String::new();
    for word in relation.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
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
    fn names_of_user_fields_are_valid_and_differ_from_standard_fields() {
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
        let mut layouts = ExtraDefinitions::default();
        let field = |name, value| ExtraField { name, value };
        let extra = [field("n", ExtraValue::Integer(1)), field("n", ExtraValue::Text("x"))];
        let UsedDefinition { id, text } = layouts.id(EventOperation::PushState, &extra, true);
        assert_eq!(id, 20);
        let text = text.unwrap();
        assert!(text.contains("% n int\n% n_2 string\n% File string\n% Line int\n%EndEventDef"), "{text}");
        let UsedDefinition { id: again, text } = layouts.id(EventOperation::PushState, &extra, true);
        assert_eq!((again, text), (20, None));
        assert_eq!(layouts.id(EventOperation::PushState, &extra[..1], true).id, 21);
    }
}
