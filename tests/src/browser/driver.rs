//! What a browser must be able to do for the tests, whichever protocol it speaks.

use std::fmt::Debug;

use serde_json::Value;

use super::{Element, Place};

/// A page of a browser, with its user's pointer and keys.
pub(super) trait Driver: Debug {
    /// Goes to an address.
    fn navigate(&mut self, url: &str);

    /// Loads the page again; what is asked from then on is asked of the new one, all of which is there.
    fn reload(&mut self);

    /// The value of an expression in the page, or what it throws.
    fn evaluate(&mut self, expression: &str) -> Result<Value, String>;

    /// Everything on the page with a role and, if one is given, this accessible name.
    fn find_all(&mut self, role: &str, name: Option<&str>) -> Vec<Element>;

    /// Where something is, if it is shown.
    fn shown(&mut self, node: &Value) -> Option<Place>;

    /// What a user reads in it; of a field, what stands in it.
    fn text(&mut self, node: &Value) -> String;

    /// The first button and the pointer.
    fn pointer(&mut self, act: Pointer, at: (f64, f64));

    /// Presses and releases a key, named as in JavaScript's `key`.
    fn key(&mut self, key: &str);

    /// Holds `Alt`, `Control`, `Shift` or the space bar down from now on, or lets it go.
    fn hold(&mut self, key: &str, down: bool);

    /// Types a text.
    fn type_text(&mut self, text: &str);

    /// What is seen, as a PNG in base64.
    fn screenshot(&mut self) -> String;

    /// Lets pages of this origin use the clipboard.
    fn allow_clipboard(&mut self, origin: &str);

    /// Shows scroll bars that take room, or none; false if this browser cannot be told.
    fn show_scroll_bars(&mut self, shown: bool) -> bool;

    /// What the system prefers, by a media feature; false if this browser cannot be told.
    fn prefer(&mut self, feature: &str, value: &str) -> bool;

    /// Warnings and errors of the page's console, so far.
    fn complaints(&self) -> &[String];
}

/// What the pointer does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pointer {
    /// Moves to the place, with the button held down or not.
    Move {
        /// Whether the button is held down.
        held: bool,
    },
    /// The button goes down.
    Press,
    /// The button goes up.
    Release,
    /// The wheel turns by so much; negative is away from the user.
    Wheel(f64),
}
