//! The request that adds a card file of the user.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use super::{AppState, DrawRequest, JsonAnswer, RequestError, run};

/// A card file that the user opened on the page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenedCard {
    /// The name of the file.
    file: String,
    text: String,
}

/// Adds a card file to the user's folder, and returns the name of its view.
pub(crate) async fn open_card(
    State(app): State<Arc<AppState>>,
    Query(_request): Query<DrawRequest>,
    Json(card): Json<OpenedCard>,
) -> JsonAnswer {
    let answer = run(app, move |app, _| match app.own_views.add(&card.file, &card.text) {
        Ok(name) => Ok(json!({ "name": name })),
        Err(problem) => Err(RequestError(StatusCode::CONFLICT, problem)),
    });
    answer.await.map(Json)
}
