//! Links as arrows. They are clear while single arrows can be followed, thinner and fainter the
//! more of them share a place, and bundled if there are many. Each link belongs to one of the
//! arrows, also if they are counted: see [`crate::scene::link_bundles`].

use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashMap;

use super::bidi_isolate::isolate_name;
use super::diagram_context::DiagramContext;
use super::link_bundles::ArrowCounts;
use super::placed_link::{NEAR, PlacedLink, RowSpan, is_seen};
use super::primitives::{SceneArrow, SceneItem};
use crate::query::{LinkCount, LinkEntity, PajeTypeKind, QueryError, TimeRange, ValueId};
use crate::style::size_factors;
use crate::style::theme::ColorWithOpacity;
use crate::text::time_display::group_digits;
use tumit_paje::RgbColor;

/// If a type has more links than this, they are counted instead of listed.
const LISTED: usize = 65_536;
/// Above this number, links with nearby endpoints are combined.
const BUNDLED: usize = 900;
/// Size of the tiles in which the density of arrows is measured.
const TILE: (f32, f32) = (12.0, 48.0);
/// Share of a tile that arrows may cover before they fade.
const CLEAR: f32 = 0.1;
/// Arrows fainter than this are visible only together with others.
const FAINTEST: f32 = 0.07;
/// Approximate share of the image that all arrows together may cover. The colours below must match
/// the legend.
const VEIL: f32 = 0.15;
/// Arrowheads within this distance cannot be distinguished.
const HEADS: f32 = 8.0;

/// Arrows with a larger size factor are wide.
const WIDE: f32 = 1.5;
/// Arrows thinner than this are invisible.
const FINEST: f32 = 0.3;

/// In an image with more arrows than this, single arrows cannot be followed.
const MANY: f32 = 600.0;
/// Height from which an arrow is long. An arrow at least [`MIN_LABELED_WIDTH`] wide shows its
/// duration.
const LONG: f32 = 160.0;
const MIN_LABELED_WIDTH: f32 = 8.0;

/// Returns all arrows of the image, and notes about them.
pub(crate) fn arrows(context: &DiagramContext<'_>) -> Result<(Vec<SceneItem>, Vec<String>), QueryError> {
    let mut links = Vec::new();
    let mut crowd = ArrowCounts::new(context);
    // There are few colours, and each conversion computes powers.
    let mut strokes: FxHashMap<RgbColor, RgbColor> = FxHashMap::default();
    let mut stroke = |color| *strokes.entry(color).or_insert_with(|| context.theme.stroke(color));
    for ty in &context.model.types {
        if !matches!(ty.kind, PajeTypeKind::Link { .. }) || context.options.hidden_types.contains(&ty.id) {
            continue;
        }
        let mut style_of = |value: ValueId| {
            let value = context.model.values.get(value.index());
            let color = value.map(|value| value.color).or(ty.color).map_or(context.theme.link, &mut stroke);
            (color, size_factors::size(value.map_or(ty.style, |value| value.style)))
        };
        let time_range = context.view.time_range;
        // The number of links is known sooner than the list.
        if context.source.links(ty.id, time_range, 0)?.total > LISTED as u64 {
            let mut styles: FxHashMap<ValueId, (RgbColor, f32)> = FxHashMap::default();
            context.source.link_counts(ty.id, time_range, crowd.query_exponent(), &mut |count: &LinkCount| {
                let (color, size) = *styles.entry(count.value).or_insert_with(|| style_of(count.value));
                crowd.add(ty.id, count, (color, size));
                Ok(())
            })?;
            continue;
        }
        for link in context.source.links(ty.id, time_range, LISTED)?.items {
            links.extend(place(context, &link, style_of(link.value)));
        }
    }
    let mut bundles = if links.len() > BUNDLED { bundle_links(links) } else { links };
    let first = bundles.len();
    bundles.extend(crowd.finish()?);
    Ok((draw(context, &bundles), note(&bundles[first..]).into_iter().collect()))
}

/// A note that arrows represent many links each.
fn note(crowd: &[PlacedLink]) -> Option<String> {
    let links = crowd.iter().map(|arrow| arrow.count).sum();
    let arrows = group_digits(crowd.len() as u64);
    (!crowd.is_empty())
        .then(|| format!("{} links are drawn as {arrows} arrows; zoom in to see each", group_digits(links)))
}

