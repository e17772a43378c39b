//! A whole page: heading, names, ruler, rows and legend. `tumit view --output` draws it.

mod legend_lines;

use super::diagram::diagram;
use super::diagram_context::Viewport;
use super::primitives::{FilledRect, OutlineRect, Scene, SceneGroup, SceneItem, SceneLine, SceneText, TextAnchor};
use super::{legend, number};
use crate::layout::scale::TimeScale;
use crate::layout::{ContainerOutline, FoldedContainers, LayoutOptions, LayoutRow, RowLayout, RowStrip, StripKind};
use crate::query::{QueryError, TimeRange, TimelineSource, TraceSummary, TypeModel};
use crate::style::theme::font::{self, FontWeight};
use crate::style::theme::{ColorTheme, ColorWithOpacity};
use crate::text::time_display::{duration, group_digits, timestamp};
use legend_lines::DocumentLegend;

/// Size and time range of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DocumentOptions {
    /// The time from the left edge of the rows to the right edge.
    pub time_range: TimeRange,
    /// Width in scene units.
    pub width: f32,
    /// Height in scene units. By default, the height of the rows.
    pub height: Option<f32>,
    /// Pixels per scene unit.
    pub resolution: f32,
    /// Whether entities have sentences for an SVG's `<title>`.
    pub titles: bool,
}

// All sizes and distances are in scene units.

/// The empty border of a document.
const MARGIN: f32 = 36.0;
/// Height of the two lines of the heading.
const HEADING: f32 = 58.0;
/// Height of the ruler with its labels.
const RULER: f32 = 26.0;
/// Distance between the rows and the legend. The notes are in it.
const LEGEND_GAP: f32 = 26.0;
/// Maximum indentation of the deepest level of names, so that their texts have room.
const MAX_INDENT: f32 = 110.0;
/// Minimum scale of the rows' natural height, to fit a given height.
const MIN_SCALE: f32 = 0.05;
/// Maximum number of pixels of an image. Programs that show images reject much larger ones. If the
/// rows need more, containers are folded.
pub(crate) const MAX_PIXELS: f32 = 128e6;
/// Size of the bounds of a variable, which are less important than names.
const BOUND_SIZE: f32 = 9.0;
/// The smallest size of the names of rows that is easy to read.
const LEAST_NAME_SIZE: f32 = 8.5;
/// Size of the name of the trace.
const NAME_SIZE: f32 = 24.0;
/// The size to which a long name shrinks before it is cut.
const SMALLEST_NAME: f32 = 14.0;
/// Size of the duration beside the name.
const DURATION_SIZE: f32 = 18.0;
/// Size of the second line of the heading.
const HEADING_SIZE: f32 = 12.5;
/// Size of the ruler's labels.
const RULER_SIZE: f32 = 11.0;
/// Distance between the ruler and its base timestamp.
const RULER_GAP: f32 = 12.0;

/// The shared data of the parts of the page.
struct DocumentPage<'a> {
    theme: ColorTheme,
    summary: TraceSummary,
    model: &'a TypeModel,
    layout: RowLayout,
    options: DocumentOptions,
    /// Width of the column of names.
    names: f32,
    /// Distance between two levels of names.
    indent: f32,
    /// Width of the column with the smallest and largest values of variables.
    gutter: f32,
    /// Left edge of the rows.
    left: f32,
    /// Top edge of the rows.
    top: f32,
    scale: TimeScale,
}

struct FittedRows {
    layout: RowLayout,
    /// A sentence for the user if containers are folded.
    note: Option<String>,
}

