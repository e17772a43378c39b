//! The containers of a simulation, and their lifetimes.

use std::collections::BTreeMap;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, TypeId};

use super::entity_sink::EntitySink;
use super::entity_slot::EntitySlot;
use super::faults::{Fault, FaultCounts};
use crate::query::{ContainerInfo, TimeRange, TimestampExtent};

/// Maximum number of ids between a new id and the existing ones. Ids are dense; this bounds the
/// memory that a wrong id costs.
const MAX_GAP: usize = 1 << 20;

/// Up to this number of slots, a linear search is as fast as a map.
const FEW_SLOTS: usize = 16;

/// The first destruction of a container: its line, as in [`FaultCounts`] (0 if the operations are
/// not from a text), and its timestamp.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct ContainerDestruction {
    pub(crate) line: u64,
    pub(crate) time: i64,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct ContainerEntry {
    info: ContainerInfo,
    destroyed: Option<ContainerDestruction>,
    /// Whether the container is complete. Later operations on it are dropped.
    is_closed: bool,
    /// The extent of the ended containers and links in it.
    content: TimestampExtent,
    slots: Vec<(TypeId, EntitySlot)>,
    children: Vec<ContainerId>,
    detail: u32,
}

/// All containers by id.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct ContainerTable {
    entries: Vec<Option<ContainerEntry>>,
    /// The slots of open containers with more than [`FEW_SLOTS`] slots.
    slots_by_type: BTreeMap<(ContainerId, TypeId), EntitySlot>,
}

/// The containers at the end of a simulation.
#[derive(Debug)]
pub(crate) struct ContainerParts {
    pub(crate) containers: Vec<ContainerInfo>,
    /// The rows of their extra fields, by container id.
    pub(crate) details: Vec<u32>,
}

impl ContainerTable {
    /// The containers of an empty trace: only the root.
    pub(crate) fn new(root: &str) -> Self {
        let mut containers = Self { entries: Vec::new(), slots_by_type: BTreeMap::new() };
        containers.insert(
            ContainerInfo {
                id: ContainerId::ROOT,
                ty: TypeId::ROOT,
                parent: ContainerId::ROOT,
                depth: 0,
                name: root.to_owned(),
                life: TimeRange { from: GlobalNanos(0), to: GlobalNanos(0) },
            },
            0,
        );
        containers
    }

    fn insert(&mut self, info: ContainerInfo, detail: u32) {
        let index = info.id.index();
        if self.entries.len() <= index {
            self.entries.resize_with(index + 1, || None);
        }
        let entry = ContainerEntry {
            info,
            destroyed: None,
            is_closed: false,
            content: TimestampExtent::EMPTY,
            slots: Vec::new(),
            children: Vec::new(),
            detail,
        };
        self.entries[index] = Some(entry);
    }

    fn get(&self, id: ContainerId) -> Option<&ContainerEntry> {
        self.entries.get(id.index())?.as_ref()
    }

    fn get_mut(&mut self, id: ContainerId) -> Option<&mut ContainerEntry> {
        self.entries.get_mut(id.index())?.as_mut()
    }

    /// Adds a new container. `parent_type` is the parent type that its type declares.
    pub(crate) fn create(
        &mut self,
        info: ContainerInfo,
        parent_type: TypeId,
        detail: u32,
        faults: &mut FaultCounts,
        out: &mut impl EntitySink,
    ) {
        if self.is_known(info.id) {
            out.free_detail(detail);
            return faults.count(Fault::CreatedAgain);
        }
        if info.parent >= info.id || !self.is_alive(info.parent) || info.id.index() > self.entries.len() + MAX_GAP {
            out.free_detail(detail);
            return faults.count(Fault::DeadContainer);
        }
        if self.type_of(info.parent) != parent_type {
            faults.count(Fault::ForeignType);
        }
        if info.life.from.0 < self.from(info.parent) && info.parent != ContainerId::ROOT {
            faults.count(Fault::LateCreation);
        }
        out.create(&info);
        if let Some(parent) = self.get_mut(info.parent) {
            parent.children.push(info.id);
        }
        self.insert(info, detail);
    }

    pub(crate) fn is_alive(&self, id: ContainerId) -> bool {
        self.get(id).is_some_and(|entry| entry.destroyed.is_none())
    }

    /// The destruction of a container, if it was destroyed.
    pub(crate) fn destruction(&self, id: ContainerId) -> Option<ContainerDestruction> {
        self.get(id)?.destroyed
    }

    /// Whether a container exists and is not closed.
    pub(crate) fn is_open(&self, id: ContainerId) -> bool {
        self.get(id).is_some_and(|entry| !entry.is_closed)
    }

    /// Records the first destruction of a container. Afterwards, nothing can be created in it.
    pub(crate) fn destroy(&mut self, id: ContainerId, destruction: ContainerDestruction) {
        if let Some(entry) = self.get_mut(id) {
            entry.destroyed.get_or_insert(destruction);
            entry.children = Vec::new();
        }
    }

