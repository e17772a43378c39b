//! Entities of a trace: lanes, states, events, links and values of variables.

use super::{ContainerId, GlobalNanos, Interval, TypeId, ValueId};

/// A line of entities that never overlap each other: one nesting depth of one state type of one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lane {
    /// The container.
    pub container: ContainerId,
    /// The state type.
    pub ty: TypeId,
    /// Nesting depth, from 0.
    pub depth: u32,
}

/// An entity or container that can be pointed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntityId {
    /// A container.
    Container(ContainerId),
    /// A state, by its number in the store.
    State(u32),
    /// A point event.
    Event(u32),
    /// A link.
    Link(u32),
    /// A value of a variable, from its date to the next.
    Sample(u32),
}

/// A state.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct State {
    pub id: EntityId,
    pub value: ValueId,
    pub life: Interval,
    pub depth: u32,
}

/// A point event.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Mark {
    pub id: EntityId,
    pub value: ValueId,
    pub time: GlobalNanos,
}

/// A link. Its end may come before its start when clocks were not corrected.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Link {
    pub id: EntityId,
    pub ty: TypeId,
    pub value: ValueId,
    pub start_time: GlobalNanos,
    pub end_time: GlobalNanos,
    pub start: ContainerId,
    pub end: ContainerId,
}

/// A value of a variable over an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Sample {
    pub id: EntityId,
    pub life: Interval,
    pub value: f64,
}

/// A list that may have been cut at the asker's limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed<T> {
    /// How many there are.
    pub total: u64,
    /// The first of them, at most as many as asked for.
    pub items: Vec<T>,
}

/// A variable over one column of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SeriesColumn {
    pub min: f64,
    pub max: f64,
    /// Time-weighted.
    pub mean: f64,
}

/// All that is known of one entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// What was asked about.
    pub id: EntityId,
    /// Name of the value, or of the container; for a sample, its number.
    pub name: String,
    /// Names of the types from the root: `Program > Node > Thread > Activity`.
    pub type_path: Vec<String>,
    /// Names of the containers from the root.
    pub container_path: Vec<String>,
    /// The container that holds it.
    pub container: ContainerId,
    /// When it was. A point event has `from == to`.
    pub life: Interval,
    /// Extra fields, in order: name and text. For links also source, destination and key.
    pub fields: Vec<(String, String)>,
    /// Where in the source: file and line.
    pub source: Option<(String, u32)>,
}

/// The first numbers that no entity of a source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeNumbers {
    /// Of states.
    pub state: u32,
    /// Of values of variables.
    pub sample: u32,
}
