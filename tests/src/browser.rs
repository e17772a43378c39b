//! A real browser, driven with real pointer and key events: headless Chromium, or Firefox with `TUMIT_BROWSER=firefox`.
//!
//! Elements are found as a screen reader finds them, by role and name.

mod bidi;
mod devtools;
mod driver;
mod process;

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use bidi::Bidi;
use devtools::DevTools;
use driver::{Driver, Pointer};
use process::Process;

/// How long the page may take for anything before the test gives up; it asserts nothing about time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page, as its user sees it.
#[derive(Debug)]
pub struct Browser {
    page: Box<dyn Driver>,
}

/// Something on the page.
#[derive(Clone, Debug)]
pub struct Element {
    node: Value,
    /// Its accessible name.
    pub name: String,
}

/// Where something is, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Place {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Place {
    /// Its middle.
    #[must_use]
    pub fn center(&self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }
}

impl Browser {
    /// Opens a window of this size in the browser that the tests are to use.
    ///
    /// # Panics
    /// When it is not installed, or does not answer.
    #[must_use]
    pub fn start(width: u32, height: u32) -> Self {
        match std::env::var("TUMIT_BROWSER").as_deref() {
            Ok("firefox") => Self::firefox(width, height),
            Err(_) | Ok("chromium") => Self::chromium(width, height),
            Ok(other) => panic!("TUMIT_BROWSER={other}: there are `chromium` and `firefox`"),
        }
    }

    /// Opens a window in Chromium.
    ///
    /// # Panics
    /// When it is not installed, or does not answer.
    #[must_use]
    pub fn chromium(width: u32, height: u32) -> Self {
        Self { page: Box::new(DevTools::connect(Process::chromium(PATIENCE), (width, height), PATIENCE)) }
    }

    /// Opens a window in Firefox.
    ///
    /// # Panics
    /// When it is not installed, or does not answer.
    #[must_use]
    pub fn firefox(width: u32, height: u32) -> Self {
        Self { page: Box::new(Bidi::open((width, height), PATIENCE)) }
    }

    /// Opens an address and waits for the page's `load`.
    pub fn open(&mut self, url: &str) {
        self.page.navigate(url);
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /// Loads the page again and waits for its `load`.
    pub fn reload(&mut self) {
        self.page.reload();
    }

    /// Lets a page read and write the clipboard without asking.
    pub fn allow_clipboard(&mut self, url: &str) {
        let origin: String = url.split('/').take(3).collect::<Vec<_>>().join("/");
        self.page.allow_clipboard(&origin);
    }

    /// Whether the system asks for little motion, as the page sees it. False if this browser cannot be told.
    #[must_use]
    pub fn prefer_stillness(&mut self) -> bool {
        self.page.prefer("prefers-reduced-motion", "reduce")
    }

    /// Shows scroll bars that take room, as most systems with a mouse have them. False if this browser cannot be told.
    #[must_use]
    pub fn show_scroll_bars(&mut self) -> bool {
        self.page.show_scroll_bars(true)
    }

    /// Lets the system choose all colours, as the page sees it. False if this browser cannot be told.
    #[must_use]
    pub fn force_colors(&mut self) -> bool {
        self.page.prefer("forced-colors", "active")
    }

    /// The system's preferred colour scheme, as the page sees it. False if this browser cannot be told.
    #[must_use]
    pub fn prefer(&mut self, scheme: &str) -> bool {
        self.page.prefer("prefers-color-scheme", scheme)
    }

    /// The value of an expression in the page.
    ///
    /// # Panics
    /// When it throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        self.page.evaluate(expression).unwrap_or_else(|thrown| panic!("{expression}: {thrown}"))
    }

