//! What the page asks for, as JSON. Times are nanoseconds from the trace's first date, small enough for JavaScript's numbers.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::App;
use crate::layout::{Folds, Layout, Options, StripKind};
use crate::query::{
    ContainerId, EntityId, Facts, GlobalNanos, Interval, Lane, QueryError, TimelineSource, TypeId, ValueId,
};
use crate::scene::wire::{self, entity};
use crate::scene::{self, View, number};
use crate::theme::{Theme, ThemeKind};

/// An answer that went wrong, as the page shows it.
#[derive(Debug)]
pub(super) struct Failure(StatusCode, String);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        let status = match error {
            QueryError::Unknown { .. } => StatusCode::NOT_FOUND,
            QueryError::EmptyInterval => StatusCode::BAD_REQUEST,
            QueryError::Damaged => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, error.to_string())
    }
}

type Answer = Result<Json<Value>, Failure>;

/// What to draw, as the page says it. Lists are numbers with commas between them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Ask {
    from: i64,
    to: i64,
    width: f32,
    top: f32,
    bottom: f32,
    /// Pixels per unit.
    resolution: f32,
    theme: ThemeKind,
    /// Containers at this depth are folded.
    level: Option<u32>,
    toggled: String,
    hidden: String,
    dimmed: String,
    /// Height that the rows should fill, when they need less.
    fill: f32,
    /// An entity, or for `at` a container.
    id: String,
}

impl Ask {
    fn options(&self) -> Options {
        fn numbers<T: Ord>(list: &str, make: impl Fn(u32) -> T) -> BTreeSet<T> {
            list.split(',').filter_map(|number| number.parse().ok()).map(make).collect()
        }
        Options {
            folds: Folds { level: self.level, toggled: numbers(&self.toggled, ContainerId) },
            hidden: numbers(&self.hidden, TypeId),
            dimmed: numbers(&self.dimmed, ValueId),
            theme: self.theme,
            row_scale: 1.0,
        }
    }

    /// The rows; few of them grow a little, so that they can be seen well.
    fn layout(&self, app: &App) -> Layout {
        let fill = if self.fill.is_finite() { self.fill } else { 0.0 };
        Layout::filling(&app.outline, &self.options(), fill, 1.0..=1.6)
    }

    fn interval(&self, source: &dyn TimelineSource) -> Result<Interval, Failure> {
        if self.from >= self.to {
            return Err(QueryError::EmptyInterval.into());
        }
        // Thirty years on either side are enough, and differences stay within 64 bits.
        const FARTHEST: i64 = 1 << 60;
        let origin = source.summary().extent.from.0;
        let date = |time: i64| GlobalNanos(origin.saturating_add(time.clamp(-FARTHEST, FARTHEST)));
        Ok(Interval { from: date(self.from), to: date(self.to) })
    }

    fn view(&self, source: &dyn TimelineSource) -> Result<View, Failure> {
        let sane = |value: f32, least: f32, most: f32| if value.is_finite() { value.clamp(least, most) } else { least };
        Ok(View {
            interval: self.interval(source)?,
            width: sane(self.width, 1.0, 16_384.0),
            top: sane(self.top, 0.0, 1e7),
            bottom: sane(self.bottom, 0.0, 1e7),
            resolution: sane(self.resolution, 1.0, 4.0),
            titles: false,
        })
    }
}

/// Computes off the threads that serve, at most some at a time.
async fn compute(app: Arc<App>, work: impl FnOnce(&App) -> Result<Value, Failure> + Send + 'static) -> Answer {
    let failed = |what: &str| Failure(StatusCode::INTERNAL_SERVER_ERROR, what.to_owned());
    let _permit = app.permits.acquire().await.map_err(|_closed| failed("the server is ending"))?;
    let shared = Arc::clone(&app);
    let done = tokio::task::spawn_blocking(move || work(&shared)).await;
    done.map_err(|_panic| failed("the picture could not be computed; please report this"))?.map(Json)
}

pub(super) async fn ping() -> Answer {
    Ok(Json(json!({})))
}

pub(super) async fn summary(State(app): State<Arc<App>>) -> Answer {
    let summary = app.source.summary();
    let extent = summary.extent;
    Ok(Json(json!({
        "name": summary.name,
        "origin": extent.from.0.to_string(),
        "duration": extent.to.0.saturating_sub(extent.from.0).max(1),
        "containers": summary.containers,
        "states": summary.states,
        "events": summary.events,
        "links": summary.links,
        "samples": summary.samples,
        "remarks": summary.remarks,
        "version": env!("CARGO_PKG_VERSION"),
    })))
}

