//! The nodes of networks: units with their status as paint.

use tumit_paje::category::ActivityCategory;

use super::node_layout::NodePosition;
use crate::analysis::innermost_state::innermost_state;
use crate::analysis::message_names;
use crate::chart::{ChartPaint, LegendItem, NetworkEdge, NetworkNode};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::activity::UnitActivity;
use crate::view::{TimeMode, ViewRequest};
use crate::views::unit_bundles::UnitBundles;

/// Maximum number of nodes. More nodes would leave no room for edges and names.
pub(crate) const MAX_NODES: usize = 128;

/// The distance of a line to a node below which the line bends, as a fraction of the width of the
/// network. It is about the radius of a node.
const NEAR: f64 = 0.02;

/// Maximum number of units whose sends and receives are distinguished. Each costs a query.
const MAX_DIRECTIONS: usize = 4096;

/// The nodes of a network, and the meaning of their paints.
pub(crate) struct NetworkNodes {
    pub(crate) nodes: Vec<NetworkNode>,
    pub(crate) legend: Vec<LegendItem>,
    pub(crate) notes: Vec<String>,
}

/// The status of a unit.
#[derive(Clone, Copy, PartialEq)]
enum NodeStatus {
    Category(ActivityCategory),
    /// Overhead in a state that sends.
    Sending,
    /// Overhead in a state that receives.
    Receiving,
}

impl NodeStatus {
    /// From the one with precedence if several are equally frequent to the last one.
    const ALL: [Self; 5] = [
        Self::Category(ActivityCategory::Busy),
        Self::Sending,
        Self::Receiving,
        Self::Category(ActivityCategory::Overhead),
        Self::Category(ActivityCategory::Idle),
    ];

    fn paint(self) -> ChartPaint {
        match self {
            Self::Category(category) => ChartPaint::Category(category),
            Self::Sending => ChartPaint::Series(5),
            Self::Receiving => ChartPaint::Series(4),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Category(category) => category.word(),
            Self::Sending => "sending",
            Self::Receiving => "receiving",
        }
    }
}

