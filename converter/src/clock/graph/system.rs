//! The normal equations of the graph fit: the weighted least-squares problem for given weights.
//!
//! The unknowns, in microseconds, are a correction per knot of each domain but the first, and the
//! smallest delay of each edge. The delays are eliminated: for given corrections, two equations have
//! the delays of an edge and of its reverse edge as their solution. The matrix of the remaining
//! unknowns is never built.
//! It depends only on differences between two domains, so the observations of all edges between two
//! domains are summed by knot.

use std::ops::Range;

use super::shape::{EdgeTerm, Observation, ReverseEdge, SystemShape};

/// The edges between two domains, and sums over their observations: weights times products of
/// `1 - fraction` and `fraction`.
#[derive(Clone, Debug)]
pub(crate) struct DomainPair {
    /// Observations of edges in this direction count positively, those of edges back negatively.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) edges: Range<usize>,
    /// The matrix for the difference between the two domains: by knot, its diagonal and the
    /// elements next to it.
    pub(crate) diagonal: Vec<f64>,
    pub(crate) off_diagonal: Vec<f64>,
    /// By knot: the sum of weights times apparent latencies.
    latencies: Vec<f64>,
}

impl DomainPair {
    /// The correction of `to` minus that of `from`, by knot.
    fn difference(&self, x: &[f64], out: &mut [f64]) {
        let knots = out.len();
        let (from, to) = (&x[self.from * knots..][..knots], &x[self.to * knots..][..knots]);
        for ((out, from), to) in out.iter_mut().zip(from).zip(to) {
            *out = to - from;
        }
    }

    /// Adds a vector for the difference to `to`, and subtracts it from `from`.
    fn add(&self, difference: &[f64], out: &mut [f64]) {
        let knots = difference.len();
        out[self.to * knots..][..knots].iter_mut().zip(difference).for_each(|(out, value)| *out += value);
        out[self.from * knots..][..knots].iter_mut().zip(difference).for_each(|(out, value)| *out -= value);
    }

    /// The matrix times a difference.
    fn apply(&self, x: &[f64], out: &mut [f64]) {
        let last = x.len() - 1;
        for ((out, x), diagonal) in out.iter_mut().zip(x).zip(&self.diagonal) {
            *out = x * diagonal;
        }
        for ((out, next), off_diagonal) in out[..last].iter_mut().zip(&x[1..]).zip(&self.off_diagonal) {
            *out += next * off_diagonal;
        }
        for ((out, before), off_diagonal) in out[1..].iter_mut().zip(&x[..last]).zip(&self.off_diagonal) {
            *out += before * off_diagonal;
        }
    }
}

/// The problem for given weights.
pub(crate) struct NormalEquations<'s> {
    pub(crate) shape: SystemShape<'s>,
    pub(crate) pairs: Vec<DomainPair>,
    /// By edge: 1 if its direction is that of its pair, or -1.
    signs: Vec<f64>,
    /// By edge and knot: the weights that couple the correction to the delay.
    pub(crate) coupling: Vec<f64>,
    /// By edge: the sum of weights.
    weights: Vec<f64>,
    /// By edge: the sum of weights times apparent latencies.
    latencies: Vec<f64>,
    /// Delays with a fixed value, microseconds.
    pinned_offsets: Vec<Option<f64>>,
}

/// Memory for the products of a [`NormalEquations`].
pub(crate) struct ProductBuffers {
    /// By edge.
    force: Vec<f64>,
    delays: Vec<f64>,
    /// By knot.
    difference: Vec<f64>,
    product: Vec<f64>,
}

