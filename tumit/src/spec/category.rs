//! Categories of states: the effect of a state on the utilisation of its container.

use super::{ContainerTypeId, EntityType, EntityTypeKind, Spec};

/// The effect of a state on the utilisation of its container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecCategory {
    /// The program computes.
    Busy,
    /// The program communicates, synchronises or schedules, and does not wait.
    Overhead,
    /// The program waits, or has ended.
    Idle,
    /// The state does not count. The enclosing state determines the category.
    Ignored,
}

impl SpecCategory {
    /// All categories with their words.
    pub const WORDS: [(&'static str, Self); 4] =
        [("busy", Self::Busy), ("overhead", Self::Overhead), ("idle", Self::Idle), ("ignored", Self::Ignored)];

    /// The word in a spec.
    #[must_use]
    pub const fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// `category CATEGORY PATTERN, … of TYPE`: the category of the values of matching names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CategoryStatement {
    /// The category.
    pub category: SpecCategory,
    /// The patterns of the names of values. Never empty.
    pub patterns: Vec<String>,
    /// The pattern of the names of state types. `None`: all.
    pub of: Option<String>,
    /// The container type that contains the statement. It applies to the state types of this
    /// container and of the containers below it. `None`: to all.
    pub within: Option<ContainerTypeId>,
}

impl CategoryStatement {
    /// Whether one of the patterns matches a name.
    #[must_use]
    pub fn fits_value(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern_fits(pattern, name))
    }
}

impl Spec {
    /// Whether a statement applies to the values of a type.
    #[must_use]
    pub fn concerns(&self, statement: &CategoryStatement, entity: &EntityType) -> bool {
        entity.kind == EntityTypeKind::State
            && statement.of.as_ref().is_none_or(|of| pattern_fits(of, &entity.name) || pattern_fits(of, &entity.label))
            && statement.within.is_none_or(|within| self.path(entity.container).contains(&within))
    }

    /// The statements that apply to the values of a type, in declared order.
    pub fn categories_of<'s>(&'s self, entity: &'s EntityType) -> impl Iterator<Item = &'s CategoryStatement> {
        self.categories.iter().filter(|statement| self.concerns(statement, entity))
    }

    /// The category of a value of a type by the statements of the spec. The value has these names:
    /// its declared name and its label.
    #[must_use]
    pub fn assigned_category(&self, entity: &EntityType, names: &[&str]) -> Option<SpecCategory> {
        let fits = |statement: &&CategoryStatement| names.iter().any(|name| statement.fits_value(name));
        self.categories_of(entity).filter(fits).last().map(|statement| statement.category)
    }
}

/// Whether a name matches a pattern, in which `*` stands for any text and `?` for any character.
/// O(pattern × name) in the worst case.
#[must_use]
pub fn pattern_fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Positions to continue from if the text after the last star does not match.
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => (p, n) = (p + 1, n + 1),
            _ => {
                let Some((star, from)) = retry else { return false };
                retry = Some((star, from + 1));
                (p, n) = (star + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}
