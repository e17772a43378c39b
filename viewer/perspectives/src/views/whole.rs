//! The views of the group whole.

mod record_search;
mod statistical_summary;
#[cfg(test)]
mod tests;
mod trace_records;
mod unit_statistics;

use crate::view::PerspectiveView;

/// The views of the group, in the order of their numbers.
pub(crate) const VIEWS: &[&dyn PerspectiveView] =
    &[&trace_records::TraceRecordsView, &statistical_summary::StatisticalSummaryView];
