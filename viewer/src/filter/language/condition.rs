//! [`Condition`]: the condition after `where`, and its evaluation.
//!
//! Precedence: `not` before `and` before `or`. A condition is true or false. A comparison of a
//! field that an entity does not have is false, and `not` makes it true.

mod field_test;
mod name_check;

use rustc_hash::FxHashSet;

pub use self::field_test::FieldTest;
use super::entity_fields;
use super::error::FilterError;
use super::pattern::{FieldUse, NamePatterns};
use crate::query::container_tree;
use crate::query::{ContainerId, EntityFacts, TimelineSource, TypeId};

/// The condition after `where`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A comparison of a field.
    Field(FieldTest),
    /// Link: one of its endpoints lies in one of these containers or below. Other entity: its
    /// container does.
    Involves(NamePatterns),
    /// The condition does not hold.
    Not(Box<Condition>),
    /// All conditions hold. At least two: see [`Condition::and`].
    And(Vec<Condition>),
    /// One of the conditions holds. At least two: see [`Condition::or`].
    Or(Vec<Condition>),
}

impl Condition {
    /// One of these conditions holds. A single condition is returned unchanged.
    ///
    /// ```
    /// use tumit_viewer::filter::{Comparison, Condition, FieldTest, NamePattern, NamePatterns};
    ///
    /// let is = |name: &str| {
    ///     let operands = NamePatterns::new(vec![NamePattern::new(name)]);
    ///     let (field, comparison) = ("file".to_owned(), Comparison::Equal);
    ///     Condition::Field(FieldTest { field, comparison, operands })
    /// };
    /// assert_eq!(Condition::or(vec![is("a.c")]), is("a.c"));
    /// assert!(matches!(Condition::or(vec![is("a.c"), is("b.c")]), Condition::Or(_)));
    /// ```
    #[must_use]
    pub fn or(conditions: Vec<Self>) -> Self {
        Self::exactly_one(conditions).unwrap_or_else(Self::Or)
    }

    /// All of these conditions hold. A single condition is returned unchanged.
    #[must_use]
    pub fn and(conditions: Vec<Self>) -> Self {
        Self::exactly_one(conditions).unwrap_or_else(Self::And)
    }

    fn exactly_one(mut conditions: Vec<Self>) -> Result<Self, Vec<Self>> {
        match conditions.pop() {
            Some(condition) if conditions.is_empty() => Ok(condition),
            last => {
                conditions.extend(last);
                Err(conditions)
            }
        }
    }

    /// Whether it depends on the endpoints of links.
    pub(crate) fn has_ends(&self) -> bool {
        match self {
            Self::Field(_) => false,
            Self::Involves(_) => true,
            Self::Not(condition) => condition.has_ends(),
            Self::And(all) | Self::Or(all) => all.iter().any(Self::has_ends),
        }
    }

    /// Resolves the condition for a trace and the types of the tested entities.
    pub(crate) fn resolve(
        &self,
        source: &dyn TimelineSource,
        types: &[TypeId],
    ) -> Result<ResolvedCondition, FilterError> {
        let resolve_all = |resolve_all: &[Self]| {
            resolve_all
                .iter()
                .map(|condition| condition.resolve(source, types))
                .collect::<Result<Vec<ResolvedCondition>, FilterError>>()
        };
        Ok(match self {
            Self::Field(test) => {
                entity_fields::check(source, FieldUse::Condition, &test.field, types)?;
                test.check_names(source, types)?;
                ResolvedCondition::Field(test.clone())
            }
            Self::Involves(patterns) => {
                let list = source.containers();
                let containers = patterns.containers(&list)?;
                let subtree = |index: usize| list[index..container_tree::end(&list, index)].iter().map(|info| info.id);
                ResolvedCondition::Involves(containers.into_iter().flat_map(subtree).collect())
            }
            Self::Not(condition) => ResolvedCondition::Not(Box::new(condition.resolve(source, types)?)),
            Self::And(conditions) => ResolvedCondition::And(resolve_all(conditions)?),
            Self::Or(conditions) => ResolvedCondition::Or(resolve_all(conditions)?),
        })
    }
}

/// A condition with the containers already looked up in a trace.
#[derive(Debug)]
pub(crate) enum ResolvedCondition {
    Field(FieldTest),
    Involves(FxHashSet<ContainerId>),
    Not(Box<ResolvedCondition>),
    And(Vec<ResolvedCondition>),
    Or(Vec<ResolvedCondition>),
}

impl ResolvedCondition {
    /// Whether an entity with these facts fits. `ends` are the containers of both endpoints of a
    /// link.
    pub(crate) fn fits(&self, facts: &EntityFacts, ends: Option<[ContainerId; 2]>) -> bool {
        match self {
            Self::Field(test) => test.fits(facts),
            Self::Involves(containers) => match ends {
                Some(ends) => ends.iter().any(|end| containers.contains(end)),
                None => containers.contains(&facts.container),
            },
            Self::Not(condition) => !condition.fits(facts, ends),
            Self::And(all) => all.iter().all(|condition| condition.fits(facts, ends)),
            Self::Or(all) => all.iter().any(|condition| condition.fits(facts, ends)),
        }
    }

    /// Whether a link fits; `None` if its endpoints are not sufficient to decide.
    pub(crate) fn endpoint_decision(&self, ends: [ContainerId; 2]) -> Option<bool> {
        match self {
            Self::Field(_) => None,
            Self::Involves(containers) => Some(ends.iter().any(|end| containers.contains(end))),
            Self::Not(condition) => condition.endpoint_decision(ends).map(|fits| !fits),
            Self::And(all) => Self::join_parts(all, ends, false),
            Self::Or(all) => Self::join_parts(all, ends, true),
        }
    }

    /// One part with the value `decisive` decides. Otherwise all parts must be known.
    fn join_parts(parts: &[Self], ends: [ContainerId; 2], decisive: bool) -> Option<bool> {
        let mut is_known = true;
        for condition in parts {
            match condition.endpoint_decision(ends) {
                Some(fits) if fits == decisive => return Some(decisive),
                Some(_) => {}
                None => is_known = false,
            }
        }
        is_known.then_some(!decisive)
    }
}
