//! Names, times and table cells as text.

pub mod csv_cell;
pub mod entity_rows;
pub mod time_display;
