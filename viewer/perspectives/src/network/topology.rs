//! [`Topology`]: distances between units, in hops.

use crate::error::PerspectiveError;

/// A network of units, by which distances are counted. Units are numbered in natural order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Topology {
    /// A hypercube: the number of different bits.
    #[default]
    Hamming,
    /// A complete network: 1 between different units.
    Unit,
    /// A line.
    Mesh1,
    /// A ring.
    Torus1,
    /// A grid of rows and columns.
    Mesh2(GridShape),
    /// A grid whose rows and columns are rings.
    Torus2(GridShape),
    /// A tree in which each unit has two children.
    BinaryTree,
    /// A tree in which each unit has four children.
    QuadTree,
}

/// The number of rows and columns of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GridShape {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// The valid forms of a topology.
pub(crate) const TOPOLOGY_FORMS: &str =
    "hamming, unit, mesh1, torus1, mesh2, torus2, mesh2:RxC, torus2:RxC, binary-tree or quad-tree";

impl GridShape {
    /// The grid for a number of units whose shape is closest to a square, with at least as many
    /// columns as rows. All places are used if the number is a product of close factors.
    pub(crate) fn of(units: usize) -> Self {
        let units = units.max(1);
        let rows = (1..=units.isqrt()).rev().find(|rows| units.is_multiple_of(*rows)).unwrap_or(1);
        // Without the second case, a prime number would be a line.
        let columns = units / rows;
        if rows * 4 >= columns { Self { rows, columns } } else { Self::grid_for(units) }
    }

    /// A grid of about as many rows as columns, with some places unused.
    pub(crate) fn grid_for(units: usize) -> Self {
        let root = units.isqrt();
        let columns = (root + usize::from(root * root < units)).max(1);
        Self { rows: units.div_ceil(columns).max(1), columns }
    }

    /// Parses `ROWSxCOLUMNS`.
    fn parse(text: &str) -> Option<Self> {
        let (rows, columns) = text.split_once('x')?;
        let shape = Self { rows: rows.parse().ok()?, columns: columns.parse().ok()? };
        (shape.rows > 0 && shape.columns > 0).then_some(shape)
    }
}

impl Topology {
    /// Parses a topology of `units` units, such as `torus2:4x8`.
    ///
    /// # Errors
    /// If the text is invalid, or the grid has too few places.
    pub(crate) fn parse(text: &str, units: usize) -> Result<Self, PerspectiveError> {
        let invalid = |expected: String| PerspectiveError::OptionValue {
            name: "topology".to_owned(),
            value: text.to_owned(),
            expected,
        };
        let (word, shape) = match text.split_once(':') {
            Some((word, shape)) => {
                let shape = GridShape::parse(shape).ok_or_else(|| invalid(TOPOLOGY_FORMS.to_owned()))?;
                if shape.rows.saturating_mul(shape.columns) < units {
                    return Err(invalid(format!("a grid with places for {units} units")));
                }
                (word, shape)
            }
            None => (text, GridShape::of(units)),
        };
        Ok(match word {
            "mesh2" => Self::Mesh2(shape),
            "torus2" => Self::Torus2(shape),
            _ if text.contains(':') => return Err(invalid(TOPOLOGY_FORMS.to_owned())),
            "hamming" => Self::Hamming,
            "unit" => Self::Unit,
            "mesh1" => Self::Mesh1,
            "torus1" => Self::Torus1,
            "binary-tree" => Self::BinaryTree,
            "quad-tree" => Self::QuadTree,
            _ => return Err(invalid(TOPOLOGY_FORMS.to_owned())),
        })
    }

    /// The distance between two of `units` units, in hops. Symmetric, and 0 only between a unit and
    /// itself.
    pub(crate) fn distance(self, units: usize, from: usize, to: usize) -> u32 {
        let hops = match self {
            Self::Hamming => (from ^ to).count_ones() as usize,
            Self::Unit => usize::from(from != to),
            Self::Mesh1 => from.abs_diff(to),
            Self::Torus1 => ring_distance(from, to, units),
            Self::Mesh2(shape) => {
                (from / shape.columns).abs_diff(to / shape.columns)
                    + (from % shape.columns).abs_diff(to % shape.columns)
            }
            Self::Torus2(shape) => {
                ring_distance(from / shape.columns, to / shape.columns, shape.rows)
                    + ring_distance(from % shape.columns, to % shape.columns, shape.columns)
            }
            Self::BinaryTree => tree_distance(from, to, 2),
            Self::QuadTree => tree_distance(from, to, 4),
        };
        u32::try_from(hops).unwrap_or(u32::MAX)
    }
}

