//! The values of bars: their ends, their parts, and their tooltips.

use super::super::chart_canvas::ChartCanvas;
use super::super::number_text::value_text;
use crate::chart::{AxisUnit, BarChart, ChartBar, ChartPaint};

/// Whether a part extends below 0.
pub(super) fn has_negative(chart: &BarChart) -> bool {
    chart.bars.iter().any(|bar| bar.base < 0.0 || bar.parts.iter().any(|part| part.value < 0.0))
}

/// The end of the last part.
pub(super) fn end(bar: &ChartBar) -> f64 {
    bar.base + bar.parts.iter().map(|part| part.value).sum::<f64>()
}

/// The parts of a bar from its base on, negative parts downward: start, end and paint.
pub(super) fn parts(bar: &ChartBar) -> impl Iterator<Item = (f64, f64, ChartPaint)> {
    let (mut up, mut down) = (bar.base, bar.base);
    bar.parts.iter().filter(|part| part.value != 0.0).map(move |part| {
        let end = if part.value > 0.0 { &mut up } else { &mut down };
        let from = *end;
        *end += part.value;
        (from, *end, part.paint)
    })
}

/// The tooltip of a bar: its name and values.
pub(super) fn title(canvas: &ChartCanvas, bar: &ChartBar, unit: AxisUnit) -> String {
    let parts: Vec<String> = bar
        .parts
        .iter()
        .map(|part| match canvas.name_of(part.paint) {
            Some(name) if bar.parts.len() > 1 => format!("{name} {}", value_text(part.value, unit)),
            _ => value_text(part.value, unit),
        })
        .collect();
    let mut text = format!("{}: {}", bar.label, parts.join(", "));
    if bar.base != 0.0 {
        text = format!("{}: {} to {}", bar.label, value_text(bar.base, unit), value_text(end(bar), unit));
    }
    if let Some(maximum) = bar.maximum {
        text.push_str(&format!("; maximum {}", value_text(maximum, unit)));
    }
    text
}
