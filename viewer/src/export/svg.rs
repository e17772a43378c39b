//! A scene as SVG: named groups, one element per entity with its `<title>`, and numbers with at
//! most two decimals.

mod syntax;
mod vertical_extent;

use std::fmt::Write;
use std::io;

use tumit_paje::MarkShape;

use self::syntax::{SvgNumber, SvgPaint, XmlText, steps};
pub(crate) use self::vertical_extent::HeightRange;
use super::raster;
use crate::parallel_map::{MAX_THREADS, map_in_order};
use crate::scene::wire::entity;
use crate::scene::{
    FilledRect, OutlineRect, Scene, SceneArrow, SceneCells, SceneCurve, SceneGroup, SceneItem, SceneLine, SceneMark,
    SceneStroke, SceneText, TextAnchor,
};
use crate::style::theme::font::{FAMILY, FontWeight};

/// Writes the whole document. Only a part of its text is in memory at a time.
///
/// # Errors
/// If the document cannot be written.
pub fn write(scene: &Scene, out: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = SvgWriter { out: Some(out), ..SvgWriter::new(true) };
    writer.document(scene);
    writer.spill(0);
    writer.outcome
}

/// The whole document.
///
/// ```
/// use tumit_viewer::export::svg;
/// use tumit_viewer::scene::Scene;
///
/// let empty = Scene { width: 10.0, height: 5.0, title: "A & B".to_owned(), ..Scene::default() };
/// assert!(svg::to_string(&empty).contains("<title id=\"title\">A &amp; B</title>"));
/// ```
#[must_use]
pub fn to_string(scene: &Scene) -> String {
    SvgWriter::new(true).whole_document(scene)
}

/// The document for drawing: without titles of entities, and only with elements between two
/// heights.
pub(crate) fn slice_document(scene: &Scene, part: HeightRange) -> String {
    SvgWriter { part: Some(part), ..SvgWriter::new(false) }.whole_document(scene)
}

/// Number of elements per job of a thread. It is small because a row of images takes as long as
/// thousands of lines.
const ITEMS_PER_JOB: usize = 8;
/// Maximum text in memory in bytes. The text of the parallel jobs is about as long.
const TEXT_BYTES: usize = 1 << 20;

struct SvgWriter<'a> {
    text: String,
    titles: bool,
    /// If set, only elements between these heights are written. The heights are in the coordinates
    /// of the current group.
    part: Option<HeightRange>,
    /// Number of clip paths so far.
    windows: u32,
    /// Receives the text when it grows. If `None`, all text stays in memory.
    out: Option<&'a mut dyn io::Write>,
    /// The result of writing so far.
    outcome: io::Result<()>,
}

