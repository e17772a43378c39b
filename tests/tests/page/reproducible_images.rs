//! The visible page, to the last pixel: a view gives the same image on every path to it, in each
//! theme, in a new page and in a used one. Images are compared with each other and not with files,
//! because fonts and browsers differ between machines.

use std::time::{Duration, Instant};

use tests::browser::{BrowserPage, CssPosition};
use tests::page::{SETTLED, ViewProcess, open, picture, press};

/// The pixels of minimap, ruler, names and diagram.
struct Seen {
    width: usize,
    /// Bytes per pixel.
    depth: usize,
    pixels: Vec<u8>,
}

impl Seen {
    /// Whether another one is the same. Browsers may round the blend of two colours up or down, so
    /// that a difference of one level is allowed.
    fn is(&self, other: &Self) -> bool {
        // Most are identical, which is a fast comparison.
        self.pixels == other.pixels || self.pixels.len() == other.pixels.len() && self.apart(other).is_empty()
    }

    /// The differing pixels: column, line, and both colours.
    fn apart<'s>(&'s self, other: &'s Self) -> Vec<(usize, usize, &'s [u8], &'s [u8])> {
        let pairs = self.pixels.chunks(self.depth).zip(other.pixels.chunks(self.depth)).enumerate();
        let alike = |a: &[u8], b: &[u8]| a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= 1);
        pairs.filter(|(_, (a, b))| !alike(a, b)).map(|(at, (a, b))| (at % self.width, at / self.width, a, b)).collect()
    }
}

/// Reads the part of a screenshot at a place.
fn part(screenshot: &[u8], place: CssPosition) -> Seen {
    let mut reader = png::Decoder::new(std::io::Cursor::new(screenshot)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    let (wide, depth) = (frame.width as usize, frame.line_size / frame.width as usize);
    let (left, top) = (place.x as usize, place.y as usize);
    let (width, height) =
        ((place.width as usize).min(wide - left), (place.height as usize).min(frame.height as usize - top));
    let line = |y: usize| &pixels[y * frame.line_size + left * depth..][..width * depth];
    Seen { width, depth, pixels: (top..top + height).map(line).collect::<Vec<_>>().concat() }
}

/// Actions that leave a view or lead to it.
type Way = fn(&mut BrowserPage);

struct Eye {
    browser: BrowserPage,
}

impl Eye {
    /// The page at rest: the exact image is there, the pointer is away, no element has the focus.
    fn look(&mut self) -> Seen {
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
        let at = |number: usize| place[number].as_f64().unwrap();
        part(&self.browser.seen(), CssPosition { x: at(0), y: at(1), width: at(2), height: at(3) })
    }

    /// Repeats [`Self::look`] until the condition holds; `Err` contains the last view after a
    /// minute.
    fn until(&mut self, is_so: impl Fn(&Seen) -> bool) -> Result<Seen, Seen> {
        let give_up = Instant::now() + Duration::from_secs(60);
        loop {
            let seen = self.look();
            if is_so(&seen) {
                return Ok(seen);
            }
            if Instant::now() > give_up {
                return Err(seen);
            }
        }
    }

    /// Waits for exactly this image.
    fn sees(&mut self, wanted: &Seen, when: &str) {
        if let Err(seen) = self.until(|seen| seen.is(wanted)) {
            let name = format!("seen-{}.png", when.replace(' ', "-"));
            self.browser.screenshot(&picture(&name));
            let apart = seen.apart(wanted);
            let (many, first) = (apart.len(), &apart[..apart.len().min(8)]);
            panic!(
                "{when}: {many} pixels differ, the first of them {first:?} (place, what is seen, what was wanted); what is seen is in target/tmp/{name}"
            );
        }
    }

    fn goes(&mut self, from: &Seen, when: &str, away: Way, back: Way) {
        away(&mut self.browser);
        assert!(self.until(|seen| !seen.is(from)).is_ok(), "{when}: nothing changes");
        back(&mut self.browser);
        self.sees(from, when);
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
    let at = browser.place_of("row", "thread 0.1").center();
    browser.point(at);
    browser.key(key);
}

#[test]
fn a_view_has_the_same_image_by_any_navigation() {
    let viewer = ViewProcess::start();
    let (browser, _) = open(&viewer);
    let mut eye = Eye { browser };
    let whole = eye.look();
    let ways: [(&str, Way, Way); 12] = [
        ("zoomed and back", |b| b.key("+"), |b| b.key("[")),
        ("zoomed and moved and fitted", |b| ["+", "ArrowRight"].iter().for_each(|key| b.key(key)), |b| b.key("f")),
        ("an interval typed", |b| type_into(b, "g", "0.2..0.4 s"), |b| type_into(b, "g", "0..1 s")),
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
        eye.goes(&whole, when, away, back);
    }
    assert!(eye.browser.complaints().is_empty(), "{:?}", eye.browser.complaints());
}

#[test]
fn a_page_shows_the_view_of_its_address_from_the_start() {
    let viewer = ViewProcess::start();
    let (browser, _) = open(&viewer);
    let mut eye = Eye { browser };
    let whole = eye.look();
    // Another user of the trace, with only the file.
    let again = ViewProcess::other_user_as(&viewer);
    let (browser, _) = open(&again);
    Eye { browser }.sees(&whole, "in another page");
    eye.browser.key("t");
    press(&mut eye.browser, "row", "Node 1");
    type_into(&mut eye.browser, "g", "0.25..0.75 s");
    eye.browser.wait("document.querySelector('#interval-field').value.startsWith('250')");
    let before = eye.look();
    assert!(!before.is(&whole));
    eye.browser.reload();
    eye.browser.wait(SETTLED);
    eye.sees(&before, "loaded again");
}
