//! Selection by type (thesis P55) and by container (P57): what is left is a [`Hidden`].

use std::sync::Arc;

use super::hide::{Hidden, is_container, with_all_below};
use crate::filter::language::ast::Keep;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, Patterns};
use crate::query::{TimelineSource, TypeId};

/// Hides types, or all others of their kind: naming types of entities leaves all containers, and the other way round.
/// Containers go with all below them; what is above a container that stays, stays.
pub(crate) fn types(
    inner: &Arc<dyn TimelineSource>,
    keep: Keep,
    patterns: &Patterns,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let (model, list) = (inner.model(), inner.containers());
    let named = pattern::types(&model, patterns, "type", |ty| ty.id != TypeId::ROOT)?;
    let (boxes, others): (Vec<TypeId>, Vec<TypeId>) = named.into_iter().partition(|&ty| is_container(&model, ty));
    let found: Vec<usize> = (0..list.len()).filter(|&at| boxes.contains(&list[at].ty)).collect();
    let named = with_all_below(&list, &found);
    let whole = |ty: TypeId| is_container(&model, ty) || others.is_empty();
    let shown = |ty: TypeId| whole(ty) || others.contains(&ty) == (keep == Keep::Only);
    let left = |at: usize| boxes.is_empty() || named[at] == (keep == Keep::Only);
    Ok(Arc::new(Hidden::new(Arc::clone(inner), shown, left)))
}

/// Hides containers with all below them, or all others. What is above a container that stays, stays.
pub(crate) fn containers(
    inner: &Arc<dyn TimelineSource>,
    keep: Keep,
    patterns: &Patterns,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let list = inner.containers();
    let named = with_all_below(&list, &pattern::containers(&list, patterns)?);
    Ok(Arc::new(Hidden::new(Arc::clone(inner), |_| true, |at| named[at] == (keep == Keep::Only))))
}
