//! Style by rule: sets colour, shape, size or category of some values, or makes all other values
//! grey.
//!
//! Cost: none. Only the model differs.

use std::sync::Arc;

use tumit_paje::category::ActivityCategory;

use super::layer::FilterLayer;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, NamePattern, NamePatterns};
use crate::query::{
    DrawStyle, EntityId, PajeTypeKind, QueryError, RgbColor, TimelineSource, TypeId, TypeInfo, TypeModel, ValueId,
};

/// The colour of values that are not bright: light, so that they are unobtrusive.
const GREY: RgbColor = RgbColor { red: 0xd3, green: 0xd7, blue: 0xdc };

struct StyleSource {
    inner: Arc<dyn TimelineSource>,
    model: Arc<TypeModel>,
}

impl FilterLayer for StyleSource {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn model(&self) -> Arc<TypeModel> {
        Arc::clone(&self.model)
    }

    fn keeps_entities(&self, _: TypeId) -> bool {
        true
    }

    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        self.inner.number_fields(ids, field)
    }
}

/// Sets the colour of values. Without values, it sets the colour of the types that `type_pattern`
/// names (variables, links and events) and of all their values.
pub(crate) fn paint(
    inner: &Arc<dyn TimelineSource>,
    patterns: &NamePatterns,
    type_pattern: Option<&NamePattern>,
    color: RgbColor,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let (types, values) = selected_values(&model, patterns, type_pattern, StyledTypes::All)?;
    for ty in types {
        model.types[ty.index()].color = Some(color);
    }
    for value in values {
        model.values[value.index()].color = color;
    }
    Ok(Arc::new(StyleSource { inner: Arc::clone(inner), model: Arc::new(model) }))
}

/// Sets the shape or the size of values, or both. Without values, it applies to the types that
/// `type_pattern` names. Only events have shapes.
pub(crate) fn set_styles(
    inner: &Arc<dyn TimelineSource>,
    patterns: &NamePatterns,
    type_pattern: Option<&NamePattern>,
    style: DrawStyle,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let styled_types = if style.shape.is_some() { StyledTypes::Events } else { StyledTypes::All };
    let (types, values) = selected_values(&model, patterns, type_pattern, styled_types)?;
    for ty in types {
        let ty = &mut model.types[ty.index()];
        ty.style = style.or(ty.style);
    }
    for value in values {
        let value = &mut model.values[value.index()];
        value.style = style.or(value.style);
    }
    Ok(Arc::new(StyleSource { inner: Arc::clone(inner), model: Arc::new(model) }))
}

/// Sets the category of values of states. Without values, it applies to all values of the types
/// that `types` names.
pub(crate) fn set_categories(
    inner: &Arc<dyn TimelineSource>,
    patterns: &NamePatterns,
    types: Option<&NamePattern>,
    category: ActivityCategory,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    for value in selected_values(&model, patterns, types, StyledTypes::States)?.1 {
        model.values[value.index()].category = Some(category);
    }
    Ok(Arc::new(StyleSource { inner: Arc::clone(inner), model: Arc::new(model) }))
}

/// The types that a style concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StyledTypes {
    All,
    Events,
    States,
}

impl StyledTypes {
    /// The words in error messages.
    const fn description(self) -> &'static str {
        match self {
            Self::All => "type",
            Self::Events => "type of events",
            Self::States => "type of states",
        }
    }

    fn fits(self, ty: &TypeInfo) -> bool {
        match self {
            Self::All => true,
            Self::Events => ty.kind == PajeTypeKind::Event,
            Self::States => ty.kind == PajeTypeKind::State,
        }
    }
}

/// The selected types and values. There are no types if only some of their values are selected.
fn selected_values(
    model: &TypeModel,
    patterns: &NamePatterns,
    type_pattern: Option<&NamePattern>,
    styled_types: StyledTypes,
) -> Result<(Vec<TypeId>, Vec<ValueId>), FilterError> {
    if let Some(type_pattern) = type_pattern.filter(|_| patterns.is_any()) {
        let type_pattern = NamePatterns::new(vec![type_pattern.clone()]);
        let types = pattern::types(model, &type_pattern, styled_types.description(), |ty| styled_types.fits(ty))?;
        let values = model.values.iter().filter(|value| types.contains(&value.ty)).map(|value| value.id).collect();
        return Ok((types, values));
    }
    let types_and_values = if styled_types == StyledTypes::All {
        pattern::values(model, patterns, type_pattern)
    } else {
        pattern::values_of(model, patterns, type_pattern, styled_types.description(), |ty| styled_types.fits(ty))
    };
    Ok((Vec::new(), types_and_values?.1))
}

/// Makes all values grey except these.
pub(crate) fn highlight_values(
    inner: &Arc<dyn TimelineSource>,
    patterns: &NamePatterns,
    type_pattern: Option<&NamePattern>,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let (_, bright) = pattern::values(&model, patterns, type_pattern)?;
    for value in model.values.iter_mut().filter(|value| !bright.contains(&value.id)) {
        value.color = GREY;
    }
    // Variables have no values that a filter could name, so they are always grey.
    for ty in model.types.iter_mut().filter(|ty| ty.kind == PajeTypeKind::Variable) {
        ty.color = Some(GREY);
    }
    Ok(Arc::new(StyleSource { inner: Arc::clone(inner), model: Arc::new(model) }))
}
