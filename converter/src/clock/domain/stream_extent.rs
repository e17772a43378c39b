//! Time ranges of the streams of a run.

use crate::clock::min_delays::{RawExchange, RunSpan};

/// The time range of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamExtent {
    /// The clock domain of the stream.
    pub(crate) domain: usize,
    /// Raw timestamps of the first and the last record.
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// A range of ticks of one clock. Both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TickRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl TickRange {
    /// The smallest range that contains both ranges.
    pub(crate) fn join(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    pub(crate) fn contains(self, ticks: u64) -> bool {
        self.first <= ticks && ticks <= self.last
    }
}

/// The time range of all records and samples. Samples can be much earlier than the first record.
pub(crate) fn span_of(
    streams: &[StreamExtent],
    exchanges: &[Vec<RawExchange>],
    timestamp: impl Fn(usize, i64) -> i64,
) -> RunSpan {
    let of_domain =
        |domain: usize, first, last| RunSpan { start: timestamp(domain, first), end: timestamp(domain, last) };
    let streams = streams.iter().map(|stream| of_domain(stream.domain, stream.first, stream.last));
    let exchanges = exchanges.iter().flatten().map(|exchange| of_domain(exchange.a, exchange.t1, exchange.t4));
    let joined = streams
        .chain(exchanges)
        .reduce(|all, span| RunSpan { start: all.start.min(span.start), end: all.end.max(span.end) });
    joined.filter(|span| span.start <= span.end).unwrap_or(RunSpan { start: 0, end: 1 })
}
