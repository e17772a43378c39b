//! [`CollectiveCounts`]: numbers the collective operations of a trace.
//!
//! The n-th part of a unit in the operations of a subset of nodes and an activity belongs to the
//! n-th operation. A first pass counts the parts. If the counts of the units differ although all
//! of them were traced until their end, some parts are unknown, and the operations have no numbers.

use rustc_hash::FxHashMap;

use super::trace_units::TraceUnits;
use super::trace_values::TraceValues;

/// The subset of all nodes.
pub(crate) const ALL_NODES: i64 = -1;

/// The parts of a unit.
#[derive(Clone, Copy, Debug)]
struct NodePartCount {
    parts: u64,
    /// The line of the first one.
    line: u64,
}

/// Operations of a subset and an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct GroupKey {
    subset: i64,
    /// The definition of the subset that has the unit. Nodes can give different subsets the same
    /// number.
    definition: Option<usize>,
    value: u32,
}

/// Counts the parts of collective operations.
#[derive(Debug, Default)]
pub(crate) struct CollectiveCounts {
    /// By subset, value and unit.
    parts: FxHashMap<(i64, u32, u32), NodePartCount>,
    /// The numbers of subsets and their nodes.
    subsets: Vec<(i64, Vec<i64>)>,
}

/// Operations with different numbers of parts in their units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnequalParts {
    pub(crate) value: u32,
    pub(crate) line: u64,
    /// The smallest and the largest number of parts.
    pub(crate) parts: (u64, u64),
}

impl CollectiveCounts {
    /// Defines a subset of nodes.
    pub(crate) fn define(&mut self, subset: i64, nodes: Vec<i64>) {
        if !self.subsets.iter().any(|definition| definition.0 == subset && definition.1 == nodes) {
            self.subsets.push((subset, nodes));
        }
    }

    /// Counts a part.
    pub(crate) fn add(&mut self, subset: i64, value: u32, unit: u32, line: u64) {
        let count = self.parts.entry((subset, value, unit)).or_insert(NodePartCount { parts: 0, line });
        count.parts += 1;
    }

    /// Ends the first pass. `is_complete` states for each unit whether it was traced until its end.
    pub(crate) fn number(self, units: &TraceUnits, values: &TraceValues, is_complete: &[bool]) -> CollectiveNumbers {
        let mut by_group: FxHashMap<GroupKey, Vec<(u32, NodePartCount)>> = FxHashMap::default();
        let mut by_unit: FxHashMap<(i64, u32, u32), NodePartCount> = FxHashMap::default();
        let canonical = units.canonical();
        #[expect(clippy::iter_over_hash_type, reason = "the result does not depend on the order")]
        for ((subset, value, unit), count) in self.parts {
            let unit = canonical.get(unit as usize).copied().unwrap_or(unit);
            let sum = by_unit.entry((subset, value, unit)).or_insert(NodePartCount { parts: 0, line: count.line });
            sum.parts += count.parts;
            sum.line = sum.line.min(count.line);
        }
        #[expect(clippy::iter_over_hash_type, reason = "the lists are sorted")]
        for ((subset, value, unit), count) in by_unit {
            let node = units.units.get(unit as usize).map_or(-1, |unit| unit.node);
            let definition = self.subsets.iter().position(|(number, nodes)| *number == subset && nodes.contains(&node));
            by_group.entry(GroupKey { subset, definition, value }).or_default().push((unit, count));
        }
        let mut groups: Vec<(GroupKey, Vec<(u32, NodePartCount)>)> = by_group.into_iter().collect();
        // Operations have the same numbers when the trace is written and read again.
        let name = |value: u32| values.values.get(value as usize).map(|value| values.name(value));
        groups.sort_by_cached_key(|(key, _)| (key.subset, key.definition, name(key.value), key.value));
        let mut numbers = CollectiveNumbers { step: groups.len() as i64, ..CollectiveNumbers::default() };
        for ((key, parts), index) in groups.into_iter().zip(0..) {
            let largest = parts.iter().map(|(_, count)| count.parts).max().unwrap_or(0);
            // The parts of a unit that was not traced until its end are the first ones.
            let is_short = |(unit, count): &&(u32, NodePartCount)| {
                count.parts < largest && is_complete.get(*unit as usize).copied().unwrap_or(true)
            };
            let shortest = parts.iter().filter(is_short).min_by_key(|(_, count)| count.parts);
            if let Some((_, shortest)) = shortest {
                let line = parts.iter().map(|(_, count)| count.line).min().unwrap_or(0);
                numbers.unequal_parts.push(UnequalParts { value: key.value, line, parts: (shortest.parts, largest) });
                continue;
            }
            let members = key.definition.and_then(|definition| self.subsets.get(definition));
            let members = members.map(|(_, nodes)| nodes.clone());
            for (unit, _) in parts {
                numbers.next.insert((key.subset, key.value, unit), NextPart { number: index, group: index as usize });
            }
            numbers.members.insert(index as usize, members);
        }
        numbers.unequal_parts.sort_by_key(|unequal| unequal.line);
        numbers
    }
}

