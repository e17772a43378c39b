//! Selection by value (thesis P56): hides states, events and links of some values, or all others.
//!
//! Cost: cells are those within without the shares that are hidden, whatever the number of states; lists are looked through, as
//! [`crate::filter::sources::entity_filter`] says.

use std::sync::Arc;

use super::entity_filter::{Pick, Picked};
use crate::filter::language::ast::Keep;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, Pattern, Patterns};
use crate::query::{Facts, Model, TimelineSource, TypeId, ValueId};

struct Values {
    /// By type.
    touched: Vec<bool>,
    /// By value, whether it passes.
    passes: Vec<bool>,
}

pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    keep: Keep,
    patterns: &Patterns,
    of: Option<&Pattern>,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let model = inner.model();
    let (types, named) = pattern::values(&model, patterns, of)?;
    // Without `of`, "only computing" is about the types that have such a value, not about all others.
    let concerned = |ty: TypeId| {
        types.contains(&ty) && (of.is_some() || named.iter().any(|value| model.values[value.index()].ty == ty))
    };
    let touched = model.types.iter().map(|ty| concerned(ty.id)).collect();
    let mut passes = vec![keep == Keep::Hide; model.values.len()];
    for value in named {
        passes[value.index()] = keep == Keep::Only;
    }
    Ok(Arc::new(Picked::new(Arc::clone(inner), Values { touched, passes })))
}

impl Pick for Values {
    fn touches(&self, ty: TypeId) -> bool {
        self.touched.get(ty.index()).copied().unwrap_or(false)
    }

    fn value(&self, value: ValueId) -> Option<bool> {
        Some(self.passes.get(value.index()).copied().unwrap_or(true))
    }

    fn facts(&self, facts: &Facts, ty: TypeId, model: &Model) -> bool {
        let mut named = model.values.iter().filter(|value| value.ty == ty && value.name == facts.name);
        named.next().is_none_or(|value| self.passes.get(value.id.index()).copied().unwrap_or(true))
    }
}
