//! [`TimelineSource`]: the only interface between data and drawing (the queries of the Pajé thesis,
//! §3.4.2.3).
//!
//! The store and the index implement it. Each filter of [`crate::filter`] implements it on top of
//! another source. Views cannot distinguish them. All timestamps are integer nanoseconds. Intervals
//! are half-open.
//!
//! ```
//! use tumit_viewer::query::{PajeTypeKind, StateLaneId, TimelineSource};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let (model, containers) = (store.model(), store.containers());
//! let activity = model.types.iter().find(|ty| ty.kind == PajeTypeKind::State).expect("a type");
//! let thread = containers.iter().find(|info| info.name == "main").expect("a thread");
//! let lane = StateLaneId { container: thread.id, ty: activity.id, depth: 0 };
//! let times = store.times(&[lane], store.extent())?;
//! let name = &model.values[times[0].0.index()].name;
//! assert_eq!((times.len(), name.as_str(), times[0].1), (1, "work", 2_000_000_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
pub(crate) mod counts;
pub(crate) mod details;
mod entities;
mod links;
pub(crate) mod nested_times;
mod places;
mod raw_value;
pub mod replay;
pub mod scan;
mod timestamp_extent;
pub mod tree;
pub mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use tumit_paje::time::GlobalNanos;
pub use tumit_paje::time_range::{OpenTimeRange, TimeRange};
pub use tumit_paje::{
    ContainerId, DiagnosticKind, DiagnosticLocation, DiagnosticSeverity, DrawStyle, MarkShape, PajeTypeKind, RgbColor,
    TraceDiagnostic, TypeId, ValueId,
};

pub(crate) use cells::MixtureCellWriter;
pub use cells::{MixtureCell, MixtureCells, ValueShares};
pub use counts::{EventCount, LinkCount, LinkVisitor};
pub use entities::{
    EntityFacts, EntityId, EntityList, EventEntity, FirstFreeNumbers, LinkEntity, SeriesColumn, StateEntity,
    StateLaneId, VariableSample,
};
pub(crate) use links::{LinkRow, effective_end};
pub use nested_times::NestedTime;
pub(crate) use places::{ContainersByType, types_in};
pub(crate) use raw_value::RawValue;
pub(crate) use timestamp_extent::TimestampExtent;

/// Number of lanes with all their values in memory at a time. Each lane may have thousands of
/// values.
const LANES_AT_ONCE: usize = 64;

/// Number of cells in memory at a time. Each cell may have thousands of shares.
const CELLS_AT_ONCE: usize = 1 << 14;

/// Number of lanes with all their cells in memory at a time.
pub fn lanes_at_once(columns: u32) -> usize {
    (CELLS_AT_ONCE / columns.max(1) as usize).max(1)
}

/// Properties of a whole trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSummary {
    /// Name shown in titles: the name of the file or folder.
    pub name: String,
    /// From the first timestamp to the last.
    pub extent: TimeRange,
    /// Number of containers.
    pub containers: u64,
    /// Number of states.
    pub states: u64,
    /// Number of point events.
    pub events: u64,
    /// Number of complete links.
    pub links: u64,
    /// Number of values of variables.
    pub samples: u64,
    /// Diagnostics for the user, above all errors of the trace, with counts in their texts.
    pub diagnostics: Vec<TraceDiagnostic>,
    /// The wall clock at trace time 0, in nanoseconds since 1970. It is known if the trace is a run
    /// with processes that read that clock.
    pub wall_clock: Option<i64>,
    /// Changes whenever answers may change.
    pub generation: u64,
}

impl TraceSummary {
    /// Whether no data is dropped, missing, damaged, left out or repaired: no diagnostic is an
    /// error.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        !self.diagnostics.iter().any(TraceDiagnostic::is_error)
    }
}

/// A type of the type tree.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TypeInfo {
    /// Its id: its index in [`TypeModel::types`].
    pub id: TypeId,
    /// Container, state, event, variable or link.
    pub kind: PajeTypeKind,
    /// Its parent type. The root is its own parent.
    pub parent: TypeId,
    /// Displayed name.
    pub name: String,
    /// The trace's colour. Types of events, variables and links without one get a chosen colour.
    pub color: Option<RgbColor>,
    /// Shape and size, if the trace defines them.
    pub style: DrawStyle,
}

