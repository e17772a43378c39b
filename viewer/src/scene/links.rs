//! Links: arrows one by one while they can be followed, bundles when they are many.

use std::collections::BTreeMap;

use super::chart::Context;
use super::{Arrow, Item};
use crate::layout::scale::grouped;
use crate::query::{Interval, Link, QueryError, TypeKind};
use crate::theme::Paint;
use converter::paje::Color;

/// At most so many links of a type are looked at.
const MOST: usize = 500_000;
/// Above this number links with nearby ends become one.
const BUNDLED: usize = 900;
/// Ends this near are one bundle.
const NEAR: f32 = 6.0;

/// All arrows of the picture.
pub(super) fn arrows(context: &Context<'_>) -> Result<Vec<Item>, QueryError> {
    let mut placed = Vec::new();
    for ty in &context.model.types {
        if !matches!(ty.kind, TypeKind::Link { .. }) || context.options.hidden.contains(&ty.id) {
            continue;
        }
        for link in context.source.links(ty.id, context.view.interval, MOST)?.items {
            let color = context.model.values.get(link.value.index()).map(|value| value.color).or(ty.color);
            placed.extend(place(context, &link, color));
        }
    }
    Ok(if placed.len() > BUNDLED { bundles(context, &placed) } else { single(context, &placed) })
}

/// A link with the rows between which it is seen.
struct PlacedLink {
    link: Link,
    from: (f32, f32),
    to: (f32, f32),
    rows: (usize, usize),
    color: Color,
}

/// Where a link is seen; nowhere when both ends are folded into one row, or it passes outside of the view.
fn place(context: &Context<'_>, link: &Link, color: Option<Color>) -> Option<PlacedLink> {
    let rows = (context.layout.index_of(link.start)?, context.layout.index_of(link.end)?);
    let (start, end) = (&context.layout.rows[rows.0], &context.layout.rows[rows.1]);
    if start.container == end.container && (start.folded || link.start_time == link.end_time) {
        return None;
    }
    let from = (context.scale.x(link.start_time), start.anchor());
    let to = (context.scale.x(link.end_time), end.anchor());
    let hidden = from.1.max(to.1) < context.view.top || from.1.min(to.1) > context.view.bottom;
    let reversed = link.end_time < link.start_time;
    let color = if reversed {
        context.theme.alert
    } else {
        color.map_or(context.theme.link, |color| context.theme.stroke(color))
    };
    (!hidden).then_some(PlacedLink { link: *link, from, to, rows, color })
}

fn single(context: &Context<'_>, placed: &[PlacedLink]) -> Vec<Item> {
    // The more there are, the finer and fainter, so that what is below stays visible.
    #[expect(clippy::cast_precision_loss, reason = "a number of arrows")]
    let room = context.view.width / placed.len().max(1) as f32;
    let (width, head) = ((room * 0.25).clamp(0.6, 1.4), (room * 1.2).clamp(4.0, 8.0));
    let alpha = (room * 0.24).clamp(0.06, 0.95);
    let arrow = |placed: &PlacedLink| {
        let link = &placed.link;
        let life = Interval { from: link.start_time.min(link.end_time), to: link.start_time.max(link.end_time) };
        let names = (&context.layout.rows[placed.rows.0].name, &context.layout.rows[placed.rows.1].name);
        let ty = context.model.types.get(link.ty.index()).map_or("", |ty| &ty.name);
        let title = context.title(&format!("{ty} from {} to {}", names.0, names.1), life, placed.rows.0);
        Item::Arrow(Arrow {
            from: placed.from,
            to: placed.to,
            width,
            head,
            paint: Paint::with_alpha(placed.color, alpha),
            halo: (placed.rows.0 != placed.rows.1 && width >= 1.0).then(|| Paint::with_alpha(context.theme.paper, 0.6)),
            id: Some(link.id),
            title,
        })
    };
    placed.iter().map(arrow).collect()
}

/// Arrows that stand for all links with the same rows and nearly the same dates; wider and darker when more.
fn bundles(context: &Context<'_>, placed: &[PlacedLink]) -> Vec<Item> {
    let mut bundles: BTreeMap<(usize, usize, i32, i32), (u32, &PlacedLink)> = BTreeMap::new();
    for one in placed {
        #[expect(clippy::cast_possible_truncation, reason = "within 10⁵ of the picture")]
        let bin = |x: f32| (x / NEAR).floor() as i32;
        bundles.entry((one.rows.0, one.rows.1, bin(one.from.0), bin(one.to.0))).or_insert((0, one)).0 += 1;
    }
    let most = bundles.values().map(|bundle| bundle.0).max().unwrap_or(1);
    #[expect(clippy::cast_precision_loss, reason = "counts as widths")]
    let arrow = |(count, first): (u32, &PlacedLink)| {
        let weight = (count as f32).ln_1p() / (most as f32).ln_1p();
        let title = context.view.titles.then(|| format!("{} links", grouped(u64::from(count))));
        Item::Arrow(Arrow {
            from: first.from,
            to: first.to,
            width: 0.5 + 1.1 * weight,
            head: 3.0 + 3.0 * weight,
            paint: Paint::with_alpha(first.color, 0.08 + 0.4 * weight),
            halo: None,
            id: (count == 1).then_some(first.link.id),
            title,
        })
    };
    bundles.into_values().map(arrow).collect()
}
