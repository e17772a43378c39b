//! Notes on a trace, and the look of its model: read and written.

use std::io;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Answer, App, Ask, Failure, run};
use crate::user_files::{NoteChange, Notes, PageLook};

fn answer(notes: io::Result<Notes>) -> Result<Value, Failure> {
    let notes = notes.map_err(|error| Failure(StatusCode::CONFLICT, error.to_string()))?;
    Ok(json!(notes))
}

pub(crate) async fn notes(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    run(app, move |app, _| answer(app.trace(ask.trace)?.notes())).await.map(Json)
}

pub(crate) async fn keep_notes(
    State(app): State<Arc<App>>,
    Query(ask): Query<Ask>,
    Json(change): Json<NoteChange>,
) -> Answer {
    run(app, move |app, _| answer(app.trace(ask.trace)?.change_notes(change))).await.map(Json)
}

/// Keeps the page's filters beside the trace, to be offered again.
pub(crate) async fn save_filters(
    State(app): State<Arc<App>>,
    Query(ask): Query<Ask>,
    Json(filters): Json<Vec<(String, bool)>>,
) -> Answer {
    run(app, move |app, _| {
        // A folder that cannot be written leaves the page as it is.
        Ok(json!({ "kept": app.trace(ask.trace)?.save_filters(&filters).is_ok() }))
    })
    .await
    .map(Json)
}

/// Remembers how the page looks, for the next run of the program.
pub(crate) async fn look(State(app): State<Arc<App>>, Query(ask): Query<Ask>, Json(look): Json<PageLook>) -> Answer {
    run(app, move |app, _| {
        let model = app.trace(ask.trace)?.served.source.source().model();
        // A cache that cannot be written leaves the page as it is.
        Ok(json!({ "kept": app.looks.write(&model, look).is_ok() }))
    })
    .await
    .map(Json)
}