/// A value of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueInfo {
    /// Its id: its index in [`TypeModel::values`].
    pub id: ValueId,
    /// Its type.
    pub ty: TypeId,
    /// Displayed name.
    pub name: String,
    /// Its colour: the trace's colour, or a chosen one.
    pub color: RgbColor,
    /// Its shape and size: its own, or those of its type, if the trace defines them.
    pub style: DrawStyle,
}

/// The type tree with its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeModel {
    /// Types by id. The root type is first.
    pub types: Vec<TypeInfo>,
    /// Values by id.
    pub values: Vec<ValueInfo>,
}

/// A container instance.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ContainerInfo {
    /// Its id.
    pub id: ContainerId,
    /// Its type.
    pub ty: TypeId,
    /// Its parent. The root is its own parent.
    pub parent: ContainerId,
    /// Number of levels below the root. The root has 0.
    pub depth: u32,
    /// Displayed name.
    pub name: String,
    /// The interval in which it exists.
    pub life: TimeRange,
}

/// The reason why a query has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The id does not exist in this source.
    #[error("no such {kind} exists")]
    Unknown {
        /// The kind of the requested entity.
        kind: &'static str,
    },
    /// The interval is empty or reversed, or there are no columns.
    #[error("the time range is empty")]
    EmptyInterval,
    /// The client has disconnected.
    #[error("the client has disconnected")]
    Cancelled,
    /// The index of the trace is damaged, and cannot be rebuilt.
    #[error(
        "the index of this trace is damaged and could not be rebuilt; check whether the trace \
         still exists and the disk works"
    )]
    Damaged,
    /// The result of a filter does not fit in memory, and its file failed.
    #[error(
        "the result of a filter is too large for memory and could not be written to a temporary \
         file; free space on that disk, or set TMPDIR to another folder"
    )]
    PutAside,
}

/// Maximum number of members of a container that exist at the same time; 1 for a container of the
/// trace.
/// A cell of a lane of the container can contain its width times this number. If that exceeds 64
/// bits of nanoseconds, cells store fractions of it: a full cell contains [`i64::MAX`].
pub fn weight(source: &dyn TimelineSource, container: ContainerId, ty: TypeId) -> usize {
    let members = source.members_with(container, ty);
    let mut edges: Vec<(i64, i32)> =
        members.iter().flat_map(|info| [(info.life.from.0, 1), (info.life.to.0, -1)]).collect();
    // At equal timestamps, ends sort before starts.
    edges.sort_unstable();
    let (mut now, mut most) = (0, 1);
    for (_, change) in edges {
        now += change;
        most = most.max(now);
    }
    usize::try_from(most).unwrap_or(1)
}

/// Total time of each value in some lanes, from their cells of one column.
pub(crate) fn times(
    cells: impl Fn(&[StateLaneId]) -> Result<MixtureCells, QueryError>,
    lanes: &[StateLaneId],
) -> Result<Vec<(ValueId, i64)>, QueryError> {
    let mut times = BTreeMap::new();
    for some in lanes.chunks(LANES_AT_ONCE) {
        for &(value, nanos) in cells(some)?.cells.iter().flat_map(|cell| &cell.shares) {
            *times.entry(value).or_insert(0) += nanos;
        }
    }
    Ok(times.into_iter().collect())
}

/// The queries of views. Each answer is a pure function of the source's state, which
/// [`TraceSummary::generation`] identifies.
pub trait TimelineSource: Send + Sync {
    /// Returns the properties of the whole trace.
    fn summary(&self) -> TraceSummary;

    /// Returns the type tree.
    fn model(&self) -> Arc<TypeModel>;

    /// Returns all containers, depth first. Children are in the order in which they are drawn.
    fn containers(&self) -> Arc<Vec<ContainerInfo>>;

    /// Returns the number of nesting depths of the states of `ty` in `container`; 0 if it has none.
    fn depths(&self, container: ContainerId, ty: TypeId) -> u32;

    /// Returns the types of the states, events and variables that a container may have, in order of
    /// their ids. `None` if the source does not know them. The caller must then try all types. A
    /// trace may have many more types than one container has.
    fn types_in(&self, container: ContainerId) -> Option<Vec<TypeId>> {
        let _ = container;
        None
    }

    /// Returns the exact mixture of values in each column of each lane.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn cells(&self, lanes: &[StateLaneId], interval: TimeRange, columns: u32) -> Result<MixtureCells, QueryError>;

