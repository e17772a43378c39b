//! [`Execution`]: a trace prepared for the views: its units, their activity, messages and tasks.
//! Each part is computed at its first use.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! assert_eq!((execution.units().count(), execution.messages()?.list().len()), (2, 1));
//! // No state type of the trace describes tasks.
//! let error = execution.tasks().unwrap_err();
//! assert!(error.to_string().contains("--option tasks=TYPE"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod active_tasks;
pub mod activity;
pub mod categories;
pub(crate) mod category_sums;
pub mod category_timeline;
mod derived_data;
mod message_reader;
pub mod messages;
pub mod order;
mod overlapping_tasks;
pub mod step_function;
pub(crate) mod task_timeline;
pub(crate) mod tasks;
pub(crate) mod unit_message;
pub mod units;
mod value_timelines;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{GlobalNanos, QueryError, TimeRange, TimelineSource, TypeModel, ValueId};

use crate::error::PerspectiveError;
use crate::execution::active_tasks::ActiveTaskSums;
pub use crate::execution::active_tasks::ActiveTasks;
use crate::execution::activity::{ActivitySettings, UnitActivity};
use crate::execution::categories::{CategoryRule, CategoryTable};
use crate::execution::derived_data::DerivedData;
use crate::execution::messages::{UnitMessage, UnitMessages};
use crate::execution::order::{UnitMetric, UnitOrder};
use crate::execution::tasks::task_types;
pub use crate::execution::tasks::{ExecutionTask, TaskSet};
use crate::execution::units::{UnitChoice, UnitSet};
use crate::execution::value_timelines::{ValueTimelines, innermost_states_decide};

/// The settings of an [`Execution`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExecutionSettings {
    /// The units and the state types that determine their categories.
    pub units: UnitChoice,
    /// Assigned categories, applied in order after the guesses.
    pub categories: Vec<CategoryRule>,
    /// The rules of the category of a unit.
    pub activity: ActivitySettings,
    /// The state types whose values are tasks.
    pub tasks: Option<NamePattern>,
}

/// A trace prepared for the views.
pub struct Execution {
    source: Arc<dyn TimelineSource>,
    model: Arc<TypeModel>,
    settings: ExecutionSettings,
    categories: CategoryTable,
    units: UnitSet,
    extent: TimeRange,
    activity: OnceLock<Result<Arc<UnitActivity>, PerspectiveError>>,
    shared_parts: Arc<SharedParts>,
    derived_data: DerivedData,
}

/// The parts that do not depend on categories.
#[derive(Default)]
struct SharedParts {
    values: OnceLock<Result<Option<ValueTimelines>, PerspectiveError>>,
    messages: OnceLock<Result<Arc<UnitMessages>, PerspectiveError>>,
    tasks: OnceLock<Result<Arc<TaskSet>, PerspectiveError>>,
    active_tasks: OnceLock<Result<ActiveTaskSums, PerspectiveError>>,
    derived_data: DerivedData,
}

