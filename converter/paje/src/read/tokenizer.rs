//! Lines and words: quotes, comments, line ends, encodings.

mod ambiguous_signs;
mod lines;
mod quotes;
mod quoting;
#[cfg(test)]
mod tests;

pub(super) use ambiguous_signs::AmbiguousSigns;
pub(super) use lines::{DecodedLine, LineReader, TextLine};
pub(super) use quoting::LineWords;
