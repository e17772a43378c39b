//! Point events: small shapes, triangles unless the trace says otherwise, or their exact numbers where they would cover each other.

use super::chart::Context;
use super::{Frame, Item, Mark, OTHERS, Rect};
use crate::layout::Strip;
use crate::query::{EventCount, Interval, QueryError, TypeId, ValueId};
use crate::style::sizes;
use crate::style::theme::Paint;
use crate::text::time::grouped;

/// Shapes on a row are this far apart, on the average, or they are counted instead.
const APART: usize = 6;
/// Width of the columns in which events are counted.
const BAR: f32 = 2.0;
/// So many values of a column stand on each other, the others as one: no row is so high that more could be told apart.
const STACKED: usize = 6;

/// Draws the events of a row.
pub(crate) fn band(
    context: &Context<'_>,
    row: usize,
    strip: &Strip,
    types: &[TypeId],
    out: &mut Vec<Item>,
) -> Result<(), QueryError> {
    let container = context.layout.rows[row].container;
    let factor = context.band(types);
    let most = context.pixels() / APART;
    for &ty in types {
        let listed = context.source.events(container, ty, context.view.interval, most)?;
        if listed.total > most as u64 {
            out.extend(density(context, row, strip, ty)?);
            continue;
        }
        for mark in &listed.items {
            let at = (context.scale.x(mark.time), strip.y + strip.height);
            let title = context.title(context.name(mark.value), Interval { from: mark.time, to: mark.time }, row);
            let (look, fill) =
                (context.look(mark.value), Paint::solid(context.theme.legible(context.color(mark.value))));
            let (shape, size) = (look.shape.unwrap_or_default(), sizes::mark(strip.height, factor, look));
            out.push(Item::Mark(Mark { at, shape, size, fill, id: Some(mark.id), title }));
        }
    }
    Ok(())
}

/// One bar per column, as high as the number of its events compares to the largest; values stand on each other, the most frequent below.
fn density(context: &Context<'_>, row: usize, strip: &Strip, ty: TypeId) -> Result<Vec<Item>, QueryError> {
    let container = context.layout.rows[row].container;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of pixels")]
    let bars = (context.view.width / BAR).round().clamp(1.0, 65_536.0) as u32;
    // None shorter than a nanosecond: an event would be in two.
    let bars = u32::try_from(context.scale.nanos()).unwrap_or(u32::MAX).min(bars);
    let interval = context.view.interval;
    let counts = context.source.event_counts(container, ty, interval, bars, STACKED)?;
    let most = counts.iter().map(|count| count.total).max().unwrap_or(1).max(8);
    let mut items = Vec::new();
    for (at, count) in (0_u32..).zip(&counts).filter(|bar| bar.1.total > 0) {
        #[expect(clippy::cast_precision_loss, reason = "counts as heights, and a number of pixels")]
        let (height, width) =
            ((strip.height * (count.total as f32 / most as f32).sqrt()).max(1.0), context.view.width / bars as f32);
        let mut bottom = strip.y + strip.height;
        for (value, number) in parts(count) {
            #[expect(clippy::cast_precision_loss, reason = "counts as heights")]
            let high = height * (number as f32 / count.total as f32);
            bottom -= high;
            #[expect(clippy::cast_precision_loss, reason = "a number of pixels")]
            let frame = Frame::new(at as f32 * width, bottom, width, high);
            let fill = Paint::with_alpha(context.theme.legible(context.color(value)), 0.6);
            let told = || {
                let of = if number < count.total { format!(" of {}", grouped(count.total)) } else { String::new() };
                context.title(
                    &format!("{} × {}{of}", grouped(number), context.name(value)),
                    interval.column(at, bars),
                    row,
                )
            };
            let title = if context.view.titles { told() } else { None };
            items.push(Item::Rect(Rect { frame, fill, radius: 0.0, id: None, title }));
        }
    }
    Ok(items)
}

/// The values of a column, and what is left of it.
fn parts(count: &EventCount) -> impl Iterator<Item = (ValueId, u64)> + '_ {
    let left = count.total - count.values.iter().map(|part| part.1).sum::<u64>();
    count.values.iter().copied().chain((left > 0).then_some((OTHERS, left)))
}
