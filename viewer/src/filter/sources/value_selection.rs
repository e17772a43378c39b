//! Selection by value: hides states, events and links of some values, or of all other values.
//!
//! Cost: cells are those of the inner source without the hidden shares, independent of the number
//! of states. Lists are read completely, see [`crate::filter::sources::entity_filter`].

use std::sync::Arc;

use super::entity_filter::{EntityFilterSource, EntityPredicate};
use crate::filter::language::ast::SelectionEffect;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, NamePattern, NamePatterns};
use crate::query::{EntityFacts, TimelineSource, TypeId, TypeModel, ValueId};

struct ValuePredicate {
    /// By type: whether it is affected.
    selected_types: Vec<bool>,
    /// By value: whether it passes.
    passes: Vec<bool>,
}

pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    effect: SelectionEffect,
    patterns: &NamePatterns,
    type_pattern: Option<&NamePattern>,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let model = inner.model();
    let (types, value_ids) = pattern::values(&model, patterns, type_pattern)?;
    // Without `type_pattern`, "only computing" concerns only the types that have such a value.
    let concerned = |ty: TypeId| {
        types.contains(&ty)
            && (type_pattern.is_some() || value_ids.iter().any(|value| model.values[value.index()].ty == ty))
    };
    let selected_types = model.types.iter().map(|ty| concerned(ty.id)).collect();
    let mut passes = vec![effect == SelectionEffect::Hide; model.values.len()];
    for value in value_ids {
        passes[value.index()] = effect == SelectionEffect::Only;
    }
    Ok(Arc::new(EntityFilterSource::new(Arc::clone(inner), ValuePredicate { selected_types, passes })))
}

impl EntityPredicate for ValuePredicate {
    fn applies_to(&self, ty: TypeId) -> bool {
        self.selected_types.get(ty.index()).copied().unwrap_or(false)
    }

    fn value(&self, value: ValueId) -> Option<bool> {
        Some(self.passes.get(value.index()).copied().unwrap_or(true))
    }

    fn facts(&self, facts: &EntityFacts, ty: TypeId, model: &TypeModel) -> bool {
        let mut values_of_name = model.values.iter().filter(|value| value.ty == ty && value.name == facts.name);
        values_of_name.next().is_none_or(|value| self.passes.get(value.id.index()).copied().unwrap_or(true))
    }
}