    /// As [`Self::cells`], with at most `most` shares in a cell: exactly the largest, and the sum
    /// of the others.
    ///
    /// If lanes have thousands of values, this costs much less than `cells`, above all in
    /// [aligned](TimeRange::align_to_columns) columns.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn largest(
        &self,
        lanes: &[StateLaneId],
        interval: TimeRange,
        columns: u32,
        most: usize,
    ) -> Result<MixtureCells, QueryError> {
        let mut cells = self.cells(lanes, interval, columns)?;
        cells.cells.iter_mut().for_each(|cell| cell.keep_largest(most));
        Ok(cells)
    }

    /// Returns the total time of each value in some lanes, by value. Only values that occur are
    /// listed.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn times(&self, lanes: &[StateLaneId], interval: TimeRange) -> Result<Vec<(ValueId, i64)>, QueryError> {
        times(|lanes| self.cells(lanes, interval, 1), lanes)
    }

    /// Returns the total and self time of each value of a state type in a container, over all
    /// depths. Only values that occur are listed. See [`NestedTime`].
    ///
    /// # Errors
    /// See [`QueryError`].
    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: TimeRange,
    ) -> Result<Vec<NestedTime>, QueryError> {
        let place = (container, ty, self.depths(container, ty));
        nested_times::sweep(|lane, part, limit| self.states(lane, part, limit), place, interval)
    }

    /// Returns the states of a lane that overlap the interval, by start.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn states(
        &self,
        lane: StateLaneId,
        interval: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError>;

    /// Returns the point events in the interval, by timestamp.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError>;

    /// Returns the links of a type that overlap the interval, by the earlier of their two
    /// timestamps.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn links(&self, ty: TypeId, interval: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError>;

    /// Returns the number of point events in each column, in total and for the `most` most frequent
    /// values.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: TimeRange,
        columns: u32,
        most: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        counts::events(|part, limit| self.events(container, ty, part, limit), interval, columns, most)
    }

    /// Counts the links of a type that overlap the interval, each once.
    /// A link is counted together with links that are equal after both timestamps are rounded down
    /// to multiples of two to the power of `exponent` nanoseconds. The counts are unordered, and
    /// equal links may appear in several counts.
    ///
    /// # Errors
    /// See [`QueryError`], and the errors of `visit`.
    fn link_counts(
        &self,
        ty: TypeId,
        interval: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        counts::links(|part, limit| self.links(ty, part, limit), interval, exponent, visit)
    }

    /// Returns the values of a variable that overlap the interval.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError>;

    /// Returns a variable column by column; `None` if a column has no value.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError>;

    /// Returns the smallest and largest value of a variable type over the whole trace and all
    /// containers.
    fn range(&self, ty: TypeId) -> Option<(f64, f64)>;

    /// Returns all facts of one entity.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError>;

    /// As [`Self::facts`], for callers that need only fields and source location.
    /// Paths, and the fields that contain paths, may be empty. In a trace with long paths, they
    /// take most of the time.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn facts_without_paths(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        self.facts(id)
    }

    /// Returns the entities that are related to one.
    /// These are the states at which a reference field points at that time, and the reverse; the
    /// links that start or end in a state; and the states at both endpoints of a link.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError>;

    /// Returns the interval from the first timestamp to the last. It equals that of the summary,
    /// without counting entities.
    fn extent(&self) -> TimeRange {
        self.summary().extent
    }

    /// Returns the members of a container that is a group. A container of the trace has none.
    ///
    /// A lane of a group contains the states of all its members. If the members exist at the same
    /// time, their states may overlap. A cell may then contain up to its width times the number of
    /// members.
    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        let _ = container;
        Vec::new()
    }

    /// Returns the members of a container with regard to entities of one type. There are none if
    /// the entities belong to the container itself, as the results of a reduction over a group do.
    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        let _ = ty;
        self.members(container)
    }

    /// Whether entities of a value may appear. They may not if a filter removes them.
    fn shows(&self, value: ValueId) -> bool {
        let _ = value;
        true
    }

    /// Whether a lane has more than `most` states in an interval, so that it is better drawn from
    /// its cells.
    /// A filter may also return `true` if counting would cost more than drawing. Cells are exact in
    /// any case.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn is_dense(&self, lane: StateLaneId, interval: TimeRange, most: usize) -> Result<bool, QueryError> {
        Ok(self.states(lane, interval, 0)?.total > most as u64)
    }

    /// Returns the first numbers that no entity of this source has. A filter numbers its own
    /// entities from there.
    fn free_numbers(&self) -> FirstFreeNumbers {
        let summary = self.summary();
        let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        FirstFreeNumbers { state: number(summary.states), sample: number(summary.samples) }
    }
}
