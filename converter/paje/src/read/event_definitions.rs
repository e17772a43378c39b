//! Event definitions: the meaning of each word of a line.

use std::io;

use foldhash::{HashMap, HashSet};

use super::faults::{FaultKind, FaultList};
use crate::{EventOperation, ExtraFieldKind, FieldSet, PajeSink};

/// The events of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PajeEventKind {
    DefineContainerType,
    DefineStateType,
    DefineEventType,
    DefineVariableType,
    DefineLinkType,
    DefineEntityValue,
    CreateContainer,
    DestroyContainer,
    NewEvent,
    SetState,
    PushState,
    PopState,
    ResetState,
    SetVariable,
    AddVariable,
    SubVariable,
    StartLink,
    EndLink,
    /// An event without effect. Other readers know it and ignore it, too.
    Idle,
}

/// The meaning of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldRole {
    Time,
    Name,
    Alias,
    Type,
    Container,
    Value,
    Color,
    Shape,
    Size,
    Category,
    StartType,
    EndType,
    StartContainer,
    EndContainer,
    Key,
    File,
    Line,
    /// The name of another file of the trace.
    Part,
}

const ROLES: usize = FieldRole::Part as usize + 1;
const ABSENT: u16 = u16::MAX;

impl PajeEventKind {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "PajeDefineContainerType" => Self::DefineContainerType,
            "PajeDefineStateType" => Self::DefineStateType,
            "PajeDefineEventType" => Self::DefineEventType,
            "PajeDefineVariableType" => Self::DefineVariableType,
            "PajeDefineLinkType" => Self::DefineLinkType,
            "PajeDefineEntityValue" => Self::DefineEntityValue,
            "PajeCreateContainer" => Self::CreateContainer,
            "PajeDestroyContainer" => Self::DestroyContainer,
            "PajeNewEvent" => Self::NewEvent,
            "PajeSetState" => Self::SetState,
            "PajePushState" => Self::PushState,
            "PajePopState" => Self::PopState,
            "PajeResetState" => Self::ResetState,
            "PajeSetVariable" => Self::SetVariable,
            "PajeAddVariable" => Self::AddVariable,
            "PajeSubVariable" => Self::SubVariable,
            "PajeStartLink" => Self::StartLink,
            "PajeEndLink" => Self::EndLink,
            "PajeTraceFile" | "PajeStartTrace" => Self::Idle,
            _ => return None,
        })
    }

    fn defines_type(self) -> bool {
        matches!(
            self,
            Self::DefineContainerType
                | Self::DefineStateType
                | Self::DefineEventType
                | Self::DefineVariableType
                | Self::DefineLinkType
        )
    }

    /// Whether it defines a type or value with a shape and size.
    fn has_look(self) -> bool {
        (self.defines_type() && self != Self::DefineContainerType) || self == Self::DefineEntityValue
    }

    fn required_fields(self) -> &'static [FieldRole] {
        match self {
            Self::DefineContainerType | Self::DefineStateType | Self::DefineEventType | Self::DefineVariableType => {
                &[FieldRole::Name, FieldRole::Type]
            }
            Self::DefineLinkType => &[FieldRole::Name, FieldRole::Type, FieldRole::StartType, FieldRole::EndType],
            Self::DefineEntityValue => &[FieldRole::Name, FieldRole::Type],
            Self::CreateContainer => &[FieldRole::Time, FieldRole::Name, FieldRole::Type, FieldRole::Container],
            Self::DestroyContainer => &[FieldRole::Time, FieldRole::Name],
            Self::PopState | Self::ResetState => &[FieldRole::Time, FieldRole::Type, FieldRole::Container],
            Self::NewEvent
            | Self::SetState
            | Self::PushState
            | Self::SetVariable
            | Self::AddVariable
            | Self::SubVariable => &[FieldRole::Time, FieldRole::Type, FieldRole::Container, FieldRole::Value],
            Self::StartLink => &[
                FieldRole::Time,
                FieldRole::Type,
                FieldRole::Container,
                FieldRole::Value,
                FieldRole::StartContainer,
                FieldRole::Key,
            ],
            Self::EndLink => &[
                FieldRole::Time,
                FieldRole::Type,
                FieldRole::Container,
                FieldRole::Value,
                FieldRole::EndContainer,
                FieldRole::Key,
            ],
            Self::Idle => &[],
        }
    }

    /// The meaning of a field name in this event, and its rank: 0 for the current name, greater for
    /// older names. `None` for a user field.
    fn role(self, field: &str) -> Option<(FieldRole, u8)> {
        let created = matches!(self, Self::CreateContainer) || self.defines_type() || self == Self::DefineEntityValue;
        let in_tree = self.defines_type() || matches!(self, Self::CreateContainer | Self::DestroyContainer);
        let marks = matches!(
            self,
            Self::NewEvent
                | Self::SetState
                | Self::PushState
                | Self::PopState
                | Self::ResetState
                | Self::StartLink
                | Self::EndLink
        );
        let destroys = self == Self::DestroyContainer;
        Some(match field {
            "Time" => (FieldRole::Time, 0),
            "Name" if created || destroys => (FieldRole::Name, 0),
            "NewName" if created => (FieldRole::Name, 1),
            // One identifier is required. Files use three names for it.
            "Alias" if destroys => (FieldRole::Name, 1),
            "Container" if destroys => (FieldRole::Name, 2),
            "Alias" if created => (FieldRole::Alias, 0),
            "NewType" if self.defines_type() => (FieldRole::Alias, 1),
            "NewValue" if self == Self::DefineEntityValue => (FieldRole::Alias, 1),
            "NewContainer" if self == Self::CreateContainer => (FieldRole::Alias, 1),
            "Type" => (FieldRole::Type, 0),
            "NewContainerType" if self == Self::CreateContainer => (FieldRole::Type, 1),
            "ContainerType" if in_tree => (FieldRole::Type, 2),
            "ContainerType" if self == Self::DefineEntityValue => (FieldRole::Type, 2),
            "EntityType" if !in_tree => (FieldRole::Type, 1),
            // Some producers use this name for all parents.
            "EntityType" => (FieldRole::Type, 3),
            "Container" if !self.defines_type() && self != Self::DefineEntityValue => (FieldRole::Container, 0),
            "Value" if !created && !destroys => (FieldRole::Value, 0),
            "Color" if created && self != Self::CreateContainer => (FieldRole::Color, 0),
            // Older versions of the format had these fields. No other reader supports them today.
            "Shape" if self.has_look() => (FieldRole::Shape, 0),
            "Size" if self.has_look() => (FieldRole::Size, 0),
            "Category" if self == Self::DefineEntityValue => (FieldRole::Category, 0),
            "StartContainerType" if self == Self::DefineLinkType => (FieldRole::StartType, 0),
            "SourceContainerType" if self == Self::DefineLinkType => (FieldRole::StartType, 1),
            "EndContainerType" if self == Self::DefineLinkType => (FieldRole::EndType, 0),
            "DestContainerType" if self == Self::DefineLinkType => (FieldRole::EndType, 1),
            "StartContainer" if self == Self::StartLink => (FieldRole::StartContainer, 0),
            "SourceContainer" if self == Self::StartLink => (FieldRole::StartContainer, 1),
            "EndContainer" if self == Self::EndLink => (FieldRole::EndContainer, 0),
            "DestContainer" if self == Self::EndLink => (FieldRole::EndContainer, 1),
            "Key" if matches!(self, Self::StartLink | Self::EndLink) => (FieldRole::Key, 0),
            "Filename" | "FileName" if self == Self::CreateContainer => (FieldRole::Part, 0),
            "File" if marks => (FieldRole::File, 0),
            "FileName" if marks => (FieldRole::File, 1),
            "Line" if marks => (FieldRole::Line, 0),
            "LineNumber" if marks => (FieldRole::Line, 1),
            _ => return None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UserField {
    /// The index of the word in the line. The id is word 0.
    pub(super) word: usize,
    pub(super) name: String,
    /// The name of the relation if the field refers to a container: `waits for` for
    /// `WaitsForContainer`.
    pub(super) relation: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventDefinition {
    pub(super) kind: PajeEventKind,
    /// Number of words of a line, including the id.
    pub(super) words: usize,
    /// Number of words up to the last mandatory field.
    pub(super) min_words: usize,
    positions: [u16; ROLES],
    pub(super) user: Vec<UserField>,
}

impl EventDefinition {
    /// The index of the word with this role.
    pub(super) fn word(&self, role: FieldRole) -> Option<usize> {
        match self.positions[role as usize] {
            ABSENT => None,
            position => Some(position.into()),
        }
    }

    /// Creates a definition from field names in order. Fails if a mandatory role is missing.
    fn new(kind: PajeEventKind, fields: &[String]) -> Result<Self, &'static [FieldRole]> {
        let mut positions = [ABSENT; ROLES];
        let mut ranks = [u8::MAX; ROLES];
        for (index, field) in fields.iter().enumerate() {
            if let Some((role, rank)) = kind.role(field)
                && rank < ranks[role as usize]
                && let Ok(position) = u16::try_from(index + 1)
            {
                positions[role as usize] = position;
                ranks[role as usize] = rank;
            }
        }
        if kind.required_fields().iter().any(|&role| positions[role as usize] == ABSENT) {
            return Err(kind.required_fields());
        }
        // A line without the name of a part is complete.
        let needed = positions[..FieldRole::Part as usize].iter().filter(|&&position| position != ABSENT);
        let last = needed.max().map_or(0, |&last| usize::from(last));
        let user =
            fields.iter().enumerate().filter(|(index, _)| !positions.iter().any(|&p| usize::from(p) == index + 1));
        let user =
            user.map(|(index, name)| UserField { word: index + 1, name: name.clone(), relation: relation(name) });
        Ok(Self { kind, words: fields.len() + 1, min_words: last + 1, positions, user: user.collect() })
    }

    /// Announces the extra fields of the events of this definition.
    pub(super) fn announce(&self, sink: &mut dyn PajeSink) -> io::Result<()> {
        let operation = match self.kind {
            PajeEventKind::CreateContainer => EventOperation::CreateContainer,
            PajeEventKind::SetState => EventOperation::SetState,
            PajeEventKind::PushState => EventOperation::PushState,
            PajeEventKind::NewEvent => EventOperation::NewEvent,
            PajeEventKind::StartLink => EventOperation::StartLink,
            PajeEventKind::EndLink => EventOperation::EndLink,
            _ => return Ok(()),
        };
        // Only the line itself shows whether a field refers to a container.
        let names = self.user.iter().flat_map(|field| {
            let reference = field.relation.as_deref().map(|name| (name, ExtraFieldKind::Container));
            reference.into_iter().chain([(field.name.as_str(), ExtraFieldKind::Text)])
        });
        let fields: Vec<(&str, ExtraFieldKind)> = names.collect();
        let source = self.word(FieldRole::File).is_some() && operation != EventOperation::CreateContainer;
        if fields.is_empty() && !source {
            return Ok(());
        }
        sink.announce(&FieldSet { operation, fields: &fields, source })
    }
}

/// Converts `WaitsForContainer` to `waits for`.
fn relation(field: &str) -> Option<String> {
    let words = field.strip_suffix("Container").filter(|words| !words.is_empty())?;
    let mut name = String::new();
    for (offset, letter) in words.char_indices() {
        if letter.is_uppercase() && offset > 0 {
            name.push(' ');
        }
        name.extend(letter.to_lowercase());
    }
    Some(name)
}

/// Whether ViTE accepts this field with this type. It accepts user fields with any type that it
/// knows.
fn goes_with(field: &str, ty: &str) -> bool {
    match field {
        "Time" => ty == "date",
        "Color" => ty == "color",
        "File" => ty == "string",
        "Line" => matches!(ty, "int" | "string"),
        "Value" => matches!(ty, "string" | "int" | "double"),
        "Name" | "Alias" | "Type" | "Container" | "StartContainerType" | "EndContainerType" | "StartContainer"
        | "EndContainer" | "Key" => matches!(ty, "string" | "int"),
        _ => true,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum IdMeaning {
    Event(EventDefinition),
    /// An unusable definition. Its lines are left out without further reports.
    Useless,
}

/// A definition of an event that has begun with `%EventDef` and has not ended.
#[derive(Debug)]
struct OpenDefinition {
    id: String,
    kind: Option<PajeEventKind>,
    fields: Vec<String>,
    /// The names in `fields`, to find duplicates.
    names: HashSet<String>,
}

/// All definitions so far.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    meanings: Vec<IdMeaning>,
    /// Indexes of meanings for small numeric ids, which are the usual ones.
    indexes_by_number: Vec<Option<usize>>,
    indexes_by_text: HashMap<String, usize>,
    open_definition: Option<OpenDefinition>,
}

/// Maximum number of fields that every reader accepts in a definition.
const MAX_FIELDS: usize = 19;
/// Numeric ids below this are looked up in a table.
const TABLE_IDS: usize = 256;

impl Definitions {
    /// Whether any definition was begun.
    pub(super) fn is_begun(&self) -> bool {
        self.open_definition.is_some() || !self.meanings.is_empty()
    }

    /// The definition of an id. Without one, the definition in the root file of a split trace.
    /// `Err` if neither exists.
    pub(super) fn definition_or<'a>(
        &'a self,
        root: Option<&'a Self>,
        id: &str,
    ) -> Result<Option<&'a EventDefinition>, ()> {
        self.definition(id).or_else(|()| root.map_or(Err(()), |root| root.definition(id)))
    }

    /// The definition of an id. `Ok(None)` if it is unusable, `Err` if the id is not defined.
    pub(super) fn definition(&self, id: &str) -> Result<Option<&EventDefinition>, ()> {
        let number = match small_id(id) {
            Some(small) => self.indexes_by_number.get(small).copied().flatten(),
            None => self.indexes_by_text.get(id).copied(),
        };
        match number.map(|index| &self.meanings[index]) {
            Some(IdMeaning::Event(definition)) => Ok(Some(definition)),
            Some(IdMeaning::Useless) => Ok(None),
            None => Err(()),
        }
    }

    /// Processes a line that starts with `%`. `words` are the words after it. Returns the
    /// definition that ends here.
    pub(super) fn line(
        &mut self,
        words: &[&str],
        number: u64,
        text: &str,
        faults: &mut FaultList,
    ) -> Option<&EventDefinition> {
        match *words {
            ["EventDef", name, id, ref field_words @ ..] => {
                let unclosed = self.open_definition.take();
                if let Some(open) = &unclosed {
                    faults.count(FaultKind::Unclosed, number, &open.id);
                }
                if !field_words.is_empty() {
                    faults.count(FaultKind::Header, number, text);
                }
                let kind = PajeEventKind::from_name(name);
                match kind {
                    None => faults.count(FaultKind::UnknownEvent, number, name),
                    Some(PajeEventKind::Idle) => faults.count(FaultKind::RareEvent, number, name),
                    Some(_) => {}
                }
                // ViTE reads ids as 32-bit integers.
                if !id.bytes().all(|byte| byte.is_ascii_digit()) || id.parse::<i32>().is_err() {
                    faults.count(FaultKind::IdText, number, id);
                }
                self.open_definition =
                    Some(OpenDefinition { id: id.to_owned(), kind, fields: Vec::new(), names: HashSet::default() });
                return unclosed.and_then(|open| self.finish(open, number, faults));
            }
            ["EndEventDef", ..] => match self.open_definition.take() {
                Some(open) => return self.finish(open, number, faults),
                None => faults.count(FaultKind::Header, number, text),
            },
            [] => {}
            ["EventDef", ..] | [_] => faults.count(FaultKind::Header, number, text),
            [field, ty, ..] => match &mut self.open_definition {
                Some(open) => {
                    if !matches!(ty, "date" | "double" | "float" | "int" | "hex" | "string" | "color") {
                        faults.count(FaultKind::FieldType, number, ty);
                    }
                    if ty == "float" {
                        faults.count(FaultKind::Float, number, field);
                    }
                    if !goes_with(field, ty) && ty != "float" {
                        faults.count(FaultKind::FieldPair, number, &format!("{field} {ty}"));
                    }
                    let is_old = |kind: PajeEventKind| matches!(kind.role(field), Some((_, 1..)));
                    if open.kind.is_some_and(is_old) {
                        faults.count(FaultKind::OldName, number, field);
                    }
                    if open.fields.len() == MAX_FIELDS {
                        faults.count(FaultKind::ManyFields, number, field);
                    }
                    if !open.names.insert(field.to_owned()) {
                        faults.count(FaultKind::FieldTwice, number, field);
                    }
                    open.fields.push(field.to_owned());
                }
                None => faults.count(FaultKind::Header, number, text),
            },
        }
        None
    }

    /// Ends and returns a definition that is still open at a line of events or at the end of the
    /// file.
    pub(super) fn close_open(&mut self, number: u64, faults: &mut FaultList) -> Option<&EventDefinition> {
        let open = self.open_definition.take()?;
        faults.count(FaultKind::Unclosed, number, &open.id);
        self.finish(open, number, faults)
    }

    fn finish(&mut self, open: OpenDefinition, number: u64, faults: &mut FaultList) -> Option<&EventDefinition> {
        let meaning = match open.kind.map(|kind| EventDefinition::new(kind, &open.fields)) {
            Some(Ok(definition)) => IdMeaning::Event(definition),
            Some(Err(required)) => {
                let text = format!("id {} has {}; needed: {required:?}", open.id, open.fields.join(" "));
                faults.count(FaultKind::MissingField, number, &text);
                IdMeaning::Useless
            }
            None => IdMeaning::Useless,
        };
        let small = small_id(&open.id);
        let earlier_index = match small {
            Some(small) => self.indexes_by_number.get(small).copied().flatten(),
            None => self.indexes_by_text.get(&open.id).copied(),
        };
        let index = match earlier_index {
            Some(existing) if self.meanings[existing] == meaning => existing,
            Some(existing) => {
                faults.count(FaultKind::IdTwice, number, &open.id);
                self.meanings[existing] = meaning;
                existing
            }
            None => {
                let index = self.meanings.len();
                self.meanings.push(meaning);
                match small {
                    Some(small) => {
                        self.indexes_by_number.resize(self.indexes_by_number.len().max(small + 1), None);
                        self.indexes_by_number[small] = Some(index);
                    }
                    None => _ = self.indexes_by_text.insert(open.id, index),
                }
                index
            }
        };
        match &self.meanings[index] {
            IdMeaning::Event(definition) => Some(definition),
            IdMeaning::Useless => None,
        }
    }
}

/// The value of an id that is a small number without leading zeros, because `017` differs from
/// `17`.
fn small_id(id: &str) -> Option<usize> {
    if id.len() > 3 || id.is_empty() || (id.len() > 1 && id.starts_with('0')) {
        return None;
    }
    id.bytes()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + usize::from(byte - b'0')))
        .filter(|&id| id < TABLE_IDS)
}
