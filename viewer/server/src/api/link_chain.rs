//! The chain of links through an entity: what led to it, and what it leads to.
//!
//! Where a link ends, the next one is the first that leaves that container afterwards; where it starts, the one before is the last that has come
//! there by then. The links of a trace do not say more of what causes what.

use std::sync::Arc;

use axum::extract::{Query, State};
use serde_json::{Value, json};

use super::{Answer, App, Ask, Shown, compute};
use tumit_viewer::query::{ContainerId, EntityId, GlobalNanos, Interval, Link, QueryError, TimelineSource, TypeKind};
use tumit_viewer::scene::wire::{self, entity};

/// Links of a chain in each direction.
const MOST: usize = 100;
/// Links that are looked at for the next one.
const LOOKED_AT: usize = 1 << 16;
/// How far is looked first, in nanoseconds; then twice as far each time.
const FIRST_REACH: i64 = 1_000;

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Back,
    On,
}

/// The links before an entity, itself if it is a link, and those behind it, in order; `cut` when there may be more.
pub(crate) async fn hops(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let id = wire::parse_entity(&ask.id).ok_or(QueryError::Unknown { what: "entity" })?;
        let source = app.source.as_ref();
        let facts = source.facts(id)?;
        let own = if matches!(id, EntityId::Link(_)) {
            itself(source, id, facts.life.from.min(facts.life.to))?
        } else {
            None
        };
        // What leaves a state leaves it after its start, and what reaches it does so before its end.
        let (into, out) = own.map_or(((facts.container, facts.life.to), (facts.container, facts.life.from)), |link| {
            ((link.start, link.start_time), (link.end, link.end_time))
        });
        let mut known: Vec<EntityId> = own.iter().map(|link| link.id).collect();
        let (mut before, cut_before) = follow(source, Way::Back, into, &mut known)?;
        let (after, cut_after) = follow(source, Way::On, out, &mut known)?;
        before.reverse();
        let at = before.len();
        let all: Vec<Value> = before.iter().chain(&own).chain(&after).map(|link| hop(app, link)).collect();
        Ok(json!({ "hops": all, "before": at, "after": after.len(), "cut": cut_before || cut_after }))
    })
    .await
}

/// A link, with the containers above its ends, the nearest last: where a row is folded away, one of these is seen.
fn hop(app: &Shown, link: &Link) -> Value {
    let model = app.source.model();
    let origin = app.origin;
    let at = |container: ContainerId| -> Vec<u32> {
        app.outline.above(container).into_iter().chain([container]).map(|container| container.0).collect()
    };
    let called = |of: ContainerId| {
        let all = app.source.containers();
        all.iter().find(|info| info.id == of).map_or_else(String::new, |info| info.name.clone())
    };
    json!({
        "id": entity(link.id),
        "name": model.values.get(link.value.index()).map_or("", |value| &value.name),
        "from": link.start_time.0.saturating_sub(origin),
        "to": link.end_time.0.saturating_sub(origin),
        "start": at(link.start),
        "end": at(link.end),
        "ends": [called(link.start), called(link.end)],
    })
}

fn types(source: &dyn TimelineSource) -> Vec<tumit_paje::TypeId> {
    let model = source.model();
    model.types.iter().filter(|ty| matches!(ty.kind, TypeKind::Link { .. })).map(|ty| ty.id).collect()
}

/// A link by its number: it is among those at its first date.
fn itself(source: &dyn TimelineSource, id: EntityId, at: GlobalNanos) -> Result<Option<Link>, QueryError> {
    let now = Interval { from: at, to: GlobalNanos(at.0.saturating_add(1)) };
    for ty in types(source) {
        let listed = source.links(ty, now, usize::MAX)?;
        if let Some(&link) = listed.items.iter().find(|link| link.id == id) {
            return Ok(Some(link));
        }
    }
    Ok(None)
}

/// Links one behind the other, from a container at a date; whether there may be more.
fn follow(
    source: &dyn TimelineSource,
    way: Way,
    mut at: (ContainerId, GlobalNanos),
    known: &mut Vec<EntityId>,
) -> Result<(Vec<Link>, bool), QueryError> {
    let mut chain: Vec<Link> = Vec::new();
    while chain.len() < MOST {
        match next(source, way, at, known)? {
            Next::Link(link) => {
                known.push(link.id);
                at = if way == Way::On { (link.end, link.end_time) } else { (link.start, link.start_time) };
                chain.push(link);
            }
            Next::None => return Ok((chain, false)),
            Next::TooFar => return Ok((chain, true)),
        }
    }
    Ok((chain, true))
}

enum Next {
    Link(Link),
    None,
    /// There are too many others in between.
    TooFar,
}

/// The nearest link that leaves a container from a date on, or has come to it by then.
fn next(
    source: &dyn TimelineSource,
    way: Way,
    (container, date): (ContainerId, GlobalNanos),
    known: &[EntityId],
) -> Result<Next, QueryError> {
    let (extent, types) = (source.extent(), types(source));
    // How far a link is from the date, if it goes from or to there.
    let far = |link: &Link| match way {
        Way::On if link.start == container => Some(link.start_time.0.saturating_sub(date.0)),
        Way::Back if link.end == container => Some(date.0.saturating_sub(link.end_time.0)),
        _ => None,
    };
    let end = match way {
        Way::On => extent.to.0.saturating_sub(date.0),
        Way::Back => date.0.saturating_sub(extent.from.0),
    };
    let mut reach = FIRST_REACH;
    loop {
        let part = match way {
            Way::On => Interval { from: date, to: GlobalNanos(date.0.saturating_add(reach)) },
            Way::Back => {
                Interval { from: GlobalNanos(date.0.saturating_sub(reach)), to: GlobalNanos(date.0.saturating_add(1)) }
            }
        };
        let (mut nearest, mut looked_at): (Option<(i64, Link)>, usize) = (None, 0);
        for &ty in &types {
            let listed = source.links(ty, part, LOOKED_AT)?;
            looked_at += usize::try_from(listed.total).unwrap_or(usize::MAX);
            for link in listed.items {
                let Some(distance) = far(&link).filter(|distance| (0..=reach).contains(distance)) else { continue };
                let nearer = nearest.is_none_or(|(than, of)| (distance, link.id) < (than, of.id));
                if nearer && !known.contains(&link.id) {
                    nearest = Some((distance, link));
                }
            }
        }
        if looked_at > LOOKED_AT {
            return Ok(Next::TooFar);
        }
        if let Some((_, link)) = nearest {
            return Ok(Next::Link(link));
        }
        if reach > end {
            return Ok(Next::None);
        }
        reach = reach.saturating_mul(4);
    }
}
