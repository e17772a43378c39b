//! Collective operations as one: a line joins the times at which the parts enter, and a disc marks
//! the last entry. They are drawn on demand only.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_paje::MarkShape;
use tumit_paje::collective::OPERATION;

use super::bidi_isolate::isolate_name;
use super::diagram_context::DiagramContext;
use super::primitives::{OutlineRect, SceneCurve, SceneItem, SceneMark, SceneStroke};
use crate::layout::JoinedOperations;
use crate::query::{EntityFacts, EntityId, OperationFacts, QueryError};
use crate::style::theme::ColorWithOpacity;
use crate::text::time_display::{duration, group_digits};

/// Minimum average distance of the lines. Closer lines cannot be followed.
const DISTANCE: f32 = 4.0;
/// Width of a line, and of the line with the margin around it.
const WIDTHS: [f32; 2] = [1.5, 4.0];
/// Size of the disc.
const DISC: f32 = 8.0;
/// Distance from the image at which a line may end.
const MARGIN: f32 = 1000.0;

/// The lines, and a note if there are too many.
#[derive(Default)]
pub(crate) struct OperationLines {
    pub(crate) items: Vec<SceneItem>,
    pub(crate) note: Option<String>,
}

/// An operation of the image.
struct DrawnOperation {
    facts: EntityFacts,
    operation: OperationFacts,
}

/// Draws the lines over the items of an image. Also adds the facts of the operations to the titles
/// of their parts.
pub(crate) fn lines(context: &DiagramContext<'_>, items: &mut [SceneItem]) -> Result<OperationLines, QueryError> {
    let states = match context.options.joined_operations {
        JoinedOperations::None => return Ok(OperationLines::default()),
        JoinedOperations::All => one_state_each(context, items)?,
        JoinedOperations::Of(id) => vec![id],
    };
    if let Some(note) = reason_for_none(context, states.len()) {
        return Ok(OperationLines { note: Some(note), ..OperationLines::default() });
    }
    let mut lines = OperationLines::default();
    for state in states {
        // A filter may have removed the chosen state.
        let Ok(facts) = context.source.facts(state) else { continue };
        if let Some(operation) = OperationFacts::of(context.source, &facts)? {
            let drawn = DrawnOperation { facts, operation };
            drawn.add_titles(context, items)?;
            drawn.draw(context, items, &mut lines.items)?;
        }
    }
    Ok(lines)
}

/// The reason why no operation is drawn, if all of them should be.
fn reason_for_none(context: &DiagramContext<'_>, operations: usize) -> Option<String> {
    #[expect(clippy::cast_precision_loss, reason = "a number of lines")]
    let distance = context.view.width / operations as f32;
    match context.options.joined_operations {
        JoinedOperations::All if context.model.collective_values.is_empty() => {
            Some("no state has the fields of a collective operation".to_owned())
        }
        JoinedOperations::All if operations == 0 => Some(
            "no part of a collective operation is wide enough to be drawn alone; choose another or a shorter interval"
                .to_owned(),
        ),
        JoinedOperations::All if distance < DISTANCE => Some(format!(
            "{} collective operations are too many to be joined by lines; choose a shorter interval",
            group_digits(operations as u64)
        )),
        _ => None,
    }
}

/// A state of each operation that has a state in the image, in the order of the items.
fn one_state_each(context: &DiagramContext<'_>, items: &[SceneItem]) -> Result<Vec<EntityId>, QueryError> {
    if context.model.collective_values.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<EntityId> = items.iter().filter_map(state_of).map(|(id, _)| id).collect();
    let operations = context.source.number_fields(&ids, OPERATION)?;
    let mut drawn_operations = FxHashSet::default();
    let ids_with_numbers = ids.into_iter().zip(operations);
    Ok(ids_with_numbers
        .filter(|(_, number)| number.is_some_and(|number| drawn_operations.insert(number.to_bits())))
        .map(|pair| pair.0)
        .collect())
}

/// The state that an item shows, and its rectangle.
fn state_of(item: &SceneItem) -> Option<(EntityId, OutlineRect)> {
    match item {
        SceneItem::Rect(rect) => rect.id.filter(|id| matches!(id, EntityId::State(_))).map(|id| (id, rect.frame)),
        _ => None,
    }
}

impl DrawnOperation {
    /// A sentence about the whole operation.
    fn sentence(&self, context: &DiagramContext<'_>) -> Result<String, QueryError> {
        let OperationFacts { kind, parts, last, .. } = &self.operation;
        let last = context.source.facts(last.id)?;
        Ok(format!(
            "{}: {} of {} parts, {} enters last, {} after the first",
            isolate_name(&self.facts.name),
            kind.word(),
            group_digits(parts.len() as u64),
            last.container_path.last().map_or_else(String::new, |name| isolate_name(name).into_owned()),
            duration(self.operation.entry_spread())
        ))
    }

