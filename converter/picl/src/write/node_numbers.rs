//! [`NodeNumbers`]: the nodes and processes of containers.

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_paje::ContainerId;

use crate::model::TraceUnit;
use crate::model::trace_units::HOST;

/// A container that the trace has created.
#[derive(Clone, Debug)]
struct KnownContainer {
    parent: ContainerId,
    /// The name of its type, and its own name.
    ty: String,
    name: String,
    unit: Option<TraceUnit>,
}

/// Numbers the containers that have entities.
#[derive(Debug, Default)]
pub(super) struct NodeNumbers {
    containers: FxHashMap<ContainerId, KnownContainer>,
    /// The first container with states below each container without them.
    with_states: FxHashMap<ContainerId, ContainerId>,
    /// Whether the containers are those of a PICL trace, so that their names are the nodes.
    pub(super) is_picl: bool,
    used_numbers: FxHashSet<i64>,
    next: i64,
    /// The node to which messages with an unknown receiver are sent.
    absent_node: Option<i64>,
}

impl NodeNumbers {
    /// Notes a container. `has_states` states whether states can be in it.
    pub(super) fn create(
        &mut self,
        (container, parent): (ContainerId, ContainerId),
        (ty, name): (&str, &str),
        has_states: bool,
    ) {
        let known = KnownContainer { parent, ty: ty.to_owned(), name: name.to_owned(), unit: None };
        // Other containers get the numbers after the nodes.
        if let Some(node) = node_of(&known).filter(|_| self.is_picl) {
            self.next = self.next.max(node + 1);
        }
        self.containers.insert(container, known);
        let mut ancestor = parent;
        while has_states && !self.with_states.contains_key(&ancestor) {
            self.with_states.insert(ancestor, container);
            let Some(above) = self.containers.get(&ancestor).filter(|above| above.parent != ancestor) else { break };
            ancestor = above.parent;
        }
    }

    /// The first container below another one in which states can be.
    pub(super) fn container_below(&self, container: ContainerId) -> Option<ContainerId> {
        self.with_states.get(&container).copied()
    }

    /// The unit of a container, if it has one.
    pub(super) fn known_unit(&self, container: ContainerId) -> Option<TraceUnit> {
        self.containers.get(&container)?.unit
    }

    /// The unit of a container, and whether it is new.
    pub(super) fn unit(&mut self, container: ContainerId) -> (TraceUnit, bool) {
        let entry = self.containers.get(&container);
        if let Some(unit) = entry.and_then(|container| container.unit) {
            return (unit, false);
        }
        let named = entry.filter(|_| self.is_picl).and_then(|container| self.unit_of_names(container));
        let of_name = entry
            .and_then(|container| last_number(&container.name))
            .filter(|number| !self.is_picl && !self.used_numbers.contains(number));
        let unit =
            named.unwrap_or_else(|| TraceUnit { node: of_name.unwrap_or_else(|| self.free_number()), process: 0 });
        self.used_numbers.insert(unit.node);
        if let Some(entry) = self.containers.get_mut(&container) {
            entry.unit = Some(unit);
        }
        (unit, true)
    }

    /// A node that no container has. Messages with an unknown receiver are sent to it. Node -1
    /// would mean a message to each other node.
    pub(super) fn absent_unit(&mut self) -> TraceUnit {
        let node = *self.absent_node.get_or_insert_with(|| {
            let last = self.used_numbers.iter().copied().max().unwrap_or(-1).max(self.next - 1);
            last.saturating_add(1).max(0)
        });
        self.used_numbers.insert(node);
        TraceUnit { node, process: 0 }
    }

    fn free_number(&mut self) -> i64 {
        while self.used_numbers.contains(&self.next) {
            self.next += 1;
        }
        self.next
    }

    /// The unit of a container. `None` if its name is not that of a PICL trace.
    fn unit_of_names(&self, container: &KnownContainer) -> Option<TraceUnit> {
        if let Some(node) = node_of(container) {
            return Some(TraceUnit { node, process: 0 });
        }
        let parent = self.containers.get(&container.parent).filter(|_| container.ty == "Process")?;
        let node = node_of(parent)?;
        let process = container.name.strip_prefix("process ").map_or(Some(-1), |number| number.parse().ok())?;
        i32::try_from(process).is_ok().then_some(TraceUnit { node, process })
    }
}

/// The number at the end of a name, such as 5 for `Rank 5`.
fn last_number(name: &str) -> Option<i64> {
    const MAX_NUMBER: i64 = 1 << 20;
    let start = name.rfind(|letter: char| !letter.is_ascii_digit()).map_or(0, |last| last + 1);
    name.get(start..)?.parse().ok().filter(|number| *number < MAX_NUMBER)
}

/// The node of a container. `None` if its type or name is not that of a node.
fn node_of(container: &KnownContainer) -> Option<i64> {
    if container.ty == "Host" && container.name == "host" {
        return Some(HOST);
    }
    if container.ty != "Node" {
        return None;
    }
    let node: i64 = container.name.strip_prefix("node ")?.parse().ok()?;
    (0..1 << 31).contains(&node).then_some(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_the_numbers_of_names_if_these_are_unique() {
        let mut numbers = NodeNumbers::default();
        for (id, name) in [(1, "Rank 5"), (2, "main"), (3, "Rank 0"), (4, "Thread 5"), (5, "né")] {
            numbers.create((ContainerId(id), ContainerId::ROOT), ("Rank", name), true);
        }
        let nodes: Vec<i64> = [1, 3, 2, 4, 5].map(|id| numbers.unit(ContainerId(id)).0.node).into();
        assert_eq!(nodes, [5, 0, 1, 2, 3]);
    }

    #[test]
    fn the_first_container_with_states_stands_for_those_above() {
        let mut numbers = NodeNumbers::default();
        numbers.create((ContainerId(1), ContainerId::ROOT), ("Process", "a"), false);
        numbers.create((ContainerId(2), ContainerId(1)), ("Thread", "0"), true);
        numbers.create((ContainerId(3), ContainerId(1)), ("Thread", "1"), true);
        assert_eq!(numbers.container_below(ContainerId(1)), Some(ContainerId(2)));
        assert_eq!(numbers.container_below(ContainerId(2)), None);
    }
}
