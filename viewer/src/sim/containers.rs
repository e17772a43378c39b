//! Which containers exist, and since when.

use std::collections::BTreeMap;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, TypeId};

use super::Slot;
use super::entities::Entities;
use super::faults::{Fault, Faults};
use crate::query::{ContainerInfo, Interval};

/// How far ids may run ahead of the containers that are there. They are dense; this bounds what a wrong one costs.
const MAX_GAP: usize = 1 << 20;

/// Slots among which a linear search is as fast as a map.
const FEW_SLOTS: usize = 16;
/// The dates of what is not there.
const NOTHING: (i64, i64) = (i64::MAX, i64::MIN);

/// The first destruction of a container: its line, as in [`Faults`] (0 outside of texts), and its
/// date.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Destruction {
    pub(crate) line: u64,
    pub(crate) time: i64,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Entry {
    info: ContainerInfo,
    destroyed: Option<Destruction>,
    /// The container is complete: later operations on it are left out.
    closed: bool,
    /// First and last date of containers and links that it holds and that have ended.
    held: (i64, i64),
    slots: Vec<(TypeId, Slot)>,
    children: Vec<ContainerId>,
    detail: u32,
}

/// All containers by id.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Containers {
    all: Vec<Option<Entry>>,
    /// The slots of containers that are not closed and have more than [`FEW_SLOTS`].
    many: BTreeMap<(ContainerId, TypeId), Slot>,
}

impl Containers {
    /// Only the root.
    pub(crate) fn new(root: &str) -> Self {
        let mut containers = Self { all: Vec::new(), many: BTreeMap::new() };
        containers.insert(
            ContainerInfo {
                id: ContainerId::ROOT,
                ty: TypeId::ROOT,
                parent: ContainerId::ROOT,
                depth: 0,
                name: root.to_owned(),
                life: Interval { from: GlobalNanos(0), to: GlobalNanos(0) },
            },
            0,
        );
        containers
    }

    fn insert(&mut self, info: ContainerInfo, detail: u32) {
        let at = info.id.index();
        if self.all.len() <= at {
            self.all.resize_with(at + 1, || None);
        }
        let entry = Entry {
            info,
            destroyed: None,
            closed: false,
            held: NOTHING,
            slots: Vec::new(),
            children: Vec::new(),
            detail,
        };
        self.all[at] = Some(entry);
    }

    fn get(&self, id: ContainerId) -> Option<&Entry> {
        self.all.get(id.index())?.as_ref()
    }

    fn get_mut(&mut self, id: ContainerId) -> Option<&mut Entry> {
        self.all.get_mut(id.index())?.as_mut()
    }

