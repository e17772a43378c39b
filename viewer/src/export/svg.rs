//! A scene as SVG: groups with names, one element per entity with its `<title>`, numbers with two decimals at most.

mod extent;

use std::fmt::Write;
use std::io;

use tumit_paje::MarkShape;

use super::raster;
use crate::parallel::{MOST_THREADS, in_turn};
use crate::scene::wire::entity;
use crate::scene::{Anchor, Arrow, Cells, Curve, Frame, Group, Item, Line, Mark, Rect, Scene, Text};
use crate::style::theme::Paint;
use crate::style::theme::font::{FAMILY, Weight};

/// Writes the whole document. Of its text, a part is in memory at a time.
///
/// # Errors
/// When it cannot be written.
pub fn write(scene: &Scene, out: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = Writer { out: Some(out), ..Writer::new(true) };
    writer.document(scene);
    writer.spill(0);
    writer.outcome
}

/// The whole document.
#[must_use]
pub fn to_string(scene: &Scene) -> String {
    Writer::new(true).all(scene)
}

/// The same for drawing: without the sentences on entities, and of the elements between two heights alone.
pub(crate) fn untitled(scene: &Scene, part: (f32, f32)) -> String {
    Writer { part: Some(part), ..Writer::new(false) }.all(scene)
}

/// So many elements are written by one thread at a time: a row of images takes as long as thousands of lines.
const ITEMS_PER_JOB: usize = 8;
/// Text beyond this goes to the file, and that of some jobs together is about as long.
const TEXT_BYTES: usize = 1 << 20;

struct Writer<'a> {
    text: String,
    titles: bool,
    /// Only elements between these heights are written, if it is given. In the coordinates of the group that is written.
    part: Option<(f32, f32)>,
    /// Clip paths so far.
    windows: u32,
    /// Where the text goes when it grows; without, it stays.
    out: Option<&'a mut dyn io::Write>,
    /// How writing went so far.
    outcome: io::Result<()>,
}

/// A number, short. Pictures have hundreds of thousands: written as whole hundredths, they take a quarter of the time of a float.
#[derive(Clone, Copy)]
struct Num(f32);

impl Num {
    /// The nearest whole number of hundredths; 0 for what is no number.
    #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates, and pictures are smaller")]
    fn hundredths(self) -> i64 {
        let hundredths = f64::from(self.0) * 100.0;
        (hundredths + 0.5_f64.copysign(hundredths)) as i64
    }

    fn push_to(self, text: &mut String) {
        let hundredths = self.hundredths();
        let (whole, part) = (hundredths.unsigned_abs() / 100, (hundredths.unsigned_abs() % 100) as u8);
        if hundredths < 0 {
            text.push('-');
        }
        text.push_str(itoa::Buffer::new().format(whole));
        if part > 0 {
            text.push('.');
            text.push(char::from(b'0' + part / 10));
            if !part.is_multiple_of(10) {
                text.push(char::from(b'0' + part % 10));
            }
        }
    }
}

impl std::fmt::Display for Num {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.push_to(&mut text);
        f.write_str(&text)
    }
}

/// Appends commands of a path, each a letter and a number.
fn steps<const N: usize>(path: &mut String, commands: [(char, f32); N]) {
    for (letter, number) in commands {
        path.push(letter);
        Num(number).push_to(path);
    }
}

/// Text with the characters that XML reserves, or forbids, replaced.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                c if c.is_control() => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A fill or stroke with its opacity.
struct Ink<'a>(&'a str, Paint);

impl std::fmt::Display for Ink<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(name, paint) = self;
        write!(f, " {name}=\"{}\"", paint.color)?;
        if paint.alpha < 1.0 { write!(f, " {name}-opacity=\"{}\"", Num(paint.alpha)) } else { Ok(()) }
    }
}

