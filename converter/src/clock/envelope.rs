//! A line per domain, with offset and drift, from the corridor between messages in both directions.
//!
//! Messages from A to B lie above the line (clock of B minus clock of A), and messages from B to A
//! lie below it. For each pair, the line in the middle of the widest corridor is used. Lines are
//! composed along the tree of the narrowest corridors. Slow messages do no harm, because only the
//! fastest ones touch the corridor.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::limits::RateBounds;
use super::min_delays::{FastestMessages, MessagePoint};

/// Largest difference between the rates of two real clocks.
const MAX_DRIFT: f64 = 500e-6;
/// Most clocks drift less than this. A slope of this size has to make a corridor twice as wide.
/// Without this rule, a few messages that leave the slope open would give the steepest slope.
const USUAL_DRIFT: f64 = 50e-6;
/// Minimum width of a corridor in the rule of [`USUAL_DRIFT`], nanoseconds.
const MIN_WIDTH: f64 = 1000.0;
/// One-way messages within this distance of a line confirm it, if there are at least [`CONFIRMED`].
/// Nanoseconds.
const CLOSE_NANOS: f64 = 10_000.0;
const CONFIRMED: usize = 5;
/// Number of steps of the search for a slope. Each step keeps 0.62 of the interval.
const STEPS: usize = 70;

/// A correction that is added to a timestamp: `offset` at the start of the run, and `slope` per
/// nanosecond after it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OffsetLine {
    pub(crate) offset: f64,
    pub(crate) slope: f64,
}

/// How a domain is joined to the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DomainJoin {
    /// The domain that the line leads to: 0, or the first of a component that no message joins to
    /// domain 0.
    pub(crate) root: usize,
    pub(crate) line: OffsetLine,
    /// Number of pairs on the path to the root.
    pub(crate) hops: usize,
    /// Some pair on the path has messages in one direction only.
    pub(crate) one_way: bool,
    /// Sum of the widths of the corridors on the path, nanoseconds.
    pub(crate) width: f64,
}

/// A point of the plane of times and clock differences, nanoseconds.
#[derive(Clone, Copy, Debug)]
struct PlanePoint {
    x: f64,
    y: f64,
}

impl PlanePoint {
    fn mirror(self) -> Self {
        Self { x: self.x, y: -self.y }
    }
}

/// The result of a pair of domains: the line that corrects the clock of `b` to that of `a`.
#[derive(Clone, Copy, Debug)]
struct PairOffset {
    a: usize,
    b: usize,
    line: OffsetLine,
    /// The width of the corridor at that end of the run at which it is wider, nanoseconds.
    width: f64,
    one_way: bool,
}

/// A line for each domain that messages join to another one. The line leads to the reference, which
/// is domain 0, if there is a path. If not, it leads to the first domain of the component. O(edges
/// × points + edges log edges).
///
/// `rates(a, b)` gives the known bounds on the rate of b's clock relative to a's, if there are any.
/// They apply to pairs with messages in one direction only, because such messages bound the rate
/// less.
pub(crate) fn lines(
    domains: usize,
    edges: &[FastestMessages],
    span: f64,
    rates: impl Fn(usize, usize) -> Option<RateBounds>,
) -> Vec<Option<DomainJoin>> {
    let mut pairs = Vec::new();
    for group in edges.chunk_by(|a, b| (a.from.min(a.to), a.from.max(a.to)) == (b.from.min(b.to), b.from.max(b.to))) {
        let (a, b) = (group[0].from.min(group[0].to), group[0].from.max(group[0].to));
        // Messages from `a` to `b` lie above the line (clock of `b` minus clock of `a`), messages
        // from `b` to `a` below it. Times are those of `a`.
        let mut upper_hull: Vec<PlanePoint> = Vec::new();
        let mut lower_hull: Vec<PlanePoint> = Vec::new();
        for edge in group {
            let points = edge.points.iter();
            if edge.from == a {
                upper_hull.extend(
                    points.map(|&MessagePoint { send_time, transfer_time: took }| PlanePoint { x: send_time, y: took }),
                );
            } else {
                // The clock of `a` gives the time of the reception.
                lower_hull.extend(points.map(|&MessagePoint { send_time: sent, transfer_time: took }| PlanePoint {
                    x: sent + took,
                    y: -took,
                }));
            }
        }
        let rates = rates(a, b).unwrap_or(RateBounds { low: -MAX_DRIFT, high: MAX_DRIFT });
        let lines = corridor(&mut upper_hull, &mut lower_hull, span, rates);
        pairs.extend(lines.map(|OffsetCorridor { line, width, one_way }| PairOffset { a, b, line, width, one_way }));
    }
    join(domains, &pairs)
}

