//! [`DiagramMode`]: the views that are modes of the space-time diagram (G2, G8, G17, G21).
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::diagram::DiagramMode;
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let mode = DiagramMode::of_name("critical-path").ok_or("no such mode")?;
//! let source = mode.trace(&execution, execution.extent())?;
//! assert_eq!(source.extent(), execution.extent());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod derived_trace;
mod diagram_table;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use tumit_viewer::layout::{FoldedContainers, LayoutOptions};
use tumit_viewer::query::{ContainerId, TimeRange, TimelineSource};

use crate::analysis::diagnosis::path_with_times;
use crate::chart::ViewChart;
use crate::diagram::derived_trace::{DerivedParts, DerivedTrace, trace_of_bundles, trace_of_units};
use crate::diagram::diagram_table::{DiagramRows, path_numbers};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::order::UnitOrder;
use crate::message_scale::MessageScale;
use crate::options::ViewOptions;
use crate::view::{TimeMode, ViewGroup, ViewInfo, ViewRequest};

/// A mode of the space-time diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagramMode {
    /// The category of each unit over time (G2).
    UtilizationGantt,
    /// Busy times as lines, messages as arrows coloured by size (G8).
    SpaceTime,
    /// The innermost task of each unit over time (G17).
    TaskGantt,
    /// The longest chain of dependent activities, emphasised (G21).
    CriticalPath,
}

impl DiagramMode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::UtilizationGantt, Self::SpaceTime, Self::TaskGantt, Self::CriticalPath];

    /// The description.
    pub fn info(self) -> ViewInfo<'static> {
        let modes = &[TimeMode::Range, TimeMode::Moving];
        let options = &["order", "width"];
        match self {
            Self::UtilizationGantt => ViewInfo {
                name: "utilization-gantt",
                number: Some(2),
                title: "Utilization Gantt chart",
                group: ViewGroup::Utilization,
                summary: "The category of each unit over time, a mode of the diagram.",
                required_data: "states",
                modes,
                options,
            },
            Self::SpaceTime => ViewInfo {
                name: "space-time",
                number: Some(8),
                title: "Space-time diagram",
                group: ViewGroup::Communication,
                summary: "Busy times as lines and messages as arrows coloured by size, a mode of the diagram.",
                required_data: "states and links",
                modes,
                options: &["order", "color", "bins", "topology", "width"],
            },
            Self::TaskGantt => ViewInfo {
                name: "task-gantt",
                number: Some(17),
                title: "Task Gantt chart",
                group: ViewGroup::Tasks,
                summary: "The innermost task of each unit over time, a mode of the diagram.",
                required_data: "states of tasks",
                modes,
                options,
            },
            Self::CriticalPath => ViewInfo {
                name: "critical-path",
                number: Some(21),
                title: "Critical path",
                group: ViewGroup::Execution,
                summary: "The longest chain of dependent activities, emphasised in the diagram.",
                required_data: "states",
                modes,
                options,
            },
        }
    }

    /// The mode of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.info().name == name)
    }

    /// The trace that the diagram shows in this mode, without choices of order and colours.
    ///
    /// # Errors
    /// If the execution lacks the data of the view, or the source fails.
    pub fn trace(self, execution: &Execution, range: TimeRange) -> Result<Arc<dyn TimelineSource>, PerspectiveError> {
        Ok(self.diagram(execution, range, &ViewOptions::default())?.source)
    }

    /// The trace that the diagram shows in this mode, with the order and the folds of its rows.
    ///
    /// # Errors
    /// If the execution lacks the data of the view or of an option, or the source fails.
    pub fn diagram(
        self,
        execution: &Execution,
        range: TimeRange,
        options: &ViewOptions,
    ) -> Result<DiagramRowsOfMode, PerspectiveError> {
        self.diagram_of(execution, range, options, None)
    }

    /// As [`Self::diagram`], for an image with room for `max_rows` rows. If there are many more
    /// units, each row is the mean of adjacent units. Otherwise, the number of rows is not limited.
    ///
    /// # Errors
    /// As [`Self::diagram`].
    pub fn bundled_diagram(
        self,
        execution: &Execution,
        range: TimeRange,
        options: &ViewOptions,
        max_rows: usize,
    ) -> Result<DiagramRowsOfMode, PerspectiveError> {
        self.diagram_of(execution, range, options, Some(max_rows))
    }

    fn diagram_of(
        self,
        execution: &Execution,
        range: TimeRange,
        options: &ViewOptions,
        max_rows: Option<usize>,
    ) -> Result<DiagramRowsOfMode, PerspectiveError> {
        options.check(execution)?;
        // Only the critical path depends on the time range.
        let range_key = if self == Self::CriticalPath { format!("{range:?}") } else { String::new() };
        let ViewOptions { color, bins, topology, palette, .. } = options;
        let colors = if self == Self::SpaceTime { format!("{color:?} {bins:?} {topology:?}") } else { String::new() };
        let order = execution.order(&options.order, range)?;
        // Only an order by a measure depends on the time range.
        let order_key = match &options.order {
            UnitOrder::Metric(_) => format!("{:?} {range:?}", options.order),
            other => format!("{other:?}"),
        };
        let rows_key = max_rows.map_or_else(String::new, |max_rows| format!("{max_rows} {order_key}"));
        let key = format!("{} {range_key} {palette:?} {colors} {rows_key}", self.info().name);
        let derived = execution.derived(&key, || self.new_trace(execution, range, options, (&order, max_rows)))?;
        let DerivedTrace { source, units, has_fractions, units_per_row } = derived.as_ref();
        // The rows of bundles are in this order.
        let is_in_order = order.is_sorted() || *units_per_row > 1;
        let ranks = if is_in_order { BTreeMap::new() } else { row_ranks(source.as_ref(), units, &order) };
        let folded_containers = if *has_fractions { units.clone() } else { Vec::new() };
        let units_per_row = *units_per_row;
        Ok(DiagramRowsOfMode {
            source: Arc::clone(source),
            units: units.clone(),
            units_per_row,
            ranks,
            folded_containers,
        })
    }

    /// The numbers of the mode as a chart without panels: a row per drawn state and message. Of the
    /// critical path, the times by state, by unit and by category. `most_rows` limits the rows.
    ///
    /// # Errors
    /// If the execution lacks the data of the view, or the source fails.
    pub fn numbers(
        self,
        execution: &Execution,
        request: &ViewRequest,
        most_rows: usize,
    ) -> Result<ViewChart, PerspectiveError> {
        let title = self.info().title;
        let request = &ViewRequest { range: execution.range_of_contents(request.range), ..request.clone() };
        let rows = match self {
            Self::UtilizationGantt => DiagramRows::of_categories(execution, request)?,
            Self::SpaceTime => DiagramRows::of_space_time(execution, request)?,
            Self::TaskGantt => DiagramRows::of_tasks(execution, request)?,
            Self::CriticalPath => return path_numbers(title, execution, request),
        };
        Ok(rows.chart(title, most_rows))
    }

    fn new_trace(
        self,
        execution: &Execution,
        range: TimeRange,
        options: &ViewOptions,
        (order, max_rows): (&[usize], Option<usize>),
    ) -> Result<DerivedTrace, PerspectiveError> {
        let trace = |parts: DerivedParts<'_>| match max_rows {
            Some(max_rows) => trace_of_bundles(execution, parts, order, max_rows),
            None => trace_of_units(execution, parts),
        };
        let parts = DerivedParts { title: self.info().title, palette: options.palette, ..DerivedParts::default() };
        match self {
            Self::UtilizationGantt => trace(DerivedParts { categories: true, fractions: true, ..parts }),
            Self::SpaceTime => {
                let messages = execution.messages()?;
                let sizes = messages.size_extremes.into_iter().flatten();
                let scale = MessageScale::new(options, execution.units().count(), sizes)?;
                let message_scale = scale.as_ref();
                let parts = DerivedParts { categories: true, hides_idle: true, messages: true, message_scale, ..parts };
                trace(parts)
            }
            Self::TaskGantt => trace(DerivedParts { tasks: true, ..parts }),
            Self::CriticalPath => {
                let (path, _) = path_with_times(execution, range)?;
                let parts = DerivedParts { hides_idle: true, messages: true, path: Some(&path), ..parts };
                trace(parts)
            }
        }
    }
}