pub(super) async fn rows(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, move |app| {
        let layout = ask.layout(app);
        let model = app.source.model();
        let name = |ty: TypeId| model.types.get(ty.index()).map_or("", |ty| &ty.name);
        let rows: Vec<Value> = layout
            .rows
            .iter()
            .map(|row| {
                let strips = row.strips.iter().map(|strip| {
                    let kind = match strip.kind {
                        StripKind::States { .. } => "states",
                        StripKind::Summary { .. } => "summary",
                        StripKind::Events { .. } => "events",
                        StripKind::Variable { .. } => "variable",
                    };
                    let bounds = match strip.kind {
                        StripKind::Variable { bounds: Some((low, high)) } => Some([number(high), number(low)]),
                        _ => None,
                    };
                    json!({ "kind": kind, "name": name(strip.ty), "y": strip.y, "height": strip.height, "bounds": bounds })
                });
                json!({
                    "id": row.container.0,
                    "name": row.name,
                    "type": name(row.ty),
                    "depth": row.depth,
                    "y": row.y,
                    "height": row.height,
                    "expandable": row.expandable,
                    "folded": row.folded,
                    "strips": strips.collect::<Vec<_>>(),
                })
            })
            .collect();
        Ok(json!({ "height": layout.height, "rows": rows }))
    })
    .await
}

pub(super) async fn scene(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, move |app| {
        let options = ask.options();
        let view = ask.view(app.source.as_ref())?;
        let layout = ask.layout(app);
        let scene = scene::chart(app.source.as_ref(), &layout, &options, view)?;
        Ok(wire::to_json(&scene))
    })
    .await
}

pub(super) async fn overview(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, move |app| {
        let view = ask.view(app.source.as_ref())?;
        let scene = scene::overview(app.source.as_ref(), &app.outline, &ask.options(), view)?;
        Ok(wire::to_json(&scene))
    })
    .await
}

pub(super) async fn legend(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, move |app| {
        let groups = scene::legend(
            app.source.as_ref(),
            &app.outline,
            ask.interval(app.source.as_ref())?,
            Theme::new(ask.theme),
        )?;
        Ok(json!({ "groups": groups }))
    })
    .await
}

pub(super) async fn facts(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, move |app| {
        let id = wire::parse_entity(&ask.id).ok_or(QueryError::Unknown { what: "entity" })?;
        let facts = app.source.facts(id)?;
        Ok(facts_json(app.source.as_ref(), &facts))
    })
    .await
}

/// What a pixel column of a container's row holds: its only state, or how many there are.
pub(super) async fn at(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, move |app| {
        let Some(EntityId::Container(container)) = wire::parse_entity(&ask.id) else {
            return Err(QueryError::Unknown { what: "container" }.into());
        };
        let (source, interval) = (app.source.as_ref(), ask.interval(app.source.as_ref())?);
        let (mut total, mut only) = (0, None);
        for (of, ty, depths) in app.outline.state_types_within(container).into_iter().flat_map(|ty| {
            app.outline.states_within(container, ty).into_iter().map(move |(of, depths)| (of, ty, depths))
        }) {
            for depth in 0..depths {
                let listed = source.states(Lane { container: of, ty, depth }, interval, 1)?;
                total += listed.total;
                only = listed.items.first().copied().or(only);
            }
        }
        let facts = only.filter(|_| total == 1).map(|state| source.facts(state.id)).transpose()?;
        Ok(json!({ "states": total, "facts": facts.map(|facts| facts_json(source, &facts)) }))
    })
    .await
}

fn facts_json(source: &dyn TimelineSource, facts: &Facts) -> Value {
    const RELATED: usize = 500;
    let origin = source.summary().extent.from.0;
    let related = source.related(facts.id, RELATED).unwrap_or_default();
    let kind = match facts.id {
        EntityId::Container(_) => "Container",
        EntityId::State(_) => "State",
        EntityId::Event(_) => "Event",
        EntityId::Link(_) => "Link",
        EntityId::Sample(_) => "Value",
    };
    let related: Vec<Value> = related
        .into_iter()
        .map(|id| {
            let known = source.facts(id).ok();
            let (name, path) = known.map_or_else(Default::default, |facts| (facts.name, facts.container_path));
            json!({ "id": entity(id), "name": name, "path": path })
        })
        .collect();
    json!({
        "id": entity(facts.id),
        "kind": kind,
        "name": facts.name,
        "types": facts.type_path,
        "containers": facts.container_path,
        "container": facts.container.0,
        "from": facts.life.from.0.saturating_sub(origin),
        "to": facts.life.to.0.saturating_sub(origin),
        "fields": facts.fields,
        "source": facts.source,
        "related": related,
    })
}
