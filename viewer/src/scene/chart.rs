//! The rows of an interval as primitives: tracks, states, curves, events, and arrows above them all.

use std::borrow::Cow;
use std::sync::Arc;

use super::bidi_isolate::apart;
use super::value_palette::Palette;
use super::{Cells, Columns, Frame, Item, OTHERS, Rect, Scene, labels, links, marks, states, variables};
use crate::layout::scale::TimeScale;
use crate::layout::{Layout, Options, Outline, Row, Strip, StripKind};
use crate::parallel::{MOST_THREADS, in_turn};
use crate::query::{ContainerId, GlobalNanos, Interval, Model, QueryError, TimelineSource, TypeId, ValueId};
use crate::style::sizes;
use crate::style::theme::{Paint, Theme};
use crate::text::time::{duration, timestamp};
use tumit_paje::{Color, Look};

/// Lanes that are worth a thread: a row may have one, or as many as calls are deep.
const LANES_PER_THREAD: usize = 8;
/// About so many are drawn by one thread at a time.
const LANES_PER_JOB: usize = 4;

/// Names in the path of a row, at most.
const MOST_NAMES: usize = 32;

/// What part of the rows is drawn, and how finely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The part of time.
    pub interval: Interval,
    /// Its width in units.
    pub width: f32,
    /// The part of the rows: from this height …
    pub top: f32,
    /// … to this one.
    pub bottom: f32,
    /// Pixels per unit: edges lie on pixels, and mixtures are exact for each.
    pub resolution: f32,
    /// Whether entities carry sentences for an SVG's `<title>`.
    pub titles: bool,
    /// Whether a row of many containers may show the mean of what their own rows would show, which is sooner had than the mean of all that they
    /// do; [`Scene::is_quick`] says whether one does.
    pub quick: bool,
}

/// All that drawing needs.
pub(crate) struct Context<'a> {
    pub(crate) source: &'a dyn TimelineSource,
    pub(crate) model: Arc<Model>,
    pub(crate) layout: &'a Layout,
    pub(crate) options: &'a Options,
    pub(crate) theme: Theme,
    pub(crate) view: View,
    pub(crate) scale: TimeScale,
    /// In what each value is drawn, when it is not dimmed.
    colors: Vec<Color>,
    /// By which factor the strip of each type differs from the usual height.
    factors: Vec<f32>,
    /// Which part of its strip's height the states of each value have; none where each has all of it.
    heights: Option<Vec<f32>>,
    /// The row that each row is inside of.
    outer: Vec<Option<usize>>,
}

/// What was drawn by one thread.
#[derive(Default)]
struct Part {
    items: Vec<Item>,
    /// What lies over all rows.
    over: Vec<Item>,
    /// States that want a name: it is written when all arrows are known.
    names: Vec<labels::Wanted>,
    notes: Vec<String>,
}

/// Draws the rows. The origin is the top left corner of the first row at the interval's start; rows outside of the view are left out.
///
/// # Errors
/// When the source cannot answer.
pub fn chart(source: &dyn TimelineSource, layout: &Layout, options: &Options, view: View) -> Result<Scene, QueryError> {
    let context = Context::new(source, layout, options, view);
    // Pinned rows are seen wherever the others have been scrolled to.
    let is_seen = |row: &Row| row.pinned || !(row.y > view.bottom || row.y + row.height < view.top);
    let seen: Vec<usize> = (0..layout.rows.len()).filter(|&at| is_seen(&layout.rows[at])).collect();
    // Links lie over all rows. They may take as long as many of these, and are begun first; rows differ in what they cost.
    let (jobs, lanes) = jobs(&seen, |&at| lanes(&layout.rows[at].strips));
    let jobs: Vec<Option<&[usize]>> = std::iter::once(None).chain(jobs.into_iter().map(Some)).collect();
    let threads = threads(lanes);
    let mut parts =
        in_turn(jobs, threads, |rows| rows.map_or_else(|| context.links(), |rows| context.rows(rows))).into_iter();
    let links = parts.next().transpose()?.unwrap_or_default();
    let mut all = Part { notes: links.notes, ..Part::default() };
    for part in parts {
        let part = part?;
        all.items.extend(part.items);
        all.over.extend(part.over);
        all.names.extend(part.names);
    }
    let names = labels::draw(&context, &all.names, &links.items);
    let items = [all.items, all.over, links.items, names].into_iter().flatten().collect();
    let is_quick = seen.iter().flat_map(|&at| &layout.rows[at].strips).any(|strip| states::is_quick(&context, strip));
    Ok(Scene { width: view.width, height: layout.height, items, notes: all.notes, is_quick, ..Scene::default() })
}

