//! Links: crisp arrows while they can be followed, finer and fainter the more of them share a place, bundles when they are many.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashMap;

use super::apart::apart;
use super::chart::{Context, Cut};
use super::{Arrow, Item};
use crate::layout::scale::grouped;
use crate::looks;
use crate::query::{GlobalNanos, Interval, Link, QueryError, TypeId, TypeKind};
use crate::theme::Paint;
use converter::paje::Color;

/// At most so many links of a type are counted, value by value.
pub(super) const MOST: usize = 500_000;
/// At most so many links of a type are looked at for a picture. Where there are more, each stretch of time shows as many of its own.
const LOOKED_AT: usize = 65_536;
/// Stretches of time: so many that each is a few pixels wide.
const STRETCHES: u32 = 512;
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

/// An arrow of a larger size is wide.
const WIDE: f32 = 1.5;
/// An arrow finer than this cannot be seen.
const FINEST: f32 = 0.3;

/// A picture with so many arrows cannot be read arrow by arrow.
const MANY: f32 = 600.0;
/// An arrow this high is long, and one this wide shows how long it took.
const LONG: f32 = 160.0;
const SHORT: f32 = 8.0;

/// All arrows of the picture.
pub(super) fn arrows(context: &Context<'_>, cut: &mut Cut) -> Result<Vec<Item>, QueryError> {
    let mut placed = Vec::new();
    // Colours are few, and each costs some powers.
    let mut strokes: FxHashMap<Color, Color> = FxHashMap::default();
    let mut stroke = |color| *strokes.entry(color).or_insert_with(|| context.theme.stroke(color));
    for ty in &context.model.types {
        if !matches!(ty.kind, TypeKind::Link { .. }) || context.options.hidden.contains(&ty.id) {
            continue;
        }
        let (links, total) = listed(context, ty.id)?;
        cut.links(links.len(), total);
        for (link, weight) in links {
            let value = context.model.values.get(link.value.index());
            let color = value.map(|value| value.color).or(ty.color).map_or(context.theme.link, &mut stroke);
            let size = looks::size(value.map_or(ty.look, |value| value.look));
            placed.extend(place(context, (&link, weight), (color, size)));
        }
    }
    let bundles: Vec<(u32, &PlacedLink)> =
        if placed.len() > BUNDLED { bundles(&placed) } else { placed.iter().map(|one| (one.weight, one)).collect() };
    Ok(draw(context, &bundles))
}

/// The links of a type, each with the number of those that it stands for, and how many there are: all, or the first that start in each
/// stretch of time, so that the picture is as full on its right as on its left.
fn listed(context: &Context<'_>, ty: TypeId) -> Result<(Vec<(Link, u32)>, u64), QueryError> {
    let interval = context.view.interval;
    // How many there are is known sooner than which.
    let total = context.source.links(ty, interval, 0)?.total;
    if total <= LOOKED_AT as u64 {
        let all = context.source.links(ty, interval, LOOKED_AT)?;
        return Ok((all.items.into_iter().map(|link| (link, 1)).collect(), total));
    }
    let mut links = Vec::with_capacity(LOOKED_AT);
    let stretches = context.columns().min(STRETCHES);
    let each = LOOKED_AT / stretches as usize;
    for stretch in interval.columns(stretches) {
        // Those that are on their way already come first.
        let start = Interval { to: GlobalNanos(stretch.from.0.saturating_add(1)), ..stretch };
        let on_their_way = usize::try_from(context.source.links(ty, start, 0)?.total).unwrap_or(usize::MAX);
        let some = context.source.links(ty, stretch, each + on_their_way.min(7 * each))?;
        let weight = some.total.div_ceil((some.items.len() as u64).max(1));
        let weight = u32::try_from(weight).unwrap_or(u32::MAX);
        let is_new = |link: &Link| stretch.from == interval.from || link.start_time.min(link.end_time) >= stretch.from;
        links.extend(some.items.into_iter().filter(is_new).map(|link| (link, weight)));
    }
    Ok((links, total))
}

/// A link with the rows between which it is seen.
struct PlacedLink {
    link: Link,
    from: (f32, f32),
    to: (f32, f32),
    rows: (usize, usize),
    color: Color,
    size: f32,
    dimmed: bool,
    /// How many links it stands for.
    weight: u32,
}

/// Where a link is seen; nowhere when both ends are folded into one row, or it passes outside of the view.
fn place(context: &Context<'_>, (link, weight): (&Link, u32), (color, size): (Color, f32)) -> Option<PlacedLink> {
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
    (!hidden).then_some(PlacedLink { link: *link, from, to, rows, color, size, dimmed, weight })
}

/// Links with the same rows and nearly the same dates, each with their number and the first of them.
fn bundles(placed: &[PlacedLink]) -> Vec<(u32, &PlacedLink)> {
    #[expect(clippy::cast_possible_truncation, reason = "within 10⁵ of the picture")]
    let bin = |x: f32| (x / NEAR).floor() as i32;
    let mut bundles: FxHashMap<_, (u32, &PlacedLink)> = FxHashMap::default();
    for one in placed {
        let key = (one.rows, bin(one.from.0), bin(one.to.0), one.color.red, one.color.green, one.color.blue);
        let key = (key, one.size.to_bits());
        let bundle = bundles.entry(key).or_insert((0, one));
        bundle.0 = bundle.0.saturating_add(one.weight);
    }
    let mut bundles: Vec<_> = bundles.into_iter().collect();
    bundles.sort_unstable_by_key(|bundle| bundle.0);
    bundles.into_iter().map(|bundle| bundle.1).collect()
}

/// How many arrows are where: the length of line in each tile, and the heads in each stretch of a row.
#[derive(Default)]
struct Crowd {
    lines: HashMap<(i32, i32), f32>,
    heads: HashMap<(usize, i32), HashSet<i32>>,
}

impl Crowd {
    fn new(bundles: &[(u32, &PlacedLink)], width: f32) -> Self {
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

fn draw(context: &Context<'_>, bundles: &[(u32, &PlacedLink)]) -> Vec<Item> {
    let crowd = Crowd::new(bundles, context.view.width);
    #[expect(clippy::cast_precision_loss, reason = "a number of arrows")]
    let many = (bundles.len() as f32 / MANY - 0.2).clamp(0.0, 1.0);
    #[expect(clippy::cast_precision_loss, reason = "a count as a width")]
    let arrow = |&(count, one): &(u32, &PlacedLink)| {
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
        // A wide arrow stands out by itself.
        let halo = one.rows.0 != one.rows.1 && clear > 0.8 && !one.dimmed && one.size <= WIDE;
        Item::Arrow(Arrow {
            from: one.from,
            to: one.to,
            width: (width.min(2.4) * one.size).max(FINEST),
            // A head that grew with the width would hide what it points at.
            head: head * one.size.sqrt(),
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
        let about = if one.weight > 1 { "about " } else { "" };
        return context.view.titles.then(|| format!("{about}{} links", grouped(u64::from(count))));
    }
    let life = Interval { from: link.start_time.min(link.end_time), to: link.start_time.max(link.end_time) };
    let names = (&context.layout.rows[one.rows.0].name, &context.layout.rows[one.rows.1].name);
    let ty = context.model.types.get(link.ty.index()).map_or("", |ty| &ty.name);
    context.view.titles.then(|| {
        let name = format!("{} from {} to {}", apart(ty), apart(names.0), apart(names.1));
        context.sentence(&name, life, one.rows.0)
    })
}
