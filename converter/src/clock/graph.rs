//! The graph fit: the deviation of each clock from its line, from all pairs at once.
//!
//! Each domain has corrections at equidistant knots, and each edge has a smallest delay. A message
//! can be late but never early, so residuals are weighted one-sidedly and robustly (iteratively
//! reweighted least squares). Two assumptions determine the solution: opposite delays are alike,
//! and the rate of a clock is a slow random walk. Its standard deviation over a second is called
//! the wander, as in NTP. The wander is found by prediction. A fifth of the observations is held
//! out, and the smallest wander that predicts them well is used.

mod band_factors;
mod coarse_space;
mod conjugate_gradients;
mod shape;
mod system;
mod ties;

use super::min_delays::{DelayClass, FastestMessages};
use coarse_space::CoarseSpace;
use conjugate_gradients::solve;
use shape::{EdgeTerm, FitPrior, MIN_DELAY, Observation, SystemShape};
use system::NormalEquations;
use ties::RoundTripTies;

/// Wanders that are tried, per square root of a second.
const WANDERS: [f64; 8] = [1e-9, 3e-9, 1e-8, 3e-8, 1e-7, 3e-7, 1e-6, 3e-6];
/// Residuals of this size are noise, microseconds.
const NOISE: f64 = 0.06;
/// Lateness above which a message has little weight, by iteration, microseconds. The decreasing
/// values make a poor start harmless.
const LATENESS: [f64; 9] = [1e4, 1e4, 1e3, 1e3, 300.0, 100.0, 100.0, 30.0, 30.0];
/// Maximum number of further iterations.
const MORE: usize = 30;
/// The fit ends when all corrections change by less than this, microseconds.
const STILL: f64 = 0.004;
/// Before this iteration, the solution is rough, because weights still change much.
const ROUGH: usize = 6;
/// Precision of a rough solution: the solver stops at steps of this size, microseconds.
const ROUGH_PRECISION: f64 = 1e-3;
/// Later precision, as a fraction of the largest change of a correction in the previous iteration.
const INEXACT: f64 = 1e-3;
/// Smallest value of this precision, microseconds.
const PRECISION: f64 = 1e-6;
/// The preconditioner for all domains together is recomputed every `COARSE_EVERY` iterations,
/// because weights change little.
const COARSE_EVERY: usize = 4;
/// Number of iterations after those of [`LATENESS`] until the ties are final.
const SETTLED: usize = 8;
/// Maximum weight of smoothness between knots, in 1/us². It corresponds to 0.3 ns, in a run so
/// short that clocks cannot wander. With more, rounding errors would exceed the effect of messages.
const STIFF: f64 = 1e7;
/// One in `HELD_OUT` observations is held out.
const HELD_OUT: usize = 5;

/// The result of a fit.
#[derive(Clone, Debug)]
pub(crate) struct GraphFit {
    /// By domain and knot: the correction that is added to timestamps, nanoseconds.
    pub(crate) corrections: Vec<Vec<f64>>,
    /// The wander of the clocks, per square root of a second.
    pub(crate) wander: f64,
    /// By edge: the absolute residuals of its points, nanoseconds.
    pub(crate) residuals: Vec<Vec<f64>>,
}

/// The constant parts of a fit.
struct FitProblem<'p> {
    edges: &'p [FastestMessages],
    ties: RoundTripTies<'p>,
    is_free: &'p [bool],
    seconds: f64,
    noise: f64,
    floor: f64,
}

/// Corrections at knots, and delays, in microseconds.
#[derive(Clone)]
struct FitSolution {
    knots: usize,
    x: Vec<f64>,
    delays: Vec<f64>,
}

