//! The graph fit: how each clock wandered about its line, from all pairs at once.
//!
//! Each domain has a correction at equidistant knots, each edge a least delay. A message can be late but never early, so
//! residuals are weighted one-sidedly and robustly (iteratively reweighted least squares); what holds the solution together
//! is that opposite delays are alike and that frequencies wander slowly. How slowly is found by prediction: a fifth of the
//! observations is held out, and the slowest wander that predicts them well is taken.

mod system;

use std::collections::BTreeMap;

use super::traffic::{Class, Edge, Point};
use system::{EdgeTerm, Observation, Prior, System};

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
    terms: Vec<EdgeTerm>,
    /// First guesses of the delays, microseconds.
    delays: Vec<f64>,
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
}

/// Fits corrections of the free domains to edges whose dates are off by milliseconds at most. `tick` is the coarsest clock's, nanoseconds;
/// `wander`, where it is known from an earlier fit, is not searched below a third of it.
///
/// O(observations × steps of the solver), independent of the number of messages.
pub(crate) fn fit(edges: &[Edge], is_free: &[bool], span: f64, tick: f64, wander: Option<f64>) -> Fit {
    let seconds = span * 1e-9;
    let tick = tick * 1e-3;
    let (terms, delays) = terms(edges);
    let noise = NOISE.max(tick / 4.0);
    let problem = Problem { edges, terms, delays, is_free, seconds, noise, floor: LEAST_DELAY - tick };
    let knots = |sw: f64| match wander {
        None => count(seconds / 5.0, 8, 64),
        Some(_) => count(seconds / (60e-9 / (0.3 * sw)).powf(2.0 / 3.0), 6, 256),
    };
    let first = wander.map_or(0, |known| WANDERS.iter().position(|sw| *sw >= known / 3.5).unwrap_or(0));
    let (mut best, mut best_score) = (first, f64::NEG_INFINITY);
    let mut start: Option<Solution> = None;
    for (at, &sw) in WANDERS.iter().enumerate().skip(first) {
        let solution = problem.solve(knots(sw), sw, start.as_ref(), true);
        let score = problem.score(&solution);
        start = Some(solution);
        if score > best_score + 0.03 * best_score.abs().max(0.01) || best_score == f64::NEG_INFINITY {
            (best, best_score) = (at, score);
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

/// The edges' ties, and first guesses of their delays: half of what the fastest round trips took.
fn terms(edges: &[Edge]) -> (Vec<EdgeTerm>, Vec<f64>) {
    let numbers: BTreeMap<(usize, usize, Class), usize> =
        edges.iter().enumerate().map(|(number, edge)| ((edge.from, edge.to, edge.class), number)).collect();
    let back = |edge: &Edge| numbers.get(&(edge.to, edge.from, edge.class)).copied();
    // The same both ways: the matrix of the fit is symmetric.
    let trip = |edge: &Edge| {
        let (forth, back) = (&edge.points, &edges[back(edge)?].points);
        Some(round_trip(forth, back).min(round_trip(back, forth)))
    };
    let trips: Vec<Option<f64>> = edges.iter().map(trip).collect();
    let median = |class: Option<Class>| {
        let of_class = edges.iter().zip(&trips).filter(|(edge, _)| class.is_none_or(|class| edge.class == class));
        let mut sorted: Vec<f64> = of_class.filter_map(|(_, trip)| *trip).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    };
    // What is usual on this network: samples know best.
    let usual = median(Some(Class::Sync)).map(|trip| 2.0 * trip).or(median(None).map(|trip| 3.0 * trip)).unwrap_or(0.0);
    // The fastest of a pair, of whatever class.
    let mut fastest: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for (edge, trip) in edges.iter().zip(&trips) {
        let fastest = fastest.entry((edge.from.min(edge.to), edge.from.max(edge.to))).or_insert(usual);
        *fastest = trip.unwrap_or(f64::INFINITY).min(*fastest);
    }
    let mut terms = Vec::new();
    let mut delays = Vec::new();
    for (edge, trip) in edges.iter().zip(&trips) {
        let trip = trip.unwrap_or(0.0).max(2.0 * LEAST_DELAY);
        // A pair that is never fast in one direction says little of the difference; nor do messages that are never as fast as its samples.
        let fastest = fastest[&(edge.from.min(edge.to), edge.from.max(edge.to))];
        let excess = (trip - fastest.max(2.0 * LEAST_DELAY)).max(0.0);
        let class = if edge.class == Class::Message { 0.1 } else { 0.0 };
        let unlike = 0.05 + 0.03 * (trip - excess) + 0.5 * excess + class;
        let tie = back(edge).map(|back| (back, 1.0 / (unlike * unlike)));
        let alone = if tie.is_some() { 0.0 } else { 1.0 / (50.0 * 50.0) };
        terms.push(EdgeTerm { from: edge.from, to: edge.to, back: tie, alone });
        delays.push(trip / 2.0);
    }
    (terms, delays)
}

/// What fast round trips took, microseconds: the tenth of all that are near in time to one that went out. The offset between the clocks is not in
/// it.
fn round_trip(forth: &[Point], back: &[Point]) -> f64 {
    let mut trips = Vec::new();
    let mut at = 0;
    for point in forth {
        while at + 1 < back.len() && (back[at + 1].sent - point.sent).abs() <= (back[at].sent - point.sent).abs() {
            at += 1;
        }
        if let Some(back) = back.get(at) {
            trips.push((point.took + back.took) * 1e-3);
        }
    }
    trips.sort_by(f64::total_cmp);
    trips.get(trips.len() / 10).copied().unwrap_or(0.0)
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
        let domains = self.is_free.len();
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
        // A start that an earlier fit gave is near.
        let skip = if start.is_some() { LATENESS.len() - 2 } else { 0 };
        // What is only scored need not be exact.
        let more = if hold_out { MORE / 4 } else { MORE };
        for iteration in skip..LATENESS.len() + more {
            let empty = self.system(domains, knots, &observations, &[], prior, &[]);
            let mut pull = vec![0.0; self.edges.len()];
            for (number, (observation, weight)) in observations.iter().zip(&mut weights).enumerate() {
                let left = observation.took + empty.predicted(observation, &solution.x);
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
            self.system(domains, knots, &observations, &weights, prior, &pinned).solve(&mut solution.x);
            for (delay, pinned) in solution.x[domains * knots..].iter_mut().zip(&mut pinned) {
                if *delay < self.floor {
                    *delay = self.floor;
                    *pinned = true;
                }
            }
            let moved = before.iter().zip(&solution.x).take(domains * knots).map(|(a, b)| (a - b).abs());
            if iteration >= LATENESS.len() && moved.fold(0.0, f64::max) < STILL {
                break;
            }
        }
        solution
    }

    fn system<'s>(
        &'s self,
        domains: usize,
        knots: usize,
        observations: &'s [Observation],
        weights: &'s [f64],
        prior: Prior,
        pinned: &'s [bool],
    ) -> System<'s> {
        System { domains, knots, edges: &self.terms, observations, weights, prior, pinned, is_free: self.is_free }
    }

    /// An earlier solution on these knots, or nothing.
    fn begin(&self, knots: usize, start: Option<&Solution>) -> Solution {
        let domains = self.is_free.len();
        let mut x = vec![0.0; domains * knots];
        let Some(start) = start else {
            x.extend(&self.delays);
            return Solution { knots, x };
        };
        for (domain, own) in x.chunks_mut(knots).enumerate() {
            let old = &start.x[domain * start.knots..(domain + 1) * start.knots];
            for (at, x) in own.iter_mut().enumerate() {
                *x = interpolate(old, at as f64 / (knots as f64 - 1.0));
            }
        }
        x.extend(&start.x[domains * start.knots..]);
        Solution { knots, x }
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

    /// How well what was held out is predicted; at most 1.
    fn score(&self, solution: &Solution) -> f64 {
        let observations = self.observations(solution.knots);
        let prior = Prior { smooth: 0.0, ends: 0.0 };
        let system = self.system(self.is_free.len(), solution.knots, &observations, &[], prior, &[]);
        let (mut sum, mut count) = (0.0, 0.0);
        for (number, observation) in observations.iter().enumerate() {
            if self.held_out(number, observation) {
                let left = observation.took + system.predicted(observation, &solution.x);
                sum += 1.0 / (1.0 + (left / (2.5 * self.noise)).powi(2));
                sum -= if left < -4.0 * self.noise { 2.0 } else { 0.0 };
                count += 1.0;
            }
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }

    fn found(&self, solution: &Solution, wander: f64) -> Fit {
        let (domains, knots) = (self.is_free.len(), solution.knots);
        let observations = self.observations(knots);
        let prior = Prior { smooth: 0.0, ends: 0.0 };
        let system = self.system(domains, knots, &observations, &[], prior, &[]);
        let mut residuals = vec![Vec::new(); self.edges.len()];
        for observation in &observations {
            let left = observation.took + system.predicted(observation, &solution.x);
            residuals[observation.edge as usize].push(left.abs() * 1e3);
        }
        let nanos = |x: &[f64]| x.iter().map(|x| x * 1e3).collect::<Vec<f64>>();
        let corrections = solution.x[..domains * knots].chunks(knots).map(nanos).collect();
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
