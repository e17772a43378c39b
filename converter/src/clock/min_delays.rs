//! What messages and sync samples say of two clocks: for each ordered pair of domains, the fastest in each piece of the run.
//!
//! A message can be late but not early, so the fastest of many is what clocks are compared by. The pieces are as short as the
//! traffic of the pair allows: messages that were all sent in a thousandth of the run are told apart as well as those that fill it. One
//! pass over the log; memory is 16 bytes per piece, and each domain keeps a bounded number of partners.

use std::collections::BTreeMap;
use std::io;

use rustc_hash::FxHashMap;

use super::link_log::LinkLog;

/// Partners of a domain beyond which further ones are left out, unless they have fewer themselves.
const MAX_PARTNERS: usize = 32;
/// With many domains there are fewer, at least this many: a thousand domains keep 16,000 edges, 64 MB.
const MIN_PARTNERS: usize = 8;
/// Pairs in all, as long as each domain has [`MIN_PARTNERS`].
const PAIRS: usize = 4096;

/// Pieces are at first this part of the run.
const FINEST: f64 = 1.0 / 1_048_576.0;

/// Where observations come from. Those of one class have one least delay for each ordered pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Class {
    Sync,
    Message,
}

/// The fastest messages from one domain to another.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) class: Class,
    pub(crate) points: Vec<Point>,
    /// Messages in all, or bursts.
    pub(crate) count: u64,
}

/// A message: when it was sent, and what it seemed to take; nanoseconds, dates from the start of the [`Span`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) sent: f64,
    pub(crate) took: f64,
}

/// An exchange of a burst, in coarse dates: `a` asked at `t[0]`, `b` had it at `t[1]` and answered at `t[2]`, `a` had it at `t[3]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) t: [i64; 4],
}

/// The dates of a run, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl Span {
    pub(crate) fn nanos(self) -> f64 {
        difference(self.end, self.start).max(1.0)
    }
}

/// Everything from which clocks are compared.
#[derive(Debug)]
pub(crate) struct Traffic<'t> {
    pub(crate) log: &'t LinkLog,
    /// By burst.
    pub(crate) exchanges: &'t [Vec<Exchange>],
    /// By stream.
    pub(crate) domain_of: &'t [usize],
    pub(crate) span: Span,
}

/// Pieces being filled.
struct Buckets {
    /// An edge has at most so many.
    count: usize,
    span: Span,
    edges: Vec<Edge>,
    /// By edge: how long its pieces are, nanoseconds, and where the last message fell.
    pieces: Vec<(f64, usize)>,
    numbers: FxHashMap<(usize, usize, Class), Option<usize>>,
    partners: Vec<usize>,
    /// How many partners a domain has at most.
    most: usize,
}

/// A domain and a coarse date.
type Place = (usize, i64);

impl Traffic<'_> {
    /// Visits the messages between different domains: where each was sent and received.
    fn messages(&self, mut visit: impl FnMut(Place, Place)) -> io::Result<()> {
        self.log.pairs(|start, finish| {
            let (from, to) = (self.domain_of[start.stream as usize], self.domain_of[finish.stream as usize]);
            if from != to {
                visit((from, start.date), (to, finish.date));
            }
        })
    }

    /// The coarse date from which on a domain's clock was set forward by `size`: the one that the fewest of its messages
    /// between two dates contradict. O(messages, and those between the dates times their logarithm).
    ///
    /// # Errors
    /// When the log's temporary file cannot be read.
    pub(crate) fn moment(
        &self,
        domain: usize,
        between: (i64, i64),
        size: i64,
        date: impl Fn(usize, i64) -> i64,
    ) -> io::Result<Option<i64>> {
        // Coarse dates, and whether the clock was ahead by then.
        let mut seen: Vec<(i64, bool)> = Vec::new();
        self.messages(|sent, received| {
            let took = date(received.0, received.1) - date(sent.0, sent.1);
            for (end, ahead) in [(received, took), (sent, -took)] {
                let own = date(end.0, end.1);
                if end.0 == domain && own >= between.0 && own <= between.1 {
                    seen.push((end.1, (size > 0) == (ahead > size / 2)));
                }
            }
        })?;
        seen.sort_unstable();
        let all_before = seen.iter().filter(|(_, ahead)| *ahead).count();
        // With the step before the first of them, those that were not ahead contradict.
        let mut wrong = seen.len() - all_before;
        let mut best = (wrong, seen.first().map(|first| first.0));
        for pair in seen.windows(2) {
            wrong = if pair[0].1 { wrong + 1 } else { wrong - 1 };
            if wrong < best.0 {
                best = (wrong, Some(pair[0].0 + (pair[1].0 - pair[0].0 + 1) / 2));
            }
        }
        Ok(best.1)
    }

    /// The fastest messages of each ordered pair in up to `buckets` pieces of the run, dated by `date` (domain, coarse date). Pieces in
    /// which there is none do not count, so they are the shorter the less of the run its messages fill. The edges come in a fixed order,
    /// those of a pair next to each other, and their points in order of date.
    ///
    /// # Errors
    /// When the log's temporary file cannot be read.
    pub(crate) fn edges(&self, buckets: usize, date: impl Fn(usize, i64) -> i64) -> io::Result<Vec<Edge>> {
        let mut made = Buckets {
            count: buckets,
            span: self.span,
            edges: Vec::new(),
            pieces: Vec::new(),
            numbers: FxHashMap::default(),
            partners: Vec::new(),
            most: (PAIRS / (1 + self.domain_of.iter().max().unwrap_or(&0))).clamp(MIN_PARTNERS, MAX_PARTNERS),
        };
        for burst in self.exchanges {
            // The fastest of each direction stands for the burst.
            let mut fastest: BTreeMap<(usize, usize), (i64, i64)> = BTreeMap::new();
            for &Exchange { a, b, t } in burst {
                let (there, back) = ((date(a, t[0]), date(b, t[1])), (date(b, t[2]), date(a, t[3])));
                for (way, seen) in [((a, b), there), ((b, a), back)] {
                    let least = fastest.entry(way).or_insert(seen);
                    if seen.1.saturating_sub(seen.0) < least.1.saturating_sub(least.0) {
                        *least = seen;
                    }
                }
            }
            for ((from, to), (sent, received)) in fastest {
                made.add(from, to, Class::Sync, sent, received);
            }
        }
        self.messages(|(from, sent), (to, received)| {
            made.add(from, to, Class::Message, date(from, sent), date(to, received));
        })?;
        let mut edges = made.edges;
        edges.sort_by_key(|edge| (edge.from.min(edge.to), edge.from.max(edge.to), edge.class, edge.from));
        Ok(edges)
    }
}

