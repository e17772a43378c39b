//! Links: crisp arrows while they can be followed, finer and fainter the more of them share a place, bundles when they are many.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashMap;

use super::chart::{Context, Cut};
use super::{Arrow, Item};
use crate::layout::scale::grouped;
use crate::query::{Interval, Link, QueryError, TypeKind};
use crate::theme::Paint;
use converter::paje::Color;

/// At most so many links of a type are looked at.
pub(super) const MOST: usize = 500_000;
/// Above this number links with nearby ends become one.
const BUNDLED: usize = 900;
/// Ends this near are one bundle.
const NEAR: f32 = 4.0;
/// Crowding is measured in tiles of this size.
const TILE: (f32, f32) = (12.0, 48.0);
/// Share of a tile that arrows may cover before they fade.
const CLEAR: f32 = 0.1;
/// Heads nearer than this cannot be told apart.
const HEADS: f32 = 8.0;

/// A picture with so many arrows cannot be read arrow by arrow.
const MANY: f32 = 600.0;
/// An arrow this high is long, and one this wide shows how long it took.
const LONG: f32 = 160.0;
const SHORT: f32 = 8.0;

/// All arrows of the picture.
pub(super) fn arrows(context: &Context<'_>, cut: &mut Cut) -> Result<Vec<Item>, QueryError> {
    let mut seen = Seen::Few(Vec::new());
    // Colours are few, and each costs some powers.
    let mut strokes: FxHashMap<Color, Color> = FxHashMap::default();
    let mut stroke = |color| *strokes.entry(color).or_insert_with(|| context.theme.stroke(color));
    for ty in &context.model.types {
        if !matches!(ty.kind, TypeKind::Link { .. }) || context.options.hidden.contains(&ty.id) {
            continue;
        }
        let listed = context.source.links(ty.id, context.view.interval, MOST)?;
        cut.links(listed.items.len(), listed.total);
        for link in listed.items {
            let color = context.model.values.get(link.value.index()).map(|value| value.color).or(ty.color);
            if let Some(one) = place(context, &link, color.map_or(context.theme.link, &mut stroke)) {
                seen.add(one);
            }
        }
    }
    Ok(draw(context, &seen.bundles()))
}

/// A link with the rows between which it is seen.
struct PlacedLink {
    link: Link,
    from: (f32, f32),
    to: (f32, f32),
    rows: (usize, usize),
    color: Color,
    dimmed: bool,
}

/// Where a link is seen; nowhere when both ends are folded into one row, or it passes outside of the view.
fn place(context: &Context<'_>, link: &Link, color: Color) -> Option<PlacedLink> {
    let rows = (context.layout.index_of(link.start)?, context.layout.index_of(link.end)?);
    let (start, end) = (&context.layout.rows[rows.0], &context.layout.rows[rows.1]);
    if start.container == end.container && (start.folded || link.start_time == link.end_time) {
        return None;
    }
    let from = (context.scale.x(link.start_time), start.anchor());
    let to = (context.scale.x(link.end_time), end.anchor());
    let outside = from.1.max(to.1) < context.view.top || from.1.min(to.1) > context.view.bottom;
    let hidden = outside && !(start.pinned && end.pinned);
    let reversed = link.end_time < link.start_time;
    let color = if reversed { context.theme.alert } else { color };
    let dimmed = context.options.dimmed.contains(&link.value);
    (!hidden).then_some(PlacedLink { link: *link, from, to, rows, color, dimmed })
}

/// What links of a bundle have in common: rows, about the same dates, and the colour.
type Likeness = ((usize, usize), i32, i32, [u8; 3]);

/// The links that are seen: each, or where there are many, of those that are alike the first, and how many they are.
enum Seen {
    Few(Vec<(u32, PlacedLink)>),
    Many(FxHashMap<Likeness, (u32, PlacedLink)>),
}

impl Seen {
    fn add(&mut self, one: PlacedLink) {
        match self {
            Self::Many(bundles) => bundle(bundles, one),
            Self::Few(each) => {
                each.push((1, one));
                if each.len() > BUNDLED {
                    let mut bundles = FxHashMap::default();
                    each.drain(..).for_each(|(_, one)| bundle(&mut bundles, one));
                    *self = Self::Many(bundles);
                }
            }
        }
    }

    /// In an order that does not depend on chance.
    fn bundles(self) -> Vec<(u32, PlacedLink)> {
        match self {
            Self::Few(each) => each,
            Self::Many(bundles) => {
                let mut bundles: Vec<_> = bundles.into_iter().collect();
                bundles.sort_unstable_by_key(|bundle| bundle.0);
                bundles.into_iter().map(|bundle| bundle.1).collect()
            }
        }
    }
}

/// Adds a link to those that are like it.
fn bundle(bundles: &mut FxHashMap<Likeness, (u32, PlacedLink)>, one: PlacedLink) {
    #[expect(clippy::cast_possible_truncation, reason = "within 10⁵ of the picture")]
    let bin = |x: f32| (x / NEAR).floor() as i32;
    let key = (one.rows, bin(one.from.0), bin(one.to.0), [one.color.red, one.color.green, one.color.blue]);
    bundles.entry(key).or_insert((0, one)).0 += 1;
}