/// Composes the lines of pairs along the shortest paths from the reference. Pairs with messages in
/// both directions are preferred.
fn join(domains: usize, pairs: &[PairOffset]) -> Vec<Option<DomainJoin>> {
    let mut by_domain: Vec<Vec<usize>> = vec![Vec::new(); domains];
    for (number, pair) in pairs.iter().enumerate() {
        by_domain[pair.a].push(number);
        by_domain[pair.b].push(number);
    }
    let mut joins: Vec<Option<DomainJoin>> = vec![None; domains];
    let mut costs = vec![JoinCost { one_ways: usize::MAX, width: f64::INFINITY }; domains];
    let mut heap = BinaryHeap::new();
    for root in 0..domains {
        if joins[root].is_some() || (root > 0 && by_domain[root].is_empty()) {
            continue;
        }
        costs[root] = JoinCost { one_ways: 0, width: 0.0 };
        heap.push(Reverse(QueuedDomain { one_ways: 0, width_bits: 0f64.to_bits(), domain: root, reached_by: None }));
        from_root(root, pairs, &by_domain, &mut joins, &mut costs, &mut heap);
    }
    joins
}

/// The cost of a path from the root. Fewer pairs with messages in one direction only count first.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct JoinCost {
    one_ways: usize,
    width: f64,
}

/// The last step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct JoinStep {
    from: usize,
    pair: usize,
}

/// A domain in the queue of Dijkstra's algorithm, with a path to it. Ordered by the cost of the
/// path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct QueuedDomain {
    one_ways: usize,
    /// The bits of the width, because those of non-negative floats sort like the floats.
    width_bits: u64,
    domain: usize,
    /// `None` for the root.
    reached_by: Option<JoinStep>,
}

/// Dijkstra's algorithm from one domain.
fn from_root(
    root: usize,
    pairs: &[PairOffset],
    by_domain: &[Vec<usize>],
    joins: &mut [Option<DomainJoin>],
    costs: &mut [JoinCost],
    heap: &mut BinaryHeap<Reverse<QueuedDomain>>,
) {
    while let Some(Reverse(QueuedDomain { one_ways, width_bits, domain, reached_by })) = heap.pop() {
        if joins[domain].is_some() {
            continue;
        }
        joins[domain] = Some(match reached_by.and_then(|step| Some((joins[step.from]?, &pairs[step.pair]))) {
            Some((from, pair)) => {
                let line = if domain == pair.b { pair.line } else { inverse_line(pair.line) };
                DomainJoin {
                    root,
                    line: compose(from.line, line),
                    hops: from.hops + 1,
                    one_way: from.one_way || pair.one_way,
                    width: from.width + pair.width,
                }
            }
            None => DomainJoin { root, line: OffsetLine::default(), hops: 0, one_way: false, width: 0.0 },
        });
        for &number in &by_domain[domain] {
            let pair = &pairs[number];
            let other = if pair.a == domain { pair.b } else { pair.a };
            let cost = JoinCost {
                one_ways: one_ways + usize::from(pair.one_way),
                width: f64::from_bits(width_bits) + pair.width,
            };
            if joins[other].is_none() && cost < costs[other] {
                costs[other] = cost;
                heap.push(Reverse(QueuedDomain {
                    one_ways: cost.one_ways,
                    width_bits: cost.width.to_bits(),
                    domain: other,
                    reached_by: Some(JoinStep { from: domain, pair: number }),
                }));
            }
        }
    }
}

/// The composition of two lines. `inner_line` corrects a clock to a second one, and `outer_line`
/// corrects the second to a third.
fn compose(outer_line: OffsetLine, inner_line: OffsetLine) -> OffsetLine {
    OffsetLine {
        offset: inner_line.offset + outer_line.offset + inner_line.offset * outer_line.slope,
        slope: inner_line.slope + outer_line.slope + inner_line.slope * outer_line.slope,
    }
}

fn inverse_line(line: OffsetLine) -> OffsetLine {
    OffsetLine { offset: -line.offset / (1.0 + line.slope), slope: -line.slope / (1.0 + line.slope) }
}

/// A corridor between the messages of two clocks.
struct OffsetCorridor {
    /// The line in its middle: the correction of b's timestamps.
    line: OffsetLine,
    /// Its width at that end of the run at which it is larger.
    width: f64,
    /// Whether it has one side only.
    one_way: bool,
}

