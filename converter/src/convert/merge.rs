//! Merging the records of several streams in order of time.

pub(crate) mod loser_tree;
pub(crate) mod window;