/// How many arrows are where: the length of line in each tile, and the heads in each stretch of a row.
#[derive(Default)]
struct Crowd {
    lines: HashMap<(i32, i32), f32>,
    heads: HashMap<(usize, i32), HashSet<i32>>,
}

impl Crowd {
    fn new(bundles: &[(u32, PlacedLink)], width: f32) -> Self {
        let mut crowd = Self::default();
        for (_, one) in bundles {
            let (tiles, each) = tiles(one, width);
            for tile in tiles {
                *crowd.lines.entry(tile).or_default() += each;
            }
            // Heads on the very same place are one to the eye.
            #[expect(clippy::cast_possible_truncation, reason = "within 10⁵ of the picture")]
            crowd.heads.entry(head(one)).or_default().insert((one.to.0 * 2.0).round() as i32);
        }
        crowd
    }

    /// The share of its surroundings that lines cover, the mean along an arrow.
    fn along(&self, one: &PlacedLink, width: f32) -> f32 {
        let (mut sum, mut count) = (0.0, 0.0);
        for tile in tiles(one, width).0 {
            sum += self.lines.get(&tile).copied().unwrap_or(0.0);
            count += 1.0;
        }
        sum / f32::max(count, 1.0) / (TILE.0 * TILE.1)
    }
}

/// The tiles at equal steps along an arrow, as far as it is seen, and the length of a step.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "within 10⁵ of the picture")]
fn tiles(one: &PlacedLink, width: f32) -> (impl Iterator<Item = (i32, i32)> + use<>, f32) {
    const STEP: f32 = 24.0;
    const STEPS: f32 = 160.0;
    let (a, b) = ((one.from.0.clamp(0.0, width), one.from.1), (one.to.0.clamp(0.0, width), one.to.1));
    let length = f32::hypot(b.0 - a.0, b.1 - a.1);
    let steps = (length / STEP).ceil().clamp(1.0, STEPS);
    let at = move |step: i32| {
        let part = (step as f32 + 0.5) / steps;
        let (x, y) = (a.0 + (b.0 - a.0) * part, a.1 + (b.1 - a.1) * part);
        ((x / TILE.0).floor() as i32, (y / TILE.1).floor() as i32)
    };
    ((0..steps as i32).map(at), length / steps)
}

/// Where a head is, as far as heads can be told apart.
#[expect(clippy::cast_possible_truncation, reason = "within 10⁵ of the picture")]
fn head(one: &PlacedLink) -> (usize, i32) {
    (one.rows.1, (one.to.0 / HEADS).floor() as i32)
}

fn draw(context: &Context<'_>, bundles: &[(u32, PlacedLink)]) -> Vec<Item> {
    let crowd = Crowd::new(bundles, context.view.width);
    #[expect(clippy::cast_precision_loss, reason = "a number of arrows")]
    let many = (bundles.len() as f32 / MANY - 0.2).clamp(0.0, 1.0);
    #[expect(clippy::cast_precision_loss, reason = "a count as a width")]
    let arrow = |&(count, ref one): &(u32, PlacedLink)| {
        // The more there are, the finer and fainter, so that what is below stays visible.
        let clear = (CLEAR / crowd.along(one, context.view.width).max(1e-6)).min(1.0);
        // Of many, one that crosses many rows in no visible time tells little at this zoom: it stays in the background.
        let (wide, high) = ((one.to.0 - one.from.0).abs(), (one.to.1 - one.from.1).abs());
        let steep = many * (high / LONG).min(1.0) * (1.0 - wide / SHORT).max(0.0);
        let clear = clear * (1.0 - 0.6 * steep);
        let alpha = if one.dimmed { 0.06 } else { (0.95 * clear.powf(0.9)).max(0.07) };
        let width = 0.6 + 0.7 * clear + 0.25 * (count as f32).ln();
        let beside = crowd.heads.get(&head(one)).map_or(1, HashSet::len);
        let head = match beside {
            _ if one.dimmed || alpha < 0.12 => 0.0,
            0 | 1 => 4.5 + 3.5 * clear,
            2 => 4.5,
            _ => 0.0,
        };
        let halo = one.rows.0 != one.rows.1 && clear > 0.8 && !one.dimmed;
        Item::Arrow(Arrow {
            from: one.from,
            to: one.to,
            width: width.min(2.4),
            head,
            paint: Paint::with_alpha(one.color, alpha),
            halo: halo.then(|| Paint::with_alpha(context.theme.paper, 0.6)),
            id: (count == 1 && !one.dimmed).then_some(one.link.id),
            title: title(context, one, count),
        })
    };
    bundles.iter().map(arrow).collect()
}

/// What an SVG says of an arrow.
fn title(context: &Context<'_>, one: &PlacedLink, count: u32) -> Option<String> {
    let link = &one.link;
    if count > 1 {
        return context.view.titles.then(|| format!("{} links", grouped(u64::from(count))));
    }
    let life = Interval { from: link.start_time.min(link.end_time), to: link.start_time.max(link.end_time) };
    let names = (&context.layout.rows[one.rows.0].name, &context.layout.rows[one.rows.1].name);
    let ty = context.model.types.get(link.ty.index()).map_or("", |ty| &ty.name);
    context.title(&format!("{ty} from {} to {}", names.0, names.1), life, one.rows.0)
}
