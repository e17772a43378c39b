//! Event definitions: which word of a line is what.

use std::io;

use foldhash::{HashMap, HashSet};

use super::faults::{FaultKind, Faults};
use crate::{FieldKind, Operation, Shape, Sink};

/// The events of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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
    /// Lines of no effect: other readers know this event and do nothing either.
    Idle,
}

/// What a field means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Time,
    Name,
    Alias,
    Type,
    Container,
    Value,
    Color,
    Shape,
    Size,
    StartType,
    EndType,
    StartContainer,
    EndContainer,
    Key,
    File,
    Line,
    /// Another file of the trace.
    Part,
}

const ROLES: usize = Role::Part as usize + 1;
const ABSENT: u16 = u16::MAX;

impl Kind {
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

    /// Whether it defines something that is drawn in a shape and size.
    fn has_look(self) -> bool {
        (self.defines_type() && self != Self::DefineContainerType) || self == Self::DefineEntityValue
    }

    fn required(self) -> &'static [Role] {
        match self {
            Self::DefineContainerType | Self::DefineStateType | Self::DefineEventType | Self::DefineVariableType => {
                &[Role::Name, Role::Type]
            }
            Self::DefineLinkType => &[Role::Name, Role::Type, Role::StartType, Role::EndType],
            Self::DefineEntityValue => &[Role::Name, Role::Type],
            Self::CreateContainer => &[Role::Time, Role::Name, Role::Type, Role::Container],
            Self::DestroyContainer => &[Role::Time, Role::Name],
            Self::PopState | Self::ResetState => &[Role::Time, Role::Type, Role::Container],
            Self::NewEvent
            | Self::SetState
            | Self::PushState
            | Self::SetVariable
            | Self::AddVariable
            | Self::SubVariable => &[Role::Time, Role::Type, Role::Container, Role::Value],
            Self::StartLink => &[Role::Time, Role::Type, Role::Container, Role::Value, Role::StartContainer, Role::Key],
            Self::EndLink => &[Role::Time, Role::Type, Role::Container, Role::Value, Role::EndContainer, Role::Key],
            Self::Idle => &[],
        }
    }

    /// What a field of this name means in this event, and how good a name for it that is: 0 is today's name, larger ones are
    /// older. `None` for a user field.
    fn role(self, field: &str) -> Option<(Role, u8)> {
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
            "Time" => (Role::Time, 0),
            "Name" if created || destroys => (Role::Name, 0),
            "NewName" if created => (Role::Name, 1),
            // One identifier is asked for; files name it in three ways.
            "Alias" if destroys => (Role::Name, 1),
            "Container" if destroys => (Role::Name, 2),
            "Alias" if created => (Role::Alias, 0),
            "NewType" if self.defines_type() => (Role::Alias, 1),
            "NewValue" if self == Self::DefineEntityValue => (Role::Alias, 1),
            "NewContainer" if self == Self::CreateContainer => (Role::Alias, 1),
            "Type" => (Role::Type, 0),
            "NewContainerType" if self == Self::CreateContainer => (Role::Type, 1),
            "ContainerType" if in_tree => (Role::Type, 2),
            "ContainerType" if self == Self::DefineEntityValue => (Role::Type, 2),
            "EntityType" if !in_tree => (Role::Type, 1),
            // Some producers name all parents so.
            "EntityType" => (Role::Type, 3),
            "Container" if !self.defines_type() && self != Self::DefineEntityValue => (Role::Container, 0),
            "Value" if !created && !destroys => (Role::Value, 0),
            "Color" if created && self != Self::CreateContainer => (Role::Color, 0),
            // Older versions had them as fields of their own; nobody else reads them today.
            "Shape" if self.has_look() => (Role::Shape, 0),
            "Size" if self.has_look() => (Role::Size, 0),
            "StartContainerType" if self == Self::DefineLinkType => (Role::StartType, 0),
            "SourceContainerType" if self == Self::DefineLinkType => (Role::StartType, 1),
            "EndContainerType" if self == Self::DefineLinkType => (Role::EndType, 0),
            "DestContainerType" if self == Self::DefineLinkType => (Role::EndType, 1),
            "StartContainer" if self == Self::StartLink => (Role::StartContainer, 0),
            "SourceContainer" if self == Self::StartLink => (Role::StartContainer, 1),
            "EndContainer" if self == Self::EndLink => (Role::EndContainer, 0),
            "DestContainer" if self == Self::EndLink => (Role::EndContainer, 1),
            "Key" if matches!(self, Self::StartLink | Self::EndLink) => (Role::Key, 0),
            "Filename" | "FileName" if self == Self::CreateContainer => (Role::Part, 0),
            "File" if marks => (Role::File, 0),
            "FileName" if marks => (Role::File, 1),
            "Line" if marks => (Role::Line, 0),
            "LineNumber" if marks => (Role::Line, 1),
            _ => return None,
        })
    }
}

