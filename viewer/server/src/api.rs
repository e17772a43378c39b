//! What the page asks for, as JSON. Times are nanoseconds from the trace's first date, small enough for JavaScript's numbers.

pub(crate) mod charts;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod filters;
pub(crate) mod find;
pub(crate) mod ids;
pub(crate) mod image;
pub(crate) mod link_chain;
pub(crate) mod neighbour;
pub(crate) mod per_row;
pub(crate) mod rematch;
pub(crate) mod rows;
pub(crate) mod source;
pub(crate) mod statistics;
pub(crate) mod streaming;
pub(crate) mod totals;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::app::App;
use super::cancellation::{Gone, Waiting};
use super::filtered_cache::{Refusal, Shown};
use tumit_viewer::input::current::Standing;
use tumit_viewer::layout::{Arrangement, Folds, Layout, Options};
use tumit_viewer::query::{ContainerId, EntityId, Facts, GlobalNanos, Interval, QueryError, TypeId, ValueId};
use tumit_viewer::scene::wire::{self, entity};
use tumit_viewer::scene::{self, View};
use tumit_viewer::style::theme::{Theme, ThemeKind};

/// An answer that went wrong, as the page shows it.
#[derive(Debug)]
pub(crate) struct Failure(StatusCode, String);

impl Failure {
    /// One that is no fault of the question.
    pub(crate) fn of_server(what: &str) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, what.to_owned())
    }

    pub(crate) fn body(&self) -> Value {
        json!({ "error": self.1 })
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, Json(self.body())).into_response()
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        let status = match error {
            QueryError::Unknown { .. } => StatusCode::NOT_FOUND,
            QueryError::EmptyInterval => StatusCode::BAD_REQUEST,
            // Nobody reads it.
            QueryError::NotAwaited => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, error.to_string())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let bad = |text: &str| Self(StatusCode::BAD_REQUEST, text.to_owned());
        match refusal {
            Refusal::Query(error) => error.into(),
            Refusal::TooMany => bad("the filters are too many or too long: at most 100 of them, with 32 KiB of text"),
            Refusal::NoList => bad("the filters are no list of texts"),
        }
    }
}

type Answer = Result<Json<Value>, Failure>;

/// What to draw, as the page says it. Lists are numbers with commas between them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Ask {
    /// Which of the traces.
    pub(crate) trace: usize,
    /// Expressions of the filters that are on, as a JSON list.
    pub(crate) filters: String,
    from: i64,
    to: i64,
    width: f32,
    top: f32,
    bottom: f32,
    /// Pixels per unit.
    resolution: f32,
    /// Whether each column of pixels is wanted by itself, however many bytes they take.
    whole: bool,
    theme: ThemeKind,
    /// Containers at this depth are folded.
    level: Option<u32>,
    toggled: String,
    /// Containers that stand on top, in this order.
    pinned: String,
    /// Containers that are not drawn.
    gone: String,
    /// Moves of containers: `7-3` puts 7 before 3, `7-0` last.
    moved: String,
    /// Text that names of containers have in them.
    names: String,
    /// Types that are not drawn.
    hidden: String,
    /// Variables that are drawn as gradients.
    gradients: String,
    dimmed: String,
    /// Height that the rows should fill, when they need less.
    fill: f32,
    /// An entity.
    id: String,
    /// For `step` and `find`: the direction, below 0 for back.
    by: i32,
    /// For `step`: whether the value must be the same.
    same: bool,
    /// A type, for charts.
    ty: u32,
    /// A value of it; all without one.
    value: Option<u32>,
    /// For `export`: of which kind the file is.
    format: String,
    /// For `find`, `containers` and `filter`: what is looked for.
    what: String,
    /// For `times`: whether only sums are wanted, no numbers of states.
    bare: bool,
}

impl Ask {
    fn options(&self) -> Options {
        fn numbers<T, C: FromIterator<T>>(list: &str, make: impl Fn(u32) -> T) -> C {
            list.split(',').filter_map(|number| number.parse().ok()).map(make).collect()
        }
        let container = |text: &str| text.parse().ok().map(ContainerId);
        let pair =
            |text: &str| text.split_once('-').and_then(|(moved, before)| Some((container(moved)?, container(before)?)));
        let arrangement = Arrangement {
            pinned: numbers(&self.pinned, ContainerId),
            hidden: numbers(&self.gone, ContainerId),
            moved: self.moved.split(',').filter_map(pair).collect(),
            names: self.names.clone(),
        };
        Options {
            folds: Folds { level: self.level, toggled: numbers::<_, BTreeSet<_>>(&self.toggled, ContainerId) },
            arrangement,
            hidden: numbers(&self.hidden, TypeId),
            gradients: numbers(&self.gradients, TypeId),
            dimmed: numbers(&self.dimmed, ValueId),
            theme: self.theme,
            row_scale: 1.0,
        }
    }

    /// The rows; few of them grow a little, so that they can be seen well.
    fn layout(&self, app: &Shown) -> Layout {
        let fill = if self.fill.is_finite() { self.fill } else { 0.0 };
        Layout::filling(&app.outline, &self.options(), fill, 1.0..=1.6)
    }

    fn interval(&self, app: &Shown) -> Result<Interval, Failure> {
        if self.from >= self.to {
            return Err(QueryError::EmptyInterval.into());
        }
        // A hundred and forty years on either side: differences stay within 64 bits.
        const FARTHEST: i64 = (1 << 62) - 1;
        let date = |time: i64| GlobalNanos(app.origin.saturating_add(time.clamp(-FARTHEST, FARTHEST)));
        Ok(Interval { from: date(self.from), to: date(self.to) })
    }

