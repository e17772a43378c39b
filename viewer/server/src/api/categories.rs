//! The categories of the values: guessed, assigned by the trace, or by the user.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde_json::{Value, json};
use tumit_perspectives::execution::categories::{CategoryOrigin, CategoryTable};
use tumit_viewer::query::{PajeTypeKind, TypeModel};

use super::cards::CardsRequest;
use super::{AppState, JsonAnswer, run};
use crate::model_categories::AssignedCategory;

/// The values of all state types with their category, and the categories that the user assigned.
pub(crate) async fn categories(State(app): State<Arc<AppState>>, Query(request): Query<CardsRequest>) -> JsonAnswer {
    run(app, move |app, _| {
        let model = app.trace(request.trace)?.filtered_trace(&request.filters)?.source.model();
        Ok(json!({ "values": values(&model), "assigned": app.categories.read(&model) }))
    })
    .await
    .map(Json)
}

/// Saves the categories that the user assigned, for the next run of the program.
pub(crate) async fn save_categories(
    State(app): State<Arc<AppState>>,
    Query(request): Query<CardsRequest>,
    Json(assigned): Json<Vec<AssignedCategory>>,
) -> JsonAnswer {
    run(app, move |app, _| {
        let model = app.trace(request.trace)?.served.source.source().model();
        // A cache folder that is not writable does not affect the page.
        Ok(json!({ "saved": app.categories.write(&model, assigned).is_ok() }))
    })
    .await
    .map(Json)
}

fn values(model: &TypeModel) -> Vec<Value> {
    let table = CategoryTable::new(model, &[]);
    let is_state = |ty: usize| model.types.get(ty).is_some_and(|ty| ty.kind == PajeTypeKind::State);
    let states = model.values.iter().filter(|value| is_state(value.ty.index()));
    let json = states.map(|value| {
        let found = table.get(value.id);
        json!({
            "value": value.id.0,
            "name": value.name,
            "type": model.types[value.ty.index()].name,
            "category": found.category.word(),
            "is_guess": found.origin == CategoryOrigin::Guess,
        })
    });
    json.collect()
}
