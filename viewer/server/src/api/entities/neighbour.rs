//! The next or previous entity of the same type in the same container, optionally with the same
//! value.

use std::sync::Arc;

use axum::extract::{Query, State};
use serde_json::{Value, json};

use crate::api::{AppState, DrawRequest, JsonAnswer, RequestError, compute, facts_json};
use tumit_viewer::query::{
    ContainerId, EntityFacts, EntityId, GlobalNanos, PajeTypeKind, QueryError, StateLaneId, TimeRange, TimelineSource,
    TypeId, ValueId,
};
use tumit_viewer::scene::wire;

/// Number of entities read per query. Most neighbours are found by one query, which then takes
/// little time.
const ENTITIES_PER_QUERY: usize = 512;

#[derive(Clone, Copy)]
struct LineItem {
    id: EntityId,
    life: TimeRange,
    /// Samples have no value.
    value: Option<ValueId>,
}

/// The sequence of the entities of a kind.
enum EntityLine {
    States(StateLaneId),
    Events(ContainerId, TypeId),
    Samples(ContainerId, TypeId),
    Links(TypeId),
}

pub(crate) async fn neighbour(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    compute(app, request, |trace, request| {
        let id = wire::parse_entity(&request.id).ok_or(QueryError::Unknown { kind: "entity" })?;
        let source = trace.source.as_ref();
        let neighbour = match id {
            EntityId::Container(container) => {
                sibling(source, container, request.direction < 0).map(EntityId::Container)
            }
            _ => find_neighbour(source, id, request.direction < 0, request.same_value)?,
        };
        let Some(found) = neighbour else { return Ok(json!({ "facts": Value::Null })) };
        Ok(json!({ "facts": facts_json(trace, &source.facts(found)?) }))
    })
    .await
}

/// The next or previous container of the same type and parent, in the trace's order.
fn sibling(source: &dyn TimelineSource, container: ContainerId, is_backward: bool) -> Option<ContainerId> {
    let all = source.containers();
    let info = all.iter().find(|info| info.id == container)?;
    let mut siblings = all
        .iter()
        .filter(|candidate| candidate.ty == info.ty && candidate.parent == info.parent)
        .map(|candidate| candidate.id);
    if is_backward {
        siblings.take_while(|&id| id != container).last()
    } else {
        siblings.by_ref().skip_while(|&id| id != container).nth(1)
    }
}

/// Makes several queries for a few entities each, not one for all. Each query starts farther away.
fn find_neighbour(
    source: &dyn TimelineSource,
    id: EntityId,
    is_backward: bool,
    same_value: bool,
) -> Result<Option<EntityId>, RequestError> {
    let facts = source.facts(id)?;
    let Some((line, origin)) = find_on_line(source, id, &facts)? else { return Ok(None) };
    let fits = |item: &LineItem| !same_value || item.value == origin.value;
    let extent = source.summary().extent;
    let begin = origin.life.from.0;
    // A line is sorted by start and number, because several events may have the same timestamp.
    let key = |item: &LineItem| (item.life.from, item.id);
    if !is_backward {
        let (mut from, mut limit) = (begin, ENTITIES_PER_QUERY);
        while from <= extent.to.0 {
            let time_range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(extent.to.0.saturating_add(1)) };
            let items = line.list(source, time_range, limit)?;
            let cut = items.len() == limit;
            if let Some(neighbour) =
                items.iter().filter(|item| key(item) > key(&origin) && fits(item)).min_by_key(|i| key(i))
            {
                return Ok(Some(neighbour.id));
            }
            let last = items.iter().map(|item| item.life.from.0).max();
            match last.filter(|_| cut) {
                Some(last) if last > from => from = last,
                // All returned entities begin at or before `from`, so the limit grows.
                Some(_) => limit = limit.saturating_mul(4),
                None => return Ok(None),
            }
        }
        return Ok(None);
    }
    let mut to = begin.saturating_add(1);
    let mut reach = origin.life.to.0.saturating_sub(begin).max(1);
    loop {
        let from = to.saturating_sub(reach).max(extent.from.0);
        let time_range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
        let limit = if to - from > 1 { ENTITIES_PER_QUERY } else { usize::MAX };
        let mut items = if from < to { line.list(source, time_range, limit)? } else { Vec::new() };
        if items.len() == limit {
            // There are too many. The last of them lie in a shorter range.
            reach = (to - from) / 2;
            continue;
        }
        // An entity that began earlier is found when the search reaches its begin.
        items.retain(|item| item.life.from.0 >= from || from <= extent.from.0);
        if let Some(neighbour) =
            items.iter().filter(|item| key(item) < key(&origin) && fits(item)).max_by_key(|i| key(i))
        {
            return Ok(Some(neighbour.id));
        }
        if from <= extent.from.0 {
            return Ok(None);
        }
        to = from;
        reach = reach.saturating_mul(2);
    }
}

