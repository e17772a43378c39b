//! [`NodeNumbers`]: the nodes and processes of containers.

use rustc_hash::FxHashMap;
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
    next: i64,
}

impl NodeNumbers {
    pub(super) fn create(&mut self, container: ContainerId, parent: ContainerId, ty: &str, name: &str) {
        let known = KnownContainer { parent, ty: ty.to_owned(), name: name.to_owned(), unit: None };
        // Containers of other traces get the numbers after the nodes of a PICL trace.
        if let Some(node) = node_of(&known) {
            self.next = self.next.max(node + 1);
        }
        self.containers.insert(container, known);
    }

    /// The unit of a container, if it has one.
    pub(super) fn known_unit(&self, container: ContainerId) -> Option<TraceUnit> {
        self.containers.get(&container)?.unit
    }

    /// The unit of a container, and whether it is new.
    pub(super) fn unit(&mut self, container: ContainerId) -> (TraceUnit, bool) {
        let known = self.containers.get(&container);
        if let Some(unit) = known.and_then(|known| known.unit) {
            return (unit, false);
        }
        let unit = known.and_then(|known| self.unit_of_names(known)).unwrap_or_else(|| {
            self.next += 1;
            TraceUnit { node: self.next - 1, process: 0 }
        });
        if let Some(known) = self.containers.get_mut(&container) {
            known.unit = Some(unit);
        }
        (unit, true)
    }

    /// The unit of a container. `None` if its name is not that of a PICL trace.
    fn unit_of_names(&self, known: &KnownContainer) -> Option<TraceUnit> {
        if let Some(node) = node_of(known) {
            return Some(TraceUnit { node, process: 0 });
        }
        let parent = self.containers.get(&known.parent).filter(|_| known.ty == "Process")?;
        let node = node_of(parent)?;
        let process = known.name.strip_prefix("process ").map_or(Some(-1), |number| number.parse().ok())?;
        i32::try_from(process).is_ok().then_some(TraceUnit { node, process })
    }
}

/// The node of a container. `None` if its type or name is not that of a node.
fn node_of(known: &KnownContainer) -> Option<i64> {
    if known.ty == "Host" && known.name == "host" {
        return Some(HOST);
    }
    if known.ty != "Node" {
        return None;
    }
    let node: i64 = known.name.strip_prefix("node ")?.parse().ok()?;
    (0..1 << 31).contains(&node).then_some(node)
}
