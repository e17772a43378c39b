//! The views of the group utilization.

use crate::view::PerspectiveView;

mod concurrency_profile;
mod kiviat;
mod processor_status;
mod streak;
mod utilization_count;
mod utilization_meter;
mod utilization_summary;

use concurrency_profile::ConcurrencyProfile;
use kiviat::KiviatDiagram;
use processor_status::ProcessorStatus;
use streak::UnitStreaks;
use utilization_count::UtilizationCount;
use utilization_meter::UtilizationMeter;
use utilization_summary::UtilizationSummary;

/// The views of the group, in the order of their numbers.
pub(crate) const VIEWS: &[&dyn PerspectiveView] = &[
    &UtilizationCount,
    &UtilizationSummary,
    &UtilizationMeter,
    &ConcurrencyProfile,
    &KiviatDiagram,
    &ProcessorStatus,
    &UnitStreaks,
];
