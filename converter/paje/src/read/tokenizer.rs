//! Lines and words: quotes, comments, line ends, encodings.

mod ambiguous_signs;
mod lines;
mod quotes;
#[cfg(test)]
mod tests;
mod words;

pub(super) use ambiguous_signs::AmbiguousSigns;
pub(super) use lines::{DecodedLine, LineReader, TextLine};
pub(super) use words::LineWords;
