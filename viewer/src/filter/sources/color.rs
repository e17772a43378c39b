//! Looks by rule (thesis P61): some values in a colour, shape or size, or some as they are and all else grey.
//!
//! Cost: none; only the model differs.

use std::sync::Arc;

use super::layer::Layer;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, Pattern, Patterns};
use crate::query::{Color, Look, Model, TimelineSource, TypeId, TypeInfo, TypeKind, ValueId};

/// Of what is not bright: light, so that it recedes.
const GREY: Color = Color { red: 0xd3, green: 0xd7, blue: 0xdc };

struct Colored {
    inner: Arc<dyn TimelineSource>,
    model: Arc<Model>,
}

impl Layer for Colored {
    fn inner(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn model(&self) -> Arc<Model> {
        Arc::clone(&self.model)
    }

    fn keeps(&self, _: TypeId) -> bool {
        true
    }
}

/// Paints values; without values, what `of` names: types of variables, links and events, and all values of the type.
pub(crate) fn paint(
    inner: &Arc<dyn TimelineSource>,
    patterns: &Patterns,
    of: Option<&Pattern>,
    color: Color,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let (types, values) = named(&model, patterns, of, false)?;
    for ty in types {
        model.types[ty.index()].color = Some(color);
    }
    for value in values {
        model.values[value.index()].color = color;
    }
    Ok(Arc::new(Colored { inner: Arc::clone(inner), model: Arc::new(model) }))
}

/// Gives values a shape or a size, or both; without values, all of what `of` names. Shapes are those of events.
pub(crate) fn dress(
    inner: &Arc<dyn TimelineSource>,
    patterns: &Patterns,
    of: Option<&Pattern>,
    look: Look,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let (types, values) = named(&model, patterns, of, look.shape.is_some())?;
    for ty in types {
        let ty = &mut model.types[ty.index()];
        ty.look = look.or(ty.look);
    }
    for value in values {
        let value = &mut model.values[value.index()];
        value.look = look.or(value.look);
    }
    Ok(Arc::new(Colored { inner: Arc::clone(inner), model: Arc::new(model) }))
}

/// The types whose looks are meant, none where only some of their values are, and the values.
fn named(
    model: &Model,
    patterns: &Patterns,
    of: Option<&Pattern>,
    of_events: bool,
) -> Result<(Vec<TypeId>, Vec<ValueId>), FilterError> {
    let events = |ty: &TypeInfo| ty.kind == TypeKind::Event;
    if let Some(of) = of.filter(|_| patterns.is_any()) {
        let (what, of) = (if of_events { "type of events" } else { "type" }, Patterns::new(vec![of.clone()]));
        let types = pattern::types(model, &of, what, |ty| !of_events || events(ty))?;
        let values = model.values.iter().filter(|value| types.contains(&value.ty)).map(|value| value.id).collect();
        return Ok((types, values));
    }
    let found = if of_events {
        pattern::values_of(model, patterns, of, ("type of events", &events))
    } else {
        pattern::values(model, patterns, of)
    };
    Ok((Vec::new(), found?.1))
}

/// Makes all grey but these.
pub(crate) fn bright(
    inner: &Arc<dyn TimelineSource>,
    patterns: &Patterns,
    of: Option<&Pattern>,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let (_, bright) = pattern::values(&model, patterns, of)?;
    for value in model.values.iter_mut().filter(|value| !bright.contains(&value.id)) {
        value.color = GREY;
    }
    // Variables have no values that could be named: they are among all else.
    for ty in model.types.iter_mut().filter(|ty| ty.kind == TypeKind::Variable) {
        ty.color = Some(GREY);
    }
    Ok(Arc::new(Colored { inner: Arc::clone(inner), model: Arc::new(model) }))
}
