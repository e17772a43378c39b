//! The views of the group communication.

mod animation;
mod collective_transfers;
mod communication_matrix;
mod communication_meter;
mod hypercube;
mod link_loads;
mod message_queues;
mod network_layout;
mod network_load;
mod network_nodes;
mod node_layout;
mod node_statistics;
mod saved_positions;
#[cfg(test)]
mod tests;
mod traffic;

use crate::view::PerspectiveView;

/// The names of the built-in layouts.
pub(crate) fn layouts() -> impl Iterator<Item = &'static str> {
    [network_layout::CIRCLE].into_iter().chain(node_layout::NodeLayout::WORDS.iter().map(|(word, _)| *word))
}

/// The views of the group, in the order of their numbers.
pub(crate) const VIEWS: &[&dyn PerspectiveView] = &[
    &traffic::TrafficView,
    &message_queues::MessageQueuesView,
    &communication_matrix::CommunicationMatrixView,
    &communication_meter::CommunicationMeterView,
    &animation::AnimationView,
    &hypercube::HypercubeView,
    &node_statistics::NodeStatisticsView,
    &network_load::NetworkLoadView,
];
