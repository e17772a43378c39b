//! The containers: a trie over the keys of their paths, and the state of each.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::eval::RecordScope;
use super::program::{ContainerTarget, TargetStep};
use super::rule_value::{KeyPart, Symbols};
use super::stacks::{StackId, StateStacks};
use tumit_paje::{ContainerId, TypeId};

/// A node of the trie: a path of keys. 0 is the root.
pub(crate) type PathNode = u32;

/// Numeric keys below this are found by index.
const DENSE_KEYS: usize = 1 << 16;
/// Maximum number of nodes with an index. It favours nodes that programs have few of, such as
/// processes and threads rather than tasks.
const DENSE_NODES: usize = 16;

/// The known paths with their numbers. Both passes share them.
#[derive(Clone, Debug)]
pub(crate) struct PathTrie {
    children: FxHashMap<(PathNode, u32, KeyPart), PathNode>,
    /// An index of some of `children`.
    dense_children: Vec<DenseChildren>,
    count: PathNode,
}

/// The children of one node and container type. 0 means no child.
#[derive(Clone, Debug)]
struct DenseChildren {
    node: PathNode,
    container: u32,
    /// The child without a key.
    keyless_child: PathNode,
    /// The children with small numbers as keys, indexed by key.
    children: Vec<PathNode>,
}

impl Default for PathTrie {
    fn default() -> Self {
        Self { children: FxHashMap::default(), dense_children: Vec::new(), count: 1 }
    }
}

impl PathTrie {
    #[inline]
    fn child(&mut self, node: PathNode, container: usize, key: KeyPart) -> PathNode {
        let container = u32::try_from(container).unwrap_or(u32::MAX);
        if let Some(dense) = self.dense_children.iter().find(|dense| dense.node == node && dense.container == container)
        {
            let child = match key {
                KeyPart::None => dense.keyless_child,
                KeyPart::Int(key) => {
                    usize::try_from(key).ok().and_then(|key| dense.children.get(key)).copied().unwrap_or(0)
                }
                _ => 0,
            };
            if child != 0 {
                return child;
            }
        }
        self.child_by_hash(node, container, key)
    }

    #[cold]
    #[inline(never)]
    fn child_by_hash(&mut self, node: PathNode, container: u32, key: KeyPart) -> PathNode {
        let count = &mut self.count;
        let child = *self.children.entry((node, container, key)).or_insert_with(|| {
            *count += 1;
            *count - 1
        });
        let position = self.dense_children.iter().position(|dense| dense.node == node && dense.container == container);
        let dense_index = position.or_else(|| {
            (self.dense_children.len() < DENSE_NODES).then(|| {
                self.dense_children.push(DenseChildren { node, container, keyless_child: 0, children: Vec::new() });
                self.dense_children.len() - 1
            })
        });
        let Some(dense) = dense_index.map(|dense_index| &mut self.dense_children[dense_index]) else { return child };
        match key {
            KeyPart::None => dense.keyless_child = child,
            KeyPart::Int(key) => {
                if let Some(key) = usize::try_from(key).ok().filter(|key| *key < DENSE_KEYS) {
                    dense.children.resize(dense.children.len().max(key + 1), 0);
                    dense.children[key] = child;
                }
            }
            _ => {}
        }
        child
    }

    /// The child of a type without keys.
    pub(crate) fn keyless_child(&mut self, node: PathNode, container: usize) -> PathNode {
        self.child(node, container, KeyPart::None)
    }

    pub(crate) fn node(
        &mut self,
        target: &ContainerTarget,
        scope: &RecordScope<'_>,
        scratch: &mut String,
        symbols: &mut Symbols,
    ) -> PathNode {
        let mut node = 0;
        for TargetStep { container, keys } in &target.steps {
            if keys.is_empty() {
                node = self.child(node, *container, KeyPart::None);
            }
            for code in keys {
                let key = scope.key(code, scratch, symbols);
                node = self.child(node, *container, key);
                if key.is_whole() {
                    break;
                }
            }
        }
        node
    }

    /// Follows the path of a target. `visit` receives the node, container type and own keys of each
    /// step.
    pub(crate) fn follow(
        &mut self,
        target: &ContainerTarget,
        scope: &RecordScope<'_>,
        scratch: &mut String,
        symbols: &mut Symbols,
        mut visit: impl FnMut(PathNode, usize, &[KeyPart]),
    ) -> PathNode {
        let mut node = 0;
        let mut parts: smallvec::SmallVec<[KeyPart; 4]> = smallvec::SmallVec::new();
        for TargetStep { container, keys } in &target.steps {
            parts.clear();
            if keys.is_empty() {
                node = self.child(node, *container, KeyPart::None);
            }
            let mut is_whole = false;
            for code in keys {
                let key = scope.key(code, scratch, symbols);
                parts.push(key);
                if !is_whole {
                    node = self.child(node, *container, key);
                    is_whole = key.is_whole();
                }
            }
            visit(node, *container, &parts);
        }
        node
    }
}