    /// Adds the sentence about the operation to the titles of its parts.
    fn add_titles(&self, context: &DiagramContext<'_>, items: &mut [SceneItem]) -> Result<(), QueryError> {
        if !context.view.titles {
            return Ok(());
        }
        let ids = self.ids();
        let sentence = self.sentence(context)?;
        for item in items {
            if let SceneItem::Rect(rect) = item
                && rect.id.is_some_and(|id| ids.contains(&id))
                && let Some(title) = &mut rect.title
            {
                title.push_str("; ");
                title.push_str(&sentence);
            }
        }
        Ok(())
    }

    fn ids(&self) -> FxHashSet<EntityId> {
        self.operation.parts.iter().map(|part| part.id).collect()
    }

    /// Draws the line and the disc. The parts of a chosen operation are outlined, too.
    fn draw(
        &self,
        context: &DiagramContext<'_>,
        items: &[SceneItem],
        out: &mut Vec<SceneItem>,
    ) -> Result<(), QueryError> {
        let ids = self.ids();
        let frames: FxHashMap<EntityId, OutlineRect> =
            items.iter().filter_map(state_of).filter(|(id, _)| ids.contains(id)).collect();
        if matches!(context.options.joined_operations, JoinedOperations::Of(_)) {
            let frames = self.operation.parts.iter().filter_map(|part| frames.get(&part.id));
            frames.for_each(|frame| out.extend(curves(context, outline(*frame))));
        }
        let mut rows: BTreeMap<usize, RowEntries> = BTreeMap::new();
        let mut last = None;
        for part in &self.operation.parts {
            let container = context.source.facts_without_paths(part.id)?.container;
            let Some(row) = context.layout.index_of(container) else { continue };
            let x = context.scale.x(part.enter).clamp(-MARGIN, context.view.width + MARGIN);
            let y = frames
                .get(&part.id)
                .map_or_else(|| context.layout.rows[row].anchor(), |frame| frame.y + frame.height / 2.0);
            let entries = rows.entry(row).or_insert(RowEntries { y, first: x, last: x });
            entries.last = x;
            if part.id == self.operation.last.id {
                last = Some((x, entries.y));
            }
        }
        let points = rows.values().flat_map(|&RowEntries { y, first, last }| {
            std::iter::once((first, y)).chain((last > first).then_some((last, y)))
        });
        out.extend(curves(context, points.collect()));
        if let Some(position) = last {
            out.extend(self.disc(context, position)?);
        }
        Ok(())
    }

    /// The disc at the last entry, with a margin.
    fn disc(&self, context: &DiagramContext<'_>, (x, y): (f32, f32)) -> Result<[SceneItem; 2], QueryError> {
        let mark = |size: f32, color, title| {
            let mut mark = SceneMark {
                position: (x, y),
                shape: MarkShape::Circle,
                size,
                fill: ColorWithOpacity::from_opaque(color),
                id: None,
                title,
            };
            mark.position.1 += mark.height() / 2.0;
            SceneItem::Mark(mark)
        };
        let title = if context.view.titles { Some(self.sentence(context)?) } else { None };
        Ok([mark(DISC + 3.0, context.theme.paper, None), mark(DISC, context.theme.ink, title)])
    }
}

/// The entries of the parts in one row. A folded row may have thousands.
#[derive(Clone, Copy)]
struct RowEntries {
    y: f32,
    first: f32,
    last: f32,
}

/// The corners of a rectangle, the first one twice.
fn outline(frame: OutlineRect) -> Vec<(f32, f32)> {
    let OutlineRect { x, y, .. } = frame;
    vec![(x, y), (frame.right(), y), (frame.right(), frame.bottom()), (x, frame.bottom()), (x, y)]
}

/// A line with a margin, so that it stands out from states of any colour.
fn curves(context: &DiagramContext<'_>, points: Vec<(f32, f32)>) -> [SceneItem; 2] {
    let curve = |points: Vec<(f32, f32)>, width: f32, color| {
        let stroke = Some(SceneStroke { paint: ColorWithOpacity::from_opaque(color), width });
        SceneItem::Curve(SceneCurve { points, floor: None, fill: None, stroke })
    };
    let [thin, wide] = WIDTHS;
    [curve(points.clone(), wide, context.theme.paper), curve(points, thin, context.theme.ink)]
}
