//! [`HypercubeView`] (G13): units as corners of a hypercube.

use super::animation::edges;
use super::network_layout::NetworkLayout;
use super::network_nodes::{MAX_NODES, NetworkNodes};
use super::node_layout::NodeLayout;
use crate::chart::{ChartAxis, ChartPaint, ChartPanel, LegendItem, NetworkChart, TitledPanel, ViewChart};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;
use crate::views::measured_messages::MeasuredMessages;
use crate::views::unit_bundles::UnitBundles;

/// The paint of edges of the hypercube.
const PHYSICAL: ChartPaint = ChartPaint::Series(0);
/// The paint of edges between corners that are not adjacent in the hypercube.
/// Its hue differs from those of categories, which are in the same legend.
const VIRTUAL: ChartPaint = ChartPaint::Series(3);

/// The units are the corners of a hypercube. Lines show pending messages: those along its edges and
/// others have different paints.
pub(crate) struct HypercubeView;

impl PerspectiveView for HypercubeView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "hypercube",
            number: Some(13),
            title: "Hypercube",
            group: ViewGroup::Communication,
            summary: "The units are the corners of a hypercube. Lines show pending messages.",
            required_data: "links between units; states for the status",
            modes: &[TimeMode::At, TimeMode::Range, TimeMode::Moving],
            options: &["measure", "order", "layout", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let measured = MeasuredMessages::new(execution, request, false)?;
        let order = execution.order(&request.options.order, request.range)?;
        let bundles = UnitBundles::power_of_two(order.len(), MAX_NODES).with_units(&order);
        let option = request.options.layout.as_deref().unwrap_or(NodeLayout::Ring.word());
        let usual = NodeLayout::Ring.positions(bundles.count());
        let NetworkLayout { name: layout, positions, notes: position_notes } =
            NetworkLayout::new(execution, &bundles, option, usual)?;
        let NetworkNodes { nodes, mut legend, notes } =
            NetworkNodes::new(execution, request, &bundles, &positions, false)?;
        let sums = measured.sums_by_pair(execution, request, |unit| bundles.bundle(unit));
        let mut edges = edges(&measured, &sums, &nodes, |_, _| VIRTUAL);
        for edge in &mut edges {
            edge.is_dashed = !is_physical(edge.from, edge.to);
            edge.paint = if edge.is_dashed { VIRTUAL } else { PHYSICAL };
        }
        legend.push(LegendItem { paint: PHYSICAL, label: "physical: along an edge of the hypercube".to_owned() });
        legend.push(LegendItem { paint: VIRTUAL, label: "virtual: between other corners".to_owned() });
        let happens = if request.mode == TimeMode::At { "pending" } else { "sent" };
        let largest = edges.iter().map(|edge| edge.value).fold(0.0, f64::max);
        let axis = ChartAxis::new(format!("{happens} {}", measured.word()), measured.axis_unit(), largest);
        let mut all_notes = measured.notes();
        all_notes.extend(notes);
        all_notes.extend(position_notes);
        let missing = bundles.count().next_power_of_two() - bundles.count();
        if missing > 0 {
            all_notes.push(format!("The hypercube has {missing} more corners, for which there are no units."));
        }
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[
                captions::mode_caption(request),
                format!("{happens} {}", measured.word()),
                format!("layout: {layout}"),
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

/// Whether two corners differ in one bit.
fn is_physical(unit: u32, peer: u32) -> bool {
    (unit ^ peer).is_power_of_two()
}
