//! [`CallTree`]: the times of nested calls by their path.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

/// The index of a name in the names of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(
    /// The index.
    pub u32,
);

/// The number of the root in [`CallTree::nodes`].
pub const ROOT: usize = 0;

/// All calls with one path, that is with the same names of all callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallNode {
    /// The name; not meaningful for the root.
    pub name: NameId,
    /// The index of the caller's node. The root is its own caller.
    pub caller: u32,
    /// Number of nodes from the root to this one.
    pub depth: u32,
    /// Number of calls.
    pub calls: u64,
    /// Time in these calls, in nanoseconds. Of the root: the sum of its callees.
    pub total: i128,
    /// The part of [`Self::total`] without calls inside these calls, in nanoseconds.
    pub self_time: i128,
}

/// A tree of calls. The node of a caller precedes the nodes of its callees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTree {
    nodes: Vec<CallNode>,
    callees: FxHashMap<(u32, NameId), u32>,
}

/// Calls, total and self time of one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameTimes {
    /// Number of calls.
    pub calls: u64,
    /// Time during which at least one call is open, in nanoseconds. A recursive call adds nothing.
    pub total: i128,
    /// Time during which such a call is the innermost one, in nanoseconds.
    pub self_time: i128,
}

impl Default for CallTree {
    fn default() -> Self {
        let root = CallNode { name: NameId(u32::MAX), caller: 0, depth: 0, calls: 0, total: 0, self_time: 0 };
        Self { nodes: vec![root], callees: FxHashMap::default() }
    }
}

impl CallTree {
    /// All nodes. The first one is the root.
    pub fn nodes(&self) -> &[CallNode] {
        &self.nodes
    }

    /// The node of a callee. Adds it if it does not exist.
    pub(crate) fn callee(&mut self, caller: u32, name: NameId) -> u32 {
        let next = self.nodes.len() as u32;
        let node = *self.callees.entry((caller, name)).or_insert(next);
        if node == next {
            let depth = self.nodes[caller as usize].depth + 1;
            self.nodes.push(CallNode { name, caller, depth, calls: 0, total: 0, self_time: 0 });
        }
        node
    }

    pub(crate) fn node_mut(&mut self, node: u32) -> &mut CallNode {
        &mut self.nodes[node as usize]
    }

    /// Adds the calls of another tree with the same names. The cost is proportional to the number
    /// of its nodes.
    pub(crate) fn merge(&mut self, other: &Self) {
        let mut own_nodes = Vec::with_capacity(other.nodes.len());
        for (index, node) in other.nodes.iter().enumerate() {
            let own = match index {
                ROOT => 0,
                _ => self.callee(own_nodes[node.caller as usize], node.name),
            };
            own_nodes.push(own);
            let sum = self.node_mut(own);
            sum.calls += node.calls;
            sum.total += node.total;
            sum.self_time += node.self_time;
        }
    }

