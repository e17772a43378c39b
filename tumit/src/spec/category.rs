//! Categories of states: the effect of a state on the utilization of its container.

use super::ids::ContainerTypeId;

/// The effect of a state on the utilization of its container.
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
    pub type_pattern: Option<String>,
    /// The container type that contains the statement. It applies to the state types of this
    /// container and of the containers below it. `None`: to all.
    pub container: Option<ContainerTypeId>,
}

impl CategoryStatement {
    /// Whether one of the patterns matches a name.
    #[must_use]
    pub fn fits_value(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern_fits(pattern, name))
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
