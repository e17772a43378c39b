//! `tumit view`: images, views, and their options.

mod card_files;
mod dense_images;
mod diagram_modes;
mod image_memory;
mod image_outputs;
mod perspectives;
mod run_as_paje;
mod view_options;
