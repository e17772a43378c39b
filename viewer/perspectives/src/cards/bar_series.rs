//! The number of each unit in a series of bars.

use std::sync::Arc;

use tumit_viewer::query::{EventCount, GlobalNanos, PajeTypeKind, StateLaneId, TimeRange};

use super::combined_steps::{Combination, CombinedSteps};
use super::event_choice::{EntityChoice, ListId};
use super::event_list::EventList;
use super::level_values::state_lanes;
use super::series_choice::{CardSeries, SeriesData, ShownNumber};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::{BYTES, MESSAGES, PendingSteps};
use crate::options::MessageMeasure;

#[derive(Clone, Copy, Debug)]
pub(super) struct BarTime {
    /// The time range, for times and means.
    pub(super) span: TimeRange,
    /// The same time range with its last timestamp, for events.
    pub(super) range: TimeRange,
    /// The time of last values.
    pub(super) last: i64,
}

/// A field of the events in each unit.
#[derive(Debug, Default)]
struct UnitField {
    steps: Vec<CombinedSteps>,
    /// The timestamps and numbers of the events of each unit, by time.
    events: Vec<Vec<(i64, f64)>>,
}

pub(super) fn numbers(execution: &Execution, series: &CardSeries, time: BarTime) -> Result<Vec<f64>, PerspectiveError> {
    match &series.data {
        SeriesData::Category(category) => {
            let activity = execution.activity()?;
            let times = (0..activity.units()).map(|unit| activity.mean_times(unit, time.span)[*category as usize]);
            Ok(times.map(|nanos| shown_time(series, nanos, time)).collect())
        }
        SeriesData::Pending(measure) => pending(execution, *measure, series.shown_number, time),
        SeriesData::States(choice) => states(execution, choice, series, time),
        SeriesData::Variable(choice) => variable(execution, choice, series, time),
        SeriesData::Events(choice) => events(execution, choice, time),
        SeriesData::Field { events, field } => {
            let fields = unit_field(execution, events, field, series.combination)?;
            let range = time.range;
            let number = |(steps, events): (&CombinedSteps, &Vec<(i64, f64)>)| {
                let summary = steps.summary(range);
                match series.shown_number {
                    ShownNumber::Mean => summary.mean,
                    ShownNumber::Smallest => summary.minimum,
                    ShownNumber::Largest => summary.maximum,
                    ShownNumber::Sum => {
                        let first = events.partition_point(|event| event.0 < range.from.0);
                        let end = events.partition_point(|event| event.0 < range.to.0).max(first);
                        events[first..end].iter().map(|event| event.1).sum()
                    }
                    _ => steps.at(time.last),
                }
            };
            Ok(fields.steps.iter().zip(&fields.events).map(number).collect())
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a percentage is rounded")]
fn shown_time(series: &CardSeries, nanos: f64, time: BarTime) -> f64 {
    let all = time.span.to.0.saturating_sub(time.span.from.0).max(1) as f64;
    if series.shown_number == ShownNumber::Percent { 100.0 * nanos / all } else { nanos }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of messages are drawn")]
fn pending(
    execution: &Execution,
    measure: MessageMeasure,
    shown: ShownNumber,
    time: BarTime,
) -> Result<Vec<f64>, PerspectiveError> {
    let (messages, component) = match measure {
        MessageMeasure::Messages => (execution.messages()?, MESSAGES),
        MessageMeasure::Bytes => (execution.sized_messages()?, BYTES),
    };
    let number = |steps: &PendingSteps| match shown {
        ShownNumber::Mean => steps.mean(time.span)[component],
        ShownNumber::Smallest => steps.extremes(time.range).min[component] as f64,
        ShownNumber::Largest => steps.maximum(time.range)[component] as f64,
        _ => steps.at(time.last)[component] as f64,
    };
    Ok(messages.by_unit().incoming_steps.iter().map(number).collect())
}

/// The items of each unit. Items outside of all units are left out.
fn by_unit<T: Copy>(execution: &Execution, items: &[T], list: impl Fn(&T) -> ListId) -> Vec<Vec<T>> {
    let mut units = vec![Vec::new(); execution.units().count()];
    for item in items {
        if let Some(unit) = execution.units().owner(list(item).0) {
            units[unit as usize].push(*item);
        }
    }
    units
}

#[expect(clippy::cast_precision_loss, reason = "times are drawn")]
fn states(
    execution: &Execution,
    choice: &EntityChoice,
    series: &CardSeries,
    time: BarTime,
) -> Result<Vec<f64>, PerspectiveError> {
    let chosen = choice.lists(execution, ("state type", PajeTypeKind::State))?;
    let lanes = state_lanes(execution, &chosen);
    let units = by_unit(execution, &lanes, |lane: &StateLaneId| (lane.container, lane.ty));
    let number = |lanes: Vec<StateLaneId>| {
        if lanes.is_empty() {
            return Ok(0.0);
        }
        let times = execution.source().times(&lanes, time.span)?;
        let nanos: f64 = times.iter().filter(|(value, _)| chosen.contains(*value)).map(|time| time.1 as f64).sum();
        Ok(shown_time(series, nanos, time))
    };
    units.into_iter().map(number).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn combine(numbers: &[f64], combination: Combination) -> f64 {
    let sum: f64 = numbers.iter().sum();
    let fold = |with: fn(f64, f64) -> f64| numbers.iter().copied().reduce(with).unwrap_or(0.0);
    match combination {
        Combination::Sum => sum,
        Combination::Mean => sum / numbers.len().max(1) as f64,
        Combination::Smallest => fold(f64::min),
        Combination::Largest => fold(f64::max),
    }
}

fn variable(
    execution: &Execution,
    choice: &EntityChoice,
    series: &CardSeries,
    time: BarTime,
) -> Result<Vec<f64>, PerspectiveError> {
    let source = execution.source();
    let chosen = choice.lists(execution, ("variable", PajeTypeKind::Variable))?;
    // At the last timestamp of the trace, the last values have ended.
    let last = time.last.min(execution.extent().to.0.saturating_sub(1));
    let present = TimeRange { from: GlobalNanos(last), to: GlobalNanos(last.saturating_add(1)) };
    let number = |lists: Vec<ListId>| {
        let mut numbers = Vec::new();
        for (container, ty) in lists {
            let range = if series.shown_number == ShownNumber::Last { present } else { time.span };
            let columns = source.series(container, ty, range, 1)?;
            numbers.extend(columns.into_iter().flatten().map(|column| match series.shown_number {
                ShownNumber::Smallest => column.min,
                ShownNumber::Largest => column.max,
                _ => column.mean,
            }));
        }
        Ok(combine(&numbers, series.combination))
    };
    by_unit(execution, &chosen.lists, |list| *list).into_iter().map(number).collect()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of events are drawn")]
fn events(execution: &Execution, choice: &EntityChoice, time: BarTime) -> Result<Vec<f64>, PerspectiveError> {
    let chosen = choice.lists(execution, ("event type", PajeTypeKind::Event))?;
    let limit = if chosen.has_all_values() { 0 } else { usize::MAX };
    let of_count = |count: &EventCount| -> u64 {
        let values = count.values.iter().filter(|part| chosen.contains(part.value));
        if limit == 0 { count.total } else { values.map(|part| part.count).sum() }
    };
    let number = |lists: Vec<ListId>| {
        let mut sum = 0;
        for (container, ty) in lists {
            let counts = execution.source().event_counts(container, ty, time.range, 1, limit)?;
            sum += counts.iter().map(of_count).sum::<u64>();
        }
        Ok(sum as f64)
    };
    by_unit(execution, &chosen.lists, |list| *list).into_iter().map(number).collect()
}

/// The field of the events in each unit.
fn unit_field(
    execution: &Execution,
    choice: &EntityChoice,
    field: &str,
    combination: Combination,
) -> Result<Arc<UnitField>, PerspectiveError> {
    execution.derived(&format!("{choice:?} {field} {combination:?}"), || {
        let events = EventList::of(execution, choice)?;
        let numbers = events.numbers(execution, field)?;
        let mut units: Vec<Vec<(i64, u32, f64)>> = vec![Vec::new(); execution.units().count()];
        for (index, number) in numbers.iter().enumerate().filter(|(_, number)| !number.is_nan()) {
            if let Some(unit) = execution.units().owner(events.containers[index]) {
                units[unit as usize].push((events.times[index], events.containers[index].0, *number));
            }
        }
        let steps = units.iter().map(|list| CombinedSteps::from_events(list.iter().copied(), combination)).collect();
        let pairs = |list: Vec<(i64, u32, f64)>| list.into_iter().map(|(time, _, number)| (time, number)).collect();
        Ok(UnitField { steps, events: units.into_iter().map(pairs).collect() })
    })
}