impl Buckets {
    fn add(&mut self, from: usize, to: usize, class: Class, sent: i64, received: i64) {
        let Some(edge) = self.edge(from, to, class) else { return };
        let point = Point { sent: difference(sent, self.span.start), took: difference(received, sent) };
        self.edges[edge].count += 1;
        let (width, last) = self.pieces[edge];
        let points = &mut self.edges[edge].points;
        let piece = piece_of(&point, width);
        // Messages come nearly in order of date.
        let at = match points.get(last) {
            Some(near) if piece_of(near, width) == piece => last,
            _ => points.partition_point(|other| piece_of(other, width) < piece),
        };
        self.pieces[edge].1 = at;
        match points.get_mut(at) {
            Some(least) if piece_of(least, width) == piece => {
                if point.took < least.took {
                    *least = point;
                }
            }
            _ => {
                points.insert(at, point);
                if points.len() > self.count {
                    self.pieces[edge] = (merged(points, width, self.count), 0);
                }
            }
        }
    }

    /// The number of an edge, unless the pair is left out.
    fn edge(&mut self, from: usize, to: usize, class: Class) -> Option<usize> {
        if let Some(known) = self.numbers.get(&(from, to, class)) {
            return *known;
        }
        let accepted = self.numbers.get(&(to, from, class)).map(Option::is_some);
        let accepted = accepted.unwrap_or_else(|| {
            self.partners.resize(self.partners.len().max(from + 1).max(to + 1), 0);
            let few = self.partners[from].min(self.partners[to]) < self.most;
            if few && class == Class::Message {
                self.partners[from] += 1;
                self.partners[to] += 1;
            }
            few || class == Class::Sync
        });
        let number = accepted.then_some(self.edges.len());
        if accepted {
            self.edges.push(Edge { from, to, class, points: Vec::new(), count: 0 });
            self.pieces.push(((self.span.nanos() * FINEST).max(1.0), 0));
        }
        self.numbers.insert((from, to, class), number);
        number
    }
}

/// The number of the piece in which a message was sent.
fn piece_of(point: &Point, width: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "within the run, times 2^20")]
    let piece = (point.sent / width).floor() as i64;
    piece
}

/// Makes pieces twice as long until there are no more than `most`, which does not depend on the order in which messages came. Returns how long
/// they are.
fn merged(points: &mut Vec<Point>, mut width: f64, most: usize) -> f64 {
    while points.len() > most {
        width *= 2.0;
        points.dedup_by(|next, kept| {
            let same = piece_of(next, width) == piece_of(kept, width);
            if same && next.took < kept.took {
                *kept = *next;
            }
            same
        });
    }
    width
}

/// Exact in integers, then as a float, which holds what is within a run to a small part of a nanosecond.
#[expect(clippy::cast_precision_loss, reason = "differences within a run")]
pub(crate) fn difference(later: i64, earlier: i64) -> f64 {
    later.saturating_sub(earlier) as f64
}
