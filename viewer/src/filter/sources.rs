//! The sources with which filters wrap other sources.

pub(crate) mod attribute_selection;
pub(crate) mod classify;
pub(crate) mod duration_selection;
pub(crate) mod entity_filter;
pub(crate) mod filtered_summary;
pub(crate) mod function_pieces;
pub(crate) mod grouping;
pub(crate) mod hide;
pub(crate) mod layer;
pub(crate) mod measure;
pub(crate) mod ordering;
pub(crate) mod reduce;
pub(crate) mod row_reuse;
pub(crate) mod style_rules;
pub(crate) mod time_cut;
pub(crate) mod type_selection;
pub(crate) mod value_selection;
pub(crate) mod variable_range;
