//! A clock with an offset, a drift, a wandering frequency and steps.

use super::random::SplitMix;
use super::run_parameters::{ClockRunParameters, START};

/// Time between two frequency changes of a clock, in nanoseconds.
const STEP: f64 = 2e7;

/// A clock: a function of true time.
#[derive(Debug)]
pub(super) struct SimulatedClock {
    /// Offset at the true time 0, nanoseconds.
    pub(super) offset: f64,
    /// Gained nanoseconds at multiples of [`STEP`].
    gained: Vec<f64>,
    step_at: f64,
    step_nanos: f64,
}

impl SimulatedClock {
    pub(super) fn new(parameters: &ClockRunParameters, node: usize, random: &mut SplitMix) -> Self {
        let end = START + (parameters.seconds + 2.0) * 1e9;
        let mut frequency = parameters.drift_ppm * 1e-6 * random.signed();
        let mut gained = vec![0.0];
        let mut slewed = 0.0;
        while gained.len() as f64 * STEP < end + STEP {
            if node > 0 && parameters.slewed_ppm > 0.0 && gained.len() % (6e10 / STEP) as usize == 0 {
                slewed = parameters.slewed_ppm * 1e-6 * random.signed();
            }
            gained.push(gained[gained.len() - 1] + (frequency + slewed) * STEP);
            frequency += parameters.wander * (STEP * 1e-9).sqrt() * random.normal();
        }
        let step_nanos = if node == 1 { parameters.step_nanos } else { 0.0 };
        // The time of a clock must not be negative.
        let offset = (parameters.offset_seconds * random.signed() + parameters.offset_seconds) * 1e9;
        Self { offset, gained, step_at: START + parameters.seconds * 0.5e9, step_nanos }
    }

    /// The time of the clock in nanoseconds.
    pub(super) fn shows(&self, truth: f64) -> f64 {
        let index = ((truth / STEP) as usize).min(self.gained.len() - 2);
        let part = truth / STEP - index as f64;
        let gained = self.gained[index] + (self.gained[index + 1] - self.gained[index]) * part;
        self.offset + truth + gained + self.stepped(truth)
    }

    /// The sum of clock steps up to a true timestamp.
    pub(super) fn stepped(&self, truth: f64) -> f64 {
        if truth >= self.step_at { self.step_nanos } else { 0.0 }
    }
}
