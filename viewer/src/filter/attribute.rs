//! Selection by attribute (thesis P58): by an extra field, or by what every entity has (`from`, `to` and `key` of links; `file`, `line`).
//!
//! Containers go by name or by the end of their path, as everywhere. A field that no entity has is a mistake, as far as the first entities of each
//! type tell.
//!
//! Cost: every list and every cell of the types concerned asks for the facts of each entity within the interval: some
//! microseconds each. Entities without the field do not fit.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::pattern::{self, Pattern, Patterns};
use super::pick::{Pick, Picked};
use super::{Comparison, Condition, FilterError, Keep};
use crate::query::{
    EntityId, Facts, GlobalNanos, Interval, Lane, Model, QueryError, TimelineSource, TypeId, TypeInfo, TypeKind,
};

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
    check(inner.as_ref(), &condition.field, &types)?;
    condition.check_container(inner.as_ref())?;
    let touched = model.types.iter().map(|ty| types.contains(&ty.id)).collect();
    Ok(Arc::new(Picked::new(Arc::clone(inner), Attribute { touched, keep, condition: condition.clone() })))
}

/// So many entities are asked for their fields before one that none has may be there all the same.
const ASKED: usize = 20_000;

/// An error if no entity of these types has a field.
pub(crate) fn check(source: &dyn TimelineSource, name: &str, types: &[TypeId]) -> Result<(), FilterError> {
    if OF_ALL.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let (model, list, extent) = (source.model(), source.containers(), source.extent());
    let interval = Interval { to: GlobalNanos(extent.to.0.saturating_add(1)), ..extent };
    let (mut known, mut asked) = (BTreeSet::new(), 0);
    let mut has = |id: EntityId| -> Result<bool, QueryError> {
        let facts = source.facts(id)?;
        let has = field(&facts, name).is_some();
        known.extend(facts.fields.into_iter().map(|field| field.0));
        Ok(has)
    };
    for &ty in types {
        let kind = model.types.get(ty.index()).map_or(TypeKind::Container, |ty| ty.kind);
        let mut some = |ids: &mut dyn Iterator<Item = EntityId>, total: u64| -> Result<bool, QueryError> {
            asked += usize::try_from(total).unwrap_or(usize::MAX).min(ASKED);
            for id in ids {
                if has(id)? {
                    return Ok(true);
                }
            }
            Ok(asked >= ASKED)
        };
        if matches!(kind, TypeKind::Link { .. }) {
            let found = source.links(ty, interval, ASKED)?;
            if some(&mut found.items.iter().map(|link| link.id), found.total)? {
                return Ok(());
            }
        }
        for info in list.iter() {
            let depths = if kind == TypeKind::State { source.depths(info.id, ty) } else { 0 };
            for depth in 0..depths {
                let found = source.states(Lane { container: info.id, ty, depth }, interval, ASKED)?;
                if some(&mut found.items.iter().map(|state| state.id), found.total)? {
                    return Ok(());
                }
            }
            if kind == TypeKind::Event {
                let found = source.events(info.id, ty, interval, ASKED)?;
                if some(&mut found.items.iter().map(|mark| mark.id), found.total)? {
                    return Ok(());
                }
            }
        }
    }
    // Of nothing, nobody knows.
    if asked == 0 {
        return Ok(());
    }
    let known: Vec<&str> = known.iter().map(String::as_str).chain(OF_ALL).collect();
    Err(FilterError::nothing("field of these types", &Pattern::new(name), &known))
}

/// Fields that all entities have, or may have.
const OF_ALL: [&str; 4] = ["file", "line", "value", "container"];

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
        match self.path(facts) {
            Some(path) => self.names(&path),
            None => field(facts, &self.field).is_some_and(|found| self.compare(&found)),
        }
    }

    /// An error if it is about containers, and none has the name.
    fn check_container(&self, source: &dyn TimelineSource) -> Result<(), FilterError> {
        let about = ["container", "from", "to"].iter().any(|name| self.field.eq_ignore_ascii_case(name));
        if !about || !matches!(self.comparison, Comparison::Equal | Comparison::Like) {
            return Ok(());
        }
        let list = source.containers();
        let mut path: Vec<String> = Vec::new();
        for info in list.iter() {
            path.truncate(info.depth as usize);
            path.push(info.name.clone());
            if self.names(&path) {
                return Ok(());
            }
        }
        // It may be a field of the trace's own.
        let known: Vec<&str> = list.iter().skip(1).map(|info| info.name.as_str()).collect();
        if self.is_own(source)? { Ok(()) } else { Err(FilterError::nothing("container", &self.operand, &known)) }
    }

    /// Whether entities have a field of this name that is not about containers.
    fn is_own(&self, source: &dyn TimelineSource) -> Result<bool, FilterError> {
        let model = source.model();
        let with = |ty: &&TypeInfo| matches!(ty.kind, TypeKind::State | TypeKind::Event);
        let types: Vec<TypeId> = model.types.iter().filter(with).map(|ty| ty.id).collect();
        let is_container = self.field.eq_ignore_ascii_case("container");
        Ok(!is_container && check(source, &self.field, &types).is_ok())
    }

    /// The path of the container that is asked about.
    fn path(&self, facts: &Facts) -> Option<Vec<String>> {
        let is = |name: &str| self.field.eq_ignore_ascii_case(name);
        let own = facts.fields.iter().find(|field| is(&field.0)).map(|field| field.1.as_str());
        match (facts.id, own) {
            (EntityId::Link(_), Some(path)) if is("from") || is("to") => {
                Some(path.split(" › ").map(str::to_owned).collect())
            }
            (_, None) if is("container") => Some(facts.container_path.clone()),
            _ => None,
        }
    }

    /// Whether a container fits, by its name or the end of its path, in either spelling.
    fn names(&self, path: &[String]) -> bool {
        let ends = || (0..path.len()).rev().flat_map(|first| [path[first..].join("/"), path[first..].join(" › ")]);
        match self.comparison {
            Comparison::Unequal => !ends().any(|name| name == self.operand.as_str()),
            Comparison::Unlike => !ends().any(|name| self.operand.fits(&name)),
            _ => ends().any(|name| self.compare(&name)),
        }
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
