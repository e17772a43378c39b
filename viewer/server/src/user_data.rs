//! Data of users that outlive a page: notes, filters, views, and choices for the model of a trace.

pub(crate) mod model_categories;
pub(crate) mod model_layouts;
pub(crate) mod own_views;
pub(crate) mod saved_filters;
pub(crate) mod user_files;
