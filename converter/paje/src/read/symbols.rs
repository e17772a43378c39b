//! Maps the identifiers of a file to numbers.
//!
//! An identifier is an alias, or a name if there is no alias. An object with an alias is also found
//! by its name if the name is unique. Some files use this, although the format forbids it. `0` and
//! `/` are the root unless the file defines them.

use std::collections::hash_map::Entry;
use std::hash::BuildHasher as _;
use std::io;

use foldhash::quality::RandomState;
// Seeded at random, because identifiers come from files, and several times faster than the hasher
// of the standard library.
use foldhash::{HashMap, HashSet};

use crate::{ContainerId, KeyId, PajeTypeKind, TypeId, ValueId};
use tumit_spill::endpoint_map::SpillMap;

/// Objects by identifier and by unique name.
#[derive(Debug)]
struct SymbolIndex<T> {
    by_id: HashMap<Box<str>, T>,
    /// `None` for a name that several objects have.
    by_name: HashMap<Box<str>, Option<T>>,
}

impl<T: Copy> Default for SymbolIndex<T> {
    fn default() -> Self {
        Self { by_id: HashMap::default(), by_name: HashMap::default() }
    }
}

impl<T: Copy> SymbolIndex<T> {
    fn find(&self, text: &str) -> Option<T> {
        self.by_id.get(text).copied().or_else(|| self.by_name(text))
    }

    fn by_name(&self, text: &str) -> Option<T> {
        self.by_name.get(text).copied().flatten()
    }

    /// Adds an object. With an alias, it is also found by its name. `replaces` selects earlier
    /// objects that lose the name.
    fn add(&mut self, id: &str, name: &str, thing: T, replaces: impl Fn(T) -> bool) {
        self.by_id.insert(id.into(), thing);
        if id != name {
            self.name(name, thing, replaces);
        }
    }

    /// Adds a name of an object.
    fn name(&mut self, name: &str, thing: T, replaces: impl Fn(T) -> bool) {
        {
            match self.by_name.entry(name.into()) {
                Entry::Vacant(vacant) => _ = vacant.insert(Some(thing)),
                Entry::Occupied(mut occupied) => {
                    let is_replaced = occupied.get().is_some_and(replaces);
                    occupied.insert(is_replaced.then_some(thing));
                }
            }
        }
    }
}

/// The result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SymbolMatch<T> {
    pub(super) thing: T,
    /// Whether the text is an identifier. The format allows no other references.
    pub(super) by_id: bool,
}

/// Finds an object by identifier, then as the root, then by name.
fn find<T: Copy>(index: &SymbolIndex<T>, root: T, text: &str) -> Option<SymbolMatch<T>> {
    if let Some(&thing) = index.by_id.get(text) {
        return Some(SymbolMatch { thing, by_id: true });
    }
    match text {
        "0" => Some(SymbolMatch { thing: root, by_id: true }),
        "/" => Some(SymbolMatch { thing: root, by_id: false }),
        _ => index.by_name(text).map(|thing| SymbolMatch { thing, by_id: false }),
    }
}

/// A type that the file defined.
#[derive(Debug)]
pub(super) struct PajeType {
    pub(super) kind: PajeTypeKind,
    values: SymbolIndex<ValueId>,
}

/// All types. The root is the first one.
#[derive(Debug)]
pub(super) struct PajeTypes {
    types: Vec<PajeType>,
    index: SymbolIndex<TypeId>,
    /// For each value: whether it was declared, not only used.
    is_declared: Vec<bool>,
}

/// A value that a line uses.
pub(super) struct UsedValue {
    pub(super) value: ValueId,
    /// Whether no line used or declared it before.
    pub(super) is_new: bool,
}

/// The result of declaring a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueDeclaration {
    New(ValueId),
    /// It was used before its declaration.
    Late(ValueId),
    Again,
}

impl Default for PajeTypes {
    fn default() -> Self {
        let root = PajeType { kind: PajeTypeKind::Container, values: SymbolIndex::default() };
        Self { types: vec![root], index: SymbolIndex::default(), is_declared: Vec::new() }
    }
}

impl PajeTypes {
    pub(super) fn find(&self, text: &str) -> Option<SymbolMatch<TypeId>> {
        find(&self.index, TypeId::ROOT, text)
    }

