//! The visible page, to the last pixel: a view gives the same image on every path to it, in each
//! theme, in a new page and in a used one. Images are compared with each other and not with files,
//! because fonts and browsers differ between machines.

use std::time::{Duration, Instant};

use tests::browser::{BrowserPage, CssPosition};
use tests::page::{SETTLED, ViewProcess, open, press, screenshot_path};

/// The pixels of minimap, ruler, names and diagram.
struct PageImage {
    width: usize,
    /// Bytes per pixel.
    depth: usize,
    pixels: Vec<u8>,
}

impl PageImage {
    /// Whether another one is the same. Browsers may round the blend of two colours up or down, so
    /// that a difference of one level is allowed.
    fn equals(&self, other: &Self) -> bool {
        // Most are identical, which is a fast comparison.
        self.pixels == other.pixels
            || self.pixels.len() == other.pixels.len() && self.differing_pixels(other).is_empty()
    }

    /// The differing pixels: column, line, and both colours.
    fn differing_pixels<'s>(&'s self, other: &'s Self) -> Vec<(usize, usize, &'s [u8], &'s [u8])> {
        let pairs = self.pixels.chunks(self.depth).zip(other.pixels.chunks(self.depth)).enumerate();
        let is_close = |a: &[u8], b: &[u8]| a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= 1);
        pairs
            .filter(|(_, (a, b))| !is_close(a, b))
            .map(|(index, (a, b))| (index % self.width, index / self.width, a, b))
            .collect()
    }
}

/// Reads the part of a screenshot at a place.
fn part(screenshot: &[u8], place: CssPosition) -> PageImage {
    let mut reader = png::Decoder::new(std::io::Cursor::new(screenshot)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    let (wide, depth) = (frame.width as usize, frame.line_size / frame.width as usize);
    let (left_edge, top) = (place.x as usize, place.y as usize);
    let (width, height) =
        ((place.width as usize).min(wide - left_edge), (place.height as usize).min(frame.height as usize - top));
    let line = |y: usize| &pixels[y * frame.line_size + left_edge * depth..][..width * depth];
    PageImage { width, depth, pixels: (top..top + height).map(line).collect::<Vec<_>>().concat() }
}

/// Actions that leave a view or lead to it.
type PageAction = fn(&mut BrowserPage);

struct ImageObserver {
    browser: BrowserPage,
}

impl ImageObserver {
    /// The page at rest: the exact image is there, the pointer is away, no element has the focus.
    fn capture(&mut self) -> PageImage {
        self.browser.point((4.0, 4.0));
        self.browser.evaluate("document.querySelector('dialog[open]') || document.activeElement?.blur()");
        self.browser.wait(SETTLED);
        self.browser.wait("document.getAnimations().every(animation => animation.playState !== 'running')");
        self.browser
            .wait("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))");
        let place = self.browser.evaluate(
            "(([a, b]) => [a.left, a.top, Math.max(a.right, b.right) - a.left, b.bottom - a.top])(
                ['.corner', '#scroller'].map(name => document.querySelector(name).getBoundingClientRect()))",
        );
        let coordinate = |number: usize| place[number].as_f64().unwrap();
        part(
            &self.browser.seen(),
            CssPosition { x: coordinate(0), y: coordinate(1), width: coordinate(2), height: coordinate(3) },
        )
    }

    /// Repeats [`Self::capture`] until the condition holds; `Err` contains the last view after a
    /// minute.
    fn until(&mut self, is_so: impl Fn(&PageImage) -> bool) -> Result<PageImage, PageImage> {
        let give_up = Instant::now() + Duration::from_secs(60);
        loop {
            let image = self.capture();
            if is_so(&image) {
                return Ok(image);
            }
            if Instant::now() > give_up {
                return Err(image);
            }
        }
    }

    /// Waits for exactly this image.
    fn expect_image(&mut self, expected: &PageImage, when: &str) {
        if let Err(image) = self.until(|image| image.equals(expected)) {
            let name = format!("seen-{}.png", when.replace(' ', "-"));
            self.browser.screenshot(&screenshot_path(&name));
            let differences = image.differing_pixels(expected);
            let (many, first) = (differences.len(), &differences[..differences.len().min(8)]);
            panic!(
                "{when}: {many} pixels differ, the first of them {first:?} (place, what is seen, what was wanted); what is seen is in target/tmp/{name}"
            );
        }
    }

    fn check_round_trip(&mut self, from: &PageImage, when: &str, away: PageAction, back: PageAction) {
        away(&mut self.browser);
        assert!(self.until(|image| !image.equals(from)).is_ok(), "{when}: nothing changes");
        back(&mut self.browser);
        self.expect_image(from, when);
    }
}

