//! The next change of the execution: a begin or end of a state, a change of a unit's category or
//! task, a send or a receive. The player of the dock steps by it, or by changes of state only.

mod state_boundary;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde_json::json;
use tumit_perspectives::execution::category_timeline::CategoryTimeline;
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_viewer::query::{GlobalNanos, QueryError, TimeRange};

use super::cards::{CardError, CardsRequest};
use super::selected_rows::SelectedRows;
use super::{AppState, JsonAnswer, RequestError, run};

/// The timestamp of the next change after `t`, or of the last one before it. Null if there is none.
/// If the parameter `changes_only` is set, only begins and ends of states are considered.
pub(crate) async fn next_event(State(app): State<Arc<AppState>>, Query(request): Query<CardsRequest>) -> JsonAnswer {
    let answer = run(app, move |app, cancel| {
        let trace = app.trace(request.trace)?.filtered_trace(&request.filters)?;
        let categories = request.category_rules(&trace.source.model());
        let containers = request.units.parse::<SelectedRows>()?.topmost_containers(&trace.source.containers());
        let mut settings = ExecutionSettings::default();
        (settings.categories, settings.units.containers) = (categories, containers);
        let time = trace.origin.saturating_add(request.t);
        let is_backward = request.direction < 0;
        let event = trace.executions.with(&settings, cancel, |execution| {
            Ok(match (is_backward, request.changes_only) {
                (true, true) => state_boundary::last_before(execution, time, i64::MIN)?,
                (false, true) => state_boundary::first_after(execution, time, execution.extent().to.0)?,
                (true, false) => last_before(execution, time)?,
                (false, false) => first_after(execution, time)?,
            })
        });
        let time = event.map_err(|error| RequestError::of_client(CardError::from(error).text()))?;
        Ok(json!({ "t": time.map(|time| time.saturating_sub(trace.origin)) }))
    });
    answer.await.map(Json)
}

/// The sorted timestamps of the changes of each unit. Data that the trace lacks are left out.
fn changes(execution: &Execution) -> impl Iterator<Item = &[i64]> {
    let units = 0..execution.units().count();
    let (activity, tasks) = (execution.activity().ok(), execution.tasks().ok());
    let of_tasks = units.clone().filter_map(move |unit| Some(tasks?.timestamps(unit)));
    let of_activity = units.filter_map(move |unit| Some(activity?.timelines(unit))).flatten();
    of_activity.map(CategoryTimeline::timestamps).chain(of_tasks)
}

fn first_after(execution: &Execution, time: i64) -> Result<Option<i64>, QueryError> {
    let of_unit = |times: &[i64]| times.get(times.partition_point(|&timestamp| timestamp <= time)).copied();
    let mut next: Vec<i64> = changes(execution).filter_map(of_unit).collect();
    if let Ok(messages) = execution.messages() {
        let later = TimeRange { from: GlobalNanos(time.saturating_add(1)), to: GlobalNanos::LAST };
        next.extend(messages.sent_between(later).first().map(|message| message.send_time));
        next.extend(messages.received_between(later).next().map(|message| message.receive_time));
    }
    let next = next.into_iter().min();
    let bound = next.unwrap_or(execution.extent().to.0);
    Ok(state_boundary::first_after(execution, time, bound)?.or(next))
}

fn last_before(execution: &Execution, time: i64) -> Result<Option<i64>, QueryError> {
    let of_unit =
        |times: &[i64]| times.partition_point(|&timestamp| timestamp < time).checked_sub(1).map(|index| times[index]);
    let mut last: Vec<i64> = changes(execution).filter_map(of_unit).collect();
    if let Ok(messages) = execution.messages() {
        let start = execution.extent().from.0;
        let range_from = |from: i64| TimeRange { from: GlobalNanos(from), to: GlobalNanos(time) };
        last.extend(messages.sent_between(range_from(start)).last().map(|message| message.send_time));
        // Receives cannot be read backward, so that the examined time range grows until it has one.
        let mut width = (time.saturating_sub(start) / 1024).max(1);
        loop {
            let from = time.saturating_sub(width).max(start);
            let found = messages.received_between(range_from(from)).last();
            if found.is_some() || from <= start {
                last.extend(found.map(|message| message.receive_time));
                break;
            }
            width = width.saturating_mul(4);
        }
    }
    let last = last.into_iter().max();
    Ok(state_boundary::last_before(execution, time, last.unwrap_or(i64::MIN))?.or(last))
}
