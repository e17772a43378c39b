//! Identifiers of a file and the numbers that stand for them.
//!
//! An identifier is an alias, or the name of what has no alias. What has an alias is also found by its name, as long as the name
//! is unique: some files do so, though the format forbids it. `0` and `/` are the root unless the file defines them.

use std::collections::hash_map::Entry;
use std::hash::BuildHasher as _;
use std::io;

use foldhash::quality::RandomState;
// Seeded at random, as identifiers come from files, and several times faster than the standard library's.
use foldhash::{HashMap, HashSet};

use crate::{ContainerId, KeyId, TypeId, TypeKind, ValueId};
use tumit_spill::endpoint_map::Far;

/// Things by identifier, else by unique name.
#[derive(Debug)]
struct Index<T> {
    by_id: HashMap<Box<str>, T>,
    /// `None` for a name that several bear.
    by_name: HashMap<Box<str>, Option<T>>,
}

impl<T: Copy> Default for Index<T> {
    fn default() -> Self {
        Self { by_id: HashMap::default(), by_name: HashMap::default() }
    }
}

impl<T: Copy> Index<T> {
    fn find(&self, text: &str) -> Option<T> {
        self.by_id.get(text).copied().or_else(|| self.by_name(text))
    }

    fn by_name(&self, text: &str) -> Option<T> {
        self.by_name.get(text).copied().flatten()
    }

    /// Adds one; with an alias it can be found by its name as well. `replaces` says which bearer of the name does not count.
    fn add(&mut self, id: &str, name: &str, thing: T, replaces: impl Fn(T) -> bool) {
        self.by_id.insert(id.into(), thing);
        if id != name {
            self.name(name, thing, replaces);
        }
    }

    /// Lets one be found by a name.
    fn name(&mut self, name: &str, thing: T, replaces: impl Fn(T) -> bool) {
        {
            match self.by_name.entry(name.into()) {
                Entry::Vacant(vacant) => _ = vacant.insert(Some(thing)),
                Entry::Occupied(mut occupied) => {
                    let alone = occupied.get().is_some_and(replaces);
                    occupied.insert(alone.then_some(thing));
                }
            }
        }
    }
}

/// What a text refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found<T> {
    pub(super) thing: T,
    /// Whether the text is its identifier: the format knows no other reference.
    pub(super) by_id: bool,
}

/// By identifier, else as the root, else by name.
fn find<T: Copy>(index: &Index<T>, root: T, text: &str) -> Option<Found<T>> {
    if let Some(&thing) = index.by_id.get(text) {
        return Some(Found { thing, by_id: true });
    }
    match text {
        "0" => Some(Found { thing: root, by_id: true }),
        "/" => Some(Found { thing: root, by_id: false }),
        _ => index.by_name(text).map(|thing| Found { thing, by_id: false }),
    }
}

/// A type that the file defined.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) kind: TypeKind,
    values: Index<ValueId>,
}

/// All types; the root first.
#[derive(Debug)]
pub(super) struct Types {
    types: Vec<Type>,
    index: Index<TypeId>,
    /// Whether each value was declared, and not only used.
    declared: Vec<bool>,
}

/// What became of a declared value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    New(ValueId),
    /// It had been used before.
    Late(ValueId),
    Again,
}

impl Default for Types {
    fn default() -> Self {
        let root = Type { kind: TypeKind::Container, values: Index::default() };
        Self { types: vec![root], index: Index::default(), declared: Vec::new() }
    }
}

impl Types {
    pub(super) fn find(&self, text: &str) -> Option<Found<TypeId>> {
        find(&self.index, TypeId::ROOT, text)
    }

    pub(super) fn kind(&self, ty: TypeId) -> TypeKind {
        self.types[ty.index()].kind
    }

    /// Adds a type; `None` when its identifier is taken.
    pub(super) fn add(&mut self, id: &str, name: &str, kind: TypeKind) -> Option<TypeId> {
        if self.index.by_id.contains_key(id) {
            return None;
        }
        let ty = TypeId(u32::try_from(self.types.len()).ok()?);
        self.types.push(Type { kind, values: Index::default() });
        self.index.add(id, name, ty, |_| false);
        Some(ty)
    }

    /// The value that a text stands for, and whether it was met for the first time: then it is a new value of that name.
    pub(super) fn value(&mut self, ty: TypeId, text: &str) -> (ValueId, bool) {
        let values = &mut self.types[ty.index()].values;
        if let Some(value) = values.find(text) {
            return (value, false);
        }
        let value = ValueId(self.declared.len() as u32);
        self.declared.push(false);
        values.add(text, text, value, |_| false);
        (value, true)
    }

