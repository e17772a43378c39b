//! [`NetworkLoadView`] (G28): the load of the physical links of a network.

use tumit_viewer::text::time_display::group_digits;

use super::link_loads::{LinkLoads, physical_links};
use super::network_layout::NetworkLayout;
use super::network_nodes::{MAX_NODES, NetworkNodes, bend};
use super::node_layout::{NodeLayout, NodePosition, fit_to_square};
use crate::chart::{
    ChartAxis, ChartPaint, ChartPanel, LegendItem, NetworkChart, NetworkEdge, NetworkNode, TitledPanel, ViewChart,
};
use crate::draw::size_scale::SizeScale;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::network::topology::Topology;
use crate::options::MessageMeasure;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;
use crate::views::measured_messages::{MeasuredMessages, number};
use crate::views::unit_bundles::UnitBundles;

/// The messages on each link of a network in each direction, if each message takes the usual route.
pub(crate) struct NetworkLoadView;

impl PerspectiveView for NetworkLoadView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "network",
            number: Some(28),
            title: "Network",
            group: ViewGroup::Communication,
            summary: "The load of the physical links of a network in each direction, on which the messages are routed.",
            required_data: "links between units; states for the status",
            modes: &[TimeMode::At, TimeMode::Range, TimeMode::Moving],
            options: &["measure", "topology", "order", "layout", "bins", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let measured = MeasuredMessages::new(execution, request, true)?;
        let units = execution.units().count();
        let topology = request.options.topology(units)?;
        // The places of the network, and the unit at each place.
        let places = match topology {
            Topology::Mesh2(shape) | Topology::Torus2(shape) => UnitBundles::tiles(units, shape, MAX_NODES),
            _ => UnitBundles::power_of_two(units, MAX_NODES),
        };
        let order = execution.order(&request.options.order, request.range)?;
        let bundles = places.with_units(&order);
        let usual = positions(topology, &places);
        let (positions, position_notes) = match &request.options.layout {
            None => (usual, Vec::new()),
            Some(option) => {
                let layout = NetworkLayout::new(execution, &bundles, option, usual)?;
                (layout.positions, layout.notes)
            }
        };
        let NetworkNodes { nodes, mut legend, notes } =
            NetworkNodes::new(execution, request, &bundles, &positions, false)?;
        let place_of_unit = inverse(&order);
        let pairs = measured.sums_by_pair(execution, request, |unit| place_of_unit[unit as usize]);
        let loads = LinkLoads::new(topology, units, &places, &pairs);
        let values = loads.by_link.values().map(|sum| measured.value(*sum)).filter(|load| *load > 0);
        let scale = match measured.measure {
            MessageMeasure::Bytes => request.options.size_scale(values),
            MessageMeasure::Messages => SizeScale::new(values),
        };
        let links = physical_links(topology, units, &places);
        let edges = edges(&measured, &loads, &links, scale, &nodes);
        let happens = if request.mode == TimeMode::At { "pending" } else { "sent" };
        let largest = edges.iter().map(|edge| edge.value).fold(0.0, f64::max);
        let axis = ChartAxis::new(format!("{happens} {} per link", measured.word()), measured.axis_unit(), largest);
        legend.extend(link_legend(&measured, scale));
        let mut all_notes = measured.notes();
        all_notes.extend(notes);
        all_notes.extend(position_notes);
        if bundles.size() > 1 {
            all_notes.push("Links within a node are left out.".to_owned());
        }
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[
                captions::mode_caption(request),
                format!("{happens} {}", measured.word()),
                format!("topology: {}", request.options.topology_title()),
                hops_text(&loads),
                captions::order_caption(request),
            ]),
            table: measured.table(&loads.by_link, |bundle| bundles.label(execution, bundle as usize)),
            panels: vec![TitledPanel {
                title: String::new(),
                panel: ChartPanel::Network(NetworkChart { nodes, edges, axis, unit_lists: bundles.lists() }),
            }],
            legend,
            notes: all_notes,
        })
    }
}