/// The widest corridor. With one side only, the slope is within `rates`.
fn corridor(
    points_above: &mut Vec<PlanePoint>,
    points_below: &mut Vec<PlanePoint>,
    span: f64,
    rates: RateBounds,
) -> Option<OffsetCorridor> {
    let points = if points_below.is_empty() { points_above.clone() } else { mirror_points(points_below) };
    lower_hull(points_above);
    points_below.iter_mut().for_each(|point| *point = point.mirror());
    lower_hull(points_below);
    points_below.iter_mut().for_each(|point| *point = point.mirror());
    let middle = span / 2.0;
    // For a slope, the value at the middle of the run: of the highest line below `above`, and of
    // the lowest line above `below`.
    let lowest_above = |slope: f64| {
        points_above.iter().map(|point| point.y - slope * (point.x - middle)).fold(f64::INFINITY, f64::min)
    };
    let highest_below = |slope: f64| {
        points_below.iter().map(|point| point.y - slope * (point.x - middle)).fold(f64::NEG_INFINITY, f64::max)
    };
    let added = |slope: f64, at_middle: f64| inverse_line(OffsetLine { offset: at_middle - slope * middle, slope });
    match (points_above.is_empty(), points_below.is_empty()) {
        (true, true) => None,
        // With one side, the line follows the longest edge of the hull. The fastest message then
        // appears to take no time.
        (false, true) => {
            let slope = longest_slope(points_above, &points, rates);
            Some(OffsetCorridor { line: added(slope, lowest_above(slope)), width: span * MAX_DRIFT, one_way: true })
        }
        (true, false) => {
            let slope = -longest_slope(
                &mirror_points(points_below),
                &points,
                RateBounds { low: -rates.high, high: -rates.low },
            );
            Some(OffsetCorridor { line: added(slope, highest_below(slope)), width: span * MAX_DRIFT, one_way: true })
        }
        (false, false) => {
            let gap = |slope: f64| lowest_above(slope) - highest_below(slope);
            let target_width = gap(maximize(gap, -MAX_DRIFT, MAX_DRIFT)).max(MIN_WIDTH);
            let best =
                maximize(|slope| gap(slope) - target_width * (slope / USUAL_DRIFT).powi(2), -MAX_DRIFT, MAX_DRIFT);
            let widest = gap(best);
            // If even the widest corridor has messages on the wrong side, all messages may be wrong
            // by as much.
            let relaxed = |slope: f64| gap(slope) - widest.min(0.0) + 1.0;
            let (low, high) = (find_zero(relaxed, best, -MAX_DRIFT), find_zero(relaxed, best, MAX_DRIFT));
            let lever = |end: f64| {
                let reach = |slope: f64| lowest_above(slope) + slope * end;
                let top = reach(maximize(reach, low, high));
                let reach = |slope: f64| -(highest_below(slope) + slope * end);
                top + reach(maximize(reach, low, high)) - widest.min(0.0)
            };
            let width = lever(-middle).max(lever(middle)).max(1.0);
            let line = added(best, f64::midpoint(lowest_above(best), highest_below(best)));
            Some(OffsetCorridor { line, width, one_way: false })
        }
    }
}

fn mirror_points(points: &[PlanePoint]) -> Vec<PlanePoint> {
    points.iter().map(|point| point.mirror()).collect()
}

/// The slope of the longest edge of a hull that is within the bounds and that messages confirm. The
/// middle of the bounds if messages do not confirm it, because a few late messages can have any
/// slope. Messages confirm it if at least a tenth of the fastest messages of all pieces lie near
/// it.
fn longest_slope(hull: &[PlanePoint], points: &[PlanePoint], RateBounds { low, high }: RateBounds) -> f64 {
    struct HullSide {
        start: PlanePoint,
        length: f64,
        slope: f64,
    }
    let sides = hull.windows(2).map(|ends| {
        let (start, end) = (ends[0], ends[1]);
        let length = end.x - start.x;
        HullSide { start, length, slope: (end.y - start.y) / length }
    });
    let sides = sides.filter(|side| (low..=high).contains(&side.slope));
    let unknown = f64::midpoint(low, high);
    let Some(HullSide { start, slope, .. }) = sides.max_by(|a, b| a.length.total_cmp(&b.length)) else {
        return unknown;
    };
    let close_points =
        points.iter().filter(|point| point.y - start.y - slope * (point.x - start.x) <= CLOSE_NANOS).count();
    if close_points >= CONFIRMED && close_points * 10 >= points.len() { slope } else { unknown }
}

/// Keeps the points that a line below all points can touch (monotone chain).
fn lower_hull(points: &mut Vec<PlanePoint>) {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup_by_key(|point| point.x);
    let mut hull_length = 0;
    for index in 0..points.len() {
        let c = points[index];
        while hull_length >= 2 {
            let (a, b) = (points[hull_length - 2], points[hull_length - 1]);
            if (b.y - a.y) * (c.x - a.x) < (c.y - a.y) * (b.x - a.x) {
                break;
            }
            hull_length -= 1;
        }
        points[hull_length] = c;
        hull_length += 1;
    }
    points.truncate(hull_length);
}

