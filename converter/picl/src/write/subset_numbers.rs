//! [`SubsetNumbers`]: the numbers of the communicators of collective operations.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::model::collective_counts::ALL_NODES;
use crate::model::state_fields::ALL;

/// Numbers the communicators that have no number as their name.
#[derive(Debug, Default)]
pub(super) struct SubsetNumbers {
    /// The number of each name, and the nodes that take part.
    subsets: FxHashMap<String, (i64, BTreeSet<i64>)>,
    /// Numbers that are names of communicators.
    numbers_in_use: BTreeSet<i64>,
    next: i64,
}

impl SubsetNumbers {
    /// The number of the communicator of an operation in which a node takes part.
    pub(super) fn number(&mut self, communicator: &str, node: i64) -> i64 {
        if communicator.is_empty() || communicator == ALL {
            return ALL_NODES;
        }
        if let Ok(number) = communicator.parse() {
            self.numbers_in_use.insert(number);
            return number;
        }
        if let Some((number, nodes)) = self.subsets.get_mut(communicator) {
            nodes.insert(node);
            return *number;
        }
        while self.numbers_in_use.contains(&self.next) {
            self.next += 1;
        }
        let number = self.next;
        self.next += 1;
        self.subsets.insert(communicator.to_owned(), (number, BTreeSet::from([node])));
        number
    }

    /// The numbers of the named communicators with their nodes, sorted.
    pub(super) fn definitions(&self) -> Vec<(i64, Vec<i64>)> {
        let mut list: Vec<(i64, Vec<i64>)> =
            self.subsets.values().map(|(number, nodes)| (*number, nodes.iter().copied().collect())).collect();
        list.sort_unstable();
        list
    }
}

#[cfg(test)]
mod tests {
    use super::SubsetNumbers;

    #[test]
    fn communicators_have_numbers() {
        let mut numbers = SubsetNumbers::default();
        assert_eq!(numbers.number("all", 0), -1);
        assert_eq!(numbers.number("", 0), -1);
        assert_eq!(numbers.number("0", 0), 0);
        assert_eq!(numbers.number("world", 2), 1);
        assert_eq!(numbers.number("world", 1), 1);
        assert_eq!(numbers.definitions(), [(1, vec![1, 2])]);
    }
}
