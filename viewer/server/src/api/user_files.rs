//! Requests that read the notes on a trace, and save notes, filters and the style of its model.

pub(crate) mod own_cards;

use std::io;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{AppState, DrawRequest, JsonAnswer, RequestError, run};
use crate::user_data::saved_filters::PageFilter;
use crate::user_data::user_files::{NoteEdit, PageStyle, TraceNotes};

fn notes_json(notes: io::Result<TraceNotes>) -> Result<Value, RequestError> {
    let notes = notes.map_err(|error| RequestError(StatusCode::CONFLICT, error.to_string()))?;
    Ok(json!(notes))
}

pub(crate) async fn notes(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    run(app, move |app, _| notes_json(app.trace(request.trace)?.notes())).await.map(Json)
}

pub(crate) async fn change_notes(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
    Json(change): Json<NoteEdit>,
) -> JsonAnswer {
    run(app, move |app, _| notes_json(app.trace(request.trace)?.change_notes(change))).await.map(Json)
}

/// Saves the page's filters next to the trace, so that the page can offer them again.
pub(crate) async fn save_filters(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
    Json(filters): Json<Vec<PageFilter>>,
) -> JsonAnswer {
    run(app, move |app, _| {
        // A folder that is not writable does not affect the page.
        Ok(json!({ "saved": app.trace(request.trace)?.save_filters(&filters).is_ok() }))
    })
    .await
    .map(Json)
}

/// Saves the page's style for the next run of the program.
pub(crate) async fn save_style(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
    Json(style): Json<PageStyle>,
) -> JsonAnswer {
    run(app, move |app, _| {
        let model = app.trace(request.trace)?.trace.source.source().model();
        // A cache folder that is not writable does not affect the page.
        Ok(json!({ "saved": app.styles.write(&model, style).is_ok() }))
    })
    .await
    .map(Json)
}
