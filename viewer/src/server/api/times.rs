//! The statistics table of an interval: time, share and number per value, of the whole trace or of what is below a container.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use serde_json::{Value, json};

use super::{Answer, App, Ask, Shown, compute};
use crate::query::{ContainerId, EntityId, Interval, Lane, QueryError, TimelineSource, TypeId, TypeKind, ValueId};
use crate::scene::wire::{self, entity};
use crate::stats;
use crate::theme::Theme;

/// With more states of a type than this in the interval, they are not counted one by one.
const COUNTED: u64 = 1_000_000;

pub(in crate::server) async fn times(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let source = app.source.as_ref();
        let interval = ask.interval(app)?;
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

/// What is known of the states of a value when each has been looked at.
#[derive(Clone, Copy, Default)]
struct Seen {
    count: u64,
    /// Its duration, also outside of the interval.
    longest: Option<(i64, EntityId)>,
}

/// Looks at each state of a type. Of equally long ones the first is the longest.
fn look(
    source: &dyn TimelineSource,
    members: &[(ContainerId, u32)],
    ty: TypeId,
    interval: Interval,
) -> Result<BTreeMap<ValueId, Seen>, QueryError> {
    let mut all: BTreeMap<ValueId, Seen> = BTreeMap::new();
    for &(container, depths) in members {
        for depth in 0..depths {
            for state in source.states(Lane { container, ty, depth }, interval, usize::MAX)?.items {
                let seen = all.entry(state.value).or_default();
                seen.count += 1;
                let nanos = state.life.to.0.saturating_sub(state.life.from.0);
                if seen.longest.is_none_or(|longest| nanos > longest.0) {
                    seen.longest = Some((nanos, state.id));
                }
            }
        }
    }
    Ok(all)
}

/// The rows of one state type; nothing where no container has it.
fn state_type(
    app: &Shown,
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
    let seen = if total <= COUNTED { Some(look(source, &members, ty, interval)?) } else { None };
    let model = source.model();
    let rows = times.values.iter().filter_map(|time| {
        let value = model.values.get(time.value.index())?;
        let seen = seen.as_ref().map(|seen| seen.get(&time.value).copied().unwrap_or_default());
        Some(json!({
            "value": time.value.0,
            "name": value.name,
            "color": theme.fill(value.color).to_string(),
            "nanos": time.nanos,
            "share": time.share,
            "count": seen.map(|seen| seen.count),
            "longest": seen.and_then(|seen| seen.longest).map(|(nanos, id)| json!({ "nanos": nanos, "id": entity(id) })),
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
