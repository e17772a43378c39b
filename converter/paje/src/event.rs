//! [`PajeEvent`]: the typed Pajé operations, borrowed and streamed, never collected.
//!
//! Rules over a run and the reader of Pajé text make them; the writer of Pajé text and the simulation take them. Identifiers
//! of files have become small integers, in order of definition, so that nobody downstream compares strings.

use std::fmt;

use super::field_sets::Shape;
use super::style::Look;
use super::time::GlobalNanos;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into a table.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id! {
    /// A container or entity type. Dense, from 0, in order of definition; [`TypeId::ROOT`] is 0.
    TypeId
    /// A container instance. Dense, from 0, in order of creation; [`ContainerId::ROOT`] is 0. Never used again after its destruction.
    ContainerId
    /// A value of a state, event or link type. Dense over all types, from 0.
    ValueId
}

/// What pairs a start with an end, within (holding container, type).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct KeyId(pub u64);

impl TypeId {
    /// The type of the root container, which nobody defines: Pajé's `0`.
    pub const ROOT: Self = Self(0);
}

impl ContainerId {
    /// The root container, which nobody creates: Pajé's `0`.
    pub const ROOT: Self = Self(0);
}

/// An sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[expect(missing_docs, reason = "named after what they are")]
pub struct Color {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

/// What a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum TypeKind {
    /// Of containers.
    Container,
    /// Of states.
    State,
    /// Of events.
    Event,
    /// Of variables.
    Variable,
    /// Of links, between containers of these types.
    Link {
        /// Where they start.
        start: TypeId,
        /// Where they end.
        end: TypeId,
    },
}

/// What happens to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum VariableOp {
    Set,
    Add,
    Subtract,
}

/// The value of an extra field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExtraValue<'a> {
    /// Text, or a number kept as its file wrote it.
    Text(&'a str),
    /// An integer.
    Integer(i64),
    /// A float.
    Float(f64),
    /// Another container to which the entity is related (`waits for semaphore[s]`). In Pajé text: its alias.
    Container(ContainerId),
}

/// An extra field of an entity or container: its name, and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extra<'a> {
    /// Name of the field as users see it.
    pub name: &'a str,
    /// Its value.
    pub value: ExtraValue<'a>,
}

/// Where in the source the event was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    /// File as the compiler knew it.
    pub file: &'a str,
    /// Line, from 1.
    pub line: u32,
}

/// One Pajé operation. Dates never decrease from one event to the next, unless the producer says otherwise
/// (Pajé text of others may be out of order between containers).
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it; the variants are those of the Pajé format")]
pub enum PajeEvent<'a> {
    DefineType {
        ty: TypeId,
        kind: TypeKind,
        parent: TypeId,
        name: &'a str,
        color: Option<Color>,
        look: Look,
    },
    DefineValue {
        value: ValueId,
        ty: TypeId,
        name: &'a str,
        color: Option<Color>,
        look: Look,
    },
    CreateContainer {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        parent: ContainerId,
        name: &'a str,
        extra: &'a [Extra<'a>],
    },
    DestroyContainer {
        time: GlobalNanos,
        container: ContainerId,
    },
    SetState {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        value: ValueId,
        extra: &'a [Extra<'a>],
        source: Option<Source<'a>>,
    },
    PushState {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        value: ValueId,
        extra: &'a [Extra<'a>],
        source: Option<Source<'a>>,
    },
    PopState {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
    },
    ResetState {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
    },
    Variable {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        op: VariableOp,
        value: f64,
    },
    NewEvent {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        value: ValueId,
        extra: &'a [Extra<'a>],
        source: Option<Source<'a>>,
    },
    /// `container` holds the link; the link starts in `start`.
    StartLink {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        value: ValueId,
        start: ContainerId,
        key: KeyId,
        extra: &'a [Extra<'a>],
        source: Option<Source<'a>>,
    },
    EndLink {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        value: ValueId,
        end: ContainerId,
        key: KeyId,
        extra: &'a [Extra<'a>],
        source: Option<Source<'a>>,
    },
}

impl PajeEvent<'_> {
    /// Its date; definitions have none.
    #[must_use]
    pub const fn time(&self) -> Option<GlobalNanos> {
        match *self {
            Self::DefineType { .. } | Self::DefineValue { .. } => None,
            Self::CreateContainer { time, .. }
            | Self::DestroyContainer { time, .. }
            | Self::SetState { time, .. }
            | Self::PushState { time, .. }
            | Self::PopState { time, .. }
            | Self::ResetState { time, .. }
            | Self::Variable { time, .. }
            | Self::NewEvent { time, .. }
            | Self::StartLink { time, .. }
            | Self::EndLink { time, .. } => Some(time),
        }
    }
}