    pub(super) fn kind(&self, ty: TypeId) -> PajeTypeKind {
        self.types[ty.index()].kind
    }

    /// Adds a type. `None` if its identifier exists.
    pub(super) fn add(&mut self, id: &str, name: &str, kind: PajeTypeKind) -> Option<TypeId> {
        if self.index.by_id.contains_key(id) {
            return None;
        }
        let ty = TypeId(u32::try_from(self.types.len()).ok()?);
        self.types.push(PajeType { kind, values: SymbolIndex::default() });
        self.index.add(id, name, ty, |_| false);
        Some(ty)
    }

    /// The value with this name. A new value gets the text as its name.
    pub(super) fn value(&mut self, ty: TypeId, text: &str) -> UsedValue {
        let values = &mut self.types[ty.index()].values;
        if let Some(value) = values.find(text) {
            return UsedValue { value, is_new: false };
        }
        let value = ValueId(self.is_declared.len() as u32);
        self.is_declared.push(false);
        values.add(text, text, value, |_| false);
        UsedValue { value, is_new: true }
    }

    pub(super) fn declare(&mut self, ty: TypeId, id: &str, name: &str) -> ValueDeclaration {
        let values = &mut self.types[ty.index()].values;
        // The value may have been used by its alias or by its name.
        let used = [id, name].map(|text| values.by_id.get(text).copied());
        if used[0].is_some_and(|value| self.is_declared[value.index()]) {
            return ValueDeclaration::Again;
        }
        if let Some(value) = used.into_iter().flatten().find(|value| !self.is_declared[value.index()]) {
            self.is_declared[value.index()] = true;
            values.by_id.insert(id.into(), value);
            return ValueDeclaration::Late(value);
        }
        let value = ValueId(self.is_declared.len() as u32);
        self.is_declared.push(true);
        values.add(id, name, value, |_| false);
        ValueDeclaration::New(value)
    }
}

#[derive(Clone, Copy, Debug)]
struct PajeContainer {
    ty: TypeId,
    /// Whether it or an ancestor was destroyed.
    is_destroyed: bool,
    /// Whether it was created in a destroyed container. It and all references to it are then
    /// ignored.
    stillborn: bool,
    /// The container created last in it. `previous` is the container created before it in its
    /// parent. The root stands for none.
    last_child: ContainerId,
    container: ContainerId,
    /// The process of the run to which it belongs.
    process: Option<u32>,
}

impl PajeContainer {
    const fn new(ty: TypeId) -> Self {
        let none = ContainerId::ROOT;
        Self { ty, is_destroyed: false, stillborn: false, last_child: none, container: none, process: None }
    }
}

/// All created containers. The root is the first one.
#[derive(Debug)]
pub(super) struct PajeContainers {
    containers: Vec<PajeContainer>,
    index: SymbolIndex<ContainerId>,
    /// For each process of a run: its own containers. References search here first.
    by_process: HashMap<u32, SymbolIndex<ContainerId>>,
    /// The process of the current line, if lines come from a run.
    process: Option<u32>,
}

impl Default for PajeContainers {
    fn default() -> Self {
        let root = PajeContainer::new(TypeId::ROOT);
        Self { containers: vec![root], index: SymbolIndex::default(), by_process: HashMap::default(), process: None }
    }
}

impl PajeContainers {
    pub(super) fn find(&self, text: &str) -> Option<SymbolMatch<ContainerId>> {
        match self.process.and_then(|process| self.by_process.get(&process)) {
            Some(own) => self.find_from(own, text),
            None => find(&self.index, ContainerId::ROOT, text),
        }
    }

    /// Finds a container for a line of a process with these own containers. Aliases have precedence
    /// over names.
    fn find_from(&self, process_index: &SymbolIndex<ContainerId>, text: &str) -> Option<SymbolMatch<ContainerId>> {
        if let Some(&thing) = process_index.by_id.get(text) {
            return Some(SymbolMatch { thing, by_id: true });
        }
        let container = find(&self.index, ContainerId::ROOT, text);
        if container.is_some_and(|container| container.by_id) {
            return container;
        }
        process_index.by_name(text).map(|thing| SymbolMatch { thing, by_id: false }).or(container)
    }

