//! Writes Pajé operations as PICL.

mod call_names;
mod new_records;
mod node_numbers;
mod old_records;
mod picl_writer;
mod record_output;
mod state_words;
mod subset_numbers;
mod unit_categories;
mod unit_records;
mod written_meanings;
mod written_types;

pub use picl_writer::PiclWriter;
pub use unit_records::PiclStyle;
