//! The rows of a time range as primitives: tracks, states, curves and events, and the arrows on
//! top.

use super::diagram_context::{DiagramContext, Viewport};
use super::primitives::{FilledRect, OutlineRect, Scene, SceneItem};
use super::{links, marks, operations, state_labels, states, variables};
use crate::layout::{ContainerOutline, LayoutOptions, LayoutRow, RowLayout, RowStrip, StripKind};
use crate::parallel_map::{MAX_THREADS, map_in_order};
use crate::query::{ContainerId, QueryError, TimelineSource};

/// Minimum number of lanes per thread. A row has one lane, or as many as calls are nested.
const LANES_PER_THREAD: usize = 8;
/// Approximate number of lanes in a job of one thread.
const LANES_PER_JOB: usize = 4;

/// The output of one drawing job.
#[derive(Default)]
struct ThreadDrawing {
    items: Vec<SceneItem>,
    /// Items on top of all rows.
    overlay_items: Vec<SceneItem>,
    /// States that need a name. Names are written once all arrows are known.
    names: Vec<state_labels::LabelRequest>,
    notes: Vec<String>,
}

/// Draws the rows. The origin is the top left corner of the first row at the time range's start.
/// Rows outside of the view are left out.
///
/// # Errors
/// If the source cannot answer.
pub fn diagram(
    source: &dyn TimelineSource,
    layout: &RowLayout,
    options: &LayoutOptions,
    view: Viewport,
) -> Result<Scene, QueryError> {
    let context = DiagramContext::new(source, layout, options, view);
    // Pinned rows are visible regardless of the scroll position.
    let is_seen = |row: &LayoutRow| row.is_pinned || !(row.y > view.bottom || row.y + row.height < view.top);
    let seen_rows: Vec<usize> = (0..layout.rows.len()).filter(|&row_index| is_seen(&layout.rows[row_index])).collect();
    // Links lie on top of all rows. They may take as long as many rows, so their job starts first.
    let (jobs, lanes) = jobs(&seen_rows, |&row_index| lanes(&layout.rows[row_index].strips));
    let jobs: Vec<Option<&[usize]>> = std::iter::once(None).chain(jobs.into_iter().map(Some)).collect();
    let threads = threads(lanes);
    let mut parts =
        map_in_order(jobs, threads, |rows| rows.map_or_else(|| context.links(), |rows| context.rows(rows))).into_iter();
    let links = parts.next().transpose()?.unwrap_or_default();
    let mut drawing = ThreadDrawing { notes: links.notes, ..ThreadDrawing::default() };
    for part in parts {
        let part = part?;
        drawing.items.extend(part.items);
        drawing.overlay_items.extend(part.overlay_items);
        drawing.names.extend(part.names);
    }
    let operations = operations::lines(&context, &mut drawing.items)?;
    drawing.notes.extend(operations.note);
    let names = state_labels::draw(&context, &drawing.names, &links.items);
    let items =
        [drawing.items, drawing.overlay_items, links.items, operations.items, names].into_iter().flatten().collect();
    let is_quick = seen_rows
        .iter()
        .flat_map(|&row_index| &layout.rows[row_index].strips)
        .any(|strip| states::is_quick(&context, strip));
    Ok(Scene { width: view.width, height: layout.height, items, notes: drawing.notes, is_quick, ..Scene::default() })
}

/// Divides rows into jobs of at least [`LANES_PER_JOB`] lanes. Also returns the total number of
/// lanes.
fn jobs<R>(mut rows: &[R], lanes: impl Fn(&R) -> usize) -> (Vec<&[R]>, usize) {
    let (mut jobs, mut all) = (Vec::new(), 0);
    while !rows.is_empty() {
        let (mut count, mut some) = (0, 0);
        while let Some(row) = rows.get(count).filter(|_| some < LANES_PER_JOB) {
            some += lanes(row);
            count += 1;
        }
        let (job, remainder) = rows.split_at(count);
        jobs.push(job);
        (rows, all) = (remainder, all + some);
    }
    (jobs, all)
}

/// Number of threads that are worth starting.
fn threads(lanes: usize) -> usize {
    if lanes < 2 * LANES_PER_THREAD { 1 } else { MAX_THREADS }
}

