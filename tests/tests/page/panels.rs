//! The panels of the page: filters, entities, results, notes, files.

mod cards;
mod collective_operations;
mod counted_results;
mod diagnosis;
mod diagram_modes;
mod entity_panel;
mod filters;
mod notes;
mod own_views;
mod player;
mod profile;
pub(crate) mod saved_files;
pub(crate) mod source_view;
mod statistics;
mod trace_panes;
mod views;
