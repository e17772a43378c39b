//! The weighted least-squares problem of the graph fit, and its solution by conjugate gradients.
//!
//! - Domain: processes that share a clock.
//! - Edge: messages from one domain to another, of one class. The edge back has the messages in the
//!   other direction.
//! - Knot: a support point in time, at which each domain has a correction.
//!
//! The unknowns, in microseconds, are a correction per knot of each domain but the first, and the
//! smallest delay of each edge. The delays are eliminated: for given corrections, those of an edge
//! and of the edge back solve two equations. The matrix of the remaining unknowns is never built.
//! It depends only on differences between two domains, so the observations of all edges between two
//! domains are summed by knot.

use std::ops::Range;

use super::band_factors::BandFactors;
use super::coarse_space::CoarseSpace;

/// An observation of an edge: a message at a time between two knots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation {
    pub(crate) edge: u32,
    /// The last knot before the message.
    pub(crate) knot: u32,
    /// The position of the message between this knot and the next, 0 to 1.
    pub(crate) fraction: f64,
    /// The apparent latency of the message, microseconds.
    pub(crate) apparent_latency: f64,
}

/// An edge of the fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeTerm {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The edge back, and the weight of the symmetry assumption: one over the variance of the
    /// difference of the two delays.
    pub(crate) back: Option<(usize, f64)>,
    /// For an edge without an edge back: the weight of the delay itself, one over its variance.
    pub(crate) delay_weight: f64,
}

/// Assumptions that do not depend on observations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FitPrior {
    /// One over the variance of a second difference of corrections, because clocks are smooth.
    pub(crate) smooth: f64,
    /// One over the variance of the difference between the last correction and the first.
    pub(crate) ends: f64,
}

impl FitPrior {
    /// Adds the prior's matrix times the corrections of a domain.
    pub(crate) fn apply(self, x: &[f64], out: &mut [f64]) {
        let last = x.len() - 1;
        for at in 1..last {
            let bend = self.smooth * (x[at - 1] - 2.0 * x[at] + x[at + 1]);
            out[at - 1] += bend;
            out[at] -= 2.0 * bend;
            out[at + 1] += bend;
        }
        let ends = self.ends * (x[last] - x[0]);
        out[last] += ends;
        out[0] -= ends;
    }
}

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
    fn add(&self, own: &[f64], out: &mut [f64]) {
        let knots = own.len();
        out[self.to * knots..][..knots].iter_mut().zip(own).for_each(|(out, own)| *out += own);
        out[self.from * knots..][..knots].iter_mut().zip(own).for_each(|(out, own)| *out -= own);
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

/// The parts of the problem that do not depend on weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemShape<'s> {
    pub(crate) domains: usize,
    pub(crate) knots: usize,
    pub(crate) edges: &'s [EdgeTerm],
    /// Sorted by edge, then by knot.
    pub(crate) observations: &'s [Observation],
    pub(crate) prior: FitPrior,
    /// The domains with corrections. The other domains keep their timestamps.
    pub(crate) is_free: &'s [bool],
}

impl SystemShape<'_> {
    /// The residual of an observation, microseconds. Positive if the message was late.
    pub(crate) fn residual(&self, observation: &Observation, x: &[f64], delays: &[f64]) -> f64 {
        let Observation { edge, knot, fraction, apparent_latency } = *observation;
        let edge = edge as usize;
        let at = |domain: usize| {
            let first = domain * self.knots + knot as usize;
            x[first] + (x[first + 1] - x[first]) * fraction
        };
        apparent_latency + at(self.edges[edge].to) - at(self.edges[edge].from) - delays[edge]
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
    pinned: Vec<Option<f64>>,
}

/// Memory for the products of a [`NormalEquations`].
struct ProductBuffers {
    /// By edge.
    force: Vec<f64>,
    delays: Vec<f64>,
    /// By knot.
    difference: Vec<f64>,
    own: Vec<f64>,
}

/// Maximum number of steps of the solver.
const MAX_STEPS: usize = 400;