    pub(crate) fn is_known(&self, id: ContainerId) -> bool {
        self.get(id).is_some()
    }

    pub(crate) fn type_of(&self, id: ContainerId) -> TypeId {
        self.get(id).map_or(TypeId::ROOT, |entry| entry.info.ty)
    }

    /// The parent of a container. The parent of the root is the root.
    pub(crate) fn parent(&self, id: ContainerId) -> ContainerId {
        self.get(id).map_or(ContainerId::ROOT, |entry| entry.info.parent)
    }

    /// The root, which always exists.
    pub(crate) fn root(&self) -> &ContainerInfo {
        &self.get(ContainerId::ROOT).expect("the root always exists").info
    }

    /// The end of a container, if known so far.
    pub(crate) fn end_of(&self, id: ContainerId) -> i64 {
        self.get(id).map_or(0, |entry| entry.info.life.to.0)
    }

    pub(crate) fn from(&self, id: ContainerId) -> i64 {
        self.get(id).map_or(0, |entry| entry.info.life.from.0)
    }

    pub(crate) fn slots(&self, id: ContainerId) -> &[(TypeId, EntitySlot)] {
        self.get(id).map_or(&[], |entry| &entry.slots)
    }

    /// The slot of a type in a container, if there is one.
    #[inline]
    pub(crate) fn slot(&self, id: ContainerId, ty: TypeId) -> Option<EntitySlot> {
        let entry = self.get(id)?;
        if entry.slots.len() <= FEW_SLOTS {
            return entry.slots.iter().find(|(of, _)| *of == ty).map(|&(_, slot)| slot);
        }
        self.slots_by_type.get(&(id, ty)).copied()
    }

    /// Adds the slot of a type to an existing container.
    pub(crate) fn add_slot(&mut self, id: ContainerId, ty: TypeId, slot: EntitySlot) {
        let entry = self.entries[id.index()].as_mut().expect("the caller has found it");
        entry.slots.push((ty, slot));
        let first = if entry.slots.len() == FEW_SLOTS + 1 { 0 } else { entry.slots.len() - 1 };
        if entry.slots.len() > FEW_SLOTS {
            self.slots_by_type.extend(entry.slots[first..].iter().map(|&(ty, slot)| ((id, ty), slot)));
        }
    }

    /// The container and all living containers below it, innermost first.
    pub(crate) fn with_descendants(&self, id: ContainerId) -> Vec<ContainerId> {
        let (mut order, mut stack) = (Vec::new(), vec![id]);
        while let Some(container) = stack.pop() {
            if let Some(entry) = self.get(container).filter(|entry| entry.destroyed.is_none()) {
                order.push(container);
                stack.extend(&entry.children);
            }
        }
        order.reverse();
        order
    }

    /// All containers that are not closed, each after its parent.
    pub(crate) fn open_containers(&self) -> Vec<ContainerId> {
        self.entries.iter().flatten().filter(|entry| !entry.is_closed).map(|entry| entry.info.id).collect()
    }

    /// The extent of the ended containers and links in a container; empty if there are none.
    pub(crate) fn content_extent(&self, id: ContainerId) -> TimestampExtent {
        self.get(id).map_or(TimestampExtent::EMPTY, |entry| entry.content)
    }

    /// Adds ended containers or links to the extent of a container's contents.
    pub(crate) fn extend_content(&mut self, id: ContainerId, extent: TimestampExtent) {
        if let Some(entry) = self.get_mut(id) {
            entry.content = entry.content.join(extent);
        }
    }

    pub(crate) fn set_life(&mut self, id: ContainerId, life: TimeRange) {
        if let Some(entry) = self.get_mut(id) {
            entry.info.life = life;
        }
    }

    /// Closes a container. It accepts no further operations.
    pub(crate) fn close(&mut self, id: ContainerId, to: i64, out: &mut impl EntitySink) {
        if let Some(entry) = self.entries.get_mut(id.index()).and_then(Option::as_mut) {
            entry.info.life.to = GlobalNanos(to);
            if entry.slots.len() > FEW_SLOTS {
                entry.slots.iter().for_each(|(ty, _)| _ = self.slots_by_type.remove(&(id, *ty)));
            }
            entry.is_closed = true;
            // Frees memory that only open containers need.
            entry.slots = Vec::new();
            entry.children = Vec::new();
            out.container(&entry.info, entry.detail);
        }
    }

    pub(crate) fn into_parts(self) -> ContainerParts {
        let details = self.entries.iter().map(|entry| entry.as_ref().map_or(0, |entry| entry.detail)).collect();
        ContainerParts { containers: self.entries.into_iter().flatten().map(|entry| entry.info).collect(), details }
    }
}