/// The maximum position of a concave function (golden section).
fn maximize(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let (mut a, mut b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..STEPS {
        if at_a < at_b {
            low = a;
            (a, at_a) = (b, at_b);
            b = low + GOLDEN * (high - low);
            at_b = f(b);
        } else {
            high = b;
            (b, at_b) = (a, at_a);
            a = high - GOLDEN * (high - low);
            at_a = f(a);
        }
    }
    f64::midpoint(low, high)
}

/// The zero of a function that is positive at `inner_point` and falls towards `outer_point`
/// (bisection).
fn find_zero(f: impl Fn(f64) -> f64, mut inner_point: f64, mut outer_point: f64) -> f64 {
    if f(outer_point) >= 0.0 {
        return outer_point;
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(inner_point, outer_point);
        if f(middle) >= 0.0 { inner_point = middle } else { outer_point = middle }
    }
    inner_point
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::min_delays::DelayClass;

    const SPAN: f64 = 1e11;

    /// Messages between clocks. The function `lead_at` gives the lead of the clock of `to`.
    fn edge(from: usize, to: usize, lead_at: impl Fn(f64) -> f64, delay: f64) -> FastestMessages {
        let points = (0..50).map(|n| {
            let send_time = f64::from(n) / 50.0 * SPAN;
            MessagePoint { send_time, transfer_time: lead_at(send_time) + delay + f64::from(n * 7919 % 13) * 1e4 }
        });
        FastestMessages { from, to, class: DelayClass::Message, points: points.collect(), count: 50 }
    }

    #[test]
    fn a_chain_of_pairs_is_composed() {
        // Clock 1 is 1 s ahead and fast. Clock 2 is 3 s slower than clock 1 and drifts back. Clock
        // 3 has no messages.
        let clock = |t: f64| 1e9 + 40e-6 * t;
        let two = |t: f64| -3e9 - 70e-6 * t;
        let mut edges = vec![edge(0, 1, clock, 2000.0), edge(1, 0, |t| -clock(t), 2000.0)];
        edges.extend([edge(1, 2, two, 3000.0), edge(2, 1, |t| -two(t), 3000.0)]);
        // Clocks 4 and 5 have messages between them only.
        edges.extend([edge(4, 5, clock, 2000.0), edge(5, 4, |t| -clock(t), 2000.0)]);
        let joined = lines(6, &edges, SPAN, |_, _| None);
        assert_eq!(joined[0].unwrap().line, OffsetLine::default());
        assert_eq!(joined[1].unwrap().hops, 1);
        let two = joined[2].unwrap();
        assert_eq!((two.hops, two.one_way), (2, false));
        // The line subtracts the error of the clock.
        let slope = 1.0 / ((1.0 + 40e-6) * (1.0 - 70e-6)) - 1.0;
        assert!((two.line.slope - slope).abs() < 2e-7, "{two:?} {slope}");
        assert!((two.line.offset - 2e9).abs() < 4e5, "{two:?}");
        assert!(joined[3].is_none());
        assert_eq!([joined[4].unwrap(), joined[5].unwrap()].map(|joined| (joined.root, joined.hops)), [(4, 0), (4, 1)]);
    }

    #[test]
    fn one_direction_gives_a_line_that_reverses_nothing() {
        let lead = |t: f64| -5e6 + 30e-6 * t;
        let edges = [edge(0, 1, lead, 2000.0)];
        let joined = lines(2, &edges, SPAN, |_, _| None)[1].unwrap();
        assert!(joined.one_way);
        for point in &edges[0].points {
            let received = point.send_time + point.transfer_time;
            let corrected = received + joined.line.offset + joined.line.slope * received;
            assert!(corrected >= point.send_time - 500.0, "{point:?}");
        }
        assert!((joined.line.slope + 30e-6).abs() < 1e-6, "{joined:?}");
    }

    #[test]
    fn readings_bound_messages_in_one_direction() {
        // A queue that drains by 3 ms per second.
        for (from, to) in [(0, 1), (1, 0)] {
            let edges = [edge(from, to, |t| 1e9 - 3e-3 * t, 2000.0)];
            let joined = lines(2, &edges, SPAN, |_, _| Some(RateBounds { low: -70e-6, high: 30e-6 }))[1].unwrap();
            assert!((joined.line.slope - 20e-6).abs() < 1e-8, "{joined:?}");
        }
    }

    #[test]
    fn an_inverse_reverses_a_map() {
        let line = OffsetLine { offset: 1e9, slope: 5e-5 };
        let composition = compose(inverse_line(line), line);
        assert!(composition.offset.abs() < 1e-3 && composition.slope.abs() < 1e-15, "{composition:?}");
    }
}
