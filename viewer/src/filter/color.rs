//! Colours by rule (thesis P61): some values in a colour, or some as they are and all else grey.
//!
//! Cost: none; only the model differs.

use std::sync::Arc;

use super::FilterError;
use super::layer::Layer;
use super::pattern::{self, Pattern, Patterns};
use crate::query::{Cells, Color, Interval, Lane, Model, QueryError, TimelineSource, ValueId};

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

    fn largest(&self, lanes: &[Lane], interval: Interval, columns: u32, most: usize) -> Result<Cells, QueryError> {
        self.inner.largest(lanes, interval, columns, most)
    }

    fn times(&self, lanes: &[Lane], interval: Interval) -> Result<Vec<(ValueId, i64)>, QueryError> {
        self.inner.times(lanes, interval)
    }
}

/// Paints values; without values, what `of` names: types of variables, links and events, and all values of the type.
pub(super) fn paint(
    inner: &Arc<dyn TimelineSource>,
    patterns: &Patterns,
    of: Option<&Pattern>,
    color: Color,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    if let Some(of) = of.filter(|_| patterns.is_any()) {
        let named = pattern::types(&model, &Patterns::new(vec![of.clone()]), "type", |_| true)?;
        for ty in &named {
            model.types[ty.index()].color = Some(color);
        }
        for value in model.values.iter_mut().filter(|value| named.contains(&value.ty)) {
            value.color = color;
        }
    } else {
        for value in pattern::values(&model, patterns, of)?.1 {
            model.values[value.index()].color = color;
        }
    }
    Ok(Arc::new(Colored { inner: Arc::clone(inner), model: Arc::new(model) }))
}

/// Makes all grey but these.
pub(super) fn bright(
    inner: &Arc<dyn TimelineSource>,
    patterns: &Patterns,
    of: Option<&Pattern>,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let (_, named) = pattern::values(&model, patterns, of)?;
    for value in model.values.iter_mut().filter(|value| !named.contains(&value.id)) {
        value.color = GREY;
    }
    Ok(Arc::new(Colored { inner: Arc::clone(inner), model: Arc::new(model) }))
}