impl Writer<'_> {
    fn new(titles: bool) -> Self {
        Self { text: String::new(), titles, part: None, windows: 0, out: None, outcome: Ok(()) }
    }

    /// The document as one text.
    fn all(mut self, scene: &Scene) -> String {
        self.document(scene);
        self.text
    }

    /// Writing to a string cannot fail.
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(text);
    }

    /// Sends the text on when it has more than so many bytes.
    fn spill(&mut self, most: usize) {
        if let Some(out) = self.out.as_mut().filter(|_| self.text.len() > most) {
            if self.outcome.is_ok() {
                self.outcome = out.write_all(self.text.as_bytes());
            }
            self.text.clear();
        }
    }

    fn document(&mut self, scene: &Scene) {
        let (w, h) = (Num(scene.width), Num(scene.height));
        self.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
             aria-labelledby=\"title description\" font-family=\"{FAMILY}, 'Helvetica Neue', Arial, sans-serif\">\n"
        ));
        self.put(format_args!("<title id=\"title\">{}</title>\n", Escaped(&scene.title)));
        self.put(format_args!("<desc id=\"description\">{}</desc>\n", Escaped(&scene.description)));
        if let Some(paper) = scene.background {
            self.put(format_args!("<rect width=\"{w}\" height=\"{h}\" fill=\"{paper}\"/>\n"));
        }
        self.items(&scene.items);
        self.text.push_str("</svg>\n");
    }

    /// Writes elements by several threads, in order, some jobs at a time. Groups, which are numbered, are written by this one.
    fn items(&mut self, items: &[Item]) {
        let is_group = |item: &Item| matches!(item, Item::Group(_));
        let is_within = |item: &&Item| self.part.is_none_or(|part| extent::is_within(item, part));
        let items: Vec<&Item> = items.iter().filter(is_within).collect();
        for run in items.chunk_by(|a, b| !is_group(a) && !is_group(b)) {
            if run.len() <= ITEMS_PER_JOB {
                for item in run {
                    self.item(item);
                    self.spill(TEXT_BYTES);
                }
                continue;
            }
            let (mut rest, mut jobs) = (run, 2 * MOST_THREADS);
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(jobs * ITEMS_PER_JOB));
                rest = later;
                let parts = in_turn(now.chunks(ITEMS_PER_JOB).collect(), MOST_THREADS, |part| {
                    let mut writer = Writer::new(self.titles);
                    part.iter().for_each(|item| writer.item(item));
                    writer.text
                });
                // Short elements come by more at a time, so that starting threads costs little.
                if parts.iter().map(String::len).sum::<usize>() < TEXT_BYTES / 2 {
                    jobs *= 2;
                }
                parts.iter().for_each(|part| self.text.push_str(part));
                self.spill(TEXT_BYTES);
            }
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Group(group) => self.group(group),
            Item::Rect(rect) => self.rect(rect),
            Item::Cells(cells) => self.cells(cells),
            Item::Line(line) => self.line(line),
            Item::Curve(curve) => self.curve(curve),
            Item::Band(band) => band.curves().iter().for_each(|curve| self.curve(curve)),
            Item::Arrow(arrow) => self.arrow(arrow),
            Item::Mark(mark) => self.mark(mark),
            Item::Text(text) => self.words(text),
        }
    }

    fn group(&mut self, group: &Group) {
        let mut clip = String::new();
        if let Some(Frame { x, y, width, height }) = group.window {
            self.windows += 1;
            let number = self.windows;
            self.put(format_args!(
                "<clipPath id=\"window{number}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
                Num(x),
                Num(y),
                Num(width),
                Num(height)
            ));
            clip = format!(" clip-path=\"url(#window{number})\"");
        }
        let (x, y) = (Num(group.x), Num(group.y));
        self.put(format_args!("<g aria-label=\"{}\" transform=\"translate({x} {y})\"{clip}>\n", Escaped(&group.name)));
        let part = self.part;
        self.part = part.map(|(top, bottom)| (top - group.y, bottom - group.y));
        self.items(&group.items);
        self.part = part;
        self.text.push_str("</g>\n");
    }

    /// Ends an element that may carry a sentence.
    fn end(&mut self, name: &str, title: Option<&str>) {
        match title.filter(|_| self.titles) {
            Some(title) => self.put(format_args!("><title>{}</title></{name}>\n", Escaped(title))),
            None => self.text.push_str("/>\n"),
        }
    }

    fn id(&mut self, id: Option<crate::query::EntityId>) {
        if let Some(id) = id.filter(|_| self.titles) {
            self.put(format_args!(" data-entity=\"{}\"", entity(id)));
        }
    }

    fn rect(&mut self, rect: &Rect) {
        let Frame { x, y, width, height } = rect.frame;
        self.put(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            Num(x),
            Num(y),
            Num(width),
            Num(height)
        ));
        if rect.radius > 0.0 {
            self.put(format_args!(" rx=\"{}\"", Num(rect.radius)));
        }
        self.put(format_args!("{}", Ink("fill", rect.fill)));
        self.id(rect.id);
        self.end("rect", rect.title.as_deref());
    }

    /// One stepped area per value, the uppermost first, each reaching down to the floor; an image where that would be too many.
    fn cells(&mut self, cells: &Cells) {
        let Frame { x, y, width, height } = cells.frame;
        if let Some(address) = raster::is_better(cells).then(|| raster::address(cells)).flatten() {
            self.put(format_args!(
                "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
                 image-rendering=\"pixelated\" href=\"{address}\"/>\n",
                Num(x),
                Num(y),
                Num(width),
                Num(height)
            ));
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a number of pixels")]
        let step = width / cells.columns.len().max(1) as f32;
        let floor = y + height;
        self.text.push_str("<g shape-rendering=\"crispEdges\">");
        for (tops, color) in tops(cells).iter().zip(&cells.palette).rev() {
            let mut path = String::new();
            // Where the last step ends, to the hundredth that is written.
            let mut last = None;
            // Neighbours of the same height are one step.
            for run in tops.chunk_by(|a, b| a.0 + 1 == b.0 && (a.1 - b.1).abs() < 0.02) {
                #[expect(clippy::cast_precision_loss, reason = "a number of pixels")]
                let (from, to) = (x + run[0].0 as f32 * step, x + (run[0].0 + run.len()) as f32 * step);
                if floor - run[0].1 > 0.01 {
                    if last != Some(Num(from).hundredths()) {
                        close(&mut path, floor);
                        steps(&mut path, [('M', from), (' ', floor)]);
                    }
                    steps(&mut path, [('V', run[0].1), ('H', to)]);
                    last = Some(Num(to).hundredths());
                }
            }
            close(&mut path, floor);
            if !path.is_empty() {
                self.put(format_args!("<path d=\"{path}\" fill=\"{color}\"/>"));
            }
        }
        self.text.push_str("</g>\n");
    }

    fn line(&mut self, line: &Line) {
        let ((a, b), (c, d)) = (line.from, line.to);
        self.put(format_args!(
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke-width=\"{}\"{}/>\n",
            Num(a),
            Num(b),
            Num(c),
            Num(d),
            Num(line.width),
            Ink("stroke", line.paint)
        ));
    }

    fn curve(&mut self, curve: &Curve) {
        let mut points = String::new();
        for (x, y) in &curve.points {
            let before = if points.is_empty() { "" } else { " " };
            points.push_str(before);
            Num(*x).push_to(&mut points);
            steps(&mut points, [(',', *y)]);
        }
        if let Some(fill) = curve.fill {
            let ends = (curve.points.first(), curve.points.last(), curve.floor);
            let floor = if let (Some(first), Some(last), Some(floor)) = ends {
                format!(" {},{} {},{}", Num(last.0), Num(floor), Num(first.0), Num(floor))
            } else {
                String::new()
            };
            self.put(format_args!("<polygon points=\"{points}{floor}\"{}/>\n", Ink("fill", fill)));
        }
        if let Some((paint, width)) = curve.stroke {
            self.put(format_args!(
                "<polyline points=\"{points}\" fill=\"none\"{} stroke-width=\"{}\" stroke-linejoin=\"round\"/>\n",
                Ink("stroke", paint),
                Num(width)
            ));
        }
    }

    fn arrow(&mut self, arrow: &Arrow) {
        let ((x, y), neck) = (arrow.from, arrow.neck());
        if let Some(halo) = arrow.halo {
            self.put(format_args!(
                "<path d=\"M{} {}L{} {}\"{} stroke-width=\"{}\" stroke-linecap=\"round\"/>\n",
                Num(x),
                Num(y),
                Num(arrow.to.0),
                Num(arrow.to.1),
                Ink("stroke", halo),
                Num(arrow.width + 1.8)
            ));
        }
        self.put(format_args!("<path d=\"M{} {}L{} {}", Num(x), Num(y), Num(neck.0), Num(neck.1)));
        if arrow.head > 0.0 {
            let [tip, left, right] = arrow.head();
            self.put(format_args!(
                "M{} {}L{} {}L{} {}Z",
                Num(tip.0),
                Num(tip.1),
                Num(left.0),
                Num(left.1),
                Num(right.0),
                Num(right.1)
            ));
        }
        self.put(format_args!(
            "\"{}{} stroke-width=\"{}\"",
            Ink("fill", arrow.paint),
            Ink("stroke", arrow.paint),
            Num(arrow.width)
        ));
        self.text.push_str(" stroke-linejoin=\"round\"");
        self.id(arrow.id);
        self.end("path", arrow.title.as_deref());
    }

    fn mark(&mut self, mark: &Mark) {
        // `zoom.js` knows marks by these paths, and that they begin at their dates.
        let ((x, y), half, height) = (mark.at, mark.half_width(), mark.height());
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
        self.put(format_args!("<path d=\"{path}Z\"{}", Ink("fill", mark.fill)));
        self.id(mark.id);
        self.end("path", mark.title.as_deref());
    }

    fn words(&mut self, text: &Text) {
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if text.weight == Weight::SemiBold { " font-weight=\"600\"" } else { "" };
        let (x, y) = (Num(text.at.0), Num(text.at.1));
        self.put(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{weight}{anchor}{}>{}</text>\n",
            Num(text.size),
            Ink("fill", text.fill),
            Escaped(&text.text)
        ));
    }
}

