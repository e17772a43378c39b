//! The views of the group whole.

mod execution_clock;
mod peer_statistics;
mod phase_portrait;
mod record_search;
mod record_slices;
mod statistical_summary;
#[cfg(test)]
mod tests;
mod trace_records;
mod unit_statistics;

use crate::view::PerspectiveView;
use execution_clock::ExecutionClock;
use phase_portrait::PhasePortrait;
use statistical_summary::StatisticalSummaryView;
use trace_records::TraceRecordsView;

/// The views of the group, in the order of their numbers.
pub(crate) const VIEWS: &[&dyn PerspectiveView] =
    &[&PhasePortrait, &ExecutionClock, &TraceRecordsView, &StatisticalSummaryView];
