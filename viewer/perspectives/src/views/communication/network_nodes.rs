//! The nodes of networks: units with their status as paint.

use tumit_paje::category::ActivityCategory;

use super::node_layout::NodePosition;
use crate::chart::{ChartPaint, LegendItem, NetworkEdge, NetworkNode};
use crate::execution::Execution;
use crate::execution::activity::UnitActivity;
use crate::view::{TimeMode, ViewRequest};
use crate::views::unit_bundles::UnitBundles;

/// Maximum number of nodes. More nodes would leave no room for edges and names.
pub(crate) const MAX_NODES: usize = 128;

/// The distance of a line to a node below which the line bends, as a fraction of the width of the
/// network. It is about the radius of a node.
const NEAR: f64 = 0.02;

/// The nodes of a network, and the meaning of their paints.
pub(crate) struct NetworkNodes {
    pub(crate) nodes: Vec<NetworkNode>,
    pub(crate) legend: Vec<LegendItem>,
    pub(crate) notes: Vec<String>,
}

impl NetworkNodes {
    /// The bundles of units at some positions. Their paint is the category at the present time, or
    /// the category with the longest time.
    pub(crate) fn new(
        execution: &Execution,
        request: &ViewRequest,
        bundles: &UnitBundles,
        positions: &[NodePosition],
    ) -> Self {
        let activity = execution.activity().ok();
        let node = |(bundle, (x, y)): (usize, &NodePosition)| NetworkNode {
            label: bundles.label(execution, bundle),
            unit: bundles.first(bundle),
            x: as_single_precision(*x),
            y: as_single_precision(*y),
            paint: activity.map_or(ChartPaint::Absent, |activity| paint(activity, request, bundles.units(bundle))),
        };
        let nodes = positions.iter().enumerate().map(node).collect();
        let item = |category: ActivityCategory| LegendItem {
            paint: ChartPaint::Category(category),
            label: category.word().to_owned(),
        };
        let legend = if activity.is_some() { ActivityCategory::COUNTED.map(item).to_vec() } else { Vec::new() };
        let no_states = "The trace has no states, so the status of the units is unknown.";
        let mut notes: Vec<String> = activity.is_none().then(|| no_states.to_owned()).into_iter().collect();
        notes.extend(bundles.note(execution, "Each node has the most frequent status of up to"));
        Self { nodes, legend, notes }
    }
}

/// The most frequent category.
fn paint(activity: &UnitActivity, request: &ViewRequest, units: &[usize]) -> ChartPaint {
    let mut times = [0_i128; 3];
    for unit in units {
        let range = request.visible_range();
        if request.mode == TimeMode::At || range.from >= range.to {
            let time = if request.mode == TimeMode::At { request.time.0 } else { range.from.0 };
            let at = activity.at(*unit, time);
            if let Some(number) = ActivityCategory::COUNTED.iter().position(|counted| *counted == at) {
                times[number] += 1;
            }
        } else {
            let of_unit = activity.times(*unit, range);
            times.iter_mut().zip(of_unit).for_each(|(sum, time)| *sum += time);
        }
    }
    let longest = (0..3).rev().max_by_key(|number| times[*number]).unwrap_or(2);
    ChartPaint::Category(ActivityCategory::COUNTED[longest])
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
        let edge = |from, to| NetworkEdge { from, to, paint: ChartPaint::Now, value: 1.0, bend: 0.0 };
        let mut edges = [edge(0, 2), edge(0, 1), edge(3, 0)];
        bend(&nodes, &mut edges);
        assert_eq!(edges.map(|edge| edge.bend), [0.25, 0.06, 0.06]);
        assert!((distance((0.0, 0.0), (1.0, 0.0), (2.0, 0.0)) - 1.0).abs() < 1e-12);
    }
}
