//! [`PajeEvent`]: the typed Pajé operations. They borrow their texts and are streamed, never
//! collected.
//!
//! The rules of a run and the reader of Pajé text produce them. The writer of Pajé text and the
//! simulation consume them. Identifiers of files become small integers in order of definition, so
//! that consumers need not compare strings.

use std::fmt;

use super::category::ActivityCategory;
use super::field_sets::FieldSet;
use super::style::DrawStyle;
use super::time::GlobalNanos;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into a table.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id! {
    /// A container or entity type. Dense, from 0, in order of definition. [`TypeId::ROOT`] is 0.
    TypeId
    /// A container instance. Dense, from 0, in order of creation. [`ContainerId::ROOT`] is 0. Not
    /// reused after its destruction.
    ContainerId
    /// A value of a state, event or link type. Dense over all types, from 0.
    ValueId
}

/// The key that pairs a start with an end, within (holding container, type).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct KeyId(pub u64);

impl TypeId {
    /// The type of the root container, Pajé's `0`. No event defines it.
    pub const ROOT: Self = Self(0);
}

impl ContainerId {
    /// The root container, Pajé's `0`. No event creates it.
    pub const ROOT: Self = Self(0);
}

/// An sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[expect(missing_docs, reason = "the names explain the variants")]
pub struct RgbColor {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

/// What the types of a trace describe: containers, or one kind of entities in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum PajeTypeKind {
    /// A container type.
    Container,
    /// A state type.
    State,
    /// An event type.
    Event,
    /// A variable type.
    Variable,
    /// A link type, between containers of these types.
    Link {
        /// The container type at the start.
        start: TypeId,
        /// The container type at the end.
        end: TypeId,
    },
}

/// The change of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the variants")]
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
    /// A whole number within 64 bits, signed.
    Integer(i64),
    /// A double-precision number.
    Float(f64),
    /// Another container to which the entity is related (`waits for semaphore[s]`). In Pajé text,
    /// its alias.
    Container(ContainerId),
}

/// An extra field of an entity or container.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct ExtraField<'a> {
    /// Name of the field as displayed.
    pub name: &'a str,
    pub value: ExtraValue<'a>,
}

/// The source position of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePosition<'a> {
    /// The file name known to the compiler.
    pub file: &'a str,
    /// Counted from 1.
    pub line: u32,
}

/// One Pajé operation. Timestamps do not decrease from one event to the next, unless the producer
/// documents otherwise. Pajé text of other programs may be out of order between containers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields, and the variants are those of the Pajé format")]
pub enum PajeEvent<'a> {
    DefineType {
        ty: TypeId,
        kind: PajeTypeKind,
        parent: TypeId,
        name: &'a str,
        color: Option<RgbColor>,
        style: DrawStyle,
    },
    DefineValue {
        value: ValueId,
        ty: TypeId,
        name: &'a str,
        color: Option<RgbColor>,
        style: DrawStyle,
        /// The effect of a state on the utilization of its container, if the trace defines it.
        category: Option<ActivityCategory>,
    },
    CreateContainer {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        parent: ContainerId,
        name: &'a str,
        extra: &'a [ExtraField<'a>],
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
        extra: &'a [ExtraField<'a>],
        source: Option<SourcePosition<'a>>,
    },
    PushState {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        value: ValueId,
        extra: &'a [ExtraField<'a>],
        source: Option<SourcePosition<'a>>,
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
        extra: &'a [ExtraField<'a>],
        source: Option<SourcePosition<'a>>,
    },
    /// `container` holds the link; the link starts in `start`.
    StartLink {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        value: ValueId,
        start: ContainerId,
        key: KeyId,
        extra: &'a [ExtraField<'a>],
        source: Option<SourcePosition<'a>>,
    },
    EndLink {
        time: GlobalNanos,
        container: ContainerId,
        ty: TypeId,
        value: ValueId,
        end: ContainerId,
        key: KeyId,
        extra: &'a [ExtraField<'a>],
        source: Option<SourcePosition<'a>>,
    },
}

impl PajeEvent<'_> {
    /// Its timestamp. `None` for definitions.
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

/// A state or point event without extra fields and source position. Most operations are plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "[`PajeEvent`] describes the fields")]
pub struct PlainEvent {
    pub kind: PlainKind,
    pub time: GlobalNanos,
    pub container: ContainerId,
    pub ty: TypeId,
    /// Has no meaning for [`PlainKind::PopState`] and [`PlainKind::ResetState`].
    pub value: ValueId,
}

/// The operation of a [`PlainEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "[`PajeEvent`] describes the fields")]
pub enum PlainKind {
    SetState,
    PushState,
    PopState,
    ResetState,
    NewEvent,
}

