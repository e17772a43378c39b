//! Steps and containers of the generator.

use std::collections::BTreeMap;

/// Numbers that determine a step.
pub type StepNumbers = [u16; 5];

/// Level of a container in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeLevel {
    Root,
    Process,
    Thread,
    Fibre,
}

#[derive(Debug)]
pub(super) struct GeneratedContainer {
    pub(super) id: String,
    pub(super) level: TreeLevel,
    pub(super) parent: usize,
    pub(super) alive: bool,
    /// Timestamp of the creation.
    pub(super) from: u64,
    /// For each type: the last timestamp, and the nesting depth or whether it is set.
    pub(super) slots: BTreeMap<&'static str, (u64, u32)>,
}