/// The loads of links, and the links without messages.
fn link_legend(measured: &MeasuredMessages<'_>, scale: Option<SizeScale>) -> Vec<LegendItem> {
    let legend = |scale: SizeScale| match measured.measure {
        MessageMeasure::Messages => scale.legend_with(group_digits),
        MessageMeasure::Bytes => scale.legend(),
    };
    let mut items = scale.map(legend).unwrap_or_default();
    items.push(LegendItem { paint: ChartPaint::Faint, label: "link without messages".to_owned() });
    items
}

/// The mean number of hops, in words.
fn hops_text(loads: &LinkLoads) -> String {
    if loads.messages == 0 {
        return String::new();
    }
    format!("{:.2} hops per message", number(loads.hops) / number(loads.messages))
}

/// The inverse of a permutation.
fn inverse(order: &[usize]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    (0..).zip(order).for_each(|(place, unit)| places[*unit] = place);
    places
}

/// An edge per link and direction with messages, and one per link without messages. The latter are
/// first, so that the others cover them.
fn edges(
    messages: &MeasuredMessages<'_>,
    loads: &LinkLoads,
    links: &[(u32, u32)],
    scale: Option<SizeScale>,
    nodes: &[NetworkNode],
) -> Vec<NetworkEdge> {
    let edge = |(from, to): (u32, u32)| {
        let load = loads.by_link.get(&(from, to)).map_or(0, |sum| messages.value(*sum));
        let paint = scale.filter(|_| load > 0).map_or(ChartPaint::Faint, |scale| scale.paint(load));
        NetworkEdge { from, to, paint, value: number(load), bend: 0.0, is_dashed: false }
    };
    let has_load = |(from, to): (u32, u32)| loads.by_link.contains_key(&(from, to));
    let unused = links.iter().copied().filter(|(from, to)| !has_load((*from, *to)) && !has_load((*to, *from)));
    let mut edges: Vec<NetworkEdge> = unused.chain(loads.by_link.keys().copied()).map(edge).collect();
    edges.sort_by(|a, b| a.value.total_cmp(&b.value));
    bend(nodes, &mut edges);
    // If one line joins two nodes, a bend is needed only around other nodes.
    let is_single = |edge: &NetworkEdge| !(has_load((edge.from, edge.to)) && has_load((edge.to, edge.from)));
    edges.iter_mut().filter(|edge| edge.bend < 0.1 && is_single(edge)).for_each(|edge| edge.bend = 0.0);
    edges
}

/// The positions of the nodes that fit the topology. A node of several units is in their middle.
fn positions(topology: Topology, bundles: &UnitBundles) -> Vec<NodePosition> {
    let count = bundles.count();
    let on_circle = |bundle: usize| {
        let angle = std::f64::consts::TAU * as_float(bundle) / as_float(count.max(1));
        (angle.sin(), -angle.cos())
    };
    let place = |bundle: usize| match topology {
        Topology::Hamming | Topology::Unit | Topology::Torus1 => on_circle(bundle),
        Topology::Mesh1 => (as_float(bundle), 0.0),
        Topology::Mesh2(shape) | Topology::Torus2(shape) => mean_position(bundles.units(bundle), |unit| {
            (as_float(unit % shape.columns), as_float(unit / shape.columns))
        }),
        Topology::BinaryTree => mean_position(bundles.units(bundle), |unit| tree_position(unit, 2)),
        Topology::QuadTree => mean_position(bundles.units(bundle), |unit| tree_position(unit, 4)),
    };
    match topology {
        Topology::Hamming => NodeLayout::Ring.positions(count),
        _ => fit_to_square((0..count).map(place).collect()),
    }
}

fn mean_position(units: &[usize], place: impl Fn(usize) -> NodePosition) -> NodePosition {
    let places = units.iter().map(|unit| place(*unit));
    let (x, y) = places.fold((0.0, 0.0), |sum, place| (sum.0 + place.0, sum.1 + place.1));
    let count = as_float(units.len().max(1));
    (x / count, y / count)
}

/// The position in a tree in which the children of `k` are `k × children + 1` and the following.
fn tree_position(node: usize, children: usize) -> NodePosition {
    let (mut first, mut width, mut depth) = (0, 1, 0);
    while node >= first + width {
        first += width;
        width *= children;
        depth += 1;
    }
    ((as_float(node - first) + 0.5) / as_float(width), 0.15 * as_float(depth))
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
fn as_float(number: usize) -> f64 {
    number as f64
}
