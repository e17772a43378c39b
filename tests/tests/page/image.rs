//! The images of the page: their contents, positions and colours.

mod diagram;
mod forced_colours;
mod image_refinement;
mod legend;
mod name_layout;
mod reproducible_images;
mod rows;
mod styles;
mod time_axis;
mod trace_comparison;
mod window_sizes;
