//! Shares of the state types row by row, for one pie per row.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Query, State};
use serde_json::json;

use super::{AppState, DrawRequest, JsonAnswer, compute};
use tumit_viewer::query::{EntityId, PajeTypeKind};
use tumit_viewer::scene::wire::{self, entity};
use tumit_viewer::stats;
use tumit_viewer::style::theme::ColorTheme;

/// Maximum number of rows in a request, because the page draws a chart for each.
const MAX_ROWS: usize = 64;

/// Shares of the values of each state type in each of some rows, including all containers below the
/// row.
pub(crate) async fn row_times(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    compute(app, request, |trace, request| {
        let (source, time_range, theme) = (trace.source.as_ref(), request.time_range(trace)?, ColorTheme::new(request.theme));
        let model = source.model();
        let rows: Vec<_> = request.text.split(',').filter_map(wire::parse_entity).take(MAX_ROWS).collect();
        let mut types = Vec::new();
        for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State) {
            let mut all_values = BTreeSet::new();
            let mut row_answers = Vec::new();
            for &row in &rows {
                let EntityId::Container(container) = row else { continue };
                let members: Vec<_> = trace.outline.states_in_subtree(container, ty.id).into_iter().map(|member| member.container).collect();
                if members.is_empty() {
                    continue;
                }
                let times = stats::times(source, &members, ty.id, time_range)?;
                all_values.extend(times.values.iter().map(|time| time.value));
                let values = times.values.iter();
                let values = values.map(|time| json!({ "value": time.value.0, "nanos": stats::json_number(time.nanos), "share": time.share, "self_nanos": stats::json_number(time.self_nanos), "self_share": time.self_share }));
                row_answers.push(json!({
                    "id": entity(row),
                    "name": trace.outline.name(container),
                    "existence": stats::json_number(times.existence_nanos),
                    "none": stats::json_number(times.stateless_time),
                    "values": values.collect::<Vec<_>>(),
                }));
            }
            let values = all_values.into_iter().filter_map(|value| model.values.get(value.index()));
            let values = values.map(|value| json!({ "value": value.id.0, "name": value.name, "color": theme.fill(value.color).to_string() }));
            if !row_answers.is_empty() {
                types.push(json!({ "type": ty.id.0, "name": ty.name, "values": values.collect::<Vec<_>>(), "rows": row_answers }));
            }
        }
        Ok(json!({ "types": types }))
    })
    .await
}
