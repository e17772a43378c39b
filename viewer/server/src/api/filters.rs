//! The page's filter editor: the problems of each filter, the meaning of a typed filter, and
//! completions.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde_json::{Value, json};

use super::{AppState, DrawRequest, JsonAnswer, compute};
use crate::filtered_cache::FilterProblem;
use tumit_viewer::filter::FilterExpr;
use tumit_viewer::filter::language::complete::complete;

/// Maximum number of completions in a response.
const OFFERED: usize = 40;

/// The problems of the filters of a chain. Positions count UTF-16 units, as JavaScript does.
pub(crate) async fn chain(State(app): State<Arc<AppState>>, Query(ask): Query<DrawRequest>) -> JsonAnswer {
    compute(app, ask, |app, _| Ok(json!({ "problems": app.problems.iter().map(problem).collect::<Vec<_>>() }))).await
}

/// A filter that the user types, after the other filters. Returns its shortest form or its problem,
/// and the completions at the cursor.
pub(crate) async fn typed(State(app): State<Arc<AppState>>, Query(ask): Query<DrawRequest>) -> JsonAnswer {
    compute(app, ask, |app, ask| {
        let text = ask.what.as_str();
        let cursor = text.char_indices().scan(0, |units, (at, c)| {
            *units += c.len_utf16();
            Some((*units, at + c.len_utf8()))
        });
        let wanted = usize::try_from(ask.by).unwrap_or(0);
        let end = cursor.take_while(|&(units, _)| units <= wanted).last().map_or(0, |(_, at)| at);
        let source = &app.source;
        let offers: Vec<Value> = complete(source.as_ref(), &text[..end], OFFERED)
            .into_iter()
            .map(|one| json!({ "text": one.text, "from": units(text, one.from), "what": one.what, "told": one.told }))
            .collect();
        let read = text.parse::<FilterExpr>();
        let meant = read.as_ref().ok().map(ToString::to_string);
        let error = match read {
            Err(error) => Some(error),
            Ok(filter) => filter.apply(source).err(),
        };
        let wrong = error.map(|error| problem(&FilterProblem { at: 0, error, text: text.to_owned() }));
        Ok(json!({ "meant": meant, "wrong": wrong, "offers": offers }))
    })
    .await
}

/// Converts expressions of a file of version 1 to the current language.
pub(crate) async fn migrated(Json(texts): Json<Vec<String>>) -> Json<Value> {
    let today =
        |text: &String| FilterExpr::parse_any_version(text).map_or_else(|_| text.clone(), |filter| filter.to_string());
    let needs_two = |text: &String| text.parse::<FilterExpr>().is_ok_and(|filter| !filter.is_version_1());
    let version = if texts.iter().any(needs_two) { 2 } else { 1 };
    Json(json!({ "filters": texts.iter().map(today).collect::<Vec<_>>(), "version": version }))
}

fn problem(wrong: &FilterProblem) -> Value {
    let place = wrong.error.place(&wrong.text);
    json!({
        "at": wrong.at,
        "error": wrong.error.to_string(),
        "from": units(&wrong.text, place.start),
        "to": units(&wrong.text, place.end),
    })
}

/// Converts a position in bytes to UTF-16 units, in which JavaScript counts.
fn units(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.encode_utf16().count())
}
