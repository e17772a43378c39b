//! The entity of a newer picture of a trace that was another number in an earlier one: numbers go lane by lane, and lanes grow.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use super::{Answer, App, Ask, Failure, compute};
use tumit_viewer::query::{EntityId, Facts, GlobalNanos, Interval, Lane, QueryError, TimelineSource, TypeKind};
use tumit_viewer::scene::wire::entity;

/// Entities of one type in one container that are looked at.
const MOST: usize = 10_000;

/// What an entity was known by.
#[derive(Clone, Debug, Deserialize)]
struct Known {
    name: String,
    types: Vec<String>,
    containers: Vec<String>,
    /// Nanoseconds after the trace's first date.
    from: i64,
}

/// The number of the entity that has these facts; `null` when there is none.
pub(crate) async fn same(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let known: Known = serde_json::from_str(&ask.what)
            .map_err(|_not_facts| Failure(StatusCode::BAD_REQUEST, "these are no facts of an entity".to_owned()))?;
        let date = GlobalNanos(app.origin.saturating_add(known.from));
        let found = find(app.source.as_ref(), &known, date)?;
        Ok(json!({ "id": found.map(entity) }))
    })
    .await
}

fn find(source: &dyn TimelineSource, known: &Known, date: GlobalNanos) -> Result<Option<EntityId>, QueryError> {
    let model = source.model();
    let is_it = |facts: &Facts| {
        facts.name == known.name
            && facts.life.from == date
            && facts.type_path == known.types
            && facts.container_path == known.containers
    };
    let interval = Interval { from: date, to: GlobalNanos(date.0.saturating_add(1)) };
    for container in source.containers().iter() {
        // A container's own path may or may not end in itself: both are looked at.
        let names = [known.containers.last(), Some(&known.name)];
        if !names.contains(&Some(&container.name)) {
            continue;
        }
        let mut ids = vec![EntityId::Container(container.id)];
        for ty in model.types.iter().filter(|ty| known.types.last() == Some(&ty.name)) {
            match ty.kind {
                TypeKind::Container => {}
                TypeKind::State => {
                    for depth in 0..source.depths(container.id, ty.id) {
                        let lane = Lane { container: container.id, ty: ty.id, depth };
                        ids.extend(source.states(lane, interval, MOST)?.items.iter().map(|state| state.id));
                    }
                }
                TypeKind::Event => {
                    ids.extend(source.events(container.id, ty.id, interval, MOST)?.items.iter().map(|mark| mark.id));
                }
                TypeKind::Variable => {
                    ids.extend(source.samples(container.id, ty.id, interval, MOST)?.items.iter().map(|one| one.id));
                }
                TypeKind::Link { .. } => {
                    let links = source.links(ty.id, interval, MOST)?.items;
                    ids.extend(links.iter().filter(|link| link.start_time == date).map(|link| link.id));
                }
            }
        }
        for id in ids {
            if is_it(&source.facts(id)?) {
                return Ok(Some(id));
            }
        }
    }
    Ok(None)
}
