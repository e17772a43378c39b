//! Card files: views of users that need no program.
//!
//! A card file is a text in the format TOML. It names series of the trace, marks of events, or
//! elements that events move, with their axes and colours. It contains no script and names no other
//! file. `docs/card-files.md` describes all keys.

mod bar_chart;
mod bar_series;
mod card_axis;
mod card_fault;
mod card_file;
mod card_folder;
mod card_paint;
mod card_panel;
mod card_table;
mod card_text;
mod card_view;
mod combined_steps;
mod element_chart;
mod element_history;
mod event_choice;
mod event_list;
mod event_marks;
mod level_chart;
mod level_values;
mod mark_choice;
mod mark_colors;
mod panel_table;
mod series_choice;

pub use card_fault::CardFault;
pub use card_file::{CARD_ENDING, CardFile, card_name};
pub use card_folder::{CardFileError, FoundCard, find, folder_beside, is_card_file, read, user_folder};
pub use card_view::CardView;
