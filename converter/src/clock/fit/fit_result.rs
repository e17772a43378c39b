//! The result of a fit, and the error bounds that follow from it.

use super::corrections::DomainCorrections;
use crate::clock::correction::CorrectionPoint;
use crate::clock::envelope::DomainJoin;
use crate::clock::error_bounds::{BoundInputs, CertainBounds, MessageTimes};
use crate::clock::graph::{GraphFit, interpolate};
use crate::clock::limits::{CAUSALITY_TOLERANCE, MIN_WANDER, WANDER_SAFETY_FACTOR, resolution_error};
use crate::clock::min_delays::{FastestMessages, RunSpan};

/// Minimum number of observations per clock for a fit of the wander.
const MIN_OBSERVATIONS: usize = 512;

pub(crate) struct FitResult {
    /// The complete corrections.
    pub(crate) corrections: DomainCorrections,
    pub(crate) joins: Vec<Option<DomainJoin>>,
    /// Corrections by round, domain and knot, nanoseconds.
    pub(crate) rounds: Vec<Vec<Vec<f64>>>,
    pub(crate) fit: GraphFit,
    /// The fastest messages, with timestamps corrected by all rounds but the last.
    pub(crate) edges: Vec<FastestMessages>,
    pub(crate) span: RunSpan,
    /// Removed clock steps by domain.
    pub(crate) steps: Vec<Vec<CorrectionPoint>>,
    /// The resolution of the coarsest clock, nanoseconds.
    pub(crate) tick: f64,
}

impl FitResult {
    /// The points of an edge with final timestamps.
    fn message_times(&self, edge: &FastestMessages) -> Vec<MessageTimes> {
        let last =
            |domain: usize, timestamp: f64| interpolate(&self.fit.corrections[domain], timestamp / self.span.nanos());
        let times = edge.points.iter().map(|point| {
            let (sent, receive_time) = (point.send_time, point.send_time + point.transfer_time);
            let (send_time, receive_time) = (sent + last(edge.from, sent), receive_time + last(edge.to, receive_time));
            MessageTimes { send_time, receive_time, transfer_time: receive_time - send_time + self.tick }
        });
        times.collect()
    }

    /// The most by which a message or a sample arrives before it is sent, nanoseconds.
    pub(crate) fn largest_violation(&self) -> f64 {
        -self
            .edges
            .iter()
            .flat_map(|edge| self.message_times(edge))
            .map(|message| message.transfer_time)
            .fold(0.0, f64::min)
    }

    /// Whether some message still arrives too long before it is sent. Then the clocks do not follow
    /// the model, or some data is wrong.
    pub(crate) fn is_impossible(&self) -> bool {
        self.largest_violation() > CAUSALITY_TOLERANCE + resolution_error(self.tick)
    }

    /// Bounds on the timestamps if the clocks wander as the fit found.
    pub(crate) fn certain_bounds(&self) -> CertainBounds {
        self.certain_for_wander(self.fit.wander * WANDER_SAFETY_FACTOR)
    }

    /// Bounds on the timestamps if the clocks wander by `wander` per square root of a second.
    pub(crate) fn certain_for_wander(&self, wander: f64) -> CertainBounds {
        let domains = self.joins.len();
        let correction = |domain: usize, timestamp: f64| {
            self.rounds.iter().map(|round| interpolate(&round[domain], timestamp / self.span.nanos())).sum::<f64>()
        };
        let observations = self.edges.iter().map(|edge| edge.points.len()).sum::<usize>() / domains;
        let min_wander = if observations < MIN_OBSERVATIONS { MIN_WANDER } else { 0.0 };
        let inputs = BoundInputs { span: self.span.nanos(), wander: wander.max(min_wander) };
        CertainBounds::of(domains, &self.edges, inputs, |edge| self.message_times(edge), correction)
    }

    /// By domain: maximum error of timestamps in nanoseconds. Infinite when the fit is impossible.
    pub(crate) fn half_widths(&self) -> Vec<f64> {
        if self.is_impossible() {
            return vec![f64::INFINITY; self.joins.len()];
        }
        self.certain_bounds().half_widths().into_iter().map(|width| width + resolution_error(self.tick)).collect()
    }
}
