//! Selection by duration (thesis P58): states and links at least, or at most, so long.
//!
//! Cost: lists and cells of the types concerned look at every state within the interval.

use std::sync::Arc;

use super::entity_filter::{Pick, Picked};
use crate::filter::language::ast::Keep;
use crate::filter::language::comparison::Comparison;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, Pattern, Patterns};
use crate::query::{Facts, Model, TimelineSource, TypeId, TypeInfo, TypeKind, ValueId};

struct Duration {
    touched: Vec<bool>,
    keep: Keep,
    comparison: Comparison,
    nanos: i64,
}

pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    keep: Keep,
    comparison: Comparison,
    nanos: i64,
    of: Option<&Pattern>,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let model = inner.model();
    let lasting = |ty: &TypeInfo| matches!(ty.kind, TypeKind::State | TypeKind::Link { .. });
    let of = Patterns::new(of.cloned().into_iter().collect());
    let types = pattern::types(&model, &of, "type of states or links", lasting)?;
    let touched = model.types.iter().map(|ty| types.contains(&ty.id)).collect();
    Ok(Arc::new(Picked::new(Arc::clone(inner), Duration { touched, keep, comparison, nanos })))
}

impl Pick for Duration {
    fn touches(&self, ty: TypeId) -> bool {
        self.touched.get(ty.index()).copied().unwrap_or(false)
    }

    fn quick(&self, _: ValueId, nanos: i64) -> Option<bool> {
        Some(self.comparison.holds(&nanos, &self.nanos) == (self.keep == Keep::Only))
    }

    fn facts(&self, facts: &Facts, _: TypeId, _: &Model) -> bool {
        let nanos = facts.life.to.0.saturating_sub(facts.life.from.0);
        self.comparison.holds(&nanos, &self.nanos) == (self.keep == Keep::Only)
    }
}
