//! [`ActivityCategory`]: the effect of a state on the utilization of its container.
//!
//! ```
//! use tumit_paje::category::ActivityCategory;
//!
//! assert_eq!("Busy".parse(), Ok(ActivityCategory::Busy));
//! assert_eq!(ActivityCategory::Overhead.word(), "overhead");
//! ```

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The effect of a state on the utilization of its container, as in `ParaGraph`.
///
/// The categories exclude each other. The innermost state determines the category of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActivityCategory {
    /// The program computes.
    Busy,
    /// The program communicates, synchronises or schedules, and does not wait.
    Overhead,
    /// The program waits, or has ended.
    Idle,
    /// The state does not count. The enclosing state determines the category.
    Ignored,
}

impl ActivityCategory {
    /// The categories that count, in the order in which they are stacked.
    pub const COUNTED: [Self; 3] = [Self::Busy, Self::Overhead, Self::Idle];
    /// All categories with their words in filters and specs.
    pub const WORDS: [(&'static str, Self); 4] =
        [("busy", Self::Busy), ("overhead", Self::Overhead), ("idle", Self::Idle), ("ignored", Self::Ignored)];

    /// The word in filters and specs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

impl FromStr for ActivityCategory {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let entry = Self::WORDS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        entry.map(|(_, category)| category).ok_or(())
    }
}