/// The rows that the diagram shows in a mode.
pub struct DiagramRowsOfMode {
    /// The trace of the rows.
    pub source: Arc<dyn TimelineSource>,
    /// For each unit, its container in the trace of the rows. The units of a bundle share one.
    pub units: Vec<ContainerId>,
    /// The number of units of the largest row: 1 unless the rows are bundles of units.
    pub units_per_row: usize,
    /// The places of containers among their siblings. Empty for the order of the trace.
    ranks: BTreeMap<ContainerId, u32>,
    /// The units whose fractions are below them.
    folded_containers: Vec<ContainerId>,
}

impl fmt::Debug for DiagramRowsOfMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiagramRowsOfMode").field("units", &self.units).finish_non_exhaustive()
    }
}

impl DiagramRowsOfMode {
    /// The choices of a user, with the order and the folds of the mode.
    pub fn layout(&self, mut options: LayoutOptions) -> LayoutOptions {
        options.arrangement.ranks.clone_from(&self.ranks);
        if options.folds.level.is_none() {
            options.folds = FoldedContainers { level: None, toggled: self.folded_containers.iter().copied().collect() };
        }
        options
    }
}

/// The places of the units in an order. A container above units has the place of the first one.
fn row_ranks(source: &dyn TimelineSource, units: &[ContainerId], order: &[usize]) -> BTreeMap<ContainerId, u32> {
    let containers = source.containers();
    let parents: BTreeMap<ContainerId, ContainerId> = containers.iter().map(|info| (info.id, info.parent)).collect();
    let mut ranks = BTreeMap::new();
    for (rank, unit) in (0..).zip(order) {
        let mut container = units.get(*unit).copied();
        while let Some(place) = container.filter(|container| !ranks.contains_key(container)) {
            ranks.insert(place, rank);
            container = parents.get(&place).copied().filter(|parent| *parent != place);
        }
    }
    ranks
}