    /// Whether a text is the name of several containers.
    pub(super) fn is_ambiguous(&self, text: &str) -> bool {
        self.index.by_name.get(text).is_some_and(Option::is_none)
    }

    /// Finds a container by identifier only.
    pub(super) fn find_id(&self, text: &str) -> Option<ContainerId> {
        let root = || matches!(text, "0" | "/").then_some(ContainerId::ROOT);
        self.index.by_id.get(text).copied().or_else(root)
    }

    /// Adds a container, and returns whether its identifier is reused from a destroyed one. `None`
    /// if a container with this identifier exists.
    pub(super) fn create(
        &mut self,
        id: &str,
        name: &str,
        (ty, parent): (TypeId, ContainerId),
    ) -> Option<(ContainerId, bool)> {
        let process = self.containers[parent.index()].process;
        let index = match process {
            Some(process) => self.by_process.entry(process).or_default(),
            None => &mut self.index,
        };
        let earlier_container = index.by_id.get(id).copied();
        if earlier_container.is_some_and(|existing| !self.containers[existing.index()].is_destroyed) {
            return None;
        }
        let container = ContainerId(u32::try_from(self.containers.len()).ok()?);
        let stillborn = self.containers[parent.index()].is_destroyed;
        let previous = std::mem::replace(&mut self.containers[parent.index()].last_child, container);
        self.containers.push(PajeContainer {
            is_destroyed: stillborn,
            stillborn,
            container: previous,
            process,
            ..PajeContainer::new(ty)
        });
        let is_dead = |earlier: ContainerId| self.containers[earlier.index()].is_destroyed;
        index.add(id, name, container, is_dead);
        // Lines of other processes find it if no other container has the same alias.
        if process.is_some() {
            self.index.name(id, container, is_dead);
        }
        Some((container, earlier_container.is_some()))
    }

    /// Whether it was created in a container that had ended.
    pub(super) fn is_stillborn(&self, container: ContainerId) -> bool {
        self.containers[container.index()].stillborn
    }

    /// Whether it or an ancestor was destroyed after its creation.
    pub(super) fn is_destroyed(&self, container: ContainerId) -> bool {
        let container = &self.containers[container.index()];
        container.is_destroyed && !container.stillborn
    }

    pub(super) fn type_of(&self, container: ContainerId) -> TypeId {
        self.containers[container.index()].ty
    }

    /// Ends a container and all its descendants.
    pub(super) fn destroy(&mut self, container: ContainerId) {
        let mut containers = vec![container];
        while let Some(next) = containers.pop() {
            let container = &mut self.containers[next.index()];
            // All descendants of a dead container are dead.
            if std::mem::replace(&mut container.is_destroyed, true) {
                continue;
            }
            let mut child = container.last_child;
            while child != ContainerId::ROOT {
                containers.push(child);
                child = self.containers[child.index()].container;
            }
        }
    }
}

/// Adds objects from another source, so that lines can refer to them. Identifiers of the text have
/// precedence over these names. A name that several objects have refers to none of them.
#[derive(Debug)]
pub struct ExternalNames<'a> {
    pub(super) types: &'a mut PajeTypes,
    pub(super) containers: &'a mut PajeContainers,
}