    fn view(&self, app: &Shown) -> Result<View, Failure> {
        let sane = |value: f32, least: f32, most: f32| if value.is_finite() { value.clamp(least, most) } else { least };
        Ok(View {
            interval: self.interval(app)?,
            width: sane(self.width, 1.0, 16_384.0),
            top: sane(self.top, 0.0, 1e7),
            bottom: sane(self.bottom, 0.0, 1e7),
            resolution: sane(self.resolution, 1.0, 4.0),
            titles: false,
            quick: !self.whole,
        })
    }
}

/// Computes off the threads that serve, at most some at a time, what is asked about the trace behind the filters asked for.
async fn compute(
    app: Arc<App>,
    ask: Ask,
    work: impl FnOnce(&Shown, &Ask) -> Result<Value, Failure> + Send + 'static,
) -> Answer {
    compute_any(app, ask, work).await.map(Json)
}

/// The same of an answer of any kind.
async fn compute_any<T: Send + 'static>(
    app: Arc<App>,
    ask: Ask,
    work: impl FnOnce(&Shown, &Ask) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    run(app, move |app, gone| {
        let trace = app.trace(ask.trace)?;
        let shown = trace.shown(&ask.filters)?.awaited(gone);
        work(&shown, &ask)
    })
    .await
}

/// Runs what takes time, and tells it when nobody waits for it any more.
async fn run<T: Send + 'static>(
    app: Arc<App>,
    work: impl FnOnce(&App, &Gone) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let permits = Arc::clone(&app.permits);
    // Who has gone before it is their turn is never answered. What has been begun holds its permit to the end.
    let permit = permits.acquire_owned().await.map_err(|_closed| Failure::of_server("the server is ending"))?;
    let (_waiting, gone) = Waiting::new();
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work(&app, &gone)
    })
    .await;
    done.map_err(|_panic| Failure::of_server("the picture could not be computed; please report this"))?
}

/// Whether the server is there, and the traces are still those that were opened.
pub(crate) async fn ping(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    let trace = app.trace(ask.trace)?;
    let now = trace.served.source.now();
    // What is followed is expected to change.
    let changed = if now.standing == Standing::Final && !trace.served.follows { trace.changed() } else { None };
    Ok(Json(
        json!({ "changed": changed, "generation": now.generation, "standing": now.standing.sentence(), "kept": matches!(now.standing, Standing::Kept(_)) }),
    ))
}

pub(crate) async fn summary(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    let trace = app.trace(ask.trace)?;
    let now = trace.served.source.now();
    let summary = now.source.summary();
    let extent = summary.extent;
    let model = now.source.model();
    Ok(Json(json!({
        "name": summary.name,
        "names": app.traces.iter().map(|trace| trace.served.source.source().summary().name).collect::<Vec<_>>(),
        "origin": extent.from.0.to_string(),
        "duration": extent.to.0.saturating_sub(extent.from.0).max(1),
        "containers": summary.containers,
        "states": summary.states,
        "events": summary.events,
        "links": summary.links,
        "samples": summary.samples,
        "remarks": summary.remarks,
        "intact": summary.intact,
        // Real time of the page's time 0, as text: a number of JavaScript cannot hold it.
        "clock": summary.wall_clock.map(|zero| (i128::from(zero) + i128::from(extent.from.0)).to_string()),
        "filters": trace.served.filters.filters.iter().map(|entry| json!([entry.filter.to_string(), entry.on])).collect::<Vec<_>>(),
        "saved": trace.saved_filters(),
        "look": app.looks.read(&model),
        "generation": now.generation,
        "standing": now.standing.sentence(),
        "kept": matches!(now.standing, Standing::Kept(_)),
        "version": env!("CARGO_PKG_VERSION"),
    })))
}

pub(crate) async fn legend(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let groups = scene::legend(app.source.as_ref(), &app.outline, ask.interval(app)?, Theme::new(ask.theme))?;
        Ok(json!({ "groups": groups }))
    })
    .await
}

pub(crate) async fn facts(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let id = wire::parse_entity(&ask.id).ok_or(QueryError::Unknown { what: "entity" })?;
        let facts = app.source.facts(id)?;
        Ok(facts_json(app, &facts))
    })
    .await
}

fn facts_json(app: &Shown, facts: &Facts) -> Value {
    const RELATED: usize = 500;
    let source = app.source.as_ref();
    let origin = app.origin;
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
            let Ok(known) = source.facts(id) else { return json!({ "id": entity(id), "name": "", "path": [] }) };
            json!({
                "id": entity(id),
                "name": known.name,
                "path": known.container_path,
                "from": known.life.from.0.saturating_sub(origin),
                "to": known.life.to.0.saturating_sub(origin),
            })
        })
        .collect();
    json!({
        "id": entity(facts.id),
        "kind": kind,
        "name": facts.name,
        "types": facts.type_path,
        "containers": facts.container_path,
        "container": facts.container.0,
        "above": app.outline.above(facts.container).iter().map(|container| container.0).collect::<Vec<_>>(),
        "from": facts.life.from.0.saturating_sub(origin),
        "to": facts.life.to.0.saturating_sub(origin),
        "fields": facts.fields,
        "source": facts.source,
        "related": related,
    })
}