    /// Takes a new one; `parent_type` is what its type was declared under.
    pub(crate) fn create(
        &mut self,
        info: ContainerInfo,
        parent_type: TypeId,
        detail: u32,
        faults: &mut Faults,
        out: &mut impl Entities,
    ) {
        if self.is_known(info.id) {
            out.forget(detail);
            return faults.count(Fault::CreatedAgain);
        }
        if info.parent >= info.id || !self.is_alive(info.parent) || info.id.index() > self.all.len() + MAX_GAP {
            out.forget(detail);
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

    /// Where it was destroyed, if it was.
    pub(crate) fn destruction(&self, id: ContainerId) -> Option<Destruction> {
        self.get(id)?.destroyed
    }

    /// Whether it is known and not closed.
    pub(crate) fn is_open(&self, id: ContainerId) -> bool {
        self.get(id).is_some_and(|entry| !entry.closed)
    }

    /// Notes the first destruction of a container. Nothing can be created in it any more.
    pub(crate) fn destroy(&mut self, id: ContainerId, destruction: Destruction) {
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

    /// That which holds it; the root's is the root.
    pub(crate) fn parent(&self, id: ContainerId) -> ContainerId {
        self.get(id).map_or(ContainerId::ROOT, |entry| entry.info.parent)
    }

    /// The root, which nobody creates.
    pub(crate) fn root(&self) -> &ContainerInfo {
        &self.get(ContainerId::ROOT).expect("it is there from the beginning").info
    }

    /// When it ends, as far as is known.
    pub(crate) fn to(&self, id: ContainerId) -> i64 {
        self.get(id).map_or(0, |entry| entry.info.life.to.0)
    }

    pub(crate) fn from(&self, id: ContainerId) -> i64 {
        self.get(id).map_or(0, |entry| entry.info.life.from.0)
    }

    pub(crate) fn slots(&self, id: ContainerId) -> &[(TypeId, Slot)] {
        self.get(id).map_or(&[], |entry| &entry.slots)
    }

    /// The slot of a type in a container, if there is one.
    #[inline]
    pub(crate) fn slot(&self, id: ContainerId, ty: TypeId) -> Option<Slot> {
        let entry = self.get(id)?;
        if entry.slots.len() <= FEW_SLOTS {
            return entry.slots.iter().find(|(of, _)| *of == ty).map(|&(_, slot)| slot);
        }
        self.many.get(&(id, ty)).copied()
    }

    /// Adds the slot of a type to a container that is known.
    pub(crate) fn add_slot(&mut self, id: ContainerId, ty: TypeId, slot: Slot) {
        let entry = self.all[id.index()].as_mut().expect("the caller has seen it");
        entry.slots.push((ty, slot));
        let first = if entry.slots.len() == FEW_SLOTS + 1 { 0 } else { entry.slots.len() - 1 };
        if entry.slots.len() > FEW_SLOTS {
            self.many.extend(entry.slots[first..].iter().map(|&(ty, slot)| ((id, ty), slot)));
        }
    }

    /// The container and all that is alive inside, innermost first.
    pub(crate) fn with_descendants(&self, id: ContainerId) -> Vec<ContainerId> {
        let (mut order, mut stack) = (Vec::new(), vec![id]);
        while let Some(at) = stack.pop() {
            if let Some(entry) = self.get(at).filter(|entry| entry.destroyed.is_none()) {
                order.push(at);
                stack.extend(&entry.children);
            }
        }
        order.reverse();
        order
    }

    /// All that are not closed, each behind the one that holds it.
    pub(crate) fn open(&self) -> Vec<ContainerId> {
        self.all.iter().flatten().filter(|entry| !entry.closed).map(|entry| entry.info.id).collect()
    }

    /// The dates of the containers and links that it holds and that have ended, if there are any.
    pub(crate) fn held(&self, id: ContainerId) -> Option<(i64, i64)> {
        self.get(id).map(|entry| entry.held).filter(|(from, to)| from <= to)
    }

    /// It holds something with these dates.
    pub(crate) fn hold(&mut self, id: ContainerId, from: i64, to: i64) {
        if let Some(entry) = self.get_mut(id) {
            entry.held = (entry.held.0.min(from), entry.held.1.max(to));
        }
    }

    pub(crate) fn live(&mut self, id: ContainerId, from: i64, to: i64) {
        if let Some(entry) = self.get_mut(id) {
            entry.info.life = Interval { from: GlobalNanos(from), to: GlobalNanos(to) };
        }
    }

    /// A container ends, and takes nothing any more.
    pub(crate) fn close(&mut self, id: ContainerId, to: i64, out: &mut impl Entities) {
        if let Some(entry) = self.all.get_mut(id.index()).and_then(Option::as_mut) {
            entry.info.life.to = GlobalNanos(to);
            if entry.slots.len() > FEW_SLOTS {
                entry.slots.iter().for_each(|(ty, _)| _ = self.many.remove(&(id, *ty)));
            }
            entry.closed = true;
            // What ended needs no more room than what was kept.
            entry.slots = Vec::new();
            entry.children = Vec::new();
            out.container(&entry.info, entry.detail);
        }
    }

    /// What is known of each, and the rows of their extra fields by id.
    pub(crate) fn into_parts(self) -> (Vec<ContainerInfo>, Vec<u32>) {
        let details = self.all.iter().map(|entry| entry.as_ref().map_or(0, |entry| entry.detail)).collect();
        (self.all.into_iter().flatten().map(|entry| entry.info).collect(), details)
    }
}
