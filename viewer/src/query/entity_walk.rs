//! Visits all entities of a list in pages, so that the whole list is never in memory.
//!
//! ```
//! use tumit_viewer::query::{ContainerId, StateLaneId, TimelineSource, TypeId, entity_walk};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let (mut count, lane) = (0, StateLaneId { container: ContainerId(1), ty: TypeId(2), depth: 0 });
//! entity_walk::states(&store, lane, store.extent(), |_state| {
//!     count += 1;
//!     Ok(())
//! })?;
//! assert_eq!(count, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::TimeRange;
use tumit_paje::{ContainerId, TypeId};

use super::entity_pages;
use super::lane_merge::{self, InstantStates};
use super::{EventEntity, LinkEntity, QueryError, StateEntity, StateLaneId, TimelineSource, VariableSample};

/// The unlimited time range.
pub(crate) const EVER: TimeRange = TimeRange { from: GlobalNanos(i64::MIN), to: GlobalNanos(i64::MAX) };

/// Visits the states of a lane that overlap a time range, by start. It costs as much as listing
/// them.
///
/// # Errors
/// As [`TimelineSource::states`], and the errors of `visit`.
pub fn states(
    source: &dyn TimelineSource,
    lane: StateLaneId,
    time_range: TimeRange,
    mut visit: impl FnMut(&StateEntity) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let key = |state: &StateEntity| (state.id, state.life.from.0);
    entity_pages::visit(time_range, |time_range, limit| source.states(lane, time_range, limit), key, &mut visit)
}

/// Visits point events in a time range, by timestamp.
///
/// # Errors
/// As [`TimelineSource::events`], and the errors of `visit`.
pub fn events(
    source: &dyn TimelineSource,
    (container, ty): (ContainerId, TypeId),
    time_range: TimeRange,
    mut visit: impl FnMut(&EventEntity) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let key = |mark: &EventEntity| (mark.id, mark.time.0);
    entity_pages::visit(
        time_range,
        |time_range, limit| source.events(container, ty, time_range, limit),
        key,
        &mut visit,
    )
}

/// Visits the links of a type that overlap a time range, by the earlier of their timestamps.
///
/// # Errors
/// As [`TimelineSource::links`], and the errors of `visit`.
pub fn links(
    source: &dyn TimelineSource,
    ty: TypeId,
    time_range: TimeRange,
    mut visit: impl FnMut(&LinkEntity) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let key = |link: &LinkEntity| (link.id, link.start_time.0.min(link.end_time.0));
    entity_pages::visit(time_range, |time_range, limit| source.links(ty, time_range, limit), key, &mut visit)
}

/// Visits the values of a variable that overlap a time range, by start.
///
/// # Errors
/// As [`TimelineSource::samples`], and the errors of `visit`.
pub fn samples(
    source: &dyn TimelineSource,
    (container, ty): (ContainerId, TypeId),
    time_range: TimeRange,
    mut visit: impl FnMut(&VariableSample) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let key = |sample: &VariableSample| (sample.id, sample.life.from.0);
    entity_pages::visit(
        time_range,
        |time_range, limit| source.samples(container, ty, time_range, limit),
        key,
        &mut visit,
    )
}

/// Visits the states of all nesting depths of a type in a container that overlap a time range and
/// have a duration, by start. At equal starts, outer states come first.
///
/// # Errors
/// As [`TimelineSource::states`], and the errors of `visit`.
pub fn nested_states(
    source: &dyn TimelineSource,
    (container, ty): (ContainerId, TypeId),
    time_range: TimeRange,
    mut visit: impl FnMut(&StateEntity) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let lanes = (0..source.depths(container, ty)).map(|depth| (StateLaneId { container, ty, depth }, time_range));
    merged_states(source, lanes, |state, _| visit(state))
}

/// As [`nested_states`], with states that have no duration. They come after the outer states of the
/// same start.
///
/// # Errors
/// As [`TimelineSource::states`], and the errors of `visit`.
pub fn nested_states_and_instants(
    source: &dyn TimelineSource,
    (container, ty): (ContainerId, TypeId),
    time_range: TimeRange,
    mut visit: impl FnMut(&StateEntity) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let lanes = (0..source.depths(container, ty)).map(|depth| (StateLaneId { container, ty, depth }, time_range));
    let list = |lane, time_range, limit| source.states(lane, time_range, limit);
    lane_merge::visit_lanes(list, lanes, InstantStates::Included, |state, _| visit(state))
}

/// Visits the states of several lanes that have a duration, by start. Each lane has a time range,
/// such as the life of its container: the states that overlap it are visited, and their starts
/// count from its start on. At equal starts, states of earlier lanes come first.
///
/// # Errors
/// As [`TimelineSource::states`], and the errors of `visit`.
pub fn merged_states(
    source: &dyn TimelineSource,
    lanes: impl ExactSizeIterator<Item = (StateLaneId, TimeRange)>,
    visit: impl FnMut(&StateEntity, TimeRange) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let list = |lane, time_range, limit| source.states(lane, time_range, limit);
    lane_merge::visit_lanes(list, lanes, InstantStates::Excluded, visit)
}
