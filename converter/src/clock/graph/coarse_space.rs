//! The preconditioner for all domains together: a few smooth functions per domain, solved exactly.
//!
//! A shift or a tilt of a whole clock changes the delays of its edges and costs little. But each
//! domain alone seems to be held firmly by its data. For these shapes, conjugate gradients would
//! need many hundred steps.

use super::system::{NormalEquations, dot_product};

/// Maximum number of functions of all domains together.
const MOST: usize = 512;
/// Maximum number of functions of one domain.
const MOST_OF_ONE: usize = 9;
/// With more domains there is no such preconditioner, because its matrix would take longer than the
/// saved steps.
const MOST_DOMAINS: usize = 1024;

/// Hat functions on equidistant nodes of each free domain, and the factor of the matrix in this
/// basis.
pub(crate) struct CoarseSpace {
    nodes: usize,
    knots: usize,
    /// By knot: the node before it, and its position from there to the next node, 0 to 1.
    hats: Vec<(usize, f64)>,
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
        let nodes = if free > MOST_DOMAINS { 0 } else { (MOST / free.max(1)).clamp(1, MOST_OF_ONE).min(shape.knots) };
        let mut count = 0;
        let first = shape.is_free.iter().map(|is_free| {
            let own = is_free.then_some(count);
            count += if *is_free { nodes } else { 0 };
            own
        });
        let first: Vec<Option<usize>> = first.collect();
        let hat = |knot: usize| {
            let place = knot as f64 * (nodes.max(2) - 1) as f64 / (shape.knots - 1) as f64;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a few")]
            let node = (place as usize).min(nodes.saturating_sub(2));
            (node, if nodes > 1 { place - node as f64 } else { 0.0 })
        };
        let hats: Vec<(usize, f64)> = (0..shape.knots).map(hat).collect();
        let mut coarse = Self { nodes, knots: shape.knots, hats, first, factor: vec![vec![0.0; count]; count] };
        if nodes > 0 {
            coarse.fill(system);
            coarse.factorise();
        }
        coarse
    }

    /// The nodes at a knot and their weights.
    fn weights(&self, knot: usize) -> [(usize, f64); 2] {
        let (node, part) = self.hats[knot];
        [(node, 1.0 - part), ((node + 1).min(self.nodes - 1), part)]
    }

    fn fill(&mut self, system: &NormalEquations<'_>) {
        let shape = &system.shape;
        let nodes = self.nodes;
        for pair in &system.pairs {
            let mut own = vec![0.0; nodes * nodes];
            let mut add = |first: usize, second: usize, amount: f64| {
                for (node, weight) in self.weights(first) {
                    for (other, more) in self.weights(second) {
                        own[node * nodes + other] += weight * more * amount;
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
            self.add_between(pair.from, pair.to, &own);
        }
        // The coupling between each node and the delay of an edge.
        let mut delays = vec![vec![0.0; nodes]; shape.edges.len()];
        for (number, delays) in delays.iter_mut().enumerate() {
            for (knot, coupling) in system.coupling_of(number).iter().enumerate() {
                self.weights(knot).iter().for_each(|(node, weight)| delays[*node] += weight * coupling);
            }
        }
        for (number, edge) in shape.edges.iter().enumerate() {
            if system.is_held(number) {
                continue;
            }
            let one = system.stiffness(number);
            let own = &delays[number];
            let mut less = vec![0.0; nodes * nodes];
            match system.reverse_edge(number) {
                None => {
                    rank_one(&mut less, own, own, -1.0 / one);
                }
                Some((back, alike)) if number < back => {
                    // For the edge back, the difference of the clocks has the opposite sign.
                    let two = system.stiffness(back);
                    let scale = -1.0 / (one * two - alike * alike);
                    let other: Vec<f64> = delays[back].iter().map(|delay| -delay).collect();
                    rank_one(&mut less, own, own, scale * two);
                    rank_one(&mut less, &other, &other, scale * one);
                    rank_one(&mut less, own, &other, scale * alike);
                    rank_one(&mut less, &other, own, scale * alike);
                }
                Some(_) => continue,
            }
            self.add_between(edge.from, edge.to, &less);
        }
        self.add_prior(system);
    }

    /// Adds a matrix for the difference between two clocks.
    fn add_between(&mut self, from: usize, to: usize, own: &[f64]) {
        for (a, b, sign) in [(from, from, 1.0), (to, to, 1.0), (from, to, -1.0), (to, from, -1.0)] {
            let (Some(row), Some(column)) = (self.first[a], self.first[b]) else { continue };
            for (at, own) in own.chunks(self.nodes).enumerate() {
                for (out, own) in self.factor[row + at][column..column + self.nodes].iter_mut().zip(own) {
                    *out += sign * own;
                }
            }
        }
    }

    fn add_prior(&mut self, system: &NormalEquations<'_>) {
        let nodes = self.nodes;
        let mut own = vec![0.0; nodes * nodes];
        for node in 0..nodes {
            let value =
                |knot: usize| self.weights(knot).iter().filter(|(at, _)| *at == node).map(|(_, part)| part).sum();
            let x: Vec<f64> = (0..self.knots).map(value).collect();
            let mut image = vec![0.0; self.knots];
            system.shape.prior.apply(&x, &mut image);
            for (knot, image) in image.iter().enumerate() {
                for (other, weight) in self.weights(knot) {
                    own[node * nodes + other] += weight * image;
                }
            }
            own[node * nodes + node] += 1e-9;
        }
        for first in self.first.iter().flatten() {
            for (at, own) in own.chunks(nodes).enumerate() {
                for (out, own) in self.factor[first + at][*first..first + nodes].iter_mut().zip(own) {
                    *out += own;
                }
            }
        }
    }

    fn factorise(&mut self) {
        for row in 0..self.factor.len() {
            let (before, own) = self.factor.split_at_mut(row);
            let own = &mut own[0];
            for column in 0..row {
                let other = &before[column];
                own[column] = (own[column] - dot_product(&own[..column], &other[..column])) * other[column];
            }
            let sum = dot_product(&own[..row], &own[..row]);
            own[row] = 1.0 / (own[row] - sum).max(own[row] * 1e-12 + 1e-12).sqrt();
        }
    }

    /// Adds the solution in this basis to `out`.
    pub(crate) fn add(&self, rest: &[f64], out: &mut [f64]) {
        if self.nodes == 0 {
            return;
        }
        let mut x = vec![0.0; self.factor.len()];
        for (first, rest) in self.first.iter().zip(rest.chunks(self.knots)) {
            let Some(first) = first else { continue };
            for (knot, rest) in rest.iter().enumerate() {
                for (node, weight) in self.weights(knot) {
                    x[first + node] += weight * rest;
                }
            }
        }
        for row in 0..x.len() {
            x[row] = (x[row] - dot_product(&self.factor[row][..row], &x[..row])) * self.factor[row][row];
        }
        for row in (0..x.len()).rev() {
            x[row] *= self.factor[row][row];
            let own = x[row];
            for (x, factor) in x[..row].iter_mut().zip(&self.factor[row]) {
                *x -= factor * own;
            }
        }
        for (first, out) in self.first.iter().zip(out.chunks_mut(self.knots)) {
            let Some(first) = first else { continue };
            for (knot, out) in out.iter_mut().enumerate() {
                for (node, weight) in self.weights(knot) {
                    *out += weight * x[first + node];
                }
            }
        }
    }
}

/// Adds a multiple of the outer product of two vectors.
fn rank_one(out: &mut [f64], one: &[f64], two: &[f64], scale: f64) {
    for (row, one) in out.chunks_mut(two.len()).zip(one) {
        for (out, two) in row.iter_mut().zip(two) {
            *out += scale * one * two;
        }
    }
}