/// Fits corrections of the free domains. The errors of the edges' timestamps are at most
/// milliseconds.
///
/// `tick` is the resolution of the coarsest clock, nanoseconds. `wander` is the result of an
/// earlier fit, if there is one. Values below about a third of it are not tried. O(observations ×
/// steps of the solver), independent of the number of messages.
pub(crate) fn fit(edges: &[FastestMessages], is_free: &[bool], span: f64, tick: f64, wander: Option<f64>) -> GraphFit {
    let seconds = span * 1e-9;
    let tick = tick * 1e-3;
    let noise = NOISE.max(tick / 4.0);
    let problem =
        FitProblem { edges, ties: RoundTripTies::new(edges), is_free, seconds, noise, floor: MIN_DELAY - tick };
    let knots = |candidate: f64| {
        // Between these knots, a clock with this wander departs little from a line.
        let ideal = seconds / (60e-9 / (0.3 * candidate)).powf(2.0 / 3.0);
        match wander {
            None => count(ideal.min(seconds / 5.0), 8, 64),
            Some(_) => count(ideal, 6, 256),
        }
    };
    let first = wander.map_or(0, |earlier| WANDERS.iter().position(|value| *value >= earlier / 3.5).unwrap_or(0));
    let (mut best_fit, mut best_score) = (first, None);
    let mut start: Option<FitSolution> = None;
    for (index, &candidate) in WANDERS.iter().enumerate().skip(first) {
        let solution = problem.solve(knots(candidate), candidate, start.as_ref(), true);
        let score = problem.score(&solution);
        start = Some(solution);
        if best_score.is_none_or(|best| score.is_better(best)) {
            (best_fit, best_score) = (index, Some(score));
        } else if index >= best_fit + 2 {
            break;
        }
    }
    let best_wander = WANDERS[best_fit];
    let solution = problem.solve(knots(best_wander), best_wander, start.as_ref(), false);
    problem.graph_fit(&solution, best_wander)
}

fn count(ideal: f64, min: usize, max: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped first")]
    let ideal = ideal.clamp(0.0, 1e6) as usize;
    (ideal + 1).clamp(min, max)
}

/// The quality of a fit's prediction of the held-out observations.
#[derive(Clone, Copy, Debug)]
struct FitScore {
    /// The mean score of these observations, at most 1. The score is near 1 for an observation that
    /// is predicted within the noise, and negative for a message that seems too early.
    hits: f64,
    /// The median absolute residual of these observations, microseconds.
    median: f64,
}

impl FitScore {
    /// Whether this wander predicts better than the best smaller one. If neither predicts within
    /// the noise, as with few messages between clocks with changing rates, the residuals decide.
    fn is_better(self, best_path: Self) -> bool {
        let neither_hits = self.hits < 0.0 && best_path.hits < 0.0;
        self.hits > best_path.hits + 0.03 * best_path.hits.abs().max(0.01)
            || (neither_hits && self.median < best_path.median * 0.8)
    }
}

