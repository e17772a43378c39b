//! The weighted least-squares problem of the graph fit, and its solution by conjugate gradients.
//!
//! Unknown are, in microseconds, a correction per knot of each domain but the first, and the least delay of each edge. The
//! matrix is never built: each observation touches five unknowns. The preconditioner solves each domain's own part (its
//! data and its smoothness) by a Cholesky factorisation of bandwidth 2.

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

/// The problem for given weights.
#[derive(Debug)]
pub(crate) struct System<'s> {
    pub(crate) domains: usize,
    pub(crate) knots: usize,
    pub(crate) edges: &'s [EdgeTerm],
    pub(crate) observations: &'s [Observation],
    pub(crate) weights: &'s [f64],
    pub(crate) prior: Prior,
    /// Delays that are held where they are.
    pub(crate) pinned: &'s [bool],
    /// Domains that have corrections; the others are what they are.
    pub(crate) is_free: &'s [bool],
}

/// The change at which the solver stops, microseconds.
const PRECISION: f64 = 1e-6;
/// Most steps of the solver.
const MAX_STEPS: usize = 400;

impl System<'_> {
    /// Number of unknowns: knots of all domains (those of the first are held at 0), then delays.
    pub(crate) fn size(&self) -> usize {
        self.domains * self.knots + self.edges.len()
    }

    fn delay(&self, edge: usize) -> usize {
        self.domains * self.knots + edge
    }

    /// What an observation says of the unknowns: its residual is `took` plus this.
    pub(crate) fn predicted(&self, observation: &Observation, x: &[f64]) -> f64 {
        let Observation { edge, knot, part, .. } = *observation;
        let edge = edge as usize;
        let at = |domain: usize| {
            let first = domain * self.knots + knot as usize;
            x[first] + (x[first + 1] - x[first]) * part
        };
        at(self.edges[edge].to) - at(self.edges[edge].from) - x[self.delay(edge)]
    }

    fn spread(&self, observation: &Observation, amount: f64, out: &mut [f64]) {
        let Observation { edge, knot, part, .. } = *observation;
        let term = &self.edges[edge as usize];
        for (domain, amount) in [(term.to, amount), (term.from, -amount)] {
            let first = domain * self.knots + knot as usize;
            out[first] += amount * (1.0 - part);
            out[first + 1] += amount * part;
        }
        out[self.delay(edge as usize)] -= amount;
    }

    fn is_held(&self, unknown: usize) -> bool {
        let knots = self.domains * self.knots;
        if unknown >= knots { self.pinned[unknown - knots] } else { !self.is_free[unknown / self.knots] }
    }

    fn hold(&self, x: &mut [f64]) {
        for (unknown, x) in x.iter_mut().enumerate() {
            if self.is_held(unknown) {
                *x = 0.0;
            }
        }
    }

    /// The matrix times a vector. O(observations + unknowns).
    fn apply(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (observation, weight) in self.observations.iter().zip(self.weights) {
            let amount = weight * self.predicted(observation, x);
            self.spread(observation, amount, out);
        }
        for domain in 0..self.domains {
            let first = domain * self.knots;
            let (x, out) = (&x[first..first + self.knots], &mut out[first..first + self.knots]);
            for at in 1..self.knots - 1 {
                let bend = self.prior.smooth * (x[at - 1] - 2.0 * x[at] + x[at + 1]);
                out[at - 1] += bend;
                out[at] -= 2.0 * bend;
                out[at + 1] += bend;
            }
            let ends = self.prior.ends * (x[self.knots - 1] - x[0]);
            out[self.knots - 1] += ends;
            out[0] -= ends;
        }
        for (number, edge) in self.edges.iter().enumerate() {
            let here = self.delay(number);
            out[here] += edge.alone * x[here];
            if let Some((back, alike)) = edge.back {
                out[here] += alike * (x[here] - x[self.delay(back)]);
            }
        }
        self.hold(out);
    }

    /// Improves `x`: preconditioned conjugate gradients until a step is below [`PRECISION`].
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let preconditioner = Preconditioner::new(self);
        let size = self.size();
        // What is left: observed minus predicted by x, and what x says of the prior.
        let mut rest = vec![0.0; size];
        self.apply(x, &mut rest);
        rest.iter_mut().for_each(|rest| *rest = -*rest);
        for (observation, weight) in self.observations.iter().zip(self.weights) {
            self.spread(observation, -weight * observation.took, &mut rest);
        }
        self.hold(&mut rest);
        let (mut better, mut image) = (vec![0.0; size], vec![0.0; size]);
        preconditioner.apply(self, &rest, &mut better);
        let mut direction = better.clone();
        let mut product = dot(&rest, &better);
        for _ in 0..MAX_STEPS {
            if better.iter().all(|better| better.abs() < PRECISION) {
                break;
            }
            self.apply(&direction, &mut image);
            let step = product / dot(&direction, &image);
            if !step.is_finite() {
                break;
            }
            for at in 0..size {
                x[at] += step * direction[at];
                rest[at] -= step * image[at];
            }
            preconditioner.apply(self, &rest, &mut better);
            let next = dot(&rest, &better);
            let turn = next / product;
            product = next;
            for at in 0..size {
                direction[at] = better[at] + turn * direction[at];
            }
        }
    }
}

/// Factors of each domain's own part of the matrix: diagonal, and two below it.
struct Preconditioner {
    bands: Vec<[f64; 3]>,
    delays: Vec<f64>,
}

