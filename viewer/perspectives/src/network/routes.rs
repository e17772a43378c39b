//! [`Topology::route`]: the way of a message through a network.
//!
//! A hypercube uses e-cube routing, a grid dimension-order routing, and a tree the way through the
//! common ancestor. If the number of units leaves places of the network unused, the route avoids
//! these places.

use crate::network::topology::{GridShape, Topology};

impl Topology {
    /// The units on the way from one of `units` units to another, both included. Its length is
    /// [`Topology::distance`], except in a torus with unused places.
    pub(crate) fn route(self, units: usize, from: usize, to: usize) -> Vec<usize> {
        match self {
            Self::Hamming => hypercube_route(units, from, to),
            Self::Unit if from == to => vec![from],
            Self::Unit => vec![from, to],
            Self::Mesh1 => line(from, to, None),
            Self::Torus1 => line(from, to, Some(units)),
            Self::Mesh2(shape) => grid_route(units, shape, from, to, false),
            Self::Torus2(shape) => grid_route(units, shape, from, to, true),
            Self::BinaryTree => tree_route(from, to, 2),
            Self::QuadTree => tree_route(from, to, 4),
        }
    }

    /// The units that have a direct link to a unit and a larger number. A complete network has none
    /// here: an image of all its links would show nothing else.
    pub(crate) fn later_neighbours(self, units: usize, unit: usize) -> Vec<usize> {
        let mut list = match self {
            Self::Hamming => {
                (0..usize::BITS).map(|bit| unit ^ (1 << bit)).take_while(|neighbour| *neighbour < 2 * units).collect()
            }
            Self::Unit => Vec::new(),
            Self::Mesh1 => vec![unit + 1],
            Self::Torus1 if unit == 0 => vec![1, units.saturating_sub(1)],
            Self::Torus1 => vec![unit + 1],
            Self::Mesh2(GridShape { columns, .. }) | Self::Torus2(GridShape { columns, .. }) => {
                let (row, column) = (unit / columns, unit % columns);
                let mut list = if column + 1 < columns { vec![unit + 1] } else { Vec::new() };
                list.push(unit + columns);
                if let Self::Torus2(GridShape { rows, .. }) = self {
                    list.extend((column == 0).then_some(row * columns + columns - 1));
                    list.extend((row == 0).then_some((rows - 1) * columns + column));
                }
                list
            }
            Self::BinaryTree => vec![2 * unit + 1, 2 * unit + 2],
            Self::QuadTree => (1..=4).map(|child| 4 * unit + child).collect(),
        };
        list.retain(|neighbour| *neighbour > unit && *neighbour < units);
        list.sort_unstable();
        list.dedup();
        list
    }
}

/// Corrects the different bits from the lowest to the highest. If this leads to a corner without a
/// unit, it first clears bits and then sets bits: all corners on that way have smaller numbers than
/// one of the two ends.
fn hypercube_route(units: usize, from: usize, to: usize) -> Vec<usize> {
    let flip = |bits: &[usize]| {
        let mut route = vec![from];
        route.extend(bits.iter().scan(from, |unit, bit| {
            *unit ^= bit;
            Some(*unit)
        }));
        route
    };
    let mut bits: Vec<usize> = (0..usize::BITS).map(|bit| (from ^ to) & (1 << bit)).filter(|bit| *bit != 0).collect();
    let route = flip(&bits);
    if route.iter().all(|unit| *unit < units) {
        return route;
    }
    bits.sort_by_key(|bit| from & bit == 0);
    flip(&bits)
}

/// The numbers from one to another, both included. With a size, the shorter way around the ring; of
/// two equally long ways, the ascending one.
fn line(from: usize, to: usize, ring: Option<usize>) -> Vec<usize> {
    let forward = |size: usize| (to + size - from) % size;
    match ring {
        Some(size) if 2 * forward(size) <= size => (0..=forward(size)).map(|step| (from + step) % size).collect(),
        Some(size) => (0..=size - forward(size)).map(|step| (from + size - step) % size).collect(),
        None if from <= to => (from..=to).collect(),
        None => (to..=from).rev().collect(),
    }
}

