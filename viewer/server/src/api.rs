//! The JSON interface of the page. Times are nanoseconds after the trace's first timestamp, which
//! fit into JavaScript's numbers.

pub(crate) mod call_profile;
pub(crate) mod cards;
pub(crate) mod categories;
pub(crate) mod diagram_mode;
pub(crate) mod entities;
pub(crate) mod export;
pub(crate) mod filter_editor;
pub(crate) mod find;
pub(crate) mod image;
pub(crate) mod next_event;
pub(crate) mod numbers_and_names;
mod operation;
pub(crate) mod row_times;
pub(crate) mod rows;
pub(crate) mod selected_rows;
pub(crate) mod source_file;
pub(crate) mod statistics;
pub(crate) mod statistics_charts;
pub(crate) mod streaming;
pub(crate) mod totals;
pub(crate) mod user_files;
pub(crate) mod views;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::app::AppState;
use super::caches::filtered_cache::{FilterRefusal, FilteredTrace};
use super::cancellation::{CancelFlag, ClientGuard};
use super::user_data::saved_filters::PageFilter;
use tumit_viewer::input::current_trace::TraceAvailability;
use tumit_viewer::layout::{FoldedContainers, JoinedOperations, LayoutOptions, RowArrangement, RowLayout, RowMove};
use tumit_viewer::query::{ContainerId, EntityFacts, EntityId, GlobalNanos, QueryError, TimeRange, TypeId, ValueId};
use tumit_viewer::scene::wire::{self, entity};
use tumit_viewer::scene::{self, Viewport};
use tumit_viewer::style::theme::{ColorTheme, ThemeKind};

/// An error response for the page.
#[derive(Debug)]
pub(crate) struct RequestError(StatusCode, String);

impl RequestError {
    /// An error that the request caused.
    pub(crate) fn of_client(message: String) -> Self {
        Self(StatusCode::BAD_REQUEST, message)
    }

    /// An error that the request did not cause.
    pub(crate) fn of_server(message: &str) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, message.to_owned())
    }

    /// An answer with the reason, if the request caused the error.
    ///
    /// # Errors
    /// The error itself, if the request did not cause it.
    pub(crate) fn into_reason(self) -> Result<Value, Self> {
        if self.0 == StatusCode::BAD_REQUEST { Ok(self.body()) } else { Err(self) }
    }

    pub(crate) fn body(&self) -> Value {
        json!({ "error": self.1 })
    }
}

impl IntoResponse for RequestError {
    fn into_response(self) -> Response {
        (self.0, Json(self.body())).into_response()
    }
}

impl From<QueryError> for RequestError {
    fn from(error: QueryError) -> Self {
        let status = match error {
            QueryError::Unknown { .. } => StatusCode::NOT_FOUND,
            QueryError::EmptyTimeRange => StatusCode::BAD_REQUEST,
            // The client has disconnected, so that no client reads this response.
            QueryError::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, error.to_string())
    }
}

impl From<FilterRefusal> for RequestError {
    fn from(refusal: FilterRefusal) -> Self {
        let bad = |text: &str| Self(StatusCode::BAD_REQUEST, text.to_owned());
        match refusal {
            FilterRefusal::Query(error) => error.into(),
            FilterRefusal::TooMany => {
                bad("the filters are too many or too long: at most 100 of them, with 32 KiB of text")
            }
            FilterRefusal::NoList => bad("the filters are not a list of texts"),
        }
    }
}

type JsonAnswer = Result<Json<Value>, RequestError>;

/// The parameters of a request. Lists are numbers separated by commas.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DrawRequest {
    /// Index of the trace.
    pub(crate) trace: usize,
    /// Expressions of the filters that are on, as a JSON list.
    pub(crate) filters: String,
    /// The mode of the diagram, as JSON. Without it, the trace itself is shown.
    pub(crate) mode: String,
    from: i64,
    to: i64,
    width: f32,
    top: f32,
    bottom: f32,
    /// Pixels per scene unit.
    resolution: f32,
    /// Whether the image must have all its pixel columns, regardless of its size in bytes.
    whole: bool,
    theme: ThemeKind,
    /// Depth at which containers are folded.
    level: Option<u32>,
    toggled: String,
    /// Containers that are fixed at the top, in this order.
    pinned: String,
    hidden_containers: String,
    /// Moves of containers: `7-3` puts 7 before 3, `7-0` puts it last.
    moved: String,
    /// Text that the names of shown containers contain.
    names: String,
    /// Hidden types.
    hidden: String,
    /// Variables that are drawn as gradients.
    gradients: String,
    dimmed: String,
    /// Height that the rows should fill if they need less.
    fill: f32,
    /// The rows of the selection, as [`selected_rows::SelectedRows`]: the answer is about these
    /// rows only.
    rows: String,
    id: String,
    /// For `neighbour` and `find`: the direction, negative for backwards.
    direction: i32,
    /// For `typed_filter`: the position of the cursor in UTF-16 code units.
    cursor: usize,
    /// For `neighbour`: whether the value must be the same.
    same_value: bool,
    /// For charts: the type.
    ty: u32,
    /// A value of the type. Without it, all values.
    value: Option<u32>,
    /// For `export`: the format of the file.
    format: String,
    /// The typed text of `find`, `containers` and `typed_filter`, the rows of `row_times`, or the
    /// properties of the entity of `rematch`.
    text: String,
    /// For `times`: whether only sums are needed, without the numbers of states.
    sums_only: bool,
}

