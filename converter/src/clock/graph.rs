//! The graph fit: how each clock wandered about its line, from all pairs at once.
//!
//! Each domain has a correction at equidistant knots, each edge a least delay. A message can be late but never early, so
//! residuals are weighted one-sidedly and robustly (iteratively reweighted least squares); what holds the solution together
//! is that opposite delays are alike and that frequencies wander slowly. How slowly is found by prediction: a fifth of the
//! observations is held out, and the slowest wander that predicts them well is taken.

mod coarse;
mod precondition;
mod system;
mod ties;

use super::min_delays::{Class, Edge};
use coarse::Coarse;
use system::{EdgeTerm, Observation, Prior, Shape, System};
use ties::Ties;

/// Wanders that are tried, per square root of a second.
const WANDERS: [f64; 8] = [1e-9, 3e-9, 1e-8, 3e-8, 1e-7, 3e-7, 1e-6, 3e-6];
/// A residual that is lost in noise, microseconds.
const NOISE: f64 = 0.06;
/// Least delay of a message, microseconds.
const LEAST_DELAY: f64 = 0.05;
/// From which lateness on a message counts little, iteration by iteration, microseconds: a poor start is then not fatal.
const LATENESS: [f64; 9] = [1e4, 1e4, 1e3, 1e3, 300.0, 100.0, 100.0, 30.0, 30.0];
/// Iterations after those.
const MORE: usize = 30;
/// The fit is done when no correction moves farther, microseconds.
const STILL: f64 = 0.004;
/// Up to this iteration weights change so much that a rough solution will do,
const ROUGH: usize = 6;
/// with steps of the solver down to this, microseconds,
const ROUGH_PRECISION: f64 = 1e-3;
/// and afterwards down to this part of what the iteration before moved,
const INEXACT: f64 = 1e-3;
/// but not below this.
const PRECISION: f64 = 1e-6;
/// The preconditioner for all domains together is computed anew every so many iterations: weights change little.
const COARSE_EVERY: usize = 4;
/// So many iterations after the last bound on lateness the ties are what they are.
const SETTLED: usize = 8;
/// Knots are not held together more closely than this, in one over microseconds squared: 0.3 ns in a run so short that clocks cannot wander.
/// More, and rounding would eat up what the messages say.
const STIFF: f64 = 1e7;
/// One observation in so many is held out.
const HELD_OUT: usize = 5;

/// What a fit found.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    /// By domain and knot, what has to be added to its dates, nanoseconds.
    pub(crate) corrections: Vec<Vec<f64>>,
    /// The wander of the clocks, per square root of a second.
    pub(crate) wander: f64,
    /// By edge, the sizes of the residuals of its points, nanoseconds.
    pub(crate) residuals: Vec<Vec<f64>>,
}

/// The parts of a fit that do not change.
struct Problem<'p> {
    edges: &'p [Edge],
    ties: Ties<'p>,
    is_free: &'p [bool],
    seconds: f64,
    noise: f64,
    floor: f64,
}

/// Corrections at knots, and delays; microseconds.
#[derive(Clone)]
struct Solution {
    knots: usize,
    x: Vec<f64>,
    delays: Vec<f64>,
}

/// Fits corrections of the free domains to edges whose dates are off by milliseconds at most. `tick` is the coarsest clock's, nanoseconds;
/// `wander`, where it is known from an earlier fit, is not searched below a third of it.
///
/// O(observations × steps of the solver), independent of the number of messages.
pub(crate) fn fit(edges: &[Edge], is_free: &[bool], span: f64, tick: f64, wander: Option<f64>) -> Fit {
    let seconds = span * 1e-9;
    let tick = tick * 1e-3;
    let noise = NOISE.max(tick / 4.0);
    let problem = Problem { edges, ties: Ties::new(edges), is_free, seconds, noise, floor: LEAST_DELAY - tick };
    let knots = |sw: f64| {
        // Between knots a clock that wanders so departs little from a line.
        let wanted = seconds / (60e-9 / (0.3 * sw)).powf(2.0 / 3.0);
        match wander {
            None => count(wanted.min(seconds / 5.0), 8, 64),
            Some(_) => count(wanted, 6, 256),
        }
    };
    let first = wander.map_or(0, |known| WANDERS.iter().position(|sw| *sw >= known / 3.5).unwrap_or(0));
    let (mut best, mut best_score) = (first, None);
    let mut start: Option<Solution> = None;
    for (at, &sw) in WANDERS.iter().enumerate().skip(first) {
        let solution = problem.solve(knots(sw), sw, start.as_ref(), true);
        let score = problem.score(&solution);
        start = Some(solution);
        if best_score.is_none_or(|best| score.is_better(best)) {
            (best, best_score) = (at, Some(score));
        } else if at >= best + 2 {
            break;
        }
    }
    let sw = WANDERS[best];
    let solution = problem.solve(knots(sw), sw, start.as_ref(), false);
    problem.found(&solution, sw)
}