/// Along the row of the sender, then along the column of the receiver. If this leads to a place
/// without a unit, first along the column, and then without the links that close rings.
fn grid_route(units: usize, shape: GridShape, from: usize, to: usize, is_torus: bool) -> Vec<usize> {
    let GridShape { rows, columns } = shape;
    let (row, column, last_row, last_column) = (from / columns, from % columns, to / columns, to % columns);
    let along = |closes_rings: bool, row_first: bool| -> Vec<usize> {
        let in_columns = line(column, last_column, closes_rings.then_some(columns));
        let in_rows = line(row, last_row, closes_rings.then_some(rows));
        if row_first {
            let first = in_columns.iter().map(|column| row * columns + column);
            first.chain(in_rows[1..].iter().map(|row| row * columns + last_column)).collect()
        } else {
            let first = in_rows.iter().map(|row| row * columns + column);
            first.chain(in_columns[1..].iter().map(|column| last_row * columns + column)).collect()
        }
    };
    let ways = [(is_torus, true), (is_torus, false), (false, true), (false, false)];
    let mut routes = ways.into_iter().map(|(closes_rings, row_first)| along(closes_rings, row_first));
    let is_complete = |route: &Vec<usize>| route.iter().all(|unit| *unit < units);
    routes.find(is_complete).unwrap_or_else(|| vec![from, to])
}

fn tree_route(from: usize, to: usize, children: usize) -> Vec<usize> {
    let (mut up, mut down) = (vec![from], vec![to]);
    loop {
        let (upper, lower) = (up[up.len() - 1], down[down.len() - 1]);
        match upper.cmp(&lower) {
            std::cmp::Ordering::Equal => break,
            // The larger number is at least as deep.
            std::cmp::Ordering::Greater => up.push((upper - 1) / children),
            std::cmp::Ordering::Less => down.push((lower - 1) / children),
        }
    }
    down.pop();
    up.extend(down.into_iter().rev());
    up
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::network::topology::Topology;

    const WORDS: [&str; 9] =
        ["hamming", "unit", "mesh1", "torus1", "mesh2", "torus2", "mesh2:200x1", "binary-tree", "quad-tree"];

    proptest! {
        #[test]
        fn routes_are_shortest_ways_over_links(units in 1..200_usize, from in 0..200_usize, to in 0..200_usize) {
            let (from, to) = (from % units, to % units);
            for word in WORDS {
                let topology = Topology::parse(word, units).unwrap();
                let route = topology.route(units, from, to);
                prop_assert_eq!((route.first(), route.last()), (Some(&from), Some(&to)), "{}", word);
                prop_assert!(route.iter().all(|unit| *unit < units), "{} {:?}", word, route);
                let distance = topology.distance(units, from, to) as usize;
                if let Topology::Torus2(shape) = topology && shape.rows * shape.columns != units {
                    prop_assert!(route.len() > distance);
                } else {
                    prop_assert_eq!(route.len() - 1, distance, "{} {:?}", word, route);
                }
                for link in route.windows(2) {
                    let (low, high) = (link[0].min(link[1]), link[0].max(link[1]));
                    let is_link = topology == Topology::Unit || topology.later_neighbours(units, low).contains(&high);
                    prop_assert!(is_link, "{} {:?}", word, link);
                    prop_assert_eq!(topology.distance(units, low, high), 1);
                }
            }
        }

        #[test]
        fn links_join_all_units_at_distance_one(units in 1..60_usize) {
            for word in WORDS.into_iter().filter(|word| *word != "unit") {
                let topology = Topology::parse(word, units).unwrap();
                for unit in 0..units {
                    let near = |neighbour: &usize| topology.distance(units, unit, *neighbour) == 1;
                    let expected: Vec<usize> = (unit + 1..units).filter(near).collect();
                    prop_assert_eq!(topology.later_neighbours(units, unit), expected, "{} {}", word, unit);
                }
            }
        }
    }

    #[test]
    fn routes_of_small_networks_are_known() {
        let route = |word, units, from, to| Topology::parse(word, units).unwrap().route(units, from, to);
        assert_eq!(route("hamming", 8, 0b001, 0b110), [0b001, 0b000, 0b010, 0b110]);
        // From 4 to 3 of six corners: e-cube routing would use the corner 7.
        assert_eq!(route("hamming", 6, 0b100, 0b011), [4, 0, 1, 3]);
        assert_eq!(route("mesh2", 16, 1, 14), [1, 2, 6, 10, 14]);
        assert_eq!(route("torus2", 16, 0, 15), [0, 3, 15]);
        assert_eq!(route("torus1", 6, 5, 1), [5, 0, 1]);
        assert_eq!(route("binary-tree", 8, 7, 4), [7, 3, 1, 4]);
    }
}