/// Approximate number of lanes of a row with these strips.
fn lanes(strips: &[RowStrip]) -> usize {
    let lanes = strips.iter().map(|strip| match &strip.kind {
        StripKind::States { depths } => *depths as usize,
        StripKind::Summary { members } => members.iter().map(|member| member.depths as usize).sum(),
        StripKind::Events { .. } | StripKind::Variable { .. } | StripKind::Gradient { .. } => 1,
    });
    lanes.sum::<usize>().max(1)
}

/// Draws the mean mixture of all states over the whole width, as an overview of the trace.
///
/// # Errors
/// If the source cannot answer.
pub fn overview(
    source: &dyn TimelineSource,
    outline: &ContainerOutline,
    options: &LayoutOptions,
    view: Viewport,
) -> Result<Scene, QueryError> {
    let layout = RowLayout::new(outline, options);
    // A row of this height cannot show more.
    let context = DiagramContext::new(source, &layout, options, Viewport { is_quick: true, ..view });
    let members = |ty| outline.states_in_subtree(ContainerId::ROOT, ty);
    let types = outline.state_types_in_subtree(ContainerId::ROOT);
    let mut items = Vec::new();
    if let Some(ty) =
        types.into_iter().filter(|ty| !options.hidden_types.contains(ty)).max_by_key(|&ty| members(ty).len())
    {
        let kind = StripKind::Summary { members: Vec::new() };
        let strip = RowStrip { kind, ty, y: 0.0, height: view.bottom };
        states::summary(&context, &strip, &members(ty), &mut items)?;
    }
    Ok(Scene { width: view.width, height: view.bottom, items, ..Scene::default() })
}

impl DiagramContext<'_> {
    /// Draws some rows. Returns the items below and on top of all rows.
    fn rows(&self, rows: &[usize]) -> Result<ThreadDrawing, QueryError> {
        let mut part = ThreadDrawing::default();
        for &index in rows {
            let row = &self.layout.rows[index];
            for strip in &row.strips {
                let frame = OutlineRect::new(0.0, strip.y, self.view.width, strip.height);
                if !matches!(strip.kind, StripKind::Events { .. }) {
                    part.items.push(SceneItem::Rect(FilledRect::decoration(frame, self.theme.track, 0.0)));
                }
                match &strip.kind {
                    StripKind::States { depths } => {
                        states::strip(self, index, (strip, *depths), &mut part.items, &mut part.names)?;
                    }
                    StripKind::Summary { members } => states::summary(self, strip, members, &mut part.items)?,
                    StripKind::Events { types } => {
                        marks::draw_event_strip(self, index, strip, types, &mut part.overlay_items)?;
                    }
                    StripKind::Gradient { bounds } => {
                        part.items.extend(variables::gradient(self, row.container, strip, *bounds)?);
                    }
                    StripKind::Variable { bounds } => {
                        variables::strip(self, row.container, strip, *bounds, &mut part.items)?;
                    }
                }
            }
        }
        Ok(part)
    }

    /// Draws the links, which lie on top of all rows.
    fn links(&self) -> Result<ThreadDrawing, QueryError> {
        let (items, notes) = links::arrows(self)?;
        Ok(ThreadDrawing { items, notes, ..ThreadDrawing::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::SummaryMember;
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
    fn few_rows_of_many_lanes_use_several_threads() {
        let strip = |kind| RowStrip { kind, ty: TypeId(0), y: 0.0, height: 1.0 };
        let member = |id, depths| SummaryMember { container: ContainerId(id), depths };
        let members = vec![member(1, 2), member(2, 3)];
        let deep = [strip(StripKind::States { depths: 13 }), strip(StripKind::Variable { bounds: None })];
        assert_eq!([lanes(&deep), lanes(&[strip(StripKind::Summary { members })]), lanes(&[])], [14, 5, 1]);
        let (jobs, all) = jobs(&[(); 2], |()| lanes(&deep));
        assert_eq!((jobs.len(), threads(all)), (2, MAX_THREADS));
        assert_eq!(threads(lanes(&deep)), 1, "one row has one job");
    }
}
