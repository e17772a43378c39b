//! [`CardDrawing`]: a view drawn for the page.

use std::hash::Hasher as _;
use std::sync::Arc;

use serde_json::json;
use tumit_perspectives::chart::ViewChart;
use tumit_perspectives::chart_text;
use tumit_perspectives::diagram::DiagramMode;
use tumit_perspectives::draw::{DrawOptions, draw};
use tumit_perspectives::error::PerspectiveError;
use tumit_perspectives::execution::categories::CategoryRule;
use tumit_perspectives::gallery;
use tumit_perspectives::options::ParsedOptions;
use tumit_perspectives::view::{TimeMode, ViewInfo, ViewRequest};
use tumit_viewer::export::svg;
use tumit_viewer::layout::{ContainerOutline, LayoutOptions};
use tumit_viewer::query::{ContainerId, TimeRange, TimelineSource};
use tumit_viewer::scene::wire::{ColumnDetail, SceneMessage};
use tumit_viewer::scene::{DocumentOptions, Scene, SceneItem, document};
use tumit_viewer::style::theme::ThemeKind;
use twox_hash::XxHash3_64;

use super::card_error::CardError;
use super::card_request::{Card, CardsRequest};
use super::flat_items::flat_items;
use crate::cancellation::CancelFlag;
use crate::filtered_cache::FilteredTrace;

/// The height in units of the title of a drawing, which a card has in its own header.
const TITLE_HEIGHT: f32 = 34.0;
/// The height in units of the heading of a diagram.
const DIAGRAM_HEADING: f32 = 78.0;
/// The distance of the first text of a drawing from the upper edge of its card.
const TOP_MARGIN: f32 = 4.0;

/// A drawing, or the fact that the page has it.
pub(super) struct CardDrawing {
    /// Its JSON text.
    pub(super) json: Vec<u8>,
    /// The byte sections of its scene.
    pub(super) sections: Vec<u8>,
}

/// A scene, and what the page shows about it.
struct CardScene {
    scene: Scene,
    /// The height of the part at the top that the card does not show.
    top: f32,
    subtitle: String,
    notes: Vec<String>,
}

enum ComputedView {
    Chart(ViewChart),
    Diagram(Arc<dyn TimelineSource>),
}

/// What all cards of a request have in common.
#[derive(Clone, Copy)]
pub(super) struct CardContext<'a> {
    pub(super) trace: &'a FilteredTrace,
    pub(super) request: &'a CardsRequest,
    pub(super) range: TimeRange,
    pub(super) rules: &'a [CategoryRule],
    /// The containers of the selection. If it is empty, all units are shown.
    pub(super) within: &'a [ContainerId],
    pub(super) cancel: &'a CancelFlag,
}

impl CardDrawing {
    /// Draws a card.
    pub(super) fn new(card: &Card, context: CardContext<'_>) -> Result<Self, CardError> {
        let size = (bounded(card.width), bounded(card.height));
        let CardContext { request, range, .. } = context;
        let scene = match computed(card, context)? {
            ComputedView::Chart(chart) => of_chart(chart, size, request.theme),
            ComputedView::Diagram(source) => of_diagram(source.as_ref(), size, range, request)?,
        };
        Ok(scene.encode(request.resolution, &card.hash))
    }
}

/// A card as a file: an image, or the table of its numbers.
pub(super) fn card_file(card: &Card, context: CardContext<'_>) -> Result<(&'static str, Vec<u8>), CardError> {
    let (width, height) = (bounded(card.width), bounded(card.height));
    let CardContext { request, range, .. } = context;
    let scene = match computed(card, context)? {
        ComputedView::Chart(chart) if request.format == "csv" => {
            return Ok(("text/csv; charset=utf-8", chart_text::csv(&chart.table).into_bytes()));
        }
        ComputedView::Chart(chart) => {
            draw(&chart, DrawOptions { width, height, theme: request.theme, ..DrawOptions::default() })
        }
        ComputedView::Diagram(_) if request.format == "csv" => {
            return Err(CardError::new("A diagram has no table of numbers.", "Save it as SVG."));
        }
        ComputedView::Diagram(source) => of_diagram(source.as_ref(), (width, height), range, request)?.scene,
    };
    Ok(("image/svg+xml", svg::to_string(&scene).into_bytes()))
}

fn computed(card: &Card, context: CardContext<'_>) -> Result<ComputedView, CardError> {
    let CardContext { trace, request, range, rules, within, cancel } = context;
    let info = info(&card.name)?;
    let mut options = ParsedOptions::parse(info.name, info.options, &card.options()?)?;
    options.execution.categories = rules.to_vec();
    options.execution.units.within = within.to_vec();
    let mode = mode(&info, &card.mode)?;
    if mode == TimeMode::Moving && options.view.width.is_none() {
        options.view.width = Some((range.to.0.saturating_sub(range.from.0) / 20).max(1));
    }
    let time = trace.origin.saturating_add(request.t);
    let columns = columns(bounded(card.width), request.resolution);
    let view_request = ViewRequest { mode, range, time, columns, options: options.view };
    let computed = trace.executions.with(&options.execution, cancel, |execution| {
        if let Some(mode) = DiagramMode::of_name(info.name) {
            return Ok(ComputedView::Diagram(mode.trace(execution, range)?));
        }
        Ok(ComputedView::Chart(gallery::chart(gallery::view(info.name)?, execution, &view_request)?))
    });
    Ok(computed?)
}

