//! Which types of links continue states of which types.
//!
//! A trace may have many types of both: the states of each type are looked up once, at the endpoints of all links that are
//! looked at.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::query::walk;
use crate::query::{
    ContainerId, EntityId, Interval, Lane, Link, Model, QueryError, State, TimelineSource, TypeId, TypeKind, ValueId,
    types_in,
};

/// Links of a type that are looked at to decide whether it has continuations.
const LOOKED_AT: usize = 100;

/// The types of links that continue states of each type: most of the first links of such a type do.
#[derive(Debug, Default)]
pub struct Continuations {
    pub(crate) by_type: FxHashMap<TypeId, Vec<TypeId>>,
}

/// A container and a timestamp at which a link starts or ends.
type Point = (ContainerId, i64);

/// The states that end or begin at a point, by type and value. The ids tell whether the ending and
/// the beginning state are the same, because no state continues itself.
#[derive(Default)]
struct Touching {
    ends: FxHashMap<(TypeId, ValueId), Ids>,
    begins: FxHashMap<(TypeId, ValueId), Ids>,
}

/// The first of the states with one type and value, and whether there are others.
#[derive(Clone, Copy)]
struct Ids {
    first: EntityId,
    several: bool,
}

impl Continuations {
    /// Finds them.
    ///
    /// # Errors
    /// As [`TimelineSource::states`] and [`TimelineSource::links`].
    pub(crate) fn find(source: &dyn TimelineSource) -> Result<Self, QueryError> {
        let (model, extent) = (source.model(), whole(source));
        let mut samples: Vec<(TypeId, Vec<Link>)> = Vec::new();
        for ty in model.types.iter().filter(|ty| matches!(ty.kind, TypeKind::Link { .. })) {
            let some = source.links(ty.id, extent, LOOKED_AT)?.items;
            if !some.is_empty() {
                samples.push((ty.id, some));
            }
        }
        let touching = touching(source, &model, &samples)?;
        let mut known: FxHashMap<(Point, Point), Vec<TypeId>> = FxHashMap::default();
        let mut found = Self::default();
        for (link, some) in &samples {
            let mut counts: FxHashMap<TypeId, usize> = FxHashMap::default();
            for one in some {
                let (start, end) = ((one.start, one.start_time.0), (one.end, one.end_time.0));
                let types = known.entry((start, end)).or_insert_with(|| continued(&touching, start, end));
                types.iter().for_each(|ty| *counts.entry(*ty).or_default() += 1);
            }
            for (ty, _) in counts.into_iter().filter(|(_, count)| count * 2 > some.len()) {
                found.by_type.entry(ty).or_default().push(*link);
            }
        }
        Ok(found)
    }
}

/// All time that a source has, its last instant included.
pub(crate) fn whole(source: &dyn TimelineSource) -> Interval {
    let mut extent = source.extent();
    extent.to.0 = extent.to.0.saturating_add(1);
    extent
}

/// The states at the endpoints of links.
fn touching(
    source: &dyn TimelineSource,
    model: &Model,
    samples: &[(TypeId, Vec<Link>)],
) -> Result<FxHashMap<Point, Touching>, QueryError> {
    let mut times: BTreeMap<ContainerId, BTreeSet<i64>> = BTreeMap::new();
    for link in samples.iter().flat_map(|(_, links)| links) {
        times.entry(link.start).or_default().insert(link.start_time.0);
        times.entry(link.end).or_default().insert(link.end_time.0);
    }
    let mut found = FxHashMap::default();
    for (container, times) in times {
        for ty in types_in(source, model, container).into_iter().filter(|ty| ty.kind == TypeKind::State) {
            for depth in 0..source.depths(container, ty.id) {
                touching_in(source, Lane { container, ty: ty.id, depth }, &times, &mut found)?;
            }
        }
    }
    Ok(found)
}

/// Adds the states of a lane. It is read whole if it has fewer states than there are timestamps.
fn touching_in(
    source: &dyn TimelineSource,
    lane: Lane,
    times: &BTreeSet<i64>,
    found: &mut FxHashMap<Point, Touching>,
) -> Result<(), QueryError> {
    let mut add = |state: &State| {
        let (of, ids) = ((lane.ty, state.value), Ids { first: state.id, several: false });
        let mut note = |time: i64, is_end: bool| {
            if times.contains(&time) {
                let at = found.entry((lane.container, time)).or_default();
                let of = (if is_end { &mut at.ends } else { &mut at.begins }).entry(of);
                of.and_modify(|known| known.several |= known.first != state.id).or_insert(ids);
            }
        };
        note(state.life.to.0, true);
        note(state.life.from.0, false);
    };
    let extent = whole(source);
    if source.states(lane, extent, 0)?.total <= times.len() as u64 {
        return walk::states(source, lane, extent, |state| {
            add(state);
            Ok(())
        });
    }
    for &time in times {
        let mut near = extent;
        (near.from.0, near.to.0) = (time.saturating_sub(1), time.saturating_add(1));
        source.states(lane, near, LOOKED_AT)?.items.iter().for_each(&mut add);
    }
    Ok(())
}

/// The types that have a state which ends at the start of a link and another one of its value which begins at its end.
fn continued(touching: &FxHashMap<Point, Touching>, start: Point, end: Point) -> Vec<TypeId> {
    let (Some(start), Some(end)) = (touching.get(&start), touching.get(&end)) else { return Vec::new() };
    let (few, many) =
        if start.ends.len() <= end.begins.len() { (&start.ends, &end.begins) } else { (&end.begins, &start.ends) };
    let differs = |one: &Ids, other: &Ids| one.several || other.several || one.first != other.first;
    let is_there = |(of, one): &(&(TypeId, ValueId), &Ids)| many.get(of).is_some_and(|other| differs(one, other));
    let mut types: Vec<TypeId> = few.iter().filter(is_there).map(|(of, _)| of.0).collect();
    types.sort_unstable();
    types.dedup();
    types
}
