//! [`CardDrawing`]: a view drawn for the page.

use std::hash::Hasher as _;

use serde_json::{Value, json};
use tumit_perspectives::chart::{ChartPanel, ViewChart};
use tumit_perspectives::chart_text;
use tumit_perspectives::diagram::DiagramMode;
use tumit_perspectives::draw::{ChartImage, DrawOptions, PaletteKind, draw, draw_with_regions, mark_text};
use tumit_perspectives::error::PerspectiveError;
use tumit_viewer::export::svg;
use tumit_viewer::layout::{ContainerOutline, LayoutOptions, RowLayout};
use tumit_viewer::query::QueryError;
use tumit_viewer::scene::wire::{ColumnDetail, SceneMessage};
use tumit_viewer::scene::{DocumentOptions, Scene, SceneItem, document_with_rows};
use tumit_viewer::text::time_display::group_digits;
use twox_hash::XxHash3_64;

use super::card_error::CardError;
use super::card_request::Card;
use super::chart_table_json::{TableRequest, table_json};
use super::computed_view::{CardComputation, CardContext, ComputedDiagram, ComputedView};
use super::diagram_marks::DiagramMarks;
use super::flat_items::flat_items;
use super::region_message::{UnitContainers, region_json};
use super::scene_changes::{region_changes, scene_changes};
use crate::caches::sent_drawings::SentDrawings;

/// The height in scene units of the title of a drawing, which a card has in its own header.
const TITLE_HEIGHT: f32 = 34.0;
/// The height in scene units of the heading of a diagram.
const DIAGRAM_HEADING: f32 = 78.0;
/// The height in scene units of the empty margin at the bottom of a diagram, which a card does not
/// show.
const DIAGRAM_MARGIN: f32 = 28.0;
/// The least height in scene units of the rows of a diagram.
const LEAST_HEIGHT: f32 = 40.0;
/// The distance in scene units of the first text of a drawing from the upper edge of its card.
const TOP_MARGIN: f32 = 4.0;

/// A drawing, or the fact that the page has it.
pub(super) struct CardDrawing {
    /// Its JSON text.
    pub(super) json: Vec<u8>,
    /// The byte sections of its scene.
    pub(super) sections: Vec<u8>,
    pub(super) hash: String,
    /// The hash of the places of its marks.
    pub(super) marks: String,
}

/// A scene, and what the page shows about it.
struct CardScene {
    scene: Scene,
    /// The height of the part at the top that the card does not show.
    top: f32,
    subtitle: String,
    notes: Vec<String>,
    /// The places of the marks.
    regions: Vec<Value>,
    /// The text of the mark that is pointed at.
    text: Option<String>,
}

/// The bytes of a drawing, without those that the page has.
struct EncodedScene {
    /// The JSON text of the scene.
    head: Vec<u8>,
    sections: Vec<u8>,
    top: f32,
    /// The JSON text of the subtitle and the notes.
    description: String,
    hash: String,
    /// The JSON text of the places of marks.
    regions: String,
    marks: String,
    /// The text of the mark that is pointed at.
    text: Option<String>,
}

/// A drawing in the data of an execution.
enum StoredDrawing {
    /// The drawing is the same at all times.
    Constant(EncodedScene),
    /// The drawing differs from time to time.
    Changing,
}

impl CardDrawing {
    /// Draws a card, or lists its numbers. A drawing that is the same at all times is drawn once.
    pub(super) fn new(card: &Card, context: CardContext<'_>) -> Result<Self, CardError> {
        let computation = CardComputation::new(card, context)?;
        let key = computation.constant_key().filter(|_| card.table.is_none() && card.pointed.is_none());
        if let Some(key) = key {
            let key =
                format!("{key} {:?} {:?}", card.bounded_size(), (context.request.theme, context.request.resolution));
            let stored = computation.with_execution(context, |execution| {
                execution.derived(&key, || {
                    StoredDrawing::new(computation.compute(execution)?, computation.palette(), card, context)
                })
            })?;
            if let StoredDrawing::Constant(scene) = stored.as_ref() {
                return Ok(scene.for_page(card, context.sent_drawings));
            }
        }
        if let Some(table) = card.table
            && let Some(chart) =
                computation.with_execution(context, |execution| computation.diagram_numbers(execution))?
        {
            return Ok(Self::of_table(chart, table, &card.hash));
        }
        let palette = computation.palette();
        let scene = match (computation.with_execution(context, |execution| computation.compute(execution))?, card.table)
        {
            (ComputedView::Chart(chart, _), Some(table)) => return Ok(Self::of_table(*chart, table, &card.hash)),
            (ComputedView::Chart(chart, units), None) => of_chart(*chart, palette, &units, card, context),
            (ComputedView::Diagram(diagram, units), _) => of_diagram(&diagram, &units, card, context)?,
        };
        Ok(scene.encode(context.request.resolution).for_page(card, context.sent_drawings))
    }

