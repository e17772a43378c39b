//! Conversion of the page's numbers to names and back. Numbers are valid in one trace only, names
//! in every run of a program.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{AppState, DrawRequest, FilteredTrace, JsonAnswer, run};
use crate::type_names::{ValuePath, type_path};
use tumit_viewer::query::{ContainerId, ContainerInfo, TypeId, ValueId};

/// Numbers of containers, types and values.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TraceNumbers {
    containers: Vec<u32>,
    types: Vec<u32>,
    values: Vec<u32>,
}

/// A container, identified by the names on the path to it and an index among the containers with
/// the same path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct ContainerPath {
    path: Vec<String>,
    #[serde(default)]
    nth: usize,
}

/// The names of containers, types and values. A type is given by the names on the path to it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TraceNames {
    containers: Vec<ContainerPath>,
    types: Vec<Vec<String>>,
    values: Vec<ValuePath>,
}

/// Converts numbers to names, in the order of the request. Unknown numbers become `null`.
pub(crate) async fn names(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
    Json(numbers): Json<TraceNumbers>,
) -> JsonAnswer {
    run(app, move |app, cancel| {
        let trace = app.trace(request.trace)?.filtered_trace(&request.filters)?.with_cancellation(cancel);
        let model = trace.source.model();
        let places = places(&trace, &numbers.containers);
        Ok(json!({
            "containers": numbers.containers.iter().map(|id| places.get(id)).collect::<Vec<_>>(),
            "types": numbers.types.iter().map(|&id| type_path(&model, TypeId(id))).collect::<Vec<_>>(),
            "values": numbers.values.iter().map(|&id| ValuePath::of(&model, ValueId(id))).collect::<Vec<_>>(),
        }))
    })
    .await
    .map(Json)
}

/// Converts names to numbers, in the order of the request. Names that this trace does not have
/// become `null`.
pub(crate) async fn numbers(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
    Json(names): Json<TraceNames>,
) -> JsonAnswer {
    run(app, move |app, cancel| {
        let trace = app.trace(request.trace)?.filtered_trace(&request.filters)?.with_cancellation(cancel);
        let model = trace.source.model();
        let mut numbers: FxHashMap<&ContainerPath, Option<u32>> =
            names.containers.iter().map(|place| (place, None)).collect();
        let list = trace.source.containers();
        visit_containers(&list, |place, id| {
            if let Some(number) = numbers.get_mut(&place) {
                *number = Some(id.0);
            }
        });
        let types: FxHashMap<Vec<String>, TypeId> =
            model.types.iter().rev().filter_map(|ty| Some((type_path(&model, ty.id)?, ty.id))).collect();
        let value = |path: &ValuePath| {
            let ty = *types.get(&path.ty)?;
            model.values.iter().find(|value| value.ty == ty && value.name == path.name).map(|value| value.id.0)
        };
        Ok(json!({
            "containers": names.containers.iter().map(|place| numbers.get(place).copied().flatten()).collect::<Vec<_>>(),
            "types": names.types.iter().map(|path| types.get(path).map(|ty| ty.0)).collect::<Vec<_>>(),
            "values": names.values.iter().map(value).collect::<Vec<_>>(),
        }))
    })
    .await
    .map(Json)
}

fn places(trace: &FilteredTrace, ids: &[u32]) -> FxHashMap<u32, ContainerPath> {
    let mut paths: FxHashMap<u32, ContainerPath> = FxHashMap::default();
    visit_containers(&trace.source.containers(), |place, id| {
        if ids.contains(&id.0) {
            paths.insert(id.0, place);
        }
    });
    paths
}

/// Visits all containers with their places. The list is in depth-first order.
fn visit_containers(list: &[ContainerInfo], mut visit: impl FnMut(ContainerPath, ContainerId)) {
    let mut path: Vec<String> = Vec::new();
    let mut path_counts: FxHashMap<Vec<String>, usize> = FxHashMap::default();
    for info in list {
        path.truncate((info.depth as usize).saturating_sub(1));
        // In some traces, the root has the name of the trace.
        if info.id != ContainerId::ROOT {
            path.push(info.name.clone());
        }
        let nth = path_counts.entry(path.clone()).or_default();
        visit(ContainerPath { path: path.clone(), nth: *nth }, info.id);
        *nth += 1;
    }
}