/// A container that exists, or that has ended and is not replaced yet.
#[derive(Clone, Debug)]
pub(crate) struct LiveInstance {
    pub(crate) id: ContainerId,
    pub(crate) node: PathNode,
    /// Its container type in the model.
    pub(crate) container: usize,
    /// The number of its parent. `None` below the root.
    pub(crate) parent: Option<usize>,
    /// Its stacks, by slot.
    stacks: Range<u32>,
    /// The children by id, which is the order of their creation.
    pub(crate) children: BTreeMap<ContainerId, usize>,
    pub(crate) is_alive: bool,
    /// Number of links that it holds and that have only one endpoint so far.
    pub(crate) open_links: u32,
    /// Whether it ends as soon as its last link is complete.
    pub(crate) ends_with_links: bool,
}

/// All living instances by number, and the current instance of each path. Numbers of ended
/// instances are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContainerInstances {
    instances: Vec<LiveInstance>,
    free_indexes: Vec<usize>,
    created_count: u32,
    numbers: Vec<Option<u32>>,
    ended_count: u64,
    pub(crate) stacks: StateStacks,
    tops: BTreeMap<ContainerId, usize>,
}

impl ContainerInstances {
    /// The living instance of a path.
    pub(crate) fn instance_at(&self, node: PathNode) -> Option<usize> {
        self.numbers.get(node as usize).copied().flatten().map(|number| number as usize)
    }

    /// Adds a living instance for a path.
    pub(crate) fn add(&mut self, node: PathNode, container: usize, parent: Option<usize>, states: &[TypeId]) -> usize {
        self.created_count = self.created_count.saturating_add(1);
        let id = ContainerId(self.created_count);
        let number = self.free_indexes.pop().unwrap_or(self.instances.len());
        let StackId(first) = self.stacks.add(id, u32::try_from(number).unwrap_or(u32::MAX), states);
        let instance = LiveInstance {
            id,
            node,
            container,
            parent,
            stacks: first..first + u32::try_from(states.len()).unwrap_or(0),
            children: BTreeMap::new(),
            is_alive: true,
            open_links: 0,
            ends_with_links: false,
        };
        match self.instances.get_mut(number) {
            Some(slot) => *slot = instance,
            None => self.instances.push(instance),
        }
        match parent {
            Some(parent) => self.instances[parent].children.insert(id, number),
            None => self.tops.insert(id, number),
        };
        let node = node as usize;
        if self.numbers.len() <= node {
            self.numbers.resize(node + 1, None);
        }
        self.numbers[node] = u32::try_from(number).ok();
        number
    }

    /// Ends an instance. Its memory is reused for the next one.
    pub(crate) fn end(&mut self, number: usize) {
        self.ended_count += 1;
        let instance = &mut self.instances[number];
        instance.is_alive = false;
        self.stacks.end(std::mem::take(&mut instance.stacks));
        instance.children = BTreeMap::new();
        let (id, node, parent) = (instance.id, instance.node as usize, instance.parent);
        match parent {
            Some(parent) => self.instances[parent].children.remove(&id),
            None => self.tops.remove(&id),
        };
        self.numbers[node] = None;
        self.free_indexes.push(number);
    }

    /// Number of ended instances. While it stays the same, each path keeps its instance.
    pub(crate) const fn ended_count(&self) -> u64 {
        self.ended_count
    }

    /// Whether the instance with this number is still the container with this id.
    #[inline]
    pub(crate) fn is_living(&self, number: usize, id: ContainerId) -> bool {
        self.instances.get(number).is_some_and(|instance| instance.is_alive && instance.id == id)
    }

    /// The stack of a slot of a living instance.
    #[inline]
    pub(crate) fn stack(&self, number: usize, slot: usize) -> StackId {
        StackId(self.instances[number].stacks.start + u32::try_from(slot).unwrap_or(u32::MAX))
    }

    pub(crate) fn get(&self, number: usize) -> &LiveInstance {
        &self.instances[number]
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> &mut LiveInstance {
        &mut self.instances[number]
    }

    /// Numbers of the living instances directly below the root, in order of creation.
    pub(crate) fn top_instances(&self) -> Vec<usize> {
        self.tops.values().copied().collect()
    }
}
