//! Controls a real browser with real pointer and key events: headless Chromium, or Firefox with
//! `TUMIT_BROWSER=firefox`.
//!
//! Elements are found by role and name, as a screen reader finds them.

mod bidi;
mod devtools;
mod driver;
mod element;
mod process;
mod process_keeper;

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use bidi::BidiPage;
use devtools::DevToolsPage;
pub(crate) use driver::PATIENCE;
use driver::{PageDriver, PointerAction};
pub use element::{CssPosition, PageElement};
use process::BrowserProcess;
pub use process_keeper::ProcessKeeper;

/// A browser with one page, from its user's view.
#[derive(Debug)]
pub struct BrowserPage {
    page: Box<dyn PageDriver>,
}

impl BrowserPage {
    /// Opens a window of this size in the browser that the environment selects.
    ///
    /// # Panics
    /// If it is not installed, or does not answer.
    #[must_use]
    pub fn start(width: u32, height: u32) -> Self {
        match std::env::var("TUMIT_BROWSER").as_deref() {
            Ok("firefox") => Self::firefox(width, height),
            Err(_) | Ok("chromium") => Self::chromium(width, height),
            Ok(other) => panic!("TUMIT_BROWSER={other}: expected `chromium` or `firefox`"),
        }
    }

    /// Opens a window in Chromium.
    ///
    /// # Panics
    /// If it is not installed, or does not answer.
    #[must_use]
    pub fn chromium(width: u32, height: u32) -> Self {
        Self { page: Box::new(DevToolsPage::connect(BrowserProcess::chromium(PATIENCE), (width, height), PATIENCE)) }
    }

    /// Opens a window in Firefox.
    ///
    /// # Panics
    /// If it is not installed, or does not answer.
    #[must_use]
    pub fn firefox(width: u32, height: u32) -> Self {
        Self { page: Box::new(BidiPage::open((width, height), PATIENCE)) }
    }

    /// Opens an address and waits for the page's `load`.
    pub fn open(&mut self, url: &str) {
        self.page.navigate(url);
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /// Reloads the page and waits for its `load`.
    pub fn reload(&mut self) {
        self.page.reload();
    }

    /// Permits a page to read and write the clipboard without a prompt.
    pub fn allow_clipboard(&mut self, url: &str) {
        let origin: String = url.split('/').take(3).collect::<Vec<_>>().join("/");
        self.page.allow_clipboard(&origin);
    }

    /// Emulates a system with reduced motion. Returns false if this browser does not support that.
    #[must_use]
    pub fn prefer_stillness(&mut self) -> bool {
        self.page.prefer("prefers-reduced-motion", "reduce")
    }

    /// Shows scroll bars that take space, as on most systems with a mouse. Returns false if this
    /// browser does not support that.
    #[must_use]
    pub fn show_scroll_bars(&mut self) -> bool {
        self.page.show_scroll_bars(true)
    }

    /// Emulates forced colours: the system chooses all colours. Returns false if this browser does
    /// not support that.
    #[must_use]
    pub fn force_colors(&mut self) -> bool {
        self.page.prefer("forced-colors", "active")
    }

    /// Emulates a system with a preferred colour scheme. Returns false if this browser does not
    /// support that.
    #[must_use]
    pub fn prefer(&mut self, scheme: &str) -> bool {
        self.page.prefer("prefers-color-scheme", scheme)
    }

    /// Evaluates an expression in the page.
    ///
    /// # Panics
    /// If it throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        self.page.evaluate(expression).unwrap_or_else(|thrown| panic!("{expression}: {thrown}"))
    }