fn type_into(browser: &mut BrowserPage, key: &str, text: &str) {
    browser.key(key);
    browser.type_text(text);
    browser.key("Enter");
}

fn escape(browser: &mut BrowserPage) {
    browser.key("Escape");
    browser.wait("!document.querySelector('dialog[open]')");
}

fn undo(browser: &mut BrowserPage) {
    browser.with_key_down("Control", |browser| browser.key("z"));
}

/// Presses a key of a row, with the pointer on the row.
fn at_row(browser: &mut BrowserPage, key: &str) {
    let point = browser.place_of("row", "thread 0.1").center();
    browser.point(point);
    browser.key(key);
}

#[test]
fn a_view_has_the_same_image_by_any_navigation() {
    let viewer = ViewProcess::start();
    let (browser, _) = open(&viewer);
    let mut observer = ImageObserver { browser };
    let full_image = observer.capture();
    let ways: [(&str, PageAction, PageAction); 12] = [
        ("zoomed and back", |b| b.key("+"), |b| b.key("[")),
        ("zoomed and moved and fitted", |b| ["+", "ArrowRight"].iter().for_each(|key| b.key(key)), |b| b.key("f")),
        ("a time range typed", |b| type_into(b, "g", "0.2..0.4 s"), |b| type_into(b, "g", "0..1 s")),
        ("turned by the wheel", |b| b.wheel((700.0, 300.0), -300.0), |b| b.key("f")),
        ("folded", |b| b.key("_"), |b| b.key("*")),
        ("pinned", |b| at_row(b, "p"), |b| at_row(b, "p")),
        ("hidden", |b| at_row(b, "h"), |b| b.key("H")),
        ("filtered and undone", |b| type_into(b, "F", "hide value blocked of Activity"), undo),
        ("without the panel", |b| b.key("l"), |b| b.key("l")),
        ("behind the palette", |b| b.with_key_down("Control", |b| b.key("k")), escape),
        ("behind the help sheet", |b| b.key("?"), escape),
        (
            "in the other themes",
            |b| b.key("t"),
            |b| {
                for _ in 0..4 {
                    if b.evaluate("document.documentElement.dataset.theme") == "light" {
                        break;
                    }
                    b.key("t");
                }
            },
        ),
    ];
    for (when, away, back) in ways {
        observer.check_round_trip(&full_image, when, away, back);
    }
    assert!(observer.browser.complaints().is_empty(), "{:?}", observer.browser.complaints());
}

#[test]
fn a_page_shows_the_view_of_its_address_from_the_start() {
    let viewer = ViewProcess::start();
    let (browser, _) = open(&viewer);
    let mut observer = ImageObserver { browser };
    let full_image = observer.capture();
    // Another user of the trace, with only the file.
    let again = ViewProcess::other_user_as(&viewer);
    let (browser, _) = open(&again);
    ImageObserver { browser }.expect_image(&full_image, "in another page");
    observer.browser.key("t");
    press(&mut observer.browser, "row", "Node 1");
    type_into(&mut observer.browser, "g", "0.25..0.75 s");
    observer.browser.wait("document.querySelector('#time-range-field').value.startsWith('250')");
    let before = observer.capture();
    assert!(!before.equals(&full_image));
    observer.browser.reload();
    observer.browser.wait(SETTLED);
    observer.expect_image(&before, "loaded again");
}