fn count(wanted: f64, least: usize, most: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped first")]
    let wanted = wanted.clamp(0.0, 1e6) as usize;
    (wanted + 1).clamp(least, most)
}

/// How well a fit predicts the observations that were held out.
#[derive(Clone, Copy, Debug)]
struct Score {
    /// The mean over these observations, at most 1: near 1 for one that is predicted within the noise, negative for a message
    /// that seems too early.
    hits: f64,
    /// The median size of their residuals, microseconds.
    median: f64,
}

impl Score {
    /// Whether a larger wander predicts better than the best one before. If neither predicts within the noise, as with few
    /// messages between clocks whose rates change, the residuals tell.
    fn is_better(self, best: Self) -> bool {
        let hopeless = self.hits < 0.0 && best.hits < 0.0;
        self.hits > best.hits + 0.03 * best.hits.abs().max(0.01) || (hopeless && self.median < best.median * 0.8)
    }
}

impl Problem<'_> {
    fn observations(&self, knots: usize) -> Vec<Observation> {
        let mut observations = Vec::new();
        for (number, edge) in self.edges.iter().enumerate() {
            for point in &edge.points {
                #[expect(clippy::cast_precision_loss, reason = "at most 256")]
                let last = (knots - 1) as f64;
                let place = (point.sent * 1e-9 / self.seconds * last).clamp(0.0, last);
                let knot = place.floor().min(last - 1.0);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
                observations.push(Observation {
                    edge: number as u32,
                    knot: knot as u32,
                    part: place - knot,
                    took: point.took * 1e-3,
                });
            }
        }
        observations
    }

    /// Whether an observation is held out for scoring.
    fn held_out(&self, number: usize, observation: &Observation) -> bool {
        number % HELD_OUT == HELD_OUT / 2 && self.edges[observation.edge as usize].class == Class::Message
    }

    fn solve(&self, knots: usize, sw: f64, start: Option<&Solution>, hold_out: bool) -> Solution {
        let observations = self.observations(knots);
        let mut solution = self.begin(knots, start);
        let step = self.seconds / (knots as f64 - 1.0);
        let wander = sw * 1e6;
        let prior = Prior {
            smooth: (1.5 / (wander * wander * step.powi(3))).min(STIFF),
            ends: 1.0 / (50.0 * self.seconds).powi(2),
        };
        let mut pinned = vec![false; self.edges.len()];
        let mut weights = vec![0.0; observations.len()];
        let (mut coarse, mut moved): (Option<Coarse>, f64) = (None, 0.0);
        let mut terms = self.ties.terms(&solution.delays);
        // A start that an earlier fit gave is near.
        let skip = if start.is_some() { LATENESS.len() - 2 } else { 0 };
        // What is only scored need not be exact.
        let more = if hold_out { MORE / 4 } else { MORE };
        for iteration in skip..LATENESS.len() + more {
            let shape = self.shape(knots, &terms, &observations, prior);
            let mut pull = vec![0.0; self.edges.len()];
            for (number, (observation, weight)) in observations.iter().zip(&mut weights).enumerate() {
                let left = shape.residual(observation, &solution.x, &solution.delays);
                let class = self.edges[observation.edge as usize].class;
                *weight = self.weight(left, LATENESS.get(iteration).copied(), class);
                if hold_out && self.held_out(number, observation) {
                    *weight = 0.0;
                }
                pull[observation.edge as usize] += *weight * left;
            }
            for (pinned, pull) in pinned.iter_mut().zip(pull) {
                *pinned &= pull <= 0.0;
            }
            let before = solution.x.clone();
            let floors = pinned.iter().map(|is_pinned| is_pinned.then_some(self.floor)).collect();
            let system = System::new(shape, &weights, floors);
            if coarse.is_none() || iteration % COARSE_EVERY == 0 {
                coarse = Some(Coarse::new(&system));
            }
            let precision = if iteration < ROUGH { ROUGH_PRECISION } else { moved * INEXACT };
            if let Some(coarse) = &coarse {
                system.solve(&mut solution.x, precision.clamp(PRECISION, ROUGH_PRECISION), coarse);
            }
            solution.delays = system.delays(&solution.x);
            for (delay, pinned) in solution.delays.iter_mut().zip(&mut pinned) {
                if *delay < self.floor {
                    *delay = self.floor;
                    *pinned = true;
                }
            }
            // In the end the ties stay, so that the fit does.
            if iteration < LATENESS.len() + SETTLED {
                terms = self.ties.terms(&solution.delays);
            }
            moved = before.iter().zip(&solution.x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if iteration >= LATENESS.len() && moved < STILL {
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
        prior: Prior,
    ) -> Shape<'s> {
        Shape { domains: self.is_free.len(), knots, edges, observations, prior, is_free: self.is_free }
    }

    /// What each observation leaves, microseconds.
    fn residuals(&self, solution: &Solution, observations: &[Observation]) -> Vec<f64> {
        let terms = self.ties.terms(&solution.delays);
        let shape = self.shape(solution.knots, &terms, observations, Prior { smooth: 0.0, ends: 0.0 });
        observations.iter().map(|one| shape.residual(one, &solution.x, &solution.delays)).collect()
    }

    /// An earlier solution on these knots, or nothing.
    fn begin(&self, knots: usize, start: Option<&Solution>) -> Solution {
        let domains = self.is_free.len();
        let mut x = vec![0.0; domains * knots];
        let Some(start) = start else {
            return Solution { knots, x, delays: self.ties.guesses() };
        };
        for (domain, own) in x.chunks_mut(knots).enumerate() {
            let old = &start.x[domain * start.knots..(domain + 1) * start.knots];
            for (at, x) in own.iter_mut().enumerate() {
                *x = interpolate(old, at as f64 / (knots as f64 - 1.0));
            }
        }
        Solution { knots, x, delays: start.delays.clone() }
    }

    /// What a residual counts: impossible ones (early) fully, late ones less the later they are. A sample is the fastest of a burst, made for
    /// this and seldom late: it is not given up for messages that disagree.
    fn weight(&self, left: f64, lateness: Option<f64>, class: Class) -> f64 {
        let size = left.abs();
        match lateness {
            _ if left < 0.0 => 1.0 / (self.noise * (size + self.noise)),
            None if class == Class::Sync => 0.3 / (self.noise * (size + self.noise)),
            Some(far) => 0.08 / (1.0 + (size / far).powi(2)) / (self.noise * (size + self.noise)),
            None => 0.3 / (self.noise * self.noise + 4.0 * size * size),
        }
    }

    /// How well the held-out observations are predicted.
    fn score(&self, solution: &Solution) -> Score {
        let observations = self.observations(solution.knots);
        let mut sum = 0.0;
        let mut sizes = Vec::new();
        for (number, left) in self.residuals(solution, &observations).into_iter().enumerate() {
            if self.held_out(number, &observations[number]) {
                sum += 1.0 / (1.0 + (left / (2.5 * self.noise)).powi(2));
                sum -= if left < -4.0 * self.noise { 2.0 } else { 0.0 };
                sizes.push(left.abs());
            }
        }
        let count = sizes.len();
        if count == 0 {
            return Score { hits: 0.0, median: 0.0 };
        }
        let (_, median, _) = sizes.select_nth_unstable_by(count / 2, f64::total_cmp);
        Score { hits: sum / count as f64, median: *median }
    }

    fn found(&self, solution: &Solution, wander: f64) -> Fit {
        let observations = self.observations(solution.knots);
        let mut residuals = vec![Vec::new(); self.edges.len()];
        for (left, observation) in self.residuals(solution, &observations).into_iter().zip(&observations) {
            residuals[observation.edge as usize].push(left.abs() * 1e3);
        }
        let nanos = |x: &[f64]| x.iter().map(|x| x * 1e3).collect::<Vec<f64>>();
        let corrections = solution.x.chunks(solution.knots).map(nanos).collect();
        Fit { corrections, wander, residuals }
    }
}

/// The value at a place from 0 to 1 between equidistant knots.
pub(crate) fn interpolate(knots: &[f64], place: f64) -> f64 {
    let last = (knots.len() - 1) as f64;
    let place = (place * last).clamp(0.0, last);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let at = (place as usize).min(knots.len().saturating_sub(2));
    let next = knots.get(at + 1).copied().unwrap_or(knots[at]);
    knots[at] + (next - knots[at]) * (place - at as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::min_delays::Point;

    #[test]
    fn quiet_clocks_need_few_knots_in_the_first_round() {
        // A message each second takes 2 us, or up to 5 us more, between two clocks that agree.
        let edge = |from: usize, to: usize| {
            let point = |second: usize| Point {
                sent: second as f64 * 1e9,
                took: 2000.0 + (second * (7 + from) % 11) as f64 * 500.0,
            };
            Edge { from, to, class: Class::Message, points: (0..300).map(point).collect(), count: 300 }
        };
        let fit = fit(&[edge(0, 1), edge(1, 0)], &[false, true], 300e9, 1.0, None);
        assert_eq!(fit.wander, WANDERS[0]);
        assert!(fit.corrections[1].len() < 16, "{} knots", fit.corrections[1].len());
    }
}
