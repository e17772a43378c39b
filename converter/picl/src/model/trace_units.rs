//! [`TraceUnits`]: the nodes and processes that a trace names.

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
    /// A process of each node.
    process_of: FxHashMap<i64, i64>,
    has_processes: bool,
}

impl TraceUnits {
    /// The number of a unit.
    pub(crate) fn number(&mut self, unit: TraceUnit) -> u32 {
        if let Some(number) = self.numbers.get(&unit) {
            return *number;
        }
        let number = self.units.len() as u32;
        self.units.push(unit);
        self.numbers.insert(unit, number);
        if unit.is_node() && *self.process_of.entry(unit.node).or_insert(unit.process) != unit.process {
            self.has_processes = true;
        }
        number
    }

    /// The number of a unit, if it has records.
    pub(crate) fn find(&self, unit: TraceUnit) -> Option<u32> {
        self.numbers.get(&unit).copied()
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
