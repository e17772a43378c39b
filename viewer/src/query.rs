//! [`TimelineSource`]: the one door between data and drawing (the queries of the Pajé thesis, §3.4.2.3).
//!
//! The store and the index implement it; each filter of [`crate::filter`] implements it around another one. Views cannot tell the
//! difference. All dates are integer nanoseconds; intervals are half-open.

mod cells;
pub(crate) mod counts;
pub(crate) mod details;
mod entities;
mod links;
pub(crate) mod nested;
mod places;
mod raw_value;
pub mod replay;
pub mod scan;
pub mod tree;
pub mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use tumit_paje::time::GlobalNanos;
pub use tumit_paje::{Color, ContainerId, Look, MarkShape, TypeId, TypeKind, ValueId};

pub(crate) use cells::CellWriter;
pub use cells::{Cell, Cells, Shares};
pub use counts::{EventCount, LinkCount, LinkVisitor};
pub use entities::{EntityId, Facts, FreeNumbers, Lane, Link, Listed, Mark, Sample, SeriesColumn, State};
pub(crate) use links::{LinkRow, effective_end};
pub use nested::NestedTime;
pub(crate) use places::{ContainersByType, types_in};
pub(crate) use raw_value::RawValue;

/// Lanes of which all values are held at once, as each may have thousands.
const LANES_AT_ONCE: usize = 64;

/// So many cells are held at once, as each may have thousands of shares.
const CELLS_AT_ONCE: usize = 1 << 14;

/// Of how many lanes the cells are held at once.
pub fn lanes_at_once(columns: u32) -> usize {
    (CELLS_AT_ONCE / columns.max(1) as usize).max(1)
}

/// A half-open interval of time, `from <= t < to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Interval {
    pub from: GlobalNanos,
    pub to: GlobalNanos,
}

impl Interval {
    /// Column `index` of `columns` equal ones; never narrower than 1 ns, so that no column shows nothing where there is something.
    /// All sources cut intervals this way.
    #[must_use]
    pub fn column(self, index: u32, columns: u32) -> Self {
        let width = i128::from(self.to.0) - i128::from(self.from.0);
        let edge = |at: u32| {
            let edge = i128::from(self.from.0) + width * i128::from(at) / i128::from(columns.max(1));
            i64::try_from(edge).unwrap_or(self.to.0)
        };
        let from = edge(index);
        Self { from: GlobalNanos(from), to: GlobalNanos(edge(index.saturating_add(1)).max(from.saturating_add(1))) }
    }

    /// All that [`Self::column`] gives for `columns` equal ones, from left to right, without a division for each.
    pub(crate) fn columns(self, columns: u32) -> impl Iterator<Item = Self> + Clone {
        let (from, width) = (self.from.0, self.to.0.wrapping_sub(self.from.0).cast_unsigned());
        let of = u64::from(columns.max(1));
        let (step, part) = (width / of, width % of);
        let (mut edge, mut parts) = (from, 0);
        (0..columns).map(move |_| {
            let from = edge;
            parts += part;
            let carry = parts >= of;
            parts -= if carry { of } else { 0 };
            edge = edge.wrapping_add_unsigned(step + u64::from(carry));
            Self { from: GlobalNanos(from), to: GlobalNanos(edge.max(from.saturating_add(1))) }
        })
    }

    /// The columns that cover this interval, no narrower than `columns` equal ones would be and less than twice as wide, whose
    /// edges are multiples of a power of two of nanoseconds: sources have sums of such columns, and they stay where they are when a
    /// picture is moved. Gives from where to where they go, and how many they are: at most one more than `columns`.
    ///
    /// Where dates are so large that there are none: the interval and `columns` themselves.
    #[must_use]
    pub fn aligned(self, columns: u32) -> (Self, u32) {
        let width = i128::from(self.to.0) - i128::from(self.from.0);
        let least = width.div_euclid(i128::from(columns.max(1))).max(1);
        // The least power of two that is not below the width of a column.
        let exact = i128::from(columns.max(1)) * least == width;
        let step = if exact { least } else { least + 1 }.cast_unsigned().next_power_of_two().cast_signed();
        let first = i128::from(self.from.0).div_euclid(step);
        let last = (i128::from(self.to.0) - 1).div_euclid(step) + 1;
        let edge = |at: i128| i64::try_from(at * step).map(GlobalNanos);
        match (edge(first), edge(last), u32::try_from(last - first)) {
            (Ok(from), Ok(to), Ok(columns)) => (Self { from, to }, columns),
            _ => (self, columns),
        }
    }
}