    /// The numbers of a chart.
    fn of_table(chart: ViewChart, request: TableRequest, known_digest: &str) -> Self {
        let description = json!({ "subtitle": chart.subtitle, "notes": chart.notes });
        let table = table_json(chart.table, request);
        let hash = hash_of(&[description.to_string().as_bytes(), table.to_string().as_bytes()]);
        let json = if hash == known_digest {
            json!({ "hash": hash })
        } else {
            json!({ "hash": hash, "about": description, "table": table })
        };
        Self { json: json.to_string().into_bytes(), sections: Vec::new(), hash, marks: String::new() }
    }
}

/// A card as a file: an image, or the table of its numbers.
pub(super) fn card_file(card: &Card, context: CardContext<'_>) -> Result<(&'static str, Vec<u8>), CardError> {
    let ((width, height), theme) = (card.bounded_size(), context.request.theme);
    let computation = CardComputation::new(card, context)?;
    let palette = computation.palette();
    let is_table = context.request.format == "csv";
    if is_table
        && let Some(chart) = computation.with_execution(context, |execution| computation.diagram_numbers(execution))?
    {
        return Ok(("text/csv; charset=utf-8", chart_text::csv(&chart.table).into_bytes()));
    }
    let scene = match computation.with_execution(context, |execution| computation.compute(execution))? {
        ComputedView::Chart(chart, _) if is_table => {
            return Ok(("text/csv; charset=utf-8", chart_text::csv(&chart.table).into_bytes()));
        }
        ComputedView::Chart(chart, _) => {
            draw(&chart, DrawOptions::new(width, height).with_theme(theme).with_palette(palette))
        }
        ComputedView::Diagram(diagram, units) => of_diagram(&diagram, &units, card, context)?.scene,
    };
    Ok(("image/svg+xml", svg::to_string(&scene).into_bytes()))
}

fn hash_of(parts: &[&[u8]]) -> String {
    let mut hasher = XxHash3_64::with_seed(0);
    parts.iter().for_each(|part| hasher.write(part));
    format!("{:016x}", hasher.finish())
}

impl StoredDrawing {
    fn new(
        view: ComputedView,
        palette: PaletteKind,
        card: &Card,
        context: CardContext<'_>,
    ) -> Result<Self, PerspectiveError> {
        let scene = match view {
            ComputedView::Chart(chart, _) if chart.panels.iter().any(|panel| marks_time(&panel.panel)) => {
                return Ok(Self::Changing);
            }
            ComputedView::Chart(chart, units) => of_chart(*chart, palette, &units, card, context),
            ComputedView::Diagram(diagram, units) => of_diagram(&diagram, &units, card, context)?,
        };
        Ok(Self::Constant(scene.encode(context.request.resolution)))
    }
}

impl CardScene {
    fn encode(self, resolution: f32) -> EncodedScene {
        let message = SceneMessage::new(&self.scene, resolution.clamp(1.0, 4.0), ColumnDetail::ALL[0], true).bytes();
        let (length, rest) = message.split_at(size_of::<u32>());
        let length = length.try_into().map_or(0, |bytes| u32::from_le_bytes(bytes) as usize);
        let (head, sections) = rest.split_at(length.min(rest.len()));
        let description = json!({ "subtitle": self.subtitle, "notes": self.notes }).to_string();
        let hash = hash_of(&[head, sections, description.as_bytes()]);
        let regions = Value::from(self.regions).to_string();
        let marks = hash_of(&[regions.as_bytes()]);
        let (head, sections) = (head.to_vec(), sections.to_vec());
        EncodedScene { head, sections, top: self.top, description, hash, regions, marks, text: self.text }
    }
}

