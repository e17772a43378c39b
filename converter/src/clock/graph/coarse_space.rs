//! The coarse space of the solver: a few smooth functions per domain, solved exactly. It completes
//! the preconditioner, as in multigrid and deflation methods.
//!
//! A shift or a tilt of a whole clock changes the delays of its edges and costs little. But each
//! domain alone seems to be held firmly by its data. For these shapes, conjugate gradients would
//! need many hundred steps.

use super::shape::ReverseEdge;
use super::system::{NormalEquations, dot_product};

/// Maximum number of functions of all domains together.
const MAX_NODES: usize = 512;
/// Maximum number of functions of one domain.
const MAX_DOMAIN_NODES: usize = 9;
/// With more domains there is no such preconditioner, because its matrix would take longer than the
/// saved steps.
const MAX_DOMAINS: usize = 1024;

/// The position of a knot between two nodes.
#[derive(Clone, Copy)]
struct KnotPosition {
    /// The node before the knot.
    node: usize,
    /// The position from there to the next node, 0 to 1.
    fraction: f64,
}

/// The value of a node's hat function at a knot.
#[derive(Clone, Copy)]
struct NodeWeight {
    node: usize,
    weight: f64,
}

/// Hat functions on equidistant nodes of each free domain, and the factor of the matrix in this
/// basis.
pub(crate) struct CoarseSpace {
    nodes: usize,
    knots: usize,
    /// By knot.
    positions: Vec<KnotPosition>,
    /// By domain: the index of its first unknown. `None` if the domain is not free.
    first: Vec<Option<usize>>,
    /// Cholesky's factor, by rows. The diagonal contains reciprocals.
    factor: Vec<Vec<f64>>,
}

impl CoarseSpace {
    /// O(edges × knots + (domains × nodes)³).
    pub(crate) fn new(system: &NormalEquations<'_>) -> Self {
        let shape = &system.shape;
        let free = shape.is_free.iter().filter(|is_free| **is_free).count();
        let nodes =
            if free > MAX_DOMAINS { 0 } else { (MAX_NODES / free.max(1)).clamp(1, MAX_DOMAIN_NODES).min(shape.knots) };
        let mut count = 0;
        let first = shape.is_free.iter().map(|is_free| {
            let unknown = is_free.then_some(count);
            count += if *is_free { nodes } else { 0 };
            unknown
        });
        let first: Vec<Option<usize>> = first.collect();
        let position = |knot: usize| {
            let position = knot as f64 * (nodes.max(2) - 1) as f64 / (shape.knots - 1) as f64;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a few")]
            let node = (position as usize).min(nodes.saturating_sub(2));
            KnotPosition { node, fraction: if nodes > 1 { position - node as f64 } else { 0.0 } }
        };
        let positions: Vec<KnotPosition> = (0..shape.knots).map(position).collect();
        let factor = vec![vec![0.0; count]; count];
        let mut coarse_space = Self { nodes, knots: shape.knots, positions, first, factor };
        if nodes > 0 {
            coarse_space.fill(system);
            coarse_space.factorise();
        }
        coarse_space
    }

    /// The nodes at a knot and their weights.
    fn weights(&self, knot: usize) -> [NodeWeight; 2] {
        let KnotPosition { node, fraction } = self.positions[knot];
        [
            NodeWeight { node, weight: 1.0 - fraction },
            NodeWeight { node: (node + 1).min(self.nodes - 1), weight: fraction },
        ]
    }

    fn fill(&mut self, system: &NormalEquations<'_>) {
        let shape = &system.shape;
        let nodes = self.nodes;
        for pair in &system.pairs {
            let mut block = vec![0.0; nodes * nodes];
            let mut add = |first: usize, second: usize, amount: f64| {
                for row in self.weights(first) {
                    for column in self.weights(second) {
                        block[row.node * nodes + column.node] += row.weight * column.weight * amount;
                    }
                }
            };
            for (knot, diagonal) in pair.diagonal.iter().enumerate() {
                add(knot, knot, *diagonal);
            }
            for (knot, off_diagonal) in pair.off_diagonal[..self.knots - 1].iter().enumerate() {
                add(knot, knot + 1, *off_diagonal);
                add(knot + 1, knot, *off_diagonal);
            }
            self.add_between(pair.from, pair.to, &block);
        }
        // The coupling between each node and the delay of an edge.
        let mut delays = vec![vec![0.0; nodes]; shape.edges.len()];
        for (number, delays) in delays.iter_mut().enumerate() {
            for (knot, coupling) in system.coupling_of(number).iter().enumerate() {
                self.weights(knot)
                    .iter()
                    .for_each(|knot_weight| delays[knot_weight.node] += knot_weight.weight * coupling);
            }
        }
        for (number, edge) in shape.edges.iter().enumerate() {
            if system.is_held(number) {
                continue;
            }
            let stiffness = system.stiffness(number);
            let forth = &delays[number];
            let mut less = vec![0.0; nodes * nodes];
            match system.reverse_edge(number) {
                None => {
                    rank_one(&mut less, forth, forth, -1.0 / stiffness);
                }
                Some(ReverseEdge { edge: back, symmetry }) if number < back => {
                    // For the edge back, the difference of the clocks has the opposite sign.
                    let two = system.stiffness(back);
                    let scale = -1.0 / (stiffness * two - symmetry * symmetry);
                    let back: Vec<f64> = delays[back].iter().map(|delay| -delay).collect();
                    rank_one(&mut less, forth, forth, scale * two);
                    rank_one(&mut less, &back, &back, scale * stiffness);
                    rank_one(&mut less, forth, &back, scale * symmetry);
                    rank_one(&mut less, &back, forth, scale * symmetry);
                }
                Some(_) => continue,
            }
            self.add_between(edge.from, edge.to, &less);
        }
        self.add_prior(system);
    }