impl<'s> NormalEquations<'s> {
    /// O(observations + edges × knots).
    pub(crate) fn new(shape: SystemShape<'s>, weights: &[f64], pinned_offsets: Vec<Option<f64>>) -> Self {
        let (edges, knots) = (shape.edges.len(), shape.knots);
        let mut pairs: Vec<DomainPair> = Vec::new();
        let mut signs = Vec::with_capacity(edges);
        let mut of_edge = Vec::with_capacity(edges);
        for (number, &EdgeTerm { from, to, .. }) in shape.edges.iter().enumerate() {
            let is_same =
                |pair: &DomainPair| (pair.from.min(pair.to), pair.from.max(pair.to)) == (from.min(to), from.max(to));
            if !pairs.last().is_some_and(is_same) {
                let empty = || vec![0.0; knots];
                let (diagonal, off_diagonal, latencies) = (empty(), empty(), empty());
                pairs.push(DomainPair { from, to, edges: number..number, diagonal, off_diagonal, latencies });
            }
            let pair = pairs.len() - 1;
            pairs[pair].edges.end = number + 1;
            signs.push(if pairs[pair].from == from { 1.0 } else { -1.0 });
            of_edge.push(pair);
        }
        let (mut sums, mut latencies) = (vec![1e-9; edges], vec![0.0; edges]);
        let mut coupling = vec![0.0; edges * knots];
        for (observation, &weight) in shape.observations.iter().zip(weights) {
            let &Observation { edge, knot, fraction, .. } = observation;
            let (edge, knot) = (edge as usize, knot as usize);
            let (pair, latency) = (&mut pairs[of_edge[edge]], signs[edge] * observation.apparent_latency);
            let (left_weight, right_weight) = (weight * (1.0 - fraction), weight * fraction);
            pair.diagonal[knot] += left_weight * (1.0 - fraction);
            pair.diagonal[knot + 1] += right_weight * fraction;
            pair.off_diagonal[knot] += left_weight * fraction;
            pair.latencies[knot] += left_weight * latency;
            pair.latencies[knot + 1] += right_weight * latency;
            coupling[edge * knots + knot] += left_weight;
            coupling[edge * knots + knot + 1] += right_weight;
            sums[edge] += weight;
            latencies[edge] += weight * observation.apparent_latency;
        }
        Self { shape, pairs, signs, coupling, weights: sums, latencies, pinned_offsets }
    }

    pub(crate) fn buffers(&self) -> ProductBuffers {
        let (edges, knots) = (vec![0.0; self.signs.len()], vec![0.0; self.shape.knots]);
        ProductBuffers { force: edges.clone(), delays: edges, difference: knots.clone(), product: knots }
    }

    /// The weights that couple the corrections to the delay of an edge, by knot.
    pub(crate) fn coupling_of(&self, edge: usize) -> &[f64] {
        &self.coupling[edge * self.shape.knots..][..self.shape.knots]
    }

    pub(crate) fn is_held(&self, edge: usize) -> bool {
        self.pinned_offsets[edge].is_some()
    }

    /// The delays that balance these forces. 0 for pinned delays. O(edges).
    fn balance_delays(&self, force: &[f64], out: &mut [f64]) {
        for edge in 0..force.len() {
            out[edge] = match self.reverse_edge(edge) {
                _ if self.is_held(edge) => 0.0,
                None => force[edge] / self.stiffness(edge),
                Some(ReverseEdge { edge: back, symmetry }) => {
                    let (forth, back_stiffness) = (self.stiffness(edge), self.stiffness(back));
                    (force[edge] * back_stiffness + force[back] * symmetry)
                        / (forth * back_stiffness - symmetry * symmetry)
                }
            };
        }
    }

    /// The edge back, if its delay is not pinned.
    pub(crate) fn reverse_edge(&self, edge: usize) -> Option<ReverseEdge> {
        self.shape.edges[edge].reverse_edge.filter(|back| !self.is_held(back.edge))
    }

    /// The stiffness of a delay: the weight of its observations and assumptions.
    pub(crate) fn stiffness(&self, edge: usize) -> f64 {
        let term = &self.shape.edges[edge];
        self.weights[edge] + term.delay_weight + term.reverse_edge.map_or(0.0, |back| back.symmetry)
    }

