//! The fastest messages and sync samples between clocks, for each ordered pair of domains and each
//! piece of the run.
//!
//! A message can be late but not early, so clocks are compared by the fastest of many messages. The
//! length of the pieces adapts to the traffic of the pair. Messages that were all sent in a
//! thousandth of the run have as many pieces as messages over the whole run. One pass over the log
//! is enough. Memory is 16 bytes per piece, and each domain has a bounded number of partners.

use std::collections::BTreeMap;
use std::io;

use rustc_hash::FxHashMap;

use super::link_log::LinkLog;

/// Maximum number of partners of a domain. Another partner is accepted only if it has fewer
/// partners itself.
const MAX_PARTNERS: usize = 32;
/// Minimum of this limit with many domains. A thousand domains have 16,000 edges, which take 64 MB.
const MIN_PARTNERS: usize = 8;
/// Maximum number of pairs in total, if it allows each domain [`MIN_PARTNERS`].
const PAIRS: usize = 4096;

/// Initial length of a piece, as a fraction of the run.
const FINEST: f64 = 1.0 / 1_048_576.0;

/// Source of observations. Those of one class share one smallest delay for each ordered pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum DelayClass {
    Sync,
    Message,
}

/// The fastest messages from one domain to another.
#[derive(Clone, Debug)]
pub(crate) struct FastestMessages {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) class: DelayClass,
    pub(crate) points: Vec<MessagePoint>,
    /// Total number of messages, or of bursts.
    pub(crate) count: u64,
}

/// A message: the send timestamp from the start of the [`RunSpan`], and the apparent latency. In
/// nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MessagePoint {
    pub(crate) send_time: f64,
    pub(crate) transfer_time: f64,
}

/// An exchange of a burst, in raw timestamps. Domain `a` sends the request at `t1` and receives the
/// reply at `t4`. Domain `b` receives the request at `t2` and sends the reply at `t3`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawExchange {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) t1: i64,
    pub(crate) t2: i64,
    pub(crate) t3: i64,
    pub(crate) t4: i64,
}

/// The time range of a run, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSpan {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl RunSpan {
    pub(crate) fn nanos(self) -> f64 {
        difference(self.end, self.start).max(1.0)
    }
}

/// All data for the comparison of clocks.
#[derive(Debug)]
pub(crate) struct ClockTraffic<'t> {
    pub(crate) log: &'t LinkLog,
    /// Exchanges by burst.
    pub(crate) exchanges: &'t [Vec<RawExchange>],
    /// Domain by stream.
    pub(crate) domain_of: &'t [usize],
    pub(crate) span: RunSpan,
}

/// Pieces being filled.
struct TrafficBuckets {
    /// Maximum number of pieces of an edge.
    count: usize,
    span: RunSpan,
    edges: Vec<FastestMessages>,
    /// By edge.
    pieces: Vec<TrafficPieces>,
    numbers: FxHashMap<(usize, usize, DelayClass), Option<usize>>,
    partners: Vec<usize>,
    /// Maximum number of partners of a domain.
    max_partners: usize,
}

/// The pieces of an edge.
#[derive(Clone, Copy, Debug)]
struct TrafficPieces {
    /// Length of a piece, nanoseconds.
    width: f64,
    /// The index of the last used piece.
    last: usize,
}

/// A raw timestamp of a domain.
#[derive(Clone, Copy, Debug)]
struct DomainTimestamp {
    domain: usize,
    raw: i64,
}

/// An endpoint of a message near a clock step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LeadObservation {
    raw: i64,
    /// Whether the clock was ahead at that time.
    is_ahead: bool,
}

/// The corrected timestamps of a request or a reply.
#[derive(Clone, Copy, Debug)]
struct RequestTimes {
    send_time: i64,
    receive_time: i64,
}

impl RequestTimes {
    fn latency(self) -> i64 {
        self.receive_time.saturating_sub(self.send_time)
    }
}

