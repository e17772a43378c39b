//! Cell lists: the box is divided into cells no smaller than the cut-off, so that an atom interacts
//! only with atoms of its own and of the 26 adjacent cells. Atoms keep their cell while they move
//! less than the skin allows, as usual in the field.

use crate::physics::{LennardJones, Vec3};

/// The minimum excess of the cell size over the cut-off. Two atoms may each move by half of it
/// before a pair could be missed.
pub(crate) const SKIN: f64 = 0.4;

/// The cells of a periodic cubic box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// Cells along each axis.
    pub(crate) per_side: usize,
    side: f64,
}

impl Grid {
    /// The finest grid for this box and cut-off. `None` if the box has no room for three cells per
    /// axis: with fewer, two neighbouring cells would form more than one pair.
    pub(crate) fn new(side: f64, cutoff: f64) -> Option<Self> {
        let per_side = (side / (cutoff + SKIN)) as usize;
        (per_side >= 3).then_some(Self { per_side, side })
    }

    /// The number of cells.
    pub(crate) const fn len(&self) -> usize {
        self.per_side.pow(3)
    }

    /// The cell of a position inside the box.
    pub(crate) fn cell_of(&self, position: Vec3) -> usize {
        let place = position.map(|x| (x / self.side * self.per_side as f64).floor());
        // A position just below the side may be rounded up to it.
        let at = |x: f64| (x as usize).min(self.per_side - 1);
        self.index([at(place.x), at(place.y), at(place.z)])
    }

    /// A position brought back into the box.
    pub(crate) fn wrap(&self, position: Vec3) -> Vec3 {
        position.map(|x| x.rem_euclid(self.side))
    }

    /// Coordinates of a cell, counted in cells.
    pub(crate) const fn coordinates(&self, cell: usize) -> [usize; 3] {
        [cell / (self.per_side * self.per_side), cell / self.per_side % self.per_side, cell % self.per_side]
    }

    const fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (x * self.per_side + y) * self.per_side + z
    }

    /// Half of a cell's neighbours, so that every pair of neighbouring cells occurs once; each with
    /// the shift that maps its positions across the edge of the box.
    pub(crate) fn forward_neighbours(&self, cell: usize) -> impl Iterator<Item = (usize, Vec3)> {
        let here = self.coordinates(cell);
        let grid = *self;
        FORWARD.iter().map(move |offset| {
            let mut there = here;
            let mut shift = [0.0; 3];
            for axis in 0..3 {
                let moved = here[axis] as isize + offset[axis];
                there[axis] = moved.rem_euclid(grid.per_side as isize) as usize;
                shift[axis] = moved.div_euclid(grid.per_side as isize) as f64 * grid.side;
            }
            (grid.index(there), Vec3::new(shift[0], shift[1], shift[2]))
        })
    }
}

/// The 13 of the 26 neighbours that come after a cell.
const FORWARD: [[isize; 3]; 13] = [
    [0, 0, 1],
    [0, 1, -1],
    [0, 1, 0],
    [0, 1, 1],
    [1, -1, -1],
    [1, -1, 0],
    [1, -1, 1],
    [1, 0, -1],
    [1, 0, 0],
    [1, 0, 1],
    [1, 1, -1],
    [1, 1, 0],
    [1, 1, 1],
];

/// Positions of atoms, cell after cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct CellBlock {
    /// The first atom of each cell, and the end of the last cell.
    start: Vec<u32>,
    positions: Vec<Vec3>,
}

