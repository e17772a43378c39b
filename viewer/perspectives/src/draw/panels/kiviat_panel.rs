//! One spoke per unit: the polygon of the present values over that of the largest values so far.

use std::f32::consts::TAU;

use tumit_viewer::scene::{OutlineRect, TextAnchor};
use tumit_viewer::style::theme::font;

use crate::chart::{AxisUnit, ChartPaint, KiviatChart, KiviatSpoke};
use crate::draw::axis_numbers::value_text;
use crate::draw::chart_canvas::{ChartCanvas, LabelStyle, ScenePoint, baseline_shift, have_overlap, text_frame};
use crate::draw::chart_region::{RegionShape, RegionSubject};
use crate::draw::plot_area::label_step;
use crate::draw::short_names::ShortNames;

/// Fractions of the radius with a circle: quarters, which are easy to read without labels.
const RINGS: [f32; 4] = [0.25, 0.5, 0.75, 1.0];
/// Maximum number of spokes that are drawn as lines. More lines would fill the centre.
const MAX_LINES: usize = 96;
/// Maximum number of spokes with a dot at their value. More dots would touch each other.
const MAX_DOTS: usize = 40;

struct KiviatCircle {
    center: ScenePoint,
    radius: f32,
    count: usize,
}

pub(in crate::draw) fn draw(canvas: &mut ChartCanvas, frame: OutlineRect, chart: &KiviatChart) {
    let style = canvas.label_style(TextAnchor::Start);
    let names = spoke_names(&chart.spokes);
    let widest = names.iter().map(|name| ChartCanvas::width(name, style)).fold(0.0, f32::max);
    let side = (widest + 10.0).min(frame.width * 0.22);
    let above = style.size * 1.9;
    let radius = ((frame.width / 2.0 - side).min(frame.height / 2.0 - above)).max(20.0);
    let center = (frame.x + frame.width / 2.0, frame.y + frame.height / 2.0);
    let circle = KiviatCircle { center, radius, count: chart.spokes.len() };
    circle.draw_grid(canvas);
    let shape = RegionShape::Spokes { center, radius, marks: chart.spokes.len() };
    canvas.add_region(shape, RegionSubject::of_units(&chart.unit_lists));
    canvas.group("polygons", None, |canvas| circle.draw_polygons(canvas, &chart.spokes));
    circle.draw_ring_labels(canvas);
    circle.draw_names(canvas, &names, side - 6.0);
}

/// The names of the spokes. A single number would not be recognised as a name.
fn spoke_names(spokes: &[KiviatSpoke]) -> Vec<&str> {
    let short = ShortNames::new(spokes.iter().map(|spoke| spoke.label.as_str()));
    let is_full = short.are_numbers() && spokes.len() <= 24;
    if is_full { spokes.iter().map(|spoke| spoke.label.as_str()).collect() } else { short.names }
}

/// The values of a spoke. A spoke of several units also has the smallest and largest value.
pub(in crate::draw) fn spoke_text(spoke: &KiviatSpoke) -> String {
    let percent = |value: f64| value_text(value * 100.0, AxisUnit::Percent);
    let [least, mean, largest] = spoke.now;
    let range =
        if least < largest { format!(" (from {} to {})", percent(least), percent(largest)) } else { String::new() };
    format!("{}: {}{range}; maximum {}", spoke.label, percent(mean), percent(spoke.maximum))
}

impl KiviatCircle {
    /// The direction of a spoke, clockwise from the top.
    fn direction(&self, spoke: f32) -> ScenePoint {
        let angle = TAU * spoke / self.count.max(1) as f32;
        (angle.sin(), -angle.cos())
    }

    fn point(&self, spoke: f32, value: f64) -> ScenePoint {
        let ((dx, dy), radius) = (self.direction(spoke), self.radius * value.clamp(0.0, 1.0) as f32);
        (self.center.0 + dx * radius, self.center.1 + dy * radius)
    }

    fn polygon(&self, spokes: &[KiviatSpoke], value: impl Fn(&KiviatSpoke) -> f64) -> Vec<ScenePoint> {
        let mut points: Vec<_> =
            spokes.iter().enumerate().map(|(index, spoke)| self.point(index as f32, value(spoke))).collect();
        points.extend(points.first().copied());
        points
    }

    fn draw_grid(&self, canvas: &mut ChartCanvas) {
        let grid = canvas.theme.grid;
        for fraction in RINGS {
            let steps = 96;
            let ring = |step: i32| {
                let angle = TAU * step as f32 / steps as f32;
                let radius = self.radius * fraction;
                (self.center.0 + radius * angle.sin(), self.center.1 - radius * angle.cos())
            };
            canvas.curve((0..=steps).map(ring).collect(), grid, 1.0);
        }
        for spoke in (0..self.count).step_by(self.count.div_ceil(MAX_LINES).max(1)) {
            canvas.line(self.center, self.point(spoke as f32, 1.0), grid, 1.0);
        }
    }

