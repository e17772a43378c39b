//! The input of a fit.

use crate::clock::domain::stream_extent::StreamExtent;
use crate::clock::envelope::DomainJoin;
use crate::clock::limits::RateBounds;
use crate::clock::link_log::LinkLog;

/// Input of a fit, in raw timestamps.
pub(crate) struct FitInputs<'o> {
    pub(crate) log: &'o LinkLog,
    pub(crate) streams: &'o [StreamExtent],
    /// Domain by stream.
    pub(crate) domain_of: &'o [usize],
    pub(crate) domains: usize,
    /// The resolution of the coarsest clock, nanoseconds.
    pub(crate) tick: f64,
    /// By domain: bounds on the rate error of raw timestamps, if readings give them.
    pub(crate) rates: Vec<Option<RateBounds>>,
}

impl FitInputs<'_> {
    /// Bounds on the rate of domain `b` relative to domain `a`, after the correction by the lines
    /// of `joins`.
    pub(crate) fn rates(&self, a: usize, b: usize, joins: &[Option<DomainJoin>]) -> Option<RateBounds> {
        let slope =
            |domain: usize| joins.get(domain).copied().flatten().map_or(0.0, |joins: DomainJoin| joins.line.slope);
        let (of_a, of_b) = (self.rates[a]?, self.rates[b]?);
        let corrected = slope(b) - slope(a);
        Some(RateBounds { low: of_b.low - of_a.high + corrected, high: of_b.high - of_a.low + corrected })
    }
}
