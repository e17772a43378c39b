//! Input by pointer, keys and the address of the page.

mod address;
pub(crate) mod input_targets;
mod key_table;
mod navigation;
mod palette_and_help;
mod panes;
mod selection;
mod time_navigation;
