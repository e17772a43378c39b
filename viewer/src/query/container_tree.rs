//! The container tree as a list, depth first: subtrees, paths of names, and rebuilding of the list
//! after a change.
//!
//! ```
//! use tumit_viewer::query::{ContainerId, TimelineSource, container_tree};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let list = store.containers();
//! let positions = container_tree::positions(&list);
//! assert_eq!(container_tree::path(&list, &positions, positions[&ContainerId(1)]), ["main"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rustc_hash::FxHashMap;
use tumit_paje::ContainerId;

use super::ContainerInfo;

/// The first position after the subtree at `index`.
pub(crate) fn end(list: &[ContainerInfo], index: usize) -> usize {
    let depth = list.get(index).map_or(0, |info| info.depth);
    index + 1 + list.iter().skip(index + 1).take_while(|info| info.depth > depth).count()
}

/// For each container, its index in the list.
pub fn positions(list: &[ContainerInfo]) -> FxHashMap<ContainerId, usize> {
    list.iter().enumerate().map(|(index, info)| (info.id, index)).collect()
}

/// The names from the root to the container at `index`. The root's name is left out unless it is
/// the only one. Takes O(depth).
pub fn path(list: &[ContainerInfo], positions: &FxHashMap<ContainerId, usize>, index: usize) -> Vec<String> {
    let Some(info) = list.get(index) else { return Vec::new() };
    let mut path = vec![info.name.clone()];
    let mut descendant = info;
    while let Some(parent) =
        positions.get(&descendant.parent).map(|&index| &list[index]).filter(|parent| parent.depth < descendant.depth)
    {
        if parent.depth > 0 {
            path.push(parent.name.clone());
        }
        descendant = parent;
    }
    path.reverse();
    path
}

/// Sorts a list depth first and recomputes the depths. Siblings keep their order, and parents are
/// given by id. Containers that are not connected to a root are removed.
pub(crate) fn rebuild_tree(list: Vec<ContainerInfo>) -> Vec<ContainerInfo> {
    let mut children: FxHashMap<ContainerId, Vec<usize>> = FxHashMap::default();
    let mut stack: Vec<(usize, u32)> = Vec::new();
    for (index, info) in list.iter().enumerate() {
        if info.parent == info.id {
            stack.push((index, 0));
        } else {
            children.entry(info.parent).or_default().push(index);
        }
    }
    stack.reverse();
    let mut remaining: Vec<Option<ContainerInfo>> = list.into_iter().map(Some).collect();
    let mut depth_first_list = Vec::with_capacity(remaining.len());
    while let Some((index, depth)) = stack.pop() {
        let Some(mut info) = remaining[index].take() else { continue };
        info.depth = depth;
        let child_indexes = children.get(&info.id).map_or(&[][..], Vec::as_slice);
        stack.extend(child_indexes.iter().rev().map(|&child| (child, depth + 1)));
        depth_first_list.push(info);
    }
    depth_first_list
}
