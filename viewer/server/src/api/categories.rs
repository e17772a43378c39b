//! The categories of the values: guessed, assigned by the trace, or by the user.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde_json::{Value, json};
use tumit_perspectives::execution::ExecutionSettings;
use tumit_perspectives::execution::categories::{CategoryOrigin, CategoryTable};
use tumit_viewer::query::{PajeTypeKind, TypeId, TypeModel, ValueInfo};

use super::cards::CardsRequest;
use super::{AppState, JsonAnswer, run};
use crate::user_data::model_categories::AssignedCategory;

/// The values of all state types with their category, and the categories that the user assigned.
pub(crate) async fn categories(State(app): State<Arc<AppState>>, Query(request): Query<CardsRequest>) -> JsonAnswer {
    run(app, move |app, cancel| {
        let trace = app.trace(request.trace)?;
        let unfiltered = trace.trace.source.source().model();
        let filtered = trace.filtered_trace(&request.filters)?;
        let model = filtered.source.model();
        // A trace without units has no states that count.
        let settings = ExecutionSettings::default();
        let counted =
            filtered.executions.with(&settings, cancel, |execution| Ok(execution.units().state_types.clone()));
        let counted = counted.unwrap_or_default();
        Ok(json!({ "values": values(&model, &unfiltered, &counted), "assigned": app.categories.read(&unfiltered) }))
    })
    .await
    .map(Json)
}

/// Saves the categories that the user assigned, for the next run of the program.
pub(crate) async fn save_categories(
    State(app): State<Arc<AppState>>,
    Query(request): Query<CardsRequest>,
    Json(categories): Json<Vec<AssignedCategory>>,
) -> JsonAnswer {
    run(app, move |app, _| {
        let model = app.trace(request.trace)?.trace.source.source().model();
        // A cache folder that is not writable does not affect the page.
        Ok(json!({ "saved": app.categories.write(&model, categories).is_ok() }))
    })
    .await
    .map(Json)
}

/// The origin of a category that the user did not choose.
fn origin(table: &CategoryTable, value: &ValueInfo, unfiltered: &TypeModel) -> &'static str {
    if table.get(value.id).origin == CategoryOrigin::Guess {
        return "guess";
    }
    // Filters keep the numbers of values.
    let of_trace = unfiltered.values.get(value.id.index()).and_then(|original| original.category);
    if of_trace == value.category { "trace" } else { "filter" }
}

/// The values of state types. `types` are the types that determine the categories of units
/// without a choice of the user.
fn values(model: &TypeModel, unfiltered: &TypeModel, types: &[TypeId]) -> Vec<Value> {
    let table = CategoryTable::new(model, &[]);
    let is_state = |ty: usize| model.types.get(ty).is_some_and(|ty| ty.kind == PajeTypeKind::State);
    let states = model.values.iter().filter(|value| is_state(value.ty.index()));
    let json = states.map(|value| {
        json!({
            "value": value.id.0,
            "name": value.name,
            "type": model.types[value.ty.index()].name,
            "counts": types.contains(&value.ty),
            "category": table.category(value.id).word(),
            "origin": origin(&table, value, unfiltered),
        })
    });
    json.collect()
}
