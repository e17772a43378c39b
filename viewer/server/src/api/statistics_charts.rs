//! Charts of a time range: durations in classes, communication matrices, shares over time, and
//! variables with their extremes.

mod duration_classes;
mod matrix;
mod tasks;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use serde_json::json;

pub(crate) use self::duration_classes::histogram;
pub(crate) use self::matrix::matrix;
pub(crate) use self::tasks::tasks;
use super::selected_rows::SelectedRows;
use super::{AppState, DrawRequest, FilteredTrace, JsonAnswer, RequestError, compute};
use tumit_viewer::layout::SummaryMember;
use tumit_viewer::query::{
    ContainerId, EntityId, PajeTypeKind, QueryError, StateLaneId, TypeId, ValueId, lanes_at_once, weight,
};
use tumit_viewer::scene::wire;
use tumit_viewer::stats;
use tumit_viewer::style::theme::ColorTheme;

/// Number of columns of a curve. In the side panel, a column is about three pixels wide.
const COLUMNS: u32 = 96;

impl DrawRequest {
    /// The topmost containers of the answer: those of the selection, the chosen one, or the root.
    /// No container is below another one.
    pub(crate) fn counted_containers(&self, trace: &FilteredTrace) -> Result<Vec<ContainerId>, RequestError> {
        let rows: SelectedRows = self.rows.parse()?;
        if !rows.is_all() {
            return Ok(rows.topmost_containers(&trace.source.containers()));
        }
        match wire::parse_entity(&self.id) {
            Some(EntityId::Container(container)) => Ok(vec![container]),
            None if self.id.is_empty() => Ok(vec![ContainerId::ROOT]),
            _ => Err(QueryError::Unknown { kind: "container" }.into()),
        }
    }
}

/// The containers of some subtrees that have states of a type.
pub(crate) fn members(trace: &FilteredTrace, containers: &[ContainerId], ty: TypeId) -> Vec<SummaryMember> {
    containers.iter().flat_map(|&container| trace.outline.states_in_subtree(container, ty)).collect()
}

/// The lanes of the states of a type within some subtrees.
pub(crate) fn lanes(trace: &FilteredTrace, containers: &[ContainerId], ty: TypeId) -> Vec<StateLaneId> {
    let lanes =
        |SummaryMember { container, depths }| (0..depths).map(move |depth| StateLaneId { container, ty, depth });
    members(trace, containers, ty).into_iter().flat_map(lanes).collect()
}

/// Shares of the values of each state type, column by column.
pub(crate) async fn profile(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    compute(app, request, |trace, request| {
        let (source, time_range, theme) = (trace.source.as_ref(), request.time_range(trace)?, ColorTheme::new(request.theme));
        let (model, containers) = (source.model(), request.counted_containers(trace)?);
        let mut types = Vec::new();
        for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State) {
            let lanes = lanes(trace, &containers, ty.id);
            if lanes.is_empty() {
                continue;
            }
            let members = members(trace, &containers, ty.id);
            let weight: usize = members.iter().map(|member| weight(source, member.container, ty.id)).sum();
            let mut sums: BTreeMap<ValueId, Vec<i128>> = BTreeMap::new();
            // The query divides each column into parts if a sum over all containers
            // exceeds 64 bits.
            let duration = i128::from(time_range.to.0) - i128::from(time_range.from.0);
            let largest_sum = weight.max(1) as i128 * (duration / i128::from(COLUMNS) + 1);
            let parts = u32::try_from(largest_sum / i128::from(i64::MAX) + 1).unwrap_or(u32::MAX).min(1 << 12);
            let columns = COLUMNS * parts;
            for chunk in lanes.chunks(lanes_at_once(columns)) {
                let cells = source.cells(chunk, time_range, columns)?;
                for (index, cell) in cells.cells.iter().enumerate() {
                    let index = index % columns as usize / parts as usize;
                    for &(value, nanos) in &cell.shares {
                        let column = sums.entry(value).or_insert_with(|| vec![0; COLUMNS as usize]);
                        column[index] += i128::from(nanos);
                    }
                }
            }
            let column_time = |index: usize| {
                let column = time_range.column(u32::try_from(index).unwrap_or(0), COLUMNS);
                (column.to.0 - column.from.0) as f64 * weight as f64
            };
            let curves = sums.iter().filter_map(|(value, nanos)| {
                let info = model.values.get(value.index())?;
                let shares: Vec<f64> = nanos.iter().enumerate().map(|(index, &n)| (n as f64 / column_time(index) * 1e4).round() / 1e4).collect();
                Some(json!({ "value": value.0, "name": info.name, "color": theme.fill(info.color).to_string(), "shares": shares }))
            });
            types.push(json!({ "type": ty.id.0, "name": ty.name, "curves": curves.collect::<Vec<_>>() }));
        }
        Ok(json!({ "types": types }))
    })
    .await
}

/// Variables: the mean, minimum and maximum of each type, and the place and time of both extremes.
pub(crate) async fn variables(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    compute(app, request, |trace, request| {
        let (source, time_range) = (trace.source.as_ref(), request.time_range(trace)?);
        let model = source.model();
        let tops = request.counted_containers(trace)?;
        let containers: Vec<ContainerId> = tops.into_iter().flat_map(|top| trace.outline.subtree(top)).collect();
        let names = source.containers();
        let mut types = Vec::new();
        for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::Variable) {
            let mut results = Vec::new();
            for &container in &containers {
                results.extend(stats::variable(source, container, ty.id, time_range)?.map(|stats| (container, stats)));
            }
            let min = results.iter().map(|(id, stats)| (*id, stats.min)).reduce(|a, b| if b.1.value < a.1.value { b } else { a });
            let max = results.iter().map(|(id, stats)| (*id, stats.max)).reduce(|a, b| if b.1.value > a.1.value { b } else { a });
            let (Some(min), Some(max)) = (min, max) else { continue };
            let place = |(id, extreme): (ContainerId, stats::VariableExtreme)| {
                json!({
                    "value": extreme.value,
                    "at": extreme.timestamp.0.saturating_sub(trace.origin),
                    "container": id.0,
                    "name": names.iter().find(|info| info.id == id).map_or("", |info| &info.name),
                })
            };
            let mean = results.iter().map(|(_, stats)| stats.mean).sum::<f64>() / results.len() as f64;
            types.push(json!({ "type": ty.id.0, "name": ty.name, "containers": results.len(), "mean": mean, "min": place(min), "max": place(max) }));
        }
        Ok(json!({ "types": types }))
    })
    .await
}
