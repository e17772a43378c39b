//! The rows of the diagram, and search for containers by name.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::{AppState, DrawRequest, FilteredTrace, JsonAnswer, RequestError, compute, compute_any};
use tumit_viewer::layout::{self, StripKind};
use tumit_viewer::query::container_tree;
use tumit_viewer::query::{ContainerId, ContainerInfo, TypeId};
use tumit_viewer::scene::number;

/// The rows of an image. There may be 100,000 rows, so default values are omitted. `state/rows.js`
/// contains the defaults.
#[derive(Serialize)]
struct RowsAnswer<'a> {
    height: f32,
    pinned: f32,
    rows: Vec<RowAnswer<'a>>,
    hidden_rows: Vec<Value>,
}

#[derive(Serialize)]
struct RowAnswer<'a> {
    id: u32,
    name: &'a str,
    #[serde(rename = "type")]
    ty: &'a str,
    /// The container's name in filters, if it differs from `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_name: Option<String>,
    /// Number of containers that the row represents.
    #[serde(skip_serializing_if = "is_usual")]
    members: usize,
    depth: u32,
    #[serde(skip_serializing_if = "is_usual")]
    pinned: bool,
    ancestors: Vec<u32>,
    y: f32,
    height: f32,
    #[serde(skip_serializing_if = "is_usual")]
    expandable: bool,
    #[serde(skip_serializing_if = "is_usual")]
    folded: bool,
    strips: Vec<StripAnswer<'a>>,
}

#[derive(Serialize)]
struct StripAnswer<'a> {
    kind: &'static str,
    name: &'a str,
    y: f32,
    height: f32,
    /// Its maximum and minimum value.
    bounds: Option<[String; 2]>,
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub(crate) async fn rows(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
) -> Result<impl IntoResponse, RequestError> {
    let text = compute_any(app, request, |trace, request| {
        let layout = request.layout(trace);
        let model = trace.source.model();
        let type_name = |ty: TypeId| model.types.get(ty.index()).map_or("", |ty| &ty.name);
        let list = trace.source.containers();
        let names = ContainerNames::new(&list);
        let rows = layout.rows.iter().map(|row| RowAnswer {
            id: row.container.0,
            name: &row.name,
            ty: type_name(row.ty),
            filter_name: names.filter_name(row.container),
            members: trace.source.members(row.container).len(),
            depth: row.depth,
            pinned: row.is_pinned,
            ancestors: ancestors(trace, row.container),
            y: row.y,
            height: row.height,
            expandable: row.is_expandable,
            folded: row.is_folded,
            strips: row.strips.iter().map(|strip| strip_answer(strip, type_name(strip.ty))).collect(),
        });
        let hidden = request.options().arrangement.hidden_containers;
        let hidden_rows = hidden.iter().filter_map(|&container| place(trace, container)).collect();
        let rows =
            RowsAnswer { height: layout.height, pinned: layout.pinned_height, rows: rows.collect(), hidden_rows };
        serde_json::to_string(&rows).map_err(|_none| RequestError::of_server("the rows cannot be written"))
    });
    Ok(([(CONTENT_TYPE, "application/json")], text.await?))
}

fn strip_answer<'a>(strip: &layout::RowStrip, name: &'a str) -> StripAnswer<'a> {
    let kind = match strip.kind {
        StripKind::States { .. } => "states",
        StripKind::Summary { .. } => "summary",
        StripKind::Events { .. } => "events",
        StripKind::Variable { .. } | StripKind::Gradient { .. } => "variable",
    };
    let bounds = match strip.kind {
        StripKind::Variable { bounds: Some(axis) } => Some([number(axis.max), number(axis.min)]),
        _ => None,
    };
    StripAnswer { kind, name, y: strip.y, height: strip.height, bounds }
}

/// The names of containers in filters: the name, or the path if several containers have the same
/// name.
struct ContainerNames<'l> {
    list: &'l [ContainerInfo],
    positions: FxHashMap<ContainerId, usize>,
    names: FxHashMap<&'l str, u32>,
}

impl<'l> ContainerNames<'l> {
    fn new(list: &'l [ContainerInfo]) -> Self {
        let mut names = FxHashMap::default();
        for info in list {
            *names.entry(info.name.as_str()).or_default() += 1;
        }
        Self { positions: container_tree::positions(list), list, names }
    }

    /// The container's name in filters, if it differs from its own name.
    fn filter_name(&self, container: ContainerId) -> Option<String> {
        let &index = self.positions.get(&container)?;
        let count = self.names.get(self.list[index].name.as_str());
        count.is_some_and(|&count| count > 1).then(|| container_tree::path(self.list, &self.positions, index).join("/"))
    }
}

/// Containers with a text in their names, ignoring case: the first of them, and their number.
pub(crate) async fn containers(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    const MAX_CONTAINERS: usize = 30;
    compute(app, request, |trace, request| {
        let text = request.text.trim().to_lowercase();
        let all = trace.source.containers();
        let found: Vec<ContainerId> = all
            .iter()
            .filter(|info| info.id != ContainerId::ROOT && info.name.to_lowercase().contains(&text))
            .map(|info| info.id)
            .collect();
        let first: Vec<Value> =
            found.iter().take(MAX_CONTAINERS).filter_map(|&container| place(trace, container)).collect();
        Ok(json!({ "total": found.len(), "containers": first }))
    })
    .await
}

/// A container with its name and its path.
fn place(trace: &FilteredTrace, container: ContainerId) -> Option<Value> {
    let name = trace.outline.name(container)?;
    let mut path: Vec<&str> =
        trace.outline.ancestors(container).into_iter().filter_map(|ancestor| trace.outline.name(ancestor)).collect();
    path.push(name);
    Some(json!({ "id": container.0, "name": name, "path": path, "ancestors": ancestors(trace, container) }))
}

/// The numbers of the ancestors of a container.
fn ancestors(trace: &FilteredTrace, container: ContainerId) -> Vec<u32> {
    trace.outline.ancestors(container).iter().map(|container| container.0).collect()
}
