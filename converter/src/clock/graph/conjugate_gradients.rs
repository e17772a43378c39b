//! The solution of the graph fit's normal equations by preconditioned conjugate gradients.

use super::band_factors::BandFactors;
use super::coarse_space::CoarseSpace;
use super::system::{NormalEquations, dot_product};

/// Maximum number of steps of the solver.
const MAX_STEPS: usize = 400;

/// Improves `x` by preconditioned conjugate gradients, until a step is below `precision`
/// microseconds. `coarse_space` may come from a system with other weights.
pub(crate) fn solve(system: &NormalEquations<'_>, x: &mut [f64], precision: f64, coarse_space: &CoarseSpace) {
    let bands = BandFactors::new(system);
    let size = x.len();
    let mut buffers = system.buffers();
    let mut residual = system.residual(x, &mut buffers);
    let (mut preconditioned, mut image) = (vec![0.0; size], vec![0.0; size]);
    let precondition = |residual: &[f64], out: &mut [f64]| {
        bands.apply(residual, out);
        coarse_space.add(residual, out);
        system.apply_constraints(out);
    };
    precondition(&residual, &mut preconditioned);
    let mut direction = preconditioned.clone();
    let mut product = dot_product(&residual, &preconditioned);
    for _ in 0..MAX_STEPS {
        if preconditioned.iter().all(|value| value.abs() < precision) {
            break;
        }
        system.apply(&direction, &mut image, &mut buffers);
        let step = product / dot_product(&direction, &image);
        if !step.is_finite() {
            break;
        }
        for index in 0..size {
            x[index] += step * direction[index];
            residual[index] -= step * image[index];
        }
        precondition(&residual, &mut preconditioned);
        let next = dot_product(&residual, &preconditioned);
        let conjugation = next / product;
        product = next;
        for index in 0..size {
            direction[index] = preconditioned[index] + conjugation * direction[index];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::graph::shape::{EdgeTerm, FitPrior, Observation, ReverseEdge, SystemShape};

    #[test]
    fn two_clocks_meet_in_the_middle() {
        // Clock 1 is 3 us ahead at the first knot and 5 us at the last. The network takes 2 us each
        // way.
        let back = |edge: usize| Some(ReverseEdge { edge, symmetry: 100.0 });
        let edges = [
            EdgeTerm { from: 0, to: 1, reverse_edge: back(1), delay_weight: 0.0 },
            EdgeTerm { from: 1, to: 0, reverse_edge: back(0), delay_weight: 0.0 },
        ];
        let mut observations = Vec::new();
        for (edge, sign) in [(0, 1.0), (1, -1.0)] {
            for step in 0..=20u32 {
                let position = f64::from(step) / 20.0 * 3.0;
                let knot = (position.floor() as u32).min(2);
                let lead = 3.0 + 2.0 * position / 3.0;
                observations.push(Observation {
                    edge,
                    knot,
                    fraction: position - f64::from(knot),
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
            prior: FitPrior { smoothness: 1.0, ends: 0.0 },
            is_free: &[false, true],
        };
        let expected = [0.0, 0.0, 0.0, 0.0, -3.0, -3.0 - 2.0 / 3.0, -3.0 - 4.0 / 3.0, -5.0];
        for (pinned, delays) in [([None; 2], [2.0; 2]), ([Some(2.0), None], [2.0; 2])] {
            let system = NormalEquations::new(shape, &weights, pinned.to_vec());
            let mut x = vec![0.0; 8];
            solve(&system, &mut x, 1e-6, &CoarseSpace::new(&system));
            for (x, expected) in x.iter().zip(expected).chain(system.delays(&x).iter().zip(delays)) {
                assert!((x - expected).abs() < 1e-4, "{x} {expected}");
            }
        }
    }
}
