//! [`NodeContainers`]: the containers of nodes and processes.

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, TypeId};

use super::definitions::{EntityTypes, NODE};
use crate::model::TraceUnit;
use crate::model::trace_units::HOST;

/// A container to create.
#[derive(Debug)]
pub(crate) struct NewContainer {
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    pub(crate) parent: ContainerId,
    pub(crate) name: String,
}

/// The containers of nodes and processes.
#[derive(Debug, Default)]
pub(crate) struct NodeContainers {
    /// Names that the trace gives to nodes.
    names: FxHashMap<i64, String>,
    nodes: FxHashMap<i64, ContainerId>,
    /// Number of containers without the root and the program.
    count: u32,
    is_alog: bool,
}

impl NodeContainers {
    pub(crate) fn new(names: FxHashMap<i64, String>, is_alog: bool) -> Self {
        Self { names, is_alog, ..Self::default() }
    }

    fn next(&mut self) -> ContainerId {
        self.count += 1;
        ContainerId(self.count + 1)
    }

    /// Returns the containers to create for a unit, and the container of the unit.
    pub(crate) fn open(
        &mut self,
        unit: TraceUnit,
        types: EntityTypes,
        program: ContainerId,
    ) -> (Vec<NewContainer>, ContainerId) {
        let mut containers = Vec::new();
        if unit.node == HOST {
            let container = self.next();
            let name = self.name_of(HOST);
            return (vec![NewContainer { container, ty: types.host(), parent: program, name }], container);
        }
        let node = match self.nodes.get(&unit.node) {
            Some(node) => *node,
            None => {
                let container = self.next();
                self.nodes.insert(unit.node, container);
                let name = self.name_of(unit.node);
                containers.push(NewContainer { container, ty: NODE, parent: program, name });
                container
            }
        };
        if !types.has_processes {
            return (containers, node);
        }
        let container = self.next();
        let name = if unit.process < 0 { self.name_of(unit.node) } else { format!("process {}", unit.process) };
        containers.push(NewContainer { container, ty: types.unit(), parent: node, name });
        (containers, container)
    }

    /// The name of a unit in messages.
    pub(crate) fn unit_name(&self, unit: TraceUnit, has_processes: bool) -> String {
        let node = self.name_of(unit.node);
        if has_processes && unit.process >= 0 { format!("{node}/process {}", unit.process) } else { node }
    }

    fn name_of(&self, node: i64) -> String {
        match self.names.get(&node) {
            Some(name) => name.clone(),
            None if node == HOST => "host".to_owned(),
            None if self.is_alog => format!("process {node}"),
            None => format!("node {node}"),
        }
    }
}