/// A user field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UserField {
    /// Which word of the line, the id being word 0.
    pub(super) word: usize,
    pub(super) name: String,
    /// `WaitsForContainer` may refer to a container, and is then called `waits for`.
    pub(super) relation: Option<String>,
}

/// One event definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) kind: Kind,
    /// Words that a line has, with the id.
    pub(super) words: usize,
    /// The words up to the last field that a line must have.
    pub(super) needed: usize,
    positions: [u16; ROLES],
    pub(super) user: Vec<UserField>,
}

impl Definition {
    /// Which word has this role.
    pub(super) fn word(&self, role: Role) -> Option<usize> {
        match self.positions[role as usize] {
            ABSENT => None,
            position => Some(position.into()),
        }
    }

    /// From field names in order. A missing role is an error.
    fn new(kind: Kind, fields: &[String]) -> Result<Self, &'static [Role]> {
        let mut positions = [ABSENT; ROLES];
        let mut ranks = [u8::MAX; ROLES];
        for (at, field) in fields.iter().enumerate() {
            if let Some((role, rank)) = kind.role(field)
                && rank < ranks[role as usize]
                && let Ok(position) = u16::try_from(at + 1)
            {
                positions[role as usize] = position;
                ranks[role as usize] = rank;
            }
        }
        if kind.required().iter().any(|&role| positions[role as usize] == ABSENT) {
            return Err(kind.required());
        }
        // A line without the name of a part is complete.
        let needed = positions[..Role::Part as usize].iter().filter(|&&position| position != ABSENT);
        let last = needed.max().map_or(0, |&last| usize::from(last));
        let user = fields.iter().enumerate().filter(|(at, _)| !positions.iter().any(|&p| usize::from(p) == at + 1));
        let user = user.map(|(at, name)| UserField { word: at + 1, name: name.clone(), relation: relation(name) });
        Ok(Self { kind, words: fields.len() + 1, needed: last + 1, positions, user: user.collect() })
    }

    /// Says which extra fields the events of this definition will have.
    pub(super) fn announce(&self, sink: &mut dyn Sink) -> io::Result<()> {
        let operation = match self.kind {
            Kind::CreateContainer => Operation::CreateContainer,
            Kind::SetState => Operation::SetState,
            Kind::PushState => Operation::PushState,
            Kind::NewEvent => Operation::NewEvent,
            Kind::StartLink => Operation::StartLink,
            Kind::EndLink => Operation::EndLink,
            _ => return Ok(()),
        };
        // Whether a field refers to a container is seen only when it comes.
        let names = self.user.iter().flat_map(|field| {
            let reference = field.relation.as_deref().map(|name| (name, FieldKind::Container));
            reference.into_iter().chain([(field.name.as_str(), FieldKind::Text)])
        });
        let fields: Vec<(&str, FieldKind)> = names.collect();
        let source = self.word(Role::File).is_some() && operation != Operation::CreateContainer;
        if fields.is_empty() && !source {
            return Ok(());
        }
        sink.announce(&Shape { operation, fields: &fields, source })
    }
}

/// `WaitsForContainer` to `waits for`.
fn relation(field: &str) -> Option<String> {
    let words = field.strip_suffix("Container").filter(|words| !words.is_empty())?;
    let mut name = String::new();
    for (at, letter) in words.char_indices() {
        if letter.is_uppercase() && at > 0 {
            name.push(' ');
        }
        name.extend(letter.to_lowercase());
    }
    Some(name)
}

/// Whether ViTE takes this field under this type. It takes user fields under any that it knows.
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

/// What an id stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Meaning {
    Event(Definition),
    /// Defined, but not usable: its lines are left out without a further word.
    Useless,
}

/// A definition that is being read.
#[derive(Debug)]
struct Open {
    id: String,
    kind: Option<Kind>,
    fields: Vec<String>,
    /// The same, to find a second one of a name.
    names: HashSet<String>,
}

/// All definitions so far.
#[derive(Debug, Default)]
pub(super) struct Header {
    meanings: Vec<Meaning>,
    /// Small numbers, the usual ids, directly.
    small: Vec<Option<usize>>,
    others: HashMap<String, usize>,
    open: Option<Open>,
}

/// Fields that every reader takes.
const MAX_FIELDS: usize = 19;
/// Ids that are looked up in a table.
const SMALL: usize = 256;

