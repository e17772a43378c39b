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

mod derived_trace;

use std::sync::Arc;

use tumit_viewer::query::{TimeRange, TimelineSource};

use crate::analysis::diagnosis::path_with_times;
use crate::diagram::derived_trace::{DerivedParts, derived_trace};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{TimeMode, ViewGroup, ViewInfo};

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
        let modes = &[TimeMode::Range];
        let options = &[];
        match self {
            Self::UtilizationGantt => ViewInfo {
                name: "utilization-gantt",
                number: Some(2),
                title: "Utilization Gantt chart",
                group: ViewGroup::Utilization,
                summary: "The category of each unit over time, a mode of the diagram.",
                needs: "states",
                modes,
                options,
            },
            Self::SpaceTime => ViewInfo {
                name: "space-time",
                number: Some(8),
                title: "Space-time diagram",
                group: ViewGroup::Communication,
                summary: "Busy times as lines and messages as arrows coloured by size, a mode of the diagram.",
                needs: "states and links",
                modes,
                options,
            },
            Self::TaskGantt => ViewInfo {
                name: "task-gantt",
                number: Some(17),
                title: "Task Gantt chart",
                group: ViewGroup::Tasks,
                summary: "The innermost task of each unit over time, a mode of the diagram.",
                needs: "states of tasks",
                modes,
                options,
            },
            Self::CriticalPath => ViewInfo {
                name: "critical-path",
                number: Some(21),
                title: "Critical path",
                group: ViewGroup::Execution,
                summary: "The longest chain of dependent activities, emphasised in the diagram.",
                needs: "states",
                modes,
                options,
            },
        }
    }

    /// The mode of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.info().name == name)
    }

    /// The trace that the diagram shows in this mode.
    ///
    /// # Errors
    /// If the execution lacks the data of the view, or the source fails.
    pub fn trace(self, execution: &Execution, range: TimeRange) -> Result<Arc<dyn TimelineSource>, PerspectiveError> {
        // Only the critical path depends on the time range.
        let range_key = if self == Self::CriticalPath { format!("{range:?}") } else { String::new() };
        let key = format!("{} {range_key}", self.info().name);
        Ok(Arc::clone(&*execution.derived(&key, || self.new_trace(execution, range))?))
    }

    fn new_trace(self, execution: &Execution, range: TimeRange) -> Result<Arc<dyn TimelineSource>, PerspectiveError> {
        let parts = DerivedParts { title: self.info().title, ..DerivedParts::default() };
        match self {
            Self::UtilizationGantt => derived_trace(execution, DerivedParts { categories: true, ..parts }),
            Self::SpaceTime => {
                execution.messages()?;
                let parts = DerivedParts { categories: true, hides_idle: true, messages: true, ..parts };
                derived_trace(execution, parts)
            }
            Self::TaskGantt => derived_trace(execution, DerivedParts { tasks: true, ..parts }),
            Self::CriticalPath => {
                let (path, _) = path_with_times(execution, range)?;
                let parts = DerivedParts { hides_idle: true, messages: true, path: Some(&path), ..parts };
                derived_trace(execution, parts)
            }
        }
    }
}
