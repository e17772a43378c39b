//! Finds an entity of an earlier generation of a trace in the current one. Entities are numbered
//! lane by lane, so that numbers change when lanes grow.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::api::{AppState, DrawRequest, JsonAnswer, RequestError, compute};
use tumit_viewer::query::{
    EntityFacts, EntityId, GlobalNanos, PajeTypeKind, QueryError, StateLaneId, TimeRange, TimelineSource,
};
use tumit_viewer::scene::wire::entity;

/// Maximum number of entities examined per type and container, so that the search ends in a
/// fraction of a second.
const MAX_EXAMINED: usize = 10_000;

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
pub(crate) async fn rematch(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    compute(app, request, |trace, request| {
        let fingerprint: EntityFingerprint = serde_json::from_str(&request.text).map_err(|_not_facts| {
            RequestError(StatusCode::BAD_REQUEST, "invalid description of an entity".to_owned())
        })?;
        let timestamp = GlobalNanos(trace.origin.saturating_add(fingerprint.from));
        let found = find(trace.source.as_ref(), &fingerprint, timestamp)?;
        Ok(json!({ "id": found.map(entity) }))
    })
    .await
}

fn find(
    source: &dyn TimelineSource,
    fingerprint: &EntityFingerprint,
    timestamp: GlobalNanos,
) -> Result<Option<EntityId>, QueryError> {
    let model = source.model();
    let matches = |facts: &EntityFacts| {
        facts.name == fingerprint.name
            && facts.life.from == timestamp
            && facts.type_path == fingerprint.types
            && facts.container_path == fingerprint.containers
    };
    let time_range = TimeRange { from: timestamp, to: GlobalNanos(timestamp.0.saturating_add(1)) };
    for container in source.containers().iter() {
        // A container's own path may or may not contain its name. Both forms are checked.
        let names = [fingerprint.containers.last(), Some(&fingerprint.name)];
        if !names.contains(&Some(&container.name)) {
            continue;
        }
        let mut ids = vec![EntityId::Container(container.id)];
        for ty in model.types.iter().filter(|ty| fingerprint.types.last() == Some(&ty.name)) {
            match ty.kind {
                PajeTypeKind::Container => {}
                PajeTypeKind::State => {
                    for depth in 0..source.depths(container.id, ty.id) {
                        let lane = StateLaneId { container: container.id, ty: ty.id, depth };
                        ids.extend(source.states(lane, time_range, MAX_EXAMINED)?.items.iter().map(|state| state.id));
                    }
                }
                PajeTypeKind::Event => {
                    ids.extend(
                        source.events(container.id, ty.id, time_range, MAX_EXAMINED)?.items.iter().map(|mark| mark.id),
                    );
                }
                PajeTypeKind::Variable => {
                    ids.extend(
                        source.samples(container.id, ty.id, time_range, MAX_EXAMINED)?.items.iter().map(|mark| mark.id),
                    );
                }
                PajeTypeKind::Link { .. } => {
                    let links = source.links(ty.id, time_range, MAX_EXAMINED)?.items;
                    ids.extend(links.iter().filter(|link| link.start_time == timestamp).map(|link| link.id));
                }
            }
        }
        for id in ids {
            if matches(&source.facts(id)?) {
                return Ok(Some(id));
            }
        }
    }
    Ok(None)
}
