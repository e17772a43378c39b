//! Wraps sources in filters.

use std::sync::Arc;

use super::language::ast::FilterExpr;
use super::language::error::FilterError;
use super::language::series::ExecutionSeries;
use super::series_provider;
use super::sources::{
    attribute_selection, classify, duration_selection, grouping, ordering, reduce, row_reuse, style_rules, time_cut,
    type_selection, value_selection,
};
use crate::query::{DrawStyle, TimelineSource};

impl FilterExpr {
    /// Wraps a source in the filter.
    ///
    /// # Errors
    /// If the trace contains nothing that the filter names; see [`FilterError`].
    pub fn apply(&self, inner: &Arc<dyn TimelineSource>) -> Result<Arc<dyn TimelineSource>, FilterError> {
        match self {
            Self::Types { keep, types } => type_selection::types(inner, *keep, types),
            Self::Values { keep, values: patterns, types: of } => {
                value_selection::apply(inner, *keep, patterns, of.as_ref())
            }
            Self::Containers { keep, containers } => type_selection::containers(inner, *keep, containers),
            Self::Attribute { keep, condition, types: of } => {
                attribute_selection::apply(inner, *keep, condition, of.as_ref())
            }
            Self::Duration { keep, comparison, nanos, types: of } => {
                duration_selection::apply(inner, *keep, *comparison, *nanos, of.as_ref())
            }
            Self::Cut(part) => time_cut::apply(inner, *part),
            Self::Group { containers, name } => grouping::apply(inner, containers, name),
            Self::Reuse { types } => row_reuse::reuse(inner, types),
            Self::Reduce(reduction) => reduce::apply(inner, reduction),
            Self::Series(series) => {
                let variables = series_provider::provide(inner, series).map_err(FilterError::Series)?;
                let name = |series_kind: &ExecutionSeries| {
                    series.name.clone().unwrap_or_else(|| series_kind.name(series.per_unit))
                };
                let variables = series.series.iter().map(name).zip(variables).collect();
                reduce::add_variables(inner, variables, &self.to_string())
            }
            Self::Classify { types: of, field, edges } => classify::apply(inner, of, field, edges),
            Self::Sort { ty, key, descending } => ordering::sort(inner, ty, key, *descending),
            Self::Order { containers } => ordering::move_to_front(inner, containers),
            Self::Best { number, ty, key: by, lowest } => ordering::keep_best(inner, *number, ty, by, *lowest),
            Self::Having { ty, key: by, comparison, number } => {
                ordering::keep_matching(inner, ty, by, *comparison, *number)
            }
            Self::Color { values, types: of, color } => style_rules::paint(inner, values, of.as_ref(), *color),
            Self::Shape { values, types: of, shape } => {
                style_rules::set_styles(inner, values, of.as_ref(), DrawStyle { shape: Some(*shape), size: None })
            }
            Self::Size { values, types: of, size } => {
                style_rules::set_styles(inner, values, of.as_ref(), DrawStyle { shape: None, size: Some(*size) })
            }
            Self::Category { values, types: of, category } => {
                style_rules::set_categories(inner, values, of.as_ref(), *category)
            }
            Self::Bright { values, types: of } => style_rules::highlight_values(inner, values, of.as_ref()),
        }
    }
}
