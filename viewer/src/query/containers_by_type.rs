//! The types of entities that each container has. Without it, a caller would query every type in
//! every container, at a cost of the product of their numbers.

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, TypeId};

use super::{ContainerInfo, TimelineSource, TypeInfo, TypeModel};

/// The types to query in a container, in order of their ids. If the source does not know them, all
/// types.
pub(crate) fn types_in<'m>(
    source: &dyn TimelineSource,
    model: &'m TypeModel,
    container: ContainerId,
) -> Vec<&'m TypeInfo> {
    match source.types_in(container) {
        Some(types) => types.iter().filter_map(|ty| model.types.get(ty.index())).collect(),
        None => model.types.iter().collect(),
    }
}

/// The containers to query for each type, in the order of the list.
pub(crate) struct ContainersByType<'a> {
    list: &'a [ContainerInfo],
    /// `None` if the source does not know them. Then all containers are queried.
    by_type: Option<FxHashMap<TypeId, Vec<ContainerId>>>,
}

impl<'a> ContainersByType<'a> {
    /// Queries the source for the types of each container of the list.
    pub(crate) fn new(source: &dyn TimelineSource, list: &'a [ContainerInfo]) -> Self {
        let mut by_type: FxHashMap<TypeId, Vec<ContainerId>> = FxHashMap::default();
        for info in list {
            let Some(types) = source.types_in(info.id) else { return Self { list, by_type: None } };
            for ty in types {
                by_type.entry(ty).or_default().push(info.id);
            }
        }
        Self { list, by_type: Some(by_type) }
    }

    /// The containers that may have entities of a type.
    pub(crate) fn of(&self, ty: TypeId) -> Vec<ContainerId> {
        match &self.by_type {
            Some(by_type) => by_type.get(&ty).cloned().unwrap_or_default(),
            None => self.list.iter().map(|info| info.id).collect(),
        }
    }
}