impl Preconditioner {
    fn new(system: &System<'_>) -> Self {
        let knots = system.knots;
        let mut bands = vec![[1e-9, 0.0, 0.0]; system.domains * knots];
        let mut delays: Vec<f64> =
            system.edges.iter().map(|edge| 1e-9 + edge.alone + edge.back.map_or(0.0, |(_, alike)| alike)).collect();
        for (observation, weight) in system.observations.iter().zip(system.weights) {
            let Observation { edge, knot, part, .. } = *observation;
            let edge = edge as usize;
            delays[edge] += weight;
            for domain in [system.edges[edge].from, system.edges[edge].to] {
                let first = domain * knots + knot as usize;
                bands[first][0] += weight * (1.0 - part) * (1.0 - part);
                bands[first + 1][0] += weight * part * part;
                bands[first + 1][1] += weight * part * (1.0 - part);
            }
        }
        for own in bands.chunks_mut(knots) {
            for at in 1..knots - 1 {
                let smooth = system.prior.smooth;
                own[at - 1][0] += smooth;
                own[at][0] += 4.0 * smooth;
                own[at + 1][0] += smooth;
                own[at][1] -= 2.0 * smooth;
                own[at + 1][1] -= 2.0 * smooth;
                own[at + 1][2] += smooth;
            }
            own[0][0] += system.prior.ends;
            own[knots - 1][0] += system.prior.ends;
            factorise(own);
        }
        Self { bands, delays }
    }

    fn apply(&self, system: &System<'_>, rest: &[f64], out: &mut [f64]) {
        out.copy_from_slice(rest);
        let knots = system.domains * system.knots;
        for (own, out) in self.bands.chunks(system.knots).zip(out[..knots].chunks_mut(system.knots)) {
            substitute(own, out);
        }
        for (out, delay) in out[knots..].iter_mut().zip(&self.delays) {
            *out /= delay;
        }
        system.hold(out);
    }
}

/// Cholesky's factor of a symmetric matrix with two bands below the diagonal, in place: row i holds (i,i), (i,i-1), (i,i-2).
fn factorise(rows: &mut [[f64; 3]]) {
    for at in 0..rows.len() {
        let [mut diagonal, mut one, mut two] = rows[at];
        if at >= 2 {
            two /= rows[at - 2][0];
            one -= two * rows[at - 1][1];
        }
        if at >= 1 {
            one /= rows[at - 1][0];
        }
        diagonal = (diagonal - one * one - two * two).max(1e-12).sqrt();
        rows[at] = [diagonal, one, two];
    }
}

/// Solves with the factor, forwards and backwards.
fn substitute(rows: &[[f64; 3]], x: &mut [f64]) {
    for at in 0..x.len() {
        let one = if at >= 1 { rows[at][1] * x[at - 1] } else { 0.0 };
        let two = if at >= 2 { rows[at][2] * x[at - 2] } else { 0.0 };
        x[at] = (x[at] - one - two) / rows[at][0];
    }
    for at in (0..x.len()).rev() {
        let one = if at + 1 < x.len() { rows[at + 1][1] * x[at + 1] } else { 0.0 };
        let two = if at + 2 < x.len() { rows[at + 2][2] * x[at + 2] } else { 0.0 };
        x[at] = (x[at] - one - two) / rows[at][0];
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banded_system_is_solved() {
        // Rows of a symmetric matrix: 4 on the diagonal, -1 beside it, 0.5 two beside it.
        let mut rows = vec![[4.0, -1.0, 0.5]; 6];
        rows[0] = [4.0, 0.0, 0.0];
        rows[1] = [4.0, -1.0, 0.0];
        let wanted = [1.0, -2.0, 3.0, 0.5, 0.0, 7.0];
        let at = |a: i32, b: i32| match (a - b).abs() {
            0 => 4.0,
            1 => -1.0,
            2 => 0.5,
            _ => 0.0,
        };
        let mut x: Vec<f64> =
            (0..6).map(|a| (0..6).map(|b| at(a, b) * wanted[usize::try_from(b).unwrap()]).sum()).collect();
        factorise(&mut rows);
        substitute(&rows, &mut x);
        for (x, wanted) in x.iter().zip(wanted) {
            assert!((x - wanted).abs() < 1e-12, "{x} {wanted}");
        }
    }

    #[test]
    fn two_clocks_meet_in_the_middle() {
        // Clock 1 is 3 us ahead at the first knot and 5 us at the last; the network takes 2 us each way.
        let edges = [
            EdgeTerm { from: 0, to: 1, back: Some((1, 100.0)), alone: 0.0 },
            EdgeTerm { from: 1, to: 0, back: Some((0, 100.0)), alone: 0.0 },
        ];
        let mut observations = Vec::new();
        for step in 0..=20u32 {
            let place = f64::from(step) / 20.0 * 3.0;
            let knot = (place.floor() as u32).min(2);
            let ahead = 3.0 + 2.0 * place / 3.0;
            for (edge, took) in [(0, 2.0 + ahead), (1, 2.0 - ahead)] {
                observations.push(Observation { edge, knot, part: place - f64::from(knot), took });
            }
        }
        let weights = vec![100.0; observations.len()];
        let system = System {
            domains: 2,
            knots: 4,
            edges: &edges,
            observations: &observations,
            weights: &weights,
            prior: Prior { smooth: 1.0, ends: 0.0 },
            pinned: &[false; 2],
            is_free: &[false, true],
        };
        let mut x = vec![0.0; system.size()];
        system.solve(&mut x);
        let wanted = [0.0, 0.0, 0.0, 0.0, -3.0, -3.0 - 2.0 / 3.0, -3.0 - 4.0 / 3.0, -5.0, 2.0, 2.0];
        for (x, wanted) in x.iter().zip(wanted) {
            assert!((x - wanted).abs() < 1e-4, "{x} {wanted}");
        }
    }
}
