//! The panels of the page: filters, entities, results, notes, files.

pub(crate) mod charts_sources_notes;
mod counted_results;
mod entity_panel;
mod filters;
pub(crate) mod saved_files;
mod views;
