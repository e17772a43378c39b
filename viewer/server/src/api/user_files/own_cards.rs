//! The request that adds, removes or restores a card file of the user.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::api::{AppState, DrawRequest, JsonAnswer, RequestError, run};

/// A change of the user's folder of card files.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum CardFileEdit {
    /// Adds a file that the user opened on the page, or replaces the card file with its name.
    Put { file: String, text: String },
    /// Removes the file of a view.
    Remove(String),
    /// Restores the removed file of a view.
    Restore(String),
}

/// Changes the user's folder of card files, and returns the name of the view.
pub(crate) async fn change_cards(
    State(app): State<Arc<AppState>>,
    Query(_request): Query<DrawRequest>,
    Json(edit): Json<CardFileEdit>,
) -> JsonAnswer {
    let answer = run(app, move |app, _| {
        let own_views = &app.own_views;
        let changed = match edit {
            CardFileEdit::Put { file, text } => own_views.add(&file, &text),
            CardFileEdit::Remove(name) => own_views.remove(&name).map(|()| name),
            CardFileEdit::Restore(name) => own_views.restore(&name).map(|()| name),
        };
        changed.map(|name| json!({ "name": name })).map_err(|problem| RequestError(StatusCode::CONFLICT, problem))
    });
    answer.await.map(Json)
}
