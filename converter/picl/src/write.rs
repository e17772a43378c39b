//! Writes Pajé operations as PICL.

mod action_sorter;
mod call_names;
mod message_ends;
mod new_records;
mod node_numbers;
mod old_records;
mod omitted_entities;
mod picl_writer;
mod record_output;
mod state_words;
mod subset_numbers;
mod unit_categories;
mod unit_records;
mod written_meanings;
mod written_types;

pub use omitted_entities::OmittedEntities;
pub use picl_writer::PiclWriter;
pub use unit_records::PiclStyle;
