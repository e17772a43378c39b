//! The chain of filters, as the page edits it: what is wrong with which, what one typed means, and what could be written next.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde_json::{Value, json};

use super::{Answer, App, Ask, compute};
use crate::filtered_cache::Wrong;
use tumit_viewer::filter::Filter;
use tumit_viewer::filter::language::complete::complete;

/// Completions sent.
const OFFERED: usize = 40;

/// What is wrong with the filters of a chain. Positions are those of JavaScript's texts.
pub(crate) async fn chain(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, _| Ok(json!({ "problems": app.problems.iter().map(problem).collect::<Vec<_>>() }))).await
}

/// A filter that is being typed, behind the others: its shortest form or what is wrong with it, and how it could go on at the cursor.
pub(crate) async fn typed(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
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
        let read = text.parse::<Filter>();
        let meant = read.as_ref().ok().map(ToString::to_string);
        let error = match read {
            Err(error) => Some(error),
            Ok(filter) => filter.apply(source).err(),
        };
        let wrong = error.map(|error| problem(&Wrong { at: 0, error, text: text.to_owned() }));
        Ok(json!({ "meant": meant, "wrong": wrong, "offers": offers }))
    })
    .await
}

/// Converts expressions of a file of version 1 to the current language.
pub(crate) async fn migrated(Json(texts): Json<Vec<String>>) -> Json<Value> {
    let today = |text: &String| Filter::migrated(text).map_or_else(|_| text.clone(), |filter| filter.to_string());
    let needs_two = |text: &String| text.parse::<Filter>().is_ok_and(|filter| !filter.is_version_1());
    let version = if texts.iter().any(needs_two) { 2 } else { 1 };
    Json(json!({ "filters": texts.iter().map(today).collect::<Vec<_>>(), "version": version }))
}

fn problem(wrong: &Wrong) -> Value {
    let place = wrong.error.place(&wrong.text);
    json!({
        "at": wrong.at,
        "error": wrong.error.to_string(),
        "from": units(&wrong.text, place.start),
        "to": units(&wrong.text, place.end),
    })
}

/// A position in bytes as JavaScript counts.
fn units(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.encode_utf16().count())
}
