//! States: rectangles where they can be distinguished, exact mixtures where they cannot.
//!
//! No state is left out or sampled. A pixel column with a state narrower than two pixels is drawn
//! as the mixture of all its states. Only the other columns have rectangles.

use std::ops::Range;

use super::diagram_context::DiagramContext;
use super::mixtures;
use super::primitives::{FilledRect, MixtureColumns, OutlineRect, SceneItem};
use super::state_labels::{self, DrawnState, LabelRequest};
use crate::layout::{LaneExtent, RowStrip, StripKind, SummaryMember};
use crate::parallel_map::{MAX_THREADS, map_in_order};
use crate::query::{QueryError, StateEntity, StateLaneId, ValueId, weight};

/// States narrower than this many pixels are drawn as mixtures.
const NARROW: f64 = 2.0;

/// Draws the states of one container, and collects those that need a name.
pub(crate) fn strip(
    context: &DiagramContext<'_>,
    row: usize,
    (strip, depths): (&RowStrip, u32),
    out: &mut Vec<SceneItem>,
    names: &mut Vec<LabelRequest>,
) -> Result<(), QueryError> {
    let container = context.layout.rows[row].container;
    let mut states_by_depth = Vec::new();
    for depth in 0..depths {
        let extent = strip.lane_extent(depth, depths);
        let lane = StateLaneId { container, ty: strip.ty, depth };
        let max_count = context.pixels() / 3;
        if context.source.is_dense(lane, context.view.time_range, max_count)? {
            draw_mixtures(context, &[lane], 1, extent, out)?;
            states_by_depth.push(None);
        } else {
            let list = context.source.states(lane, context.view.time_range, max_count)?;
            states_by_depth.push(Some(draw_states(context, row, &list.items, extent, out)));
        }
    }
    state_labels::states(&states_by_depth, names);
    Ok(())
}

/// Whether a strip shows an approximation to save time.
pub(crate) fn is_quick(context: &DiagramContext<'_>, strip: &RowStrip) -> bool {
    let StripKind::Summary { members } = &strip.kind else { return false };
    let depths = members.iter().map(|member| member.depths).max().unwrap_or(0);
    let lanes = |depth| members.iter().filter(|member| member.depths > depth).count();
    (0..depths).any(|depth| mixtures::is_quick(context, strip.ty, lanes(depth)))
}

/// Draws the mean mixture of the states of several containers.
pub(crate) fn summary(
    context: &DiagramContext<'_>,
    strip: &RowStrip,
    members: &[SummaryMember],
    out: &mut Vec<SceneItem>,
) -> Result<(), QueryError> {
    let depths = members.iter().map(|member| member.depths).max().unwrap_or(0);
    let lane_count = members.iter().map(|member| weight(context.source, member.container, strip.ty)).sum();
    // Each depth is a query about all members, and processing the answer is as much work again.
    let drawings = map_in_order((0..depths).collect(), MAX_THREADS, |depth| {
        let deep = members.iter().filter(|member| member.depths > depth);
        let lanes: Vec<StateLaneId> =
            deep.map(|member| StateLaneId { container: member.container, ty: strip.ty, depth }).collect();
        let mut items = Vec::new();
        draw_mixtures(context, &lanes, lane_count, strip.lane_extent(depth, depths), &mut items).map(|()| items)
    });
    for items in drawings {
        out.extend(items?);
    }
    Ok(())
}

/// Draws the mean mixture of some lanes. `lane_count` is the number of lanes that fill the height.
fn draw_mixtures(
    context: &DiagramContext<'_>,
    lanes: &[StateLaneId],
    lane_count: usize,
    extent: LaneExtent,
    out: &mut Vec<SceneItem>,
) -> Result<(), QueryError> {
    let mixtures = mixtures::mean_mixtures(context, lanes, lane_count)?;
    out.extend(context.cells(OutlineRect::new(0.0, extent.top, context.view.width, extent.height), &mixtures));
    Ok(())
}

