//! [`CardText`]: the text of a card file, with its name and lines.

use std::ops::Range;

use super::card_fault::CardFault;

#[derive(Clone, Copy, Debug)]
pub(super) struct CardText<'t> {
    pub(super) file: &'t str,
    pub(super) text: &'t str,
}

impl CardText<'_> {
    /// The line of a place, from 1.
    pub(super) fn line(&self, place: &Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..place.start.min(self.text.len())).unwrap_or_default();
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    pub(super) fn fault(&self, place: &Range<usize>, problem: impl Into<String>) -> CardFault {
        CardFault { file: self.file.to_owned(), line: self.line(place), problem: problem.into() }
    }
}
