//! Time ranges of the streams of a run.

use crate::clock::min_delays::{CoarseExchange, RunSpan};

/// The time range of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamExtent {
    /// The clock domain of the stream.
    pub(crate) domain: usize,
    /// Raw timestamps of the first and the last record.
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// The time range of all records and samples. Samples can be much earlier than the first record.
pub(crate) fn span_of(
    streams: &[StreamExtent],
    exchanges: &[Vec<CoarseExchange>],
    date: impl Fn(usize, i64) -> i64,
) -> RunSpan {
    let dates = streams.iter().map(|stream| (date(stream.domain, stream.first), date(stream.domain, stream.last)));
    let asked =
        exchanges.iter().flatten().map(|exchange| (date(exchange.a, exchange.t[0]), date(exchange.a, exchange.t[3])));
    let dates = dates.chain(asked);
    let (start, end) = dates.fold((i64::MAX, i64::MIN), |span, (first, last)| (span.0.min(first), span.1.max(last)));
    if start <= end { RunSpan { start, end } } else { RunSpan { start: 0, end: 1 } }
}