impl FittedRows {
    /// Lays out the rows. If they need too many pixels, containers are folded. `frame_height` is
    /// the height of the page without them.
    fn new(outline: &ContainerOutline, options: &LayoutOptions, document: &DocumentOptions, frame_height: f32) -> Self {
        let lay_out = |options: &LayoutOptions| match document.height {
            Some(height) => {
                RowLayout::fill_height(outline, options, (height - frame_height).max(40.0), MIN_SCALE..=4.0)
            }
            None => RowLayout::new(outline, options),
        };
        let layout = lay_out(options);
        let max_height = MAX_PIXELS / (document.width * document.resolution * document.resolution) - frame_height;
        if layout.height <= max_height || options.folds.level.is_some() {
            return Self { layout, note: None };
        }
        // Shows as many rows as fit, if folding can make them few enough.
        let room = document.height.map_or(max_height, |height| (height - frame_height).max(40.0) / MIN_SCALE);
        let Some(level) = RowLayout::level_that_fits(outline, options, room) else {
            return Self { layout, note: None };
        };
        let folds = FoldedContainers { level: Some(level), ..options.folds.clone() };
        let note = format!(
            "containers of level {level} are folded, because {} rows are too many for an image",
            group_digits(layout.rows.len() as u64)
        );
        Self { layout: lay_out(&LayoutOptions { folds, ..options.clone() }), note: Some(note) }
    }
}

/// The rows of a page: their layout and their area.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DocumentRows {
    /// The rows. Their heights begin at the top of the area.
    pub layout: RowLayout,
    /// The area, from the start of the time range to its end.
    pub frame: OutlineRect,
}

/// Draws a page.
///
/// # Errors
/// If the source cannot answer.
pub fn document(
    source: &dyn TimelineSource,
    outline: &ContainerOutline,
    options: &LayoutOptions,
    of: DocumentOptions,
) -> Result<Scene, QueryError> {
    Ok(document_with_rows(source, outline, options, of)?.0)
}

/// Draws a page, and returns the places of its rows.
///
/// # Errors
/// If the source cannot answer.
pub fn document_with_rows(
    source: &dyn TimelineSource,
    outline: &ContainerOutline,
    options: &LayoutOptions,
    document: DocumentOptions,
) -> Result<(Scene, DocumentRows), QueryError> {
    let (model, theme) = (source.model(), ColorTheme::new(options.theme));
    let groups = legend(source, outline, document.time_range, theme)?;
    let inner = document.width - 2.0 * MARGIN;
    let legend_lines = DocumentLegend::new(&groups, &options.dimmed_values, inner, theme);
    let frame_height = MARGIN + HEADING + RULER + LEGEND_GAP + legend_lines.height + MARGIN;
    let FittedRows { layout, note } = FittedRows::new(outline, options, &document, frame_height);
    let names = names_width(&layout, &model).min(document.width * 0.3);
    let gutter = gutter(&layout);
    let left = MARGIN + names + gutter;
    let top = MARGIN + HEADING + RULER;
    let width = (document.width - left - MARGIN).max(40.0);
    let page = DocumentPage {
        theme,
        summary: source.summary(),
        model: &model,
        indent: indent(&layout),
        layout,
        options: document,
        names,
        gutter,
        left,
        top,
        scale: TimeScale { time_range: document.time_range, width },
    };
    let rows = page.layout.height;
    let view = Viewport {
        time_range: document.time_range,
        width,
        top: 0.0,
        bottom: rows,
        resolution: document.resolution,
        titles: document.titles,
        is_quick: false,
    };
    let mut rows_scene = diagram(source, &page.layout, options, view)?;
    rows_scene.notes.extend(note);

    let mut items = page.heading();
    items.extend(page.panels());
    items.extend(page.ruler());
    items.extend(page.names());
    let window = Some(OutlineRect::new(0.0, 0.0, width, rows));
    items.push(SceneItem::Group(SceneGroup { name: "Rows".into(), x: left, y: top, window, items: rows_scene.items }));
    let notes =
        SceneText::new((document.width - MARGIN, top + rows + 16.0), rows_scene.notes.join("; "), 11.0, theme.muted);
    items.extend((!rows_scene.notes.is_empty()).then(|| SceneItem::Text(notes.with_anchor(TextAnchor::End))));
    let legend_top = top + rows + LEGEND_GAP;
    items.push(legend_group(legend_lines.items, legend_top));
    let height = document.height.unwrap_or(0.0).max(frame_height + rows).ceil();
    let scene = Scene {
        width: document.width,
        height,
        background: Some(theme.paper),
        title: format!("Space-time diagram of {}", page.summary.name),
        description: page.description(&rows_scene.notes),
        time_range: Some(document.time_range),
        items,
        is_quick: false,
        notes: rows_scene.notes,
    };
    Ok((scene, DocumentRows { layout: page.layout, frame: OutlineRect::new(left, top, width, rows) }))
}