    /// The callees of each node, longest first, then by name.
    pub fn sorted_callees(&self) -> Vec<Vec<u32>> {
        let mut callees: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            callees[node.caller as usize].push(index as u32);
        }
        let order = |node: &u32| {
            let CallNode { name, total, calls, .. } = self.nodes[*node as usize];
            (std::cmp::Reverse((total, calls)), name)
        };
        callees.iter_mut().for_each(|list| list.sort_unstable_by_key(order));
        callees
    }

    /// The names from the outermost caller to a node.
    pub fn path(&self, node: usize) -> Vec<NameId> {
        let mut path = Vec::new();
        let mut node = node;
        while node != ROOT {
            path.push(self.nodes[node].name);
            node = self.nodes[node].caller as usize;
        }
        path.reverse();
        path
    }

    /// The times of each name. The cost is proportional to the sum of the depths of all nodes.
    pub(crate) fn times_by_name(&self) -> BTreeMap<NameId, NameTimes> {
        let mut times: BTreeMap<NameId, NameTimes> = BTreeMap::new();
        for node in self.nodes.iter().skip(1) {
            let sum = times.entry(node.name).or_default();
            sum.calls += node.calls;
            sum.self_time += node.self_time;
            if !self.is_recursive(node) {
                sum.total += node.total;
            }
        }
        times
    }

    /// Whether a caller of the node, direct or indirect, has the name of the node.
    fn is_recursive(&self, node: &CallNode) -> bool {
        let mut caller = node.caller as usize;
        while caller != ROOT {
            if self.nodes[caller].name == node.name {
                return true;
            }
            caller = self.nodes[caller].caller as usize;
        }
        false
    }

    /// The tree of callers: below each name are its callers, below these their callers, and so on.
    /// The total of a node is the self time of the name at the top of its path, in calls from these
    /// callers. Its self time is the part of it in calls that have no further caller, or as many
    /// callers as `max_depth`: a recursion of many thousand calls would need too much memory.
    ///
    /// ```
    /// # use tumit_profile::call_tree::CallTree;
    /// assert_eq!(CallTree::default().bottom_up(64), CallTree::default());
    /// ```
    #[must_use]
    pub fn bottom_up(&self, max_depth: u32) -> Self {
        let mut tree = Self::default();
        for node in self.nodes.iter().skip(1) {
            if node.calls == 0 && node.self_time == 0 {
                continue;
            }
            let (mut position, mut caller) = (0, *node);
            tree.nodes[ROOT].total += node.self_time;
            loop {
                position = tree.callee(position, caller.name);
                let sum = tree.node_mut(position);
                sum.calls += node.calls;
                sum.total += node.self_time;
                if caller.caller as usize == ROOT || node.depth - caller.depth >= max_depth {
                    sum.self_time += node.self_time;
                    break;
                }
                caller = self.nodes[caller.caller as usize];
            }
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::{CallTree, NameId, NameTimes};

    const MAIN: NameId = NameId(0);
    const WORK: NameId = NameId(1);

    /// `main` calls `work`, which calls itself, and `work` also runs without a caller.
    fn tree() -> CallTree {
        let mut tree = CallTree::default();
        let main = tree.callee(0, MAIN);
        let outer = tree.callee(main, WORK);
        let inner = tree.callee(outer, WORK);
        let single = tree.callee(0, WORK);
        for (node, calls, total, self_time) in [(main, 1, 10, 3), (outer, 2, 7, 5), (inner, 1, 2, 2), (single, 1, 4, 4)]
        {
            let node = tree.node_mut(node);
            (node.calls, node.total, node.self_time) = (calls, total, self_time);
        }
        tree.node_mut(0).total = 14;
        tree
    }

    #[test]
    fn recursive_calls_add_nothing_to_the_total_of_a_name() {
        let times = tree().times_by_name();
        assert_eq!(times[&WORK], NameTimes { calls: 4, total: 11, self_time: 11 });
        assert_eq!(times[&MAIN], NameTimes { calls: 1, total: 10, self_time: 3 });
    }

    #[test]
    fn callers_share_the_self_time_of_a_name() {
        let tree = tree().bottom_up(64);
        let node = |path: &[NameId]| {
            let found = (0..tree.nodes().len()).find(|&node| tree.path(node) == path).expect("the path exists");
            let node = tree.nodes()[found];
            (node.calls, node.total, node.self_time)
        };
        assert_eq!(tree.nodes()[0].total, 14);
        assert_eq!(node(&[WORK]), (4, 11, 4));
        assert_eq!(node(&[WORK, MAIN]), (2, 5, 5));
        assert_eq!(node(&[WORK, WORK]), (1, 2, 0));
        assert_eq!(node(&[WORK, WORK, MAIN]), (1, 2, 2));
        assert_eq!(node(&[MAIN]), (1, 3, 3));
    }

    #[test]
    fn chains_of_callers_have_a_maximum_length() {
        let tree = tree().bottom_up(1);
        assert_eq!(tree.nodes().iter().map(|node| node.depth).max(), Some(2));
        assert_eq!(tree.nodes().iter().map(|node| node.self_time).sum::<i128>(), 14);
    }

    #[test]
    fn the_sum_of_two_trees_has_all_calls() {
        let mut sum = tree();
        sum.merge(&tree());
        let twice: Vec<_> =
            tree().nodes().iter().map(|node| (node.calls * 2, node.total * 2, node.self_time * 2)).collect();
        let sums: Vec<_> = sum.nodes().iter().map(|node| (node.calls, node.total, node.self_time)).collect();
        assert_eq!(sums, twice);
    }
}
