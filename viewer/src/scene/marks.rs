//! Point events: small shapes, triangles unless the trace says otherwise, or their density where they would cover each other.

use super::chart::{Context, Cut};
use super::{Frame, Item, Mark, Rect};
use crate::layout::Strip;
use crate::looks;
use crate::query::{Interval, QueryError, TypeId};
use crate::theme::Paint;

/// At most so many events of a row are looked at.
pub(super) const MOST: usize = 200_000;

/// Draws the events of a row.
pub(super) fn band(
    context: &Context<'_>,
    row: usize,
    strip: &Strip,
    types: &[TypeId],
    (out, cut): (&mut Vec<Item>, &mut Cut),
) -> Result<(), QueryError> {
    let container = context.layout.rows[row].container;
    let factor = context.band(types);
    for &ty in types {
        let listed = context.source.events(container, ty, context.view.interval, MOST)?;
        cut.events(listed.items.len(), listed.total);
        if listed.items.len() > context.pixels() / 6 {
            let dates = listed.items.iter().map(|mark| (context.scale.x(mark.time), mark.value));
            out.extend(density(context, strip, dates));
            continue;
        }
        for mark in &listed.items {
            let at = (context.scale.x(mark.time), strip.y + strip.height);
            let title = context.title(context.name(mark.value), Interval { from: mark.time, to: mark.time }, row);
            let (look, fill) =
                (context.look(mark.value), Paint::solid(context.theme.legible(context.color(mark.value))));
            let (shape, size) = (look.shape.unwrap_or_default(), looks::mark(strip.height, factor, look));
            out.push(Item::Mark(Mark { at, shape, size, fill, id: Some(mark.id), title }));
        }
    }
    Ok(())
}

/// One bar per two pixels, as high as the number of its events compares to the largest.
fn density(
    context: &Context<'_>,
    strip: &Strip,
    dates: impl Iterator<Item = (f32, crate::query::ValueId)>,
) -> Vec<Item> {
    const BAR: f32 = 2.0;
    let mut bars = std::collections::BTreeMap::new();
    for (x, value) in dates {
        #[expect(clippy::cast_possible_truncation, reason = "within the picture")]
        let bar = bars.entry((x / BAR).floor() as i32).or_insert((0_u32, value));
        bar.0 += 1;
    }
    let most = bars.values().map(|bar| bar.0).max().unwrap_or(1).max(8);
    #[expect(clippy::cast_precision_loss, reason = "counts as heights")]
    let rect = |(place, (count, value)): (i32, (u32, crate::query::ValueId))| {
        let height = (strip.height * (count as f32 / most as f32).sqrt()).max(1.0);
        let frame = Frame::new(place as f32 * BAR, strip.y + strip.height - height, BAR, height);
        let fill = Paint::with_alpha(context.theme.legible(context.color(value)), 0.6);
        Item::Rect(Rect { frame, fill, radius: 0.0, id: None, title: None })
    };
    bars.into_iter().map(rect).collect()
}
