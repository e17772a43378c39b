//! Finds an entity of an earlier generation of a trace in the current one. Entities are numbered
//! lane by lane, so that numbers change when lanes grow.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use super::{AppState, DrawRequest, JsonAnswer, RequestError, compute};
use tumit_viewer::query::{
    EntityFacts, EntityId, GlobalNanos, PajeTypeKind, QueryError, StateLaneId, TimeRange, TimelineSource,
};
use tumit_viewer::scene::wire::entity;

/// Maximum number of entities examined per type and container.
const MOST: usize = 10_000;

/// The properties by which an entity is recognised.
#[derive(Clone, Debug, Deserialize)]
struct EntityFingerprint {
    name: String,
    types: Vec<String>,
    containers: Vec<String>,
    /// Nanoseconds after the trace's first timestamp.
    from: i64,
}

/// Returns the number of the entity with these properties, or `null` if there is none.
pub(crate) async fn same(State(app): State<Arc<AppState>>, Query(ask): Query<DrawRequest>) -> JsonAnswer {
    compute(app, ask, |app, ask| {
        let known: EntityFingerprint = serde_json::from_str(&ask.what).map_err(|_not_facts| {
            RequestError(StatusCode::BAD_REQUEST, "invalid description of an entity".to_owned())
        })?;
        let date = GlobalNanos(app.origin.saturating_add(known.from));
        let found = find(app.source.as_ref(), &known, date)?;
        Ok(json!({ "id": found.map(entity) }))
    })
    .await
}

fn find(
    source: &dyn TimelineSource,
    known: &EntityFingerprint,
    date: GlobalNanos,
) -> Result<Option<EntityId>, QueryError> {
    let model = source.model();
    let is_it = |facts: &EntityFacts| {
        facts.name == known.name
            && facts.life.from == date
            && facts.type_path == known.types
            && facts.container_path == known.containers
    };
    let interval = TimeRange { from: date, to: GlobalNanos(date.0.saturating_add(1)) };
    for container in source.containers().iter() {
        // A container's own path may or may not contain its name. Both forms are checked.
        let names = [known.containers.last(), Some(&known.name)];
        if !names.contains(&Some(&container.name)) {
            continue;
        }
        let mut ids = vec![EntityId::Container(container.id)];
        for ty in model.types.iter().filter(|ty| known.types.last() == Some(&ty.name)) {
            match ty.kind {
                PajeTypeKind::Container => {}
                PajeTypeKind::State => {
                    for depth in 0..source.depths(container.id, ty.id) {
                        let lane = StateLaneId { container: container.id, ty: ty.id, depth };
                        ids.extend(source.states(lane, interval, MOST)?.items.iter().map(|state| state.id));
                    }
                }
                PajeTypeKind::Event => {
                    ids.extend(source.events(container.id, ty.id, interval, MOST)?.items.iter().map(|mark| mark.id));
                }
                PajeTypeKind::Variable => {
                    ids.extend(source.samples(container.id, ty.id, interval, MOST)?.items.iter().map(|one| one.id));
                }
                PajeTypeKind::Link { .. } => {
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
