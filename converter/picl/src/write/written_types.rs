//! [`WrittenTypes`]: the types of a trace, and the state types that determine categories.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, TypeId};

use super::written_meanings::WrittenMeanings;

/// A type of the trace.
#[derive(Debug)]
struct WrittenType {
    name: String,
    parent: TypeId,
    is_state: bool,
}

/// The types of a trace.
#[derive(Debug, Default)]
pub(super) struct WrittenTypes {
    types: BTreeMap<TypeId, WrittenType>,
    /// The type of each container.
    containers: FxHashMap<ContainerId, TypeId>,
    /// For each container type, the state type that determines the category of its containers.
    deciding: FxHashMap<TypeId, TypeId>,
}

impl WrittenTypes {
    pub(super) fn define(&mut self, ty: TypeId, name: &str, parent: TypeId, is_state: bool) {
        self.types.insert(ty, WrittenType { name: name.to_owned(), parent, is_state });
    }

    pub(super) fn create(&mut self, container: ContainerId, ty: TypeId) {
        self.containers.insert(container, ty);
    }

    /// Whether states can be in a container of a type.
    pub(super) fn has_states(&self, container: TypeId) -> bool {
        self.types.values().any(|info| info.is_state && info.parent == container)
    }

    pub(super) fn of_container(&self, container: ContainerId) -> Option<TypeId> {
        self.containers.get(&container).copied()
    }

    pub(super) fn name(&self, ty: TypeId) -> &str {
        self.types.get(&ty).map_or("", |info| &info.name)
    }

    /// Whether a state type determines the category of a container. It is the first one of the
    /// container's type whose values have different categories, as in the views.
    pub(super) fn is_deciding(&mut self, container: ContainerId, ty: TypeId, meanings: &WrittenMeanings) -> bool {
        let Some(of_container) = self.containers.get(&container) else { return false };
        let types = &self.types;
        let deciding = self.deciding.entry(*of_container).or_insert_with(|| {
            let mut states = types.iter().filter(|(_, info)| info.is_state && info.parent == *of_container);
            let first = states.clone().next();
            states.find(|(ty, _)| meanings.distinguishes(**ty)).or(first).map_or(ty, |(ty, _)| *ty)
        });
        *deciding == ty
    }
}