/// What a trace is, as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Name shown in titles: the file's or folder's.
    pub name: String,
    /// From the first date to the last.
    pub extent: Interval,
    /// Numbers of entities.
    pub containers: u64,
    /// Of states.
    pub states: u64,
    /// Of point events.
    pub events: u64,
    /// Of complete links.
    pub links: u64,
    /// Of values of variables.
    pub samples: u64,
    /// What a user should know of the trace, above all what was wrong with it: sentences with counts.
    pub remarks: Vec<String>,
    /// Whether nothing was lost, damaged, left out or mended: what the remarks then say is for information.
    pub intact: bool,
    /// The real time of trace time 0, nanoseconds since 1970, if the trace is a run whose processes
    /// read that clock.
    pub wall_clock: Option<i64>,
    /// Changes whenever answers may change.
    pub generation: u64,
}

/// A type of the type tree.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TypeInfo {
    /// Its id: the position in [`Model::types`].
    pub id: TypeId,
    /// Container, state, event, variable or link.
    pub kind: TypeKind,
    /// Its parent type; the root's is itself.
    pub parent: TypeId,
    /// Name to show.
    pub name: String,
    /// Colour given by the trace; else one that was chosen for types of events, variables and links.
    pub color: Option<Color>,
    /// Shape and size, as far as the trace says.
    pub look: Look,
}

/// A value of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueInfo {
    /// Its id: the position in [`Model::values`].
    pub id: ValueId,
    /// The type it belongs to.
    pub ty: TypeId,
    /// Name to show.
    pub name: String,
    /// Its colour: the trace's, or one that was chosen for it.
    pub color: Color,
    /// Its shape and size: its own, else those of its type, as far as the trace says.
    pub look: Look,
}

/// The type tree with its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Types by id; the root type first.
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
    /// Its parent; the root's is itself.
    pub parent: ContainerId,
    /// Levels below the root; the root has 0.
    pub depth: u32,
    /// Name to show.
    pub name: String,
    /// When it existed.
    pub life: Interval,
}

/// Why a query has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The id is not of this source.
    #[error("there is no such {what} in this trace")]
    Unknown {
        /// What was asked for.
        what: &'static str,
    },
    /// The interval is empty or reversed, or there are no columns.
    #[error("the interval is empty")]
    EmptyInterval,
    /// Whoever asked has gone meanwhile.
    #[error("nobody waits for the answer any more")]
    NotAwaited,
    /// The index of the trace is no longer as it was written, and could not be made anew.
    #[error(
        "the index of this trace is damaged and could not be made anew: is the trace still there, and the disk sound?"
    )]
    Damaged,
    /// What a filter made did not fit in memory, and its file failed.
    #[error(
        "what a filter made is too large for memory, and could not be put aside in the folder for temporary files: \
         is there room on that disk? TMPDIR names another folder"
    )]
    PutAside,
}

/// How many of the containers that one stands for live at once, at most; 1 for a container of the trace. So many times its width a cell
/// of such a lane can hold. Where that is more than 64 bits of nanoseconds, cells are of parts of it: a full one holds [`i64::MAX`].
pub fn weight(source: &dyn TimelineSource, container: ContainerId, ty: TypeId) -> usize {
    let members = source.members_with(container, ty);
    let mut edges: Vec<(i64, i32)> =
        members.iter().flat_map(|info| [(info.life.from.0, 1), (info.life.to.0, -1)]).collect();
    // At one date, ends come before starts.
    edges.sort_unstable();
    let (mut now, mut most) = (0, 1);
    for (_, change) in edges {
        now += change;
        most = most.max(now);
    }
    usize::try_from(most).unwrap_or(1)
}

/// Time of each value in some lanes together, from their cells of one column.
pub(crate) fn times(
    cells: impl Fn(&[Lane]) -> Result<Cells, QueryError>,
    lanes: &[Lane],
) -> Result<Vec<(ValueId, i64)>, QueryError> {
    let mut times = BTreeMap::new();
    for some in lanes.chunks(LANES_AT_ONCE) {
        for &(value, nanos) in cells(some)?.cells.iter().flat_map(|cell| &cell.shares) {
            *times.entry(value).or_insert(0) += nanos;
        }
    }
    Ok(times.into_iter().collect())
}

/// The queries. Every answer is a pure function of the source's state, which [`Summary::generation`] stands for.
pub trait TimelineSource: Send + Sync {
    /// The trace as a whole.
    fn summary(&self) -> Summary;

    /// The type tree.
    fn model(&self) -> Arc<Model>;

    /// All containers, depth first; children in the order in which they should be drawn.
    fn containers(&self) -> Arc<Vec<ContainerInfo>>;

    /// Number of nesting depths that states of `ty` reach in `container`; 0 when it has none.
    fn depths(&self, container: ContainerId, ty: TypeId) -> u32;

    /// The types of which a container may have states, events or values of a variable, in order of ids. `None` if the
    /// source does not know, so that any type must be tried. A trace may have many more types than one container has.
    fn types_in(&self, container: ContainerId) -> Option<Vec<TypeId>> {
        let _ = container;
        None
    }

