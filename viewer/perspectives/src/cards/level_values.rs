//! [`SeriesColumns`]: a series of a card in columns of time.

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{PajeTypeKind, SeriesColumn, StateLaneId, TimeRange, lanes_at_once};

use super::combined_steps::{Combination, CombinedSteps};
use super::event_choice::{ChosenLists, EntityChoice};
use super::event_list::EventList;
use super::series_choice::{CardSeries, SeriesData};
use crate::chart::LevelExtremes;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::{BYTES, MESSAGES, PendingSteps};
use crate::options::MessageMeasure;

/// Nanoseconds per second.
const SECOND: f64 = 1e9;

/// A series in columns of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SeriesColumns {
    pub(super) means: Vec<f64>,
    /// The smallest and largest values. Empty if only the means are known exactly.
    pub(super) extremes: Vec<LevelExtremes>,
}

impl SeriesColumns {
    /// The largest absolute value.
    pub(super) fn largest(&self) -> f64 {
        let extremes = self.extremes.iter().flat_map(|extremes| [extremes.minimum, extremes.maximum]);
        self.means.iter().copied().chain(extremes).map(f64::abs).fold(0.0, f64::max)
    }

    /// All values times a factor.
    pub(super) fn multiply(mut self, factor: f64) -> Self {
        self.means.iter_mut().for_each(|mean| *mean *= factor);
        self.extremes.iter_mut().for_each(|LevelExtremes { minimum, maximum }| {
            (*minimum, *maximum) = (*minimum * factor, *maximum * factor);
        });
        self
    }
}

/// The lanes of the chosen states.
pub(super) fn state_lanes(execution: &Execution, lists: &ChosenLists) -> Vec<StateLaneId> {
    let lanes = |(container, ty): &_| {
        let (container, ty) = (*container, *ty);
        (0..execution.source().depths(container, ty)).map(move |depth| StateLaneId { container, ty, depth })
    };
    lists.lists.iter().flat_map(lanes).collect()
}

