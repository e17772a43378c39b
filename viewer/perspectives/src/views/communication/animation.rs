//! [`AnimationView`] (G12): units on a circle, with edges for pending messages.

use super::network_layout::{NetworkLayout, circle_positions};
use super::network_nodes::{MAX_NODES, NetworkNodes, bend};
use super::node_layout::NodePosition;
use crate::chart::{ChartAxis, ChartPaint, ChartPanel, LegendItem, NetworkChart, NetworkEdge, TitledPanel, ViewChart};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::message_scale::MessageScale;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;
use crate::views::measured_messages::{MeasuredMessages, SumsByPair, number};
use crate::views::unit_bundles::UnitBundles;

/// Units with their status, and an edge for each pair with pending messages. Over a time range, an
/// edge for each pair that communicates.
pub(crate) struct AnimationView;

impl PerspectiveView for AnimationView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "animation",
            number: Some(12),
            title: "Animation",
            group: ViewGroup::Communication,
            summary: "Units with their status, and an edge for each pair with pending messages.",
            required_data: "links between units; states for the status",
            modes: &[TimeMode::At, TimeMode::Range, TimeMode::Moving],
            options: &["measure", "order", "layout", "color", "bins", "topology", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let measured = MeasuredMessages::new(execution, request, false)?;
        let bundles = UnitBundles::new(execution, request, MAX_NODES)?;
        let (positions, position_notes) = positions(execution, request, &bundles)?;
        let NetworkNodes { nodes, mut legend, notes } =
            NetworkNodes::new(execution, request, &bundles, &positions, true)?;
        let sums = measured.sums_by_pair(execution, request, |unit| bundles.bundle(unit));
        let sizes = measured.visible_sizes(request, &sums);
        let scale = MessageScale::new(&request.options, execution.units().count(), sizes)?;
        let happens = if request.mode == TimeMode::At { "pending" } else { "sent" };
        // Of a node of several units, the first one determines distances.
        let pair = |(from, to): (u32, u32)| (bundles.first_unit(from as usize), bundles.first_unit(to as usize));
        let edges = edges(&measured, &sums, &nodes, |nodes, bytes| {
            scale.map_or(ChartPaint::Series(0), |scale| scale.paint(pair(nodes), bytes))
        });
        match &scale {
            Some(scale) => legend.extend(scale.legend()),
            None => legend.push(LegendItem { paint: ChartPaint::Series(0), label: format!("{happens} messages") }),
        }
        let largest = edges.iter().map(|edge| edge.value).fold(0.0, f64::max);
        let axis = ChartAxis::new(format!("{happens} {}", measured.word()), measured.axis_unit(), largest);
        let mut all_notes = measured.notes();
        all_notes.extend(notes);
        all_notes.extend(position_notes);
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[
                captions::mode_caption(request),
                format!("{happens} {}", measured.word()),
                scale.map_or_else(String::new, |scale| scale.caption(&request.options)),
                captions::order_caption(request),
            ]),
            table: measured.table(&sums, |bundle| bundles.label(execution, bundle as usize)),
            panels: vec![TitledPanel {
                title: String::new(),
                panel: ChartPanel::Network(NetworkChart { nodes, edges, axis, unit_lists: bundles.lists() }),
            }],
            legend,
            notes: all_notes,
        })
    }
}

/// An edge per pair of different nodes, by node.
pub(crate) fn edges(
    messages: &MeasuredMessages<'_>,
    sums: &SumsByPair,
    nodes: &[crate::chart::NetworkNode],
    paint: impl Fn((u32, u32), u64) -> ChartPaint,
) -> Vec<NetworkEdge> {
    let pairs = sums.iter().filter(|((from, to), _)| from != to);
    let mut edges: Vec<NetworkEdge> = pairs
        .map(|((from, to), sum)| NetworkEdge {
            from: *from,
            to: *to,
            paint: paint((*from, *to), sum.bytes),
            value: number(messages.value(*sum)),
            bend: 0.0,
            is_dashed: false,
        })
        .collect();
    bend(nodes, &mut edges);
    edges
}

/// Positions on a circle, or those of the chosen layout or file.
fn positions(
    execution: &Execution,
    request: &ViewRequest,
    bundles: &UnitBundles,
) -> Result<(Vec<NodePosition>, Vec<String>), PerspectiveError> {
    let positions = circle_positions(bundles.count());
    let Some(option) = &request.options.layout else { return Ok((positions, Vec::new())) };
    let layout = NetworkLayout::new(execution, bundles, option, positions)?;
    Ok((layout.positions, layout.notes))
}