/// The position of a link. `None` if both endpoints are folded into one row, or the link lies
/// outside the view.
fn place(context: &DiagramContext<'_>, link: &LinkEntity, (color, size): (RgbColor, f32)) -> Option<PlacedLink> {
    let (start_row, end_row) = (context.layout.index_of(link.start)?, context.layout.index_of(link.end)?);
    let (start, end) = (&context.layout.rows[start_row], &context.layout.rows[end_row]);
    let is_hidden = start.container == end.container && (start.is_folded || link.start_time == link.end_time);
    if is_hidden || !is_seen(context, start_row, end_row) {
        return None;
    }
    let from = (context.scale.x(link.start_time), start.anchor());
    let to = (context.scale.x(link.end_time), end.anchor());
    let is_reversed = link.end_time < link.start_time;
    let color = if is_reversed { context.theme.alert } else { color };
    let is_dimmed = context.options.dimmed_values.contains(&link.value);
    let life = TimeRange { from: link.start_time.min(link.end_time), to: link.start_time.max(link.end_time) };
    let (start_rows, end_rows) = (RowSpan::of(start_row), RowSpan::of(end_row));
    Some(PlacedLink {
        id: link.id,
        ty: link.ty,
        life,
        from,
        to,
        start_rows,
        end_rows,
        color,
        size,
        is_dimmed,
        count: 1,
    })
}

/// Combines links with the same rows and similar timestamps. Each bundle has their number and the
/// first of them.
fn bundle_links(links: Vec<PlacedLink>) -> Vec<PlacedLink> {
    #[expect(clippy::cast_possible_truncation, reason = "within 10⁵ of the image")]
    let bin = |x: f32| (x / NEAR).floor() as i32;
    let mut bundles: FxHashMap<_, PlacedLink> = FxHashMap::default();
    for link in links {
        let key = (
            link.start_rows,
            link.end_rows,
            bin(link.from.0),
            bin(link.to.0),
            link.color.red,
            link.color.green,
            link.color.blue,
        );
        let key = (key, link.size.to_bits());
        bundles.entry(key).and_modify(|bundle| bundle.add(&link)).or_insert(link);
    }
    let mut bundles: Vec<_> = bundles.into_iter().collect();
    bundles.sort_unstable_by_key(|bundle| bundle.0);
    bundles.into_iter().map(|bundle| bundle.1).collect()
}

/// The density of arrows: the length of lines in each tile, and the arrowheads at each
/// place of a row.
#[derive(Default)]
struct ArrowDensity {
    lines: HashMap<(i32, i32), f32>,
    heads: HashMap<(usize, i32), HashSet<i32>>,
}

impl ArrowDensity {
    fn new(bundles: &[PlacedLink], width: f32) -> Self {
        let mut crowd = Self::default();
        for arrow in bundles {
            let (tiles, step_length) = tiles(arrow, width);
            for tile in tiles {
                *crowd.lines.entry(tile).or_default() += step_length;
            }
            // Arrowheads at the same position are seen as one.
            #[expect(clippy::cast_possible_truncation, reason = "within 10⁵ of the image")]
            crowd.heads.entry(head(arrow)).or_default().insert((arrow.to.0 * 2.0).round() as i32);
        }
        crowd
    }

    /// The mean share of the surroundings that lines cover along an arrow.
    fn mean_cover(&self, arrow: &PlacedLink, width: f32) -> f32 {
        let (mut sum, mut count) = (0.0, 0.0);
        for tile in tiles(arrow, width).0 {
            sum += self.lines.get(&tile).copied().unwrap_or(0.0);
            count += 1.0;
        }
        sum / f32::max(count, 1.0) / (TILE.0 * TILE.1)
    }
}

/// The tiles at equal steps along the visible part of an arrow, and the length of a step.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "within 10⁵ of the image")]
fn tiles(arrow: &PlacedLink, width: f32) -> (impl Iterator<Item = (i32, i32)> + use<>, f32) {
    const STEP: f32 = 24.0;
    const STEPS: f32 = 160.0;
    let (a, b) = ((arrow.from.0.clamp(0.0, width), arrow.from.1), (arrow.to.0.clamp(0.0, width), arrow.to.1));
    let length = f32::hypot(b.0 - a.0, b.1 - a.1);
    let steps = (length / STEP).ceil().clamp(1.0, STEPS);
    let tile_of = move |step: i32| {
        let part = (step as f32 + 0.5) / steps;
        let (x, y) = (a.0 + (b.0 - a.0) * part, a.1 + (b.1 - a.1) * part);
        ((x / TILE.0).floor() as i32, (y / TILE.1).floor() as i32)
    };
    ((0..steps as i32).map(tile_of), length / steps)
}