    /// Declares a value.
    pub(super) fn declare(&mut self, ty: TypeId, id: &str, name: &str) -> Declared {
        let values = &mut self.types[ty.index()].values;
        // It may have been used by its alias, or by its name.
        let used = [id, name].map(|text| values.by_id.get(text).copied());
        if used[0].is_some_and(|value| self.declared[value.index()]) {
            return Declared::Again;
        }
        if let Some(value) = used.into_iter().flatten().find(|value| !self.declared[value.index()]) {
            self.declared[value.index()] = true;
            values.by_id.insert(id.into(), value);
            return Declared::Late(value);
        }
        let value = ValueId(self.declared.len() as u32);
        self.declared.push(true);
        values.add(id, name, value, |_| false);
        Declared::New(value)
    }
}

#[derive(Clone, Copy, Debug)]
struct Container {
    ty: TypeId,
    /// It or an ancestor was destroyed.
    dead: bool,
    /// It was created in a destroyed container, so it and all references to it are ignored.
    stillborn: bool,
    /// The container created last in it, and the one created before it in its parent. The root
    /// stands for none.
    last_child: ContainerId,
    previous: ContainerId,
    /// The process of the run to which it belongs.
    process: Option<u32>,
}

impl Container {
    const fn new(ty: TypeId) -> Self {
        let none = ContainerId::ROOT;
        Self { ty, dead: false, stillborn: false, last_child: none, previous: none, process: None }
    }
}

/// All containers that were created; the root first.
#[derive(Debug)]
pub(super) struct Containers {
    containers: Vec<Container>,
    index: Index<ContainerId>,
    /// By process of a run: its own containers. A reference looks here first.
    own: HashMap<u32, Index<ContainerId>>,
    /// The process of the current line, if lines come from a run.
    process: Option<u32>,
}

impl Default for Containers {
    fn default() -> Self {
        let root = Container::new(TypeId::ROOT);
        Self { containers: vec![root], index: Index::default(), own: HashMap::default(), process: None }
    }
}

impl Containers {
    pub(super) fn find(&self, text: &str) -> Option<Found<ContainerId>> {
        match self.process.and_then(|process| self.own.get(&process)) {
            Some(own) => self.find_from(own, text),
            None => find(&self.index, ContainerId::ROOT, text),
        }
    }

    /// Finds a container for a line of a process with these own containers. Aliases go before names.
    fn find_from(&self, own: &Index<ContainerId>, text: &str) -> Option<Found<ContainerId>> {
        if let Some(&thing) = own.by_id.get(text) {
            return Some(Found { thing, by_id: true });
        }
        let found = find(&self.index, ContainerId::ROOT, text);
        if found.is_some_and(|found| found.by_id) {
            return found;
        }
        own.by_name(text).map(|thing| Found { thing, by_id: false }).or(found)
    }

    /// Whether a text is the name of several containers.
    pub(super) fn is_ambiguous(&self, text: &str) -> bool {
        self.index.by_name.get(text).is_some_and(Option::is_none)
    }

    /// By identifier only.
    pub(super) fn find_id(&self, text: &str) -> Option<ContainerId> {
        let root = || matches!(text, "0" | "/").then_some(ContainerId::ROOT);
        self.index.by_id.get(text).copied().or_else(root)
    }

    /// Adds a container, and says whether its identifier is that of a destroyed one, which is free; `None` when one with its
    /// identifier exists.
    pub(super) fn create(
        &mut self,
        id: &str,
        name: &str,
        (ty, parent): (TypeId, ContainerId),
    ) -> Option<(ContainerId, bool)> {
        let process = self.containers[parent.index()].process;
        let index = match process {
            Some(process) => self.own.entry(process).or_default(),
            None => &mut self.index,
        };
        let known = index.by_id.get(id).copied();
        if known.is_some_and(|known| !self.containers[known.index()].dead) {
            return None;
        }
        let container = ContainerId(u32::try_from(self.containers.len()).ok()?);
        let stillborn = self.containers[parent.index()].dead;
        let previous = std::mem::replace(&mut self.containers[parent.index()].last_child, container);
        self.containers.push(Container { dead: stillborn, stillborn, previous, process, ..Container::new(ty) });
        let is_dead = |earlier: ContainerId| self.containers[earlier.index()].dead;
        index.add(id, name, container, is_dead);
        // Lines of other processes find it if no other container has the same alias.
        if process.is_some() {
            self.index.name(id, container, is_dead);
        }
        Some((container, known.is_some()))
    }

    /// Whether it was created in a container that had ended.
    pub(super) fn is_stillborn(&self, container: ContainerId) -> bool {
        self.containers[container.index()].stillborn
    }

    /// Whether it was destroyed, or a container around it, and not created after that.
    pub(super) fn is_destroyed(&self, container: ContainerId) -> bool {
        let container = &self.containers[container.index()];
        container.dead && !container.stillborn
    }

    pub(super) fn type_of(&self, container: ContainerId) -> TypeId {
        self.containers[container.index()].ty
    }

    /// Ends a container and all containers inside it.
    pub(super) fn destroy(&mut self, container: ContainerId) {
        let mut ending = vec![container];
        while let Some(next) = ending.pop() {
            let one = &mut self.containers[next.index()];
            // What is inside a dead container is dead.
            if std::mem::replace(&mut one.dead, true) {
                continue;
            }
            let mut child = one.last_child;
            while child != ContainerId::ROOT {
                ending.push(child);
                child = self.containers[child.index()].previous;
            }
        }
    }
}