impl Header {
    /// Whether any definition was begun.
    pub(super) fn is_begun(&self) -> bool {
        self.open.is_some() || !self.meanings.is_empty()
    }

    /// The definition of an id, else that of the root of a split trace. `Err` if neither has one.
    pub(super) fn definition_or<'a>(&'a self, root: Option<&'a Self>, id: &str) -> Result<Option<&'a Definition>, ()> {
        self.definition(id).or_else(|()| root.map_or(Err(()), |root| root.definition(id)))
    }

    /// The definition of an id. `Err` when there is none at all.
    pub(super) fn definition(&self, id: &str) -> Result<Option<&Definition>, ()> {
        let at = match small_id(id) {
            Some(small) => self.small.get(small).copied().flatten(),
            None => self.others.get(id).copied(),
        };
        match at.map(|at| &self.meanings[at]) {
            Some(Meaning::Event(definition)) => Ok(Some(definition)),
            Some(Meaning::Useless) => Ok(None),
            None => Err(()),
        }
    }

    /// Takes a line that begins with `%`. `words` are those after it. Returns the definition that ends here.
    pub(super) fn line(&mut self, words: &[&str], number: u64, text: &str, faults: &mut Faults) -> Option<&Definition> {
        match *words {
            ["EventDef", name, id, ref rest @ ..] => {
                let ended = self.open.take();
                if let Some(open) = &ended {
                    faults.count(FaultKind::Unclosed, number, &open.id);
                }
                if !rest.is_empty() {
                    faults.count(FaultKind::Header, number, text);
                }
                let kind = Kind::from_name(name);
                match kind {
                    None => faults.count(FaultKind::UnknownEvent, number, name),
                    Some(Kind::Idle) => faults.count(FaultKind::RareEvent, number, name),
                    Some(_) => {}
                }
                // As large as ViTE's numbers.
                if !id.bytes().all(|byte| byte.is_ascii_digit()) || id.parse::<i32>().is_err() {
                    faults.count(FaultKind::IdText, number, id);
                }
                self.open = Some(Open { id: id.to_owned(), kind, fields: Vec::new(), names: HashSet::default() });
                return ended.and_then(|open| self.finish(open, number, faults));
            }
            ["EndEventDef", ..] => match self.open.take() {
                Some(open) => return self.finish(open, number, faults),
                None => faults.count(FaultKind::Header, number, text),
            },
            [] => {}
            ["EventDef", ..] | [_] => faults.count(FaultKind::Header, number, text),
            [field, ty, ..] => match &mut self.open {
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
                    let is_old = |kind: Kind| matches!(kind.role(field), Some((_, 1..)));
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

    /// A line of events, or the end of the file: a definition that is still open ends here, and is returned.
    pub(super) fn close_open(&mut self, number: u64, faults: &mut Faults) -> Option<&Definition> {
        let open = self.open.take()?;
        faults.count(FaultKind::Unclosed, number, &open.id);
        self.finish(open, number, faults)
    }

    fn finish(&mut self, open: Open, number: u64, faults: &mut Faults) -> Option<&Definition> {
        let meaning = match open.kind.map(|kind| Definition::new(kind, &open.fields)) {
            Some(Ok(definition)) => Meaning::Event(definition),
            Some(Err(required)) => {
                let found = format!("id {} has {}; needed: {required:?}", open.id, open.fields.join(" "));
                faults.count(FaultKind::MissingField, number, &found);
                Meaning::Useless
            }
            None => Meaning::Useless,
        };
        let small = small_id(&open.id);
        let known = match small {
            Some(small) => self.small.get(small).copied().flatten(),
            None => self.others.get(&open.id).copied(),
        };
        let at = match known {
            Some(known) if self.meanings[known] == meaning => known,
            Some(known) => {
                faults.count(FaultKind::IdTwice, number, &open.id);
                self.meanings[known] = meaning;
                known
            }
            None => {
                let at = self.meanings.len();
                self.meanings.push(meaning);
                match small {
                    Some(small) => {
                        self.small.resize(self.small.len().max(small + 1), None);
                        self.small[small] = Some(at);
                    }
                    None => _ = self.others.insert(open.id, at),
                }
                at
            }
        };
        match &self.meanings[at] {
            Meaning::Event(definition) => Some(definition),
            Meaning::Useless => None,
        }
    }
}

/// The number of an id that is written as a small number without leading zeros: `017` is another id than `17`.
fn small_id(id: &str) -> Option<usize> {
    if id.len() > 3 || id.is_empty() || (id.len() > 1 && id.starts_with('0')) {
        return None;
    }
    id.bytes()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + usize::from(byte - b'0')))
        .filter(|&id| id < SMALL)
}