fn legend_group(items: Vec<SceneItem>, y: f32) -> SceneItem {
    SceneItem::Group(SceneGroup { name: "Legend".into(), x: MARGIN, y, window: None, items })
}

impl DocumentPage<'_> {
    fn time_range_text(&self) -> String {
        let time_range = self.options.time_range;
        let resolution = (self.scale.nanos() / 1000).max(1);
        format!("{} – {}", timestamp(time_range.from, resolution), timestamp(time_range.to, resolution))
    }

    /// The description for screen readers.
    fn description(&self, notes: &[String]) -> String {
        format!(
            "{}; {} rows; time runs from left to right.{}",
            self.time_range_text(),
            self.layout.rows.len(),
            notes.iter().map(|note| format!(" {note}.")).collect::<String>()
        )
    }

    fn heading(&self) -> Vec<SceneItem> {
        let summary = &self.summary;
        let right = self.options.width - MARGIN;
        let counts = [
            (summary.containers, "container"),
            (summary.states, "state"),
            (summary.links, "link"),
            (summary.events, "event"),
            (summary.samples, "sample"),
        ];
        let parts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{} {name}{}", group_digits(*count), if *count == 1 { "" } else { "s" }))
            .collect();
        let is_empty = summary.states + summary.links + summary.events + summary.samples == 0;
        let mut contents = parts.join("  ·  ");
        if is_empty {
            contents =
                if contents.is_empty() { "this trace is empty".into() } else { format!("{contents}, all empty") };
        }
        let room = right - MARGIN;
        let length = duration(self.scale.nanos());
        let length_width = font::width(&length, DURATION_SIZE, FontWeight::SemiBold);
        let mut texts = vec![self.trace_name(room - length_width - 20.0)];
        // An empty trace has no timestamps.
        let mut range_width = 0.0;
        if !is_empty || self.scale.nanos() > 1 {
            let length = SceneText::new((right, MARGIN + 20.0), length, DURATION_SIZE, self.theme.ink);
            let time_range = self.time_range_text();
            range_width = font::width(&time_range, HEADING_SIZE, FontWeight::Regular);
            // A narrow image has a smaller text, which is not cut.
            let size = HEADING_SIZE * (room / range_width).min(1.0);
            let time_range = SceneText::new((right, MARGIN + 41.0), time_range, size, self.theme.muted);
            texts.extend([length.semi_bold(), time_range].map(|text| text.with_anchor(TextAnchor::End)));
        }
        let contents =
            font::fit(&contents, HEADING_SIZE, FontWeight::Regular, room - range_width - 20.0).unwrap_or_default();
        texts.insert(1, SceneText::new((MARGIN, MARGIN + 41.0), contents, HEADING_SIZE, self.theme.muted));
        texts.into_iter().filter(|text| !text.text.is_empty()).map(SceneItem::Text).collect()
    }

    /// The name of the trace. A long name is smaller. If it is still too long, it ends with an
    /// ellipsis.
    fn trace_name(&self, room: f32) -> SceneText {
        let name = &self.summary.name;
        let width = font::width(name, NAME_SIZE, FontWeight::SemiBold);
        let size = (NAME_SIZE * room / width.max(1.0)).clamp(SMALLEST_NAME, NAME_SIZE);
        let text = font::fit(name, size, FontWeight::SemiBold, room).unwrap_or_default();
        SceneText::new((MARGIN, MARGIN + 20.0), text, size, self.theme.ink).semi_bold()
    }

    /// A subtle background for each group of rows.
    fn panels(&self) -> Vec<SceneItem> {
        let mut items = Vec::new();
        let rows = &self.layout.rows;
        let top_groups: Vec<usize> = (0..rows.len()).filter(|&row_index| is_group(rows, row_index)).collect();
        for (place, &start) in top_groups.iter().enumerate() {
            let next = top_groups.get(place + 1).copied().unwrap_or(rows.len());
            let end = (start + 1..next).find(|&row_index| rows[row_index].depth <= rows[start].depth).unwrap_or(next);
            let bottom = rows[end - 1].y + rows[end - 1].height;
            let frame = OutlineRect::new(
                MARGIN - 12.0,
                self.top + rows[start].y + 1.0,
                self.options.width - 2.0 * MARGIN + 24.0,
                bottom - rows[start].y + 1.0,
            );
            items.push(SceneItem::Rect(FilledRect::decoration(frame, self.theme.panel, 6.0)));
        }
        items
    }

    fn ruler(&self) -> Vec<SceneItem> {
        let ruler = self.scale.ruler(|label| font::width(label, RULER_SIZE, FontWeight::Regular));
        let (top, bottom) = (self.top - 6.0, self.top + self.layout.height);
        let mut items = Vec::new();
        for tick in ruler.ticks {
            let x = self.left + tick.x;
            let paint = ColorWithOpacity::from_opaque(self.theme.grid);
            items.push(SceneItem::Line(SceneLine { from: (x, top), to: (x, bottom), width: 1.0, paint }));
            items.extend(tick.label.map(|label| {
                let baseline = (self.left + label.center, self.top - 12.0);
                SceneItem::Text(
                    SceneText::new(baseline, label.text, RULER_SIZE, self.theme.muted).with_anchor(TextAnchor::Middle),
                )
            }));
        }
        items.extend(ruler.base.map(|base| SceneItem::Text(self.ruler_base(base))));
        items
    }

    /// The ruler's base timestamp. It is left of the ruler, or above it if there is too little
    /// room. Its size is reduced until it fits.
    fn ruler_base(&self, base: String) -> SceneText {
        let width = font::width(&base, RULER_SIZE, FontWeight::Regular);
        if width <= self.left - 2.0 * RULER_GAP {
            let baseline = (self.left - RULER_GAP, self.top - 12.0);
            return SceneText::new(baseline, base, RULER_SIZE, self.theme.muted).with_anchor(TextAnchor::End);
        }
        let size = RULER_SIZE * ((self.options.width - 2.0 * RULER_GAP) / width).min(1.0);
        SceneText::new((RULER_GAP, self.top - 26.0), base, size, self.theme.muted)
    }

    fn names(&self) -> Vec<SceneItem> {
        let mut items = Vec::new();
        // Of rows that are lower than a name, only some have one.
        let mut end = f32::NEG_INFINITY;
        for (row_index, row) in self.layout.rows.iter().enumerate() {
            let size = 12.0_f32.min(row.height * 0.78).max(LEAST_NAME_SIZE);
            let middle = row.y + row.height / 2.0;
            if size > row.height && middle - size * 0.6 < end {
                continue;
            }
            end = middle + size * 0.6;
            let indent = self.indent * level(row.depth);
            let x = MARGIN + indent;
            let heading = is_group(&self.layout.rows, row_index) || row.strips.is_empty() || row.is_folded;
            let weight = if heading { FontWeight::SemiBold } else { FontWeight::Regular };
            let labels = strip_labels(row, self.model);
            let labels_width =
                labels.iter().map(|label| font::width(label.1, 10.0, FontWeight::Regular) + 14.0).fold(0.0, f32::max);
            let y =
                if row.strips.len() > 1 { row.strips[0].y + first_line(row) / 2.0 } else { row.y + row.height / 2.0 };
            if let Some(name) = font::fit(&row.name, size, weight, self.names - indent - labels_width - 10.0) {
                let ink = if heading { self.theme.ink } else { self.theme.muted };
                let text = SceneText::new((x, self.top + y + size * 0.36), name, size, ink);
                items.push(SceneItem::Text(SceneText { weight, ..text }));
            }
            for (y, label) in labels {
                let baseline = (self.left - self.gutter - 10.0, self.top + y + 3.6);
                items.push(SceneItem::Text(
                    SceneText::new(baseline, label, 10.0, self.theme.faint_color).with_anchor(TextAnchor::End),
                ));
            }
            for (y, text) in row.strips.iter().flat_map(bounds) {
                let baseline = (self.left - 7.0, self.top + y);
                items.push(SceneItem::Text(
                    SceneText::new(baseline, text, BOUND_SIZE, self.theme.faint_color).with_anchor(TextAnchor::End),
                ));
            }
        }
        items
    }
}

