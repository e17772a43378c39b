//! Selection by attribute (thesis P58): by a [`Condition`] on fields (extra fields; `from`, `to`
//! and `key` of links; `file`, `line`, `value`, `container`) and on the endpoints of links.
//!
//! A field that the first entities of each type do not have is an error.
//!
//! Cost: every list and every cell of the filtered types reads the facts of each entity within the
//! interval, a few microseconds each. A condition on endpoints costs a look-up in a hash set. If it
//! decides, no facts are read.

use std::sync::Arc;

use super::entity_filter::{Pick, Picked};
use crate::filter::language::ast::Keep;
use crate::filter::language::condition::{Condition, Test};
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, Pattern, Patterns};
use crate::query::{ContainerId, Facts, Model, TimelineSource, TypeId, TypeInfo, TypeKind};

struct Attribute {
    touched: Vec<bool>,
    keep: Keep,
    test: Test,
    has_ends: bool,
}

pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    keep: Keep,
    condition: &Condition,
    of: Option<&Pattern>,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let model = inner.model();
    // A condition on endpoints applies to links, unless the types are given.
    let only_links = condition.has_ends() && of.is_none();
    let wanted = |ty: &TypeInfo| match ty.kind {
        TypeKind::Link { .. } => true,
        TypeKind::State | TypeKind::Event => !only_links,
        TypeKind::Container | TypeKind::Variable => false,
    };
    let of = Patterns::new(of.cloned().into_iter().collect());
    let what = if only_links { "type of links" } else { "type of states, events or links" };
    let types = pattern::types(&model, &of, what, wanted)?;
    let test = condition.resolve(inner.as_ref(), &types)?;
    let touched = model.types.iter().map(|ty| types.contains(&ty.id)).collect();
    let pick = Attribute { touched, keep, test, has_ends: condition.has_ends() };
    Ok(Arc::new(Picked::new(Arc::clone(inner), pick)))
}

impl Pick for Attribute {
    fn touches(&self, ty: TypeId) -> bool {
        self.touched.get(ty.index()).copied().unwrap_or(false)
    }

    fn facts(&self, facts: &Facts, _: TypeId, _: &Model) -> bool {
        self.test.fits(facts, None) == (self.keep == Keep::Only)
    }

    fn needs_ends(&self) -> bool {
        self.has_ends
    }

    fn ends(&self, ends: [ContainerId; 2]) -> Option<bool> {
        if !self.has_ends {
            return None;
        }
        Some(self.test.by_ends(ends)? == (self.keep == Keep::Only))
    }

    fn link(&self, facts: &Facts, ends: [ContainerId; 2], _: &Model) -> bool {
        self.test.fits(facts, Some(ends)) == (self.keep == Keep::Only)
    }
}