impl CardScene {
    fn encode(&self, resolution: f32, known: &str) -> CardDrawing {
        let message = SceneMessage::new(&self.scene, resolution.clamp(1.0, 4.0), ColumnDetail::ALL[0], true).bytes();
        let (length, rest) = message.split_at(size_of::<u32>());
        let length = length.try_into().map_or(0, |bytes| u32::from_le_bytes(bytes) as usize);
        let (head, sections) = rest.split_at(length.min(rest.len()));
        let about = json!({ "subtitle": self.subtitle, "notes": self.notes }).to_string();
        let mut hasher = XxHash3_64::with_seed(0);
        [head, sections, about.as_bytes()].iter().for_each(|part| hasher.write(part));
        let hash = format!("{:016x}", hasher.finish());
        if hash == known {
            return CardDrawing { json: format!(r#"{{"hash":"{hash}"}}"#).into_bytes(), sections: Vec::new() };
        }
        let top = self.top;
        let mut json = format!(r#"{{"hash":"{hash}","top":{top:.1},"about":{about},"scene":"#).into_bytes();
        json.extend_from_slice(head);
        json.push(b'}');
        CardDrawing { json, sections: sections.to_vec() }
    }
}

/// The description of a view.
fn info(name: &str) -> Result<ViewInfo, PerspectiveError> {
    DiagramMode::of_name(name).map_or_else(|| Ok(gallery::view(name)?.info()), |mode| Ok(mode.info()))
}

/// The time mode of a word. By default, the first mode of the view.
fn mode(info: &ViewInfo, word: &str) -> Result<TimeMode, CardError> {
    let default = info.modes.first().copied().unwrap_or(TimeMode::Range);
    if word.is_empty() {
        return Ok(default);
    }
    info.modes.iter().copied().find(|mode| mode.word() == word).ok_or_else(|| {
        let words: Vec<&str> = info.modes.iter().map(|mode| mode.word()).collect();
        let reason = format!("The view has no time mode `{word}`.");
        CardError::new(reason, format!("Choose one of {}.", words.join(", ")))
    })
}

fn bounded(length: f32) -> f32 {
    if length.is_finite() { length.clamp(120.0, 4096.0) } else { 320.0 }
}

/// The number of columns of charts over time. The axis and the margins need some of the width.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
fn columns(width: f32, resolution: f32) -> u32 {
    ((width - 80.0) * resolution.clamp(1.0, 2.0)).max(1.0) as u32
}

fn of_chart(mut chart: ViewChart, (width, height): (f32, f32), theme: ThemeKind) -> CardScene {
    // The card shows the title, the subtitle and the notes as text.
    chart.title.clear();
    let (subtitle, notes) = (std::mem::take(&mut chart.subtitle), std::mem::take(&mut chart.notes));
    let options = DrawOptions { width, height: height + TITLE_HEIGHT, theme, ..DrawOptions::default() };
    let scene = draw(&chart, options);
    let top = (first_text(&scene.items) - TOP_MARGIN).clamp(0.0, TITLE_HEIGHT);
    CardScene { scene, top, subtitle, notes }
}

fn of_diagram(
    source: &dyn TimelineSource,
    (width, height): (f32, f32),
    time_range: TimeRange,
    request: &CardsRequest,
) -> Result<CardScene, CardError> {
    let outline = ContainerOutline::new(source)?;
    let layout = LayoutOptions { theme: request.theme, ..LayoutOptions::default() };
    let resolution = request.resolution.clamp(1.0, 4.0);
    let height = Some(height + DIAGRAM_HEADING);
    let options = DocumentOptions { time_range, width, height, resolution, titles: false };
    let mut scene = document(source, &outline, &layout, options)?;
    let notes = std::mem::take(&mut scene.notes);
    scene.items = flat_items(scene.items);
    Ok(CardScene { scene, top: DIAGRAM_HEADING, subtitle: String::new(), notes })
}

/// The upper edge of the highest text.
fn first_text(items: &[SceneItem]) -> f32 {
    let upper_edge = |item: &SceneItem| match item {
        SceneItem::Group(group) => first_text(&group.items),
        SceneItem::Text(text) => text.at.1 - text.size,
        _ => f32::INFINITY,
    };
    items.iter().map(upper_edge).fold(f32::INFINITY, f32::min)
}
