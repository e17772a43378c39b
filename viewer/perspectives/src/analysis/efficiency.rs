//! [`Efficiency`]: the factors of the parallel efficiency, as the POP project defines them.
//!
//! ```text
//! parallel efficiency = load balance × communication efficiency
//! communication efficiency = serialisation efficiency × transfer efficiency
//! ```
//!
//! With the busy time of each unit and the length `T` of the time range: parallel efficiency is the
//! mean busy time divided by `T`, load balance the mean divided by the maximum, and communication
//! efficiency the maximum divided by `T`. Transfer efficiency is the length of the execution on an
//! ideal network, divided by `T`. It is estimated: without the overhead and the messages of the
//! critical path, the execution would be as much shorter, but not shorter than the busy time of any
//! unit.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::analysis::efficiency::Efficiency;
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let efficiency = Efficiency::new(&execution, execution.extent(), None)?;
//! let efficiency = efficiency.ok_or("no thread is busy")?;
//! // The threads are busy for 2 s and 1 s of 4 s.
//! assert_eq!((efficiency.parallel, efficiency.load_balance), (0.375, 0.75));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use tumit_viewer::query::TimeRange;

use crate::analysis::critical_path::PathTimes;
use crate::error::PerspectiveError;
use crate::execution::Execution;

/// The factors of the parallel efficiency, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Efficiency {
    /// Mean busy time divided by the length of the time range.
    pub parallel: f64,
    /// Mean busy time divided by the largest.
    pub load_balance: f64,
    /// Largest busy time divided by the length of the time range.
    pub communication: f64,
    /// The estimated length of the execution on an ideal network, divided by the length of the time
    /// range. `None` without a critical path.
    pub transfer: Option<f64>,
    /// Communication efficiency divided by transfer efficiency.
    pub serialisation: Option<f64>,
    /// Index of the unit with the largest busy time.
    pub busiest: u32,
    /// The largest busy time divided by the mean, minus 1.
    pub imbalance: f64,
}

impl Efficiency {
    /// Computes the factors in a time range. `path` is the critical path of the same time range.
    ///
    /// # Errors
    /// If the trace has no states.
    #[expect(clippy::cast_precision_loss, reason = "factors are rounded")]
    pub fn new(
        execution: &Execution,
        range: TimeRange,
        path: Option<&PathTimes>,
    ) -> Result<Option<Self>, PerspectiveError> {
        let activity = execution.activity()?;
        let length = range.to.0.saturating_sub(range.from.0);
        let nanos = length as f64;
        let busy: Vec<f64> = (0..activity.units()).map(|unit| activity.fractions(unit, range)[0] * nanos).collect();
        let Some((busiest, largest)) = busy.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Ok(None);
        };
        if length <= 0 || largest <= 0.0 {
            return Ok(None);
        }
        let mean = busy.iter().sum::<f64>() / busy.len() as f64;
        let communication = largest / nanos;
        let ideal = |path: &PathTimes| nanos - (path.by_category[1] + path.transit) as f64;
        let transfer = path.map(|path| ideal(path).max(largest) / nanos);
        Ok(Some(Self {
            parallel: mean / nanos,
            load_balance: mean / largest,
            communication,
            transfer,
            serialisation: transfer.map(|transfer| communication / transfer),
            busiest: u32::try_from(busiest).unwrap_or(u32::MAX),
            imbalance: largest / mean - 1.0,
        }))
    }
}
