//! The values of bars: their ends, their parts, and their tooltips.

use crate::chart::{AxisUnit, Bar, BarChart, ChartPaint, LegendItem};
use crate::draw::axis_numbers::exact_text;
use crate::draw::chart_canvas::name_of;
use crate::draw::chart_region::RegionSubject;

/// Whether a part extends below 0.
pub(super) fn has_negative(chart: &BarChart) -> bool {
    chart.bars.iter().any(|bar| bar.base < 0.0 || bar.parts.iter().any(|part| part.value < 0.0))
}

/// The end of the last part.
pub(super) fn end(bar: &Bar) -> f64 {
    bar.base + bar.parts.iter().map(|part| part.value).sum::<f64>()
}

/// The parts of a bar from its base on, negative parts downward: start, end and paint.
pub(super) fn parts(bar: &Bar) -> impl Iterator<Item = (f64, f64, ChartPaint)> {
    let (mut up, mut down) = (bar.base, bar.base);
    bar.parts.iter().filter(|part| part.value != 0.0).map(move |part| {
        let end = if part.value > 0.0 { &mut up } else { &mut down };
        let from = *end;
        *end += part.value;
        (from, *end, part.paint)
    })
}

/// The meaning of the bars.
pub(super) fn subject(chart: &BarChart) -> RegionSubject {
    chart.counts.map_or_else(|| RegionSubject::of_units(&chart.unit_lists), RegionSubject::Counts)
}

/// The tooltip of a bar: its name and values.
pub(in crate::draw) fn bar_text(legend: &[LegendItem], bar: &Bar, axis_unit: AxisUnit) -> String {
    let parts: Vec<String> = bar
        .parts
        .iter()
        .map(|part| match name_of(legend, part.paint) {
            Some(name) if bar.parts.len() > 1 => format!("{name} {}", exact_text(part.value, axis_unit)),
            _ => exact_text(part.value, axis_unit),
        })
        .collect();
    let mut text = format!("{}: {}", bar.label, parts.join(", "));
    if bar.base != 0.0 {
        text = format!("{}: {} to {}", bar.label, exact_text(bar.base, axis_unit), exact_text(end(bar), axis_unit));
    }
    if let Some(maximum) = bar.maximum {
        text.push_str(&format!("; maximum {}", exact_text(maximum, axis_unit)));
    }
    text
}
