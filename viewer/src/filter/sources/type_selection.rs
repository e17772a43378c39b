//! Selection by type and by container; the result is a [`HideSource`].

use std::sync::Arc;

use super::hide::{HideSource, is_container, with_all_below};
use crate::filter::language::ast::SelectionEffect;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, NamePatterns};
use crate::query::{ContainerId, TimelineSource, TypeId};

/// Hides types, or all other types of their kind. Types of entities do not affect containers, and
/// container types do not affect entities.
///
/// A hidden container hides all containers below it. A kept container keeps all containers above
/// it.
pub(crate) fn types(
    inner: &Arc<dyn TimelineSource>,
    effect: SelectionEffect,
    patterns: &NamePatterns,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let (model, list) = (inner.model(), inner.containers());
    let types = pattern::types(&model, patterns, "type", |ty| ty.id != TypeId::ROOT)?;
    let (container_types, entity_types): (Vec<TypeId>, Vec<TypeId>) =
        types.into_iter().partition(|&ty| is_container(&model, ty));
    let subtree_roots: Vec<usize> =
        (0..list.len()).filter(|&index| container_types.contains(&list[index].ty)).collect();
    let is_named = with_all_below(&list, &subtree_roots);
    let is_unaffected = |ty: TypeId| is_container(&model, ty) || entity_types.is_empty();
    let is_type_visible =
        |ty: TypeId| is_unaffected(ty) || entity_types.contains(&ty) == (effect == SelectionEffect::Only);
    let is_container_visible =
        |index: usize| container_types.is_empty() || is_named[index] == (effect == SelectionEffect::Only);
    Ok(Arc::new(HideSource::new(Arc::clone(inner), is_type_visible, is_container_visible)))
}

/// Hides containers with all containers below them, or hides all others. A kept container keeps all
/// containers above it.
pub(crate) fn containers(
    inner: &Arc<dyn TimelineSource>,
    effect: SelectionEffect,
    patterns: &NamePatterns,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let list = inner.containers();
    let is_named = with_all_below(&list, &patterns.containers(&list)?);
    Ok(Arc::new(HideSource::new(
        Arc::clone(inner),
        |_| true,
        |index| is_named[index] == (effect == SelectionEffect::Only),
    )))
}

/// A source with the containers of some ids only, all containers below them, and all containers
/// above them. Links between two of the containers remain.
#[must_use]
pub fn only_containers(
    inner: &Arc<dyn TimelineSource>,
    is_chosen: impl Fn(ContainerId) -> bool,
) -> Arc<dyn TimelineSource> {
    let list = inner.containers();
    let subtree_roots: Vec<usize> = (0..list.len()).filter(|&index| is_chosen(list[index].id)).collect();
    let is_included = with_all_below(&list, &subtree_roots);
    Arc::new(HideSource::new(Arc::clone(inner), |_| true, |index| is_included[index]))
}
