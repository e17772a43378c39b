//! The images of the page: what is drawn, where, and in which colours.

mod comparison;
mod diagram;
mod forced_colours;
mod image_refinement;
mod legend;
mod name_layout;
mod reproducible_images;
mod rows;
mod styles;
mod time_axis;
mod window_sizes;