impl SvgWriter<'_> {
    fn new(titles: bool) -> Self {
        Self { text: String::new(), titles, part: None, windows: 0, out: None, outcome: Ok(()) }
    }

    /// The document as one text.
    fn whole_document(mut self, scene: &Scene) -> String {
        self.document(scene);
        self.text
    }

    /// Appends formatted text. Writing to a string cannot fail.
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(text);
    }

    /// Sends the text to the output if it exceeds `max_bytes` bytes.
    fn spill(&mut self, max_bytes: usize) {
        if let Some(out) = self.out.as_mut().filter(|_| self.text.len() > max_bytes) {
            if self.outcome.is_ok() {
                self.outcome = out.write_all(self.text.as_bytes());
            }
            self.text.clear();
        }
    }

    fn document(&mut self, scene: &Scene) {
        let (w, h) = (SvgNumber(scene.width), SvgNumber(scene.height));
        self.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
             aria-labelledby=\"title description\" font-family=\"{FAMILY}, 'Helvetica Neue', Arial, sans-serif\">\n"
        ));
        self.put(format_args!("<title id=\"title\">{}</title>\n", XmlText(&scene.title)));
        self.put(format_args!("<desc id=\"description\">{}</desc>\n", XmlText(&scene.description)));
        if let Some(paper) = scene.background {
            self.put(format_args!("<rect width=\"{w}\" height=\"{h}\" fill=\"{paper}\"/>\n"));
        }
        self.items(&scene.items);
        self.text.push_str("</svg>\n");
    }

    /// Writes elements in order, with several threads and several jobs at a time. This thread
    /// writes the groups, because they are numbered.
    fn items(&mut self, items: &[SceneItem]) {
        let is_group = |item: &SceneItem| matches!(item, SceneItem::Group(_));
        let is_within = |item: &&SceneItem| self.part.is_none_or(|part| vertical_extent::is_within(item, part));
        let items: Vec<&SceneItem> = items.iter().filter(is_within).collect();
        for run in items.chunk_by(|a, b| !is_group(a) && !is_group(b)) {
            if run.len() <= ITEMS_PER_JOB {
                for item in run {
                    self.item(item);
                    self.spill(TEXT_BYTES);
                }
                continue;
            }
            let (mut remaining_points, mut jobs) = (run, 2 * MAX_THREADS);
            while !remaining_points.is_empty() {
                let (batch, remainder) = remaining_points.split_at(remaining_points.len().min(jobs * ITEMS_PER_JOB));
                remaining_points = remainder;
                let parts = map_in_order(batch.chunks(ITEMS_PER_JOB).collect(), MAX_THREADS, |part| {
                    let mut writer = SvgWriter::new(self.titles);
                    part.iter().for_each(|item| writer.item(item));
                    writer.text
                });
                // If elements are short, more jobs run at a time, to reduce the cost of starting
                // threads.
                if parts.iter().map(String::len).sum::<usize>() < TEXT_BYTES / 2 {
                    jobs *= 2;
                }
                parts.iter().for_each(|part| self.text.push_str(part));
                self.spill(TEXT_BYTES);
            }
        }
    }

    fn item(&mut self, item: &SceneItem) {
        match item {
            SceneItem::Group(group) => self.group(group),
            SceneItem::Rect(rect) => self.rect(rect),
            SceneItem::Cells(cells) => self.cells(cells),
            SceneItem::Line(line) => self.line(line),
            SceneItem::Curve(curve) => self.curve(curve),
            SceneItem::Band(band) => band.curves().iter().for_each(|curve| self.curve(curve)),
            SceneItem::Arrow(arrow) => self.arrow(arrow),
            SceneItem::Mark(mark) => self.mark(mark),
            SceneItem::Text(text) => self.words(text),
        }
    }

    fn group(&mut self, group: &SceneGroup) {
        let mut clip = String::new();
        if let Some(OutlineRect { x, y, width, height }) = group.window {
            self.windows += 1;
            let number = self.windows;
            self.put(format_args!(
                "<clipPath id=\"window{number}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
                SvgNumber(x),
                SvgNumber(y),
                SvgNumber(width),
                SvgNumber(height)
            ));
            clip = format!(" clip-path=\"url(#window{number})\"");
        }
        let (x, y) = (SvgNumber(group.x), SvgNumber(group.y));
        self.put(format_args!("<g aria-label=\"{}\" transform=\"translate({x} {y})\"{clip}>\n", XmlText(&group.name)));
        let part = self.part;
        self.part = part.map(|part| HeightRange { top: part.top - group.y, bottom: part.bottom - group.y });
        self.items(&group.items);
        self.part = part;
        self.text.push_str("</g>\n");
    }

    /// Ends an element that may have a title.
    fn end(&mut self, name: &str, title: Option<&str>) {
        match title.filter(|_| self.titles) {
            Some(title) => self.put(format_args!("><title>{}</title></{name}>\n", XmlText(title))),
            None => self.text.push_str("/>\n"),
        }
    }

    fn id(&mut self, id: Option<crate::query::EntityId>) {
        if let Some(id) = id.filter(|_| self.titles) {
            self.put(format_args!(" data-entity=\"{}\"", entity(id)));
        }
    }

    fn rect(&mut self, rect: &FilledRect) {
        let OutlineRect { x, y, width, height } = rect.frame;
        self.put(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            SvgNumber(x),
            SvgNumber(y),
            SvgNumber(width),
            SvgNumber(height)
        ));
        if rect.radius > 0.0 {
            self.put(format_args!(" rx=\"{}\"", SvgNumber(rect.radius)));
        }
        self.put(format_args!("{}", SvgPaint("fill", rect.fill)));
        self.id(rect.id);
        self.end("rect", rect.title.as_deref());
    }

    /// One stepped area per value, the uppermost first, each extending down to the floor. If there
    /// are too many areas, an image instead.
    fn cells(&mut self, cells: &SceneCells) {
        let OutlineRect { x, y, width, height } = cells.frame;
        if let Some(address) = raster::is_better(cells).then(|| raster::address(cells)).flatten() {
            self.put(format_args!(
                "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
                 image-rendering=\"pixelated\" href=\"{address}\"/>\n",
                SvgNumber(x),
                SvgNumber(y),
                SvgNumber(width),
                SvgNumber(height)
            ));
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a number of pixels is small")]
        let step = width / cells.columns.len().max(1) as f32;
        let floor = y + height;
        self.text.push_str("<g shape-rendering=\"crispEdges\">");
        for (tops, color) in value_heights(cells).iter().zip(&cells.palette).rev() {
            let mut path = String::new();
            // The end of the last step, rounded to hundredths as written.
            let mut last = None;
            // Adjacent columns of the same height form one step.
            for run in tops.chunk_by(|a, b| a.0 + 1 == b.0 && (a.1 - b.1).abs() < 0.02) {
                #[expect(clippy::cast_precision_loss, reason = "a number of pixels is small")]
                let (from, to) = (x + run[0].0 as f32 * step, x + (run[0].0 + run.len()) as f32 * step);
                if floor - run[0].1 > 0.01 {
                    if last != Some(SvgNumber(from).hundredths()) {
                        close(&mut path, floor);
                        steps(&mut path, [('M', from), (' ', floor)]);
                    }
                    steps(&mut path, [('V', run[0].1), ('H', to)]);
                    last = Some(SvgNumber(to).hundredths());
                }
            }
            close(&mut path, floor);
            if !path.is_empty() {
                self.put(format_args!("<path d=\"{path}\" fill=\"{color}\"/>"));
            }
        }
        self.text.push_str("</g>\n");
    }

    fn line(&mut self, line: &SceneLine) {
        let ((a, b), (c, d)) = (line.from, line.to);
        self.put(format_args!(
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke-width=\"{}\"{}/>\n",
            SvgNumber(a),
            SvgNumber(b),
            SvgNumber(c),
            SvgNumber(d),
            SvgNumber(line.width),
            SvgPaint("stroke", line.paint)
        ));
    }

    fn curve(&mut self, curve: &SceneCurve) {
        let mut points = String::new();
        for (x, y) in &curve.points {
            let separator = if points.is_empty() { "" } else { " " };
            points.push_str(separator);
            SvgNumber(*x).push_to(&mut points);
            steps(&mut points, [(',', *y)]);
        }
        if let Some(fill) = curve.fill {
            let ends = (curve.points.first(), curve.points.last(), curve.floor);
            let floor = if let (Some(first), Some(last), Some(floor)) = ends {
                format!(" {},{} {},{}", SvgNumber(last.0), SvgNumber(floor), SvgNumber(first.0), SvgNumber(floor))
            } else {
                String::new()
            };
            self.put(format_args!("<polygon points=\"{points}{floor}\"{}/>\n", SvgPaint("fill", fill)));
        }
        if let Some(SceneStroke { paint, width }) = curve.stroke {
            self.put(format_args!(
                "<polyline points=\"{points}\" fill=\"none\"{} stroke-width=\"{}\" stroke-linejoin=\"round\"/>\n",
                SvgPaint("stroke", paint),
                SvgNumber(width)
            ));
        }
    }

    fn arrow(&mut self, arrow: &SceneArrow) {
        let ((x, y), head_start) = (arrow.from, arrow.head_start());
        if let Some(halo) = arrow.halo {
            self.put(format_args!(
                "<path d=\"M{} {}L{} {}\"{} stroke-width=\"{}\" stroke-linecap=\"round\"/>\n",
                SvgNumber(x),
                SvgNumber(y),
                SvgNumber(arrow.to.0),
                SvgNumber(arrow.to.1),
                SvgPaint("stroke", halo),
                SvgNumber(arrow.width + 1.8)
            ));
        }
        self.put(format_args!(
            "<path d=\"M{} {}L{} {}",
            SvgNumber(x),
            SvgNumber(y),
            SvgNumber(head_start.0),
            SvgNumber(head_start.1)
        ));
        if arrow.head > 0.0 {
            let [tip, left, right] = arrow.head();
            self.put(format_args!(
                "M{} {}L{} {}L{} {}Z",
                SvgNumber(tip.0),
                SvgNumber(tip.1),
                SvgNumber(left.0),
                SvgNumber(left.1),
                SvgNumber(right.0),
                SvgNumber(right.1)
            ));
        }
        self.put(format_args!(
            "\"{}{} stroke-width=\"{}\"",
            SvgPaint("fill", arrow.paint),
            SvgPaint("stroke", arrow.paint),
            SvgNumber(arrow.width)
        ));
        self.text.push_str(" stroke-linejoin=\"round\"");
        self.id(arrow.id);
        self.end("path", arrow.title.as_deref());
    }

    fn mark(&mut self, mark: &SceneMark) {
        // `zoom.js` recognises marks by these paths. It relies on them starting at their
        // timestamps.
        let ((x, y), half, height) = (mark.position, mark.half_width(), mark.height());
        let (left, right, top) = (x - half, x + half, y - height);
        let mut path = String::new();
        steps(&mut path, [('M', x), (' ', y)]);
        match mark.shape {
            MarkShape::Triangle => steps(&mut path, [('L', left), (' ', top), ('H', right)]),
            MarkShape::Diamond => {
                let middle = y - height / 2.0;
                steps(&mut path, [('L', left), (' ', middle), ('L', x), (' ', top), ('L', right), (' ', middle)]);
            }
            MarkShape::Circle => {
                for end in [top, y] {
                    steps(
                        &mut path,
                        [('A', half), (' ', half), (' ', 0.0), (' ', 1.0), (' ', 1.0), (' ', x), (' ', end)],
                    );
                }
            }
            MarkShape::Square | MarkShape::Line => {
                steps(&mut path, [('H', left), ('V', top), ('H', right), ('V', y)]);
            }
        }
        self.put(format_args!("<path d=\"{path}Z\"{}", SvgPaint("fill", mark.fill)));
        self.id(mark.id);
        self.end("path", mark.title.as_deref());
    }

    fn words(&mut self, text: &SceneText) {
        let anchor = match text.anchor {
            TextAnchor::Start => "",
            TextAnchor::Middle => " text-anchor=\"middle\"",
            TextAnchor::End => " text-anchor=\"end\"",
        };
        let weight = if text.weight == FontWeight::SemiBold { " font-weight=\"600\"" } else { "" };
        let (x, y) = (SvgNumber(text.position.0), SvgNumber(text.position.1));
        self.put(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{weight}{anchor}{}>{}</text>\n",
            SvgNumber(text.size),
            SvgPaint("fill", text.fill),
            XmlText(&text.text)
        ));
    }
}

/// For each value, the columns that contain it, with the cumulative height of this value and those
/// below it.
fn value_heights(cells: &SceneCells) -> Vec<Vec<(usize, f32)>> {
    let floor = cells.frame.y + cells.frame.height;
    let mut tops = vec![Vec::new(); cells.palette.len()];
    for (column, parts) in cells.columns.iter().enumerate() {
        let mut height_below = 0.0;
        for &(place, share) in parts {
            height_below += share;
            if let Some(tops) = tops.get_mut(usize::from(place)) {
                tops.push((column, floor - cells.frame.height * f32::min(height_below, 1.0)));
            }
        }
    }
    tops
}

fn close(path: &mut String, floor: f32) {
    if !path.is_empty() && !path.ends_with('Z') {
        steps(path, [('V', floor)]);
        path.push('Z');
    }
}

#[cfg(test)]
mod tests;
