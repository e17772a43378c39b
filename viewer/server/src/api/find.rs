//! Search for entities by value, container, attribute, duration or source location, including
//! entities too small to be drawn.
//!
//! The first request counts all hits and returns the first ones. Later requests turn the pages of
//! the list from a known hit. The search scans the time range column by column, so that the first
//! hits are known first.

mod entity_search;
mod find_query;

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use self::entity_search::{EntitySearch, HITS_PER_PAGE, HitPage, SearchHit, check_fields};
use self::find_query::FindQuery;
use super::{AppState, DrawRequest, FilteredTrace, RequestError};
use crate::api::selected_rows::SelectedRows;
use crate::api::streaming::grow;
use tumit_viewer::query::{ContainerId, EntityId, GlobalNanos, TimeRange};
use tumit_viewer::scene::wire::{self, entity};

pub(crate) async fn find(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
) -> Result<Response, RequestError> {
    grow(app, request, |_, trace, request, progress| {
        let query = parse(request)?;
        let source = trace.source.as_ref();
        if request.id.is_empty() && request.direction >= 0 {
            check_fields(source, &query)?;
        }
        let anchor = match wire::parse_entity(&request.id) {
            Some(id) => {
                let life = source.facts(id)?.life;
                Some(SearchHit { begin: life.from.0.min(life.to.0), id })
            }
            None => None,
        };
        let page = HitPage { anchor, is_backward: request.direction < 0, size: HITS_PER_PAGE };
        let search = EntitySearch::new(trace, &query, &request.rows.parse()?, request.time_range(trace)?, page);
        let hits = search.run(trace, |hits, done| progress.report(done, || search.answer(hits, trace.origin)))?;
        Ok(search.answer(&hits, trace.origin))
    })
    .await
}

/// The next entity that matches, for the player of the dock. With a direction forward, the first
/// one that begins after `from` and not after `to`; backward, the last one that begins before `to`
/// and not before `from`. Its time is null if there is none.
pub(crate) async fn next_match(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
) -> Result<Response, RequestError> {
    grow(app, request, |_, trace, request, _| {
        let query = parse(request)?;
        check_fields(trace.source.as_ref(), &query)?;
        let (range, rows) = (request.time_range(trace)?, request.rows.parse()?);
        let page = if request.direction < 0 {
            last_in(trace, &query, &rows, range)?.filter(|hit| hit.begin >= range.from.0)
        } else {
            first_in(trace, &query, &rows, range)?.filter(|hit| hit.begin <= range.to.0)
        };
        let Some(hit) = page else { return Ok(json!({ "t": Value::Null })) };
        let facts = trace.source.facts(hit.id)?;
        Ok(json!({
            "t": hit.begin.saturating_sub(trace.origin),
            "id": entity(hit.id),
            "name": facts.name,
            "path": facts.container_path,
        }))
    })
    .await
}

fn parse(request: &DrawRequest) -> Result<FindQuery, RequestError> {
    FindQuery::parse(&request.text).map_err(|text| RequestError(StatusCode::BAD_REQUEST, text))
}

/// The first hit that begins after the start of a time range.
fn first_in(
    trace: &FilteredTrace,
    query: &FindQuery,
    rows: &SelectedRows,
    range: TimeRange,
) -> Result<Option<SearchHit>, RequestError> {
    // No entity of the first timestamp comes after this place.
    let anchor = SearchHit { begin: range.from.0, id: EntityId::Sample(u32::MAX) };
    let end = TimeRange { to: GlobalNanos(range.to.0.saturating_add(1)), ..range };
    let page = HitPage { anchor: Some(anchor), is_backward: false, size: 0 };
    Ok(EntitySearch::new(trace, query, rows, end, page).run(trace, |_, _| ())?.hits.first().copied())
}

/// The last hit that begins before the end of a time range.
fn last_in(
    trace: &FilteredTrace,
    query: &FindQuery,
    rows: &SelectedRows,
    range: TimeRange,
) -> Result<Option<SearchHit>, RequestError> {
    let anchor = SearchHit { begin: range.to.0, id: EntityId::Container(ContainerId::ROOT) };
    let page = HitPage { anchor: Some(anchor), is_backward: true, size: 0 };
    Ok(EntitySearch::new(trace, query, rows, range, page).run(trace, |_, _| ())?.hits.last().copied())
}
