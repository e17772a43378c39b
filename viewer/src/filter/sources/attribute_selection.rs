//! Selection by attribute: by a [`Condition`] on fields (extra fields; `from`, `to` and `key` of
//! links; `file`, `line`, `value`, `container`) and on the endpoints of links.
//!
//! A field that the first entities of each type do not have is an error.
//!
//! Cost: every list and every cell of the filtered types reads the facts of each entity within the
//! time range, a few microseconds each. A condition on endpoints costs a look-up in a hash set. If
//! it decides, no facts are read.

use std::sync::Arc;

use super::entity_filter::{EntityFilterSource, EntityPredicate};
use crate::filter::language::ast::SelectionEffect;
use crate::filter::language::condition::{Condition, ResolvedCondition};
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, NamePattern, NamePatterns};
use crate::query::{ContainerId, EntityFacts, PajeTypeKind, TimelineSource, TypeId, TypeInfo, TypeModel};

struct AttributePredicate {
    selected_types: Vec<bool>,
    effect: SelectionEffect,
    condition: ResolvedCondition,
    has_ends: bool,
}

pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    effect: SelectionEffect,
    condition: &Condition,
    type_pattern: Option<&NamePattern>,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let model = inner.model();
    // A condition on endpoints applies to links, unless the types are given.
    let has_ends = condition.has_ends();
    let only_links = has_ends && type_pattern.is_none();
    let has_field = |ty: &TypeInfo| match ty.kind {
        PajeTypeKind::Link { .. } => true,
        PajeTypeKind::State | PajeTypeKind::Event => !only_links,
        PajeTypeKind::Container | PajeTypeKind::Variable => false,
    };
    let type_pattern = NamePatterns::new(type_pattern.cloned().into_iter().collect());
    let description = if only_links { "type of links" } else { "type of states, events or links" };
    let types = pattern::types(&model, &type_pattern, description, has_field)?;
    let condition = condition.resolve(inner.as_ref(), &types)?;
    let selected_types = model.types.iter().map(|ty| types.contains(&ty.id)).collect();
    let predicate = AttributePredicate { selected_types, effect, condition, has_ends };
    Ok(Arc::new(EntityFilterSource::new(Arc::clone(inner), predicate)))
}

impl EntityPredicate for AttributePredicate {
    fn applies_to(&self, ty: TypeId) -> bool {
        self.selected_types.get(ty.index()).copied().unwrap_or(false)
    }

    fn facts(&self, facts: &EntityFacts, _: TypeId, _: &TypeModel) -> bool {
        self.condition.fits(facts, None) == (self.effect == SelectionEffect::Only)
    }

    fn needs_ends(&self) -> bool {
        self.has_ends
    }

    fn ends(&self, ends: [ContainerId; 2]) -> Option<bool> {
        if !self.has_ends {
            return None;
        }
        Some(self.condition.endpoint_decision(ends)? == (self.effect == SelectionEffect::Only))
    }

    fn link(&self, facts: &EntityFacts, ends: [ContainerId; 2], _: &TypeModel) -> bool {
        self.condition.fits(facts, Some(ends)) == (self.effect == SelectionEffect::Only)
    }
}
