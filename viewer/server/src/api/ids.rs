//! Numbers of the page as names and back: numbers mean the same only in one trace, names in every run of a program.

use crate::type_names::type_path;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Answer, App, Ask, Shown, run};
use tumit_viewer::query::{ContainerId, ContainerInfo, TypeId, ValueId};

/// Containers, types and values by numbers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Numbers {
    containers: Vec<u32>,
    types: Vec<u32>,
    values: Vec<u32>,
}

/// A container by the names down to it, and which it is of those that have the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Place {
    path: Vec<String>,
    #[serde(default)]
    nth: usize,
}

/// The same by names: types by all above them, values by their type and own name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Names {
    containers: Vec<Place>,
    types: Vec<Vec<String>>,
    values: Vec<(Vec<String>, String)>,
}

/// In the order asked; `null` is what is not there.
pub(crate) async fn names(State(app): State<Arc<App>>, Query(ask): Query<Ask>, Json(numbers): Json<Numbers>) -> Answer {
    run(app, move |app, gone| {
        let shown = app.trace(ask.trace)?.shown(&ask.filters)?.awaited(gone);
        let model = shown.source.model();
        let places = places(&shown, &numbers.containers);
        let value = |id: u32| {
            let value = model.values.get(ValueId(id).index())?;
            Some((type_path(&model, value.ty)?, value.name.clone()))
        };
        Ok(json!({
            "containers": numbers.containers.iter().map(|id| places.get(id)).collect::<Vec<_>>(),
            "types": numbers.types.iter().map(|&id| type_path(&model, TypeId(id))).collect::<Vec<_>>(),
            "values": numbers.values.iter().map(|&id| value(id)).collect::<Vec<_>>(),
        }))
    })
    .await
    .map(Json)
}

/// In the order asked; `null` is what this trace does not have.
pub(crate) async fn numbers(State(app): State<Arc<App>>, Query(ask): Query<Ask>, Json(names): Json<Names>) -> Answer {
    run(app, move |app, gone| {
        let shown = app.trace(ask.trace)?.shown(&ask.filters)?.awaited(gone);
        let model = shown.source.model();
        let mut found: FxHashMap<&Place, Option<u32>> = names.containers.iter().map(|place| (place, None)).collect();
        let list = shown.source.containers();
        each(&list, |place, id| {
            if let Some(number) = found.get_mut(&place) {
                *number = Some(id.0);
            }
        });
        let types: FxHashMap<Vec<String>, TypeId> =
            model.types.iter().rev().filter_map(|ty| Some((type_path(&model, ty.id)?, ty.id))).collect();
        let value = |(path, name): &(Vec<String>, String)| {
            let ty = *types.get(path)?;
            model.values.iter().find(|value| value.ty == ty && value.name == *name).map(|value| value.id.0)
        };
        Ok(json!({
            "containers": names.containers.iter().map(|place| found.get(place).copied().flatten()).collect::<Vec<_>>(),
            "types": names.types.iter().map(|path| types.get(path).map(|ty| ty.0)).collect::<Vec<_>>(),
            "values": names.values.iter().map(value).collect::<Vec<_>>(),
        }))
    })
    .await
    .map(Json)
}

/// Where containers are.
fn places(shown: &Shown, wanted: &[u32]) -> FxHashMap<u32, Place> {
    let mut found: FxHashMap<u32, Place> = FxHashMap::default();
    each(&shown.source.containers(), |place, id| {
        if wanted.contains(&id.0) {
            found.insert(id.0, place);
        }
    });
    found
}

/// Visits all containers with their places; the list goes down into each before the next.
fn each(list: &[ContainerInfo], mut visit: impl FnMut(Place, ContainerId)) {
    let mut path: Vec<String> = Vec::new();
    let mut seen: FxHashMap<Vec<String>, usize> = FxHashMap::default();
    for info in list {
        path.truncate((info.depth as usize).saturating_sub(1));
        // The root has the name of the trace, in some.
        if info.id != ContainerId::ROOT {
            path.push(info.name.clone());
        }
        let nth = seen.entry(path.clone()).or_default();
        visit(Place { path: path.clone(), nth: *nth }, info.id);
        *nth += 1;
    }
}