impl ClockTraffic<'_> {
    /// Visits the messages between different domains, collective operations included, with the
    /// places of their send and receive events.
    fn messages(&self, mut visit: impl FnMut(DomainTimestamp, DomainTimestamp)) -> io::Result<()> {
        self.log.causal_pairs(|start, finish| {
            let (from, to) = (self.domain_of[start.stream as usize], self.domain_of[finish.stream as usize]);
            if from != to {
                let timestamp = |domain, raw| DomainTimestamp { domain, raw };
                visit(timestamp(from, start.timestamp), timestamp(to, finish.timestamp));
            }
        })
    }

    /// The raw timestamp from which on a domain's clock was set forward by `size` nanoseconds. It
    /// is the timestamp that the fewest messages of the domain within `span` contradict.
    /// O(messages, and n log n for the n messages within `span`).
    ///
    /// # Errors
    /// When the log's temporary file cannot be read.
    pub(crate) fn moment(
        &self,
        domain: usize,
        span: RunSpan,
        size: i64,
        correct: impl Fn(usize, i64) -> i64,
    ) -> io::Result<Option<i64>> {
        let mut observations: Vec<LeadObservation> = Vec::new();
        self.messages(|sent, received| {
            let correct = |timestamp: DomainTimestamp| correct(timestamp.domain, timestamp.raw);
            let took = correct(received) - correct(sent);
            for (end, lead) in [(received, took), (sent, -took)] {
                let timestamp = correct(end);
                if end.domain == domain && timestamp >= span.start && timestamp <= span.end {
                    let is_ahead = (size > 0) == (lead > size / 2);
                    observations.push(LeadObservation { raw: end.raw, is_ahead });
                }
            }
        })?;
        observations.sort_unstable();
        let with_lead = observations.iter().filter(|observation| observation.is_ahead).count();
        // If the step is before the first message, the messages without a lead contradict it.
        let mut error_count = observations.len() - with_lead;
        let (mut fewest, mut best_time) = (error_count, observations.first().map(|first| first.raw));
        for pair in observations.windows(2) {
            error_count = if pair[0].is_ahead { error_count + 1 } else { error_count - 1 };
            if error_count < fewest {
                (fewest, best_time) = (error_count, Some(pair[0].raw + (pair[1].raw - pair[0].raw + 1) / 2));
            }
        }
        Ok(best_time)
    }

    /// The fastest messages of each ordered pair in up to `buckets` pieces of the run. `correct`
    /// gives the timestamp of a domain and a raw timestamp. Pieces without messages do not count,
    /// so pieces are shorter if the messages fill less of the run. The edges come in a fixed order
    /// with the edges of a pair next to each other. Their points are in order of time.
    ///
    /// # Errors
    /// When the log's temporary file cannot be read.
    pub(crate) fn edges(
        &self,
        buckets: usize,
        correct: impl Fn(usize, i64) -> i64,
    ) -> io::Result<Vec<FastestMessages>> {
        let mut filled = TrafficBuckets {
            count: buckets,
            span: self.span,
            edges: Vec::new(),
            pieces: Vec::new(),
            numbers: FxHashMap::default(),
            partners: Vec::new(),
            max_partners: (PAIRS / (1 + self.domain_of.iter().max().unwrap_or(&0))).clamp(MIN_PARTNERS, MAX_PARTNERS),
        };
        for burst in self.exchanges {
            // The fastest exchange of each direction represents the burst.
            let mut fastest: BTreeMap<(usize, usize), RequestTimes> = BTreeMap::new();
            for &RawExchange { a, b, t1, t2, t3, t4 } in burst {
                let forth = RequestTimes { send_time: correct(a, t1), receive_time: correct(b, t2) };
                let back = RequestTimes { send_time: correct(b, t3), receive_time: correct(a, t4) };
                for (way, times) in [((a, b), forth), ((b, a), back)] {
                    let fastest_times = fastest.entry(way).or_insert(times);
                    if times.latency() < fastest_times.latency() {
                        *fastest_times = times;
                    }
                }
            }
            for ((from, to), RequestTimes { send_time, receive_time }) in fastest {
                filled.add(from, to, DelayClass::Sync, send_time, receive_time);
            }
        }
        self.messages(|sent, receive_time| {
            let correct = |timestamp: DomainTimestamp| correct(timestamp.domain, timestamp.raw);
            filled.add(sent.domain, receive_time.domain, DelayClass::Message, correct(sent), correct(receive_time));
        })?;
        let mut edges = filled.edges;
        edges.sort_by_key(|edge| (edge.from.min(edge.to), edge.from.max(edge.to), edge.class, edge.from));
        Ok(edges)
    }
}

