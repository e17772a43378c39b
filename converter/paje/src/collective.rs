//! [`CollectiveKind`]: the dependences of a collective operation, and the fields that describe the
//! parts of such an operation.
//!
//! A state with the field [`OPERATION`] is the part of its container in a collective operation. All
//! states with the same number are parts of one operation. Each part has the same [`KIND`].

use serde::{Deserialize, Serialize};

/// The field with the number of the operation, unique in the trace.
pub const OPERATION: &str = "operation";
/// The field with the word of a [`CollectiveKind`].
pub const KIND: &str = "collective";
/// The field with the communicator.
pub const COMMUNICATOR: &str = "communicator";
/// The field with the container of the root.
pub const ROOT: &str = "root";
/// The field with 1 in the part of the root, and 0 in all others.
pub const IS_ROOT: &str = "is_root";
/// The field with the number of bytes that the container sends or receives.
pub const BYTES: &str = "bytes";

/// The dependences of a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveKind {
    /// No part ends before all have begun. No data are transferred.
    Barrier,
    /// No part ends before that of the root has begun.
    OneToAll,
    /// The part of the root does not end before all have begun.
    AllToOne,
    /// As a barrier, and each container sends data to all others.
    AllToAll,
}

impl CollectiveKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Barrier, Self::OneToAll, Self::AllToOne, Self::AllToAll];

    /// The word in specs and traces.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::OneToAll => "one-to-all",
            Self::AllToOne => "all-to-one",
            Self::AllToAll => "all-to-all",
        }
    }

    /// The kind with this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether one container has another role than the others.
    #[must_use]
    pub const fn has_root(self) -> bool {
        matches!(self, Self::OneToAll | Self::AllToOne)
    }
}

#[cfg(test)]
mod tests {
    use super::CollectiveKind;

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for kind in CollectiveKind::ALL {
            assert_eq!(CollectiveKind::of_word(kind.word()), Some(kind));
            assert_eq!(serde_json::to_value(kind).ok().as_ref().and_then(|value| value.as_str()), Some(kind.word()));
        }
    }
}
