//! Style by rule: sets colour, shape or size of some values, or makes all other values grey.
//!
//! Cost: none. Only the model differs.

use std::sync::Arc;

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

/// Sets the colour of values. Without values, it sets the colour of the types that `of` names
/// (variables, links and events) and of all their values.
pub(crate) fn paint(
    inner: &Arc<dyn TimelineSource>,
    patterns: &NamePatterns,
    of: Option<&NamePattern>,
    color: RgbColor,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let (types, values) = selected_values(&model, patterns, of, false)?;
    for ty in types {
        model.types[ty.index()].color = Some(color);
    }
    for value in values {
        model.values[value.index()].color = color;
    }
    Ok(Arc::new(StyleSource { inner: Arc::clone(inner), model: Arc::new(model) }))
}

/// Sets the shape or the size of values, or both. Without values, it applies to the types that `of`
/// names. Only events have shapes.
pub(crate) fn set_styles(
    inner: &Arc<dyn TimelineSource>,
    patterns: &NamePatterns,
    of: Option<&NamePattern>,
    style: DrawStyle,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let (types, values) = selected_values(&model, patterns, of, style.shape.is_some())?;
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

/// The selected types and values. There are no types if only some of their values are selected.
fn selected_values(
    model: &TypeModel,
    patterns: &NamePatterns,
    of: Option<&NamePattern>,
    of_events: bool,
) -> Result<(Vec<TypeId>, Vec<ValueId>), FilterError> {
    let events = |ty: &TypeInfo| ty.kind == PajeTypeKind::Event;
    if let Some(of) = of.filter(|_| patterns.is_any()) {
        let (description, of) =
            (if of_events { "type of events" } else { "type" }, NamePatterns::new(vec![of.clone()]));
        let types = pattern::types(model, &of, description, |ty| !of_events || events(ty))?;
        let values = model.values.iter().filter(|value| types.contains(&value.ty)).map(|value| value.id).collect();
        return Ok((types, values));
    }
    let found = if of_events {
        pattern::values_of(model, patterns, of, "type of events", events)
    } else {
        pattern::values(model, patterns, of)
    };
    Ok((Vec::new(), found?.1))
}

/// Makes all values grey except these.
pub(crate) fn highlight_values(
    inner: &Arc<dyn TimelineSource>,
    patterns: &NamePatterns,
    of: Option<&NamePattern>,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let (_, bright) = pattern::values(&model, patterns, of)?;
    for value in model.values.iter_mut().filter(|value| !bright.contains(&value.id)) {
        value.color = GREY;
    }
    // Variables have no values that a filter could name, so they are always grey.
    for ty in model.types.iter_mut().filter(|ty| ty.kind == PajeTypeKind::Variable) {
        ty.color = Some(GREY);
    }
    Ok(Arc::new(StyleSource { inner: Arc::clone(inner), model: Arc::new(model) }))
}