/// Adds what was defined elsewhere, so that lines can name it. An identifier of the text goes before
/// these names, and a name that several things bear names none of them.
#[derive(Debug)]
pub struct Names<'a> {
    pub(super) types: &'a mut Types,
    pub(super) containers: &'a mut Containers,
}

impl Names<'_> {
    /// A type with its name and other names for it.
    pub fn add_type<'n>(
        &mut self,
        name: &str,
        aliases: impl Iterator<Item = &'n str>,
        kind: TypeKind,
    ) -> Option<TypeId> {
        let Types { types, index, .. } = &mut *self.types;
        let ty = TypeId(u32::try_from(types.len()).ok()?);
        types.push(Type { kind, values: Index::default() });
        index.name(name, ty, |_| false);
        for alias in aliases.filter(|alias| *alias != name) {
            index.name(alias, ty, |_| false);
        }
        Some(ty)
    }

    /// A value of a type.
    pub fn add_value(&mut self, ty: TypeId, name: &str) -> Option<ValueId> {
        match self.types.declare(ty, name, name) {
            Declared::New(value) | Declared::Late(value) => Some(value),
            Declared::Again => None,
        }
    }

    /// A container; its name is found in any case of letters.
    pub fn add_container(&mut self, name: &str, ty: TypeId, parent: ContainerId) -> Option<ContainerId> {
        let Containers { containers, index, own, .. } = &mut *self.containers;
        let container = ContainerId(u32::try_from(containers.len()).ok()?);
        let previous = std::mem::replace(&mut containers[parent.index()].last_child, container);
        let Container { dead, process, .. } = containers[parent.index()];
        containers.push(Container { previous, dead, process, ..Container::new(ty) });
        let mut own = process.map(|process| own.entry(process).or_default());
        for name in spellings(name) {
            let is_dead = |earlier: ContainerId| containers[earlier.index()].dead;
            index.name(&name, container, is_dead);
            if let Some(own) = &mut own {
                own.name(&name, container, is_dead);
            }
        }
        Some(container)
    }

    /// A container belongs to a process, whose lines find it by a label. The label names no container
    /// to lines of other processes if it is not the name of the container.
    pub fn own_container(&mut self, container: ContainerId, process: u32, label: &str) {
        let Containers { containers, index, own, .. } = &mut *self.containers;
        containers[container.index()].process = Some(process);
        let own = own.entry(process).or_default();
        for name in spellings(label) {
            own.name(&name, container, |earlier| containers[earlier.index()].dead);
            if index.by_name(&name) != Some(container) {
                index.by_name.insert(name.into(), None);
            }
        }
    }

    /// The process of the lines that follow.
    pub fn set_process(&mut self, process: Option<u32>) {
        self.containers.process = process;
    }

    /// A container that has ended.
    pub fn end_container(&mut self, container: ContainerId) {
        self.containers.destroy(container);
    }
}

/// A name, and the same in small letters if it differs.
fn spellings(name: &str) -> impl Iterator<Item = String> {
    let lower = name.to_lowercase();
    let lower = (lower != name).then_some(lower);
    std::iter::once(name.to_owned()).chain(lower)
}

/// Link keys in use, per holding container and type: by hash, the number of the key, and starts less ends: at 0 the key is free
/// again. Any number may be in use; those for which memory has no room are in a file.
#[derive(Debug, Default)]
pub(super) struct Keys {
    used: Far<2>,
    /// Two hashes of 64 bits that nobody can foresee are taken for the text: among 10^9 keys, two are alike once in 10^20 traces.
    hashes: [RandomState; 2],
    next: u64,
    /// The hash of the text asked for last,
    last: u128,
    /// and those of all keys, for who asked for it.
    all: Option<HashSet<u64>>,
}

impl Keys {
    /// From now on a key that is used again after its pair is noticed.
    pub(super) fn remember(&mut self) {
        self.all = Some(HashSet::default());
    }

    /// Whether the text asked for last, which stands for a new key, stood for an earlier one.
    pub(super) fn is_again(&mut self) -> bool {
        self.all.as_mut().is_some_and(|all| !all.insert(self.last as u64))
    }

    /// A key for what nobody takes: it is no half of any link.
    pub(super) fn alone(&mut self) -> KeyId {
        self.next += 1;
        KeyId(self.next - 1)
    }

    /// The key that a text stands for, and whether it is a new one. A text whose starts and ends are all paired stands for a
    /// new key when it comes again.
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
        self.used.change(self.last, |used| {
            let [key, balance] = used.unwrap_or_else(|| {
                *next += 1;
                [*next - 1, 0]
            });
            let balance = balance.cast_signed() + if starts { 1 } else { -1 };
            let after = (balance != 0).then_some([key, balance.cast_unsigned()]);
            (after, (KeyId(key), used.is_none()))
        })
    }
}