impl EncodedScene {
    /// The drawing, without the parts that the page has.
    fn for_page(&self, card: &Card, sent_drawings: &SentDrawings) -> CardDrawing {
        let Self { head, sections, top, description, hash, regions, marks, text } = self;
        let mut json = format!(r#"{{"hash":"{hash}""#);
        if let Some(text) = text {
            json.push_str(&format!(r#","text":{}"#, json!(text)));
        }
        if *marks != card.marks {
            let changes = changes(regions.as_bytes(), &card.marks, sent_drawings, region_changes);
            let (base, regions) = changes.as_deref().map_or(("", regions.as_str()), |changes| (BASE, changes));
            json.push_str(&format!(r#","marks":{{"hash":"{marks}"{base},"regions":{regions}}}"#));
        }
        let is_known = *hash == card.hash;
        let mut json = json.into_bytes();
        if !is_known {
            let changes = changes(head, &card.hash, sent_drawings, scene_changes);
            let (base, scene) = changes.as_ref().map_or(("", &head[..]), |changes| (BASE, changes.as_bytes()));
            json.extend_from_slice(format!(r#"{base},"top":{top:.1},"about":{description},"scene":"#).as_bytes());
            json.extend_from_slice(scene);
        }
        json.push(b'}');
        sent_drawings.add(hash, head);
        sent_drawings.add(marks, regions.as_bytes());
        let sections = if is_known { Vec::new() } else { sections.clone() };
        CardDrawing { json, sections, hash: hash.clone(), marks: marks.clone() }
    }
}

/// The mark of an answer that has the changes of an earlier one.
const BASE: &str = r#","base":true"#;

/// The changes of a JSON text, if the page has an earlier one that is still known, and if they are
/// shorter.
fn changes(
    text: &[u8],
    known_digest: &str,
    drawings: &SentDrawings,
    difference: fn(Value, &Value) -> Value,
) -> Option<String> {
    let earlier = drawings.text(known_digest)?;
    let (text_json, earlier) = (serde_json::from_slice(text).ok()?, serde_json::from_slice(&earlier).ok()?);
    Some(difference(text_json, &earlier).to_string()).filter(|changes| changes.len() < text.len())
}

/// Whether a panel marks the time cursor after [`remove_cursor`].
fn marks_time(panel: &ChartPanel) -> bool {
    matches!(panel, ChartPanel::Portrait(_))
}

fn of_chart(
    mut chart: ViewChart,
    palette: PaletteKind,
    units: &UnitContainers,
    card: &Card,
    context: CardContext<'_>,
) -> CardScene {
    let (width, height) = card.bounded_size();
    // The card shows the title, the subtitle and the notes as text.
    chart.title.clear();
    let (subtitle, notes) = (std::mem::take(&mut chart.subtitle), std::mem::take(&mut chart.notes));
    chart.panels.iter_mut().for_each(|panel| remove_cursor(&mut panel.panel));
    let theme = context.request.theme;
    let options = DrawOptions::new(width, height + TITLE_HEIGHT).with_theme(theme).with_palette(palette);
    let ChartImage { scene, regions, .. } = draw_with_regions(&chart, options);
    let top = (first_text(&scene.items) - TOP_MARGIN).clamp(0.0, TITLE_HEIGHT);
    let text = card.pointed.and_then(|(region, mark)| mark_text(&chart, regions.get(region)?, mark));
    let regions = regions.iter().map(|region| region_json(region, units, context.trace.origin)).collect();
    CardScene { scene, top, subtitle, notes, regions, text }
}

/// Removes the line of the time cursor. The page draws it, so that the drawing stays the same
/// while the time moves.
fn remove_cursor(panel: &mut ChartPanel) {
    match panel {
        ChartPanel::Levels(chart) => chart.cursor = None,
        ChartPanel::Scatter(chart) => chart.cursor = None,
        _ => {}
    }
}

fn of_diagram(
    ComputedDiagram { diagram, range }: &ComputedDiagram,
    units: &UnitContainers,
    card: &Card,
    context: CardContext<'_>,
) -> Result<CardScene, QueryError> {
    let (width, height) = card.bounded_size();
    let (source, range) = (diagram.source.as_ref(), *range);
    let outline = ContainerOutline::new(source)?;
    let mut layout = diagram.layout(LayoutOptions { theme: context.request.theme, ..LayoutOptions::default() });
    let resolution = context.request.resolution.clamp(1.0, 4.0);
    let room = height + DIAGRAM_HEADING + DIAGRAM_MARGIN;
    let options = DocumentOptions { time_range: range, width, height: Some(room), resolution, titles: false };
    let (mut scene, mut rows) = document_with_rows(source, &outline, &layout, options)?;
    let (excess, drawn_height) = (scene.height - room, rows.layout.height);
    // Bundles of units are no deeper level that could be folded.
    if excess > 1.0 && diagram.units_per_row == 1 {
        // The natural height of the rows has the same ratio to the height that there is room for.
        let natural = RowLayout::new(&outline, &layout).height;
        let rows_room = natural * (drawn_height - excess).max(LEAST_HEIGHT) / drawn_height.max(1.0);
        layout.folds.level = RowLayout::level_that_fits(&outline, &layout, rows_room);
        (scene, rows) = document_with_rows(source, &outline, &layout, options)?;
    }
    let mut notes = std::mem::take(&mut scene.notes);
    notes.extend(layout.folds.level.map(|_| "The rows are folded, because the card has no room for all.".to_owned()));
    notes.extend((diagram.units_per_row > 1).then(|| {
        let digits = group_digits(diagram.units_per_row as u64);
        format!("Each row is the mean of up to {digits} adjacent units, because the card has no room for all.")
    }));
    scene.items = flat_items(scene.items);
    let mode = DiagramMode::of_name(&card.name);
    let leaves = &diagram.units;
    let marks = DiagramMarks { source, outline: &outline, leaves, options: &layout, rows, range, mode };
    let regions = vec![marks.region_json(units, context.trace.origin)];
    let text = card.pointed.map(|(_, mark)| marks.text(mark)).transpose()?.flatten();
    Ok(CardScene { scene, top: DIAGRAM_HEADING, subtitle: String::new(), notes, regions, text })
}

/// The upper edge of the highest text.
fn first_text(items: &[SceneItem]) -> f32 {
    let upper_edge = |item: &SceneItem| match item {
        SceneItem::Group(group) => first_text(&group.items),
        SceneItem::Text(text) => text.position.1 - text.size,
        _ => f32::INFINITY,
    };
    items.iter().map(upper_edge).fold(f32::INFINITY, f32::min)
}