impl DrawRequest {
    fn options(&self) -> LayoutOptions {
        fn numbers<T, C: FromIterator<T>>(list: &str, convert: impl Fn(u32) -> T) -> C {
            list.split(',').filter_map(|number| number.parse().ok()).map(convert).collect()
        }
        let container = |text: &str| text.parse().ok().map(ContainerId);
        let row_move = |text: &str| {
            let (moved, anchor) = text.split_once('-')?;
            Some(RowMove { container: container(moved)?, successor: container(anchor)? })
        };
        let arrangement = RowArrangement {
            pinned_containers: numbers(&self.pinned, ContainerId),
            hidden_containers: numbers(&self.hidden_containers, ContainerId),
            row_moves: self.moved.split(',').filter_map(row_move).collect(),
            names: self.names.clone(),
            ..RowArrangement::default()
        };
        LayoutOptions {
            folds: FoldedContainers {
                level: self.level,
                toggled: numbers::<_, BTreeSet<_>>(&self.toggled, ContainerId),
            },
            arrangement,
            hidden_types: numbers(&self.hidden, TypeId),
            gradients: numbers(&self.gradients, TypeId),
            dimmed_values: numbers(&self.dimmed, ValueId),
            theme: self.theme,
            row_scale: 1.0,
            joined_operations: JoinedOperations::None,
        }
    }

    /// The rows. Few rows are made up to 1.6 times as high, so that they are easier to see.
    fn layout(&self, trace: &FilteredTrace) -> RowLayout {
        let fill = if self.fill.is_finite() { self.fill } else { 0.0 };
        RowLayout::fill_height(&trace.outline, &self.options(), fill, 1.0..=1.6)
    }

    fn time_range(&self, trace: &FilteredTrace) -> Result<TimeRange, RequestError> {
        if self.from >= self.to {
            return Err(QueryError::EmptyTimeRange.into());
        }
        // About 146 years in each direction. Differences then fit into 64 bits.
        const FARTHEST: i64 = (1 << 62) - 1;
        let timestamp = |time: i64| GlobalNanos(trace.origin.saturating_add(time.clamp(-FARTHEST, FARTHEST)));
        Ok(TimeRange { from: timestamp(self.from), to: timestamp(self.to) })
    }

    fn view(&self, trace: &FilteredTrace) -> Result<Viewport, RequestError> {
        let bounded = |value: f32, min: f32, max: f32| if value.is_finite() { value.clamp(min, max) } else { min };
        Ok(Viewport {
            time_range: self.time_range(trace)?,
            width: bounded(self.width, 1.0, 16_384.0),
            top: bounded(self.top, 0.0, 1e7),
            bottom: bounded(self.bottom, 0.0, 1e7),
            resolution: bounded(self.resolution, 1.0, 4.0),
            titles: false,
            is_quick: !self.whole,
        })
    }
}

/// Computes an answer about the filtered trace on a blocking thread. The number of computations at
/// a time is limited.
async fn compute(
    app: Arc<AppState>,
    request: DrawRequest,
    work: impl FnOnce(&FilteredTrace, &DrawRequest) -> Result<Value, RequestError> + Send + 'static,
) -> JsonAnswer {
    compute_any(app, request, work).await.map(Json)
}

/// As `compute`, for an answer of any type.
async fn compute_any<T: Send + 'static>(
    app: Arc<AppState>,
    request: DrawRequest,
    work: impl FnOnce(&FilteredTrace, &DrawRequest) -> Result<T, RequestError> + Send + 'static,
) -> Result<T, RequestError> {
    run(app, move |app, cancel| {
        let shown = app.shown_trace(&request, cancel)?;
        work(&shown, &request)
    })
    .await
}