    /// Waits until an expression, or the result of its promise, is true. Evaluates the expression
    /// again if it throws or the page is replaced meanwhile, because both can happen while a page
    /// loads.
    ///
    /// # Panics
    /// If that takes longer than `PATIENCE` (60 s).
    pub fn wait(&mut self, expression: &str) {
        let started = Instant::now();
        loop {
            let result = self.page.evaluate(&format!("Promise.resolve({expression}).then(Boolean)"));
            if result == Ok(json!(true)) {
                return;
            }
            if started.elapsed() >= PATIENCE {
                let focus = self.page.evaluate("document.activeElement?.outerHTML.slice(0, 300)");
                panic!(
                    "timeout: {expression} is never true: {result:?}\nthe focus is in {focus:?}\n{}",
                    self.complaints().join("\n")
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// All elements in the accessibility tree with a role. With a name, only those with that name.
    pub fn find_all(&mut self, role: &str, name: Option<&str>) -> Vec<PageElement> {
        self.page.find_all(role, name)
    }

    /// The only element of the page with a role and a name. Waits for it.
    ///
    /// # Panics
    /// If there is none, or more than one.
    pub fn find(&mut self, role: &str, name: Option<&str>) -> PageElement {
        let started = Instant::now();
        loop {
            let mut elements = self.find_all(role, name);
            if elements.len() == 1 {
                return elements.remove(0);
            }
            assert!(
                started.elapsed() < PATIENCE,
                "expected one element with role {role} and name {name:?}, found {}",
                elements.len()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The position of an element.
    ///
    /// # Panics
    /// If it is not visible.
    pub fn place(&mut self, element: &PageElement) -> CssPosition {
        self.page.visible_position(&element.node).expect("the element is visible")
    }

    /// The position of the only element with a role and a name, once it does not move. If the page
    /// replaces the element meanwhile, the position of the new one.
    ///
    /// # Panics
    /// If there is none, or it is not visible.
    pub fn place_of(&mut self, role: &str, name: &str) -> CssPosition {
        self.resting_position(|browser| browser.find(role, Some(name)))
    }

    /// The position of an element, once it is the same in two frames, because users cannot click on
    /// moving elements. The element is looked up each time.
    ///
    /// # Panics
    /// If it is not visible, or never stops moving.
    pub fn resting_position(&mut self, find: impl Fn(&mut Self) -> PageElement) -> CssPosition {
        let started = Instant::now();
        let mut before = None;
        loop {
            let element = find(self);
            let place = self.page.visible_position(&element.node);
            if let Some(place) = place.filter(|_| place == before) {
                return place;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "{} does not stop moving: now at {place:?}, before at {before:?}",
                element.name
            );
            before = place;
            self.evaluate(
                "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))",
            );
        }
    }

    /// The visible text of an element. For a field, its contents.
    ///
    /// # Panics
    /// If it has been removed.
    pub fn text(&mut self, element: &PageElement) -> String {
        self.page.text(&element.node)
    }

    /// Moves the pointer.
    pub fn point(&mut self, point: (f64, f64)) {
        self.page.pointer(PointerAction::Move { is_pressed: false }, point);
    }

    /// Presses and releases the primary button.
    pub fn click(&mut self, point: (f64, f64)) {
        self.point(point);
        self.page.pointer(PointerAction::Press, point);
        self.page.pointer(PointerAction::Release, point);
    }

    /// Presses the primary button, and holds it down.
    pub fn press(&mut self, point: (f64, f64)) {
        self.page.pointer(PointerAction::Press, point);
    }

    /// Releases the primary button.
    pub fn release(&mut self, point: (f64, f64)) {
        self.page.pointer(PointerAction::Release, point);
    }

    /// Presses at one position and releases at another, and moves the pointer in between.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.point(from);
        self.page.pointer(PointerAction::Press, from);
        for step in 1..=4 {
            let part = f64::from(step) / 4.0;
            let point = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            self.page.pointer(PointerAction::Move { is_pressed: true }, point);
        }
        self.page.pointer(PointerAction::Release, to);
    }

    /// Moves the pointer while the primary button is held down.
    pub fn drag_to(&mut self, to: (f64, f64)) {
        self.page.pointer(PointerAction::Move { is_pressed: true }, to);
    }

    /// Turns the wheel. A negative value turns it away from the user.
    pub fn wheel(&mut self, point: (f64, f64), by: f64) {
        self.page.pointer(PointerAction::Wheel(by), point);
    }

    /// Presses and releases a key, named as in JavaScript's `key`.
    pub fn key(&mut self, key: &str) {
        self.page.key(key);
    }

    /// Calls `act` while `Alt`, `Control`, `Shift` or the space bar is held down.
    pub fn with_key_down(&mut self, key: &str, act: impl FnOnce(&mut Self)) {
        self.page.set_key_down(key, true);
        act(self);
        self.page.set_key_down(key, false);
    }

    /// Sends the key events of a text to the focused element.
    pub fn type_text(&mut self, text: &str) {
        self.page.type_text(text);
    }

    /// Writes a screenshot to a PNG file.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn screenshot(&mut self, path: &Path) {
        let bytes = self.seen();
        std::fs::File::create(path).and_then(|mut file| file.write_all(&bytes)).expect("the screenshot can be written");
    }

    /// A screenshot as PNG.
    pub fn seen(&mut self) -> Vec<u8> {
        devtools::decode_base64(&self.page.screenshot())
    }

    /// Warnings and errors that the page wrote to its console.
    #[must_use]
    pub fn complaints(&self) -> &[String] {
        self.page.complaints()
    }
}
