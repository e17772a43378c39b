//! Requests about the card files of users.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tumit_perspectives::view::{TimeMode, ViewGroup};

use super::{AppState, DrawRequest, JsonAnswer, RequestError, run, views};
use crate::filtered_cache::TraceCache;

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

/// The views of users for the gallery. A file with a mistake has the name of the file as its title;
/// the drawing of its card has the mistake.
pub(super) fn own_views(app: &AppState, trace: &TraceCache) -> Vec<Value> {
    let own = &app.own_views;
    let mut list: Vec<Value> = own.views.iter().map(|view| views::view_json(&view.info())).collect();
    for file in own.files(trace.served.path.as_deref()) {
        list.push(own.card(&file.path).map_or_else(
            |_| {
                json!({
                    "name": file.name,
                    "number": null,
                    "title": file.file_name(),
                    "group": ViewGroup::Own.name(),
                    "summary": "",
                    "needs": "",
                    "modes": [TimeMode::Range.word()],
                    "options": [],
                    "is_diagram": false,
                })
            },
            |view| views::view_json(&view.info()),
        ));
    }
    list
}
