//! Selection by attribute (thesis P58): by an extra field, or by what every entity has (`from`, `to` and `key` of links; `file`, `line`).
//!
//! Cost: every list and every cell of the types concerned asks for the facts of each entity within the interval: some
//! microseconds each. Entities without the field do not fit.

use std::sync::Arc;

use super::pattern::{self, Pattern, Patterns};
use super::pick::{Pick, Picked};
use super::{Comparison, Condition, FilterError, Keep};
use crate::query::{Facts, Model, TimelineSource, TypeId, TypeInfo, TypeKind};

struct Attribute {
    touched: Vec<bool>,
    keep: Keep,
    condition: Condition,
}

pub(super) fn apply(
    inner: &Arc<dyn TimelineSource>,
    keep: Keep,
    condition: &Condition,
    of: Option<&Pattern>,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let model = inner.model();
    let with_fields = |ty: &TypeInfo| matches!(ty.kind, TypeKind::State | TypeKind::Event | TypeKind::Link { .. });
    let of = Patterns::new(of.cloned().into_iter().collect());
    let types = pattern::types(&model, &of, "type of states, events or links", with_fields)?;
    let touched = model.types.iter().map(|ty| types.contains(&ty.id)).collect();
    Ok(Arc::new(Picked::new(Arc::clone(inner), Attribute { touched, keep, condition: condition.clone() })))
}

impl Pick for Attribute {
    fn touches(&self, ty: TypeId) -> bool {
        self.touched.get(ty.index()).copied().unwrap_or(false)
    }

    fn facts(&self, facts: &Facts, _: TypeId, _: &Model) -> bool {
        self.condition.fits(facts) == (self.keep == Keep::Only)
    }
}

impl Condition {
    /// Whether an entity with these facts fits.
    #[must_use]
    pub fn fits(&self, facts: &Facts) -> bool {
        field(facts, &self.field).is_some_and(|found| self.compare(&found))
    }

    /// Numbers are compared as numbers, when both are; else texts by character. `~` is for patterns.
    fn compare(&self, found: &str) -> bool {
        let numbers = found.trim().parse::<f64>().ok().zip(self.operand.as_str().trim().parse::<f64>().ok());
        match (self.comparison, numbers) {
            (Comparison::Like, _) => self.operand.fits(found),
            (Comparison::Unlike, _) => !self.operand.fits(found),
            (comparison, Some((a, b))) => comparison.holds(&a, &b),
            (comparison, None) => comparison.holds(&found, &self.operand.as_str()),
        }
    }
}

/// A field of an entity as text: an extra field by its name, else `file`, `line`, `value`, `container`, whatever the case of letters.
pub(crate) fn field(facts: &Facts, name: &str) -> Option<String> {
    let exact = facts.fields.iter().find(|field| field.0 == name);
    if let Some((_, text)) = exact.or_else(|| facts.fields.iter().find(|field| field.0.eq_ignore_ascii_case(name))) {
        return Some(text.clone());
    }
    match name.to_ascii_lowercase().as_str() {
        "file" => facts.source.as_ref().map(|place| place.0.clone()),
        "line" => facts.source.as_ref().map(|place| place.1.to_string()),
        "value" => Some(facts.name.clone()),
        "container" => Some(facts.container_path.join("/")),
        _ => None,
    }
}