    /// The exact mixture of values in each column of each lane.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError>;

    /// As [`Self::cells`], with no more than `most` shares in a cell: exactly the largest, and how much the others have together.
    ///
    /// Where lanes have thousands of values, this costs much less than all of them, above all in columns that are
    /// [aligned](Interval::aligned).
    ///
    /// # Errors
    /// See [`QueryError`].
    fn largest(&self, lanes: &[Lane], interval: Interval, columns: u32, most: usize) -> Result<Cells, QueryError> {
        let mut cells = self.cells(lanes, interval, columns)?;
        cells.cells.iter_mut().for_each(|cell| cell.keep(most));
        Ok(cells)
    }

    /// Time of each value in some lanes together, by value; only values that occur.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn times(&self, lanes: &[Lane], interval: Interval) -> Result<Vec<(ValueId, i64)>, QueryError> {
        times(|lanes| self.cells(lanes, interval, 1), lanes)
    }

    /// Total and self time of each value of a state type in a container, over all depths. Only
    /// values that occur are listed. See [`NestedTime`].
    ///
    /// # Errors
    /// See [`QueryError`].
    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
    ) -> Result<Vec<NestedTime>, QueryError> {
        let place = (container, ty, self.depths(container, ty));
        nested::sweep(|lane, part, limit| self.states(lane, part, limit), place, interval)
    }

    /// States of a lane that overlap the interval, by start.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError>;

    /// Point events in the interval, by date.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Mark>, QueryError>;

    /// Links of a type that overlap the interval, by the earlier of their two dates.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn links(&self, ty: TypeId, interval: Interval, limit: usize) -> Result<Listed<Link>, QueryError>;

    /// How many point events are in each column, and of which values: no more than `most` of them in a column, the most frequent.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
        most: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        counts::events(|part, limit| self.events(container, ty, part, limit), interval, columns, most)
    }

    /// Counts the links of a type that overlap the interval: each once, with others that are alike when both ends are told to stretches of
    /// two to the power of `exponent` nanoseconds. They come in no order, and those that are alike may come in several parts.
    ///
    /// # Errors
    /// See [`QueryError`], and what `visit` gives.
    fn link_counts(
        &self,
        ty: TypeId,
        interval: Interval,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        counts::links(|part, limit| self.links(ty, part, limit), interval, exponent, visit)
    }

    /// Values of a variable that overlap the interval.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Sample>, QueryError>;

    /// A variable column by column; `None` where it has no value.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError>;

    /// Smallest and largest value of a variable type over the whole trace, all containers together.
    fn range(&self, ty: TypeId) -> Option<(f64, f64)>;

    /// Everything about one entity.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn facts(&self, id: EntityId) -> Result<Facts, QueryError>;

    /// As [`Self::facts`], for a reader of fields and source position: paths, and the fields that have some, may be empty.
    /// In a trace with long paths they take most of the time.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn facts_without_paths(&self, id: EntityId) -> Result<Facts, QueryError> {
        self.facts(id)
    }

    /// Entities related to this one: the states that a reference field names at that date, and the other way round; the
    /// links that end or start in a state; the states at both ends of a link (thesis P79, papers S22).
    ///
    /// # Errors
    /// See [`QueryError`].
    fn related(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError>;

    /// From the first date to the last: that of the summary, without counting anything.
    fn extent(&self) -> Interval {
        self.summary().extent
    }

    /// The containers that one stands for, when it is a group of them; none for a container of the trace.
    ///
    /// A lane of a group holds the states of all its members. When the lives of members overlap, so may the states, and a cell
    /// may hold up to as many times its width as there are members.
    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        let _ = container;
        Vec::new()
    }

    /// The containers that one stands for, as far as entities of this type go: none where they belong to the container itself, as the results of a
    /// reduction over a group do.
    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        let _ = ty;
        self.members(container)
    }

    /// Whether entities of a value may appear at all: not when a filter leaves them out.
    fn shows(&self, value: ValueId) -> bool {
        let _ = value;
        true
    }

    /// Whether a lane has more than `most` states in an interval, so that it is better drawn from its cells. A filter may say so, too,
    /// when the number would cost more to find than the picture: cells are exact in any case.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn is_dense(&self, lane: Lane, interval: Interval, most: usize) -> Result<bool, QueryError> {
        Ok(self.states(lane, interval, 0)?.total > most as u64)
    }

    /// The first numbers that no entity of this source has: where a filter may number its own.
    fn free_numbers(&self) -> FreeNumbers {
        let summary = self.summary();
        let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        FreeNumbers { state: number(summary.states), sample: number(summary.samples) }
    }
}
