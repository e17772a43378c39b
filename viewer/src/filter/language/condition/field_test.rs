//! [`FieldTest`]: a comparison of a field.

use crate::filter::language::comparison::Comparison;
use crate::filter::language::entity_fields;
use crate::filter::language::pattern::{NamePattern, NamePatterns};
use crate::query::{EntityFacts, EntityId};

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

impl FieldTest {
    /// Whether an entity with these facts fits.
    #[must_use]
    pub fn fits(&self, facts: &EntityFacts) -> bool {
        match self.path(facts) {
            Some(path) => self.fits_path(&path),
            None => entity_fields::field(facts, &self.field).is_some_and(|text| self.compare(&text)),
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
        let is_one = |operand: &NamePattern| path_ends(path).any(|name| self.fits_operand(operand, &name));
        match self.comparison {
            Comparison::Unequal | Comparison::Unlike => !self.operands.iter().any(is_one),
            _ => self.operands.iter().any(is_one),
        }
    }

    fn compare(&self, text: &str) -> bool {
        let is_one = |operand: &NamePattern| self.fits_operand(operand, text);
        match self.comparison {
            Comparison::Unequal | Comparison::Unlike => !self.operands.iter().any(is_one),
            _ => self.operands.iter().any(is_one),
        }
    }

    /// Whether a text fits one operand. `!=` and `!~` are treated as `=` and `~`. Two numbers are
    /// compared as numbers, other texts by character. `~` matches a pattern.
    pub(super) fn fits_operand(&self, operand: &NamePattern, text: &str) -> bool {
        let comparison = match self.comparison {
            Comparison::Like | Comparison::Unlike => return operand.fits(text),
            Comparison::Unequal => Comparison::Equal,
            comparison => comparison,
        };
        let numbers = text.trim().parse::<f64>().ok().zip(operand.as_str().trim().parse::<f64>().ok());
        match numbers {
            Some((a, b)) => comparison.is_true(&a, &b),
            None => comparison.is_true(&text, &operand.as_str()),
        }
    }
}

/// The names of a container: the ends of its path, with either separator.
pub(super) fn path_ends(path: &[String]) -> impl Iterator<Item = String> {
    (0..path.len()).rev().flat_map(|first| [path[first..].join("/"), path[first..].join(" › ")])
}
