//! The weighted least-squares problem of the graph fit, and its solution by conjugate gradients.
//!
//! Unknown are, in microseconds, a correction per knot of each domain but the first, and the least delay of each edge. The delays are
//! eliminated: for given corrections, those of an edge and of the edge back solve two equations. The matrix of the rest is never built;
//! observations of an edge between the same two knots are one *cell*.

use std::ops::Range;

use super::coarse::Coarse;
use super::precondition::Bands;

/// An observation: seen on an edge at a place between two knots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation {
    pub(crate) edge: u32,
    /// The knot before.
    pub(crate) knot: u32,
    /// How far towards the next knot, 0 to 1.
    pub(crate) part: f64,
    /// What the message seemed to take, microseconds.
    pub(crate) took: f64,
}

/// An edge of the fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeTerm {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The edge back, and how alike the two delays are: one over the variance of their difference.
    pub(crate) back: Option<(usize, f64)>,
    /// One over the variance of the delay itself, for edges without one back.
    pub(crate) alone: f64,
}

/// What is known before any observation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prior {
    /// One over the variance of a second difference of corrections: clocks are smooth.
    pub(crate) smooth: f64,
    /// One over the variance of the difference between the last correction and the first.
    pub(crate) ends: f64,
}

impl Prior {
    /// Adds the prior's matrix times the corrections of a domain.
    pub(super) fn apply(self, x: &[f64], out: &mut [f64]) {
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

/// The observations of an edge between two knots: sums of their weights times products of 1, `1 - part` and `part`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) knot: usize,
    /// The matrix of the two knots: (first, first), (first, second), (second, second).
    pub(super) own: [f64; 3],
    /// The knots and the delay.
    pub(super) delay: [f64; 2],
    /// The knots and what was observed.
    took: [f64; 2],
}

/// What is fixed for all weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'s> {
    pub(crate) domains: usize,
    pub(crate) knots: usize,
    pub(crate) edges: &'s [EdgeTerm],
    /// By edge, then by knot.
    pub(crate) observations: &'s [Observation],
    pub(crate) prior: Prior,
    /// Domains that have corrections; the others are what they are.
    pub(crate) is_free: &'s [bool],
}

impl Shape<'_> {
    /// What an observation leaves: positive if the message was late.
    pub(crate) fn residual(&self, observation: &Observation, x: &[f64], delays: &[f64]) -> f64 {
        let Observation { edge, knot, part, took } = *observation;
        let edge = edge as usize;
        let at = |domain: usize| {
            let first = domain * self.knots + knot as usize;
            x[first] + (x[first + 1] - x[first]) * part
        };
        took + at(self.edges[edge].to) - at(self.edges[edge].from) - delays[edge]
    }
}

/// The problem for given weights.
pub(crate) struct System<'s> {
    pub(super) shape: Shape<'s>,
    /// By edge.
    pub(super) cells: Vec<Cell>,
    pub(super) ranges: Vec<Range<usize>>,
    /// By edge, the sum of weights, and of weights times what was observed.
    weights: Vec<f64>,
    took: Vec<f64>,
    /// Delays that are held where they are.
    pinned: Vec<Option<f64>>,
}

/// Most steps of the solver.
const MAX_STEPS: usize = 400;

impl<'s> System<'s> {
    /// O(observations).
    pub(crate) fn new(shape: Shape<'s>, weights: &[f64], pinned: Vec<Option<f64>>) -> Self {
        let edges = shape.edges.len();
        let (mut cells, mut ranges) = (Vec::<Cell>::new(), Vec::new());
        let (mut sums, mut took) = (vec![1e-9; edges], vec![0.0; edges]);
        let mut at = 0;
        for edge in 0..edges {
            let first = cells.len();
            while let Some(observation) = shape.observations.get(at).filter(|one| one.edge as usize == edge) {
                let (knot, part, weight) = (observation.knot as usize, observation.part, weights[at]);
                at += 1;
                if cells.len() == first || cells[cells.len() - 1].knot != knot {
                    cells.push(Cell { knot, ..Cell::default() });
                }
                let last = cells.len() - 1;
                let cell = &mut cells[last];
                let (one, two) = (weight * (1.0 - part), weight * part);
                cell.own[0] += one * (1.0 - part);
                cell.own[1] += one * part;
                cell.own[2] += two * part;
                cell.delay[0] += one;
                cell.delay[1] += two;
                cell.took[0] += one * observation.took;
                cell.took[1] += two * observation.took;
                sums[edge] += weight;
                took[edge] += weight * observation.took;
            }
            ranges.push(first..cells.len());
        }
        Self { shape, cells, ranges, weights: sums, took, pinned }
    }

