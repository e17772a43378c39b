//! Elements of a page, and their positions.

use serde_json::Value;

/// An element, referred to by the protocol of the browser.
#[derive(Clone, Debug)]
pub struct PageElement {
    pub(super) node: Value,
    /// Its accessible name.
    pub name: String,
}

/// The position and size of an element, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct CssPosition {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl CssPosition {
    /// Its middle.
    #[must_use]
    pub fn center(&self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }
}