impl FitProblem<'_> {
    fn observations(&self, knots: usize) -> Vec<Observation> {
        let mut observations = Vec::new();
        for (number, edge) in self.edges.iter().enumerate() {
            for point in &edge.points {
                #[expect(clippy::cast_precision_loss, reason = "at most 256")]
                let last = (knots - 1) as f64;
                let position = (point.send_time * 1e-9 / self.seconds * last).clamp(0.0, last);
                let knot = position.floor().min(last - 1.0);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
                observations.push(Observation {
                    edge: number as u32,
                    knot: knot as u32,
                    fraction: position - knot,
                    apparent_latency: point.transfer_time * 1e-3,
                });
            }
        }
        observations
    }

    /// Whether an observation is held out for scoring.
    fn held_out(&self, number: usize, observation: &Observation) -> bool {
        number % HELD_OUT == HELD_OUT / 2 && self.edges[observation.edge as usize].class == DelayClass::Message
    }

    fn solve(&self, knots: usize, wander: f64, start: Option<&FitSolution>, hold_out: bool) -> FitSolution {
        let observations = self.observations(knots);
        let mut solution = self.begin(knots, start);
        let step = self.seconds / (knots as f64 - 1.0);
        let micros = wander * 1e6;
        let prior = FitPrior {
            smoothness: (1.5 / (micros * micros * step.powi(3))).min(STIFF),
            ends: 1.0 / (50.0 * self.seconds).powi(2),
        };
        let mut pinned = vec![false; self.edges.len()];
        let mut weights = vec![0.0; observations.len()];
        let (mut coarse_space, mut change): (Option<CoarseSpace>, f64) = (None, 0.0);
        let mut terms = self.ties.terms(&solution.delays);
        // A start from an earlier fit is close to the solution.
        let skip = if start.is_some() { LATENESS.len() - 2 } else { 0 };
        // A solution that is only scored need not be exact.
        let factor = if hold_out { MORE / 4 } else { MORE };
        for iteration in skip..LATENESS.len() + factor {
            let shape = self.shape(knots, &terms, &observations, prior);
            let mut pull = vec![0.0; self.edges.len()];
            for (number, (observation, weight)) in observations.iter().zip(&mut weights).enumerate() {
                let residual = shape.residual(observation, &solution.x, &solution.delays);
                let class = self.edges[observation.edge as usize].class;
                *weight = self.weight(residual, LATENESS.get(iteration).copied(), class);
                if hold_out && self.held_out(number, observation) {
                    *weight = 0.0;
                }
                pull[observation.edge as usize] += *weight * residual;
            }
            for (pinned, pull) in pinned.iter_mut().zip(pull) {
                *pinned &= pull <= 0.0;
            }
            let old_x = solution.x.clone();
            let floors = pinned.iter().map(|is_pinned| is_pinned.then_some(self.floor)).collect();
            let system = NormalEquations::new(shape, &weights, floors);
            if coarse_space.is_none() || iteration % COARSE_EVERY == 0 {
                coarse_space = Some(CoarseSpace::new(&system));
            }
            let precision = if iteration < ROUGH { ROUGH_PRECISION } else { change * INEXACT };
            if let Some(coarse_space) = &coarse_space {
                solve(&system, &mut solution.x, precision.clamp(PRECISION, ROUGH_PRECISION), coarse_space);
            }
            solution.delays = system.delays(&solution.x);
            for (delay, pinned) in solution.delays.iter_mut().zip(&mut pinned) {
                if *delay < self.floor {
                    *delay = self.floor;
                    *pinned = true;
                }
            }
            // Finally the ties stay constant, so that the fit converges.
            if iteration < LATENESS.len() + SETTLED {
                terms = self.ties.terms(&solution.delays);
            }
            change = old_x.iter().zip(&solution.x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if iteration >= LATENESS.len() && change < STILL {
                break;
            }
        }
        solution
    }

    fn shape<'s>(
        &'s self,
        knots: usize,
        edges: &'s [EdgeTerm],
        observations: &'s [Observation],
        prior: FitPrior,
    ) -> SystemShape<'s> {
        SystemShape { domains: self.is_free.len(), knots, edges, observations, prior, is_free: self.is_free }
    }

    /// The residual of each observation, microseconds.
    fn residuals(&self, solution: &FitSolution, observations: &[Observation]) -> Vec<f64> {
        let terms = self.ties.terms(&solution.delays);
        let shape = self.shape(solution.knots, &terms, observations, FitPrior { smoothness: 0.0, ends: 0.0 });
        observations.iter().map(|observation| shape.residual(observation, &solution.x, &solution.delays)).collect()
    }

    /// An earlier solution interpolated to these knots, or zero corrections.
    fn begin(&self, knots: usize, start: Option<&FitSolution>) -> FitSolution {
        let domains = self.is_free.len();
        let mut x = vec![0.0; domains * knots];
        let Some(start) = start else {
            return FitSolution { knots, x, delays: self.ties.guesses() };
        };
        for (domain, corrections) in x.chunks_mut(knots).enumerate() {
            let earlier = &start.x[domain * start.knots..(domain + 1) * start.knots];
            for (index, x) in corrections.iter_mut().enumerate() {
                *x = interpolate(earlier, index as f64 / (knots as f64 - 1.0));
            }
        }
        FitSolution { knots, x, delays: start.delays.clone() }
    }

    /// The weight of a residual. Impossible residuals (early messages) have full weight. The later
    /// a message, the smaller its weight. A sample is the fastest exchange of a burst and seldom
    /// late, so contradicting messages do not reduce its weight.
    fn weight(&self, residual: f64, lateness: Option<f64>, class: DelayClass) -> f64 {
        let size = residual.abs();
        match lateness {
            _ if residual < 0.0 => 1.0 / (self.noise * (size + self.noise)),
            None if class == DelayClass::Sync => 0.3 / (self.noise * (size + self.noise)),
            Some(far) => 0.08 / (1.0 + (size / far).powi(2)) / (self.noise * (size + self.noise)),
            None => 0.3 / (self.noise * self.noise + 4.0 * size * size),
        }
    }

    /// The quality of the prediction of the held-out observations.
    fn score(&self, solution: &FitSolution) -> FitScore {
        let observations = self.observations(solution.knots);
        let mut sum = 0.0;
        let mut sizes = Vec::new();
        for (number, residual) in self.residuals(solution, &observations).into_iter().enumerate() {
            if self.held_out(number, &observations[number]) {
                sum += 1.0 / (1.0 + (residual / (2.5 * self.noise)).powi(2));
                sum -= if residual < -4.0 * self.noise { 2.0 } else { 0.0 };
                sizes.push(residual.abs());
            }
        }
        let count = sizes.len();
        if count == 0 {
            return FitScore { hits: 0.0, median: 0.0 };
        }
        let (_, median, _) = sizes.select_nth_unstable_by(count / 2, f64::total_cmp);
        FitScore { hits: sum / count as f64, median: *median }
    }

    fn graph_fit(&self, solution: &FitSolution, wander: f64) -> GraphFit {
        let observations = self.observations(solution.knots);
        let mut residuals = vec![Vec::new(); self.edges.len()];
        for (residual, observation) in self.residuals(solution, &observations).into_iter().zip(&observations) {
            residuals[observation.edge as usize].push(residual.abs() * 1e3);
        }
        let nanos = |x: &[f64]| x.iter().map(|x| x * 1e3).collect::<Vec<f64>>();
        let corrections = solution.x.chunks(solution.knots).map(nanos).collect();
        GraphFit { corrections, wander, residuals }
    }
}

