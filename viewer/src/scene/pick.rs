//! The exact contents of a mixture or a variable under the pointer. The image on the screen has
//! only the resolution of its pixels.

use super::diagram_context::{DiagramContext, Viewport};
use super::mixtures;
use super::primitives::OTHERS;
use crate::layout::{LaneExtent, LayoutOptions, LayoutRow, RowLayout, RowStrip, StripKind};
use crate::query::{EntityId, QueryError, SeriesColumn, StateLaneId, TimeRange, TimelineSource, TypeId, weight};
use tumit_paje::RgbColor;

/// The states in a time range of a lane, or of lanes that are combined into one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PickedMixture {
    /// The values, the largest share first. With many values, the last part is the sum of the
    /// others.
    pub parts: Vec<PickedPart>,
    /// Number of states.
    pub states: u64,
    /// The first state. It is the only one if `states` is 1.
    pub first: Option<EntityId>,
}

/// A value of a mixture.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PickedPart {
    /// The name of the value.
    pub name: String,
    /// Its colour.
    pub color: RgbColor,
    /// Its share of the time.
    pub share: f32,
}

/// A point of an image: a time range, such as that of a pixel column, and a height of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImagePoint {
    /// The extent of the point on the time axis.
    pub time_range: TimeRange,
    /// The height, from the top of the first row.
    pub y: f32,
}

/// The mixture at a point. `None` if there is no state. Of nested
/// states, the innermost counts.
///
/// # Errors
/// If the source cannot answer.
pub fn mixture(
    source: &dyn TimelineSource,
    layout: &RowLayout,
    options: &LayoutOptions,
    ImagePoint { time_range, y }: ImagePoint,
) -> Result<Option<PickedMixture>, QueryError> {
    let is_at = |top: f32, height: f32| y >= top && y < top + height;
    let Some(row) = layout.rows.iter().find(|row| is_at(row.y, row.height)) else { return Ok(None) };
    let view = Viewport { time_range, width: 1.0, top: y, bottom: y, resolution: 1.0, titles: false, is_quick: false };
    let context = DiagramContext::new(source, layout, options, view);
    for DrawnLanes { lanes, lane_count, extent } in lanes(source, row).into_iter().rev() {
        if is_at(extent.top, extent.height) {
            let mixture = picked_mixture(&context, &lanes, lane_count)?;
            if mixture.is_some() {
                return Ok(mixture);
            }
        }
    }
    Ok(None)
}

/// The variable at a point, and its values in the time range. `None` if there is no
/// variable.
///
/// # Errors
/// If the source cannot answer.
pub fn variable(
    source: &dyn TimelineSource,
    layout: &RowLayout,
    ImagePoint { time_range, y }: ImagePoint,
) -> Result<Option<(TypeId, SeriesColumn)>, QueryError> {
    let is_at = |top: f32, height: f32| y >= top && y < top + height;
    let Some(row) = layout.rows.iter().find(|row| is_at(row.y, row.height)) else { return Ok(None) };
    let is_variable = |strip: &&RowStrip| matches!(strip.kind, StripKind::Variable { .. } | StripKind::Gradient { .. });
    let Some(strip) = row.strips.iter().filter(is_variable).find(|strip| is_at(strip.y, strip.height)) else {
        return Ok(None);
    };
    let series = source.series(row.container, strip.ty, time_range, 1)?;
    Ok(series.into_iter().next().flatten().map(|column| (strip.ty, column)))
}

/// Lanes that are drawn together.
struct DrawnLanes {
    lanes: Vec<StateLaneId>,
    /// The number of lanes that fill the height.
    lane_count: usize,
    extent: LaneExtent,
}

impl DrawnLanes {
    fn new(lanes: Vec<StateLaneId>, lane_count: usize, extent: LaneExtent) -> Self {
        Self { lanes, lane_count, extent }
    }
}

/// The states of a row, in drawing order.
fn lanes(source: &dyn TimelineSource, row: &LayoutRow) -> Vec<DrawnLanes> {
    let mut all = Vec::new();
    for strip in &row.strips {
        let ty = strip.ty;
        match &strip.kind {
            StripKind::States { depths } => {
                let lane = |depth| StateLaneId { container: row.container, ty, depth };
                all.extend(
                    (0..*depths).map(|depth| DrawnLanes::new(vec![lane(depth)], 1, strip.lane_extent(depth, *depths))),
                );
            }
            StripKind::Summary { members } => {
                let depths = members.iter().map(|member| member.depths).max().unwrap_or(0);
                let lane_count = members.iter().map(|member| weight(source, member.container, ty)).sum();
                for depth in 0..depths {
                    let deep = members.iter().filter(|member| member.depths > depth);
                    let lanes = deep.map(|member| StateLaneId { container: member.container, ty, depth }).collect();
                    all.push(DrawnLanes::new(lanes, lane_count, strip.lane_extent(depth, depths)));
                }
            }
            StripKind::Events { .. } | StripKind::Variable { .. } | StripKind::Gradient { .. } => {}
        }
    }
    all
}

/// The mixture of some lanes.
fn picked_mixture(
    context: &DiagramContext<'_>,
    lanes: &[StateLaneId],
    lane_count: usize,
) -> Result<Option<PickedMixture>, QueryError> {
    let (mut states, mut first) = (0, None);
    for lane in lanes {
        let list = context.source.states(*lane, context.view.time_range, 1)?;
        states += list.total;
        first = first.or(list.items.first().map(|state| state.id));
    }
    if states == 0 {
        return Ok(None);
    }
    let mixtures = mixtures::exact_mixtures(context, lanes, lane_count)?;
    let mut parts: Vec<_> = mixtures.parts().to_vec();
    parts.sort_by(|a, b| (a.0 == OTHERS).cmp(&(b.0 == OTHERS)).then(b.1.total_cmp(&a.1)));
    let part = |(value, share)| PickedPart { name: context.name(value).to_owned(), color: context.color(value), share };
    let parts = parts.into_iter().map(part);
    Ok(Some(PickedMixture { parts: parts.collect(), states, first }))
}
