//! Order in time: [`ordered_stream`] puts the items of one stream in order, [`merge_window`] and
//! [`loser_tree`] merge the items of several streams.

pub(crate) mod loser_tree;
pub(crate) mod merge_window;
pub(crate) mod ordered_item;
pub(crate) mod ordered_stream;
mod spilled_items;
mod waiting_items;
