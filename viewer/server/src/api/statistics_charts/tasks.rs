//! Latency of tasks in a time range, by value.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use serde_json::{Value, json};

use crate::api::entities::longest_entity::LongestEntity;
use crate::api::{AppState, DrawRequest, JsonAnswer, compute};
use tumit_viewer::query::TypeId;
use tumit_viewer::stats::{TaskGroup, TasksByValue, json_number, tasks_by_value};
use tumit_viewer::style::theme::ColorTheme;

/// The largest number of states that are read for an answer. They take about 1.5 GB of memory.
const MAX_STATES: u64 = 10_000_000;

/// The tasks that overlap the time range and begin within the container, by type and value. If the
/// trace has too many states for that, their number in place of the tasks.
pub(crate) async fn tasks(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    compute(app, request, |trace, request| {
        let (source, time_range, theme) =
            (trace.source.as_ref(), request.time_range(trace)?, ColorTheme::new(request.theme));
        let tops = request.counted_containers(trace)?;
        let containers = tops.into_iter().flat_map(|top| trace.outline.subtree(top)).collect();
        let groups = match tasks_by_value(source, time_range, &containers, MAX_STATES)? {
            TasksByValue::Read(groups) => groups,
            TasksByValue::TooMany(states) => return Ok(json!({ "types": [], "states": states, "most": MAX_STATES })),
        };
        let model = source.model();
        let mut types: BTreeMap<TypeId, Vec<Value>> = BTreeMap::new();
        for ((ty, value), tasks) in groups {
            let info = model.values.get(value.index());
            let color = info.map(|info| theme.fill(info.color).to_string());
            types.entry(ty).or_default().push(row(info.map_or("", |info| &info.name), color.as_deref(), &tasks));
        }
        let types = types.into_iter().filter_map(|(ty, rows)| {
            let info = model.types.get(ty.index())?;
            Some(json!({ "type": ty.0, "name": info.name, "tasks": rows }))
        });
        Ok(json!({ "types": types.collect::<Vec<_>>() }))
    })
    .await
}

/// The tasks of one value. The latencies and the running time (`active`) are in nanoseconds.
fn row(name: &str, color: Option<&str>, tasks: &TaskGroup) -> Value {
    let latencies = &tasks.latencies;
    json!({
        "name": name,
        "color": color,
        "count": latencies.count(),
        "mean": latencies.mean(),
        "median": latencies.quantile(0.5),
        "p90": latencies.quantile(0.9),
        "p99": latencies.quantile(0.99),
        "active": json_number(tasks.active_time),
        "longest": tasks.longest_task.map(|task| LongestEntity { nanos: task.latency, id: task.first }.json()),
    })
}