impl ExternalNames<'_> {
    /// Adds a type with its name and other names.
    pub fn add_type<'n>(
        &mut self,
        name: &str,
        aliases: impl Iterator<Item = &'n str>,
        kind: PajeTypeKind,
    ) -> Option<TypeId> {
        let PajeTypes { types, index, .. } = &mut *self.types;
        let ty = TypeId(u32::try_from(types.len()).ok()?);
        types.push(PajeType { kind, values: SymbolIndex::default() });
        index.name(name, ty, |_| false);
        for alias in aliases.filter(|alias| *alias != name) {
            index.name(alias, ty, |_| false);
        }
        Some(ty)
    }

    /// Declares a value. Returns `None` if it is declared already.
    pub fn add_value(&mut self, ty: TypeId, name: &str) -> Option<ValueId> {
        match self.types.declare(ty, name, name) {
            ValueDeclaration::New(value) | ValueDeclaration::Late(value) => Some(value),
            ValueDeclaration::Again => None,
        }
    }

    /// Adds a container. Its name is also found in lower case.
    pub fn add_container(&mut self, name: &str, ty: TypeId, parent: ContainerId) -> Option<ContainerId> {
        let PajeContainers { containers, index, by_process, .. } = &mut *self.containers;
        let container = ContainerId(u32::try_from(containers.len()).ok()?);
        let previous = std::mem::replace(&mut containers[parent.index()].last_child, container);
        let PajeContainer { is_destroyed, process, .. } = containers[parent.index()];
        containers.push(PajeContainer { container: previous, is_destroyed, process, ..PajeContainer::new(ty) });
        let mut process_index = process.map(|process| by_process.entry(process).or_default());
        for name in spellings(name) {
            let is_dead = |earlier: ContainerId| containers[earlier.index()].is_destroyed;
            index.name(&name, container, is_dead);
            if let Some(own) = &mut process_index {
                own.name(&name, container, is_dead);
            }
        }
        Some(container)
    }

    /// Assigns a container to a process. Lines of this process find it by `label`. For lines of
    /// other processes, the label refers to no container unless it is the name of the container.
    pub fn own_container(&mut self, container: ContainerId, process: u32, label: &str) {
        let PajeContainers { containers, index, by_process, .. } = &mut *self.containers;
        containers[container.index()].process = Some(process);
        let own = by_process.entry(process).or_default();
        for name in spellings(label) {
            own.name(&name, container, |earlier| containers[earlier.index()].is_destroyed);
            if index.by_name(&name) != Some(container) {
                index.by_name.insert(name.into(), None);
            }
        }
    }

    /// Sets the process of the following lines.
    pub fn set_process(&mut self, process: Option<u32>) {
        self.containers.process = process;
    }

    /// Ends a container and all containers below it.
    pub fn end_container(&mut self, container: ContainerId) {
        self.containers.destroy(container);
    }
}

/// A name, and the name in lower case if it differs.
fn spellings(name: &str) -> impl Iterator<Item = String> {
    let lower = name.to_lowercase();
    let lower = (lower != name).then_some(lower);
    std::iter::once(name.to_owned()).chain(lower)
}

/// The link keys in use, per holding container and type. For each hash: the number of the key, and
/// the number of starts minus ends. At 0 the key is free again. The number of keys is not limited,
/// because those that exceed the memory are in a file.
#[derive(Debug, Default)]
pub(super) struct OpenKeys {
    numbers: SpillMap<2>,
    /// Two hashes of 64 bits with random seeds replace the text. Among 10^9 keys, two have equal
    /// hashes once in 10^20 traces.
    hashes: [RandomState; 2],
    next: u64,
    /// The hash of the last text.
    last: u128,
    /// The hashes of all keys, if they are remembered.
    remembered_hashes: Option<HashSet<u64>>,
}

impl OpenKeys {
    /// Starts to detect keys that are reused after their pair.
    pub(super) fn detect_reuse(&mut self) {
        self.remembered_hashes = Some(HashSet::default());
    }

    /// Whether the last text was already a key of an earlier link. Called if it stands for a new
    /// key.
    pub(super) fn is_again(&mut self) -> bool {
        self.remembered_hashes.as_mut().is_some_and(|all| !all.insert(self.last as u64))
    }

    /// A key for an endpoint that belongs to no link.
    pub(super) fn unpaired_key(&mut self) -> KeyId {
        self.next += 1;
        KeyId(self.next - 1)
    }

    /// The key of a text, and whether it is new. If all starts and ends of a text are paired, its
    /// next use is a new key.
    pub(super) fn find(
        &mut self,
        holder: ContainerId,
        ty: TypeId,
        text: &str,
        starts: bool,
    ) -> io::Result<(KeyId, bool)> {
        let [high, low] = self.hashes.each_ref().map(|state| state.hash_one((holder.0, ty.0, text)));
        self.last = u128::from(high) << 64 | u128::from(low);
        let next = &mut self.next;
        self.numbers.change(self.last, |used| {
            let [key, balance] = used.unwrap_or_else(|| {
                *next += 1;
                [*next - 1, 0]
            });
            let balance = balance.cast_signed() + if starts { 1 } else { -1 };
            let new_balance = (balance != 0).then_some([key, balance.cast_unsigned()]);
            (new_balance, (KeyId(key), used.is_none()))
        })
    }
}
