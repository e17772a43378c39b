//! Point events as small shapes, triangles by default, or as exact counts where the shapes would
//! overlap.

use super::diagram_context::DiagramContext;
use super::primitives::{FilledRect, OTHERS, OutlineRect, SceneItem, SceneMark};
use crate::layout::RowStrip;
use crate::query::{EventCount, QueryError, TimeRange, TypeId, ValueId};
use crate::style::size_factors;
use crate::style::theme::ColorWithOpacity;
use crate::text::time_display::group_digits;

/// Minimum average distance of shapes on a row in scene units. Below it, events are counted.
const APART: usize = 6;
/// Width of the columns in which events are counted.
const BAR: f32 = 2.0;
/// Maximum number of values that a column stacks. The others are combined, because no row is high
/// enough to distinguish more.
const STACKED: usize = 6;

pub(crate) fn draw_event_strip(
    context: &DiagramContext<'_>,
    row: usize,
    strip: &RowStrip,
    types: &[TypeId],
    out: &mut Vec<SceneItem>,
) -> Result<(), QueryError> {
    let container = context.layout.rows[row].container;
    let factor = context.event_strip_factor(types);
    let max_count = context.pixels() / APART;
    for &ty in types {
        let list = context.source.events(container, ty, context.view.time_range, max_count)?;
        if list.total > max_count as u64 {
            out.extend(density(context, row, strip, ty)?);
            continue;
        }
        for mark in &list.items {
            let position = (context.scale.x(mark.time), strip.y + strip.height);
            let title = context.title(context.name(mark.value), TimeRange { from: mark.time, to: mark.time }, row);
            let (style, fill) = (
                context.style_of(mark.value),
                ColorWithOpacity::from_opaque(context.theme.with_contrast(context.color(mark.value))),
            );
            let (shape, size) = (style.shape.unwrap_or_default(), size_factors::mark(strip.height, factor, style));
            out.push(SceneItem::Mark(SceneMark { position, shape, size, fill, id: Some(mark.id), title }));
        }
    }
    Ok(())
}

/// Draws one bar per column. Its height is the square root of the number of its events relative to
/// the largest. Values are stacked, the most frequent lowest.
fn density(
    context: &DiagramContext<'_>,
    row: usize,
    strip: &RowStrip,
    ty: TypeId,
) -> Result<Vec<SceneItem>, QueryError> {
    let container = context.layout.rows[row].container;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of pixels is small")]
    let bars = (context.view.width / BAR).round().clamp(1.0, 65_536.0) as u32;
    // A column is at least one nanosecond wide. Otherwise, an event would be in two columns.
    let bars = u32::try_from(context.scale.nanos()).unwrap_or(u32::MAX).min(bars);
    let time_range = context.view.time_range;
    let counts = context.source.event_counts(container, ty, time_range, bars, STACKED)?;
    let max_count = counts.iter().map(|count| count.total).max().unwrap_or(1).max(8);
    let mut items = Vec::new();
    for (column, count) in (0_u32..).zip(&counts).filter(|bar| bar.1.total > 0) {
        #[expect(clippy::cast_precision_loss, reason = "counts become heights in pixels")]
        let (height, width) = (
            (strip.height * (count.total as f32 / max_count as f32).sqrt()).max(1.0),
            context.view.width / bars as f32,
        );
        let mut bottom = strip.y + strip.height;
        for (value, number) in parts(count) {
            #[expect(clippy::cast_precision_loss, reason = "counts become heights")]
            let part_height = height * (number as f32 / count.total as f32);
            bottom -= part_height;
            #[expect(clippy::cast_precision_loss, reason = "a number of pixels is small")]
            let frame = OutlineRect::new(column as f32 * width, bottom, width, part_height);
            let fill = ColorWithOpacity::with_alpha(context.theme.with_contrast(context.color(value)), 0.6);
            let describe = || {
                let of =
                    if number < count.total { format!(" of {}", group_digits(count.total)) } else { String::new() };
                context.title(
                    &format!("{} × {}{of}", group_digits(number), context.name(value)),
                    time_range.column(column, bars),
                    row,
                )
            };
            let title = if context.view.titles { describe() } else { None };
            items.push(SceneItem::Rect(FilledRect { frame, fill, radius: 0.0, id: None, title }));
        }
    }
    Ok(items)
}

/// The values of a column, and the remaining events.
fn parts(count: &EventCount) -> impl Iterator<Item = (ValueId, u64)> + '_ {
    let remainder = count.total - count.values.iter().map(|part| part.count).sum::<u64>();
    count.values.iter().map(|part| (part.value, part.count)).chain((remainder > 0).then_some((OTHERS, remainder)))
}
