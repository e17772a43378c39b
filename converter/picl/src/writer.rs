//! Writes Pajé operations as PICL.

mod meanings;
mod new_records;
mod node_numbers;
mod old_records;
mod output;
mod picl_writer;

pub use output::PiclStyle;
pub use picl_writer::PiclWriter;