/// The place of an arrowhead, at the resolution at which arrowheads can be distinguished.
#[expect(clippy::cast_possible_truncation, reason = "within 10⁵ of the image")]
fn head(arrow: &PlacedLink) -> (usize, i32) {
    (arrow.end_rows.first, (arrow.to.0 / HEADS).floor() as i32)
}

fn draw(context: &DiagramContext<'_>, bundles: &[PlacedLink]) -> Vec<SceneItem> {
    let crowd = ArrowDensity::new(bundles, context.view.width);
    #[expect(clippy::cast_precision_loss, reason = "a number of arrows")]
    let crowding = (bundles.len() as f32 / MANY - 0.2).clamp(0.0, 1.0);
    #[expect(clippy::cast_precision_loss, reason = "a count as a share")]
    let link_count = bundles.iter().map(|bundle| bundle.count).sum::<u64>() as f32;
    #[expect(clippy::cast_precision_loss, reason = "a count as a width")]
    let arrow = |bundle: &PlacedLink| {
        let count = bundle.count;
        // The denser the arrows, the thinner and fainter they are, so that the states below stay
        // visible.
        let cover = crowd.mean_cover(bundle, context.view.width).max(1e-6);
        let clear = (CLEAR / cover).min(1.0);
        // Among many arrows, one that crosses many rows in no visible time carries little
        // information at this zoom level. It is fainter.
        let (width_of_arrow, height_of_arrow) =
            ((bundle.to.0 - bundle.from.0).abs(), (bundle.to.1 - bundle.from.1).abs());
        let steep = crowding * (height_of_arrow / LONG).min(1.0) * (1.0 - width_of_arrow / MIN_LABELED_WIDTH).max(0.0);
        let clear = clear * (1.0 - 0.6 * steep);
        // An arrow that represents a large share of all links is always visible.
        let clear = if count > 1 { clear.max((count as f32 / link_count).sqrt()) } else { clear };
        let alpha = if bundle.is_dimmed { 0.06 } else { (0.95 * clear.powf(0.9)).max(FAINTEST.min(VEIL / cover)) };
        let width = 0.6 + 0.7 * clear + 0.25 * (count as f32).ln();
        let arrows_at_head = crowd.heads.get(&head(bundle)).map_or(1, HashSet::len);
        let head = match arrows_at_head {
            _ if bundle.is_dimmed || alpha < 0.12 => 0.0,
            0 | 1 => 4.5 + 3.5 * clear,
            2 => 4.5,
            _ => 0.0,
        };
        // A wide arrow stands out without a halo.
        let halo = bundle.start_rows != bundle.end_rows && clear > 0.8 && !bundle.is_dimmed && bundle.size <= WIDE;
        SceneItem::Arrow(SceneArrow {
            from: bundle.from,
            to: bundle.to,
            width: (width.min(2.4) * bundle.size).max(FINEST),
            // An arrowhead proportional to the width would hide its target.
            head: head * bundle.size.sqrt(),
            paint: ColorWithOpacity::with_alpha(bundle.color, alpha),
            halo: halo.then(|| ColorWithOpacity::with_alpha(context.theme.paper, 0.6)),
            // An arrow that is not visible alone cannot be selected.
            id: (count == 1 && !bundle.is_dimmed && alpha >= FAINTEST).then_some(bundle.id),
            title: if context.view.titles { title(context, bundle) } else { None },
        })
    };
    bundles.iter().map(arrow).collect()
}

/// The tooltip of an arrow in an SVG.
fn title(context: &DiagramContext<'_>, arrow: &PlacedLink) -> Option<String> {
    let name = |RowSpan { first, last }| {
        let name = |row: usize| isolate_name(context.layout.rows[row].name.as_str());
        if first == last { name(first).to_string() } else { format!("{} … {}", name(first), name(last)) }
    };
    context.view.titles.then(|| {
        let ty = context.model.types.get(arrow.ty.index()).map_or("", |ty| &ty.name);
        let subject = if arrow.count > 1 {
            format!("{} links, {}", group_digits(arrow.count), isolate_name(ty))
        } else {
            isolate_name(ty).to_string()
        };
        let name = format!("{subject} from {} to {}", name(arrow.start_rows), name(arrow.end_rows));
        context.sentence(&name, arrow.life, arrow.start_rows.first)
    })
}
