//! The order of the rows as the user arranged them: pinned, hidden, moved and filtered by name.
//! Heights are computed later.

use super::container_outline::ContainerOutline;
use super::layout_options::{LayoutOptions, RowArrangement, RowMove};

/// A container with a row.
pub(crate) struct RowCandidate {
    /// Depth-first position of the container in the outline.
    pub(crate) position: usize,
    /// Number of levels below the first drawn level, or below the pinned container.
    pub(crate) depth: u32,
    pub(crate) is_expandable: bool,
    pub(crate) is_folded: bool,
    pub(crate) is_pinned: bool,
}

/// A container to visit.
struct PendingRow {
    /// Depth-first position of the container in the outline.
    position: usize,
    /// Number of levels below the first drawn level, or below the pinned container.
    depth: u32,
    /// Whether it or a container above it is pinned.
    is_pinned: bool,
    /// Whether it is the top of a pinned subtree.
    is_pinned_top: bool,
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
    let RowArrangement { pinned_containers, hidden_containers, ranks, row_moves, names } = &options.arrangement;
    let Some(root) = outline.nodes.first() else { return Vec::new() };
    let silent = !root.draws_anything() && root.end > 1;
    let top = u32::from(silent);
    let mut children = children(outline);
    if !ranks.is_empty() {
        let rank = |position: &usize| ranks.get(&outline.nodes[*position].info.id).copied().unwrap_or(u32::MAX);
        children.iter_mut().for_each(|siblings| siblings.sort_by_key(rank));
    }
    for row_move in row_moves {
        place_before(outline, &mut children, row_move);
    }
    let matches = matches(outline, names);
    let mut pinned_positions: Vec<usize> = Vec::with_capacity(pinned_containers.len());
    for position in pinned_containers.iter().filter_map(|&container| outline.position(container)) {
        // The root without contents has no row of its own.
        if !pinned_positions.contains(&position) && (position > 0 || !silent) {
            pinned_positions.push(position);
        }
    }

    let mut places = Vec::new();
    // The containers to visit, the next one last.
    let mut pending: Vec<PendingRow> = Vec::new();
    let roots = if silent { children[0].clone() } else { vec![0] };
    let top_row = |position: usize, pinned_containers: bool| PendingRow {
        position,
        depth: 0,
        is_pinned: pinned_containers,
        is_pinned_top: pinned_containers,
    };
    pending.extend(roots.into_iter().rev().map(|position| top_row(position, false)));
    pending.extend(pinned_positions.iter().rev().map(|&position| top_row(position, true)));
    while let Some(PendingRow { position, depth, is_pinned: pinned_containers, is_pinned_top }) = pending.pop() {
        let node = &outline.nodes[position];
        let has_pinned_row = !is_pinned_top && pinned_positions.contains(&position);
        if has_pinned_row
            || hidden_containers.contains(&node.info.id)
            || (!pinned_containers && matches[position] == NameMatch::No)
        {
            continue;
        }
        let is_expandable = node.end > position + 1;
        let found_below = !pinned_containers && matches[position] == NameMatch::Below;
        let level = node.info.depth.saturating_sub(top);
        let is_folded = is_expandable && !found_below && options.folds.contains(node.info.id, level);
        places.push(RowCandidate { position, depth, is_expandable, is_folded, is_pinned: pinned_containers });
        if !is_folded {
            let below = |&position| PendingRow {
                position,
                depth: depth + 1,
                is_pinned: pinned_containers,
                is_pinned_top: false,
            };
            pending.extend(children[position].iter().rev().map(below));
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

fn place_before(outline: &ContainerOutline, children: &mut [Vec<usize>], row_move: &RowMove) {
    let &RowMove { container, successor } = row_move;
    let Some(position) = outline.position(container).filter(|&position| position > 0) else { return };
    let Some(parent) = outline.parent(position) else { return };
    let siblings = &mut children[parent];
    let target = outline.position(successor).filter(|&target| target != 0);
    if target == Some(position) || target.is_some_and(|target| !siblings.contains(&target)) {
        return;
    }
    siblings.retain(|&sibling| sibling != position);
    let index =
        target.and_then(|target| siblings.iter().position(|&sibling| sibling == target)).unwrap_or(siblings.len());
    siblings.insert(index, position);
}

fn matches(outline: &ContainerOutline, names: &str) -> Vec<NameMatch> {
    let pattern = names.trim().to_lowercase();
    if pattern.is_empty() {
        return vec![NameMatch::Yes; outline.nodes.len()];
    }
    let mut matches = vec![NameMatch::No; outline.nodes.len()];
    // First position after the last matching subtree.
    let mut covered = 0;
    for (position, node) in outline.nodes.iter().enumerate() {
        // All containers are below the root, so a match of its name is meaningless.
        if position > 0 && node.info.name.to_lowercase().contains(&pattern) {
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
