//! What a mixture or a variable under the pointer is, to the nanosecond: the picture on the screen has no more of it than pixels show.

use super::chart::{Context, View};
use super::mixtures;
use crate::layout::{Layout, Options, Row, Strip, StripKind};
use crate::query::{EntityId, Interval, Lane, QueryError, SeriesColumn, TimelineSource, TypeId, weight};
use tumit_paje::Color;

/// The states of a lane, or of those that are folded into one, in a part of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    /// Name and colour of each value, and its share of the time, the largest first. Of many values the largest; the rest is the last.
    pub parts: Vec<(String, Color, f32)>,
    /// How many states there are.
    pub states: u64,
    /// One of them, the only one if there is one.
    pub first: Option<EntityId>,
}

/// What is at a height of the rows in a part of time; nothing where there is no state. Of boxes in boxes the innermost counts.
///
/// # Errors
/// When the source cannot answer.
pub fn mixture(
    source: &dyn TimelineSource,
    layout: &Layout,
    options: &Options,
    (interval, y): (Interval, f32),
) -> Result<Option<Mixture>, QueryError> {
    let is_at = |top: f32, height: f32| y >= top && y < top + height;
    let Some(row) = layout.rows.iter().find(|row| is_at(row.y, row.height)) else { return Ok(None) };
    let view = View { interval, width: 1.0, top: y, bottom: y, resolution: 1.0, titles: false, quick: false };
    let context = Context::new(source, layout, options, view);
    for (lanes, of, (top, height)) in lanes(source, row).into_iter().rev() {
        if is_at(top, height) {
            let found = within(&context, &lanes, of)?;
            if found.is_some() {
                return Ok(found);
            }
        }
    }
    Ok(None)
}

/// The variable that is drawn at a height of the rows, and what it was in a part of time; nothing where there is none.
///
/// # Errors
/// When the source cannot answer.
pub fn variable(
    source: &dyn TimelineSource,
    layout: &Layout,
    (interval, y): (Interval, f32),
) -> Result<Option<(TypeId, SeriesColumn)>, QueryError> {
    let is_at = |top: f32, height: f32| y >= top && y < top + height;
    let Some(row) = layout.rows.iter().find(|row| is_at(row.y, row.height)) else { return Ok(None) };
    let is_variable = |strip: &&Strip| matches!(strip.kind, StripKind::Variable { .. } | StripKind::Gradient { .. });
    let Some(strip) = row.strips.iter().filter(is_variable).find(|strip| is_at(strip.y, strip.height)) else {
        return Ok(None);
    };
    let series = source.series(row.container, strip.ty, interval, 1)?;
    Ok(series.into_iter().next().flatten().map(|column| (strip.ty, column)))
}

/// What is drawn together, how many lanes would fill the height, and where.
type Drawn = (Vec<Lane>, usize, (f32, f32));

/// The states of a row, from back to front.
fn lanes(source: &dyn TimelineSource, row: &Row) -> Vec<Drawn> {
    let mut all = Vec::new();
    for strip in &row.strips {
        let ty = strip.ty;
        match &strip.kind {
            StripKind::States { depths } => {
                let lane = |depth| Lane { container: row.container, ty, depth };
                all.extend((0..*depths).map(|depth| (vec![lane(depth)], 1, strip.lane(depth, *depths))));
            }
            StripKind::Summary { members } => {
                let depths = members.iter().map(|member| member.1).max().unwrap_or(0);
                let of = members.iter().map(|&(container, _)| weight(source, container, ty)).sum();
                for depth in 0..depths {
                    let deep = members.iter().filter(|member| member.1 > depth);
                    let lanes = deep.map(|&(container, _)| Lane { container, ty, depth }).collect();
                    all.push((lanes, of, strip.lane(depth, depths)));
                }
            }
            StripKind::Events { .. } | StripKind::Variable { .. } | StripKind::Gradient { .. } => {}
        }
    }
    all
}

/// The mixture of some lanes.
fn within(context: &Context<'_>, lanes: &[Lane], of: usize) -> Result<Option<Mixture>, QueryError> {
    let (mut states, mut first) = (0, None);
    for lane in lanes {
        let listed = context.source.states(*lane, context.view.interval, 1)?;
        states += listed.total;
        first = first.or(listed.items.first().map(|state| state.id));
    }
    if states == 0 {
        return Ok(None);
    }
    let mixtures = mixtures::exact(context, lanes, of)?;
    let mut parts: Vec<_> = mixtures.parts().to_vec();
    parts.sort_by(|a, b| (a.0 == super::OTHERS).cmp(&(b.0 == super::OTHERS)).then(b.1.total_cmp(&a.1)));
    let parts = parts.into_iter().map(|(value, share)| (context.name(value).to_owned(), context.color(value), share));
    Ok(Some(Mixture { parts: parts.collect(), states, first }))
}
