//! Finds the link types that continue states, by state type.
//!
//! A trace may have many types of both. The states of each type are therefore looked up once, at
//! the endpoints of all examined links.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::query::entity_walk;
use crate::query::{
    ContainerId, EntityId, LinkEntity, PajeTypeKind, QueryError, StateEntity, StateLaneId, TimeRange, TimelineSource,
    TypeId, TypeModel, ValueId, types_in,
};

/// Number of links of a type that are examined for continuations.
const EXAMINED: usize = 100;

/// The link types that continue states of each state type. Most of the first links of such a link
/// type are continuations.
#[derive(Debug, Default)]
pub(crate) struct ContinuationTypes {
    pub(crate) by_type: FxHashMap<TypeId, Vec<TypeId>>,
}

/// A container and a timestamp at which a link starts or ends.
type LinkPoint = (ContainerId, i64);

/// The states that end or begin at a point, by type and value. The ids show whether the ending and
/// the beginning state are the same, because no state continues itself.
#[derive(Default)]
struct TouchingStates {
    ends: FxHashMap<(TypeId, ValueId), FirstIds>,
    begins: FxHashMap<(TypeId, ValueId), FirstIds>,
}

/// The first of the states with one type and value, and whether there are others.
#[derive(Clone, Copy)]
struct FirstIds {
    first: EntityId,
    has_others: bool,
}

impl ContinuationTypes {
    /// Examines the links and states of a source.
    ///
    /// # Errors
    /// As [`TimelineSource::states`] and [`TimelineSource::links`].
    pub(crate) fn find(source: &dyn TimelineSource) -> Result<Self, QueryError> {
        let (model, extent) = (source.model(), full_extent(source));
        let mut samples: Vec<(TypeId, Vec<LinkEntity>)> = Vec::new();
        for ty in model.types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
            let links = source.links(ty.id, extent, EXAMINED)?.items;
            if !links.is_empty() {
                samples.push((ty.id, links));
            }
        }
        let states_by_point = touching_states(source, &model, &samples)?;
        let mut cache: FxHashMap<(LinkPoint, LinkPoint), Vec<TypeId>> = FxHashMap::default();
        let mut continuations = Self::default();
        for (link, samples_of_link) in &samples {
            let mut counts: FxHashMap<TypeId, usize> = FxHashMap::default();
            for sample in samples_of_link {
                let (start, end) = ((sample.start, sample.start_time.0), (sample.end, sample.end_time.0));
                let types = cache.entry((start, end)).or_insert_with(|| continued_types(&states_by_point, start, end));
                types.iter().for_each(|ty| *counts.entry(*ty).or_default() += 1);
            }
            for (ty, _) in counts.into_iter().filter(|(_, count)| count * 2 > samples_of_link.len()) {
                continuations.by_type.entry(ty).or_default().push(*link);
            }
        }
        Ok(continuations)
    }
}

/// The extent of a source, including its last timestamp.
pub(crate) fn full_extent(source: &dyn TimelineSource) -> TimeRange {
    let mut extent = source.extent();
    extent.to.0 = extent.to.0.saturating_add(1);
    extent
}

/// The states at the endpoints of links.
fn touching_states(
    source: &dyn TimelineSource,
    model: &TypeModel,
    samples: &[(TypeId, Vec<LinkEntity>)],
) -> Result<FxHashMap<LinkPoint, TouchingStates>, QueryError> {
    let mut times: BTreeMap<ContainerId, BTreeSet<i64>> = BTreeMap::new();
    for link in samples.iter().flat_map(|(_, links)| links) {
        times.entry(link.start).or_default().insert(link.start_time.0);
        times.entry(link.end).or_default().insert(link.end_time.0);
    }
    let mut states = FxHashMap::default();
    for (container, times) in times {
        for ty in types_in(source, model, container).into_iter().filter(|ty| ty.kind == PajeTypeKind::State) {
            for depth in 0..source.depths(container, ty.id) {
                touching_in(source, StateLaneId { container, ty: ty.id, depth }, &times, &mut states)?;
            }
        }
    }
    Ok(states)
}

/// Adds the states of a lane. It is read whole if it has fewer states than there are timestamps.
fn touching_in(
    source: &dyn TimelineSource,
    lane: StateLaneId,
    times: &BTreeSet<i64>,
    states: &mut FxHashMap<LinkPoint, TouchingStates>,
) -> Result<(), QueryError> {
    let mut add = |state: &StateEntity| {
        let (key, ids) = ((lane.ty, state.value), FirstIds { first: state.id, has_others: false });
        let mut note = |time: i64, is_end: bool| {
            if times.contains(&time) {
                let touching_states = states.entry((lane.container, time)).or_default();
                let of = (if is_end { &mut touching_states.ends } else { &mut touching_states.begins }).entry(key);
                of.and_modify(|earlier| earlier.has_others |= earlier.first != state.id).or_insert(ids);
            }
        };
        note(state.life.to.0, true);
        note(state.life.from.0, false);
    };
    let extent = full_extent(source);
    if source.states(lane, extent, 0)?.total <= times.len() as u64 {
        return entity_walk::states(source, lane, extent, |state| {
            add(state);
            Ok(())
        });
    }
    for &time in times {
        let mut instant = extent;
        (instant.from.0, instant.to.0) = (time.saturating_sub(1), time.saturating_add(1));
        source.states(lane, instant, EXAMINED)?.items.iter().for_each(&mut add);
    }
    Ok(())
}

/// The types that have a state that ends at the start of a link and another state of the same value
/// that begins at the link's end.
fn continued_types(
    states_by_point: &FxHashMap<LinkPoint, TouchingStates>,
    start: LinkPoint,
    end: LinkPoint,
) -> Vec<TypeId> {
    let (Some(start), Some(end)) = (states_by_point.get(&start), states_by_point.get(&end)) else { return Vec::new() };
    let (few, many) =
        if start.ends.len() <= end.begins.len() { (&start.ends, &end.begins) } else { (&end.begins, &start.ends) };
    let differs = |first_ids: &FirstIds, second_ids: &FirstIds| {
        first_ids.has_others || second_ids.has_others || first_ids.first != second_ids.first
    };
    let is_there = |(of, first_ids): &(&(TypeId, ValueId), &FirstIds)| {
        many.get(of).is_some_and(|second_ids| differs(first_ids, second_ids))
    };
    let mut types: Vec<TypeId> = few.iter().filter(is_there).map(|(of, _)| of.0).collect();
    types.sort_unstable();
    types.dedup();
    types
}