/// Rows in jobs of [`LANES_PER_JOB`] lanes or more, but of one row where it has as many; and how many lanes there are in all.
fn jobs<R>(mut rows: &[R], lanes: impl Fn(&R) -> usize) -> (Vec<&[R]>, usize) {
    let (mut jobs, mut all) = (Vec::new(), 0);
    while !rows.is_empty() {
        let (mut count, mut some) = (0, 0);
        while let Some(row) = rows.get(count).filter(|_| some < LANES_PER_JOB) {
            some += lanes(row);
            count += 1;
        }
        let (job, behind) = rows.split_at(count);
        jobs.push(job);
        (rows, all) = (behind, all + some);
    }
    (jobs, all)
}

/// How many threads are worth it.
fn threads(lanes: usize) -> usize {
    if lanes < 2 * LANES_PER_THREAD { 1 } else { MOST_THREADS }
}

/// How many lanes a row of these strips draws, about.
fn lanes(strips: &[Strip]) -> usize {
    let lanes = strips.iter().map(|strip| match &strip.kind {
        StripKind::States { depths } => *depths as usize,
        StripKind::Summary { members } => members.iter().map(|member| member.1 as usize).sum(),
        StripKind::Events { .. } | StripKind::Variable { .. } | StripKind::Gradient { .. } => 1,
    });
    lanes.sum::<usize>().max(1)
}

/// Draws the mean mixture of all states over the whole width: a trace at a glance.
///
/// # Errors
/// When the source cannot answer.
pub fn overview(
    source: &dyn TimelineSource,
    outline: &Outline,
    options: &Options,
    view: View,
) -> Result<Scene, QueryError> {
    let layout = Layout::new(outline, options);
    // So low a row cannot show more.
    let context = Context::new(source, &layout, options, View { quick: true, ..view });
    let members = |ty| outline.states_within(ContainerId::ROOT, ty);
    let types = outline.state_types_within(ContainerId::ROOT);
    let mut items = Vec::new();
    if let Some(ty) = types.into_iter().filter(|ty| !options.hidden.contains(ty)).max_by_key(|&ty| members(ty).len()) {
        let kind = StripKind::Summary { members: Vec::new() };
        let strip = Strip { kind, ty, y: 0.0, height: view.bottom };
        states::summary(&context, &strip, &members(ty), &mut items)?;
    }
    Ok(Scene { width: view.width, height: view.bottom, items, ..Scene::default() })
}

impl<'a> Context<'a> {
    /// Draws some rows: what lies below, and what lies over all rows.
    fn rows(&self, rows: &[usize]) -> Result<Part, QueryError> {
        let mut part = Part::default();
        for &index in rows {
            let row = &self.layout.rows[index];
            for strip in &row.strips {
                let frame = Frame::new(0.0, strip.y, self.view.width, strip.height);
                if !matches!(strip.kind, StripKind::Events { .. }) {
                    part.items.push(Item::Rect(Rect::plain(frame, self.theme.track, 0.0)));
                }
                match &strip.kind {
                    StripKind::States { depths } => {
                        states::strip(self, index, (strip, *depths), &mut part.items, &mut part.names)?;
                    }
                    StripKind::Summary { members } => states::summary(self, strip, members, &mut part.items)?,
                    StripKind::Events { types } => {
                        marks::band(self, index, strip, types, &mut part.over)?;
                    }
                    StripKind::Gradient { bounds } => {
                        part.items.extend(variables::gradient(self, row.container, (strip, *bounds))?);
                    }
                    StripKind::Variable { bounds } => {
                        variables::strip(self, row.container, (strip, *bounds), &mut part.items)?;
                    }
                }
            }
        }
        Ok(part)
    }

