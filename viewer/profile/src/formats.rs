//! Profiles in the formats of other tools.

mod csv;
mod difference_tables;
mod folded;
mod json;
mod paths;
mod speedscope;

pub use csv::csv;
pub use difference_tables::{difference_csv, difference_folded, difference_json};
pub use folded::folded;
pub use json::json;
pub use speedscope::speedscope;