impl CellBlock {
    /// A block of the cells given one by one.
    pub(crate) fn from_cells<'a>(cells: impl IntoIterator<Item = &'a [Vec3]>) -> Self {
        let mut block = Self { start: vec![0], positions: Vec::new() };
        for cell in cells {
            block.positions.extend_from_slice(cell);
            block.start.push(block.positions.len() as u32);
        }
        block
    }

    /// A block of all positions, and the index of the first atom of each cell.
    pub(crate) fn from_parts(start: Vec<u32>, positions: Vec<Vec3>) -> Self {
        Self { start, positions }
    }

    /// The indices of the atoms in the `slot`-th cell.
    pub(crate) fn range(&self, slot: usize) -> std::ops::Range<usize> {
        self.start[slot] as usize..self.start[slot + 1] as usize
    }

    /// Positions in the `slot`-th cell.
    pub(crate) fn cell(&self, slot: usize) -> &[Vec3] {
        &self.positions[self.range(slot)]
    }

    /// The number of atoms.
    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Size in a message.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.start) + size_of_val(&*self.positions)
    }
}

/// The results of a force computation in addition to the forces.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairWork {
    /// Distances computed: the unit of work.
    pub(crate) tests: u64,
    /// Potential energy.
    pub(crate) potential: f64,
}

impl std::ops::AddAssign for PairWork {
    fn add_assign(&mut self, other: Self) {
        self.tests += other.tests;
        self.potential += other.potential;
    }
}

/// Forces between the atoms of two cells; the positions of `there` are moved by `shift`. `add(i, j,
/// force)` receives the force on the `i`-th atom here, the opposite of that on the `j`-th there.
pub(crate) fn forces_between(
    potential: &LennardJones,
    here: &[Vec3],
    there: &[Vec3],
    shift: Vec3,
    mut add: impl FnMut(usize, usize, Vec3),
) -> PairWork {
    let mut work = PairWork { tests: (here.len() * there.len()) as u64, potential: 0.0 };
    for (i, &at) in here.iter().enumerate() {
        let at = at - shift;
        for (j, &other) in there.iter().enumerate() {
            if let Some((force, energy)) = potential.pair(at - other) {
                work.potential += energy;
                add(i, j, force);
            }
        }
    }
    work
}

/// Forces among the atoms of one cell, each pair once.
pub(crate) fn forces_within(
    potential: &LennardJones,
    cell: &[Vec3],
    mut add: impl FnMut(usize, usize, Vec3),
) -> PairWork {
    let mut work = PairWork::default();
    for (i, &at) in cell.iter().enumerate() {
        work.tests += i as u64;
        for (j, &other) in cell[..i].iter().enumerate() {
            if let Some((force, energy)) = potential.pair(at - other) {
                work.potential += energy;
                add(i, j, force);
            }
        }
    }
    work
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_pair_of_neighbours_occurs_once() {
        for per_side in [3, 4, 7] {
            let grid = Grid::new(per_side as f64 * (2.5 + SKIN), 2.5).unwrap();
            assert_eq!(grid.per_side, per_side);
            let mut pairs = HashSet::new();
            for cell in 0..grid.len() {
                for (other, _) in grid.forward_neighbours(cell) {
                    assert_ne!(cell, other);
                    assert!(
                        pairs.insert((cell.min(other), cell.max(other))),
                        "the pair of {cell} and {other} occurs twice"
                    );
                }
            }
            assert_eq!(pairs.len(), grid.len() * 13);
        }
    }

    #[test]
    fn a_shift_brings_neighbours_across_the_edge_close() {
        let grid = Grid::new(12.0, 2.5).unwrap();
        let width = 12.0 / grid.per_side as f64;
        let middle = |cell| {
            let [x, y, z] = grid.coordinates(cell);
            Vec3::new(x as f64 + 0.5, y as f64 + 0.5, z as f64 + 0.5) * width
        };
        for cell in 0..grid.len() {
            assert_eq!(grid.cell_of(middle(cell)), cell);
            for (other, shift) in grid.forward_neighbours(cell) {
                let difference = middle(other) + shift - middle(cell);
                assert!(difference.norm() <= 3.0_f64.sqrt() * width + 1e-9);
            }
        }
    }

    #[test]
    fn a_small_box_has_no_grid() {
        assert!(Grid::new(8.0, 2.5).is_none());
    }
}
