//! [`provide_series`]: the variables of the filter `series`: units per category, pending messages
//! and bytes, active tasks, and their running maxima.
//!
//! The variables are exact, because they change only at timestamps of the trace.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_viewer::filter::FilterExpr;
//! use tumit_viewer::query::TimelineSource;
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! tumit_perspectives::series_filter::provide_series();
//! let source: Arc<dyn TimelineSource> = Arc::new(store);
//! let filter: FilterExpr = "series busy, max-busy per unit".parse()?;
//! // The thread is busy and then idle. The maximum does not change.
//! assert_eq!(filter.apply(&source)?.summary().samples, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use tumit_paje::category::ActivityCategory;
use tumit_viewer::filter::{
    ExecutionSeries, ProvidedSeries, ProvidedSteps, SeriesExpr, SeriesProvider, SeriesQuantity, set_series_provider,
};
use tumit_viewer::query::{ContainerId, GlobalNanos, RgbColor, TimeRange, TimelineSource, TypeId};
use tumit_viewer::style::theme::ThemeKind;

use crate::chart::ChartPaint;
use crate::draw::PaletteKind;
use crate::draw::chart_palette::ChartPalette;
use crate::error::PerspectiveError;
use crate::execution::messages::{BYTES, MESSAGES, PendingSteps};
use crate::execution::step_function::StepFunction;
use crate::execution::{Execution, ExecutionSettings};

/// Makes the filter `series` available to all filters of the process.
pub fn provide_series() {
    set_series_provider(ExecutionProvider);
}

struct ExecutionProvider;

impl SeriesProvider for ExecutionProvider {
    fn provide(&self, source: &Arc<dyn TimelineSource>, expr: &SeriesExpr) -> Result<Vec<ProvidedSeries>, String> {
        let mut settings = ExecutionSettings::default();
        for (name, value) in &expr.options {
            settings.set(name, value).map_err(|error| error.to_string())?;
        }
        let execution = Execution::new(Arc::clone(source), settings).map_err(|error| reason(&error))?;
        let provided = expr.series.iter().map(|series| series_steps(&execution, *series, expr.per_unit));
        provided.collect::<Result<_, _>>().map_err(|error| reason(&error))
    }
}

/// The message of an error, with a remedy in the language of filters.
fn reason(error: &PerspectiveError) -> String {
    match error {
        PerspectiveError::NoData { missing_data, remedy } => {
            // A filter has its options after `with`, and other series in place of a measure.
            let remedy = if remedy.contains("measure=") {
                "count messages by `pending-messages`, or record a field `bytes`".to_owned()
            } else {
                remedy.replace("--option ", "with ").replace('=', " = ")
            };
            format!("the series needs {missing_data}, but the trace has none; {remedy}")
        }
        other => other.to_string(),
    }
}

/// Timestamps, each with the value from this time on.
type NumberSteps = Vec<(i64, f64)>;

fn series_steps(
    execution: &Execution,
    series: ExecutionSeries,
    per_unit: bool,
) -> Result<ProvidedSeries, PerspectiveError> {
    let color = category_color(series);
    if per_unit {
        let units = execution.units();
        let of_unit = |unit: usize| {
            let info = &units.list()[unit];
            Ok(steps_in(
                info.container,
                info.life,
                unit_steps(execution, series.quantity, unit, info.life)?,
                series.is_maximum,
            ))
        };
        let steps = (0..units.count()).map(of_unit).collect::<Result<_, PerspectiveError>>()?;
        return Ok(ProvidedSeries { container_type: units.ty, color, steps });
    }
    let containers = execution.source().containers();
    let life = containers.first().map_or(execution.extent(), |root| root.life);
    let steps = total_steps(execution, series.quantity, life)?;
    let steps = vec![steps_in(ContainerId::ROOT, life, steps, series.is_maximum)];
    Ok(ProvidedSeries { container_type: TypeId::ROOT, color, steps })
}

/// The values of a container during its life, or their running maxima.
fn steps_in(container: ContainerId, life: TimeRange, mut steps: NumberSteps, is_maximum: bool) -> ProvidedSteps {
    if is_maximum {
        let mut largest = f64::NEG_INFINITY;
        for (_, value) in &mut steps {
            largest = largest.max(*value);
            *value = largest;
        }
    }
    let steps = steps.into_iter().map(|(time, value)| (GlobalNanos(time), value)).collect();
    ProvidedSteps { container, steps, end: life.to }
}

/// A quantity of all units together.
fn total_steps(
    execution: &Execution,
    quantity: SeriesQuantity,
    life: TimeRange,
) -> Result<NumberSteps, PerspectiveError> {
    if let Some(category) = category_index(quantity) {
        let counts = execution.activity()?.counts();
        return Ok(component_steps(&counts.steps, category, counts.denominator, life));
    }
    if quantity == SeriesQuantity::ActiveTasks {
        return Ok(component_steps(&execution.active_tasks()?.count(), 0, 1, life));
    }
    let component = message_component(quantity);
    let messages = if component == BYTES { execution.sized_messages()? } else { execution.messages()? };
    Ok(component_steps(messages.pending(), component, 1, life))
}

