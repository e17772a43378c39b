//! The chain of links through an entity: the links that lead to it, and the links that follow from
//! it.
//!
//! The successor of a link is the first link that leaves its end container afterwards. The
//! predecessor is the last link that has reached its start container by then. A trace contains no
//! further information about causality.

use std::sync::Arc;

use axum::extract::{Query, State};
use serde_json::{Value, json};

use crate::api::{AppState, DrawRequest, FilteredTrace, JsonAnswer, compute};
use tumit_viewer::query::{
    ContainerId, EntityId, GlobalNanos, LinkEntity, PajeTypeKind, QueryError, TimeRange, TimelineSource,
};
use tumit_viewer::scene::wire::{self, entity};

/// Maximum number of links of a chain in each direction. Longer chains cannot be followed by eye.
const MAX_LINKS: usize = 100;
/// Maximum number of links examined to find the next one, so that the answer comes in a fraction of
/// a second.
const MAX_EXAMINED: usize = 1 << 16;
/// The first search distance, in nanoseconds. Each further search is four times as far.
const FIRST_REACH: i64 = 1_000;

#[derive(Clone, Copy, PartialEq)]
enum ChainDirection {
    Back,
    Forward,
}

/// The place from which a chain continues.
#[derive(Clone, Copy)]
struct LinkPosition {
    container: ContainerId,
    time: GlobalNanos,
}

impl LinkPosition {
    fn of_link(link: &LinkEntity, direction: ChainDirection) -> Self {
        match direction {
            ChainDirection::Back => Self { container: link.start, time: link.start_time },
            ChainDirection::Forward => Self { container: link.end, time: link.end_time },
        }
    }
}

struct HalfChain {
    /// The nearest first.
    links: Vec<LinkEntity>,
    /// Whether there may be more.
    is_truncated: bool,
}

/// Returns the links before an entity, the entity itself if it is a link, and the links after it,
/// in order. `truncated` is set if there may be more.
pub(crate) async fn link_chain(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    compute(app, request, |trace, request| {
        let id = wire::parse_entity(&request.id).ok_or(QueryError::Unknown { kind: "entity" })?;
        let source = trace.source.as_ref();
        let facts = source.facts(id)?;
        let link = if matches!(id, EntityId::Link(_)) {
            find_link(source, id, facts.life.from.min(facts.life.to))?
        } else {
            None
        };
        // A link that leaves a state starts after the state's start. A link that reaches a state
        // ends before the state's end.
        let end = |direction: ChainDirection| match (&link, direction) {
            (Some(link), _) => LinkPosition::of_link(link, direction),
            (None, ChainDirection::Back) => LinkPosition { container: facts.container, time: facts.life.to },
            (None, ChainDirection::Forward) => LinkPosition { container: facts.container, time: facts.life.from },
        };
        let mut visited: Vec<EntityId> = link.iter().map(|link| link.id).collect();
        let earlier_links = follow(source, ChainDirection::Back, end(ChainDirection::Back), &mut visited)?;
        let later_links = follow(source, ChainDirection::Forward, end(ChainDirection::Forward), &mut visited)?;
        let all = earlier_links.links.iter().rev().chain(&link).chain(&later_links.links);
        Ok(json!({
            "links": all.map(|link| link_json(trace, link)).collect::<Vec<Value>>(),
            "before": earlier_links.links.len(),
            "after": later_links.links.len(),
            "truncated": earlier_links.is_truncated || later_links.is_truncated,
        }))
    })
    .await
}

/// A link with the containers above its endpoints, the nearest last. If a row is folded, one of
/// these is visible.
fn link_json(trace: &FilteredTrace, link: &LinkEntity) -> Value {
    let model = trace.source.model();
    let origin = trace.origin;
    let ancestors = |container: ContainerId| -> Vec<u32> {
        trace.outline.ancestors(container).into_iter().chain([container]).map(|container| container.0).collect()
    };
    let name = |container: ContainerId| {
        let containers = trace.source.containers();
        containers.iter().find(|info| info.id == container).map_or_else(String::new, |info| info.name.clone())
    };
    json!({
        "id": entity(link.id),
        "name": model.values.get(link.value.index()).map_or("", |value| &value.name),
        "from": link.start_time.0.saturating_sub(origin),
        "to": link.end_time.0.saturating_sub(origin),
        "start": ancestors(link.start),
        "end": ancestors(link.end),
        "endpoint_names": [name(link.start), name(link.end)],
    })
}

