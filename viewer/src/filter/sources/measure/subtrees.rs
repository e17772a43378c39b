//! Values of containers together with all containers below them.

use rustc_hash::FxHashMap;

use crate::query::{ContainerId, ContainerInfo, container_tree};

/// Combines the value of each container with the values of all containers below it. O(n).
pub(super) fn combine<T: Copy>(
    list: &[ContainerInfo],
    own_values: &[Option<T>],
    join: impl Fn(T, T) -> T,
) -> Vec<Option<T>> {
    let positions = container_tree::positions(list);
    let mut sums = own_values.to_vec();
    // Children come after their parents. So in reverse order, each container is complete when it is
    // added to its parent.
    for index in (1..list.len()).rev() {
        let Some(&parent) = positions.get(&list[index].parent).filter(|&&parent| parent < index) else { continue };
        sums[parent] = match (sums[parent], sums[index]) {
            (Some(a), Some(b)) => Some(join(a, b)),
            (a, b) => a.or(b),
        };
    }
    sums
}

/// The position of the lowest container that contains both. O(depth).
pub(super) fn common_ancestor(
    list: &[ContainerInfo],
    positions: &FxHashMap<ContainerId, usize>,
    mut a: usize,
    mut b: usize,
) -> usize {
    let above =
        |index: usize| positions.get(&list[index].parent).copied().filter(|&parent| parent < index).unwrap_or(0);
    while a != b {
        if a != 0 && list[a].depth >= list[b].depth {
            a = above(a);
        } else {
            b = above(b);
        }
    }
    a
}