/// Runs a long computation. It is cancelled when the client disconnects.
async fn run<T: Send + 'static>(
    app: Arc<AppState>,
    work: impl FnOnce(&AppState, &CancelFlag) -> Result<T, RequestError> + Send + 'static,
) -> Result<T, RequestError> {
    let permits = Arc::clone(&app.answer_permits);
    // A client that disconnects before its turn gets no answer. A computation that has begun keeps
    // its permit until its end.
    let permit =
        permits.acquire_owned().await.map_err(|_closed| RequestError::of_server("the server is shutting down"))?;
    let client = ClientGuard::default();
    let cancel = client.cancel_flag();
    let result = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work(&app, &cancel)
    })
    .await;
    result.map_err(|_panic| RequestError::of_server("the answer could not be computed; please report this"))?
}

/// Reports whether the server runs, and whether the traces are still the opened ones.
pub(crate) async fn ping(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    let trace = app.trace(request.trace)?;
    let snapshot = trace.trace.source.snapshot();
    // A followed trace is expected to change.
    let changed = if snapshot.availability == TraceAvailability::Final && !trace.trace.follows {
        trace.file_change()
    } else {
        None
    };
    Ok(Json(
        json!({ "changed": changed, "generation": snapshot.generation, "availability": snapshot.availability.sentence(), "interrupted": matches!(snapshot.availability, TraceAvailability::Interrupted(_)) }),
    ))
}

pub(crate) async fn summary(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    let trace = app.trace(request.trace)?;
    let snapshot = trace.trace.source.snapshot();
    let summary = snapshot.source.summary();
    let extent = summary.extent;
    let model = snapshot.source.model();
    Ok(Json(json!({
        "name": summary.name,
        "names": app.traces.iter().map(|trace| trace.trace.source.source().summary().name).collect::<Vec<_>>(),
        "origin": extent.from.0.to_string(),
        "duration": extent.to.0.saturating_sub(extent.from.0).max(1),
        "containers": summary.containers,
        "states": summary.states,
        "events": summary.events,
        "links": summary.links,
        "samples": summary.samples,
        "diagnostics": summary.diagnostics,
        "intact": summary.is_intact(),
        // The wall clock at the page's time 0, as text because JavaScript's numbers cannot
        // represent it.
        "clock": summary.wall_clock.map(|zero| (i128::from(zero) + i128::from(extent.from.0)).to_string()),
        "filters": trace.trace.filters.filters.iter().map(PageFilter::from).collect::<Vec<_>>(),
        "saved_filters": trace.saved_filters(),
        "style": app.styles.read(&model),
        "generation": snapshot.generation,
        "availability": snapshot.availability.sentence(),
        "interrupted": matches!(snapshot.availability, TraceAvailability::Interrupted(_)),
        "version": env!("CARGO_PKG_VERSION"),
    })))
}

pub(crate) async fn legend(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    compute(app, request, |trace, request| {
        let groups = scene::legend(
            trace.source.as_ref(),
            &trace.outline,
            request.time_range(trace)?,
            ColorTheme::new(request.theme),
        )?;
        Ok(json!({ "groups": groups }))
    })
    .await
}

pub(crate) async fn facts(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    compute(app, request, |trace, request| {
        let id = wire::parse_entity(&request.id).ok_or(QueryError::Unknown { kind: "entity" })?;
        let facts = trace.source.facts(id)?;
        Ok(facts_json(trace, &facts))
    })
    .await
}

fn facts_json(trace: &FilteredTrace, facts: &EntityFacts) -> Value {
    const RELATED: usize = 500;
    let source = trace.source.as_ref();
    let origin = trace.origin;
    let related = source.related_entities(facts.id, RELATED).unwrap_or_default();
    let kind = match facts.id {
        EntityId::Container(_) => "Container",
        EntityId::State(_) => "State",
        EntityId::Event(_) => "Event",
        EntityId::Link(_) | EntityId::OpenLink(_) => "Link",
        EntityId::Sample(_) => "Value",
    };
    let related: Vec<Value> = related
        .into_iter()
        .map(|id| {
            let Ok(facts) = source.facts(id) else { return json!({ "id": entity(id), "name": "", "path": [] }) };
            json!({
                "id": entity(id),
                "name": facts.name,
                "path": facts.container_path,
                "from": facts.life.from.0.saturating_sub(origin),
                "to": facts.life.to.0.saturating_sub(origin),
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
        "ancestors": trace.outline.ancestors(facts.container).iter().map(|container| container.0).collect::<Vec<_>>(),
        "from": facts.life.from.0.saturating_sub(origin),
        "to": facts.life.to.0.saturating_sub(origin),
        "fields": facts.fields,
        "source": facts.source.as_ref().map(|source| (&source.file, source.line)),
        "related": related,
        // As for related entities, an error is shown by the request that needs the answer.
        "operation": operation::operation_json(trace, facts).unwrap_or_default(),
    })
}