/// The line of an entity, and the entity as an item of the line.
fn find_on_line(
    source: &dyn TimelineSource,
    id: EntityId,
    facts: &EntityFacts,
) -> Result<Option<(EntityLine, LineItem)>, QueryError> {
    let model = source.model();
    let named = |kind: fn(PajeTypeKind) -> bool| {
        let name = facts.type_path.last().cloned().unwrap_or_default();
        model.types.iter().filter(move |ty| kind(ty.kind) && ty.name == name).map(|ty| ty.id).collect::<Vec<_>>()
    };
    let instant = TimeRange { from: facts.life.from, to: GlobalNanos(facts.life.from.0.saturating_add(1)) };
    let container = facts.container;
    let lines: Vec<EntityLine> = match id {
        EntityId::State(_) => named(|kind| kind == PajeTypeKind::State)
            .into_iter()
            .flat_map(|ty| {
                (0..source.depths(container, ty))
                    .map(move |depth| EntityLine::States(StateLaneId { container, ty, depth }))
            })
            .collect(),
        EntityId::Event(_) => {
            named(|kind| kind == PajeTypeKind::Event).into_iter().map(|ty| EntityLine::Events(container, ty)).collect()
        }
        EntityId::Sample(_) => named(|kind| kind == PajeTypeKind::Variable)
            .into_iter()
            .map(|ty| EntityLine::Samples(container, ty))
            .collect(),
        EntityId::Link(_) => {
            named(|kind| matches!(kind, PajeTypeKind::Link { .. })).into_iter().map(EntityLine::Links).collect()
        }
        EntityId::OpenLink(_) | EntityId::Container(_) => Vec::new(),
    };
    for line in lines {
        let items = line.list(source, instant, usize::MAX)?;
        if let Some(&item) = items.iter().find(|item| item.id == id) {
            return Ok(Some((line, item)));
        }
    }
    Ok(None)
}

impl EntityLine {
    fn list(
        &self,
        source: &dyn TimelineSource,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<Vec<LineItem>, QueryError> {
        let item = |id, life, value| LineItem { id, life, value };
        let moment = |time: GlobalNanos| TimeRange { from: time, to: time };
        Ok(match *self {
            Self::States(lane) => {
                let listed = source.states(lane, time_range, limit)?.items;
                listed.into_iter().map(|state| item(state.id, state.life, Some(state.value))).collect()
            }
            Self::Events(container, ty) => {
                let listed = source.events(container, ty, time_range, limit)?.items;
                listed.into_iter().map(|mark| item(mark.id, moment(mark.time), Some(mark.value))).collect()
            }
            Self::Samples(container, ty) => {
                let listed = source.samples(container, ty, time_range, limit)?.items;
                listed.into_iter().map(|sample| item(sample.id, sample.life, None)).collect()
            }
            Self::Links(ty) => {
                let listed = source.links(ty, time_range, limit)?.items;
                let life = |from: GlobalNanos, to: GlobalNanos| TimeRange { from: from.min(to), to: from.max(to) };
                listed
                    .into_iter()
                    .map(|link| item(link.id, life(link.start_time, link.end_time), Some(link.value)))
                    .collect()
            }
        })
    }
}
