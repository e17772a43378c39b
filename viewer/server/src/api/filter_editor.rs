//! The page's filter editor: the problems of each filter, the meaning of a typed filter, and
//! completions.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde_json::{Value, json};

use super::{AppState, DrawRequest, JsonAnswer, compute};
use crate::caches::filtered_cache::FilterProblem;
use tumit_viewer::filter::FilterExpr;
use tumit_viewer::filter::language::completion::complete;

/// Maximum number of completions in a response. More typing is faster than a longer list.
const MAX_COMPLETIONS: usize = 40;

/// The problems of the filters of a chain. Positions count UTF-16 code units, as JavaScript does.
pub(crate) async fn filter_problems(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
) -> JsonAnswer {
    compute(app, request, |trace, _| {
        Ok(json!({ "problems": trace.problems.iter().map(problem_json).collect::<Vec<_>>() }))
    })
    .await
}

/// A filter that the user types, after the other filters. Returns its shortest form or its problem,
/// and the completions at the cursor.
pub(crate) async fn typed_filter(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    compute(app, request, |trace, request| {
        let text = request.text.as_str();
        let positions = text.char_indices().scan(0, |units, (offset, c)| {
            *units += c.len_utf16();
            Some((*units, offset + c.len_utf8()))
        });
        let end = positions.take_while(|&(units, _)| units <= request.cursor).last().map_or(0, |(_, offset)| offset);
        let source = &trace.source;
        let completions: Vec<Value> = complete(source.as_ref(), &text[..end], MAX_COMPLETIONS)
            .into_iter()
            .map(|completion| {
                let from = utf16_length(text, completion.from);
                json!({ "text": completion.text, "from": from, "kind": completion.kind, "is_hint": completion.is_hint })
            })
            .collect();
        let filter = text.parse::<FilterExpr>();
        let canonical = filter.as_ref().ok().map(ToString::to_string);
        let error = match filter {
            Err(error) => Some(error),
            Ok(filter) => filter.apply(source).err(),
        };
        let problem =
            error.map(|error| problem_json(&FilterProblem { filter_index: 0, error, filter_text: text.to_owned() }));
        Ok(json!({ "canonical": canonical, "problem": problem, "completions": completions }))
    })
    .await
}

/// Converts expressions of a file of version 1 to the current language.
pub(crate) async fn migrated_filters(Json(texts): Json<Vec<String>>) -> Json<Value> {
    let migrate =
        |text: &String| FilterExpr::parse_any_version(text).map_or_else(|_| text.clone(), |filter| filter.to_string());
    let needs_version_2 = |text: &String| text.parse::<FilterExpr>().is_ok_and(|filter| !filter.is_version_1());
    let version = if texts.iter().any(needs_version_2) { 2 } else { 1 };
    Json(json!({ "filters": texts.iter().map(migrate).collect::<Vec<_>>(), "version": version }))
}

fn problem_json(problem: &FilterProblem) -> Value {
    let place = problem.error.place(&problem.filter_text);
    json!({
        "filter_index": problem.filter_index,
        "error": problem.error.to_string(),
        "from": utf16_length(&problem.filter_text, place.start),
        "to": utf16_length(&problem.filter_text, place.end),
    })
}

/// Converts a position in bytes to UTF-16 code units, in which JavaScript counts.
fn utf16_length(text: &str, offset: usize) -> usize {
    text.get(..offset).map_or(0, |before| before.encode_utf16().count())
}