impl<'s> NormalEquations<'s> {
    /// O(observations + edges × knots).
    pub(crate) fn new(shape: SystemShape<'s>, weights: &[f64], pinned: Vec<Option<f64>>) -> Self {
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
            let (pair, seen) = (&mut pairs[of_edge[edge]], signs[edge] * observation.apparent_latency);
            let (one, two) = (weight * (1.0 - fraction), weight * fraction);
            pair.diagonal[knot] += one * (1.0 - fraction);
            pair.diagonal[knot + 1] += two * fraction;
            pair.off_diagonal[knot] += one * fraction;
            pair.latencies[knot] += one * seen;
            pair.latencies[knot + 1] += two * seen;
            coupling[edge * knots + knot] += one;
            coupling[edge * knots + knot + 1] += two;
            sums[edge] += weight;
            latencies[edge] += weight * observation.apparent_latency;
        }
        Self { shape, pairs, signs, coupling, weights: sums, latencies, pinned }
    }

    fn buffers(&self) -> ProductBuffers {
        let (edges, knots) = (vec![0.0; self.signs.len()], vec![0.0; self.shape.knots]);
        ProductBuffers { force: edges.clone(), delays: edges, difference: knots.clone(), own: knots }
    }

    /// The weights that couple the corrections to the delay of an edge, by knot.
    pub(crate) fn coupling_of(&self, edge: usize) -> &[f64] {
        &self.coupling[edge * self.shape.knots..][..self.shape.knots]
    }

    pub(crate) fn is_held(&self, edge: usize) -> bool {
        self.pinned[edge].is_some()
    }

    /// The delays that balance these forces. 0 for pinned delays. O(edges).
    fn balance_delays(&self, force: &[f64], out: &mut [f64]) {
        for edge in 0..force.len() {
            out[edge] = match self.reverse_edge(edge) {
                _ if self.is_held(edge) => 0.0,
                None => force[edge] / self.stiffness(edge),
                Some((back, alike)) => {
                    let (one, two) = (self.stiffness(edge), self.stiffness(back));
                    (force[edge] * two + force[back] * alike) / (one * two - alike * alike)
                }
            };
        }
    }

    /// The edge back and the weight of the symmetry assumption, if its delay is not pinned.
    pub(crate) fn reverse_edge(&self, edge: usize) -> Option<(usize, f64)> {
        self.shape.edges[edge].back.filter(|(back, _)| !self.is_held(*back))
    }

    /// The stiffness of a delay: the weight of its observations and assumptions.
    pub(crate) fn stiffness(&self, edge: usize) -> f64 {
        let term = &self.shape.edges[edge];
        self.weights[edge] + term.delay_weight + term.back.map_or(0.0, |(_, alike)| alike)
    }

    /// The forces on the delays if all corrections are 0.
    fn rest_force(&self) -> Vec<f64> {
        let pinned = |back: usize| self.pinned[back].unwrap_or(0.0);
        let force = |edge: usize| {
            let tie = self.shape.edges[edge].back.map_or(0.0, |(back, alike)| alike * pinned(back));
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
        delays.iter().zip(&self.pinned).map(|(delay, pinned)| pinned.unwrap_or(*delay)).collect()
    }

    /// For each delay of a pair: the additional force from a difference of corrections.
    fn pull(&self, pair: &DomainPair, difference: &[f64], mut add: impl FnMut(usize, f64)) {
        for edge in pair.edges.clone() {
            add(edge, self.signs[edge] * dot_product(self.coupling_of(edge), difference));
        }
    }

    fn apply_constraints(&self, x: &mut [f64]) {
        for (own, is_free) in x.chunks_mut(self.shape.knots).zip(self.shape.is_free) {
            if !is_free {
                own.fill(0.0);
            }
        }
    }

    /// The matrix times a vector. O(edges × knots).
    fn apply(&self, x: &[f64], out: &mut [f64], buffers: &mut ProductBuffers) {
        out.fill(0.0);
        let ProductBuffers { force, delays, difference, own } = buffers;
        for pair in &self.pairs {
            pair.difference(x, difference);
            self.pull(pair, difference, |edge, pull| force[edge] = pull);
            pair.apply(difference, own);
            pair.add(own, out);
        }
        self.balance_delays(force, delays);
        self.push(delays, -1.0, own, out);
        for (x, out) in x.chunks(self.shape.knots).zip(out.chunks_mut(self.shape.knots)) {
            self.shape.prior.apply(x, out);
        }
        self.apply_constraints(out);
    }

    /// Adds the effect of delays on the corrections.
    fn push(&self, delays: &[f64], sign: f64, own: &mut [f64], out: &mut [f64]) {
        for pair in &self.pairs {
            own.fill(0.0);
            for edge in pair.edges.clone() {
                let amount = sign * self.signs[edge] * delays[edge];
                own.iter_mut().zip(self.coupling_of(edge)).for_each(|(own, coupling)| *own += amount * coupling);
            }
            pair.add(own, out);
        }
    }

    /// The residual of the equations at `x`.
    fn rest(&self, x: &[f64], buffers: &mut ProductBuffers) -> Vec<f64> {
        let mut rest = vec![0.0; x.len()];
        self.apply(x, &mut rest, buffers);
        rest.iter_mut().for_each(|rest| *rest = -*rest);
        let without: Vec<f64> = self.delays(&vec![0.0; x.len()]);
        self.push(&without, 1.0, &mut buffers.own, &mut rest);
        for pair in &self.pairs {
            buffers.own.iter_mut().zip(&pair.latencies).for_each(|(own, latency)| *own = -latency);
            pair.add(&buffers.own, &mut rest);
        }
        self.apply_constraints(&mut rest);
        rest
    }

    /// Improves `x` by preconditioned conjugate gradients, until a step is below `precision`
    /// microseconds. `coarse` may come from a system with other weights.
    pub(crate) fn solve(&self, x: &mut [f64], precision: f64, coarse: &CoarseSpace) {
        let bands = BandFactors::new(self);
        let size = x.len();
        let mut buffers = self.buffers();
        let mut rest = self.rest(x, &mut buffers);
        let (mut better, mut image) = (vec![0.0; size], vec![0.0; size]);
        let precondition = |rest: &[f64], better: &mut [f64]| {
            bands.apply(rest, better);
            coarse.add(rest, better);
            self.apply_constraints(better);
        };
        precondition(&rest, &mut better);
        let mut direction = better.clone();
        let mut product = dot_product(&rest, &better);
        for _ in 0..MAX_STEPS {
            if better.iter().all(|better| better.abs() < precision) {
                break;
            }
            self.apply(&direction, &mut image, &mut buffers);
            let step = product / dot_product(&direction, &image);
            if !step.is_finite() {
                break;
            }
            for at in 0..size {
                x[at] += step * direction[at];
                rest[at] -= step * image[at];
            }
            precondition(&rest, &mut better);
            let next = dot_product(&rest, &better);
            let turn = next / product;
            product = next;
            for at in 0..size {
                direction[at] = better[at] + turn * direction[at];
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clocks_meet_in_the_middle() {
        // Clock 1 is 3 us ahead at the first knot and 5 us at the last. The network takes 2 us each
        // way.
        let edges = [
            EdgeTerm { from: 0, to: 1, back: Some((1, 100.0)), delay_weight: 0.0 },
            EdgeTerm { from: 1, to: 0, back: Some((0, 100.0)), delay_weight: 0.0 },
        ];
        let mut observations = Vec::new();
        for (edge, sign) in [(0, 1.0), (1, -1.0)] {
            for step in 0..=20u32 {
                let place = f64::from(step) / 20.0 * 3.0;
                let knot = (place.floor() as u32).min(2);
                let lead = 3.0 + 2.0 * place / 3.0;
                observations.push(Observation {
                    edge,
                    knot,
                    fraction: place - f64::from(knot),
                    apparent_latency: 2.0 + sign * lead,
                });
            }
        }
        let weights = vec![100.0; observations.len()];
        let shape = SystemShape {
            domains: 2,
            knots: 4,
            edges: &edges,
            observations: &observations,
            prior: FitPrior { smooth: 1.0, ends: 0.0 },
            is_free: &[false, true],
        };
        let expected = [0.0, 0.0, 0.0, 0.0, -3.0, -3.0 - 2.0 / 3.0, -3.0 - 4.0 / 3.0, -5.0];
        for (pinned, delays) in [([None; 2], [2.0; 2]), ([Some(2.0), None], [2.0; 2])] {
            let system = NormalEquations::new(shape, &weights, pinned.to_vec());
            let mut x = vec![0.0; 8];
            system.solve(&mut x, 1e-6, &CoarseSpace::new(&system));
            for (x, expected) in x.iter().zip(expected).chain(system.delays(&x).iter().zip(delays)) {
                assert!((x - expected).abs() < 1e-4, "{x} {expected}");
            }
        }
    }
}
