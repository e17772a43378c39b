//! The order of containers: depth first; siblings by type, then by name in natural order ("Node 2"
//! before "Node 10").

use std::cmp::Ordering;

use crate::query::ContainerInfo;

/// Containers depth first.
#[derive(Debug)]
pub(crate) struct OrderedContainers {
    pub(crate) containers: Vec<ContainerInfo>,
    /// Their positions by id. `u32::MAX` for missing ids.
    pub(crate) positions: Vec<u32>,
}

/// Sorts containers and sets their depths.
/// A container with a parent id that is not less than its own id gets depth 0, as the root does. A
/// container below a missing parent is omitted.
/// A container without a valid parent, or in a cycle, is not placed below another one.
pub(crate) fn depth_first(mut containers: Vec<ContainerInfo>) -> OrderedContainers {
    let ids = containers.iter().map(|container| container.id.index() + 1).max().unwrap_or(0);
    containers.sort_unstable_by(|a, b| {
        a.ty.cmp(&b.ty).then_with(|| compare_naturally(&a.name, &b.name)).then(a.id.cmp(&b.id))
    });
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); ids];
    let mut stack = Vec::new();
    for (position, container) in containers.iter().enumerate() {
        // Parents are created first, so their ids are smaller. Thus there are no cycles.
        if container.parent < container.id {
            children[container.parent.index()].push(position as u32);
        } else {
            stack.push((position as u32, 0));
        }
    }
    stack.reverse();
    let mut positions = vec![u32::MAX; ids];
    let mut order = Vec::with_capacity(containers.len());
    while let Some((index, depth)) = stack.pop() {
        let container = &mut containers[index as usize];
        container.depth = depth;
        positions[container.id.index()] = order.len() as u32;
        order.push(index);
        stack.extend(children[container.id.index()].iter().rev().map(|&child| (child, depth + 1)));
    }
    let mut remaining: Vec<Option<ContainerInfo>> = containers.into_iter().map(Some).collect();
    let containers = order.into_iter().filter_map(|index| remaining[index as usize].take()).collect();
    OrderedContainers { containers, positions }
}

/// Compares names, with runs of digits as numbers.
pub(crate) fn compare_naturally(a: &str, b: &str) -> Ordering {
    let (mut a_rest, mut b_rest) = (a, b);
    loop {
        let (a_text, b_text) = (split_run(&mut a_rest, false), split_run(&mut b_rest, false));
        let (a_digits, b_digits) = (split_run(&mut a_rest, true), split_run(&mut b_rest, true));
        let (a_number, b_number) = (a_digits.trim_start_matches('0'), b_digits.trim_start_matches('0'));
        let order = a_text
            .cmp(b_text)
            .then(a_digits.is_empty().cmp(&b_digits.is_empty()).reverse())
            .then(a_number.len().cmp(&b_number.len()))
            .then(a_number.cmp(b_number));
        if order != Ordering::Equal {
            return order;
        }
        if a_rest.is_empty() || b_rest.is_empty() {
            return a_rest.len().cmp(&b_rest.len()).then(a.cmp(b));
        }
    }
}

/// Splits off the leading run of digits, or of other characters.
fn split_run<'a>(text: &mut &'a str, digits: bool) -> &'a str {
    let end = text.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(text.len());
    let (run, after) = text.split_at(end);
    *text = after;
    run
}

#[cfg(test)]
mod tests {
    use super::compare_naturally;

    #[test]
    fn numbers_in_names_are_compared_by_value() {
        let mut names = [
            "Node 10",
            "Node 2",
            "Node",
            "node 1",
            "Node 02",
            "2",
            "10",
            "Node 2b",
            "Node 2 thread 11",
            "Node 2 thread 3",
        ];
        names.sort_by(|a, b| compare_naturally(a, b));
        assert_eq!(
            names,
            [
                "2",
                "10",
                "Node",
                "Node 02",
                "Node 2",
                "Node 2 thread 3",
                "Node 2 thread 11",
                "Node 2b",
                "Node 10",
                "node 1"
            ]
        );
    }
}
