//! The parts of the least-squares problem of the graph fit that do not depend on weights.
//!
//! - Domain: processes that share a clock.
//! - Edge: messages from one domain to another, of one class. The edge back has the messages in the
//!   other direction.
//! - Knot: a support point in time, at which each domain has a correction.

/// Least delay of a message, microseconds.
pub(crate) const MIN_DELAY: f64 = 0.05;

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
    pub(crate) reverse_edge: Option<ReverseEdge>,
    /// For an edge without an edge back: the weight of the delay itself, one over its variance.
    pub(crate) delay_weight: f64,
}

/// The edge back of an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReverseEdge {
    pub(crate) edge: usize,
    /// The weight of the assumption that the two delays are equal: one over the variance of their
    /// difference.
    pub(crate) symmetry: f64,
}

/// The weights of the assumptions that clocks are smooth. They do not depend on observations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FitPrior {
    /// One over the variance of a second difference of corrections, because clocks are smooth.
    pub(crate) smoothness: f64,
    /// One over the variance of the difference between the last correction and the first.
    pub(crate) ends: f64,
}

impl FitPrior {
    /// Adds the prior's matrix times the corrections of a domain.
    pub(crate) fn apply(self, x: &[f64], out: &mut [f64]) {
        let last = x.len() - 1;
        for knot in 1..last {
            let bend = self.smoothness * (x[knot - 1] - 2.0 * x[knot] + x[knot + 1]);
            out[knot - 1] += bend;
            out[knot] -= 2.0 * bend;
            out[knot + 1] += bend;
        }
        let ends = self.ends * (x[last] - x[0]);
        out[last] += ends;
        out[0] -= ends;
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
    /// The residual of an observation, microseconds. It is positive if the
    /// message took longer than the fitted delay of its edge.
    pub(crate) fn residual(&self, observation: &Observation, x: &[f64], delays: &[f64]) -> f64 {
        let Observation { edge, knot, fraction, apparent_latency } = *observation;
        let edge = edge as usize;
        let value_of = |domain: usize| {
            let first = domain * self.knots + knot as usize;
            x[first] + (x[first + 1] - x[first]) * fraction
        };
        apparent_latency + value_of(self.edges[edge].to) - value_of(self.edges[edge].from) - delays[edge]
    }
}
