//! The statistics table of an interval: time, share and number per value, of the whole trace or of what is below a container.

use std::sync::Arc;

use axum::extract::{Query, State};
use serde_json::{Value, json};

use super::{Answer, App, Ask, compute};
use crate::query::{ContainerId, EntityId, Interval, Lane, QueryError, TimelineSource, TypeId, TypeKind};
use crate::scene::wire;
use crate::stats;
use crate::theme::Theme;

/// With more states of a type than this in the interval, they are not counted one by one.
const COUNTED: u64 = 1_000_000;

pub(in crate::server) async fn times(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, move |app| {
        let source = app.source.as_ref();
        let interval = ask.interval(source)?;
        let within = match wire::parse_entity(&ask.id) {
            Some(EntityId::Container(container)) => container,
            None if ask.id.is_empty() => ContainerId::ROOT,
            _ => return Err(QueryError::Unknown { what: "container" }.into()),
        };
        let model = source.model();
        let mut types = Vec::new();
        for ty in model.types.iter().filter(|ty| ty.kind == TypeKind::State) {
            types.extend(state_type(app, source, ty.id, (within, interval), Theme::new(ask.theme))?);
        }
        Ok(json!({ "types": types }))
    })
    .await
}

/// The rows of one state type; nothing where no container has it.
fn state_type(
    app: &App,
    source: &dyn TimelineSource,
    ty: TypeId,
    (within, interval): (ContainerId, Interval),
    theme: Theme,
) -> Result<Option<Value>, QueryError> {
    let members = app.outline.states_within(within, ty);
    let containers: Vec<ContainerId> = members.iter().map(|member| member.0).collect();
    if containers.is_empty() {
        return Ok(None);
    }
    let mut total = 0;
    for &(container, depths) in &members {
        for depth in 0..depths {
            total += source.states(Lane { container, ty, depth }, interval, 0)?.total;
        }
    }
    let times = stats::times(source, &containers, ty, interval)?;
    let counts = if total <= COUNTED { Some(stats::counts(source, &containers, ty, interval)?) } else { None };
    let model = source.model();
    let rows = times.values.iter().filter_map(|time| {
        let value = model.values.get(time.value.index())?;
        Some(json!({
            "value": time.value.0,
            "name": value.name,
            "color": theme.fill(value.color).to_string(),
            "nanos": time.nanos,
            "share": time.share,
            "count": counts.as_ref().map(|counts| counts.get(&time.value).copied().unwrap_or(0)),
        }))
    });
    Ok(Some(json!({
        "type": ty.0,
        "name": model.types.get(ty.index()).map_or("", |ty| &ty.name),
        "containers": containers.len(),
        "lived": times.lived,
        "none": times.none,
        "count": total,
        "rows": rows.collect::<Vec<_>>(),
    })))
}
