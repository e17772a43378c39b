//! Totals of events, links and variables in a time range, by name, so that two traces can be
//! compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::{AppState, DrawRequest, FilteredTrace, RequestError};
use crate::api::streaming::grow;
use crate::type_names::type_path;
use tumit_viewer::query::entity_scan::{self, ScanList};
use tumit_viewer::query::{PajeTypeKind, QueryError, TimeRange, TypeId, TypeModel, ValueId};
use tumit_viewer::stats;
use tumit_viewer::style::theme::ColorTheme;

#[derive(Clone, Copy, Default)]
struct ValueTotal {
    count: u64,
    nanos: i128,
    size: Option<f64>,
}

impl ValueTotal {
    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.nanos += other.nanos;
        self.size = self.size.map_or(other.size, |size| Some(size + other.size.unwrap_or(0.0)));
    }
}

type ValueTotals = BTreeMap<(TypeId, ValueId), ValueTotal>;

/// Numbers of events; numbers, times and sizes of links; means and extremes of variables.
pub(crate) async fn totals(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
) -> Result<Response, RequestError> {
    grow(app, request, |_, trace, request, progress| {
        let (source, time_range) = (trace.source.as_ref(), request.time_range(trace)?);
        let (model, theme) = (source.model(), ColorTheme::new(request.theme));
        let variables = variables(trace, &model, time_range)?;
        let mut lists = Vec::new();
        let mut fields = BTreeMap::new();
        for ty in &model.types {
            match ty.kind {
                PajeTypeKind::Event => {
                    lists.extend(trace.outline.with_events(ty.id).map(|container| ScanList::Events(container, ty.id)));
                }
                PajeTypeKind::Link { .. } => {
                    lists.push(ScanList::Links(ty.id));
                    fields.extend(stats::size_field(source, ty.id, time_range)?.map(|field| (ty.id, field)));
                }
                PajeTypeKind::Container | PajeTypeKind::State | PajeTypeKind::Variable => {}
            }
        }
        let count = |job: &entity_scan::ScanJob| {
            let mut part = ValueTotals::new();
            let (ScanList::Events(_, ty) | ScanList::Links(ty)) = job.list else { return Ok(part) };
            let field = fields.get(&ty);
            job.visit(source, |item| {
                let size = field.map_or(Ok(None), |field| stats::number(source, item.id, field))?;
                part.entry((ty, item.value)).or_default().merge(ValueTotal {
                    count: 1,
                    nanos: item.nanos().into(),
                    size,
                });
                Ok(())
            })?;
            Ok(part)
        };
        let mut total = ValueTotals::new();
        let answer = |total: &ValueTotals| {
            let rows = total.iter().filter_map(|(key, sum)| row(&model, theme, *key, *sum));
            json!({ "rows": rows.chain(variables.iter().cloned()).collect::<Vec<_>>() })
        };
        entity_scan::run(entity_scan::jobs(source, lists, time_range)?, count, |part, done| {
            part.into_iter().for_each(|(key, sum)| total.entry(key).or_default().merge(sum));
            progress.report(done, || answer(&total));
        })?;
        Ok(answer(&total))
    })
    .await
}

fn row(model: &TypeModel, theme: ColorTheme, (ty, value): (TypeId, ValueId), sum: ValueTotal) -> Option<Value> {
    let info = model.types.get(ty.index())?;
    let value = model.values.get(value.index());
    let row = json!({
        "type": type_path(model, ty)?,
        "value": value.map_or(&info.name, |value| &value.name),
        "color": value.map(|value| theme.fill(value.color).to_string()),
        "count": sum.count,
    });
    if info.kind == PajeTypeKind::Event {
        return Some(merge_objects(row, json!({ "kind": "event" })));
    }
    #[expect(clippy::cast_precision_loss, reason = "a mean to be displayed")]
    let mean = sum.nanos as f64 / sum.count.max(1) as f64;
    Some(merge_objects(
        row,
        json!({ "kind": "link", "nanos": stats::json_number(sum.nanos), "latency": mean, "size": sum.size }),
    ))
}

/// Merges the fields of two objects.
fn merge_objects(mut row: Value, fields: Value) -> Value {
    if let (Value::Object(row), Value::Object(fields)) = (&mut row, fields) {
        row.extend(fields);
    }
    row
}

fn variables(trace: &FilteredTrace, model: &TypeModel, time_range: TimeRange) -> Result<Vec<Value>, QueryError> {
    let source = trace.source.as_ref();
    let mut rows = Vec::new();
    for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::Variable) {
        let mut results = Vec::new();
        for info in source.containers().iter() {
            results.extend(stats::variable(source, info.id, ty.id, time_range)?);
        }
        if results.is_empty() {
            continue;
        }
        let mean = results.iter().map(|variable| variable.mean).sum::<f64>() / results.len() as f64;
        let min = results.iter().map(|variable| variable.min.value).fold(f64::INFINITY, f64::min);
        let max = results.iter().map(|variable| variable.max.value).fold(f64::NEG_INFINITY, f64::max);
        rows.push(json!({
            "kind": "variable", "type": type_path(model, ty.id), "value": ty.name, "color": null, "mean": mean, "min": min, "max": max,
        }));
    }
    Ok(rows)
}
