//! The sources with which filters wrap other sources.

pub(crate) mod attribute_selection;
pub(crate) mod classify;
pub(crate) mod color;
pub(crate) mod duration_selection;
pub(crate) mod entity_filter;
pub(crate) mod group;
pub(crate) mod hide;
pub(crate) mod layer;
pub(crate) mod measure;
pub(crate) mod order;
pub(crate) mod reduce;
pub(crate) mod row_reuse;
pub(crate) mod step_function;
pub(crate) mod summary;
pub(crate) mod time_range;
pub(crate) mod type_selection;
pub(crate) mod value_selection;
pub(crate) mod variable_range;