    pub(super) fn is_held(&self, edge: usize) -> bool {
        self.pinned[edge].is_some()
    }

    /// The delays that balance these forces on them; 0 where they are held. O(edges).
    fn balanced(&self, force: &[f64], out: &mut [f64]) {
        for edge in 0..force.len() {
            out[edge] = match self.coupled(edge) {
                _ if self.is_held(edge) => 0.0,
                None => force[edge] / self.stiffness(edge),
                Some((back, alike)) => {
                    let (one, two) = (self.stiffness(edge), self.stiffness(back));
                    (force[edge] * two + force[back] * alike) / (one * two - alike * alike)
                }
            };
        }
    }

    /// The edge back, if its delay is not held, and how alike the two are.
    pub(super) fn coupled(&self, edge: usize) -> Option<(usize, f64)> {
        self.shape.edges[edge].back.filter(|(back, _)| !self.is_held(*back))
    }

    /// How firmly the observations and ties hold a delay.
    pub(super) fn stiffness(&self, edge: usize) -> f64 {
        let term = &self.shape.edges[edge];
        self.weights[edge] + term.alone + term.back.map_or(0.0, |(_, alike)| alike)
    }

    /// Forces on the delays for no corrections.
    fn rest_force(&self) -> Vec<f64> {
        let pinned = |back: usize| self.pinned[back].unwrap_or(0.0);
        let force = |edge: usize| {
            let tie = self.shape.edges[edge].back.map_or(0.0, |(back, alike)| alike * pinned(back));
            self.took[edge] + tie
        };
        (0..self.took.len()).map(force).collect()
    }

    /// Delays of given corrections.
    pub(crate) fn delays(&self, x: &[f64]) -> Vec<f64> {
        let mut force = self.rest_force();
        for (edge, force) in force.iter_mut().enumerate() {
            *force += self.pull(edge, x);
        }
        let mut delays = vec![0.0; force.len()];
        self.balanced(&force, &mut delays);
        delays.iter().zip(&self.pinned).map(|(delay, pinned)| pinned.unwrap_or(*delay)).collect()
    }

    /// What the corrections add to the force on the delay of an edge.
    fn pull(&self, edge: usize, x: &[f64]) -> f64 {
        let (from, to) = self.ends(edge);
        let cells = self.cells[self.ranges[edge].clone()].iter();
        cells
            .map(|cell| {
                let knot = cell.knot;
                cell.delay[0] * (x[to + knot] - x[from + knot])
                    + cell.delay[1] * (x[to + knot + 1] - x[from + knot + 1])
            })
            .sum()
    }

    fn ends(&self, edge: usize) -> (usize, usize) {
        let term = &self.shape.edges[edge];
        (term.from * self.shape.knots, term.to * self.shape.knots)
    }

    fn hold(&self, x: &mut [f64]) {
        for (own, is_free) in x.chunks_mut(self.shape.knots).zip(self.shape.is_free) {
            if !is_free {
                own.fill(0.0);
            }
        }
    }

    /// The matrix times a vector. O(cells + unknowns). `force` and `delays` are buffers, one number per edge.
    fn apply(&self, x: &[f64], out: &mut [f64], force: &mut [f64], delays: &mut [f64]) {
        out.fill(0.0);
        for (edge, force) in force.iter_mut().enumerate() {
            let (from, to) = self.ends(edge);
            let mut sum = 0.0;
            for Cell { knot, own, delay, .. } in &self.cells[self.ranges[edge].clone()] {
                let (from, to) = (from + knot, to + knot);
                let (one, two) = (x[to] - x[from], x[to + 1] - x[from + 1]);
                sum += delay[0] * one + delay[1] * two;
                let (first, second) = (own[0] * one + own[1] * two, own[1] * one + own[2] * two);
                out[to] += first;
                out[from] -= first;
                out[to + 1] += second;
                out[from + 1] -= second;
            }
            *force = sum;
        }
        self.balanced(force, delays);
        self.push(delays, -1.0, out);
        for (x, out) in x.chunks(self.shape.knots).zip(out.chunks_mut(self.shape.knots)) {
            self.shape.prior.apply(x, out);
        }
        self.hold(out);
    }

