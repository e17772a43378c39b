//! [`Condition`]: the condition after `where`, and its evaluation.
//!
//! Precedence: `not` before `and` before `or`. A condition is true or false. A comparison of a
//! field that an entity does not have is false, and `not` makes it true.

mod names;

use rustc_hash::FxHashSet;

use super::comparison::Comparison;
use super::error::FilterError;
use super::pattern::FieldUse;
use super::pattern::{NamePattern, NamePatterns};
use super::{fields, pattern};
use crate::query::tree;
use crate::query::{ContainerId, EntityFacts, EntityId, TimelineSource, TypeId};

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

/// A comparison of a field with texts, numbers or patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldTest {
    /// The name of the field.
    pub field: String,
    /// The comparison operator.
    pub comparison: Comparison,
    /// With `=` and `~`, one operand fits. With `!=` and `!~`, none fits. Other operators have one
    /// operand.
    pub operands: NamePatterns,
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
    pub fn or(all: Vec<Self>) -> Self {
        Self::exactly_one(all).unwrap_or_else(Self::Or)
    }

    /// All of these conditions hold. A single condition is returned unchanged.
    #[must_use]
    pub fn and(all: Vec<Self>) -> Self {
        Self::exactly_one(all).unwrap_or_else(Self::And)
    }

    fn exactly_one(mut all: Vec<Self>) -> Result<Self, Vec<Self>> {
        match all.pop() {
            Some(one) if all.is_empty() => Ok(one),
            last => {
                all.extend(last);
                Err(all)
            }
        }
    }

    /// Whether it depends on the endpoints of links.
    pub(crate) fn has_ends(&self) -> bool {
        match self {
            Self::Field(_) => false,
            Self::Involves(_) => true,
            Self::Not(one) => one.has_ends(),
            Self::And(all) | Self::Or(all) => all.iter().any(Self::has_ends),
        }
    }

    /// Resolves the condition for a trace and the types of the tested entities.
    pub(crate) fn resolve(
        &self,
        source: &dyn TimelineSource,
        types: &[TypeId],
    ) -> Result<ResolvedCondition, FilterError> {
        let all = |all: &[Self]| {
            all.iter().map(|one| one.resolve(source, types)).collect::<Result<Vec<ResolvedCondition>, FilterError>>()
        };
        Ok(match self {
            Self::Field(test) => {
                fields::check(source, FieldUse::Condition, &test.field, types)?;
                test.check_names(source, types)?;
                ResolvedCondition::Field(test.clone())
            }
            Self::Involves(named) => {
                let list = source.containers();
                let found = pattern::containers(&list, named)?;
                let below = |at: usize| list[at..tree::end(&list, at)].iter().map(|info| info.id);
                ResolvedCondition::Involves(found.into_iter().flat_map(below).collect())
            }
            Self::Not(one) => ResolvedCondition::Not(Box::new(one.resolve(source, types)?)),
            Self::And(some) => ResolvedCondition::And(all(some)?),
            Self::Or(some) => ResolvedCondition::Or(all(some)?),
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
            Self::Not(one) => !one.fits(facts, ends),
            Self::And(all) => all.iter().all(|one| one.fits(facts, ends)),
            Self::Or(all) => all.iter().any(|one| one.fits(facts, ends)),
        }
    }

    /// Whether a link fits; `None` if its endpoints are not sufficient to decide.
    pub(crate) fn by_ends(&self, ends: [ContainerId; 2]) -> Option<bool> {
        match self {
            Self::Field(_) => None,
            Self::Involves(containers) => Some(ends.iter().any(|end| containers.contains(end))),
            Self::Not(one) => one.by_ends(ends).map(|fits| !fits),
            Self::And(all) => Self::join_parts(all, ends, false),
            Self::Or(all) => Self::join_parts(all, ends, true),
        }
    }

    /// One part with the value `decisive` decides. Otherwise all parts must be known.
    fn join_parts(all: &[Self], ends: [ContainerId; 2], decisive: bool) -> Option<bool> {
        let mut is_known = true;
        for one in all {
            match one.by_ends(ends) {
                Some(fits) if fits == decisive => return Some(decisive),
                Some(_) => {}
                None => is_known = false,
            }
        }
        is_known.then_some(!decisive)
    }
}

impl FieldTest {
    /// Whether an entity with these facts fits.
    #[must_use]
    pub fn fits(&self, facts: &EntityFacts) -> bool {
        match self.path(facts) {
            Some(path) => self.fits_path(&path),
            None => fields::field(facts, &self.field).is_some_and(|found| self.compare(&found)),
        }
    }

    /// The path of the container to which the field refers.
    fn path(&self, facts: &EntityFacts) -> Option<Vec<String>> {
        let is = |name: &str| self.field.eq_ignore_ascii_case(name);
        let text = facts.fields.iter().find(|field| is(&field.0)).map(|field| field.1.as_str());
        match (facts.id, text) {
            (EntityId::Link(_), Some(path)) if is("from") || is("to") => {
                Some(path.split(" › ").map(str::to_owned).collect())
            }
            (_, None) if is("container") => Some(facts.container_path.clone()),
            _ => None,
        }
    }

    /// Whether a container fits by its name or by the end of its path, with either separator.
    fn fits_path(&self, path: &[String]) -> bool {
        let is_one = |operand: &NamePattern| ends(path).any(|name| self.fits_operand(operand, &name));
        match self.comparison {
            Comparison::Unequal | Comparison::Unlike => !self.operands.iter().any(is_one),
            _ => self.operands.iter().any(is_one),
        }
    }

    fn compare(&self, found: &str) -> bool {
        let is_one = |operand: &NamePattern| self.fits_operand(operand, found);
        match self.comparison {
            Comparison::Unequal | Comparison::Unlike => !self.operands.iter().any(is_one),
            _ => self.operands.iter().any(is_one),
        }
    }

    /// Whether a text fits one operand. `!=` and `!~` are treated as `=` and `~`. Two numbers are
    /// compared as numbers, other texts by character. `~` matches a pattern.
    fn fits_operand(&self, operand: &NamePattern, found: &str) -> bool {
        let comparison = match self.comparison {
            Comparison::Like | Comparison::Unlike => return operand.fits(found),
            Comparison::Unequal => Comparison::Equal,
            comparison => comparison,
        };
        let numbers = found.trim().parse::<f64>().ok().zip(operand.as_str().trim().parse::<f64>().ok());
        match numbers {
            Some((a, b)) => comparison.is_true(&a, &b),
            None => comparison.is_true(&found, &operand.as_str()),
        }
    }
}

/// The names of a container: the ends of its path, with either separator.
fn ends(path: &[String]) -> impl Iterator<Item = String> {
    (0..path.len()).rev().flat_map(|first| [path[first..].join("/"), path[first..].join(" › ")])
}