/// Whether a row starts a group: it is folded, or the next row is deeper and the row is of the
/// deepest level without own strips.
fn is_group(rows: &[LayoutRow], row_index: usize) -> bool {
    let row = &rows[row_index];
    if row.is_folded {
        return true;
    }
    row.is_expandable
        && rows
            .get(row_index + 1)
            .is_some_and(|next| next.depth > row.depth && (!next.is_expandable || !next.strips.is_empty()))
}

#[expect(clippy::cast_precision_loss, reason = "a depth")]
const fn level(depth: u32) -> f32 {
    depth as f32
}

/// Indentation per level of names. It is smaller if there are many levels, to leave room for names.
fn indent(layout: &RowLayout) -> f32 {
    let deepest = layout.rows.iter().map(|row| row.depth).max().unwrap_or(0);
    (MAX_INDENT / level(deepest.max(1))).min(14.0)
}

/// Height of the strip next to a row's name.
fn first_line(row: &LayoutRow) -> f32 {
    match row.strips.as_slice() {
        [events, states, ..] if matches!(events.kind, StripKind::Events { .. }) => {
            2.0 * (states.y - events.y) + states.height
        }
        [first, ..] => first.height,
        [] => row.height,
    }
}

/// Labels of a row's strips, if the row's name is not sufficient: height of the middle, and text.
fn strip_labels<'a>(row: &LayoutRow, model: &'a TypeModel) -> Vec<(f32, &'a str)> {
    let states = |strip: &RowStrip| matches!(strip.kind, StripKind::States { .. } | StripKind::Summary { .. });
    let has_several = row.strips.iter().filter(|strip| states(strip)).count() > 1;
    row.strips
        .iter()
        .filter(|strip| match strip.kind {
            StripKind::Variable { .. } | StripKind::Gradient { .. } => true,
            StripKind::Events { .. } => false,
            _ => has_several,
        })
        .filter(|strip| strip.height >= 10.0)
        .filter_map(|strip| Some((strip.y + strip.height / 2.0, model.types.get(strip.ty.index())?.name.as_str())))
        .collect()
}

