//! Selection by duration: states and links with a duration that meets a comparison.
//!
//! Cost: lists and mixture cells of the selected types read every state within the time range.

use std::sync::Arc;

use super::entity_filter::{EntityFilterSource, EntityPredicate};
use crate::filter::language::ast::SelectionEffect;
use crate::filter::language::comparison::Comparison;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, NamePattern, NamePatterns};
use crate::query::{EntityFacts, PajeTypeKind, TimelineSource, TypeId, TypeInfo, TypeModel, ValueId};

struct DurationPredicate {
    /// By type: whether the selection applies to its entities.
    selected_types: Vec<bool>,
    effect: SelectionEffect,
    comparison: Comparison,
    nanos: i64,
}

pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    effect: SelectionEffect,
    comparison: Comparison,
    nanos: i64,
    type_pattern: Option<&NamePattern>,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let model = inner.model();
    let has_duration = |ty: &TypeInfo| matches!(ty.kind, PajeTypeKind::State | PajeTypeKind::Link { .. });
    let type_pattern = NamePatterns::new(type_pattern.cloned().into_iter().collect());
    let types = pattern::types(&model, &type_pattern, "type of states or links", has_duration)?;
    let selected_types = model.types.iter().map(|ty| types.contains(&ty.id)).collect();
    Ok(Arc::new(EntityFilterSource::new(
        Arc::clone(inner),
        DurationPredicate { selected_types, effect, comparison, nanos },
    )))
}

impl EntityPredicate for DurationPredicate {
    fn applies_to(&self, ty: TypeId) -> bool {
        self.selected_types.get(ty.index()).copied().unwrap_or(false)
    }

    fn passes_by_value(&self, _: ValueId, nanos: i64) -> Option<bool> {
        Some(self.comparison.is_true(&nanos, &self.nanos) == (self.effect == SelectionEffect::Only))
    }

    fn facts(&self, facts: &EntityFacts, _: TypeId, _: &TypeModel) -> bool {
        let nanos = facts.life.to.0.saturating_sub(facts.life.from.0);
        self.comparison.is_true(&nanos, &self.nanos) == (self.effect == SelectionEffect::Only)
    }
}
