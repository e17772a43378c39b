//! The browser operations that the tests need, for any protocol.

use std::fmt::Debug;
use std::time::Duration;

use serde_json::Value;

use super::element::{CssPosition, PageElement};

/// Maximum time for an operation of the page before the test gives up. No test asserts anything
/// about time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A page of a browser, with its user's pointer and keys.
pub(super) trait PageDriver: Debug {
    /// Opens an address.
    fn navigate(&mut self, url: &str);

    /// Reloads the page. Later queries go to the new page, which is complete.
    fn reload(&mut self);

    /// Evaluates an expression in the page.
    ///
    /// # Errors
    /// The exception, or the protocol's error if the page is replaced during the evaluation.
    fn evaluate(&mut self, expression: &str) -> Result<Value, String>;

    /// All elements of the page with a role and, if given, this accessible name.
    fn find_all(&mut self, role: &str, name: Option<&str>) -> Vec<PageElement>;

    /// The position of an element, if it is visible.
    fn visible_position(&mut self, node: &Value) -> Option<CssPosition>;

    /// The visible text of an element. For a field, its contents.
    fn text(&mut self, node: &Value) -> String;

    /// Performs an action with the pointer or its primary button.
    fn pointer(&mut self, act: PointerAction, point: (f64, f64));

    /// Presses and releases a key, named as in JavaScript's `key`.
    fn key(&mut self, key: &str);

    /// Holds `Alt`, `Control`, `Shift` or the space bar down from now on, or releases it.
    fn set_key_down(&mut self, key: &str, down: bool);

    fn type_text(&mut self, text: &str);

    /// A screenshot as PNG in base64.
    fn screenshot(&mut self) -> String;

    /// Permits pages of this origin to use the clipboard.
    fn allow_clipboard(&mut self, origin: &str);

    /// Shows scroll bars that take space, or none. Returns false if this browser does not support
    /// that.
    fn show_scroll_bars(&mut self, is_shown: bool) -> bool;

    /// Sets the system's preference for a media feature. Returns false if this browser does not
    /// support that.
    fn prefer(&mut self, feature: &str, value: &str) -> bool;

    /// Warnings and errors of the page's console so far.
    fn complaints(&self) -> &[String];
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PointerAction {
    /// Moves to the position, with or without the button held down.
    Move {
        /// Whether the button is held down.
        is_pressed: bool,
    },
    /// Presses the button.
    Press,
    /// Releases the button.
    Release,
    /// Turns the wheel by this distance. A negative value turns it away from the user.
    Wheel(f64),
}