impl Topology {
    /// An upper bound of the distance between two of `units` units. It is the largest distance if
    /// the units fill the network.
    pub(crate) fn diameter(self, units: usize) -> u32 {
        let last = units.saturating_sub(1);
        let grid = |shape: GridShape| (shape.rows.saturating_sub(1), shape.columns.saturating_sub(1));
        let hops = match self {
            Self::Hamming => (usize::BITS - last.leading_zeros()) as usize,
            Self::Unit => usize::from(last > 0),
            Self::Mesh1 => last,
            Self::Torus1 => units / 2,
            Self::Mesh2(shape) => grid(shape).0 + grid(shape).1,
            Self::Torus2(shape) => shape.rows / 2 + shape.columns / 2,
            Self::BinaryTree => 2 * tree_distance(0, last, 2),
            Self::QuadTree => 2 * tree_distance(0, last, 4),
        };
        u32::try_from(hops).unwrap_or(u32::MAX)
    }
}

fn ring_distance(from: usize, to: usize, size: usize) -> usize {
    let direct = from.abs_diff(to);
    direct.min(size.saturating_sub(direct))
}

/// The distance in a tree in which the children of `k` are `k × children + 1` and the following.
fn tree_distance(mut from: usize, mut to: usize, children: usize) -> usize {
    let mut hops = 0;
    while from != to {
        // The larger number is at least as deep.
        let deeper = if from > to { &mut from } else { &mut to };
        *deeper = (*deeper - 1) / children;
        hops += 1;
    }
    hops
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{GridShape, Topology};

    const WORDS: [&str; 8] = ["hamming", "unit", "mesh1", "torus1", "mesh2", "torus2", "binary-tree", "quad-tree"];

    proptest! {
        #[test]
        fn distances_are_metrics(units in 1..200_usize, a in 0..200_usize, b in 0..200_usize, c in 0..200_usize) {
            let (a, b, c) = (a % units, b % units, c % units);
            for word in WORDS {
                let topology = Topology::parse(word, units).unwrap();
                let distance = |from, to| topology.distance(units, from, to);
                prop_assert_eq!(distance(a, b) == 0, a == b);
                prop_assert!(distance(a, b) <= topology.diameter(units), "{}", word);
                prop_assert_eq!(distance(a, b), distance(b, a));
                prop_assert!(distance(a, c) <= distance(a, b) + distance(b, c), "{}", word);
            }
        }

        #[test]
        fn grids_have_a_place_for_each_unit(units in 1..100_000_usize) {
            for shape in [GridShape::of(units), GridShape::grid_for(units)] {
                prop_assert!(shape.rows * shape.columns >= units);
                prop_assert!(shape.rows <= shape.columns && (shape.rows - 1) * shape.columns < units);
            }
        }
    }

    #[test]
    fn grids_are_no_lines_except_the_smallest() {
        let shape = |units| {
            let GridShape { rows, columns } = GridShape::of(units);
            (rows, columns)
        };
        assert_eq!(
            [0, 1, 3, 5, 8, 10, 13, 23, 128].map(shape),
            [(1, 1), (1, 1), (1, 3), (2, 3), (2, 4), (2, 5), (4, 4), (5, 5), (8, 16)]
        );
    }

    #[test]
    fn distances_of_small_networks_are_known() {
        let distance = |word, from, to| Topology::parse(word, 16).unwrap().distance(16, from, to);
        assert_eq!(distance("hamming", 0b0101, 0b1010), 4);
        assert_eq!(distance("torus1", 0, 15), 1);
        assert_eq!(distance("mesh2", 0, 15), 6);
        assert_eq!(distance("torus2", 0, 15), 2);
        assert_eq!(distance("torus2:2x8", 0, 15), 2);
        assert_eq!(distance("binary-tree", 7, 4), 3);
        assert_eq!(distance("quad-tree", 5, 8), 2);
        assert!(Topology::parse("mesh2:3x5", 16).is_err());
        assert!(Topology::parse("unit:4x4", 16).is_err());
        assert!(Topology::parse("cube", 16).is_err());
    }
}