/// Draws a small number of states. Returns the rectangles, for labels.
fn draw_states(
    context: &DiagramContext<'_>,
    row: usize,
    states: &[StateEntity],
    LaneExtent { top, height }: LaneExtent,
    out: &mut Vec<SceneItem>,
) -> Vec<DrawnState> {
    let pixels = context.pixels();
    let edges: Vec<PixelRange> = states.iter().map(|state| edges(context, state, pixels)).collect();
    let mut is_mixed = vec![false; pixels];
    for &edges in edges.iter().filter(|edges| edges.width() < NARROW) {
        is_mixed[columns_of(edges, pixels)].fill(true);
    }
    let unit = 1.0 / context.view.resolution;
    let mut drawn_states = Vec::new();
    let mut mixtures: Vec<Vec<(ValueId, f64)>> = vec![Vec::new(); if is_mixed.contains(&true) { pixels } else { 0 }];
    for (state, &edges) in states.iter().zip(&edges) {
        if !mixtures.is_empty() {
            for column in columns_of(edges, pixels).filter(|&column| is_mixed[column]) {
                #[expect(clippy::cast_precision_loss, reason = "a number of pixels is small")]
                let column_start = column as f64;
                add(
                    &mut mixtures[column],
                    state.value,
                    edges.to.min(column_start + 1.0) - edges.from.max(column_start),
                );
            }
        }
        if let Some(Range { start, end }) = solid_range(edges, &is_mixed) {
            let gap = if end - start >= 5.0 { 1.0 } else { 0.0 };
            let tall = height * context.height(state.value);
            let frame = OutlineRect::new(start * unit, top + height - tall, (end - start - gap) * unit, tall);
            let title = context.title(context.name(state.value), state.life, row);
            out.push(SceneItem::Rect(FilledRect {
                frame,
                fill: context.fill(state.value),
                radius: 0.0,
                id: Some(state.id),
                title,
            }));
            drawn_states.push(DrawnState { frame, value: state.value });
        }
    }
    let mut start = 0;
    for run in is_mixed.chunk_by(|a, b| a == b) {
        if run[0] {
            #[expect(clippy::cast_precision_loss, reason = "a number of pixels is small")]
            let frame = OutlineRect::new(start as f32 * unit, top, run.len() as f32 * unit, height);
            #[expect(clippy::cast_possible_truncation, reason = "the result is a position in pixels")]
            let share = |column: &Vec<(ValueId, f64)>| column.iter().map(|&(v, s)| (v, s.min(1.0) as f32)).collect();
            let columns = mixtures[start..start + run.len()].iter().map(share).collect::<MixtureColumns<_>>();
            out.extend(context.cells(frame, &columns));
        }
        start += run.len();
    }
    drawn_states
}

/// The start and the end of a state in pixels.
#[derive(Clone, Copy)]
struct PixelRange {
    from: f64,
    to: f64,
}

impl PixelRange {
    fn width(self) -> f64 {
        self.to - self.from
    }
}

/// The place of a state, limited to the image.
#[expect(clippy::cast_precision_loss, reason = "the result is a position in pixels")]
fn edges(context: &DiagramContext<'_>, state: &StateEntity, pixels: usize) -> PixelRange {
    let time_range = context.view.time_range;
    let per_nano = pixels as f64 / context.scale.nanos() as f64;
    let x = |time: i64| (time.clamp(time_range.from.0, time_range.to.0) - time_range.from.0) as f64 * per_nano;
    PixelRange { from: x(state.life.from.0), to: x(state.life.to.0) }
}

/// The range of columns that a pixel range touches.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clipped to the image before")]
fn columns_of(edges: PixelRange, pixels: usize) -> Range<usize> {
    let first = (edges.from.floor() as usize).min(pixels);
    first..(edges.to.ceil() as usize).clamp(first, pixels)
}

/// The pixels that a wide state fills alone, with rounded edges.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "clipped to the image before"
)]
fn solid_range(edges: PixelRange, is_mixed: &[bool]) -> Option<Range<f32>> {
    if edges.width() < NARROW {
        return None;
    }
    let (mut first, mut last) = (edges.from.round() as usize, (edges.to.round() as usize).min(is_mixed.len()));
    while first < last && is_mixed[first] {
        first += 1;
    }
    while first < last && is_mixed[last - 1] {
        last -= 1;
    }
    (first < last).then_some(first as f32..last as f32)
}

/// Adds to the share of a value in a column.
fn add<T: std::ops::AddAssign>(column: &mut Vec<(ValueId, T)>, value: ValueId, amount: T) {
    match column.iter_mut().find(|part| part.0 == value) {
        Some(part) => part.1 += amount,
        None => column.push((value, amount)),
    }
}