fn unit_steps(
    execution: &Execution,
    quantity: SeriesQuantity,
    unit: usize,
    life: TimeRange,
) -> Result<NumberSteps, PerspectiveError> {
    use SeriesQuantity::{IncomingBytes, IncomingMessages, OutgoingBytes, OutgoingMessages};

    if let Some(category) = category_index(quantity) {
        return unit_activity(execution, category, unit, life);
    }
    if quantity == SeriesQuantity::ActiveTasks {
        let pieces = execution.tasks()?.pieces(unit, execution.extent());
        let deltas = pieces.flat_map(|piece| [(piece.from, [1]), (piece.to, [-1])]).collect();
        return Ok(component_steps(&StepFunction::from_deltas([0], deltas), 0, 1, life));
    }
    let component = message_component(quantity);
    let messages = if component == BYTES { execution.sized_messages()? } else { execution.messages()? };
    let pending = messages.by_unit();
    let (incoming, outgoing) = (&pending.incoming_steps[unit], &pending.outgoing[unit]);
    Ok(match quantity {
        IncomingMessages | IncomingBytes => component_steps(incoming, component, 1, life),
        OutgoingMessages | OutgoingBytes => component_steps(outgoing, component, 1, life),
        _ => component_steps(&sum(incoming, outgoing), component, 1, life),
    })
}

/// The part of a unit that is in a category: 0 or 1, or a fraction of its timelines.
fn unit_activity(
    execution: &Execution,
    category: usize,
    unit: usize,
    life: TimeRange,
) -> Result<NumberSteps, PerspectiveError> {
    let timelines = execution.activity()?.timelines(unit);
    let wanted = ActivityCategory::COUNTED[category];
    let (mut start, mut deltas) = (0, Vec::new());
    for timeline in timelines {
        let is_in = |time: i64| i64::from(timeline.at(time) == wanted);
        let mut was_inside = is_in(i64::MIN);
        start += was_inside;
        for &time in timeline.timestamps() {
            let is_inside = is_in(time);
            deltas.push((time, [is_inside - was_inside]));
            was_inside = is_inside;
        }
    }
    let parts = i64::try_from(timelines.len().max(1)).unwrap_or(1);
    Ok(component_steps(&StepFunction::from_deltas([start], deltas), 0, parts, life))
}

/// The pending messages of a unit, incoming and outgoing.
fn sum(a: &PendingSteps, b: &PendingSteps) -> PendingSteps {
    let changes = |steps: &PendingSteps| {
        let mut before = [0; 2];
        let deltas = steps.timestamps().iter().map(|&time| {
            let after = steps.at(time);
            let delta = [after[MESSAGES] - before[MESSAGES], after[BYTES] - before[BYTES]];
            before = after;
            (time, delta)
        });
        deltas.collect::<Vec<_>>()
    };
    StepFunction::from_deltas([0; 2], [changes(a), changes(b)].concat())
}

/// The colour of a category in the charts. A maximum differs from the quantity beside it.
fn category_color(series: ExecutionSeries) -> Option<RgbColor> {
    let category = category_index(series.quantity).filter(|_| !series.is_maximum)?;
    // The colours of a trace are those of the light theme. The diagram adapts them to other themes.
    let palette = ChartPalette::new(ThemeKind::Light, PaletteKind::Standard);
    Some(palette.color(ChartPaint::Category(ActivityCategory::COUNTED[category])))
}

/// The index of a category among those that count.
fn category_index(quantity: SeriesQuantity) -> Option<usize> {
    match quantity {
        SeriesQuantity::Busy => Some(0),
        SeriesQuantity::Overhead => Some(1),
        SeriesQuantity::Idle => Some(2),
        _ => None,
    }
}

fn message_component(quantity: SeriesQuantity) -> usize {
    use SeriesQuantity::{IncomingBytes, OutgoingBytes, PendingBytes};
    if matches!(quantity, PendingBytes | IncomingBytes | OutgoingBytes) { BYTES } else { MESSAGES }
}

/// The changes of a component in a time range, divided by a number.
#[expect(clippy::cast_precision_loss, reason = "variables are floating-point numbers")]
fn component_steps<const K: usize>(
    steps: &StepFunction<K>,
    component: usize,
    divisor: i64,
    life: TimeRange,
) -> NumberSteps {
    let number = |time: i64| steps.at(time)[component] as f64 / divisor as f64;
    let mut numbers = vec![(life.from.0, number(life.from.0))];
    let first = steps.timestamps().partition_point(|time| *time <= life.from.0);
    for &time in steps.timestamps()[first..].iter().take_while(|time| **time < life.to.0) {
        let value = number(time);
        if numbers.last().is_none_or(|last| last.1.to_bits() != value.to_bits()) {
            numbers.push((time, value));
        }
    }
    numbers
}
