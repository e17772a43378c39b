//! The order of the rows as the user arranged them: pinned, hidden, moved and filtered by name.
//! Heights are computed later.

use std::collections::BTreeSet;

use super::{ContainerOutline, LayoutOptions};
use crate::query::ContainerId;

/// The user's changes to the rows. Containers that the trace does not have are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowArrangement {
    /// Containers above all others, in this order, each with its subtree.
    pub pinned: Vec<ContainerId>,
    /// Containers that are not drawn, nor their subtrees.
    pub hidden: BTreeSet<ContainerId>,
    /// Moves among siblings, applied one after another: a container, and the sibling before which
    /// it moves. The root represents the end.
    pub moved: Vec<(ContainerId, ContainerId)>,
    /// If not empty, only containers with this text in their names (ignoring case) are drawn, with
    /// the containers above and below them.
    pub names: String,
}

/// A container with a row.
pub(crate) struct RowCandidate {
    /// Depth-first position of the container in the outline.
    pub(crate) position: usize,
    /// Number of levels below the first drawn level, or below the pinned container.
    pub(crate) depth: u32,
    pub(crate) expandable: bool,
    pub(crate) folded: bool,
    pub(crate) pinned: bool,
}

/// The result of the name filter for a container.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameMatch {
    /// Neither the container nor any container above or below it matches.
    No,
    /// A container below it matches.
    Below,
    /// The container or a container above it matches.
    Yes,
}

/// The containers with rows, from top to bottom. The cost is proportional to the number of
/// containers, plus the number of moves times siblings.
pub(crate) fn places(outline: &ContainerOutline, options: &LayoutOptions) -> Vec<RowCandidate> {
    let RowArrangement { pinned, hidden, moved, names } = &options.arrangement;
    let Some(root) = outline.nodes.first() else { return Vec::new() };
    let silent = !root.draws_anything() && root.end > 1;
    let top = u32::from(silent);
    let mut children = children(outline);
    for &(container, before) in moved {
        place_before(outline, &mut children, container, before);
    }
    let matches = matches(outline, names);
    let mut own: Vec<usize> = Vec::with_capacity(pinned.len());
    for position in pinned.iter().filter_map(|&container| outline.position(container)) {
        // The root without contents has no row of its own.
        if !own.contains(&position) && (position > 0 || !silent) {
            own.push(position);
        }
    }

    let mut places = Vec::new();
    // A stack of containers to visit: position, depth, whether it is pinned, whether it is the top
    // of a pinned subtree.
    let mut next: Vec<(usize, u32, bool, bool)> = Vec::new();
    let roots = if silent { children[0].clone() } else { vec![0] };
    next.extend(roots.into_iter().rev().map(|position| (position, 0, false, false)));
    next.extend(own.iter().rev().map(|&position| (position, 0, true, true)));
    while let Some((position, depth, pinned, is_top)) = next.pop() {
        let node = &outline.nodes[position];
        let elsewhere = !is_top && own.contains(&position);
        if elsewhere || hidden.contains(&node.info.id) || (!pinned && matches[position] == NameMatch::No) {
            continue;
        }
        let expandable = node.end > position + 1;
        let found_below = !pinned && matches[position] == NameMatch::Below;
        let level = node.info.depth.saturating_sub(top);
        let folded = expandable && !found_below && options.folds.contains(node.info.id, level);
        places.push(RowCandidate { position, depth, expandable, folded, pinned });
        if !folded {
            next.extend(children[position].iter().rev().map(|&child| (child, depth + 1, pinned, false)));
        }
    }
    places
}

/// Positions of the children of each position.
fn children(outline: &ContainerOutline) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); outline.nodes.len()];
    for position in 1..outline.nodes.len() {
        if let Some(parent) = outline.parent(position) {
            children[parent].push(position);
        }
    }
    children
}

fn place_before(outline: &ContainerOutline, children: &mut [Vec<usize>], container: ContainerId, before: ContainerId) {
    let Some(position) = outline.position(container).filter(|&position| position > 0) else { return };
    let Some(parent) = outline.parent(position) else { return };
    let siblings = &mut children[parent];
    let target = outline.position(before).filter(|&at| at != 0);
    if target == Some(position) || target.is_some_and(|at| !siblings.contains(&at)) {
        return;
    }
    siblings.retain(|&sibling| sibling != position);
    let at = target.and_then(|at| siblings.iter().position(|&sibling| sibling == at)).unwrap_or(siblings.len());
    siblings.insert(at, position);
}

fn matches(outline: &ContainerOutline, names: &str) -> Vec<NameMatch> {
    let wanted = names.trim().to_lowercase();
    if wanted.is_empty() {
        return vec![NameMatch::Yes; outline.nodes.len()];
    }
    let mut matches = vec![NameMatch::No; outline.nodes.len()];
    // First position after the last matching subtree.
    let mut covered = 0;
    for (position, node) in outline.nodes.iter().enumerate() {
        // All containers are below the root, so a match of its name is meaningless.
        if position > 0 && node.info.name.to_lowercase().contains(&wanted) {
            covered = covered.max(node.end);
        }
        if position < covered {
            matches[position] = NameMatch::Yes;
        }
    }
    for position in (1..matches.len()).rev() {
        if matches[position] != NameMatch::No
            && let Some(parent) = outline.parent(position)
            && matches[parent] == NameMatch::No
        {
            matches[parent] = NameMatch::Below;
        }
    }
    matches
}

impl ContainerOutline {
    /// Depth-first position of a container.
    pub(crate) fn position(&self, container: ContainerId) -> Option<usize> {
        self.positions.get(container.index()).copied().filter(|&position| position != usize::MAX)
    }

    /// Position of the parent of a container. The root is its own parent.
    fn parent(&self, position: usize) -> Option<usize> {
        self.position(self.nodes[position].info.parent)
    }

    /// The name of a container.
    #[must_use]
    pub fn name(&self, container: ContainerId) -> Option<&str> {
        self.position(container).map(|position| self.nodes[position].info.name.as_str())
    }

    /// The containers above one, beginning with the first below the root.
    #[must_use]
    pub fn above(&self, container: ContainerId) -> Vec<ContainerId> {
        let mut above = Vec::new();
        let mut at = self.position(container);
        while let Some(position) = at.filter(|&position| position > 0) {
            let parent = self.parent(position);
            above.extend(parent.filter(|&parent| parent > 0).map(|parent| self.nodes[parent].info.id));
            at = parent;
        }
        above.reverse();
        above
    }

    /// The containers of a subtree, beginning with its top. Empty if there is no such container.
    pub fn within(&self, container: ContainerId) -> impl Iterator<Item = ContainerId> + '_ {
        let range = self.position(container).map_or(0..0, |start| start..self.nodes[start].end);
        self.nodes[range].iter().map(|node| node.info.id)
    }
}