/// The direction of messages in states of some name: `Some(true)` for sends, `Some(false)` for
/// receives.
fn is_send(name: &str) -> Option<bool> {
    match (message_names::is_send(name), message_names::is_receive(name)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// The statuses of units.
struct UnitStatuses<'a> {
    execution: &'a Execution,
    activity: &'a UnitActivity,
    request: &'a ViewRequest,
    /// Whether sending and receiving are distinguished from other overhead.
    shows_direction: bool,
}

impl<'a> UnitStatuses<'a> {
    /// `shows_direction`: whether the view distinguishes sending and receiving, if the names of
    /// states do.
    fn new(execution: &'a Execution, request: &'a ViewRequest, shows_direction: bool) -> Option<Self> {
        let activity = execution.activity().ok()?;
        let has_directions = execution.model().values.iter().any(|value| is_send(&value.name).is_some());
        let is_possible = request.mode == TimeMode::At && execution.units().count() <= MAX_DIRECTIONS;
        let shows_direction = shows_direction && has_directions && is_possible;
        Some(Self { execution, activity, request, shows_direction })
    }

    /// The status at the time cursor.
    fn at(&self, unit: usize, time: i64) -> Result<NodeStatus, PerspectiveError> {
        let category = self.activity.at(unit, time);
        if category != ActivityCategory::Overhead || !self.shows_direction {
            return Ok(NodeStatus::Category(category));
        }
        let state = innermost_state(self.execution, unit, time)?;
        let value = state.and_then(|state| self.execution.model().values.get(state.value.index()));
        Ok(match value.and_then(|value| is_send(&value.name)) {
            Some(true) => NodeStatus::Sending,
            Some(false) => NodeStatus::Receiving,
            None => NodeStatus::Category(category),
        })
    }

    /// The status of most units at the time cursor, or the category with the longest time.
    fn of_units(&self, units: &[usize]) -> Result<NodeStatus, PerspectiveError> {
        let mut times = [0_i128; NodeStatus::ALL.len()];
        let place = |status: NodeStatus| NodeStatus::ALL.iter().position(|known| *known == status);
        let range = self.request.visible_range();
        for unit in units {
            if self.request.mode == TimeMode::At || range.from >= range.to {
                let time = if self.request.mode == TimeMode::At { self.request.time.0 } else { range.from.0 };
                if let Some(place) = place(self.at(*unit, time)?) {
                    times[place] += 1;
                }
            } else {
                let of_unit = ActivityCategory::COUNTED.into_iter().zip(self.activity.times(*unit, range));
                for (category, time) in of_unit {
                    if let Some(place) = place(NodeStatus::Category(category)) {
                        times[place] += time;
                    }
                }
            }
        }
        let longest = (0..times.len()).rev().max_by_key(|place| times[*place]);
        Ok(longest.map_or(NodeStatus::Category(ActivityCategory::Idle), |place| NodeStatus::ALL[place]))
    }

    fn legend(&self) -> Vec<LegendItem> {
        let is_shown = |status: &NodeStatus| self.shows_direction || matches!(status, NodeStatus::Category(_));
        let item = |status: NodeStatus| LegendItem { paint: status.paint(), label: status.word().to_owned() };
        NodeStatus::ALL.into_iter().filter(is_shown).map(item).collect()
    }
}

impl NetworkNodes {
    /// The bundles of units at some positions. Their paint is the status at the time cursor, or
    /// the category with the longest time. `shows_direction`: whether sending and receiving are
    /// distinguished.
    pub(crate) fn new(
        execution: &Execution,
        request: &ViewRequest,
        bundles: &UnitBundles,
        positions: &[NodePosition],
        shows_direction: bool,
    ) -> Result<Self, PerspectiveError> {
        let statuses = UnitStatuses::new(execution, request, shows_direction);
        let mut nodes = Vec::with_capacity(positions.len());
        for (bundle, (x, y)) in positions.iter().enumerate() {
            let status = statuses.as_ref().map(|statuses| statuses.of_units(bundles.units(bundle))).transpose()?;
            nodes.push(NetworkNode {
                label: bundles.label(execution, bundle),
                unit: bundles.first_unit(bundle),
                x: as_single_precision(*x),
                y: as_single_precision(*y),
                paint: status.map_or(ChartPaint::Absent, NodeStatus::paint),
            });
        }
        let legend = statuses.as_ref().map(UnitStatuses::legend).unwrap_or_default();
        let no_states = "The trace has no states, so the status of the units is unknown.";
        let mut notes: Vec<String> = statuses.is_none().then(|| no_states.to_owned()).into_iter().collect();
        notes.extend(bundles.note(execution, "Each node has the most frequent status of up to"));
        Ok(Self { nodes, legend, notes })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "positions are drawn in pixels")]
fn as_single_precision(position: f64) -> f32 {
    position as f32
}

/// Bends edges: each a little, so that both directions of a pair are visible, and those that would
/// cross a node more.
pub(crate) fn bend(nodes: &[NetworkNode], edges: &mut [NetworkEdge]) {
    for edge in edges {
        let place = |node: u32| (f64::from(nodes[node as usize].x), f64::from(nodes[node as usize].y));
        let (from, to) = (place(edge.from), place(edge.to));
        let crosses = (0..).zip(nodes).any(|(number, node)| {
            let point = (f64::from(node.x), f64::from(node.y));
            number != edge.from && number != edge.to && distance(from, to, point) < NEAR
        });
        edge.bend = if crosses { 0.25 } else { 0.06 };
    }
}

/// The distance of a point to a line from one point to another.
fn distance(from: NodePosition, to: NodePosition, point: NodePosition) -> f64 {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let square = x * x + y * y;
    let along = if square > 0.0 { ((point.0 - from.0) * x + (point.1 - from.1) * y) / square } else { 0.0 };
    let along = along.clamp(0.0, 1.0);
    (from.0 + along * x - point.0).hypot(from.1 + along * y - point.1)
}

#[cfg(test)]
mod tests {
    use super::{NetworkNode, bend, distance};
    use crate::chart::{ChartPaint, NetworkEdge};

    #[test]
    fn edges_across_a_node_bend_more() {
        let node = |x, y| NetworkNode { label: String::new(), unit: 0, x, y, paint: ChartPaint::Absent };
        let nodes = [node(0.0, 0.0), node(0.5, 0.0), node(1.0, 0.0), node(1.0, 1.0)];
        let edge = |from, to| NetworkEdge { from, to, paint: ChartPaint::Now, value: 1.0, bend: 0.0, is_dashed: false };
        let mut edges = [edge(0, 2), edge(0, 1), edge(3, 0)];
        bend(&nodes, &mut edges);
        assert_eq!(edges.map(|edge| edge.bend), [0.25, 0.06, 0.06]);
        assert!((distance((0.0, 0.0), (1.0, 0.0), (2.0, 0.0)) - 1.0).abs() < 1e-12);
    }
}