    /// Waits until an expression, or what it promises, is true.
    ///
    /// # Panics
    /// When that takes far too long.
    pub fn wait(&mut self, expression: &str) {
        let started = Instant::now();
        while self.evaluate(&format!("Promise.resolve({expression}).then(Boolean)")) != json!(true) {
            if started.elapsed() >= PATIENCE {
                let focus = self.evaluate("document.activeElement?.outerHTML.slice(0, 300)");
                panic!("never true: {expression}\nthe focus is in {focus}\n{}", self.complaints().join("\n"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Everything on the page with a role and a name.
    pub fn find_all(&mut self, role: &str, name: Option<&str>) -> Vec<Element> {
        self.page.find_all(role, name)
    }

    /// The one thing on the page with a role and a name; waits for it.
    ///
    /// # Panics
    /// When there is none, or more than one.
    pub fn find(&mut self, role: &str, name: Option<&str>) -> Element {
        let started = Instant::now();
        loop {
            let mut found = self.find_all(role, name);
            if found.len() == 1 {
                return found.remove(0);
            }
            assert!(started.elapsed() < PATIENCE, "{} things with role {role} and name {name:?}", found.len());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Where something is.
    ///
    /// # Panics
    /// When it is not shown.
    pub fn place(&mut self, element: &Element) -> Place {
        self.page.shown(&element.node).expect("it is shown")
    }

    /// Where the one thing with a role and a name is, once it rests there: if the page draws it anew meanwhile, where the new one is.
    ///
    /// # Panics
    /// When there is none, or it is not shown.
    pub fn place_of(&mut self, role: &str, name: &str) -> Place {
        self.resting(|browser| browser.find(role, Some(name)))
    }

    /// Where something is once it stays there from one frame to the next: a hand aims at nothing that moves. It is looked for each time.
    ///
    /// # Panics
    /// When it is not shown, or never rests.
    pub fn resting(&mut self, find: impl Fn(&mut Self) -> Element) -> Place {
        let started = Instant::now();
        let mut before = None;
        loop {
            let element = find(self);
            let place = self.page.shown(&element.node);
            if let Some(place) = place.filter(|_| place == before) {
                return place;
            }
            assert!(started.elapsed() < PATIENCE, "{}: last at {place:?}, before at {before:?}", element.name);
            before = place;
            self.evaluate(
                "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))",
            );
        }
    }

    /// What a user reads in it; of a field, what stands in it.
    ///
    /// # Panics
    /// When it has gone.
    pub fn text(&mut self, element: &Element) -> String {
        self.page.text(&element.node)
    }

    /// Moves the pointer.
    pub fn point(&mut self, at: (f64, f64)) {
        self.page.pointer(Pointer::Move { held: false }, at);
    }

    /// Presses and releases the first button.
    pub fn click(&mut self, at: (f64, f64)) {
        self.point(at);
        self.page.pointer(Pointer::Press, at);
        self.page.pointer(Pointer::Release, at);
    }

    /// Presses the first button, and holds it down.
    pub fn press(&mut self, at: (f64, f64)) {
        self.page.pointer(Pointer::Press, at);
    }

    /// Releases the first button.
    pub fn release(&mut self, at: (f64, f64)) {
        self.page.pointer(Pointer::Release, at);
    }

    /// Presses at one place and releases at another, with the pointer in between.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.point(from);
        self.page.pointer(Pointer::Press, from);
        for step in 1..=4 {
            let part = f64::from(step) / 4.0;
            let at = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            self.page.pointer(Pointer::Move { held: true }, at);
        }
        self.page.pointer(Pointer::Release, to);
    }

    /// Turns the wheel; negative is away from the user.
    pub fn wheel(&mut self, at: (f64, f64), by: f64) {
        self.page.pointer(Pointer::Wheel(by), at);
    }

    /// Presses and releases a key, named as in JavaScript's `key`.
    pub fn key(&mut self, key: &str) {
        self.page.key(key);
    }

    /// Does something while `Alt`, `Control`, `Shift` or the space bar is held down.
    pub fn holding(&mut self, key: &str, act: impl FnOnce(&mut Self)) {
        self.page.hold(key, true);
        act(self);
        self.page.hold(key, false);
    }

    /// Types a text.
    pub fn type_text(&mut self, text: &str) {
        self.page.type_text(text);
    }

    /// Writes what is seen into a PNG.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn screenshot(&mut self, path: &Path) {
        let bytes = self.seen();
        std::fs::File::create(path).and_then(|mut file| file.write_all(&bytes)).expect("the screenshot can be written");
    }

    /// What is seen, as a PNG.
    pub fn seen(&mut self) -> Vec<u8> {
        devtools::decode_base64(&self.page.screenshot())
    }

    /// What the page wrote to its console as warnings and errors.
    #[must_use]
    pub fn complaints(&self) -> &[String] {
        self.page.complaints()
    }
}