pub(super) fn columns(
    execution: &Execution,
    series: &CardSeries,
    range: TimeRange,
    count: u32,
) -> Result<SeriesColumns, PerspectiveError> {
    match &series.data {
        SeriesData::Category(category) => of_category(execution, *category, range, count),
        SeriesData::Pending(measure) => {
            let (steps, component) = pending(execution, *measure)?;
            Ok(of_pending(steps, component, range, count))
        }
        SeriesData::States(choice) => of_states(execution, choice, range, count),
        SeriesData::Variable(choice) => of_variable(execution, choice, series.combination, range, count),
        SeriesData::Events(choice) => of_events(execution, choice, range, count),
        SeriesData::Field { events, field } => {
            let steps = field_steps(execution, events, field, series.combination)?;
            let summaries: Vec<_> = range.columns(count).map(|column| steps.summary(column)).collect();
            Ok(SeriesColumns {
                means: summaries.iter().map(|summary| summary.mean).collect(),
                extremes: summaries
                    .iter()
                    .map(|summary| LevelExtremes { minimum: summary.minimum, maximum: summary.maximum })
                    .collect(),
            })
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of units are drawn")]
fn of_category(
    execution: &Execution,
    category: ActivityCategory,
    range: TimeRange,
    count: u32,
) -> Result<SeriesColumns, PerspectiveError> {
    let counts = execution.activity()?.counts();
    let component = category as usize;
    let denominator = counts.denominator as f64;
    let (mut means, mut extremes) = (Vec::new(), Vec::new());
    for column in counts.steps.columns(range, count) {
        means.push(column.mean[component] / denominator);
        let (min, max) = (column.extremes.min[component] as f64, column.extremes.max[component] as f64);
        extremes.push(LevelExtremes { minimum: min / denominator, maximum: max / denominator });
    }
    Ok(SeriesColumns { means, extremes })
}

/// The pending messages or bytes of the whole trace, with the index of the measure.
fn pending(execution: &Execution, measure: MessageMeasure) -> Result<(&PendingSteps, usize), PerspectiveError> {
    Ok(match measure {
        MessageMeasure::Messages => (execution.messages()?.pending(), MESSAGES),
        MessageMeasure::Bytes => (execution.sized_messages()?.pending(), BYTES),
    })
}

#[expect(clippy::cast_precision_loss, reason = "numbers of messages are drawn")]
fn of_pending(steps: &PendingSteps, component: usize, range: TimeRange, count: u32) -> SeriesColumns {
    let columns = steps.columns(range, count);
    let extremes = |index: usize| {
        let extremes = &columns[index].extremes;
        LevelExtremes { minimum: extremes.min[component] as f64, maximum: extremes.max[component] as f64 }
    };
    SeriesColumns {
        means: columns.iter().map(|column| column.mean[component]).collect(),
        extremes: (0..columns.len()).map(extremes).collect(),
    }
}

/// The mean number of chosen states in each column, from their exact times.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn of_states(
    execution: &Execution,
    choice: &EntityChoice,
    range: TimeRange,
    count: u32,
) -> Result<SeriesColumns, PerspectiveError> {
    let chosen = choice.lists(execution, ("state type", PajeTypeKind::State))?;
    let lanes = state_lanes(execution, &chosen);
    let mut means = vec![0.0; count as usize];
    let widths: Vec<f64> = range.columns(count).map(|column| (column.to.0 - column.from.0) as f64).collect();
    for some in lanes.chunks(lanes_at_once(count)) {
        let cells = execution.source().cells(some, range, count)?;
        for (index, cell) in cells.cells.iter().enumerate() {
            let column = index % cells.columns.max(1) as usize;
            let shares = cell.shares.iter().filter(|(value, _)| chosen.contains(*value));
            let nanos: f64 = shares.map(|(_, nanos)| *nanos as f64).sum();
            if let Some(mean) = means.get_mut(column) {
                *mean += nanos / widths[column];
            }
        }
    }
    Ok(SeriesColumns { means, extremes: Vec::new() })
}

fn of_variable(
    execution: &Execution,
    choice: &EntityChoice,
    combination: Combination,
    range: TimeRange,
    count: u32,
) -> Result<SeriesColumns, PerspectiveError> {
    let chosen = choice.lists(execution, ("variable", PajeTypeKind::Variable))?;
    let mut means: Vec<Option<f64>> = vec![None; count as usize];
    let mut numbers = vec![0_u32; count as usize];
    let mut extremes = Vec::new();
    for (container, ty) in &chosen.lists {
        let series = execution.source().series(*container, *ty, range, count)?;
        if chosen.lists.len() == 1 {
            let bounds = |sample: &Option<SeriesColumn>| sample.map_or((0.0, 0.0), |sample| (sample.min, sample.max));
            let bounds = series.iter().map(bounds);
            extremes = bounds.map(|(minimum, maximum)| LevelExtremes { minimum, maximum }).collect();
        }
        for (index, sample) in series.into_iter().enumerate().take(means.len()) {
            let Some(sample) = sample else { continue };
            numbers[index] += 1;
            let is_single = chosen.lists.len() == 1;
            means[index] = Some(match (combination, means[index]) {
                (Combination::Sum | Combination::Mean, old) => old.unwrap_or(0.0) + sample.mean,
                _ if is_single => sample.mean,
                (Combination::Smallest, old) => old.map_or(sample.min, |old| old.min(sample.min)),
                (Combination::Largest, old) => old.map_or(sample.max, |old| old.max(sample.max)),
            });
        }
    }
    let mean = |(sum, number): (Option<f64>, u32)| match combination {
        Combination::Mean => sum.unwrap_or(0.0) / f64::from(number.max(1)),
        _ => sum.unwrap_or(0.0),
    };
    Ok(SeriesColumns { means: means.into_iter().zip(numbers).map(mean).collect(), extremes })
}

/// The number of events per second in each column.
#[expect(clippy::cast_precision_loss, reason = "a rate is rounded")]
fn of_events(
    execution: &Execution,
    choice: &EntityChoice,
    range: TimeRange,
    count: u32,
) -> Result<SeriesColumns, PerspectiveError> {
    let chosen = choice.lists(execution, ("event type", PajeTypeKind::Event))?;
    let limit = if chosen.has_all_values() { 0 } else { usize::MAX };
    let mut sums = vec![0_u64; count as usize];
    for (container, ty) in &chosen.lists {
        let counts = execution.source().event_counts(*container, *ty, range, count, limit)?;
        for (sum, count) in sums.iter_mut().zip(counts) {
            let of_values = || count.values.iter().filter(|part| chosen.contains(part.value)).map(|part| part.count);
            *sum += if limit == 0 { count.total } else { of_values().sum() };
        }
    }
    let rate = |(sum, column): (u64, TimeRange)| sum as f64 * SECOND / (column.to.0 - column.from.0) as f64;
    let means = sums.into_iter().zip(range.columns(count)).map(rate).collect();
    Ok(SeriesColumns { means, extremes: Vec::new() })
}

/// The combination of a field of the latest event in each container.
fn field_steps(
    execution: &Execution,
    choice: &EntityChoice,
    field: &str,
    combination: Combination,
) -> Result<std::sync::Arc<CombinedSteps>, PerspectiveError> {
    execution.derived(&format!("{choice:?} {field} {combination:?}"), || {
        let events = EventList::of(execution, choice)?;
        let numbers = events.numbers(execution, field)?;
        let event = |index: usize| (events.times[index], events.containers[index].0, numbers[index]);
        let with_number = (0..numbers.len()).filter(|index| !numbers[*index].is_nan());
        Ok(CombinedSteps::from_events(with_number.map(event), combination))
    })
}