/// What most operations are: of a state or a point event, with no extra fields and no source position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in [`PajeEvent`]")]
pub struct PlainEvent {
    pub kind: PlainKind,
    pub time: GlobalNanos,
    pub container: ContainerId,
    pub ty: TypeId,
    /// Without a meaning where a state is popped or all are reset.
    pub value: ValueId,
}

/// Which operation a [`PlainEvent`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in [`PajeEvent`]")]
pub enum PlainKind {
    SetState,
    PushState,
    PopState,
    ResetState,
    NewEvent,
}

impl PlainEvent {
    /// The operation.
    #[must_use]
    #[inline]
    pub const fn event(self) -> PajeEvent<'static> {
        let Self { kind, time, container, ty, value } = self;
        let (extra, source) = (&[], None);
        match kind {
            PlainKind::SetState => PajeEvent::SetState { time, container, ty, value, extra, source },
            PlainKind::PushState => PajeEvent::PushState { time, container, ty, value, extra, source },
            PlainKind::PopState => PajeEvent::PopState { time, container, ty },
            PlainKind::ResetState => PajeEvent::ResetState { time, container, ty },
            PlainKind::NewEvent => PajeEvent::NewEvent { time, container, ty, value, extra, source },
        }
    }
}

/// Takes a stream of Pajé operations: a writer, the simulation, a counter.
pub trait Sink {
    /// Takes the next one.
    ///
    /// # Errors
    /// When it cannot go on (a full disk). What is wrong with the event itself is the sink's to count and report.
    fn event(&mut self, event: &PajeEvent<'_>) -> std::io::Result<()>;

    /// The next operations come from this line of a text, as [`Place`](super::read::Place) reads it. Only whoever tells of faults
    /// needs it.
    #[inline]
    fn at_line(&mut self, line: u64) {
        let _ = line;
    }

    /// The next part of a split trace, as [`Place::part`](super::read::Place::part) counts them, has this name.
    fn name_part(&mut self, name: &str) {
        let _ = name;
    }

    /// Takes the next one, which is plain. For those who make or take many: the same as [`Self::event`].
    ///
    /// # Errors
    /// As [`Self::event`].
    #[inline]
    fn plain(&mut self, event: PlainEvent) -> std::io::Result<()> {
        self.event(&event.event())
    }

    /// The text by which a file names a link's key: sent by readers of text before the first event with that key. Only whoever
    /// shows keys needs it.
    ///
    /// # Errors
    /// As [`Self::event`].
    fn name_key(&mut self, key: KeyId, text: &str) -> std::io::Result<()> {
        let _ = (key, text);
        Ok(())
    }

    /// A container belongs to a process of a run: its label without the suffix that makes labels of
    /// several processes distinct. Sent after the creation of the container.
    ///
    /// # Errors
    /// As [`Self::event`].
    fn own_container(&mut self, container: ContainerId, process: u32, label: &str) -> std::io::Result<()> {
        let _ = (container, process, label);
        Ok(())
    }

    /// Events of this shape will come. Said before the first event, so that formats with a header can put it there; a shape
    /// may also come unannounced.
    ///
    /// # Errors
    /// As [`Self::event`].
    fn announce(&mut self, shape: &Shape<'_>) -> std::io::Result<()> {
        let _ = shape;
        Ok(())
    }

    /// Number of texts that were written with replaced characters or cut, because the output format
    /// cannot represent them.
    fn changed_texts(&self) -> u64 {
        0
    }

    /// Whether all that it took can be taken back, by [`Self::begin_anew`]. Then it may be sent values that are defined in the middle of the stream,
    /// and halves of links that have no other, which [`Self::drop_halves`] drops before the end.
    fn can_begin_anew(&self) -> bool {
        false
    }

    /// What came is void: the stream begins anew, with its definitions. Called only where [`Self::can_begin_anew`] says so.
    ///
    /// # Errors
    /// As [`Self::event`].
    fn begin_anew(&mut self) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// The halves of links that wait for their other half have none, and are no links. Called only where [`Self::can_begin_anew`] says so.
    ///
    /// # Errors
    /// As [`Self::event`].
    fn drop_halves(&mut self) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// The stream has ended: `end` is the largest date. Called once.
    ///
    /// # Errors
    /// When what was held back cannot be written.
    fn finish(&mut self, end: GlobalNanos) -> std::io::Result<()>;
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}
