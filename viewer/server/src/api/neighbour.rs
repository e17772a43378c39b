//! The next or the previous entity of its kind: of the same type in the same container, and if so asked of the same value.

use std::sync::Arc;

use axum::extract::{Query, State};
use serde_json::{Value, json};

use super::{Answer, App, Ask, Failure, compute, facts_json};
use tumit_viewer::query::{
    ContainerId, EntityId, Facts, GlobalNanos, Interval, Lane, QueryError, TimelineSource, TypeId, TypeKind, ValueId,
};
use tumit_viewer::scene::wire;

/// Entities looked at between one date and the next one tried.
const AT_ONCE: usize = 512;

/// An entity on its line: when it was, and its value where it has one.
type Item = (EntityId, Interval, Option<ValueId>);

/// What holds the entities of a kind, in order.
enum Line {
    States(Lane),
    Events(ContainerId, TypeId),
    Samples(ContainerId, TypeId),
    Links(TypeId),
}

pub(crate) async fn step(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let id = wire::parse_entity(&ask.id).ok_or(QueryError::Unknown { what: "entity" })?;
        let source = app.source.as_ref();
        let found = match id {
            EntityId::Container(container) => sibling(source, container, ask.by < 0).map(EntityId::Container),
            _ => along(source, id, ask.by < 0, ask.same)?,
        };
        let Some(found) = found else { return Ok(json!({ "facts": Value::Null })) };
        Ok(json!({ "facts": facts_json(app, &source.facts(found)?) }))
    })
    .await
}

/// The container of the same type and parent after or before one, in the trace's order.
fn sibling(source: &dyn TimelineSource, of: ContainerId, back: bool) -> Option<ContainerId> {
    let all = source.containers();
    let own = all.iter().find(|info| info.id == of)?;
    let mut like = all.iter().filter(|info| info.ty == own.ty && info.parent == own.parent).map(|info| info.id);
    if back { like.take_while(|&id| id != of).last() } else { like.by_ref().skip_while(|&id| id != of).nth(1) }
}

/// Costs some questions about a few entities each, not one about all: the dates tried lie ever farther away.
fn along(source: &dyn TimelineSource, id: EntityId, back: bool, same: bool) -> Result<Option<EntityId>, Failure> {
    let facts = source.facts(id)?;
    let Some((line, own)) = line_of(source, id, &facts)? else { return Ok(None) };
    let fits = |item: &Item| !same || item.2 == own.2;
    let extent = source.summary().extent;
    let at = own.1.from.0;
    // The order of a line is that of (start, number): several events may have one date.
    let key = |item: &Item| (item.1.from, item.0);
    if !back {
        let (mut from, mut limit) = (at, AT_ONCE);
        while from <= extent.to.0 {
            let part = Interval { from: GlobalNanos(from), to: GlobalNanos(extent.to.0.saturating_add(1)) };
            let items = line.list(source, part, limit)?;
            let cut = items.len() == limit;
            if let Some(found) = items.iter().filter(|item| key(item) > key(&own) && fits(item)).min_by_key(|i| key(i))
            {
                return Ok(Some(found.0));
            }
            let last = items.iter().map(|item| item.1.from.0).max();
            match last.filter(|_| cut) {
                Some(last) if last > from => from = last,
                // All of these were there before.
                Some(_) => limit = limit.saturating_mul(4),
                None => return Ok(None),
            }
        }
        return Ok(None);
    }
    let mut to = at.saturating_add(1);
    let mut reach = own.1.to.0.saturating_sub(at).max(1);
    loop {
        let from = to.saturating_sub(reach).max(extent.from.0);
        let part = Interval { from: GlobalNanos(from), to: GlobalNanos(to) };
        let limit = if to - from > 1 { AT_ONCE } else { usize::MAX };
        let mut items = if from < to { line.list(source, part, limit)? } else { Vec::new() };
        if items.len() == limit {
            // Too many: the last of them lie in a shorter stretch.
            reach = (to - from) / 2;
            continue;
        }
        // What began earlier is found when its beginning is reached.
        items.retain(|item| item.1.from.0 >= from || from <= extent.from.0);
        if let Some(found) = items.iter().filter(|item| key(item) < key(&own) && fits(item)).max_by_key(|i| key(i)) {
            return Ok(Some(found.0));
        }
        if from <= extent.from.0 {
            return Ok(None);
        }
        to = from;
        reach = reach.saturating_mul(2);
    }
}

/// The line of an entity, and the entity as an item of it.
fn line_of(source: &dyn TimelineSource, id: EntityId, facts: &Facts) -> Result<Option<(Line, Item)>, QueryError> {
    let model = source.model();
    let named = |kind: fn(TypeKind) -> bool| {
        let name = facts.type_path.last().cloned().unwrap_or_default();
        model.types.iter().filter(move |ty| kind(ty.kind) && ty.name == name).map(|ty| ty.id).collect::<Vec<_>>()
    };
    let now = Interval { from: facts.life.from, to: GlobalNanos(facts.life.from.0.saturating_add(1)) };
    let container = facts.container;
    let lines: Vec<Line> = match id {
        EntityId::State(_) => named(|kind| kind == TypeKind::State)
            .into_iter()
            .flat_map(|ty| {
                (0..source.depths(container, ty)).map(move |depth| Line::States(Lane { container, ty, depth }))
            })
            .collect(),
        EntityId::Event(_) => {
            named(|kind| kind == TypeKind::Event).into_iter().map(|ty| Line::Events(container, ty)).collect()
        }
        EntityId::Sample(_) => {
            named(|kind| kind == TypeKind::Variable).into_iter().map(|ty| Line::Samples(container, ty)).collect()
        }
        EntityId::Link(_) => named(|kind| matches!(kind, TypeKind::Link { .. })).into_iter().map(Line::Links).collect(),
        EntityId::Container(_) => Vec::new(),
    };
    for line in lines {
        let items = line.list(source, now, usize::MAX)?;
        if let Some(&own) = items.iter().find(|item| item.0 == id) {
            return Ok(Some((line, own)));
        }
    }
    Ok(None)
}

impl Line {
    fn list(&self, source: &dyn TimelineSource, part: Interval, limit: usize) -> Result<Vec<Item>, QueryError> {
        let at = |time: GlobalNanos| Interval { from: time, to: time };
        Ok(match *self {
            Self::States(lane) => {
                let listed = source.states(lane, part, limit)?.items;
                listed.into_iter().map(|state| (state.id, state.life, Some(state.value))).collect()
            }
            Self::Events(container, ty) => {
                let listed = source.events(container, ty, part, limit)?.items;
                listed.into_iter().map(|mark| (mark.id, at(mark.time), Some(mark.value))).collect()
            }
            Self::Samples(container, ty) => {
                let listed = source.samples(container, ty, part, limit)?.items;
                listed.into_iter().map(|sample| (sample.id, sample.life, None)).collect()
            }
            Self::Links(ty) => {
                let listed = source.links(ty, part, limit)?.items;
                let life = |from: GlobalNanos, to: GlobalNanos| Interval { from: from.min(to), to: from.max(to) };
                listed
                    .into_iter()
                    .map(|link| (link.id, life(link.start_time, link.end_time), Some(link.value)))
                    .collect()
            }
        })
    }
}