fn types(source: &dyn TimelineSource) -> Vec<tumit_paje::TypeId> {
    let model = source.model();
    model.types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })).map(|ty| ty.id).collect()
}

/// Finds a link by its number among the links at its first timestamp.
fn find_link(source: &dyn TimelineSource, id: EntityId, time: GlobalNanos) -> Result<Option<LinkEntity>, QueryError> {
    let instant = TimeRange { from: time, to: GlobalNanos(time.0.saturating_add(1)) };
    for ty in types(source) {
        let listed = source.links(ty, instant, usize::MAX)?;
        if let Some(&link) = listed.items.iter().find(|link| link.id == id) {
            return Ok(Some(link));
        }
    }
    Ok(None)
}

/// Follows links one after another.
fn follow(
    source: &dyn TimelineSource,
    direction: ChainDirection,
    mut end: LinkPosition,
    visited_entities: &mut Vec<EntityId>,
) -> Result<HalfChain, QueryError> {
    let mut links: Vec<LinkEntity> = Vec::new();
    while links.len() < MAX_LINKS {
        match next(source, direction, end, visited_entities)? {
            ChainStep::Link(link) => {
                visited_entities.push(link.id);
                end = LinkPosition::of_link(&link, direction);
                links.push(link);
            }
            ChainStep::None => return Ok(HalfChain { links, is_truncated: false }),
            ChainStep::TooFar => break,
        }
    }
    Ok(HalfChain { links, is_truncated: true })
}

enum ChainStep {
    Link(LinkEntity),
    None,
    /// Too many other links lie in between.
    TooFar,
}

/// The nearest link that leaves a container at or after a timestamp, or that has reached it by
/// then.
fn next(
    source: &dyn TimelineSource,
    direction: ChainDirection,
    LinkPosition { container, time: timestamp }: LinkPosition,
    visited_entities: &[EntityId],
) -> Result<ChainStep, QueryError> {
    let (extent, types) = (source.extent(), types(source));
    // The distance of a link from the timestamp, if it starts or ends at the container.
    let distance_to = |link: &LinkEntity| match direction {
        ChainDirection::Forward if link.start == container => Some(link.start_time.0.saturating_sub(timestamp.0)),
        ChainDirection::Back if link.end == container => Some(timestamp.0.saturating_sub(link.end_time.0)),
        _ => None,
    };
    let farthest = match direction {
        ChainDirection::Forward => extent.to.0.saturating_sub(timestamp.0),
        ChainDirection::Back => timestamp.0.saturating_sub(extent.from.0),
    };
    let mut reach = FIRST_REACH;
    loop {
        let range = match direction {
            ChainDirection::Forward => {
                TimeRange { from: timestamp, to: GlobalNanos(timestamp.0.saturating_add(reach)) }
            }
            ChainDirection::Back => TimeRange {
                from: GlobalNanos(timestamp.0.saturating_sub(reach)),
                to: GlobalNanos(timestamp.0.saturating_add(1)),
            },
        };
        let (mut nearest, mut examined): (Option<(i64, LinkEntity)>, usize) = (None, 0);
        for &ty in &types {
            let listed = source.links(ty, range, MAX_EXAMINED)?;
            examined += usize::try_from(listed.total).unwrap_or(usize::MAX);
            for link in listed.items {
                let Some(distance) = distance_to(&link).filter(|distance| (0..=reach).contains(distance)) else {
                    continue;
                };
                let nearer = nearest.is_none_or(|(distance_so_far, link_so_far)| {
                    (distance, link.id) < (distance_so_far, link_so_far.id)
                });
                if nearer && !visited_entities.contains(&link.id) {
                    nearest = Some((distance, link));
                }
            }
        }
        if examined > MAX_EXAMINED {
            return Ok(ChainStep::TooFar);
        }
        if let Some((_, link)) = nearest {
            return Ok(ChainStep::Link(link));
        }
        if reach > farthest {
            return Ok(ChainStep::None);
        }
        reach = reach.saturating_mul(4);
    }
}
