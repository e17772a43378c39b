//! The streams of a run in time.

use super::traffic::{Exchange, Span};

/// Where the streams are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The domain that dates the stream.
    pub(crate) domain: usize,
    /// Coarse dates of the first record and the last.
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// All that is dated: records, and samples, which may have been taken long before the first record.
pub(super) fn span_of(streams: &[Extent], exchanges: &[Vec<Exchange>], date: impl Fn(usize, i64) -> i64) -> Span {
    let dates = streams.iter().map(|stream| (date(stream.domain, stream.first), date(stream.domain, stream.last)));
    let asked =
        exchanges.iter().flatten().map(|exchange| (date(exchange.a, exchange.t[0]), date(exchange.a, exchange.t[3])));
    let dates = dates.chain(asked);
    let (start, end) = dates.fold((i64::MAX, i64::MIN), |span, (first, last)| (span.0.min(first), span.1.max(last)));
    if start <= end { Span { start, end } } else { Span { start: 0, end: 1 } }
}
