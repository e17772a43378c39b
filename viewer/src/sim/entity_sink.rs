//! [`EntitySink`]: the receiver of entities from the simulation. It receives each entity when the
//! entity has ended.

use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ExtraField, FieldSet, SourcePosition, TypeId, ValueId};
use tumit_spill::endpoint_map::OverflowStore;

use crate::query::{ContainerInfo, LinkRow, OpenLinkRow, TimeRange, TypeInfo};

/// The states, the events or the variable of one type in one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EntityPlace {
    /// Its number among the places of its kind, from 0, in order of first use.
    pub number: u32,
    /// The container of all entities of the place.
    pub container: ContainerId,
    /// Their type.
    pub ty: TypeId,
}

/// A state with its final time range.
#[derive(Clone, Copy, Debug)]
pub struct EndedState {
    /// From the operation that began it to the one that ended it, or to the end of its container.
    pub life: TimeRange,
    /// Number of enclosing states.
    pub depth: u32,
    /// An id of the model.
    pub value: ValueId,
    /// The number that [`EntitySink::detail`] gave to its extra fields and source position.
    pub detail: u32,
    /// Position among the states of its place that began before timestamp 0, in order of beginning,
    /// from 1. It is 0 for other states.
    pub early_position: u32,
}

/// A link with both endpoints.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct EndedLink {
    pub container: ContainerId,
    pub ty: TypeId,
    pub value: ValueId,
    pub start_time: GlobalNanos,
    pub end_time: GlobalNanos,
    pub start: ContainerId,
    pub end: ContainerId,
    pub key: u64,
    pub detail: u32,
}

impl EndedLink {
    pub(crate) fn row(&self) -> LinkRow {
        let Self { container, ty: _, value, start_time, end_time, start, end, key, detail } = *self;
        let (start_time, end_time) = (start_time.0, end_time.0);
        LinkRow { start_time, end_time, key, value, holder: container, start, end, detail }
    }
}

/// The start of a link that never ends.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct OpenLinkStart {
    pub container: ContainerId,
    pub ty: TypeId,
    pub value: ValueId,
    pub time: GlobalNanos,
    pub start: ContainerId,
    pub key: u64,
    pub detail: u32,
}

impl OpenLinkStart {
    pub(crate) fn row(&self) -> OpenLinkRow {
        let &Self { container, ty, value, time, start, key, detail } = self;
        OpenLinkRow { ty, start_time: time.0, key, value, holder: container, start, detail }
    }
}

/// Receives entities. Types, values and containers come before the entities that refer to them.
///
/// The receiver stores extra fields and source positions while their entity is open. The simulation
/// refers to them by number; 0 means none. Each number is used exactly once: by the entity that
/// ends with it, by [`Self::join`] or by [`Self::free_detail`].
pub trait EntitySink {
    /// Maximum number of entities.
    const MOST: u64 = u64::MAX;

    /// Announces the fields that entities will have.
    fn announce(&mut self, shape: &FieldSet<'_>) {
        let _ = shape;
    }

    /// Called when a type is defined.
    fn define_type(&mut self, ty: &TypeInfo) {
        let _ = ty;
    }

    /// Called when a value is defined or redefined.
    fn define_value(&mut self, value: ValueId, name: &str) {
        let _ = (value, name);
    }

    /// Called when a container is created.
    fn create(&mut self, container: &ContainerInfo) {
        let _ = container;
    }

    /// Stores extra fields and source position of an entity, and returns their number.
    fn detail(&mut self, extra: &[ExtraField<'_>], source: Option<SourcePosition<'_>>) -> u32;

    /// Called when a state with this number begins that is a part of a collective operation.
    fn part(&mut self, detail: u32, operation: u64) {
        let _ = (detail, operation);
    }

    /// Joins the details of both endpoints of a link, and returns a number for them.
    fn join(&mut self, start: u32, end: u32) -> u32;

    /// Called when the link endpoint with this number starts to wait, possibly for ever. The
    /// containers that it refers to are no longer needed.
    fn wait(&mut self, detail: u32) {
        let _ = detail;
    }

    /// The limit of waiting link endpoints in memory, and the location of further ones.
    fn overflow(&self) -> OverflowStore {
        OverflowStore::default()
    }

    /// Called when no entity will use this number.
    fn free_detail(&mut self, detail: u32) {
        let _ = detail;
    }

    /// Gives the text of a link key, before the first endpoint with this key.
    fn name_key(&mut self, key: u64, text: &str) {
        let _ = (key, text);
    }

    /// Called when no further endpoint waits with this key.
    fn forget_key(&mut self, key: u64) {
        let _ = key;
    }

    /// Called when a container and everything in it have ended.
    fn container(&mut self, container: &ContainerInfo, detail: u32) {
        let _ = (container, detail);
    }

    /// Receives an ended state. States of one place and depth come in order.
    fn state(&mut self, place: EntityPlace, state: EndedState);

    /// Receives a point event. Events of one place come in the order of the trace.
    fn event(&mut self, place: EntityPlace, time: GlobalNanos, value: ValueId, detail: u32);

    /// Receives a value of a variable with its time range. Values of one place come in order.
    fn sample(&mut self, place: EntityPlace, life: TimeRange, value: f64);

    /// Receives a link when both endpoints are known.
    fn link(&mut self, link: &EndedLink);

    /// Whether links that never end are kept. If so, the sink receives them by
    /// [`Self::open_link`].
    fn keeps_open_links(&self) -> bool {
        false
    }

    /// Receives a link that starts and never ends, when the trace ends. They come in no order.
    fn open_link(&mut self, link: &OpenLinkStart) {
        let _ = link;
    }

    /// Called after each operation.
    ///
    /// # Errors
    /// If the received entities cannot be written.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Whether all received entities can be discarded with [`Self::restart`]. If so, a run may
    /// be read only once instead of twice.
    fn can_restart(&self) -> bool {
        false
    }

    /// Discards everything received. Types, values and containers then come again.
    ///
    /// # Errors
    /// If discarding is not possible.
    fn restart(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Called when the trace and everything in it have ended.
    ///
    /// # Errors
    /// See [`Self::flush`].
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