/// For each value, the columns that have it, with the height to which it and those below it reach.
fn tops(cells: &Cells) -> Vec<Vec<(usize, f32)>> {
    let floor = cells.frame.y + cells.frame.height;
    let mut tops = vec![Vec::new(); cells.palette.len()];
    for (column, parts) in cells.columns.iter().enumerate() {
        let mut below = 0.0;
        for &(place, share) in parts {
            below += share;
            if let Some(tops) = tops.get_mut(usize::from(place)) {
                tops.push((column, floor - cells.frame.height * f32::min(below, 1.0)));
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

impl Arrow {
    /// Where the line ends and the head begins.
    #[must_use]
    pub fn neck(&self) -> (f32, f32) {
        let (ux, uy, length) = self.direction();
        let back = self.head.min(length) * 0.9;
        (self.to.0 - ux * back, self.to.1 - uy * back)
    }

    /// The corners of the head, the tip first.
    #[must_use]
    pub fn head(&self) -> [(f32, f32); 3] {
        let (ux, uy, length) = self.direction();
        let (long, half) = (self.head.min(length.max(1.0)), self.head * 0.34);
        let base = (self.to.0 - ux * long, self.to.1 - uy * long);
        [self.to, (base.0 - uy * half, base.1 + ux * half), (base.0 + uy * half, base.1 - ux * half)]
    }

    fn direction(&self) -> (f32, f32, f32) {
        let (dx, dy) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        let length = dx.hypot(dy);
        if length > 0.0 { (dx / length, dy / length, length) } else { (1.0, 0.0, 0.0) }
    }
}

#[cfg(test)]
mod tests;