/// The next part of a unit.
#[derive(Clone, Copy, Debug)]
struct NextPart {
    number: i64,
    group: usize,
}

/// Gives each part of a collective operation the number of the operation, in the second pass.
#[derive(Debug, Default)]
pub(crate) struct CollectiveNumbers {
    /// By subset, value and unit.
    next: FxHashMap<(i64, u32, u32), NextPart>,
    /// The nodes of each group of operations, if its subset is defined.
    members: FxHashMap<usize, Option<Vec<i64>>>,
    /// Difference between the numbers of two operations of a group.
    step: i64,
    pub(crate) unequal_parts: Vec<UnequalParts>,
}

impl CollectiveNumbers {
    /// The number of the operation of the next part of a unit. `None` if it is unknown.
    pub(crate) fn next(&mut self, subset: i64, value: u32, unit: u32) -> Option<i64> {
        let next = self.next.get_mut(&(subset, value, unit))?;
        next.number += self.step;
        Some(next.number - self.step)
    }

    /// The node of a root. A record has its node, or its position in the subset.
    pub(crate) fn node_of_root(&self, subset: i64, value: u32, unit: u32, root: i64) -> i64 {
        let members = self.next.get(&(subset, value, unit)).and_then(|next| self.members.get(&next.group)?.as_ref());
        match members {
            Some(members) if !members.contains(&root) => {
                usize::try_from(root).ok().and_then(|position| members.get(position)).copied().unwrap_or(root)
            }
            _ => root,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TraceUnit;

    fn units(count: i64) -> TraceUnits {
        let mut units = TraceUnits::default();
        (0..count).for_each(|node| _ = units.number(TraceUnit::of_node(node)));
        units
    }

    #[test]
    fn the_nth_part_of_each_unit_belongs_to_the_nth_operation() {
        let mut counts = CollectiveCounts::default();
        (0..2).for_each(|unit| (0..2).for_each(|_| counts.add(ALL_NODES, 5, unit, 1)));
        (0..3).for_each(|unit| counts.add(0, 5, unit, 1));
        let mut numbers = counts.number(&units(3), &TraceValues::default(), &[true; 3]);
        let first: Vec<_> = (0..2).map(|unit| numbers.next(ALL_NODES, 5, unit)).collect();
        let second: Vec<_> = (0..2).map(|unit| numbers.next(ALL_NODES, 5, unit)).collect();
        let other: Vec<_> = (0..3).map(|unit| numbers.next(0, 5, unit)).collect();
        assert!(first[0].is_some() && first[0] == first[1] && second[0] == second[1] && first != second);
        assert!(other[0].is_some() && other.iter().all(|number| *number == other[0]));
        assert!(!first.contains(&other[0]) && !second.contains(&other[0]));
    }

    #[test]
    fn subsets_with_the_same_number_are_told_apart_by_their_nodes() {
        let mut counts = CollectiveCounts::default();
        counts.define(0, vec![0, 1]);
        counts.define(0, vec![3, 2]);
        (0..4).for_each(|unit| counts.add(0, 5, unit, 1));
        let mut numbers = counts.number(&units(4), &TraceValues::default(), &[true; 4]);
        // The root is a position in the second subset.
        assert_eq!(numbers.node_of_root(0, 5, 2, 0), 3);
        assert_eq!(numbers.node_of_root(0, 5, 2, 2), 2);
        assert_eq!(numbers.node_of_root(0, 5, 0, 1), 1);
        let of = |numbers: &mut CollectiveNumbers, unit| numbers.next(0, 5, unit);
        let operation_numbers: Vec<_> = (0..4).map(|unit| of(&mut numbers, unit)).collect();
        assert!(
            operation_numbers[0] == operation_numbers[1]
                && operation_numbers[2] == operation_numbers[3]
                && operation_numbers[0] != operation_numbers[2]
        );
    }

    #[test]
    fn different_counts_have_no_numbers_unless_the_trace_of_a_unit_was_cut_off() {
        let counts = || {
            let mut counts = CollectiveCounts::default();
            [0, 1, 1].into_iter().zip(4..).for_each(|(unit, line)| counts.add(ALL_NODES, 5, unit, line));
            counts
        };
        let mut numbers = counts().number(&units(2), &TraceValues::default(), &[true, true]);
        assert_eq!(numbers.unequal_parts, [UnequalParts { value: 5, line: 4, parts: (1, 2) }]);
        assert_eq!(numbers.next(ALL_NODES, 5, 0), None);
        let mut numbers = counts().number(&units(2), &TraceValues::default(), &[false, true]);
        assert!(numbers.unequal_parts.is_empty());
        assert_eq!(numbers.next(ALL_NODES, 5, 0), numbers.next(ALL_NODES, 5, 1));
    }
}