    /// Draws the links: what lies over all rows.
    fn links(&self) -> Result<Part, QueryError> {
        let (items, notes) = links::arrows(self)?;
        Ok(Part { items, notes, ..Part::default() })
    }

    pub(crate) fn new(source: &'a dyn TimelineSource, layout: &'a Layout, options: &'a Options, view: View) -> Self {
        // An empty interval is shown as its first nanosecond.
        let interval = Interval {
            to: GlobalNanos(view.interval.to.0.max(view.interval.from.0.saturating_add(1))),
            ..view.interval
        };
        let view = View { interval, ..view };
        let (model, theme) = (source.model(), Theme::new(options.theme));
        let factors = sizes::factors(&model);
        let heights = model
            .values
            .iter()
            .map(|value| sizes::height(value.look) / factors.get(value.ty.index()).copied().unwrap_or(1.0));
        let heights: Vec<f32> = heights.collect();
        Self {
            source,
            colors: model.values.iter().map(|value| theme.fill(value.color)).collect(),
            factors,
            heights: heights.iter().any(|&height| height < 1.0).then_some(heights),
            model,
            layout,
            options,
            theme,
            view,
            scale: TimeScale { interval, width: view.width },
            outer: outer_rows(layout.rows.iter().map(|row| row.depth)),
        }
    }

    /// Columns of pixels in the picture.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of pixels")]
    pub(crate) fn pixels(&self) -> usize {
        (self.view.width * self.view.resolution).round().clamp(1.0, 65_536.0) as usize
    }

    /// Columns to ask for: one per pixel, but none shorter than a nanosecond.
    pub(crate) fn columns(&self) -> u32 {
        let most = u32::try_from(self.scale.nanos()).unwrap_or(u32::MAX);
        u32::try_from(self.pixels()).unwrap_or(u32::MAX).min(most)
    }

    /// The colour of a value, grey when it is dimmed.
    pub(crate) fn color(&self, value: ValueId) -> Color {
        if value == OTHERS {
            return self.theme.others();
        }
        if self.options.dimmed.contains(&value) {
            return self.theme.grid;
        }
        self.colors.get(value.index()).copied().unwrap_or(self.theme.faint)
    }

    /// The shape and size of a value.
    pub(crate) fn look(&self, value: ValueId) -> Look {
        self.model.values.get(value.index()).map_or(Look::NONE, |value| value.look)
    }

    /// By which factor a band of events of these types differs from the usual height.
    pub(crate) fn band(&self, types: &[TypeId]) -> f32 {
        sizes::of_band(&self.factors, types)
    }

    /// Which part of its strip's height a state of this value has.
    pub(crate) fn height(&self, value: ValueId) -> f32 {
        self.heights.as_ref().and_then(|heights| heights.get(value.index())).map_or(1.0, |&height| height.min(1.0))
    }

    /// The name of a value.
    pub(crate) fn name(&self, value: ValueId) -> &str {
        if value == OTHERS {
            return "others";
        }
        self.model.values.get(value.index()).map_or("?", |value| &value.name)
    }

    /// A fill in the colour of a value.
    pub(crate) fn fill(&self, value: ValueId) -> Paint {
        Paint::solid(self.color(value))
    }

    /// What an SVG says of an entity, when it should.
    pub(crate) fn title(&self, name: &str, life: Interval, row: usize) -> Option<String> {
        self.view.titles.then(|| self.sentence(&apart(name), life, row))
    }

    /// An entity by its name, its place and its dates.
    pub(crate) fn sentence(&self, name: &str, life: Interval, row: usize) -> String {
        let nanos = life.to.0.saturating_sub(life.from.0);
        let path = self.path(row);
        if nanos == 0 {
            return format!("{name}, {path}, at {}", timestamp(life.from, 1));
        }
        let resolution = (nanos / 1000).max(1);
        let (from, to) = (timestamp(life.from, resolution), timestamp(life.to, resolution));
        format!("{name}, {path}, {from} to {to} ({})", duration(nanos))
    }