impl TrafficBuckets {
    fn add(&mut self, from: usize, to: usize, class: DelayClass, send_time: i64, receive_time: i64) {
        let Some(edge) = self.edge(from, to, class) else { return };
        let point = MessagePoint {
            send_time: difference(send_time, self.span.start),
            transfer_time: difference(receive_time, send_time),
        };
        self.edges[edge].count += 1;
        let TrafficPieces { width, last } = self.pieces[edge];
        let points = &mut self.edges[edge].points;
        let piece = piece_of(&point, width);
        // Messages arrive nearly in order of time.
        let position = match points.get(last) {
            Some(nearest) if piece_of(nearest, width) == piece => last,
            _ => points.partition_point(|other| piece_of(other, width) < piece),
        };
        self.pieces[edge].last = position;
        match points.get_mut(position) {
            Some(fastest_point) if piece_of(fastest_point, width) == piece => {
                if point.transfer_time < fastest_point.transfer_time {
                    *fastest_point = point;
                }
            }
            _ => {
                points.insert(position, point);
                if points.len() > self.count {
                    self.pieces[edge] = TrafficPieces { width: merge_points(points, width, self.count), last: 0 };
                }
            }
        }
    }

    /// The number of an edge. `None` if the pair is left out.
    fn edge(&mut self, from: usize, to: usize, class: DelayClass) -> Option<usize> {
        if let Some(number) = self.numbers.get(&(from, to, class)) {
            return *number;
        }
        let accepted = self.numbers.get(&(to, from, class)).map(Option::is_some);
        let accepted = accepted.unwrap_or_else(|| {
            self.partners.resize(self.partners.len().max(from + 1).max(to + 1), 0);
            let few = self.partners[from].min(self.partners[to]) < self.max_partners;
            if few && class == DelayClass::Message {
                self.partners[from] += 1;
                self.partners[to] += 1;
            }
            few || class == DelayClass::Sync
        });
        let number = accepted.then_some(self.edges.len());
        if accepted {
            self.edges.push(FastestMessages { from, to, class, points: Vec::new(), count: 0 });
            self.pieces.push(TrafficPieces { width: (self.span.nanos() * FINEST).max(1.0), last: 0 });
        }
        self.numbers.insert((from, to, class), number);
        number
    }
}

/// The number of the piece that contains the send timestamp of a message.
fn piece_of(point: &MessagePoint, width: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "within the run, times 2^20")]
    let piece = (point.send_time / width).floor() as i64;
    piece
}

/// Doubles the length of pieces until there are at most `max_points`. The result is independent of
/// the order of the messages. Returns the new length in nanoseconds.
fn merge_points(points: &mut Vec<MessagePoint>, mut width: f64, max_points: usize) -> f64 {
    while points.len() > max_points {
        width *= 2.0;
        points.dedup_by(|next, previous| {
            let same = piece_of(next, width) == piece_of(previous, width);
            if same && next.transfer_time < previous.transfer_time {
                *previous = *next;
            }
            same
        });
    }
    width
}

/// The exact difference in integers, converted to a float. Within a run, the float is precise to a
/// small fraction of a nanosecond.
#[expect(clippy::cast_precision_loss, reason = "differences within a run are far below 2^53")]
pub(crate) fn difference(later: i64, earlier: i64) -> f64 {
    later.saturating_sub(earlier) as f64
}