/// The value at a place from 0 to 1 between equidistant knots.
pub(crate) fn interpolate(knots: &[f64], fraction: f64) -> f64 {
    let last = (knots.len() - 1) as f64;
    let position = (fraction * last).clamp(0.0, last);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let knot = (position as usize).min(knots.len().saturating_sub(2));
    let next = knots.get(knot + 1).copied().unwrap_or(knots[knot]);
    knots[knot] + (next - knots[knot]) * (position - knot as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::min_delays::MessagePoint;

    #[test]
    fn quiet_clocks_need_few_knots_in_the_first_round() {
        // A message each second takes 2 to 7 us between two clocks that agree.
        let edge = |from: usize, to: usize| {
            let point = |second: usize| MessagePoint {
                send_time: second as f64 * 1e9,
                transfer_time: 2000.0 + (second * (7 + from) % 11) as f64 * 500.0,
            };
            FastestMessages { from, to, class: DelayClass::Message, points: (0..300).map(point).collect(), count: 300 }
        };
        let fit = fit(&[edge(0, 1), edge(1, 0)], &[false, true], 300e9, 1.0, None);
        assert_eq!(fit.wander, WANDERS[0]);
        assert!(fit.corrections[1].len() < 16, "{} knots", fit.corrections[1].len());
    }
}
