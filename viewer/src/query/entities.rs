//! Entities of a trace: lanes, states, events, links and values of variables.

use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::TimeRange;
use tumit_paje::{ContainerId, TypeId, ValueId};

/// A sequence of entities that never overlap: one nesting depth of one state type of one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateLaneId {
    /// The container with the states.
    pub container: ContainerId,
    /// The state type.
    pub ty: TypeId,
    /// Nesting depth, from 0.
    pub depth: u32,
}

/// An entity or container that can be referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntityId {
    /// A container. It is not an entity, but has facts as well.
    Container(ContainerId),
    /// A state, by its number in the store.
    State(u32),
    /// A point event.
    Event(u32),
    /// A link, by its number in the store.
    Link(u32),
    /// A link that never ends, by its number among all of them.
    OpenLink(u32),
    /// A value of a variable. It lasts from its timestamp to the next.
    Sample(u32),
}

/// A state.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct StateEntity {
    pub id: EntityId,
    pub value: ValueId,
    pub life: TimeRange,
    pub depth: u32,
}

/// A point event.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct EventEntity {
    pub id: EntityId,
    pub value: ValueId,
    pub time: GlobalNanos,
}

/// A link. Without clock correction, it may end before it starts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct LinkEntity {
    pub id: EntityId,
    pub ty: TypeId,
    pub value: ValueId,
    pub start_time: GlobalNanos,
    pub end_time: GlobalNanos,
    pub start: ContainerId,
    pub end: ContainerId,
}

/// A link that starts and never ends, such as a message that is sent and not received. It is
/// pending until the end of the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct OpenLinkEntity {
    pub id: EntityId,
    pub ty: TypeId,
    pub value: ValueId,
    pub start_time: GlobalNanos,
    pub start: ContainerId,
    /// The container at which it should end: that of its field `sent to`, if there is one.
    pub destination: Option<ContainerId>,
}

/// A value of a variable over a time range.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct VariableSample {
    pub id: EntityId,
    pub life: TimeRange,
    pub value: f64,
}

/// A list that may be cut at the caller's limit.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityList<T> {
    /// The total number of entities.
    pub total: u64,
    /// The first entities, at most as many as the limit.
    pub items: Vec<T>,
}

/// A variable over one pixel column.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct SeriesColumn {
    pub min: f64,
    pub max: f64,
    /// The time-weighted mean.
    pub mean: f64,
}

/// A line of the source of the traced program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Path of the file, as recorded.
    pub file: String,
    /// Number of the line.
    pub line: u32,
}

/// All known facts of one entity.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityFacts {
    /// The entity of the query.
    pub id: EntityId,
    /// Name of the value, or of the container; for a sample, its number.
    pub name: String,
    /// Names of the types from the root: `Program > Node > Thread > Activity`.
    pub type_path: Vec<String>,
    /// Names of the containers from the root.
    pub container_path: Vec<String>,
    /// The container of the entity.
    pub container: ContainerId,
    /// Its time range. A point event has `from == to`.
    pub life: TimeRange,
    /// Extra fields, in order: name and text. For links also source, destination and key.
    pub fields: Vec<(String, String)>,
    /// The line of the call that recorded it, if the trace has source positions.
    pub source: Option<SourceLine>,
}

/// The first numbers that no entity of a source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstFreeNumbers {
    /// First free number of states.
    pub state: u32,
    /// First free number of values of variables.
    pub sample: u32,
}
