//! [`NodeLayout`]: the positions of the corners of a hypercube in a plane.
//!
//! The corners have the numbers of the units. With `d` bits per number, each layout gives groups of
//! bits a meaning. If the number of units is no power of two, the places of the missing corners
//! stay empty.

use std::f64::consts::{PI, TAU};

use crate::error::PerspectiveError;

/// A position in a plane: from left to right, from top to bottom.
pub(crate) type NodePosition = (f64, f64);

/// The layout of a hypercube.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NodeLayout {
    /// A circle in Gray order.
    #[default]
    Ring,
    /// Circles of four corners on a circle.
    RingOfRings,
    /// Concentric circles. The high bits choose the circle.
    Web,
    /// A box in three dimensions.
    Cube,
    /// Two boxes side by side.
    LateralCubes,
    /// A box inside of a box.
    NestedCubes,
    /// A grid in Gray order.
    Mesh,
    /// A line in Gray order.
    Linear,
    /// A binomial tree: the parent of a corner lacks its highest bit.
    Tree,
    /// A parallel projection of a cube with four dimensions. The low bits choose the place in a
    /// small circle around its corner.
    Tesseract,
    /// The projection of the hypercube with the most symmetries.
    Polytope,
}

impl NodeLayout {
    /// All layouts with their words.
    pub(crate) const WORDS: [(&'static str, Self); 11] = [
        ("ring", Self::Ring),
        ("ring-of-rings", Self::RingOfRings),
        ("web", Self::Web),
        ("cube", Self::Cube),
        ("lateral-cubes", Self::LateralCubes),
        ("nested-cubes", Self::NestedCubes),
        ("mesh", Self::Mesh),
        ("linear", Self::Linear),
        ("tree", Self::Tree),
        ("tesseract", Self::Tesseract),
        ("polytope", Self::Polytope),
    ];

    /// The layout of a word. Without a word, the ring.
    pub(crate) fn parse(word: Option<&str>) -> Result<Self, PerspectiveError> {
        let Some(word) = word else { return Ok(Self::default()) };
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, layout)| *layout).ok_or_else(|| {
            let words: Vec<&str> = Self::WORDS.iter().map(|(word, _)| *word).collect();
            PerspectiveError::OptionValue {
                name: "layout".to_owned(),
                value: word.to_owned(),
                expected: format!("circle, {}, or the path of a file", words.join(", ")),
            }
        })
    }

    pub(crate) fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// The positions of the corners from 0 to before `count`, from 0 to 1.
    pub(crate) fn positions(self, count: usize) -> Vec<NodePosition> {
        let dimensions = count.max(1).next_power_of_two().trailing_zeros();
        let positions = match self {
            Self::Tree => tree_positions(count),
            _ => (0..count).map(|corner| self.position(corner, dimensions)).collect(),
        };
        fit_to_square(positions)
    }

    fn position(self, corner: usize, dimensions: u32) -> NodePosition {
        match self {
            Self::Ring | Self::Tree => on_circle(gray_rank(corner), 1 << dimensions),
            Self::RingOfRings => ring_of_rings(corner, dimensions),
            Self::Web => web(corner, dimensions),
            Self::Cube => oblique_box(corner, dimensions),
            Self::LateralCubes => {
                let (half, other_dimensions) = split(corner, dimensions, 1);
                let (x, y) = oblique_box(other_dimensions, dimensions.saturating_sub(1));
                (x + 1.9 * as_float(half), y)
            }
            Self::NestedCubes => {
                let (half, other_dimensions) = split(corner, dimensions, 1);
                let (x, y) = oblique_box(other_dimensions, dimensions.saturating_sub(1));
                let scale = if half == 0 { 1.0 } else { 0.43 };
                (scale * (x - 0.69), scale * (y + 0.62))
            }
            Self::Mesh => {
                let (row, column) = split(corner, dimensions, dimensions / 2);
                (as_float(gray_rank(column)), as_float(gray_rank(row)))
            }
            Self::Linear => (as_float(gray_rank(corner)), 0.0),
            Self::Tesseract => tesseract(corner, dimensions),
            Self::Polytope => polytope(corner, dimensions),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
fn as_float(number: usize) -> f64 {
    number as f64
}

/// The highest `high` of `bits` bits, and the bits below.
fn split(corner: usize, bits: u32, high: u32) -> (usize, usize) {
    let low = bits.saturating_sub(high);
    (corner >> low, corner & ((1 << low) - 1))
}

/// The position of a number in Gray order.
fn gray_rank(number: usize) -> usize {
    (0..usize::BITS).fold(0, |rank, shift| rank ^ (number >> shift))
}

/// The position on a circle with radius 1, clockwise from the top.
fn on_circle(place: usize, places: usize) -> NodePosition {
    let angle = TAU * as_float(place) / as_float(places.max(1));
    (angle.sin(), -angle.cos())
}

fn ring_of_rings(corner: usize, dimensions: u32) -> NodePosition {
    if dimensions < 2 {
        return on_circle(gray_rank(corner), 1 << dimensions);
    }
    let (ring, place) = split(corner, dimensions, dimensions - 2);
    let rings = 1_usize << (dimensions - 2);
    let radius = if rings == 1 { 1.0 } else { (0.6 * (PI / as_float(rings)).sin()).min(0.4) };
    let (center, offset) = (on_circle(gray_rank(ring), rings), on_circle(gray_rank(place), 4));
    (center.0 + radius * offset.0, center.1 + radius * offset.1)
}

fn web(corner: usize, dimensions: u32) -> NodePosition {
    let (ring, place) = split(corner, dimensions, dimensions / 2);
    let offset = on_circle(gray_rank(place), 1 << dimensions.div_ceil(2));
    let radius = 1.0 + as_float(gray_rank(ring));
    (radius * offset.0, radius * offset.1)
}

/// A box whose edges have the lengths of groups of bits in Gray order, seen from the front, the
/// right and above.
fn oblique_box(corner: usize, bits: u32) -> NodePosition {
    let width = bits.div_ceil(3);
    let height = (bits - width).div_ceil(2);
    let along = |first: u32, count: u32| {
        let last = (1_usize << count) - 1;
        as_float(gray_rank((corner >> first) & last)) / as_float(last.max(1))
    };
    let (x, y, z) = (along(0, width), along(width, height), along(width + height, bits - width - height));
    (x + 0.38 * z, -y - 0.24 * z)
}

fn tesseract(corner: usize, dimensions: u32) -> NodePosition {
    const AXES: [NodePosition; 4] = [(1.0, 0.0), (0.0, -1.0), (0.42, -0.27), (0.61, 0.7)];
    let (tesseract_corner, place) = split(corner, dimensions, 4);
    let around = dimensions.saturating_sub(4);
    let radius = if around == 0 { 0.0 } else { 0.09 };
    let offset = on_circle(gray_rank(place), 1 << around);
    let corner = if dimensions < 4 { corner } else { tesseract_corner };
    let chosen = AXES.into_iter().enumerate().filter(|(bit, _)| corner >> bit & 1 == 1);
    chosen.fold((radius * offset.0, radius * offset.1), |sum, (_, axis)| (sum.0 + axis.0, sum.1 + axis.1))
}

/// The axes point in directions at equal angles. Their lengths differ slightly, because corners
/// would otherwise coincide.
fn polytope(corner: usize, dimensions: u32) -> NodePosition {
    (0..dimensions).fold((0.0, 0.0), |(x, y), bit| {
        let angle = PI * f64::from(bit) / f64::from(dimensions);
        let length = 1.0 + 0.043 * f64::from(bit * bit) / f64::from(dimensions);
        let sign = if corner >> bit & 1 == 1 { length } else { -length };
        (x + sign * angle.cos(), y + sign * angle.sin())
    })
}

/// A tree drawn from the top. A leaf has a column of its own, and a parent is above the middle of
/// its children.
fn tree_positions(count: usize) -> Vec<NodePosition> {
    let children = |corner: usize| {
        let bits = (usize::BITS - corner.leading_zeros())..usize::BITS;
        bits.map(move |bit| corner | 1 << bit).take_while(move |child| *child < count)
    };
    let (mut positions, mut columns) = (vec![(0.0, 0.0); count], 0.0_f64);
    // Parents before their children, and the children from left to right.
    let (mut open, mut order) = (if count == 0 { Vec::new() } else { vec![0] }, Vec::new());
    while let Some(corner) = open.pop() {
        order.push(corner);
        open.extend(children(corner));
        positions[corner].1 = f64::from(corner.count_ones());
        if children(corner).next().is_none() {
            positions[corner].0 = columns;
            columns += 1.0;
        }
    }
    for corner in order.into_iter().rev() {
        let places = || children(corner).map(|child| positions[child].0);
        if let (Some(first), Some(last)) = (places().next(), places().last()) {
            positions[corner].0 = (first + last) / 2.0;
        }
    }
    // The depth is small compared with the width.
    let depth = (columns / 8.0).max(1.0);
    positions.iter().map(|(x, y)| (*x, y * depth)).collect()
}

/// Scales and moves positions into a square from 0.05 to 0.95, without distortion.
pub(crate) fn fit_to_square(mut positions: Vec<NodePosition>) -> Vec<NodePosition> {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (left, right) = range(&mut positions.iter().map(|position| position.0));
    let (top, bottom) = range(&mut positions.iter().map(|position| position.1));
    let size = (right - left).max(bottom - top).max(1e-9);
    for (x, y) in &mut positions {
        *x = 0.5 + 0.9 * (*x - f64::midpoint(left, right)) / size;
        *y = 0.5 + 0.9 * (*y - f64::midpoint(top, bottom)) / size;
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::{NodeLayout, gray_rank};

    #[test]
    fn all_corners_have_places_of_their_own() {
        for (word, layout) in NodeLayout::WORDS {
            assert_eq!((layout.word(), NodeLayout::parse(Some(word)).unwrap()), (word, layout));
            for count in (0..=33).chain([64, 65, 100, 127, 128]) {
                let positions = layout.positions(count);
                assert_eq!(positions.len(), count);
                for (unit, (x, y)) in positions.iter().enumerate() {
                    assert!((0.0..=1.0).contains(x) && (0.0..=1.0).contains(y), "{word} {count}: {x} {y}");
                    let near = |earlier: &(f64, f64)| (x - earlier.0).hypot(y - earlier.1) < 0.002;
                    let same: Vec<usize> = (0..unit).filter(|earlier| near(&positions[*earlier])).collect();
                    assert!(same.is_empty(), "{word} of {count}: {unit} is at {same:?}");
                }
            }
        }
        assert!(NodeLayout::parse(Some("torus")).is_err());
    }

    #[test]
    fn gray_ranks_are_inverse_gray_numbers() {
        assert!((0..64).all(|place: usize| gray_rank(place ^ (place >> 1)) == place));
    }

    #[test]
    fn adjacent_places_of_a_ring_and_a_mesh_are_adjacent_corners() {
        let near = |layout: NodeLayout, count: usize, first: usize, second: usize| {
            let positions = layout.positions(count);
            (positions[first].0 - positions[second].0).hypot(positions[first].1 - positions[second].1)
        };
        // Side of a regular octagon, and steps in a grid of four columns and two rows.
        assert!((near(NodeLayout::Ring, 8, 0b110, 0b010) - 0.9 * (std::f64::consts::PI / 8.0).sin()).abs() < 1e-9);
        assert!((near(NodeLayout::Mesh, 8, 0b001, 0b011) - 0.3).abs() < 1e-9);
        assert!((near(NodeLayout::Mesh, 8, 0b001, 0b101) - 0.3).abs() < 1e-9);
    }
}