impl PlainEvent {
    /// The operation as a [`PajeEvent`].
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

/// A consumer of Pajé operations: a writer, the simulation, a counter.
///
/// ```
/// use std::io;
/// use tumit_paje::time::GlobalNanos;
/// use tumit_paje::{ContainerId, PajeEvent, PajeSink, TypeId};
///
/// /// Keeps the timestamp of the last operation.
/// #[derive(Default)]
/// struct LastTime(Option<GlobalNanos>);
///
/// impl PajeSink for LastTime {
///     fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
///         self.0 = self.0.max(event.time());
///         Ok(())
///     }
///
///     fn finish(&mut self, _: GlobalNanos) -> io::Result<()> {
///         Ok(())
///     }
/// }
///
/// let mut sink = LastTime::default();
/// let (container, ty) = (ContainerId(1), TypeId(2));
/// sink.event(&PajeEvent::PopState { time: GlobalNanos(9), container, ty })?;
/// assert_eq!(sink.0, Some(GlobalNanos(9)));
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait PajeSink {
    /// Takes the next operation.
    ///
    /// # Errors
    /// If the sink cannot continue (for example, the disk is full). The sink itself counts and
    /// reports faults of the event.
    fn event(&mut self, event: &PajeEvent<'_>) -> std::io::Result<()>;

    /// The next operations are from this line of a text, encoded as in
    /// [`TraceLine`](super::read::TraceLine). Only sinks that report faults need it.
    #[inline]
    fn at_line(&mut self, line: u64) {
        let _ = line;
    }

    /// The name of the next part of a split trace, counted as in
    /// [`TraceLine::part`](super::read::TraceLine::part).
    fn name_part(&mut self, name: &str) {
        let _ = name;
    }

    /// Takes the next operation, which is plain. Equivalent to [`Self::event`], and faster for many
    /// operations.
    ///
    /// # Errors
    /// As [`Self::event`].
    #[inline]
    fn plain_event(&mut self, event: PlainEvent) -> std::io::Result<()> {
        self.event(&event.event())
    }

    /// The text of a link key in a file. Readers of text send it before the first event with this
    /// key. Only sinks that display keys need it.
    ///
    /// # Errors
    /// As [`Self::event`].
    fn name_key(&mut self, key: KeyId, text: &str) -> std::io::Result<()> {
        let _ = (key, text);
        Ok(())
    }

    /// A container belongs to a process of a run. `label` is its name without the suffix that
    /// distinguishes the labels of several processes. Sent after the creation of the container.
    ///
    /// # Errors
    /// As [`Self::event`].
    fn own_container(&mut self, container: ContainerId, process: u32, label: &str) -> std::io::Result<()> {
        let _ = (container, process, label);
        Ok(())
    }

    /// Announces a field set of later operations. Called before the first operation, so that
    /// formats with a header can define it there. Operations may also have field sets that were not
    /// announced.
    ///
    /// # Errors
    /// As [`Self::event`].
    fn announce(&mut self, shape: &FieldSet<'_>) -> std::io::Result<()> {
        let _ = shape;
        Ok(())
    }

    /// Number of texts that were written with replaced characters or cut, because the output format
    /// cannot represent them.
    fn changed_texts(&self) -> u64 {
        0
    }

    /// Whether the sink can discard its input by [`Self::restart`]. It then also accepts
    /// definitions of values in the middle of the stream, and link endpoints without a partner,
    /// which [`Self::settle_unpaired_endpoints`] settles before the end.
    fn can_restart(&self) -> bool {
        false
    }

    /// Discards all input. The stream starts again with its definitions. Called only if
    /// [`Self::can_restart`] is true.
    ///
    /// # Errors
    /// As [`Self::event`].
    fn restart(&mut self) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// Whether the sink keeps the starts of links that never end. If so, producers may send such
    /// starts, each with a key of its own, and call [`Self::settle_unpaired_endpoints`] at the end.
    /// Pajé text must not contain them: `pj_dump` rejects it.
    fn keeps_open_links(&self) -> bool {
        false
    }

    /// No further partners of link endpoints come. Drops the endpoints that have no partner so far,
    /// except for starts, if [`Self::keeps_open_links`] is true. Called only if
    /// [`Self::can_restart`] or [`Self::keeps_open_links`] is true.
    ///
    /// # Errors
    /// As [`Self::event`].
    fn settle_unpaired_endpoints(&mut self) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// Ends the stream. `end` is the maximum timestamp. Called once.
    ///
    /// # Errors
    /// If buffered data cannot be written.
    fn finish(&mut self, end: GlobalNanos) -> std::io::Result<()>;
}

impl fmt::Display for RgbColor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}