    /// Adds a matrix for the difference between two clocks.
    fn add_between(&mut self, from: usize, to: usize, block: &[f64]) {
        for (a, b, sign) in [(from, from, 1.0), (to, to, 1.0), (from, to, -1.0), (to, from, -1.0)] {
            let (Some(row), Some(column)) = (self.first[a], self.first[b]) else { continue };
            for (index, values) in block.chunks(self.nodes).enumerate() {
                for (out, value) in self.factor[row + index][column..column + self.nodes].iter_mut().zip(values) {
                    *out += sign * value;
                }
            }
        }
    }

    fn add_prior(&mut self, system: &NormalEquations<'_>) {
        let nodes = self.nodes;
        let mut block = vec![0.0; nodes * nodes];
        for node in 0..nodes {
            let value = |knot: usize| {
                self.weights(knot)
                    .iter()
                    .filter(|knot_weight| knot_weight.node == node)
                    .map(|knot_weight| knot_weight.weight)
                    .sum()
            };
            let x: Vec<f64> = (0..self.knots).map(value).collect();
            let mut image = vec![0.0; self.knots];
            system.shape.prior.apply(&x, &mut image);
            for (knot, image) in image.iter().enumerate() {
                for NodeWeight { node: column, weight } in self.weights(knot) {
                    block[node * nodes + column] += weight * image;
                }
            }
            block[node * nodes + node] += 1e-9;
        }
        for first in self.first.iter().flatten() {
            for (index, values) in block.chunks(nodes).enumerate() {
                for (out, value) in self.factor[first + index][*first..first + nodes].iter_mut().zip(values) {
                    *out += value;
                }
            }
        }
    }

    fn factorise(&mut self) {
        for row in 0..self.factor.len() {
            let (before, values) = self.factor.split_at_mut(row);
            let values = &mut values[0];
            for column in 0..row {
                let other = &before[column];
                values[column] = (values[column] - dot_product(&values[..column], &other[..column])) * other[column];
            }
            let sum = dot_product(&values[..row], &values[..row]);
            values[row] = 1.0 / (values[row] - sum).max(values[row] * 1e-12 + 1e-12).sqrt();
        }
    }

    /// Adds the solution in this basis to `out`.
    pub(crate) fn add(&self, residual: &[f64], out: &mut [f64]) {
        if self.nodes == 0 {
            return;
        }
        let mut x = vec![0.0; self.factor.len()];
        for (first, residual) in self.first.iter().zip(residual.chunks(self.knots)) {
            let Some(first) = first else { continue };
            for (knot, residual) in residual.iter().enumerate() {
                for NodeWeight { node, weight } in self.weights(knot) {
                    x[first + node] += weight * residual;
                }
            }
        }
        for row in 0..x.len() {
            x[row] = (x[row] - dot_product(&self.factor[row][..row], &x[..row])) * self.factor[row][row];
        }
        for row in (0..x.len()).rev() {
            x[row] *= self.factor[row][row];
            let solved = x[row];
            for (x, factor) in x[..row].iter_mut().zip(&self.factor[row]) {
                *x -= factor * solved;
            }
        }
        for (first, out) in self.first.iter().zip(out.chunks_mut(self.knots)) {
            let Some(first) = first else { continue };
            for (knot, out) in out.iter_mut().enumerate() {
                for NodeWeight { node, weight } in self.weights(knot) {
                    *out += weight * x[first + node];
                }
            }
        }
    }
}

/// Adds a multiple of the outer product of two vectors.
fn rank_one(out: &mut [f64], left_vector: &[f64], right_vector: &[f64], scale: f64) {
    for (row, factor) in out.chunks_mut(right_vector.len()).zip(left_vector) {
        for (out, two) in row.iter_mut().zip(right_vector) {
            *out += scale * factor * two;
        }
    }
}
