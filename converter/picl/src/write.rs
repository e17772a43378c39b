//! Writes Pajé operations as PICL.

mod new_records;
mod node_numbers;
mod old_records;
mod picl_writer;
mod unit_records;
mod written_meanings;

pub use picl_writer::PiclWriter;
pub use unit_records::PiclStyle;
