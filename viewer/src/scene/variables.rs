//! Variables: steps where values can be distinguished; elsewhere the band between minimum and
//! maximum, with the mean.

use super::diagram_context::DiagramContext;
use super::primitives::{OutlineRect, SceneCells, SceneCurve, SceneItem, SceneStroke, VariableBand};
use crate::layout::RowStrip;
use crate::query::{ContainerId, QueryError, SeriesColumn, ValueRange, VariableSample};
use crate::style::size_factors;
use crate::style::theme::{ColorTheme, ColorWithOpacity};
use crate::text::time_display::group_digits;
use tumit_paje::RgbColor;

/// Width of a curve.
const LINE: f32 = 1.5;

/// Maps values to heights.
struct HeightScale {
    low: f64,
    high: f64,
    top: f32,
    height: f32,
}

/// Draws a variable of one container.
pub(crate) fn strip(
    context: &DiagramContext<'_>,
    container: ContainerId,
    strip: &RowStrip,
    bounds: Option<ValueRange>,
    out: &mut Vec<SceneItem>,
) -> Result<(), QueryError> {
    let Some(bounds) = bounds else { return Ok(()) };
    let axis = HeightScale::new(bounds, strip);
    let floor = Some(axis.top + axis.height);
    let ty = context.model.types.get(strip.ty.index());
    let color = color(ty.and_then(|ty| ty.color), context.theme);
    let fill = Some(ColorWithOpacity::with_alpha(color, 0.3));
    let width = LINE * ty.map_or(1.0, |ty| size_factors::size(ty.style));
    let line = SceneStroke { paint: ColorWithOpacity::from_opaque(color), width };
    let max_count = context.pixels() / 2;
    // The number of samples is known sooner than the list.
    let total = context.source.samples(container, strip.ty, context.view.time_range, 0)?.total;
    if total > max_count as u64 {
        let columns = context.columns();
        let series = context.source.series(container, strip.ty, context.view.time_range, columns)?;
        #[expect(clippy::cast_precision_loss, reason = "a number of pixels is small")]
        let step = context.view.width / columns as f32;
        for (start, run) in runs(&series) {
            out.push(SceneItem::Band(VariableBand {
                x: (start as f32 + 0.5) * step,
                step,
                columns: run
                    .iter()
                    .map(|column| [column.max, column.min, column.mean].map(|value| axis.y(value)))
                    .collect(),
                floor: axis.top + axis.height,
                band_paint: ColorWithOpacity::with_alpha(color, 0.16),
                fill: ColorWithOpacity::with_alpha(color, 0.3),
                line,
            }));
        }
    } else {
        let samples = context.source.samples(container, strip.ty, context.view.time_range, max_count)?;
        for run in samples.items.chunk_by(|a, b| a.life.to == b.life.from) {
            let points = steps(context, &axis, run);
            out.push(SceneItem::Curve(SceneCurve { points, floor, fill, stroke: Some(line) }));
        }
    }
    Ok(())
}

/// Number of shades of a gradient. More cannot be distinguished.
const SHADES: u16 = 24;

/// Draws a variable of one container as a gradient: each pixel column has the shade of its mean.
pub(crate) fn gradient(
    context: &DiagramContext<'_>,
    container: ContainerId,
    strip: &RowStrip,
    bounds: Option<ValueRange>,
) -> Result<Option<SceneItem>, QueryError> {
    let Some(ValueRange { min, max }) = bounds else { return Ok(None) };
    let series = context.source.series(container, strip.ty, context.view.time_range, context.columns())?;
    let color = color(context.model.types.get(strip.ty.index()).and_then(|ty| ty.color), context.theme);
    // The palest shade differs from the track, because no value differs from the minimum.
    let part = |shade_index: u16| 0.15 + 0.85 * f32::from(shade_index) / f32::from(SHADES - 1);
    let palette = (0..SHADES).map(|shade_index| shade(context.theme.track, color, part(shade_index))).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and the number of shades")]
    let place = |mean: f64| {
        ((mean - min) / (max - min) * f64::from(SHADES - 1)).round().clamp(0.0, f64::from(SHADES - 1)) as u16
    };
    let columns = series.into_iter().map(|column| column.map(|column| (place(column.mean), 1.0)).into_iter().collect());
    let frame = OutlineRect::new(0.0, strip.y, context.view.width, strip.height);
    Ok(Some(SceneItem::Cells(SceneCells { frame, palette, values: Vec::new(), columns: columns.collect() })))
}

/// Interpolates two colours linearly in screen values, which is perceived as even.
fn shade(from: RgbColor, to: RgbColor, part: f32) -> RgbColor {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two channels")]
    let channel = |from: u8, to: u8| (f32::from(from) + (f32::from(to) - f32::from(from)) * part).round() as u8;
    RgbColor { red: channel(from.red, to.red), green: channel(from.green, to.green), blue: channel(from.blue, to.blue) }
}

/// The colour of a variable's curve.
pub(crate) fn color(trace_color: Option<RgbColor>, theme: ColorTheme) -> RgbColor {
    trace_color.map_or(theme.curve, |color| theme.with_contrast(color))
}

impl HeightScale {
    fn new(bounds: ValueRange, strip: &RowStrip) -> Self {
        Self { low: bounds.min, high: bounds.max, top: strip.y + 2.0, height: (strip.height - 3.0).max(1.0) }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the result is a position in pixels")]
    fn y(&self, value: f64) -> f32 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0) as f32;
        self.top + self.height * (1.0 - share)
    }
}

/// The corners of the steps of adjacent values.
fn steps(context: &DiagramContext<'_>, axis: &HeightScale, samples: &[VariableSample]) -> Vec<(f32, f32)> {
    let clip = |x: f32| x.clamp(-2.0, context.view.width + 2.0);
    samples
        .iter()
        .flat_map(|sample| {
            let y = axis.y(sample.value);
            [(clip(context.scale.x(sample.life.from)), y), (clip(context.scale.x(sample.life.to)), y)]
        })
        .collect()
}

/// Runs of columns that have values, each with the index of its first column.
fn runs(series: &[Option<SeriesColumn>]) -> Vec<(usize, Vec<SeriesColumn>)> {
    let mut runs: Vec<(usize, Vec<SeriesColumn>)> = Vec::new();
    let mut open = false;
    for (place, column) in series.iter().enumerate() {
        match (column, runs.last_mut()) {
            (Some(column), Some(run)) if open => run.1.push(*column),
            (Some(column), _) => runs.push((place, vec![*column])),
            (None, _) => {}
        }
        open = column.is_some();
    }
    runs
}

/// A value with about four significant digits.
#[must_use]
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e7).contains(&size) {
        return format!("{value:.2e}").replace('-', "−");
    }
    let digits = if size >= 1000.0 {
        0
    } else if size >= 100.0 {
        1
    } else if size >= 1.0 {
        2
    } else {
        4
    };
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |text| ("−", text));
    match text.parse() {
        Ok(integer) => format!("{sign}{}", group_digits(integer)),
        Err(_) => format!("{sign}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (12.5, "12.5"),
            (1234.56, "1\u{202f}235"),
            (-61_986.2, "−61\u{202f}986"),
            (-0.25, "−0.25"),
            (1.5e-9, "1.50e−9"),
            (3e9, "3.00e9"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