    fn draw_polygons(&self, canvas: &mut ChartCanvas, spokes: &[KiviatSpoke]) {
        let (now, maximum) = (canvas.palette.color(ChartPaint::Now), canvas.palette.color(ChartPaint::Maximum));
        let is_polygon = spokes.len() >= 3;
        if is_polygon {
            let outer = self.polygon(spokes, |spoke| spoke.maximum);
            canvas.area(outer.clone(), None, maximum, 0.55);
            canvas.curve(outer, maximum, 1.25);
            let is_grouped = spokes.iter().any(|spoke| spoke.now[0] < spoke.now[2]);
            if is_grouped {
                // The band from the smallest to the largest value of each group.
                let mut band = self.polygon(spokes, |spoke| spoke.now[2]);
                band.extend(self.polygon(spokes, |spoke| spoke.now[0]).into_iter().rev());
                canvas.area(band, None, now, 0.35);
                canvas.area(self.polygon(spokes, |spoke| spoke.now[0]), None, now, 0.7);
            } else {
                canvas.area(self.polygon(spokes, |spoke| spoke.now[1]), None, now, 0.7);
            }
            canvas.curve(self.polygon(spokes, |spoke| spoke.now[1]), now, 1.75);
        } else {
            for (index, spoke) in spokes.iter().enumerate() {
                canvas.line(self.center, self.point(index as f32, spoke.maximum), maximum, 7.0);
                canvas.line(self.center, self.point(index as f32, spoke.now[1]), now, 7.0);
            }
        }
        if spokes.len() <= MAX_DOTS {
            for (index, spoke) in spokes.iter().enumerate() {
                canvas.disc(self.point(index as f32, spoke.now[1]), 2.6, now, Some(spoke_text(spoke)));
            }
        }
    }

    /// The percentages of the circles, on a line between the first two spokes.
    fn draw_ring_labels(&self, canvas: &mut ChartCanvas) {
        let mut style = canvas.label_style(TextAnchor::Middle);
        style.size *= 0.86;
        if self.radius < 60.0 {
            return;
        }
        for fraction in [0.5, 1.0] {
            let y = self.center.1 - self.radius * fraction;
            let text = format!("{:.0} %", fraction * 100.0);
            let x = self.center.0 + ChartCanvas::width(&text, style) / 2.0 + 4.0;
            // The label of the rim is inside the circle, the name of the first spoke is above it.
            let inside = if fraction > 0.9 { style.size * 1.15 } else { -3.0 };
            let (mut ink, paper) = (style, canvas.theme.paper);
            ink.color = canvas.theme.ink;
            let half = ChartCanvas::width(&text, style) / 2.0 + 2.0;
            let pill = OutlineRect::new(x - half, y + inside - style.size * 0.9, 2.0 * half, style.size * 1.1);
            canvas.pale_rect(pill, paper, 0.78);
            canvas.text((x, y + inside), text, ink);
        }
    }

    /// The names around the circle. If they would overlap, only every n-th is drawn.
    fn draw_names(&self, canvas: &mut ChartCanvas, labels: &[&str], side: f32) {
        let style = canvas.label_style(TextAnchor::Start);
        let distance = TAU * (self.radius + style.size) / self.count.max(1) as f32;
        let mut step = label_step(style.size * 1.5, distance);
        let names = loop {
            let names: Vec<SpokeName> = (0..self.count)
                .step_by(step)
                // The last name may be too close to the first.
                .filter(|index| *index == 0 || self.count - index >= step)
                .filter_map(|index| self.name(labels[index], index, style, side))
                .collect();
            if names.len() < 3 || !names_overlap(&names) {
                break names;
            }
            step = label_step((step + 1) as f32, 1.0);
        };
        for SpokeName { place, text, anchor, .. } in names {
            canvas.text(place, text, LabelStyle { anchor, ..style });
        }
    }

    fn name(&self, label: &str, spoke: usize, style: LabelStyle, side: f32) -> Option<SpokeName> {
        let (dx, dy) = self.direction(spoke as f32);
        let anchor = match dx {
            dx if dx > 0.12 => TextAnchor::Start,
            dx if dx < -0.12 => TextAnchor::End,
            _ => TextAnchor::Middle,
        };
        let room = if anchor == TextAnchor::Middle { 2.0 * side } else { side };
        let text = font::fit(label, style.size, style.weight, room.max(30.0))?;
        let (x, y) = (self.center.0 + dx * (self.radius + 7.0), self.center.1 + dy * (self.radius + 7.0));
        // Names at the top are above their point, names at the bottom below it.
        let baseline = y + baseline_shift(style.size) + dy * style.size * 0.5;
        let frame = text_frame((x, baseline), &text, LabelStyle { anchor, ..style });
        Some(SpokeName { place: (x, baseline), text, anchor, frame })
    }
}

/// The name of a spoke with its place.
struct SpokeName {
    place: ScenePoint,
    text: String,
    anchor: TextAnchor,
    /// The area of the letters, with some space around them.
    frame: OutlineRect,
}

/// Whether a name overlaps one of the next three.
fn names_overlap(names: &[SpokeName]) -> bool {
    let count = names.len();
    (0..count).any(|index| {
        (1..=3.min(count - 1)).any(|next| have_overlap(&names[index].frame, &names[(index + next) % count].frame))
    })
}