    /// Names of the containers of a row, outermost first. Only the innermost ones of many are
    /// named, because the titles of a long chain of rows would grow with the square of its length.
    fn path(&self, row: usize) -> String {
        let mut names = Vec::new();
        let mut next = Some(row);
        while let Some(at) = next.filter(|&at| at < self.layout.rows.len()) {
            if names.len() == MOST_NAMES {
                names.push(Cow::Borrowed("…"));
                break;
            }
            names.push(apart(&self.layout.rows[at].name));
            next = self.outer[at];
        }
        names.reverse();
        names.join(" › ")
    }

    /// Cells from columns of `(value, share)`, as primitive; nothing where all are empty.
    pub(crate) fn cells(&self, frame: Frame, columns: &Columns<ValueId>) -> Option<Item> {
        let palette = Palette::new(columns.parts().iter().map(|part| part.0), self.colors.len());
        let values = palette.values();
        if values.is_empty() {
            return None;
        }
        let colors = values.iter().map(|&value| self.color(value)).collect();
        let mut placed = Columns::with_room(columns.len(), columns.parts().len());
        // Place and share as one number each, which sort faster.
        let (mut column, mut last): (Vec<u64>, &[_]) = (Vec::new(), &[]);
        let as_one = |&(value, share): &(ValueId, f32)| {
            // What is drawn low when it is alone is as low in a mixture.
            let share = if self.heights.is_some() { share * self.height(value) } else { share };
            u64::from(palette.place(value)) << 32 | u64::from(share.to_bits())
        };
        for parts in columns.iter() {
            // Many are as the one before.
            if parts != std::mem::replace(&mut last, parts) {
                column.clear();
                column.extend(parts.iter().map(as_one));
                column.sort_unstable();
            }
            #[expect(clippy::cast_possible_truncation, reason = "taken apart as it was put together")]
            placed.push(column.iter().map(|&part| ((part >> 32) as u16, f32::from_bits(part as u32))));
        }
        Some(Item::Cells(Cells { frame, palette: colors, values, columns: placed }))
    }
}

/// The row that each row is inside of: the last one before it that is less deep.
fn outer_rows(depths: impl Iterator<Item = u32>) -> Vec<Option<usize>> {
    let mut open: Vec<(u32, usize)> = Vec::new();
    let mut outer = Vec::new();
    for (at, depth) in depths.enumerate() {
        while open.pop_if(|last| last.0 >= depth).is_some() {}
        outer.push(open.last().map(|last| last.1));
        open.push((depth, at));
    }
    outer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::TypeId;

    #[test]
    fn jobs_are_all_rows_in_order_each_with_some_lanes() {
        let rows = [1, 1, 1, 1, 1, 13, 13, 2, 1, 13];
        let (jobs, all) = jobs(&rows, |&lanes| lanes);
        assert_eq!(jobs, [&[1, 1, 1, 1][..], &[1, 13], &[13], &[2, 1, 13]]);
        assert_eq!(all, rows.iter().sum::<usize>());
        assert_eq!(super::jobs(&[0_usize; 0], |&lanes| lanes), (Vec::new(), 0));
    }

    #[test]
    fn outer_rows_are_less_deep() {
        let found = outer_rows([0, 1, 2, 2, 1, 0, 2].into_iter());
        assert_eq!(found, [None, Some(0), Some(1), Some(1), Some(0), None, Some(5)]);
    }

    #[test]
    fn few_rows_of_many_lanes_are_worth_threads() {
        let strip = |kind| Strip { kind, ty: TypeId(0), y: 0.0, height: 1.0 };
        let members = vec![(ContainerId(1), 2), (ContainerId(2), 3)];
        let deep = [strip(StripKind::States { depths: 13 }), strip(StripKind::Variable { bounds: None })];
        assert_eq!([lanes(&deep), lanes(&[strip(StripKind::Summary { members })]), lanes(&[])], [14, 5, 1]);
        let (jobs, all) = jobs(&[(); 2], |()| lanes(&deep));
        assert_eq!((jobs.len(), threads(all)), (2, MOST_THREADS));
        assert_eq!(threads(lanes(&deep)), 1, "of one row there is one job");
    }
}
