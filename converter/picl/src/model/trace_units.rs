//! [`TraceUnits`]: the nodes and processes that a trace names.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

/// The node of the host program in old PICL.
pub(crate) const HOST: i64 = -32768;

/// A process of a node. The process is -1 if the record has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TraceUnit {
    pub(crate) node: i64,
    pub(crate) process: i64,
}

impl TraceUnit {
    /// Records of no node, such as definitions.
    pub(crate) const PROGRAM: Self = Self { node: -1, process: -1 };

    pub(crate) const fn of_node(node: i64) -> Self {
        Self { node, process: -1 }
    }

    /// Whether the unit is a node or a process of one.
    pub(crate) const fn is_node(self) -> bool {
        self.node >= 0 || self.node == HOST
    }
}

/// The units with records, numbered by first appearance.
#[derive(Debug, Default)]
pub(crate) struct TraceUnits {
    pub(crate) units: Vec<TraceUnit>,
    numbers: FxHashMap<TraceUnit, u32>,
    /// The processes of each node, without -1.
    processes: FxHashMap<i64, BTreeSet<i64>>,
    has_processes: bool,
}

impl TraceUnits {
    /// The number of a unit, which is added if it is new.
    pub(crate) fn number(&mut self, unit: TraceUnit) -> u32 {
        if let Some(number) = self.numbers.get(&unit) {
            return *number;
        }
        let number = self.units.len() as u32;
        self.units.push(unit);
        self.numbers.insert(unit, number);
        if unit.is_node() && unit.process >= 0 {
            let processes = self.processes.entry(unit.node).or_default();
            processes.insert(unit.process);
            self.has_processes |= processes.len() > 1;
        }
        number
    }

    /// The number of a unit, if it has records.
    pub(crate) fn find(&self, unit: TraceUnit) -> Option<u32> {
        self.numbers.get(&unit).copied()
    }

    /// The unit to which the records of a unit belong. Records without a process belong to the
    /// first process of their node, if the node has any.
    pub(crate) fn canonical_unit(&self, unit: TraceUnit) -> TraceUnit {
        match self.processes.get(&unit.node).and_then(BTreeSet::first) {
            Some(first) if unit.process < 0 => TraceUnit { process: *first, ..unit },
            _ => unit,
        }
    }

    /// For each unit, the number of the unit to which its records belong.
    pub(crate) fn canonical(&self) -> Vec<u32> {
        let of = |(unit, number): (&TraceUnit, u32)| self.find(self.canonical_unit(*unit)).unwrap_or(number);
        self.units.iter().zip(0..).map(of).collect()
    }

    /// All units of the node of a unit without a process. `None` for other units, and if the node
    /// has no processes.
    pub(crate) fn processes_of(&self, unit: TraceUnit) -> Option<Vec<u32>> {
        let processes = self.processes.get(&unit.node).filter(|_| unit.process < 0)?;
        Some(processes.iter().filter_map(|process| self.find(TraceUnit { process: *process, ..unit })).collect())
    }

    /// Whether the host has records.
    pub(crate) fn has_host(&self) -> bool {
        self.units.iter().any(|unit| unit.node == HOST)
    }

    /// Whether a node has several processes. Otherwise, nodes are the innermost containers.
    pub(crate) fn has_processes(&self) -> bool {
        self.has_processes
    }

    /// The nodes that are not the host.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = i64> {
        let mut nodes: Vec<i64> = self.units.iter().map(|unit| unit.node).filter(|node| *node >= 0).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_without_a_process_belong_to_the_processes_of_their_node() {
        let mut units = TraceUnits::default();
        for (node, process) in [(0, -1), (0, 0), (1, -1), (HOST, -1)] {
            units.number(TraceUnit { node, process });
        }
        assert!(!units.has_processes() && units.has_host());
        assert_eq!(units.canonical(), [1, 1, 2, 3]);
        units.number(TraceUnit { node: 0, process: 1 });
        assert!(units.has_processes());
        assert_eq!(units.canonical(), [1, 1, 2, 3, 4]);
        assert_eq!(units.processes_of(TraceUnit::of_node(0)), Some(vec![1, 4]));
        assert_eq!(units.processes_of(TraceUnit::of_node(1)), None);
    }
}
