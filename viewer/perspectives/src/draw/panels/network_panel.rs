//! Units as nodes, messages as edges.

use tumit_viewer::scene::{OutlineRect, TextAnchor};
use tumit_viewer::style::theme::{ColorTheme, ColorWithOpacity};

use crate::chart::{LegendItem, NetworkChart, NetworkEdge, NetworkNode};
use crate::draw::axis_numbers::exact_text;
use crate::draw::chart_canvas::{
    ChartCanvas, LabelStyle, ScenePoint, baseline_shift, have_overlap, name_of, text_frame,
};
use crate::draw::chart_region::{RegionShape, RegionSubject};
use crate::draw::short_names::ShortNames;

/// If there are more edges, they are thin and translucent, so that edges below others stay visible.
const MANY_EDGES: usize = 100;
/// The largest distance between a curved edge and its straight lines, so that the corners between
/// them are not visible.
const EDGE_ERROR: f32 = 0.12;
/// Length of a dash of a dashed edge, and of the gap after it, in scene units.
const DASH: f32 = 6.0;
const DASH_GAP: f32 = 4.0;
/// Maximum number of gaps of an edge, so that images of many edges stay small.
const MAX_GAPS: f32 = 24.0;
/// Maximum number of straight lines of an edge.
const MAX_EDGE_POINTS: f32 = 24.0;

/// The nodes of a panel.
struct NetworkArea<'a> {
    chart: &'a NetworkChart,
    names: ShortNames<'a>,
    frame: OutlineRect,
    /// Radius of a node.
    radius: f32,
    /// Where the labels of the nodes are.
    labels: NodeLabels,
}

/// The place of the labels of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeLabels {
    Inside,
    Outside,
    Absent,
}

/// Draws the panel.
pub(in crate::draw) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, chart: &NetworkChart) {
    let style = canvas.label_style(TextAnchor::Middle);
    let names = ShortNames::new(chart.nodes.iter().map(|node| node.label.as_str()));
    let widest = names.widest(style);
    let side = frame.width.min(frame.height);
    let spacing = nearest_distance(&chart.nodes) * side * 0.86;
    let largest = (spacing * 0.4).min(side * 0.07);
    let (radius, labels) = if largest >= (widest / 2.0 + 4.0).max(style.size * 0.85) {
        (largest.min((widest / 2.0 + 9.0).max(16.0)), NodeLabels::Inside)
    } else if spacing >= style.size * 1.3 {
        ((spacing * 0.25).clamp(2.5, 7.0), NodeLabels::Outside)
    } else {
        ((spacing * 0.32).clamp(1.5, 6.0), NodeLabels::Absent)
    };
    let (beside, above) = match labels {
        NodeLabels::Outside => (widest.min(frame.width * 0.2) + 6.0, style.size * 1.4),
        NodeLabels::Inside | NodeLabels::Absent => (0.0, 0.0),
    };
    // Layouts are square.
    let room = |size: f32, label: f32| size - 2.0 * (radius + 4.0 + label);
    let inner = room(frame.width, beside).min(room(frame.height, above)).max(10.0);
    let (x, y) = (frame.x + (frame.width - inner) / 2.0, frame.y + (frame.height - inner) / 2.0);
    let square = OutlineRect::new(x, y, inner, inner);
    let area = NetworkArea { chart, names, frame: square, radius, labels };
    area.add_regions(canvas);
    canvas.group("edges", None, |canvas| {
        for edge in &chart.edges {
            area.draw_edge(canvas, edge);
        }
    });
    canvas.group("nodes", None, |canvas| area.draw_nodes(canvas));
}

/// The smallest distance of two nodes, if the whole is 1 wide. Networks of many nodes are assumed
/// to be circles.
fn nearest_distance(nodes: &[NetworkNode]) -> f32 {
    // Maximum number of nodes for which all distances are computed. The time grows with the square
    // of the number.
    const MAX_COMPARED: usize = 512;
    if nodes.len() > MAX_COMPARED {
        return std::f32::consts::PI / nodes.len() as f32;
    }
    let mut nearest = 1.0_f32;
    for (index, a) in nodes.iter().enumerate() {
        for b in &nodes[index + 1..] {
            nearest = nearest.min((a.x - b.x).hypot(a.y - b.y));
        }
    }
    nearest
}