/// The time range of a trace. That of the source ends 1 ns later if an entity without duration is
/// at the last timestamp. This nanosecond would count as idle time of all units.
fn extent_of_contents(source: &dyn TimelineSource) -> TimeRange {
    let extent = source.extent();
    let last = source.containers().first().map(|root| root.life.to);
    let to = last.filter(|last| extent.from < *last && last.0.saturating_add(1) == extent.to.0).unwrap_or(extent.to);
    TimeRange { to, ..extent }
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Execution {
    /// Prepares a trace. The activity, messages and tasks are computed later, when a view needs
    /// them.
    ///
    /// # Errors
    /// If a chosen type does not exist, or the source fails.
    pub fn new(source: Arc<dyn TimelineSource>, settings: ExecutionSettings) -> Result<Self, PerspectiveError> {
        let model = source.model();
        let categories = CategoryTable::new(&model, &settings.categories);
        if let Some(choice) = &settings.tasks {
            // A view without tasks has the same error.
            task_types(&model, Some(choice))?;
        }
        let units = UnitSet::new(source.as_ref(), &categories, &settings.units)?;
        let extent = extent_of_contents(source.as_ref());
        let (activity, shared_parts, derived_data) = (OnceLock::new(), Arc::default(), DerivedData::default());
        Ok(Self { source, model, settings, categories, units, extent, activity, shared_parts, derived_data })
    }

    /// Prepares the same trace with other categories. The new execution shares the states, messages
    /// and tasks that are in memory, if the units remain the same.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_categories(
        &self,
        source: Arc<dyn TimelineSource>,
        categories: Vec<CategoryRule>,
    ) -> Result<Self, PerspectiveError> {
        let settings = ExecutionSettings { categories, ..self.settings.clone() };
        let mut other = Self::new(source, settings)?;
        if other.units.has_same_states(&self.units) {
            other.shared_parts = Arc::clone(&self.shared_parts);
        }
        Ok(other)
    }

    /// Whether all parts in memory were read without an error.
    pub fn is_complete(&self) -> bool {
        let SharedParts { values, messages, tasks, active_tasks, derived_data: _ } = self.shared_parts.as_ref();
        let is_cancelled =
            |error: Option<&PerspectiveError>| error.is_some_and(|error| matches!(error, PerspectiveError::Query(_)));
        !(is_cancelled(self.activity.get().and_then(|part| part.as_ref().err()))
            || is_cancelled(values.get().and_then(|part| part.as_ref().err()))
            || is_cancelled(messages.get().and_then(|part| part.as_ref().err()))
            || is_cancelled(tasks.get().and_then(|part| part.as_ref().err()))
            || is_cancelled(active_tasks.get().and_then(|part| part.as_ref().err())))
    }

    /// The trace.
    pub fn source(&self) -> &dyn TimelineSource {
        self.source.as_ref()
    }

    /// [`Self::source`], for a diagram that reads it after the execution.
    pub(crate) fn shared_source(&self) -> Arc<dyn TimelineSource> {
        Arc::clone(&self.source)
    }

    /// The types and values of the trace.
    pub fn model(&self) -> &TypeModel {
        &self.model
    }

    /// The time range of the trace, from the first timestamp to the last.
    pub fn extent(&self) -> TimeRange {
        self.extent
    }

    /// A time range that a user chose. If it ends with the range of the source, it ends with
    /// [`Self::extent`].
    pub fn range_of_contents(&self, range: TimeRange) -> TimeRange {
        let is_end = range.to == self.source.extent().to && self.extent.to > range.from;
        TimeRange { to: if is_end { self.extent.to } else { range.to }, ..range }
    }

    /// The category of each value.
    pub fn categories(&self) -> &CategoryTable {
        &self.categories
    }

    /// The units in natural order.
    pub fn units(&self) -> &UnitSet {
        &self.units
    }

    /// The category of each unit at any time.
    ///
    /// # Errors
    /// If the trace has no states, or the source fails.
    pub fn activity(&self) -> Result<&UnitActivity, PerspectiveError> {
        self.stored_activity().map(Arc::as_ref)
    }

    /// [`Self::activity`], for a diagram that reads it after the execution.
    pub(crate) fn shared_activity(&self) -> Result<Arc<UnitActivity>, PerspectiveError> {
        self.stored_activity().map(Arc::clone)
    }

    fn stored_activity(&self) -> Result<&Arc<UnitActivity>, PerspectiveError> {
        let activity = self.activity.get_or_init(|| {
            if !self.units.has_states() {
                return Err(PerspectiveError::NoData {
                    missing_data: "states".to_owned(),
                    remedy: "choose a level with states by `--option level=TYPE`".to_owned(),
                });
            }
            let values = self.values()?;
            let (units, categories, settings) = (&self.units, &self.categories, self.settings.activity);
            Ok(Arc::new(UnitActivity::new(self.source(), units, categories, settings, values)?))
        });
        activity.as_ref().map_err(Clone::clone)
    }

    /// The innermost states in memory, if they decide about the categories, and if there are not
    /// too many of them.
    fn values(&self) -> Result<Option<&ValueTimelines>, PerspectiveError> {
        let of_units = self.model.values.iter().filter(|value| self.units.state_types.contains(&value.ty));
        if !innermost_states_decide(&self.units, of_units.map(|value| self.categories.category(value.id))) {
            return Ok(None);
        }
        let values = self.shared_parts.values.get_or_init(|| Ok(ValueTimelines::read(self.source(), &self.units)?));
        values.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// Whether the innermost states are in memory, so that [`Self::value_spans`] does not read the
    /// trace.
    pub(crate) fn has_values_in_memory(&self) -> bool {
        matches!(self.shared_parts.values.get(), Some(Ok(Some(_))))
    }

    /// For each of some choices of values, the times in which the innermost state of a unit has
    /// them, as starts and ends in nanoseconds. The times of several containers of a unit may
    /// overlap.
    ///
    /// # Errors
    /// The errors of the source.
    pub(crate) fn value_spans(
        &self,
        unit: usize,
        choices: &[&BTreeSet<ValueId>],
    ) -> Result<Vec<Vec<(i64, i64)>>, QueryError> {
        match self.shared_parts.values.get() {
            Some(Ok(Some(values))) => Ok(choices.iter().map(|choice| values.spans(unit, choice)).collect()),
            _ => value_timelines::spans(self.source(), &self.units, unit, choices),
        }
    }

    /// The messages between units.
    ///
    /// # Errors
    /// If no link connects two units, or the source fails.
    pub fn messages(&self) -> Result<&UnitMessages, PerspectiveError> {
        self.stored_messages().map(Arc::as_ref)
    }

    /// [`Self::messages`], for a diagram that reads them after the execution.
    pub(crate) fn shared_messages(&self) -> Result<Arc<UnitMessages>, PerspectiveError> {
        self.stored_messages().map(Arc::clone)
    }

    fn stored_messages(&self) -> Result<&Arc<UnitMessages>, PerspectiveError> {
        let messages = self.shared_parts.messages.get_or_init(|| {
            let messages = UnitMessages::new(self.source(), &self.units, true)?;
            if messages.is_empty() {
                let (missing, remedy) = if self.units.is_restricted() {
                    (
                        "links between the chosen units",
                        "select more rows, or choose more units by `--option units=NAMES`",
                    )
                } else {
                    ("links between units", "choose the level that links connect by `--option level=TYPE`")
                };
                return Err(PerspectiveError::NoData { missing_data: missing.to_owned(), remedy: remedy.to_owned() });
            }
            Ok(Arc::new(messages))
        });
        messages.as_ref().map_err(Clone::clone)
    }

    /// The messages between units, if they have sizes.
    ///
    /// # Errors
    /// As [`Self::messages`], and if no link type has a field with sizes.
    pub(crate) fn sized_messages(&self) -> Result<&UnitMessages, PerspectiveError> {
        let messages = self.messages()?;
        if messages.has_sizes() {
            return Ok(messages);
        }
        Err(PerspectiveError::NoData {
            missing_data: "sizes of links".to_owned(),
            remedy: "count messages by `--option measure=messages`, or record a field `bytes`".to_owned(),
        })
    }

    /// The tasks.
    ///
    /// # Errors
    /// If no state type has tasks, or the source fails.
    pub fn tasks(&self) -> Result<&TaskSet, PerspectiveError> {
        self.stored_tasks().map(Arc::as_ref)
    }

    /// [`Self::tasks`], for a diagram that reads them after the execution.
    pub(crate) fn shared_tasks(&self) -> Result<Arc<TaskSet>, PerspectiveError> {
        self.stored_tasks().map(Arc::clone)
    }

    fn stored_tasks(&self) -> Result<&Arc<TaskSet>, PerspectiveError> {
        let tasks = self.shared_parts.tasks.get_or_init(|| {
            let values = self.shared_parts.values.get().and_then(|values| values.as_ref().ok()?.as_ref());
            let tasks = TaskSet::new(self.source(), &self.units, self.settings.tasks.as_ref(), values)?;
            if tasks.list().is_empty() {
                return Err(PerspectiveError::NoData {
                    missing_data: "states of tasks".to_owned(),
                    remedy: "choose a state type whose values are tasks by `--option tasks=TYPE`".to_owned(),
                });
            }
            Ok(Arc::new(tasks))
        });
        tasks.as_ref().map_err(Clone::clone)
    }

    /// The number of units that execute each task, at any time.
    ///
    /// # Errors
    /// As [`Self::tasks`].
    pub fn active_tasks(&self) -> Result<ActiveTasks<'_>, PerspectiveError> {
        let tasks = self.tasks()?;
        let sums =
            self.shared_parts.active_tasks.get_or_init(|| Ok(ActiveTaskSums::new(self.source(), &self.units, tasks)?));
        sums.as_ref().map(|sums| ActiveTasks::new(tasks, sums)).map_err(Clone::clone)
    }

    /// Data that a view derives from the trace, such as a list of events with their fields. It is
    /// computed at the first call with its type and key, and stored for later charts. It must
    /// depend only on the execution and the key.
    ///
    /// Up to 64 results are stored. The one that was not used for the longest time is replaced.
    ///
    /// # Errors
    /// The error of `compute`. It is not stored.
    pub fn derived<T: Send + Sync + 'static>(
        &self,
        key: &str,
        compute: impl FnOnce() -> Result<T, PerspectiveError>,
    ) -> Result<Arc<T>, PerspectiveError> {
        self.derived_data.get(key, compute)
    }

    /// The same as [`Self::derived`] for data that do not depend on categories. Executions with
    /// other categories share them.
    pub(crate) fn derived_without_categories<T: Send + Sync + 'static>(
        &self,
        key: &str,
        compute: impl FnOnce() -> Result<T, PerspectiveError>,
    ) -> Result<Arc<T>, PerspectiveError> {
        self.shared_parts.derived_data.get(key, compute)
    }

    /// The indexes of the units in an order. Measures are those of the time range.
    ///
    /// # Errors
    /// If the trace lacks the data of a measure.
    pub fn order(&self, order: &UnitOrder, range: TimeRange) -> Result<Vec<usize>, PerspectiveError> {
        let names: Vec<&str> = self.units.list().iter().map(|unit| unit.name.as_str()).collect();
        let measures = match order {
            UnitOrder::Metric(metric) => self.measures(*metric, range)?,
            _ => Vec::new(),
        };
        Ok(order.permutation(&names, |_metric| measures.clone()))
    }

    /// A measure of each unit in a time range: times in nanoseconds, sizes in bytes.
    #[expect(clippy::cast_precision_loss, reason = "measures are compared and drawn")]
    fn measures(&self, metric: UnitMetric, range: TimeRange) -> Result<Vec<f64>, PerspectiveError> {
        let count = self.units.count();
        let time = |category: usize| {
            let activity = self.activity()?;
            Ok((0..count).map(|unit| activity.mean_times(unit, range)[category]).collect())
        };
        let mut sums = vec![0.0; count];
        let by_bytes = match metric {
            UnitMetric::BusyTime => return time(0),
            UnitMetric::OverheadTime => return time(1),
            UnitMetric::IdleTime => return time(2),
            UnitMetric::BytesSent | UnitMetric::BytesReceived => true,
            UnitMetric::MessagesSent | UnitMetric::MessagesReceived => false,
        };
        let is_sent = matches!(metric, UnitMetric::BytesSent | UnitMetric::MessagesSent);
        let messages = if by_bytes { self.sized_messages()? } else { self.messages()? };
        let size = |message: &UnitMessage| if by_bytes { message.bytes.unwrap_or(0) as f64 } else { 1.0 };
        // A receive at the end of the trace counts.
        let reaches_end = range.to >= self.extent.to;
        let range = TimeRange { from: range.from, to: GlobalNanos(range.to.0.saturating_add(i64::from(reaches_end))) };
        if is_sent {
            let sent_messages = messages.sent_between(range).iter();
            sent_messages.for_each(|message| sums[message.from as usize] += size(message));
        } else {
            let received_messages = messages.received_between(range);
            received_messages.for_each(|message| sums[message.to as usize] += size(message));
        }
        Ok(sums)
    }
}
