//! The paths of calls, and the names of state types.

use rustc_hash::FxHashMap;
use tumit_viewer::query::{TimelineSource, TypeId};

use crate::call_tree::{CallTree, ROOT};
use crate::profile::Profile;

/// The name of a state type.
pub(super) fn type_name(source: &dyn TimelineSource, ty: TypeId) -> String {
    source.model().types.get(ty.index()).map(|info| info.name.clone()).unwrap_or_default()
}

/// Maximum number of names in a stack. Other tools cannot show more, and the length of all stacks
/// grows with the square of the depth.
const MAX_STACK: u32 = 1_000;

/// The self time of each node of a tree. The self times of deeper calls than other tools can show
/// are added to that of their caller with the largest possible depth.
pub(super) fn stack_self_times(tree: &CallTree) -> FxHashMap<usize, i128> {
    let mut self_times: FxHashMap<usize, i128> = FxHashMap::default();
    // For each node, the node to which its self time is added. Callers precede their callees.
    let mut stack_nodes = Vec::with_capacity(tree.nodes().len());
    for (index, node) in tree.nodes().iter().enumerate() {
        let stack_node = if node.depth > MAX_STACK { stack_nodes[node.caller as usize] } else { index };
        stack_nodes.push(stack_node);
        if index != ROOT && node.self_time > 0 {
            *self_times.entry(stack_node).or_default() += node.self_time;
        }
    }
    self_times
}

/// The paths of calls with self time, by name, and their self times.
pub(super) fn self_times(profile: &Profile) -> Vec<(Vec<&str>, i128)> {
    let path = |index: usize| profile.tree.path(index).into_iter().map(|name| profile.names.text(name)).collect();
    let times = stack_self_times(&profile.tree);
    let mut paths: Vec<(Vec<&str>, i128)> = times.into_iter().map(|(index, nanos)| (path(index), nanos)).collect();
    paths.sort_unstable();
    paths
}

#[cfg(test)]
mod tests {
    use super::{MAX_STACK, stack_self_times};
    use crate::call_tree::{CallTree, NameId};

    #[test]
    fn deeper_calls_count_for_the_deepest_stack() {
        let (mut tree, mut node) = (CallTree::default(), 0);
        for depth in 1..=3 * MAX_STACK {
            node = tree.callee(node, NameId(depth % 2));
            tree.node_mut(node).self_time = 1;
        }
        let times = stack_self_times(&tree);
        assert_eq!(times.len(), MAX_STACK as usize);
        assert_eq!(times[&(MAX_STACK as usize)], i128::from(2 * MAX_STACK + 1));
    }
}