/// The dashes of a line, as fractions of its length. It begins and ends with a dash.
fn dashes(length: f32) -> Vec<(f32, f32)> {
    let share = DASH / (DASH + DASH_GAP);
    let gaps = ((length - DASH) / (DASH + DASH_GAP)).round().clamp(1.0, MAX_GAPS);
    let period = 1.0 / (gaps + share);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 24")]
    let starts = (0..=gaps as u8).map(|number| f32::from(number) * period);
    starts.map(|from| (from, from + period * share)).collect()
}

/// The name and the status of a node.
pub(in crate::draw) fn node_text(legend: &[LegendItem], node: &NetworkNode) -> String {
    let status = name_of(legend, node.paint).map(|status| format!(": {status}")).unwrap_or_default();
    format!("{}{status}", node.label)
}

/// The nodes and the value of an edge. `None` if a node does not exist.
pub(in crate::draw) fn edge_text(chart: &NetworkChart, edge: &NetworkEdge) -> Option<String> {
    let (from, to) = (chart.nodes.get(edge.from as usize)?, chart.nodes.get(edge.to as usize)?);
    let value = exact_text(edge.value, chart.axis.axis_unit);
    Some(format!("{} to {}: {value}, {}", from.label, to.label, chart.axis.label))
}

impl NetworkArea<'_> {
    /// The places of the nodes and edges.
    fn add_regions(&self, canvas: &mut ChartCanvas) {
        let centers = (0..self.chart.nodes.len()).filter_map(|index| self.place(u32::try_from(index).ok()?)).collect();
        let radius = self.radius.max(5.0);
        let points = RegionShape::Points { radius, centers, square: Some(self.frame) };
        canvas.add_region(points, RegionSubject::of_units(&self.chart.unit_lists));
        let edges = &self.chart.edges;
        let (ends, bends) = edges.iter().map(|edge| ((edge.from, edge.to), edge.bend)).unzip();
        canvas.add_region(RegionShape::Edges { ends, bends }, RegionSubject::Values);
    }

    fn place(&self, node: u32) -> Option<ScenePoint> {
        let node = self.chart.nodes.get(node as usize)?;
        Some((self.frame.x + node.x * self.frame.width, self.frame.y + node.y * self.frame.height))
    }

    fn draw_edge(&self, canvas: &mut ChartCanvas, edge: &NetworkEdge) {
        let (Some(from), Some(to)) = (self.place(edge.from), self.place(edge.to)) else { return };
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        if length <= 2.0 * self.radius {
            return;
        }
        // The left side is at the right angle against the clock, in an image with y downward.
        let bend = edge.bend * length;
        let control =
            ((from.0 + to.0) / 2.0 + dy / length * 2.0 * bend, (from.1 + to.1) / 2.0 - dx / length * 2.0 * bend);
        let point = |fraction: f32| {
            let (a, b, c) =
                ((1.0 - fraction) * (1.0 - fraction), 2.0 * fraction * (1.0 - fraction), fraction * fraction);
            (a * from.0 + b * control.0 + c * to.0, a * from.1 + b * control.1 + c * to.1)
        };
        // The distance of a parabola from `n` lines is the height of its bend divided by `n²`.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 24")]
        let steps = (bend.abs() / EDGE_ERROR).sqrt().ceil().clamp(1.0, MAX_EDGE_POINTS) as u8;
        let color = canvas.palette.line_color(edge.paint);
        // A connection without a value has no direction.
        let is_directed = edge.value > 0.0;
        let width = (1.2 + self.radius * 0.04).min(2.2);
        let head = (self.radius * 0.6).clamp(3.0, 8.0).min(length * 0.3);
        // The edge begins and ends at the rims of its nodes. Its line ends within its head, so that
        // the tip is sharp.
        let (first, last) = ((self.radius + 1.0) / length, 1.0 - (self.radius + 2.0) / length);
        let line_end = if is_directed { (last - head / length / 2.0).max(first) } else { last };
        let line = |(from, to): (f32, f32), steps: u8| -> Vec<ScenePoint> {
            let place = |step: u8| from + (to - from) * f32::from(step) / f32::from(steps);
            (0..=steps).map(|step| point(first + (line_end - first) * place(step))).collect()
        };
        // Where colours distinguish edges, dashes would only make the drawing larger.
        let lines: Vec<Vec<ScenePoint>> = match edge.is_dashed && canvas.is_monochrome {
            true => dashes((line_end - first) * length).into_iter().map(|dash| line(dash, 2)).collect(),
            false => vec![line((0.0, 1.0), steps)],
        };
        let (tip, before) = (point(last), point((last - head / length).max(0.0)));
        let (alpha, width) = if self.chart.edges.len() > MANY_EDGES { (0.45, 1.0) } else { (0.9, width) };
        for line in lines {
            canvas.faded_curve(line, ColorWithOpacity::with_alpha(color, alpha), width);
        }
        if !is_directed {
            return;
        }
        let (ux, uy) = ((tip.0 - before.0) / head, (tip.1 - before.1) / head);
        let half = head * 0.42;
        let corners =
            vec![tip, (before.0 - uy * half, before.1 + ux * half), (before.0 + uy * half, before.1 - ux * half)];
        canvas.area(corners, None, color, 1.0);
    }

    fn draw_nodes(&self, canvas: &mut ChartCanvas) {
        let mut style = canvas.label_style(TextAnchor::Middle);
        let (paper, faint) = (canvas.theme.paper, canvas.theme.faint_color);
        for (index, node) in self.chart.nodes.iter().enumerate() {
            let Some((x, y)) = self.place(index as u32) else { continue };
            let color = canvas.palette.color(node.paint);
            // A ring separates the node from edges that pass it.
            canvas.disc((x, y), self.radius + 1.5, paper, None);
            if self.radius > 5.0 {
                canvas.disc((x, y), self.radius + 0.5, faint, None);
            }
            let title = node_text(&canvas.legend, node);
            canvas.disc((x, y), self.radius, color, Some(title));
            if self.labels == NodeLabels::Inside {
                style.color = ColorTheme::text_on(color);
                canvas.text((x, y + baseline_shift(style.size)), self.names.names[index], style);
            }
        }
        if self.labels == NodeLabels::Outside {
            self.draw_labels_outside(canvas);
        }
    }

    /// Labels beside the nodes, away from the middle of the network. A label that would overlap an
    /// earlier one is left out.
    fn draw_labels_outside(&self, canvas: &mut ChartCanvas) {
        let style = LabelStyle { color: canvas.theme.ink, ..canvas.label_style(TextAnchor::Start) };
        let mut drawn: Vec<OutlineRect> = Vec::new();
        for (index, node) in self.chart.nodes.iter().enumerate() {
            let Some((x, y)) = self.place(index as u32) else { continue };
            let (dx, dy) = (node.x - 0.5, node.y - 0.5);
            let length = dx.hypot(dy).max(1e-3);
            let (ux, uy) = (dx / length, dy / length);
            let anchor = match ux {
                ux if ux > 0.15 => TextAnchor::Start,
                ux if ux < -0.15 => TextAnchor::End,
                _ => TextAnchor::Middle,
            };
            let gap = self.radius + 4.0;
            let place = (x + ux * gap, y + uy * (gap + style.size * 0.35) + baseline_shift(style.size));
            let text = self.names.names[index];
            let frame = text_frame(place, text, LabelStyle { anchor, ..style });
            if !drawn.iter().any(|placed| have_overlap(&frame, placed)) {
                canvas.text(place, text, LabelStyle { anchor, ..style });
                drawn.push(frame);
            }
        }
    }
}