    /// The forces on the delays if all corrections are 0.
    fn rest_force(&self) -> Vec<f64> {
        let pinned = |back: usize| self.pinned_offsets[back].unwrap_or(0.0);
        let force = |edge: usize| {
            let tie = self.shape.edges[edge].reverse_edge.map_or(0.0, |back| back.symmetry * pinned(back.edge));
            self.latencies[edge] + tie
        };
        (0..self.latencies.len()).map(force).collect()
    }

    /// The delays for given corrections, microseconds.
    pub(crate) fn delays(&self, x: &[f64]) -> Vec<f64> {
        let mut force = self.rest_force();
        let mut difference = vec![0.0; self.shape.knots];
        for pair in &self.pairs {
            pair.difference(x, &mut difference);
            self.pull(pair, &difference, |edge, pull| force[edge] += pull);
        }
        let mut delays = vec![0.0; force.len()];
        self.balance_delays(&force, &mut delays);
        delays.iter().zip(&self.pinned_offsets).map(|(delay, pinned)| pinned.unwrap_or(*delay)).collect()
    }

    /// For each delay of a pair: the additional force from a difference of corrections.
    fn pull(&self, pair: &DomainPair, difference: &[f64], mut add_term: impl FnMut(usize, f64)) {
        for edge in pair.edges.clone() {
            add_term(edge, self.signs[edge] * dot_product(self.coupling_of(edge), difference));
        }
    }

    pub(crate) fn apply_constraints(&self, x: &mut [f64]) {
        for (corrections, is_free) in x.chunks_mut(self.shape.knots).zip(self.shape.is_free) {
            if !is_free {
                corrections.fill(0.0);
            }
        }
    }

    /// The matrix times a vector. O(edges × knots).
    pub(crate) fn apply(&self, x: &[f64], out: &mut [f64], buffers: &mut ProductBuffers) {
        out.fill(0.0);
        let ProductBuffers { force, delays, difference, product } = buffers;
        for pair in &self.pairs {
            pair.difference(x, difference);
            self.pull(pair, difference, |edge, pull| force[edge] = pull);
            pair.apply(difference, product);
            pair.add(product, out);
        }
        self.balance_delays(force, delays);
        self.push(delays, -1.0, product, out);
        for (x, out) in x.chunks(self.shape.knots).zip(out.chunks_mut(self.shape.knots)) {
            self.shape.prior.apply(x, out);
        }
        self.apply_constraints(out);
    }

    /// Adds the effect of delays on the corrections. `by_knot` is memory for the sums of a pair.
    fn push(&self, delays: &[f64], sign: f64, by_knot: &mut [f64], out: &mut [f64]) {
        for pair in &self.pairs {
            by_knot.fill(0.0);
            for edge in pair.edges.clone() {
                let amount = sign * self.signs[edge] * delays[edge];
                by_knot.iter_mut().zip(self.coupling_of(edge)).for_each(|(sum, coupling)| *sum += amount * coupling);
            }
            pair.add(by_knot, out);
        }
    }

    pub(crate) fn residual(&self, x: &[f64], buffers: &mut ProductBuffers) -> Vec<f64> {
        let mut residual = vec![0.0; x.len()];
        self.apply(x, &mut residual, buffers);
        residual.iter_mut().for_each(|residual| *residual = -*residual);
        let delays_of_zero: Vec<f64> = self.delays(&vec![0.0; x.len()]);
        self.push(&delays_of_zero, 1.0, &mut buffers.product, &mut residual);
        for pair in &self.pairs {
            buffers.product.iter_mut().zip(&pair.latencies).for_each(|(out, latency)| *out = -latency);
            pair.add(&buffers.product, &mut residual);
        }
        self.apply_constraints(&mut residual);
        residual
    }
}

/// The product of two vectors. Several sums are computed at once, because a single sum would wait
/// for each of its additions.
pub(crate) fn dot_product(a: &[f64], b: &[f64]) -> f64 {
    const SUMS: usize = 8;
    let (mut a, mut b) = (a.chunks_exact(SUMS), b.chunks_exact(SUMS));
    let mut sums = [0.0; SUMS];
    for (a, b) in a.by_ref().zip(b.by_ref()) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}
