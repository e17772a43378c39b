//! Requests that read and write the notes on a trace and the style of its model.

use std::io;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{AppState, DrawRequest, JsonAnswer, RequestError, run};
use crate::user_files::{NoteEdit, PageStyle, TraceNotes};

fn answer(notes: io::Result<TraceNotes>) -> Result<Value, RequestError> {
    let notes = notes.map_err(|error| RequestError(StatusCode::CONFLICT, error.to_string()))?;
    Ok(json!(notes))
}

pub(crate) async fn notes(State(app): State<Arc<AppState>>, Query(ask): Query<DrawRequest>) -> JsonAnswer {
    run(app, move |app, _| answer(app.trace(ask.trace)?.notes())).await.map(Json)
}

pub(crate) async fn keep_notes(
    State(app): State<Arc<AppState>>,
    Query(ask): Query<DrawRequest>,
    Json(change): Json<NoteEdit>,
) -> JsonAnswer {
    run(app, move |app, _| answer(app.trace(ask.trace)?.change_notes(change))).await.map(Json)
}

/// Saves the page's filters next to the trace, so that the page can offer them again.
pub(crate) async fn save_filters(
    State(app): State<Arc<AppState>>,
    Query(ask): Query<DrawRequest>,
    Json(filters): Json<Vec<(String, bool)>>,
) -> JsonAnswer {
    run(app, move |app, _| {
        // A folder that is not writable does not affect the page.
        Ok(json!({ "kept": app.trace(ask.trace)?.save_filters(&filters).is_ok() }))
    })
    .await
    .map(Json)
}

/// Saves the page's style for the next run of the program.
pub(crate) async fn look(
    State(app): State<Arc<AppState>>,
    Query(ask): Query<DrawRequest>,
    Json(look): Json<PageStyle>,
) -> JsonAnswer {
    run(app, move |app, _| {
        let model = app.trace(ask.trace)?.served.source.source().model();
        // A cache folder that is not writable does not affect the page.
        Ok(json!({ "kept": app.looks.write(&model, look).is_ok() }))
    })
    .await
    .map(Json)
}