    /// Adds what delays do to the corrections.
    fn push(&self, delays: &[f64], sign: f64, out: &mut [f64]) {
        for (edge, delay) in delays.iter().enumerate() {
            let (from, to) = self.ends(edge);
            for cell in &self.cells[self.ranges[edge].clone()] {
                let (from, to) = (from + cell.knot, to + cell.knot);
                for next in 0..2 {
                    let amount = sign * cell.delay[next] * delay;
                    out[to + next] += amount;
                    out[from + next] -= amount;
                }
            }
        }
    }

    /// What is left of the equations at `x`.
    fn rest(&self, x: &[f64], force: &mut [f64], delays: &mut [f64]) -> Vec<f64> {
        let mut rest = vec![0.0; x.len()];
        self.apply(x, &mut rest, force, delays);
        rest.iter_mut().for_each(|rest| *rest = -*rest);
        let without: Vec<f64> = self.delays(&vec![0.0; x.len()]);
        self.push(&without, 1.0, &mut rest);
        for edge in 0..self.ranges.len() {
            let (from, to) = self.ends(edge);
            for cell in &self.cells[self.ranges[edge].clone()] {
                for (next, took) in cell.took.iter().enumerate() {
                    rest[to + cell.knot + next] -= took;
                    rest[from + cell.knot + next] += took;
                }
            }
        }
        self.hold(&mut rest);
        rest
    }

    /// Improves `x`: preconditioned conjugate gradients until a step is below `precision`, microseconds.
    pub(crate) fn solve(&self, x: &mut [f64], precision: f64) {
        let (bands, coarse) = (Bands::new(self), Coarse::new(self));
        let size = x.len();
        let (mut force, mut delays) = (vec![0.0; self.ranges.len()], vec![0.0; self.ranges.len()]);
        let mut rest = self.rest(x, &mut force, &mut delays);
        let (mut better, mut image) = (vec![0.0; size], vec![0.0; size]);
        let precondition = |rest: &[f64], better: &mut [f64]| {
            bands.apply(rest, better);
            coarse.add(rest, better);
            self.hold(better);
        };
        precondition(&rest, &mut better);
        let mut direction = better.clone();
        let mut product = dot(&rest, &better);
        for _ in 0..MAX_STEPS {
            if better.iter().all(|better| better.abs() < precision) {
                break;
            }
            self.apply(&direction, &mut image, &mut force, &mut delays);
            let step = product / dot(&direction, &image);
            if !step.is_finite() {
                break;
            }
            for at in 0..size {
                x[at] += step * direction[at];
                rest[at] -= step * image[at];
            }
            precondition(&rest, &mut better);
            let next = dot(&rest, &better);
            let turn = next / product;
            product = next;
            for at in 0..size {
                direction[at] = better[at] + turn * direction[at];
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clocks_meet_in_the_middle() {
        // Clock 1 is 3 us ahead at the first knot and 5 us at the last; the network takes 2 us each way.
        let edges = [
            EdgeTerm { from: 0, to: 1, back: Some((1, 100.0)), alone: 0.0 },
            EdgeTerm { from: 1, to: 0, back: Some((0, 100.0)), alone: 0.0 },
        ];
        let mut observations = Vec::new();
        for (edge, sign) in [(0, 1.0), (1, -1.0)] {
            for step in 0..=20u32 {
                let place = f64::from(step) / 20.0 * 3.0;
                let knot = (place.floor() as u32).min(2);
                let ahead = 3.0 + 2.0 * place / 3.0;
                observations.push(Observation { edge, knot, part: place - f64::from(knot), took: 2.0 + sign * ahead });
            }
        }
        let weights = vec![100.0; observations.len()];
        let shape = Shape {
            domains: 2,
            knots: 4,
            edges: &edges,
            observations: &observations,
            prior: Prior { smooth: 1.0, ends: 0.0 },
            is_free: &[false, true],
        };
        let wanted = [0.0, 0.0, 0.0, 0.0, -3.0, -3.0 - 2.0 / 3.0, -3.0 - 4.0 / 3.0, -5.0];
        for (pinned, delays) in [([None; 2], [2.0; 2]), ([Some(2.0), None], [2.0; 2])] {
            let system = System::new(shape, &weights, pinned.to_vec());
            let mut x = vec![0.0; 8];
            system.solve(&mut x, 1e-6);
            for (x, wanted) in x.iter().zip(wanted).chain(system.delays(&x).iter().zip(delays)) {
                assert!((x - wanted).abs() < 1e-4, "{x} {wanted}");
            }
        }
    }
}
