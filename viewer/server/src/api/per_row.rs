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

/// Maximum number of rows in a request.
const MOST: usize = 64;

/// Shares of the values of each state type in each of some rows, including all containers below the
/// row.
pub(crate) async fn each(State(app): State<Arc<AppState>>, Query(ask): Query<DrawRequest>) -> JsonAnswer {
    compute(app, ask, |app, ask| {
        let (source, interval, theme) = (app.source.as_ref(), ask.interval(app)?, ColorTheme::new(ask.theme));
        let model = source.model();
        let rows: Vec<_> = ask.what.split(',').filter_map(wire::parse_entity).take(MOST).collect();
        let mut types = Vec::new();
        for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State) {
            let mut seen = BTreeSet::new();
            let mut each = Vec::new();
            for &row in &rows {
                let EntityId::Container(container) = row else { continue };
                let within: Vec<_> = app.outline.states_within(container, ty.id).into_iter().map(|one| one.0).collect();
                if within.is_empty() {
                    continue;
                }
                let times = stats::times(source, &within, ty.id, interval)?;
                seen.extend(times.values.iter().map(|time| time.value));
                let values = times.values.iter();
                let values = values.map(|time| json!({ "value": time.value.0, "nanos": stats::json_number(time.nanos), "share": time.share, "self_nanos": stats::json_number(time.self_nanos), "self_share": time.self_share }));
                each.push(json!({
                    "id": entity(row),
                    "name": app.outline.name(container),
                    "existence": stats::json_number(times.existence_nanos),
                    "none": stats::json_number(times.none),
                    "values": values.collect::<Vec<_>>(),
                }));
            }
            let values = seen.into_iter().filter_map(|value| model.values.get(value.index()));
            let values = values.map(|value| json!({ "value": value.id.0, "name": value.name, "color": theme.fill(value.color).to_string() }));
            if !each.is_empty() {
                types.push(json!({ "type": ty.id.0, "name": ty.name, "values": values.collect::<Vec<_>>(), "each": each }));
            }
        }
        Ok(json!({ "types": types }))
    })
    .await
}