/// The largest and smallest value of a variable's axis, next to its ends.
fn bounds(strip: &RowStrip) -> Vec<(f32, String)> {
    match strip.kind {
        StripKind::Variable { bounds: Some(axis) } if strip.height >= 2.0 * BOUND_SIZE + 2.0 => {
            let inset = ((strip.height - 2.0 * BOUND_SIZE) * 0.15).min(3.0);
            let (high_at, low_at) = (BOUND_SIZE * 0.8 + inset, strip.height - 1.0 - inset);
            vec![(strip.y + high_at, number(axis.max)), (strip.y + low_at, number(axis.min))]
        }
        _ => Vec::new(),
    }
}

/// Width of the column with these values.
fn gutter(layout: &RowLayout) -> f32 {
    let texts = layout.rows.iter().flat_map(|row| &row.strips).flat_map(bounds);
    let widest = texts.map(|(_, text)| font::width(&text, BOUND_SIZE, FontWeight::Regular)).fold(0.0, f32::max);
    if widest > 0.0 { widest + 6.0 } else { 0.0 }
}

fn names_width(layout: &RowLayout, model: &TypeModel) -> f32 {
    let indent = indent(layout);
    let width = |row: &LayoutRow| {
        let labels = strip_labels(row, model);
        let label =
            labels.iter().map(|label| font::width(label.1, 10.0, FontWeight::Regular) + 16.0).fold(0.0, f32::max);
        indent * level(row.depth) + font::width(&row.name, 12.0, FontWeight::SemiBold) + label
    };
    layout.rows.iter().map(width).fold(60.0, f32::max) + 18.0
}
